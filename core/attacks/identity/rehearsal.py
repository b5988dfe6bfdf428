"""A pair of graphs on which an attacker rehearses: there he knows who is who."""

from __future__ import annotations

import numpy as np

from core.algorithms.fingerprints import count_links_and_triangles, list_neighbors
from core.graph import Graph, is_among, pair_codes


def rehearse(
    known: Graph, published: Graph, overlap: float, rng: np.random.Generator
) -> tuple[Graph, np.ndarray]:
    """A release of `known` that looks like `published` and holds `overlap` of the known links,
    and (k,) int64 its node of each known node.

    The other links, as many as the release has more, end where the known ones do: a share of
    them close triangles, such that there are as many triangles as in the release, and the
    others lead three links away. Nothing but the release's numbers of links and of triangles
    is used, so that the order of its nodes does not matter.
    """
    links = known.edges if known.weights is None else known.edges[known.weights > 0]
    wanted = published.num_edges
    if published.weights is not None:
        wanted = int((published.weights > 0).sum())
    share = min(overlap, wanted / max(len(links), 1))
    kept = links[rng.random(len(links)) < share]
    missing = max(wanted - len(kept), 0)
    closing = draw_ends(known, 2, missing, rng)
    far = draw_ends(known, 3, missing, rng)
    goal = int(count_links_and_triangles(published)[1].sum())
    few, many = (
        int(count_links_and_triangles(known.with_edges(np.concatenate([kept, more])))[1].sum())
        for more in (far, closing)
    )
    local = (goal - few) / (many - few) if many > few else 0.0
    count = round(float(np.clip(local, 0.0, 1.0)) * len(closing))
    edges = np.concatenate([kept, closing[:count], far[: missing - count]])
    truth = rng.permutation(known.num_nodes)
    return Graph.from_pairs(truth[edges], known.num_nodes), truth


def draw_ends(graph: Graph, length: int, count: int, rng: np.random.Generator) -> np.ndarray:
    """At most `count` new pairs (c, 2), the ends of random walks of `length` links, which start
    at random ends of random links."""
    indptr, indices = list_neighbors(graph)
    if not len(indices):
        return np.empty((0, 2), np.int64)
    found = np.empty(0, np.int64)
    for _ in range(4):
        draws = 2 * (count - len(found)) + 16
        start = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))[
            rng.integers(0, len(indices), draws)
        ]
        place = start
        for _ in range(length):
            step = rng.random(len(place)) * (indptr[place + 1] - indptr[place])
            place = indices[indptr[place] + step.astype(np.int64)]
        pairs = np.stack([start, place], axis=1).astype(np.int64)
        codes = pair_codes(pairs[start != place], graph.num_nodes)
        codes = codes[~is_among(codes, graph.edge_codes)]
        merged = np.concatenate([found, codes])
        _, first = np.unique(merged, return_index=True)
        found = merged[np.sort(first)][:count]
        if len(found) == count:
            break
    return np.stack([found // graph.num_nodes, found % graph.num_nodes], axis=1)
