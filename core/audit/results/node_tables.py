"""Risk and profile of the nodes, ROC curves and margins from stored cells."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from scipy.special import stdtrit
from sqlalchemy.engine import Row

from core.audit.asked.attack import Attack
from core.audit.asked.release_info import ReleaseInfo
from core.audit.asked.scenarios import list_scenarios
from core.audit.asked.spec import AuditSpec
from core.audit.results.node_risks import AttackRisk, NodeRisks
from core.audit.results.view import PROFILE_COLUMNS, Rocs
from core.audit.store import files
from core.audit.store.database import Store
from core.audit.store.states import FINISHED, State
from core.graph import Graph
from core.node_column import MISSING
from core.release import ORIGINAL
from core.results import RELEASE

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


def assemble_nodes(store: Store, spec: AuditSpec, groups: Groups, graph: Graph) -> NodeRisks:
    """Risk of each node by release and attack."""
    parts, unfinished = {}, []
    for release, (_, method, scenario) in product(list_releases(spec), list_scenarios(spec)):
        done = list_done(groups, release, scenario.id)
        cells = [files.load_cell(store.home, cell.key, _RISK_ARRAYS) for cell in done]
        if cells:
            attack = Attack(scenario.id, method, scenario)
            parts[release, attack] = _combine_node_risks(cells, graph.num_nodes)
            if any(cell.state not in FINISHED for cell in groups[release, scenario.id]):
                unfinished.append((release, attack))
    return NodeRisks.build(graph.node_ids, parts, list_made(spec), unfinished)


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


def _combine_node_risks(cells: list[files.Arrays], num_nodes: int) -> AttackRisk:
    """Mean risk over the repeats in which a node was at stake, and Student's t interval."""
    if len(cells) == 1:
        nodes, risk, base = (cells[0][name] for name in _RISK_ARRAYS)
        # One value for all nodes, which takes no memory.
        low, high, seeds = (np.broadcast_to(value, len(nodes)) for value in (np.nan, np.nan, 1))
        return AttackRisk(nodes.astype(np.int32), risk, risk - base, low, high, seeds)
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
    return AttackRisk(
        nodes=nodes.astype(np.int32),
        risk=mean,
        advantage=mean - base[nodes] / count,
        low=np.clip(mean - half, 0, 1),
        high=np.clip(mean + half, 0, 1),
        seeds=count.astype(np.int64),
    )


_PROFILE_ARRAYS = ("degree", *("ghratio_proximity", "ghratio_role", "ghratio_combined"))


def assemble_profile(store: Store, spec: AuditSpec, groups: Groups, graph: Graph) -> pd.DataFrame:
    """Structural profile of each node per release, as `AuditView.profile` describes."""
    n = graph.num_nodes
    classes: list[str | None] = [None]  # MISSING = −1 is the last one
    codes, shares = np.full(n, MISSING), np.full(n, np.nan)
    if spec.threats.private is not None:
        attribute = graph.column(spec.threats.private)
        codes, classes = attribute.codes, [*attribute.classes, *classes]
        shares = np.append(attribute.shares, np.nan)[attribute.codes]
        assert MISSING == -1
    found, releases = {}, list_releases(spec)
    for place, release in enumerate(releases):
        if done := list_done(groups, release, format_part("homophily")):
            found[place] = files.load_cell(store.home, done[0].key, _PROFILE_ARRAYS)
    if not found:
        return pd.DataFrame(columns=list(PROFILE_COLUMNS))
    count, unknown = len(found), np.full(n, np.nan)
    ids = pa.array(graph.node_ids, pa.string())
    named = pa.array(classes, pa.string()).take(pa.array(codes % len(classes)))
    table = {
        "node": _repeat_texts(ids, count),
        "release": pd.Categorical.from_codes(np.repeat([*found], n), releases),
        "degree": np.concatenate([arrays["degree"] for arrays in found.values()]),
        "class": _repeat_texts(named, count),
        "class_share": np.tile(shares, count),
    }
    for name in _PROFILE_ARRAYS[1:]:
        table[name] = np.concatenate([arrays.get(name, unknown) for arrays in found.values()])
    return pd.DataFrame(table, copy=False)[list(PROFILE_COLUMNS)]


def _repeat_texts(texts: pa.Array, count: int) -> pd.api.extensions.ExtensionArray:
    """The texts so many times, one after the other, without copying them."""
    return pd.array(pa.chunked_array([texts] * count), dtype="str")


Groups = dict[tuple[str, str], list[Row[Any]]]
"""(release, method) → its cells by repeat."""


def format_part(part: str) -> str:
    """Key in `Groups` of a part of a release's measures."""
    return f"{RELEASE}:{part}"


def list_made(spec: AuditSpec) -> list[ReleaseInfo]:
    """Releases of an audit: the original, then the defended ones."""
    return [ReleaseInfo(ORIGINAL), *(ReleaseInfo(c.id, c.make_defense()) for c in spec.defenses)]


def list_releases(spec: AuditSpec) -> list[str]:
    """Ids of `list_made`."""
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
