"""Uniform samples of non-links, and training pairs for attackers."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
from scipy import sparse

from core.algorithms.kernels import sum_common_neighbors
from core.arrays import decode_pairs, is_among, pair_codes, sort_distinct
from core.errors import InputError
from core.graph import Graph


def sample_non_links(graph: Graph, count: int, rng: np.random.Generator) -> np.ndarray:
    """(count, 2) distinct non-linked pairs i < j, uniform; sparse, no n×n array."""
    n = graph.num_nodes
    available = graph.num_pairs - graph.num_edges
    if count > available:
        raise InputError(
            "graph",
            f"must have {count} pairs that are not linked",
            available,
            "lower the share of withheld links",
        )
    if graph.num_pairs <= 4 * (count + graph.num_edges):
        i, j = np.triu_indices(n, 1)
        absent = np.flatnonzero(~np.isin(i * n + j, graph.edge_codes))
        chosen = rng.choice(absent, count, replace=False)
        return np.stack([i[chosen], j[chosen]], axis=1)
    found = np.empty(0, np.int64)
    while len(found) < count:
        ends = rng.integers(0, n, size=(2 * (count - len(found)) + 16, 2))
        ends = ends[ends[:, 0] != ends[:, 1]]
        codes = pair_codes(ends, n)
        codes = codes[~is_among(codes, graph.edge_codes)]
        found = pd.unique(np.concatenate([found, codes]))
    found = found[:count]
    return decode_pairs(found, n)


def sample_candidates(graph: Graph, count: int, rng: np.random.Generator) -> np.ndarray:
    """`sample_non_links` among the candidates: of a graph in two modes, pairs across the modes."""
    if graph.modes is None:
        return sample_non_links(graph, count, rng)
    sides = list_sides(graph)
    total = len(sides[0]) * len(sides[1])
    linked = int(graph.may_link(graph.edges).sum())  # a release may have links within a mode
    if count > total - linked:
        raise InputError(
            "graph",
            f"must have {count} pairs across its modes that are not linked",
            total - linked,
            "lower the share of withheld links",
        )

    def find_pairs(places: np.ndarray) -> np.ndarray:
        return np.stack([sides[0][places // len(sides[1])], sides[1][places % len(sides[1])]], 1)

    if total <= 4 * (count + linked):
        every = find_pairs(np.arange(total))
        absent = every[~graph.contains_pairs(every)]
        return np.sort(absent[rng.choice(len(absent), count, replace=False)], axis=1)
    found = np.empty(0, np.int64)
    while len(found) < count:
        pairs = find_pairs(rng.integers(0, total, 2 * (count - len(found)) + 16))
        codes = pair_codes(pairs[~graph.contains_pairs(pairs)], graph.num_nodes)
        found = pd.unique(np.concatenate([found, codes]))
    return decode_pairs(found[:count], graph.num_nodes)


def list_sides(graph: Graph) -> list[np.ndarray]:
    """Nodes of each of two modes; all nodes of a graph in one."""
    if graph.modes is None:
        return [np.arange(graph.num_nodes)]
    return [np.flatnonzero(graph.modes.codes == code) for code in (0, 1)]


def count_candidates(graph: Graph) -> int:
    """Number of candidates that are not linked."""
    return graph.num_candidates - int(graph.may_link(graph.edges).sum())


def draw_training_pairs(
    graph: Graph, limit: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Links of a release (a, 2), at most `limit`, and as many non-links of it (b, 2).

    Links of weight 0 are ignored. Withheld links are unknown to the attacker and may be among the
    non-links.
    """
    links = graph.present_edges
    if len(links) > limit:
        links = links[np.sort(rng.choice(len(links), limit, replace=False))]
    return links, sample_candidates(graph, min(len(links), count_candidates(graph)), rng)


