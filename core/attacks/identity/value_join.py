"""Value join: people are found by the values of their links, such as amounts or times."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np
import pandas as pd
from scipy import sparse

from core.algorithms.matching import NO_MATCH, NUM_CANDIDATES
from core.attacks.identity.percolation import place_seeds
from core.attacks.identity.value_alignment import align_values
from core.context import Context
from core.data.link_release import WEIGHT, list_link_columns
from core.data.release_columns import LINK_PREFIX
from core.graph import Graph
from core.methods import IdentityAttack, MethodInfo
from core.release import Release
from core.results import Matches
from core.threats import IdentityThreat

MAX_PAIRS = 20_000_000
"""Pairs of people and nodes that are compared. Values that most of them have in common are left out
first: they tell least and cost most."""

MAX_FOUND = 0.99
"""Largest assumed share of the released values that an attacker knows: one unknown value of a
node must not rule it out."""

MAX_EXPONENT = 700.0
"""Logarithm of the largest odds that are kept."""

_TILE = 1 << 20
"""Pairs scored together."""


class ValueJoin(IdentityAttack):
    """Joins both graphs on all values of a node, each counted as often as it occurs there: the
    weights of its links, and every column of links that both graphs have, a value an event.
    A direction is that of an event as its node sees it. Known values are first made as coarse as
    the published ones, and moved as far.

    The evidence for person u behind node i is the log of how much likelier i's values are if i is
    u than if i is anybody: log(a / q_v) for each value v that both have, and log(1 − a) for each
    value of i that u lacks. q_v is the share of people who have v; a is the share of the released
    values that occur in the known graph at all. The confidence is the posterior over all nodes,
    one of which is u. Where common values had to be left out, nodes with all values of u and no
    others come first.
    """

    info: ClassVar[MethodInfo] = MethodInfo(
        key="value_join",
        title="Value join",
        summary="Knows the values of people's links, such as amounts or times, and joins on them.",
        source="Fellegi and Sunter, A theory for record linkage, JASA 1969, §2; de Montjoye et "
        "al., Unique in the crowd, Scientific Reports 2013",
        group="second graph",
        version=3,
    )
    links_networks: ClassVar[bool] = True
    finds_by: ClassVar[Literal["links", "columns", "values"]] = "values"
    rehearses: ClassVar[bool] = False

    def supports(self, release: Release, threat: IdentityThreat) -> str | None:
        published = list_link_columns(release.graph)
        if not published:
            return "the links of the release have no values"
        if not set(published) & set(list_link_columns(threat.known)):
            return "no values of people's links are known; name a second graph that has them"
        return None

    def find(self, release: Release, threat: IdentityThreat, context: Context) -> Matches:
        published = release.graph
        known = align_values(threat.known, published)
        ours, theirs, share, totals = _tabulate_values(known, published)
        share, counts = min(share, MAX_FOUND), totals[1]
        holders = ours.sum(axis=0)
        every = ours, theirs
        ours, theirs, holders = _keep_telling(ours, theirs, holders)
        # Evidence of a shared value, over that of one which the person lacks.
        gains = np.log(share * known.num_nodes / holders) - np.log1p(-share)
        weighted = sparse.csr_array(theirs.multiply(gains[None, :])).T.tocsr()
        lacking = np.log1p(-share) * counts
        rng = context.rng("ties")
        candidates = np.full((known.num_nodes, NUM_CANDIDATES), NO_MATCH)
        confidence = np.zeros(known.num_nodes)
        everybody = np.exp(lacking).sum()
        for start, stop in _split_rows(ours, theirs):
            context.progress.update(start, known.num_nodes, "joining")
            scores = sparse.coo_array(ours[start:stop] @ weighted)
            rows, nodes = scores.coords
            evidence = scores.data + lacking[nodes]
            order = np.lexsort((rng.random(len(rows)), -evidence, rows))
            rows, nodes, evidence = rows[order], nodes[order], evidence[order]
            first = np.searchsorted(rows, np.arange(stop - start))
            place = np.arange(len(rows)) - first[rows]
            top = place < NUM_CANDIDATES
            candidates[start + rows[top], place[top]] = nodes[top]
            has_any = np.flatnonzero(np.bincount(rows, minlength=stop - start))
            best = evidence[first[has_any]]
            # Of the other nodes, each in proportion to how likely its values are for somebody else.
            odds = np.exp(evidence - np.repeat(best, np.bincount(rows)[has_any]))
            named = np.bincount(rows, np.exp(lacking[nodes]), stop - start)[has_any]
            total = np.bincount(rows, odds, stop - start)[has_any]
            with np.errstate(divide="ignore"):  # nobody else is left
                rest = np.log((everybody - named).clip(min=0.0)) - best
            confidence[start + has_any] = 1.0 / (total + np.exp(np.minimum(rest, MAX_EXPONENT)))
        if ours.shape[1] < every[0].shape[1]:
            equal, sizes = _find_equal(*every, totals, rng)
            has_any = np.flatnonzero(sizes)
            candidates[has_any] = equal[has_any]
            confidence[has_any] = np.maximum(confidence[has_any], 1.0 / sizes[has_any])
        return place_seeds(Matches(candidates, confidence), *threat.seeds.T)


def _tabulate_values(
    known: Graph, published: Graph
) -> tuple[sparse.csr_array, sparse.csr_array, float, list[np.ndarray]]:
    """Which node has which value, of both graphs (nodes × values), over values that both have; the
    share of the published ones that are known; and the number of all values of each node of both.

    The second time that a node has a value is a value of its own, and so on.
    """
    tables = _list_values(known, published)
    both = np.concatenate([values for _, values in tables])
    numbers = _number_rows(both)
    split = len(tables[0][1])
    parts = (numbers[:split], numbers[split:])
    is_shared = np.isin(parts[1], parts[0])
    _, columns = np.unique(parts[1][is_shared], return_inverse=True)
    shared = np.unique(parts[1][is_shared])
    mine = np.isin(parts[0], shared)
    rows = (tables[0][0][mine], tables[1][0][is_shared])
    places = (np.searchsorted(shared, parts[0][mine]), columns)
    matrices = [
        sparse.csr_array((np.ones(len(row)), (row, place)), shape=(graph.num_nodes, len(shared)))
        for row, place, graph in zip(rows, places, (known, published), strict=True)
    ]
    sizes = (known.num_nodes, published.num_nodes)
    totals = [np.bincount(t[0], minlength=n) for t, n in zip(tables, sizes, strict=True)]
    share = float(is_shared.mean()) if len(is_shared) else 0.0
    return matrices[0], matrices[1], share, totals


def _number_rows(rows: np.ndarray) -> np.ndarray:
    """(k,) numbers of the rows (k, c), equal for equal rows; by hashes, many times faster than by
    sorting whole rows."""
    numbers = np.zeros(len(rows), np.int64)
    for column in rows.T:
        codes, found = pd.factorize(column)
        numbers = pd.factorize(numbers * len(found) + codes)[0]
    return numbers


def _find_equal(
    ours: sparse.csr_array,
    theirs: sparse.csr_array,
    totals: list[np.ndarray],
    rng: np.random.Generator,
) -> tuple[np.ndarray, np.ndarray]:
    """(k, c) published nodes with all values of each known node and no others, or NO_MATCH, and
    (k,) their number. Sets of values collide as 64-bit sums with probability below n² / 2^64."""
    marks = rng.integers(1, 1 << 63, ours.shape[1], dtype=np.uint64)
    sums, whole = [], []
    for matrix, total in zip((ours, theirs), totals, strict=True):
        sums.append(np.asarray(matrix.astype(np.uint64) @ marks))
        whole.append((np.asarray(matrix.sum(axis=1)).ravel() == total) & (total > 0))
    nodes = rng.permutation(np.flatnonzero(whole[1]))
    nodes = nodes[np.argsort(sums[1][nodes], kind="stable")]
    first = np.searchsorted(sums[1][nodes], sums[0])
    sizes = np.searchsorted(sums[1][nodes], sums[0], side="right") - first
    sizes[~whole[0]] = 0
    place = first[:, None] + np.arange(NUM_CANDIDATES)
    is_in = np.arange(NUM_CANDIDATES) < sizes[:, None]
    found = np.full(place.shape, NO_MATCH)
    found[is_in] = nodes[place[is_in]]
    return found, sizes


def _list_values(*graphs: Graph) -> list[tuple[np.ndarray, np.ndarray]]:
    """Of each graph, node (k,) and (column, value, times that the node had it before) (k, 3) of
    every value of every end of a link, in the columns that all graphs have."""
    names = [list_link_columns(graph) for graph in graphs]
    shared = [name for name in names[0] if all(name in others for others in names[1:])]
    found: list[list[tuple[np.ndarray, np.ndarray]]] = [[] for _ in graphs]
    for number, name in enumerate(shared):
        ends = [_list_ends(graph, name) for graph in graphs]
        cells = [values for _, values in ends]
        if any(values.dtype == object for values in cells):
            cells = [values.astype(str) for values in cells]
        codes = pd.factorize(np.concatenate(cells))[0]
        start = 0
        for own, (nodes, values) in zip(found, ends, strict=True):
            own.append(_count_repeats(nodes, codes[start : start + len(values)], number))
            start += len(values)
    empty = np.empty(0, np.int64), np.empty((0, 3), np.int64)
    joined = [[*own, empty] for own in found]
    return [
        (np.concatenate(nodes), np.concatenate(rows))
        for nodes, rows in (zip(*own, strict=True) for own in joined)
    ]


def _list_ends(graph: Graph, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Node (k,) and value (k,) of both ends of each link, or of each event with a known value."""
    table, own = graph.link_table, name.removeprefix(LINK_PREFIX)
    if name == WEIGHT and graph.weights is not None:
        return graph.edges.ravel(), np.repeat(graph.weights, 2)
    assert table is not None
    column = table.columns[own]
    rows = np.flatnonzero(column.known)
    nodes = graph.edges[table.links[rows]].ravel()
    values = np.repeat(column.take(rows).format_values(), 2)
    if column.kind == "direction":
        opposite = {"→": "←", "←": "→"}
        values[1::2] = [opposite.get(value, value) for value in values[1::2].tolist()]
    return nodes, values


