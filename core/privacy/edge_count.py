"""The number of links under node-level privacy, where one node may have up to n − 1 of them."""

from __future__ import annotations

import numba
import numpy as np

from core.graph import Graph
from core.privacy.budget import NUMBER_OF_LINKS, Account, Share


def count_capped_links(graph: Graph, degree_cap: int) -> int:
    """Links that remain when they are added one by one, in their order, to ends with room.

    Changing all links of one node changes the count by at most `degree_cap` (D). The graph
    without the node is common to both sides; each of the node's at most D accepted links then
    starts one chain of alternately displaced and freed links at its other end, which changes the
    count by 0 or +1. So both counts lie in [c, c + D] (after Day, Li and Lyu, SIGMOD 2016, §4).
    """
    return int(_count(graph.edges, graph.num_nodes, degree_cap))


def estimate_num_links(graph: Graph, account: Account, share: Share, degree_cap: int) -> int:
    """Number of links for a share of a budget of nodes, between 0 and all pairs; too low by what
    the cap cuts off."""
    count = np.array([count_capped_links(graph, degree_cap)])
    noisy = account.add_count_noise(count, share, degree_cap, NUMBER_OF_LINKS)[0]
    return int(np.clip(noisy, 0, graph.num_pairs))


@numba.njit
def _count(edges: np.ndarray, num_nodes: int, cap: int) -> int:
    room = np.full(num_nodes, cap, np.int64)
    count = 0
    for k in range(len(edges)):
        i, j = edges[k]
        if room[i] > 0 and room[j] > 0:
            room[i] -= 1
            room[j] -= 1
            count += 1
    return count
