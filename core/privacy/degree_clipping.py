"""Degree clipping with a tested bound on the node sensitivity of the links.

Each node keeps its first D links in a public order, and a link is kept if both ends keep it. If one
node changes its links, at most 2D links of its own differ; and each other node with D links or more
may lose or gain one (Blocki, Blum, Datta and Sheffet, ITCS 2013, §4). Two such graphs differ in at
most 3D links if one of them has no more than D nodes with D links or more. The number of nodes that
must change until that fails has sensitivity 1 and is tested with little noise (Dwork and Lei, STOC
2009).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.context import Context
from core.graph import Graph
from core.privacy.budget import Account, Share
from core.privacy.mechanisms import draw_by_score
from core.seeding import mix_bits

GROWTH = 1.25
"""Ratio between candidate degrees."""

MARGIN = 4.0
"""Log-odds of preferring a degree whose test passes with probability ½ to one that never passes."""


@dataclass(frozen=True)
class Clipping:
    """max_degree: D, or None without clipping; group: bound on the links in which graphs that
    differ in one node differ after clipping."""

    max_degree: int | None
    group: int


def clip_degrees(graph: Graph, max_degree: int) -> Graph:
    """Keep links among the first `max_degree` of both ends, in the order of a public hash of the
    pair; O(m log m)."""
    order = mix_bits(graph.edge_codes)
    ends = np.concatenate([graph.edges[:, 0], graph.edges[:, 1]])
    by_node = np.lexsort((np.tile(order, 2), ends))
    starts = np.cumsum(graph.degrees) - graph.degrees
    rank = np.empty(len(ends), np.int64)
    rank[by_node] = np.arange(len(ends)) - np.repeat(starts, graph.degrees)
    is_first = (rank < max_degree).reshape(2, -1)
    return graph.select_edges(is_first[0] & is_first[1])


def compute_stability(degrees: np.ndarray, max_degree: int) -> int:
    """Number of nodes that must change until more than D = `max_degree` nodes have D links or more;
    0 if that is so already.

    A lower bound of sensitivity 1: after k changes the number of nodes with at least D links is at
    most the former number with at least D − k, plus the k nodes.
    """
    changed = np.arange(max_degree + 1)
    reaching = len(degrees) - np.searchsorted(np.sort(degrees), max_degree - changed)
    return int(np.argmax(reaching + changed > max_degree))


def choose_clipping(
    graph: Graph, account: Account, choice_share: Share, test_share: Share, context: Context
) -> Clipping:
    """A clipping for a group of less than n − 1 links, or none.

    The exponential mechanism prefers a degree just stable enough to pass the test; if the test then
    fails nothing is clipped.
    """
    n = graph.num_nodes
    steps = GROWTH ** np.arange(np.log(max(n, 2)) / np.log(GROWTH))
    grid = np.unique(np.rint(steps)).astype(np.int64)
    grid = grid[3 * grid < n - 1]
    if not len(grid):
        return Clipping(None, n - 1)
    # One node moves the score of each degree by 1, up or down: hence the 2.
    factor = account.spend_choice(choice_share, 2.0, "largest counted degree")
    wanted = account.find_test_threshold(test_share) + MARGIN / factor
    stability = np.array([compute_stability(graph.degrees, d) for d in grid.tolist()])
    scores = -np.abs(stability - wanted)
    chosen = draw_by_score(scores, factor, context, "clipping")
    is_stable = account.test_distance(int(stability[chosen]), test_share, "stability")
    return (
        Clipping(int(grid[chosen]), 3 * int(grid[chosen])) if is_stable else Clipping(None, n - 1)
    )
