"""Structural fingerprints of nodes, at five depths of background knowledge.

Each depth distinguishes at least what those before it do, except `neighbor_degrees`, which ignores
triangles:

  degree             degree
  degree_triangles   degree and number of links among the neighbours
  neighbor_degrees   degree and sorted neighbours' degrees (Hay et al., VLDB 2008, H_2)
  ego                ego network: the neighbours' degrees and the links among them
  colour_refinement  1-dimensional Weisfeiler-Leman, started from the ego networks

A fingerprint has 128 bits: two sums of independently mixed 64-bit words, which depend on a multiset
and not on its order. Different fingerprints collide with probability below n² / 2^129, so that
equal rows mean equal fingerprints, also across graphs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

import numba
import numpy as np

from core.algorithms.triangles import compute_triangles
from core.graph import Graph

Depth = Literal["degree", "degree_triangles", "neighbor_degrees", "ego", "colour_refinement"]

DEPTHS: tuple[Depth, ...] = get_args(Depth)

EGO_ROUNDS = 3
"""Rounds of colour refinement within an ego network, whose centre is marked."""


def compute_fingerprints(graph: Graph, depth: Depth) -> np.ndarray:
    """(n, 2) uint64; equal rows mean equal fingerprints."""
    return compute_joint_fingerprints([graph], depth)[0]


def compute_joint_fingerprints(graphs: Sequence[Graph], depth: Depth) -> list[np.ndarray]:
    """Comparable fingerprints (n, 2) uint64 of several graphs.

    Links of weight 0 are ignored. Colours are refined in all graphs until the slowest is stable.
    """
    patterns = [list_neighbors(graph) for graph in graphs]
    found = [
        _mix_shallow(graph, *pattern, depth)
        for graph, pattern in zip(graphs, patterns, strict=True)
    ]
    if depth != "colour_refinement":
        return found
    counts = [count_distinct(colours) for colours in found]
    while True:
        finer = [
            _refine(*pattern, colours) for pattern, colours in zip(patterns, found, strict=True)
        ]
        finer_counts = [count_distinct(colours) for colours in finer]
        if finer_counts == counts:
            return found
        found, counts = finer, finer_counts


def compute_joint_neighbor_classes(
    graphs: Sequence[Graph], classes: Sequence[np.ndarray]
) -> list[np.ndarray]:
    """Comparable fingerprints (n, 2) uint64 by the classes (n,) >= 0 of each node of several graphs
    and of its neighbours, one round of colour refinement. Links of weight 0 are ignored."""
    found = []
    for graph, own in zip(graphs, classes, strict=True):
        words = own.astype(np.uint64)
        colours = _mix_words(np.stack([words, words], axis=1))
        found.append(_refine(*list_neighbors(graph), colours))
    return found


def compute_class_sizes(fingerprints: np.ndarray) -> np.ndarray:
    """(n,) int64 number of nodes with each node's fingerprint, itself included."""
    _, inverse, counts = _group(fingerprints)
    return np.asarray(counts[inverse])


def count_matches(wanted: np.ndarray, present: np.ndarray) -> np.ndarray:
    """(k,) int64 number of rows of `present` (n, 2) equal to each row of `wanted` (k, 2)."""
    _, inverse, _ = _group(np.concatenate([wanted, present]))
    counts = np.bincount(inverse[len(wanted) :], minlength=int(inverse.max(initial=-1)) + 1)
    return np.asarray(counts[inverse[: len(wanted)]])


def count_distinct(fingerprints: np.ndarray) -> int:
    """Number of classes of equal fingerprints."""
    return len(_group(fingerprints)[2])


def count_links_and_triangles(graph: Graph) -> tuple[np.ndarray, np.ndarray]:
    """(n,) int64 degrees, and links among the neighbours."""
    edges = graph.present_edges
    degrees = np.bincount(edges.ravel(), minlength=graph.num_nodes)
    return degrees, compute_triangles(edges, graph.num_nodes)


