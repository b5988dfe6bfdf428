"""Per-node tables, ROC curves and margins from stored cells."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from scipy.special import stdtrit
from sqlalchemy.engine import Row

from core.attribute import MISSING
from core.audit.scenarios import list_scenarios
from core.audit.spec import AuditSpec
from core.audit.states import State
from core.audit.store import files
from core.audit.store.database import Store
from core.audit.view import NODE_COLUMNS, PROFILE_COLUMNS, Rocs
from core.graph import Graph
from core.release import ORIGINAL
from core.results import RELEASE

_RISK_COLUMNS = ("risk", "advantage", "low", "high", "seeds")
_RISK_ARRAYS, _ROC_ARRAYS = ("nodes", "risk", "base"), ("fpr", "tpr")


def list_read(groups: Groups) -> list[Row[Any]]:
    """Finished cells that the tables of nodes and curves are made of."""
    return [
        cell
        for (_, method), cells in groups.items()
        for cell in cells
        if cell.state is State.DONE
        and (cell.kind == "attack" or method == format_part("homophily"))
    ]


def assemble_nodes(store: Store, spec: AuditSpec, groups: Groups, graph: Graph) -> pd.DataFrame:
    """Risk of each node by release and attack, as `AuditView.nodes` describes."""
    releases = list_releases(spec)
    attacks = [scenario.id for _, _, scenario in list_scenarios(spec)]
    parts = [
        (places, done)
        for places in product(range(len(releases)), range(len(attacks)))
        if (done := list_done(groups, releases[places[0]], attacks[places[1]]))
    ]
    if not parts:
        return pd.DataFrame(columns=list(NODE_COLUMNS))
    # As long as they may get: memory that nothing is written to is not taken.
    most, sizes = len(parts) * graph.num_nodes, [0]
    people = np.empty(most, np.int32)
    is_once = all(len(done) == 1 for _, done in parts)
    kept = ("risk", "advantage") if is_once else _RISK_COLUMNS
    columns = {name: np.empty(most, np.int64 if name == "seeds" else float) for name in kept}
    for _, done in parts:
        cells = [files.load_cell(store.home, cell.key, _RISK_ARRAYS) for cell in done]
        nodes, found = _combine_node_risks(cells, graph.num_nodes)
        rows = slice(sizes[-1], sizes[-1] + len(nodes))
        people[rows] = nodes
        for name, column in columns.items():
            column[rows] = found[name]
        sizes.append(rows.stop)
    few = np.int8 if max(len(releases), len(attacks)) < 128 else np.int16
    by_release, by_attack = np.array([places for places, _ in parts], few).T
    codes = {
        "node": (people[: sizes[-1]], graph.node_ids),
        "release": (by_release.repeat(np.diff(sizes)), releases),
        "attack": (by_attack.repeat(np.diff(sizes)), attacks),
    }
    table: dict[str, Any] = {}
    for name, (numbers, texts) in codes.items():
        # Names of a graph and ids of an audit are distinct: hashing a million again tells nothing.
        dtype = pd.CategoricalDtype._from_fastpath(pd.Index(pa.array(texts), dtype="str"), False)
        table[name] = pd.Categorical.from_codes(numbers, dtype=dtype, validate=False)
    table |= {name: column[: sizes[-1]] for name, column in columns.items()}
    if is_once:
        table |= _repeat_once(sizes[-1])
    return pd.DataFrame(table, copy=False)


def assemble_rocs(store: Store, spec: AuditSpec, groups: Groups) -> Rocs:
    """(release, attack) → the ROC curve, averaged over the repeats."""
    rocs = {}
    for release, (_, _, scenario) in product(list_releases(spec), list_scenarios(spec)):
        done = list_done(groups, release, scenario.id)
        cells = [files.load_cell(store.home, cell.key, _ROC_ARRAYS) for cell in done]
        rates = [cell["tpr"] for cell in cells if "tpr" in cell]
        curves = [tpr for tpr in rates if np.isfinite(tpr).all()]
        if curves:
            mean = np.mean(curves, axis=0)
            rocs[release, scenario.id] = pd.DataFrame({"fpr": cells[0]["fpr"], "tpr": mean})
    return rocs


def _combine_node_risks(
    cells: list[files.Arrays], num_nodes: int
) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Mean risk over the repeats in which a node was at stake, and Student's t interval."""
    if len(cells) == 1:
        nodes, risk, base = (cells[0][name] for name in _RISK_ARRAYS)
        return nodes, {"risk": risk, "advantage": risk - base, **_repeat_once(len(nodes))}
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


def _repeat_once(size: int) -> dict[str, np.ndarray]:
    """Interval and number of repeats after one repeat: one value each, which takes no memory."""
    once = {"low": np.nan, "high": np.nan, "seeds": 1}
    return {name: np.broadcast_to(value, size) for name, value in once.items()}


_PROFILE_ARRAYS = (
    *("degree", "community"),
    *("ghratio_proximity", "ghratio_role", "ghratio_combined"),
)


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
        arrays = files.load_cell(store.home, done[0].key, _PROFILE_ARRAYS)
        ratios = {name: arrays.get(name, np.full(n, np.nan)) for name in _PROFILE_ARRAYS[2:]}
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
            name = "label_margin" if attack is None else "margin"
            margins = files.load_cell(store.home, cell.key, (name,)).get(name, parts[0])
            parts.append(margins[np.isfinite(margins)])
        return np.concatenate(parts)

    return load
