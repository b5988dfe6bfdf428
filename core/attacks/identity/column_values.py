"""Column values: the attacker who knows a person's values in the published columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field
from scipy import sparse

from core.algorithms.fingerprints import compute_joint_fingerprints, compute_joint_neighbor_classes
from core.context import Context
from core.data.generalized_cells import CellMatch
from core.graph import Graph
from core.methods import IdentityAttack, MethodInfo
from core.node_column import MISSING
from core.release import Release
from core.results import AnonymitySets
from core.threats import IdentityThreat

_TILE = 1 << 22
"""Pairs of people and nodes compared together."""


class ColumnValues(IdentityAttack):
    """Anonymity sets of people with equal values in the columns, alone or with their links.

    The attacker knows the values as coarsely as they are published: generalising 34 to 30 is
    something that everybody can do. Where others wrote cells that stand for several values, such as
    [30, 40[, the set holds the nodes whose cells may stand for the person's. `k_anonymity` of the
    result is the k of k-anonymity.

    The friends' values are known in the columns alone whose cells stand for one value.
    """

    info: ClassVar[MethodInfo] = MethodInfo(
        key="column_values",
        title="Column values",
        summary="Knows each person's values in some or all published columns.",
        source="Sweeney, k-anonymity: a model for protecting privacy, 2002",
        group="what is known of a person",
        version=2,
    )
    finds_by: ClassVar[Literal["links", "columns", "values"]] = "columns"
    rehearses: ClassVar[bool] = False
    joined: ClassVar[tuple[dict[str, Any], ...]] = (
        {"with_links": "degree"},  # little, which outlives other friends
        {"with_links": "neighbor_degrees"},
        {"with_links": "neighbor_values"},
    )

    columns: str = Field(
        "", description="Names of the columns that are known, joined by |; empty: all published."
    )
    with_links: Literal["", "degree", "degree_triangles", "neighbor_degrees", "neighbor_values"] = (
        Field(
            "",
            description="What is known of the links as well, such as the values of each person's "
            "friends (neighbor_values); empty: nothing.",
        )
    )

    def reads_column(self, name: str) -> bool:
        return not self.columns or name in self.columns.split("|")

    def supports(self, release: Release, threat: IdentityThreat) -> str | None:
        shown = set(list_columns(threat.original, threat))
        if not shown:
            return "no columns are published"
        for name in filter(None, self.columns.split("|")):
            if name not in shown:
                return f"column '{name}' is not published; name a published one"
        if self.with_links and not threat.original.num_edges:
            return "the graph has no links"
        return None

    def find(self, release: Release, threat: IdentityThreat, context: Context) -> AnonymitySets:
        context.progress.update(0, 1, "columns")
        original, published = threat.original, release.graph
        names = [n for n in self.columns.split("|") if n] or list_columns(original, threat)
        has = set(list_columns(published, threat))
        shared = [n for n in names if n in has]
        coarse = [n for n in shared if _is_written_anew(original, published, n)]
        plain = [n for n in shared if n not in coarse]
        known, released = list_rows(original, plain), list_rows(published, plain)
        if self.with_links:
            graphs = [original, published]
            if self.with_links == "neighbor_values":
                classes = _number_rows(known, released)
                known_marks, published_marks = compute_joint_neighbor_classes(graphs, classes)
            else:
                known_marks, published_marks = compute_joint_fingerprints(graphs, self.with_links)
            known = [row + mark.tobytes() for row, mark in zip(known, known_marks, strict=True)]
            released = [
                row + mark.tobytes() for row, mark in zip(released, published_marks, strict=True)
            ]
        if coarse:
            cells = [CellMatch.of_columns(original, published.attributes[n]) for n in coarse]
            return _find_containing(known, released, cells, context)
        counts: dict[bytes, int] = {}
        for row in released:
            counts[row] = counts.get(row, 0) + 1
        sizes = np.array([counts.get(row, 0) for row in known], np.int64)
        is_equal = [left == right for left, right in zip(known, released, strict=True)]
        return AnonymitySets(sizes, np.array(is_equal))


def _number_rows(*rows: list[bytes]) -> list[np.ndarray]:
    """(n,) int64 of each list: equal where its texts of bytes are."""
    places: dict[bytes, int] = {}
    return [np.array([places.setdefault(row, len(places)) for row in own]) for own in rows]


def _is_written_anew(original: Graph, published: Graph, name: str) -> bool:
    """Whether the cells of a column may stand for values that are written otherwise."""
    released, own = published.attributes.get(name), original.attributes.get(name)
    if released is None or name in published.feature_names:
        return False
    if own is None or own.classes != released.classes:
        return True
    return not np.array_equal(own.codes == MISSING, released.codes == MISSING)


def _find_containing(
    known: list[bytes], released: list[bytes], cells: Sequence[CellMatch], context: Context
) -> AnonymitySets:
    """Sets of the released nodes with equal rows of bytes whose cells may all stand for the values
    of a node; unknown values fit every cell."""
    rows = dict.fromkeys(known)
    places = {row: place for place, row in enumerate(rows)}
    ours = np.array([places[row] for row in known])
    theirs = np.array([places.get(row, MISSING) for row in released])
    contains = (ours == theirs) & np.logical_and.reduce([match.contains for match in cells])
    sizes = np.zeros(len(ours), np.int64)
    unknown = np.stack([match.values == MISSING for match in cells], axis=1)
    general = np.stack([match.general != MISSING for match in cells], axis=1)
    for lacks in np.unique(unknown, axis=0):
        people = np.flatnonzero((unknown == lacks).all(axis=1))
        for is_set in np.unique(general[:, ~lacks], axis=0):
            nodes = np.flatnonzero((general[:, ~lacks] == is_set).all(axis=1))
            told = [match for match, lack in zip(cells, lacks, strict=True) if not lack]
            exact = [match for match, general in zip(told, is_set, strict=True) if not general]
            sets = [match for match, general in zip(told, is_set, strict=True) if general]
            left = np.stack([ours, *(match.values for match in exact)], axis=1)[people]
            right = np.stack([theirs, *(match.exact for match in exact)], axis=1)[nodes]
            sizes[people] += _count_pairs(left, right, people, nodes, sets, context)
    return AnonymitySets(sizes, contains)


def _count_pairs(
    left: np.ndarray,
    right: np.ndarray,
    people: np.ndarray,
    nodes: np.ndarray,
    sets: Sequence[CellMatch],
    context: Context,
) -> np.ndarray:
    """(p,) number of the nodes (r,) whose key is a person's and whose sets hold their values.

    left, right  (p, k), (r, k) keys of the people and of the nodes
    """
    _, keys = np.unique(np.concatenate([left, right]), axis=0, return_inverse=True)
    ours = np.stack([keys[: len(left)], *(match.values[people] for match in sets)], axis=1)
    theirs = np.stack([keys[len(left) :], *(match.general[nodes] for match in sets)], axis=1)
    ours, place = np.unique(ours, axis=0, return_inverse=True)
    theirs, counts = np.unique(theirs, axis=0, return_counts=True)
    start = np.searchsorted(theirs[:, 0], ours[:, 0])
    widths = np.searchsorted(theirs[:, 0], ours[:, 0], side="right") - start
    sizes = np.zeros(len(ours))
    ends = np.flatnonzero(np.diff(widths.cumsum() // _TILE)) + 1
    for part in np.split(np.arange(len(ours)), ends):
        context.progress.check()
        rows = np.repeat(part, widths[part])
        own = np.arange(len(rows)) - np.repeat(widths[part].cumsum() - widths[part], widths[part])
        found = start[rows] + own
        is_in = np.ones(len(rows), bool)
        for number, match in enumerate(sets, 1):
            is_in &= match.held[theirs[found, number], ours[rows, number]]
        sizes += np.bincount(rows, is_in * counts[found], len(ours))
    return np.asarray(sizes.astype(np.int64)[place])


def list_columns(graph: Graph, threat: IdentityThreat) -> list[str]:
    """The published columns that a graph has: its features, and others that are named."""
    named = [name for name in threat.columns if name in graph.columns]
    shown = dict.fromkeys([*graph.feature_names, *named])
    return [name for name in shown if name not in threat.unread]


def list_rows(graph: Graph, names: list[str]) -> list[bytes]:
    """One text of bytes a person: equal where all values are.

    Values as they are published, which their use decides: features as numbers, others as classes.
    """
    wanted = [name for name in graph.feature_names if name in set(names)]
    features: Any = graph.columns.select_features(wanted) if wanted else None
    parts: list[list[bytes]] = []
    if sparse.issparse(features):
        matrix = features.tocsr()
        matrix.eliminate_zeros()
        matrix.sort_indices()
        bounds = zip(matrix.indptr[:-1], matrix.indptr[1:], strict=True)
        indices = matrix.indices.astype(np.int64)
        parts.append([indices[a:b].tobytes() + matrix.data[a:b].tobytes() for a, b in bounds])
    elif wanted:
        dense = np.ascontiguousarray(features) + np.float32(0.0)  # −0 is 0
        parts.append([row.tobytes() for row in dense])
    codes = [graph.attributes[n].codes for n in names if n in graph.attributes]
    if codes:
        parts.append([row.tobytes() for row in np.stack(codes, axis=1)])
    if not parts:
        return [b""] * graph.num_nodes
    return [b"".join(row) for row in zip(*parts, strict=True)]