def list_neighbors(graph: Graph) -> tuple[np.ndarray, np.ndarray]:
    """`indptr` (n+1,) int64 and `indices` (2m,) int32, ascending, without links of weight 0.

    Neighbours of lower number are written before those of higher number, in the order of the sorted
    edges, so that no sorting is needed.
    """
    edges = graph.present_edges
    degrees = np.bincount(edges.ravel(), minlength=graph.num_nodes)
    indptr = np.concatenate([[0], np.cumsum(degrees)]).astype(np.int64)
    indices = np.empty(2 * len(edges), np.int32)
    _fill_neighbors(edges, indptr[:-1].copy(), indices)
    return indptr, indices


def mix_neighbor_degrees(
    degrees: np.ndarray, indptr: np.ndarray, indices: np.ndarray, first: int = 0
) -> np.ndarray:
    """(k, 2) uint64 fingerprints `neighbor_degrees` of k consecutive nodes.

    degrees          (n,) degrees of all nodes
    indptr, indices  neighbour lists of the nodes `first` to `first + k - 1`
    """
    degrees = degrees.astype(np.uint64)
    return _refine(indptr, indices, _mix_words(np.stack([degrees, degrees], axis=1)), first)


def _mix_shallow(graph: Graph, indptr: np.ndarray, indices: np.ndarray, depth: Depth) -> np.ndarray:
    degrees = np.diff(indptr).astype(np.uint64)
    plain = np.stack([degrees, degrees], axis=1)
    own = _mix_words(plain)
    if depth == "degree":
        return own
    if depth == "neighbor_degrees":
        return _refine(indptr, indices, own)
    if depth == "degree_triangles":
        triangles = compute_triangles(graph.present_edges, graph.num_nodes)
        return _mix_words(own + np.uint64(2) * triangles.astype(np.uint64)[:, None])
    result = np.empty((graph.num_nodes, 2), np.uint64)
    _mix_ego(indptr, indices, own, result)
    return result


def _mix_words(words: np.ndarray) -> np.ndarray:
    result = np.empty_like(words)
    _mix_rows(words, result)
    return result


def _refine(
    indptr: np.ndarray, indices: np.ndarray, colours: np.ndarray, first: int = 0
) -> np.ndarray:
    result = np.empty((len(indptr) - 1, 2), np.uint64)
    _refine_colours(indptr, indices, colours, first, result)
    return result


