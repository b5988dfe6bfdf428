"""Values of people's links, counted per node, alone and together with who is at the other end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import sparse

from core.algorithms.matching import NO_MATCH
from core.data.link_release import WEIGHT, list_link_columns
from core.data.release_columns import LINK_PREFIX
from core.graph import Graph


@dataclass(frozen=True)
class Ends:
    """Ends of links that have a value: their node, the node at the other end and the code of
    (column, value), (k,) each; codes are the same in all graphs of one call."""

    nodes: np.ndarray
    others: np.ndarray
    codes: np.ndarray


@dataclass(frozen=True)
class Bags:
    """Which node has which value, of the known and of the published graph, csr (nodes × values).

    The second time that a node has a value is a value of its own, and so on.

    names  (v,) of each value, ascending: code * `width` + times that the node had it before
    """

    ours: sparse.csr_array
    theirs: sparse.csr_array
    names: np.ndarray
    width: int

    def select(self, kept: np.ndarray) -> Bags:
        """Those values only, ascending."""
        return Bags(self.ours[:, kept], self.theirs[:, kept], self.names[kept], self.width)


def list_ends(*graphs: Graph) -> list[Ends]:
    """Of each graph, both ends of all links, in the columns that all graphs have. A direction is
    that of an event as its node sees it."""
    names = [list_link_columns(graph) for graph in graphs]
    shared = [name for name in names[0] if all(name in others for others in names[1:])]
    found: list[list[tuple[np.ndarray, ...]]] = [[(np.empty(0, np.int64),) * 3] for _ in graphs]
    num_codes = 0
    for name in shared:
        ends = [_list_column(graph, name) for graph in graphs]
        cells = [values for _, values in ends]
        if any(values.dtype == object for values in cells):
            cells = [values.astype(str) for values in cells]
        codes, distinct = pd.factorize(np.concatenate(cells))
        parts = np.split(codes + num_codes, np.cumsum([len(values) for values in cells])[:-1])
        for own, (pairs, _), part in zip(found, ends, parts, strict=True):
            own.append((pairs.ravel(), pairs[:, ::-1].ravel(), part))
        num_codes += len(distinct)
    return [Ends(*map(np.concatenate, zip(*own, strict=True))) for own in found]


def _list_column(graph: Graph, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Both ends (k, 2) of each link, or of each event with a known value, and its value as each
    of them sees it (2k,)."""
    table, own = graph.link_table, name.removeprefix(LINK_PREFIX)
    if name == WEIGHT and graph.weights is not None:
        return graph.edges, np.repeat(graph.weights, 2)
    assert table is not None
    column = table.columns[own]
    rows = np.flatnonzero(column.known)
    values = np.repeat(column.take(rows).format_values(), 2)
    if column.kind == "direction":
        opposite = {"→": "←", "←": "→"}
        values[1::2] = [opposite.get(value, value) for value in values[1::2].tolist()]
    return graph.edges[table.links[rows]], values


def count_values(ends: Sequence[Ends], sizes: Sequence[int]) -> tuple[Bags, float]:
    """Values that both graphs have, and the share of the published ones that are known.

    ends, sizes  of the known and of the published graph
    """
    times = [_count_repeats(own.nodes, own.codes) for own in ends]
    width = 1 + max((int(own.max()) for own in times if len(own)), default=0)
    names = [own.codes * width + number for own, number in zip(ends, times, strict=True)]
    is_known = np.isin(names[1], names[0])
    shared = np.unique(names[1][is_known])
    ours, theirs = _tabulate([own.nodes for own in ends], names, shared, sizes)
    share = float(is_known.mean()) if len(is_known) else 0.0
    return Bags(ours, theirs, shared, width), share


def count_met_values(
    ends: Sequence[Ends], bags: Bags, image: np.ndarray
) -> tuple[Bags, np.ndarray]:
    """Values of links to people found already, each together with the person, and the place (w,)
    in `bags` of each without the person.

    Of the published graph, all whose plain value both graphs have; the known graph may lack them.

    image  (k,) published node of each known person, or NO_MATCH
    """
    sizes = bags.ours.shape[0], bags.theirs.shape[0]
    found = np.flatnonzero(image != NO_MATCH)
    nodes, keys, plain = [], [], []
    for own, size, people in zip(ends, sizes, (found, image[found]), strict=True):
        marks = np.full(size, NO_MATCH)
        marks[people] = np.arange(len(people))
        rows = np.flatnonzero(marks[own.others] != NO_MATCH)
        nodes.append(own.nodes[rows])
        plain.append(own.codes[rows])
        keys.append(own.codes[rows] * (len(found) + 1) + marks[own.others[rows]])
    split = len(keys[0])
    dense = pd.factorize(np.concatenate(keys))[0]
    parts = dense[:split], dense[split:]
    times = [_count_repeats(*each) for each in zip(nodes, parts, strict=True)]
    width = bags.width
    names = [part * width + number for part, number in zip(parts, times, strict=True)]
    columns, first = np.unique(names[1], return_index=True)
    parents = plain[1][first] * width + times[1][first]
    is_shared = np.isin(parents, bags.names)
    columns, parents = columns[is_shared], np.searchsorted(bags.names, parents[is_shared])
    ours, theirs = _tabulate(nodes, names, columns, sizes)
    return Bags(ours, theirs, columns, width), parents


def _tabulate(
    nodes: Sequence[np.ndarray],
    names: Sequence[np.ndarray],
    columns: np.ndarray,
    sizes: Sequence[int],
) -> list[sparse.csr_array]:
    """Ones (n, c) where a node of a graph has a value of `columns` (c,), ascending."""
    found = []
    for own, values, size in zip(nodes, names, sizes, strict=True):
        kept = np.isin(values, columns)
        place = np.searchsorted(columns, values[kept])
        ones = np.ones(len(place))
        found.append(sparse.csr_array((ones, (own[kept], place)), shape=(size, len(columns))))
    return found


def _count_repeats(nodes: np.ndarray, values: np.ndarray) -> np.ndarray:
    """(k,) how often each row's node had its value in rows before."""
    order = np.lexsort((values, nodes))
    nodes, values = nodes[order], values[order]
    is_new = np.ones(len(nodes), bool)
    is_new[1:] = (nodes[1:] != nodes[:-1]) | (values[1:] != values[:-1])
    start = np.maximum.accumulate(np.where(is_new, np.arange(len(nodes)), 0))
    times = np.empty(len(nodes), np.int64)
    times[order] = np.arange(len(nodes)) - start
    return times
