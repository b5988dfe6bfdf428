"""Per-node tables, ROC curves and margins from stored cells."""

from __future__ import annotations

from collections.abc import Callable, Iterable
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

Rocs = dict[tuple[str, str], pd.DataFrame]

_RISK_COLUMNS = ("risk", "advantage", "low", "high", "seeds")


def assemble_attacks(
    store: Store, spec: AuditSpec, groups: Groups, graph: Graph
) -> tuple[pd.DataFrame, Rocs]:
    """Risk of each node by release and attack, as `AuditView.nodes` describes, and (release,
    attack) → the ROC curve, averaged over the repeats. Each cell is read once."""
    categories: dict[str, Iterable[str]] = {
        "node": graph.node_ids,
        "release": list_releases(spec),
        "attack": [scenario.id for _, _, scenario in list_scenarios(spec)],
    }
    columns: dict[str, list[np.ndarray]] = {name: [] for name in NODE_COLUMNS}
    rocs = {}
    for row, release in enumerate(categories["release"]):
        for column, attack in enumerate(categories["attack"]):
            done = list_done(groups, release, attack)
            cells = [files.load_cell(store.home, cell.key, _ATTACK_ARRAYS) for cell in done]
            if not cells:
                continue
            nodes, found = _combine_node_risks(cells, graph.num_nodes)
            columns["node"].append(nodes.astype(np.int32))
            columns["release"].append(np.full(len(nodes), row, np.int16))
            columns["attack"].append(np.full(len(nodes), column, np.int16))
            for name in _RISK_COLUMNS:
                columns[name].append(found[name])
            rates = [cell["tpr"] for cell in cells if "tpr" in cell]
            curves = [tpr for tpr in rates if np.isfinite(tpr).all()]
            if curves:
                mean = np.mean(curves, axis=0)
                rocs[release, attack] = pd.DataFrame({"fpr": cells[0]["fpr"], "tpr": mean})
    if not columns["node"]:
        return pd.DataFrame(columns=list(NODE_COLUMNS)), rocs
    table: dict[str, Any] = {name: np.concatenate(columns.pop(name)) for name in NODE_COLUMNS}
    for name, texts in categories.items():
        dtype = pd.CategoricalDtype(pd.Index(list(texts), dtype="str"))
        table[name] = pd.Categorical.from_codes(table[name], dtype=dtype)
    return pd.DataFrame(table, copy=False), rocs


_ATTACK_ARRAYS = ("nodes", "risk", "base", "fpr", "tpr")


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
    # By the number of repeats, of which there are few, not by node.
    quantiles = np.append(np.nan, stdtrit(np.arange(1, max(count.max(initial=1), 2)), 0.975))
    half = quantiles[count.astype(np.int64) - 1] * np.sqrt(variance / count)
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
    named = pd.array(classes.tolist(), dtype="str")
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
                    "class": named,
                    "community": arrays["community"],
                    "class_share": shares,
                    **ratios,
                }
            )
        )
    if not tables:
        return pd.DataFrame(columns=list(PROFILE_COLUMNS))
    return pd.concat(tables, ignore_index=True)[list(PROFILE_COLUMNS)]


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