def _group(fingerprints: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Distinct rows, each row's index among them, and their counts."""
    rows = np.ascontiguousarray(fingerprints).view([("a", "<u8"), ("b", "<u8")]).ravel()
    order = np.lexsort((rows["b"], rows["a"]))
    ordered = rows[order]
    is_first = np.ones(len(rows), bool)
    is_first[1:] = ordered[1:] != ordered[:-1]
    inverse = np.empty(len(rows), np.int64)
    inverse[order] = np.cumsum(is_first) - 1
    return ordered[is_first], inverse, np.bincount(inverse, minlength=int(is_first.sum()))


@numba.njit(nogil=True, cache=True, inline="always")
def _mix(word: np.uint64, lane: np.uint64) -> np.uint64:
    """SplitMix64's finaliser (Steele et al. 2014), one stream per lane."""
    z = word + np.uint64(0x9E3779B97F4A7C15) * (np.uint64(2) * lane + np.uint64(1))
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    z = (z ^ (z >> np.uint64(32))) * (np.uint64(0xD6E8FEB86659FD93) + np.uint64(2) * lane)
    return z ^ (z >> np.uint64(29))


@numba.njit(nogil=True, cache=True)
def _mix_rows(words: np.ndarray, result: np.ndarray) -> None:
    for u in range(len(words)):
        result[u, 0] = _mix(words[u, 0], np.uint64(1))
        result[u, 1] = _mix(words[u, 1], np.uint64(2))


@numba.njit(nogil=True, cache=True)
def _refine_colours(
    indptr: np.ndarray, indices: np.ndarray, colours: np.ndarray, first: int, result: np.ndarray
) -> None:
    """Own colour and the multiset of the neighbours' colours → new colour, from node `first`."""
    for u in range(len(indptr) - 1):
        a, b = np.uint64(0), np.uint64(0)
        for k in range(indptr[u], indptr[u + 1]):
            v = indices[k]
            a += _mix(colours[v, 0], np.uint64(3))
            b += _mix(colours[v, 1], np.uint64(4))
        result[u, 0] = _mix(_mix(colours[first + u, 0], np.uint64(5)) + a, np.uint64(7))
        result[u, 1] = _mix(_mix(colours[first + u, 1], np.uint64(6)) + b, np.uint64(8))


@numba.njit(nogil=True, cache=True)
def _mix_ego(indptr: np.ndarray, indices: np.ndarray, own: np.ndarray, result: np.ndarray) -> None:
    """Colour refinement among each node's neighbours, from their colours `own` (n, 2)."""
    n = len(indptr) - 1
    widest = 0
    for u in range(n):
        widest = max(widest, indptr[u + 1] - indptr[u])
    place = np.full(n, -1, np.int64)
    colours, finer = np.empty((widest, 2), np.uint64), np.empty((widest, 2), np.uint64)
    starts = np.empty(widest + 1, np.int64)
    inside = np.empty(1024, np.int64)
    for u in range(n):
        first, count = indptr[u], indptr[u + 1] - indptr[u]
        for k in range(count):
            v = indices[first + k]
            place[v] = k
            colours[k, 0], colours[k, 1] = own[v, 0], own[v, 1]
        used = 0
        for k in range(count):  # the links among the neighbours, once for all rounds
            starts[k] = used
            v = indices[first + k]
            if indptr[v + 1] - indptr[v] + used > len(inside):
                larger = np.empty(2 * (indptr[v + 1] - indptr[v] + used), np.int64)
                larger[:used] = inside[:used]
                inside = larger
            if indptr[v + 1] - indptr[v] <= 8 * count:
                for e in range(indptr[v], indptr[v + 1]):
                    if place[indices[e]] >= 0:
                        inside[used] = place[indices[e]]
                        used += 1
            else:  # a hub: look up the few other neighbours instead of scanning all its links
                row = indices[indptr[v] : indptr[v + 1]]
                for other in range(count):
                    w = indices[first + other]
                    position = np.searchsorted(row, w)
                    if position < len(row) and row[position] == w:
                        inside[used] = other
                        used += 1
        starts[count] = used
        for _ in range(EGO_ROUNDS):
            for k in range(count):
                a, b = np.uint64(0), np.uint64(0)
                for e in range(starts[k], starts[k + 1]):
                    a += _mix(colours[inside[e], 0], np.uint64(9))
                    b += _mix(colours[inside[e], 1], np.uint64(10))
                finer[k, 0] = _mix(_mix(colours[k, 0], np.uint64(11)) + a, np.uint64(13))
                finer[k, 1] = _mix(_mix(colours[k, 1], np.uint64(12)) + b, np.uint64(14))
            colours[:count] = finer[:count]
        a, b = np.uint64(0), np.uint64(0)
        for k in range(count):
            a += _mix(colours[k, 0], np.uint64(15))
            b += _mix(colours[k, 1], np.uint64(16))
            place[indices[first + k]] = -1
        result[u, 0], result[u, 1] = _mix(a, np.uint64(17)), _mix(b, np.uint64(18))


@numba.njit(nogil=True, cache=True)
def _fill_neighbors(edges: np.ndarray, place: np.ndarray, indices: np.ndarray) -> None:
    for k in range(len(edges)):  # lower neighbours: edges (i, j) come in order of i
        i, j = edges[k, 0], edges[k, 1]
        indices[place[j]] = i
        place[j] += 1
    for k in range(len(edges)):
        i, j = edges[k, 0], edges[k, 1]
        indices[place[i]] = j
        place[i] += 1