def _count_repeats(
    nodes: np.ndarray, values: np.ndarray, column: int
) -> tuple[np.ndarray, np.ndarray]:
    order = np.lexsort((values, nodes))
    nodes, values = nodes[order], values[order]
    is_new = np.ones(len(nodes), bool)
    is_new[1:] = (nodes[1:] != nodes[:-1]) | (values[1:] != values[:-1])
    start = np.maximum.accumulate(np.where(is_new, np.arange(len(nodes)), 0))
    times = np.arange(len(nodes)) - start
    return nodes, np.column_stack([np.full(len(nodes), column), values, times])


def _keep_telling(
    ours: sparse.csr_array, theirs: sparse.csr_array, holders: np.ndarray
) -> tuple[sparse.csr_array, sparse.csr_array, np.ndarray]:
    """The rarest values, as many as `MAX_PAIRS` pairs of nodes have in common."""
    pairs = holders * theirs.sum(axis=0)
    order = np.argsort(pairs, kind="stable")
    kept = np.sort(order[np.cumsum(pairs[order]) <= MAX_PAIRS])
    if len(kept) == len(pairs):
        return ours, theirs, holders
    return ours[:, kept], theirs[:, kept], holders[kept]


def _split_rows(ours: sparse.csr_array, theirs: sparse.csr_array) -> list[tuple[int, int]]:
    """Runs of rows of about `_TILE` pairs each."""
    costs: Any = ours @ theirs.sum(axis=0)
    marks = (np.cumsum(costs) // _TILE).astype(np.int64)
    starts = np.flatnonzero(np.diff(marks, prepend=-1))
    return list(zip(starts.tolist(), [*starts[1:].tolist(), len(costs)], strict=True))