def draw_non_links(graph: Graph, count: int, rng: np.random.Generator) -> np.ndarray:
    """At most `count` non-linked pairs, uniform with replacement; fast.

    Draws that hit a link are dropped.
    """
    pairs = rng.integers(0, graph.num_nodes, (count, 2))
    pairs = pairs[(pairs[:, 0] != pairs[:, 1]) & graph.may_link(pairs)]
    return np.asarray(pairs[~graph.contains_pairs(pairs)])


def hide_links(
    graph: Graph, share: float, limit: int, rng: np.random.Generator, ratio: float = 1.0
) -> tuple[Graph, np.ndarray, np.ndarray]:
    """Withhold links for an attacker's own training: the graph without them, the links, non-links.

    Hides `share` of the links of positive weight, at most `limit`, and draws `ratio` times as many
    non-linked pairs. (a, 2) has fewer than two links if there is nothing to hide.
    """
    links, count = _list_hideable(graph, share, limit)
    return _hide(graph, links[np.sort(rng.choice(len(links), count, replace=False))], ratio, rng)


def hide_in_turn(
    graph: Graph,
    share: float,
    limit: int,
    rounds: int,
    rng: np.random.Generator,
    ratio: float = 1.0,
) -> Iterator[tuple[Graph, np.ndarray, np.ndarray]]:
    """`hide_links` one to `rounds` times, without hiding a link twice."""
    links, count = _list_hideable(graph, share, limit)
    order = rng.permutation(len(links))
    max_rounds = len(links) // count if count else 1
    for start in range(0, max(count, 1) * min(rounds, max_rounds), max(count, 1)):
        yield _hide(graph, links[np.sort(order[start : start + count])], ratio, rng)


