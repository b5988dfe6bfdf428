"""What the links that are left tell of a person: contacts shared, neighbours' values."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy import sparse

from core.graph import Graph, pair_codes

_PAIRS_AT_ONCE = 50_000


def compare_contacts(original: Graph, release: Graph) -> pd.DataFrame:
    """A row a node of `original`: links, withheld, ends, others.

    withheld  how many of its `links` the release lacks
    ends      contacts in the release that it shares with the other ends of those, on average
    others    the same with all whom it has no link to; NaN where there is nobody
    """
    num_nodes = original.num_nodes
    edges = original.edges
    gone = ~np.isin(pair_codes(edges, num_nodes), pair_codes(release.edges, num_nodes))
    links_to = (release.adjacency != 0).astype(float).tocsr()
    shared = _count_shared(links_to, edges)
    links = np.bincount(edges.ravel(), minlength=num_nodes)
    withheld = np.bincount(edges[gone].ravel(), minlength=num_nodes)
    ends = np.bincount(edges[gone].ravel(), np.repeat(shared[gone], 2), num_nodes)
    # Walks of two steps end at strangers, at one's links, or where they began.
    degrees = np.asarray(links_to.sum(axis=1)).ravel()
    walks = links_to @ degrees - degrees
    linked = np.bincount(edges.ravel(), np.repeat(shared, 2), num_nodes)
    strangers = num_nodes - 1 - links
    with np.errstate(invalid="ignore", divide="ignore"):
        return pd.DataFrame(
            {
                "links": links,
                "withheld": withheld,
                "ends": ends / withheld,
                "others": (walks - linked) / strangers,
            }
        )


def count_same_neighbors(graph: Graph, codes: np.ndarray) -> np.ndarray:
    """(n,) share of a node's neighbours with a known value that have its own; NaN without any."""
    a, b = graph.edges.T
    known = (codes[a] >= 0) & (codes[b] >= 0)
    a, b = a[known], b[known]
    ends = np.concatenate([a, b])
    same = np.tile((codes[a] == codes[b]).astype(float), 2)
    with np.errstate(invalid="ignore", divide="ignore"):
        ratio: np.ndarray = np.bincount(ends, same, graph.num_nodes) / np.bincount(
            ends, minlength=graph.num_nodes
        )
    return ratio


def _count_shared(links_to: sparse.csr_matrix, pairs: np.ndarray) -> np.ndarray:
    """(k,) common neighbours of each pair."""
    parts = [
        np.asarray(links_to[part[:, 0]].multiply(links_to[part[:, 1]]).sum(axis=1)).ravel()
        for part in np.array_split(pairs, max(len(pairs) // _PAIRS_AT_ONCE, 1))
    ]
    return np.concatenate(parts)
