"""Per-node tables, ROC curves and margins from stored cells."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import stdtrit
from sqlalchemy.engine import Row

from core.audit.scenarios import list_scenarios
from core.audit.spec import AuditSpec
from core.audit.states import State
from core.audit.store import files
from core.audit.store.database import Store
from core.audit.view import NODE_COLUMNS, PROFILE_COLUMNS
from core.graph import MISSING, Graph
from core.release import ORIGINAL
from core.results import RELEASE


def assemble_nodes(store: Store, spec: AuditSpec, groups: Groups, graph: Graph) -> pd.DataFrame:
    """Risk of each node by release and attack, as `AuditView.nodes` describes."""
    people = pd.CategoricalDtype(pd.Index(list(graph.node_ids), dtype="str"))
    releases = pd.CategoricalDtype(pd.Index(list(list_releases(spec)), dtype="str"))
    scenarios = [scenario for _, _, scenario in list_scenarios(spec)]
    attacks = pd.CategoricalDtype(pd.Index([scenario.id for scenario in scenarios], dtype="str"))
    tables = []
    for row, release in enumerate(releases.categories):
        for column, scenario in enumerate(scenarios):
            done = list_done(groups, release, scenario.id)
            if not done:
                continue
            cells = [files.load_cell(store.home, cell.key) for cell in done]
            nodes, columns = _combine_node_risks(cells, graph.num_nodes)
            tables.append(
                pd.DataFrame(
                    {
                        "node": pd.Categorical.from_codes(nodes, dtype=people),
                        "release": _repeat(row, len(nodes), releases),
                        "attack": _repeat(column, len(nodes), attacks),
                        **columns,
                    }
                )
            )
    if not tables:
        return pd.DataFrame(columns=list(NODE_COLUMNS))
    return pd.concat(tables, ignore_index=True)[list(NODE_COLUMNS)]


def _repeat(code: int, count: int, dtype: pd.CategoricalDtype) -> pd.Categorical:
    return pd.Categorical.from_codes(np.full(count, code, np.int16), dtype=dtype)


def _combine_node_risks(
    cells: list[files.Arrays], num_nodes: int
) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Mean risk over the repeats in which a node was at stake, and Student's t interval."""
    count, total, squares, base = np.zeros((4, num_nodes))
    for cell in cells:
        nodes, risk = cell["nodes"], cell["risk"]
        count[nodes] += 1
        total[nodes] += risk
        squares[nodes] += risk**2
        base[nodes] += cell["base"]
    nodes = np.flatnonzero(count)
    count, mean = count[nodes], total[nodes] / count[nodes]
    variance = np.maximum(squares[nodes] / count - mean**2, 0) * count / np.maximum(count - 1, 1)
    with np.errstate(invalid="ignore"):
        half = stdtrit(np.where(count > 1, count - 1, np.nan), 0.975)
        half = half * np.sqrt(variance / count)
    return nodes, {
        "risk": mean,
        "advantage": mean - base[nodes] / count,
        "low": np.clip(mean - half, 0, 1),
        "high": np.clip(mean + half, 0, 1),
        "seeds": count.astype(np.int64),
    }


def assemble_profile(store: Store, spec: AuditSpec, groups: Groups, graph: Graph) -> pd.DataFrame:
    """Structural profile of each node per release, as `AuditView.profile` describes."""
    n = graph.num_nodes
    classes, shares = np.full(n, None, object), np.full(n, np.nan)
    if spec.threats.private is not None:
        attribute = graph.with_private(spec.threats.private).attribute(spec.threats.private)
        names = np.array([*attribute.classes, None], object)  # MISSING = −1 is the last one
        classes = names[attribute.codes]
        shares = np.append(attribute.shares, np.nan)[attribute.codes]
        assert MISSING == -1
    ids = pd.array(list(graph.node_ids), dtype="str")
    tables = []
    for release in list_releases(spec):
        done = list_done(groups, release, format_part("homophily"))
        if not done:
            continue
        arrays = files.load_cell(store.home, done[0].key)
        ratios = {
            name: arrays.get(name, np.full(n, np.nan))
            for name in ("ghratio_proximity", "ghratio_role", "ghratio_combined")
        }
        tables.append(
            pd.DataFrame(
                {
                    "node": ids,
                    "release": release,
                    "degree": arrays["degree"],
                    "class": pd.array(classes.tolist(), dtype="str"),
                    "community": arrays["community"],
                    "class_share": shares,
                    **ratios,
                }
            )
        )
    if not tables:
        return pd.DataFrame(columns=list(PROFILE_COLUMNS))
    return pd.concat(tables, ignore_index=True)[list(PROFILE_COLUMNS)]


def assemble_rocs(
    store: Store, spec: AuditSpec, groups: Groups
) -> dict[tuple[str, str], pd.DataFrame]:
    """(release, attack) → the ROC curve, averaged over the repeats."""
    rocs = {}
    for release in list_releases(spec):
        for _, _, scenario in list_scenarios(spec):
            cells = [
                files.load_cell(store.home, cell.key)
                for cell in list_done(groups, release, scenario.id)
            ]
            rates = [cell["tpr"] for cell in cells if "tpr" in cell]
            curves = [tpr for tpr in rates if np.isfinite(tpr).all()]
            if curves:
                rocs[release, scenario.id] = pd.DataFrame(
                    {"fpr": cells[0]["fpr"], "tpr": np.mean(curves, axis=0)}
                )
    return rocs


Groups = dict[tuple[str, str], list[Row[Any]]]
"""(release, method) → its cells by repeat."""


def format_part(part: str) -> str:
    """Key in `Groups` of a part of a release's measures."""
    return f"{RELEASE}:{part}"


def list_releases(spec: AuditSpec) -> list[str]:
    """Release ids of an audit: the original, then the defended ones."""
    return [ORIGINAL, *(choice.id for choice in spec.defenses)]


def list_done(groups: Groups, release: str, method: str) -> list[Row[Any]]:
    """Finished cells of a method on a release; '' is the publish cell."""
    return [cell for cell in groups.get((release, method), []) if cell.state is State.DONE]


LoadMargins = Callable[[str, str | None], np.ndarray]


def make_margin_loader(store: Store, groups: Groups) -> LoadMargins:
    """Return `load(release, attack)` → (k,) margins of an attribute attack over the hidden nodes
    of all finished repeats, once per repeat; with None for the attack those of the label
    classifier that measured usefulness. Empty if margins were not stored."""

    def load(release: str, attack: str | None) -> np.ndarray:
        parts = [np.zeros(0)]
        for cell in list_done(groups, release, attack or format_part("utility")):
            arrays = files.load_cell(store.home, cell.key)
            margins = arrays.get("label_margin" if attack is None else "margin", parts[0])
            parts.append(margins[np.isfinite(margins)])
        return np.concatenate(parts)

    return load