def _list_hideable(graph: Graph, share: float, limit: int) -> tuple[np.ndarray, int]:
    """Links of positive weight, and the number hidden at once."""
    links = graph.present_edges
    return links, min(max(round(share * len(links)), min(2, len(links) // 2)), limit)


def _hide(
    graph: Graph, hidden: np.ndarray, ratio: float, rng: np.random.Generator
) -> tuple[Graph, np.ndarray, np.ndarray]:
    count = min(round(ratio * len(hidden)), count_candidates(graph))
    absent = sample_candidates(graph, count, rng)
    return graph.without_edges(hidden), hidden, absent


def split_by_work(entries: np.ndarray, limit: int) -> list[np.ndarray]:
    """Split k pairs into consecutive parts of about `limit` row entries; parts may be empty.

    entries  (k,) row entries that each pair needs
    """
    total = np.cumsum(entries)
    count = int(total[-1] // limit) + 1 if len(total) else 1
    bounds = np.searchsorted(total, limit * np.arange(1, count))
    return np.split(np.arange(len(entries)), bounds)


def find_near_pairs(graph: Graph, limit: int, rng: np.random.Generator) -> tuple[np.ndarray, float]:
    """(k, 2) pairs i < j at distance two, and the number of such pairs each represents.

    All of them with weight 1 if all two-link paths take at most `limit` steps; else those around a
    random subset of nodes: each pair is found from either end, so that it may occur twice and the
    weights are unbiased. Links of weight 0 are ignored.
    """
    links = sparse.csr_array(graph.adjacency != 0, dtype=np.float32)
    degrees = np.diff(links.indptr)
    steps = links @ degrees.astype(np.float64)  # paths of two links from each node
    n = graph.num_nodes
    if steps.sum() <= 2 * limit:
        paths = sparse.coo_array(sparse.triu(links @ links, 1))
        pairs = np.stack(paths.coords, axis=1).astype(np.int64)
        return pairs[~graph.contains_pairs(pairs)], 1.0
    order = rng.permutation(n)
    count = max(int(np.searchsorted(np.cumsum(steps[order]), limit)), 1)
    nodes = np.sort(order[:count])
    paths = sparse.coo_array(links[nodes] @ links)
    pairs = np.stack([nodes[paths.coords[0]], paths.coords[1]], axis=1).astype(np.int64)
    pairs = np.sort(pairs[pairs[:, 0] != pairs[:, 1]], axis=1)
    return pairs[~graph.contains_pairs(pairs)], n / count / 2


ROUNDS = 12
"""Rounds of re-matching ends whose pair was a loop or a duplicate."""

SWITCHES = 40
"""Rounds of tries to place the ends left then: one try a pair of ends and round."""


def draw_by_degrees(
    degrees: np.ndarray, rng: np.random.Generator, taken: np.ndarray | None = None
) -> np.ndarray:
    """(k, 2) distinct pairs i < j in which node i occurs up to `degrees[i]` times.

    The configuration model (Bollobás, 1980): ends are matched at random. Loops, duplicates and
    pairs with codes in `taken` (sorted) are split and matched again, up to `ROUNDS` times, then
    dropped. O(k) time per round.
    """
    n = len(degrees)
    taken = np.empty(0, np.int64) if taken is None else taken
    found, remaining = np.empty(0, np.int64), degrees.astype(np.int64)
    for _ in range(ROUNDS):
        ends = np.repeat(np.arange(n), remaining)
        if len(ends) < 2:
            break
        rng.shuffle(ends)
        pairs = ends[: len(ends) // 2 * 2].reshape(-1, 2)
        codes = pair_codes(pairs[pairs[:, 0] != pairs[:, 1]], n)
        found = sort_distinct(np.concatenate([found, codes[~is_among(codes, taken)]]))
        remaining = degrees - np.bincount(np.concatenate([found // n, found % n]), minlength=n)
    return decode_pairs(found, n)


def place_left_ends(links: np.ndarray, degrees: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """`links` (k, 2) of distinct pairs changed so that node i occurs `degrees[i]` times.

    Ends left over mostly belong to nodes of high degree, which are joined already. They are paired
    at random, and a pair u, v takes the place of a random link: x, y becomes u, x and v, y, if
    neither is linked (switchings: McKay and Wormald, 1990). The degrees of x and y stay. Up to
    `SWITCHES` rounds of O(k log k) time; what is left then, or an odd end, is dropped.
    """
    n = len(degrees)
    codes = sort_distinct(pair_codes(links, n))
    for _ in range(SWITCHES):
        missing = degrees - np.bincount(np.concatenate([codes // n, codes % n]), minlength=n)
        ends = np.repeat(np.arange(n), np.maximum(missing, 0))
        count = min(len(ends) // 2, len(codes))
        if not count:
            break
        rng.shuffle(ends)
        chosen = rng.choice(len(codes), count, replace=False)
        old = rng.permuted(decode_pairs(codes[chosen], n), axis=1)
        new = np.stack([ends[: 2 * count].reshape(-1, 2), old], axis=2)  # (count, 2 links, 2 ends)
        drawn = pair_codes(new.reshape(-1, 2), n).reshape(-1, 2)
        _, place, often = np.unique(drawn, return_inverse=True, return_counts=True)
        is_free = (new[..., 0] != new[..., 1]) & ~is_among(drawn, codes)
        fits = (is_free & (often[place].reshape(-1, 2) == 1)).all(axis=1)
        codes = np.sort(np.concatenate([np.delete(codes, chosen[fits]), drawn[fits].ravel()]))
    return decode_pairs(codes, n)


def count_shared_neighbors(
    graph: Graph, pairs: np.ndarray, marked: np.ndarray | None = None
) -> np.ndarray:
    """(k,) int64 common neighbours of each pair (k, 2), or of them those that are marked (n,)."""
    matrix = graph.adjacency
    counted = matrix.data > 0 if marked is None else (matrix.data > 0) & marked[matrix.indices]
    weights, no_factors = counted.astype(np.float32), np.empty((graph.num_nodes, 0))
    sums = np.zeros((len(pairs), 1))
    sum_common_neighbors(matrix.indptr, matrix.indices, weights, pairs, no_factors, sums)
    return sums[:, 0].astype(np.int64)
