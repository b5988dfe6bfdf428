"""DP-1K: a random graph of the noisy degree distribution; ε-edge DP."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from core.algorithms.pairs import draw_by_degrees, place_left_ends
from core.context import Context
from core.defenses.budgeted import DataFree, EdgePrivateDefense
from core.graph import Graph
from core.methods import MethodInfo
from core.privacy.budget import Account, Share
from core.privacy.guarantees import EDGE, describe_data_use, draw_uniform_graph
from core.privacy.mechanisms import add_discrete_laplace, check_release_fits
from core.release import Release
from core.threats import Threats

TAIL = 1.5
"""Noise alone has less than TAIL ln n times its variance in about 19 of 20 releases (n = 300 to
22,687), measured as the sum of squares of the regression on it, clipped at 0."""


class Dp1k(EdgePrivateDefense):
    """The dK-1 series with noise, and a graph drawn from it by the configuration model, with
    switchings where that would join two nodes twice.

    Noise is added to the number of nodes of degree k or more, for each k: a link changes two of
    these numbers by one, but four bins of the histogram (the paper's sensitivity of 4).
    Monotonicity in k is then restored by isotonic regression, which averages the noise over empty
    ranges of k (Hay, Li, Miklau and Jensen, 2009, on the sorted degrees). Highest degrees that
    cannot be told from noise are dropped. Degrees are assigned to nodes at random.
    """

    info: ClassVar[MethodInfo] = MethodInfo(
        key="dp_1k",
        title="DP-1K",
        summary="Publishes a random graph whose degrees are distributed as the noisy ones.",
        source="Wang and Wu, Preserving differential privacy in degree-correlation based graph "
        "generation, Transactions on Data Privacy 2013, DP-1K",
        group="edge DP",
        cost="seconds",
        version=3,
    )
    data_free: DataFree = False

    @property
    def keeps_nodes(self) -> bool:
        return False

    def publish(self, graph: Graph, threats: Threats, context: Context) -> Release:
        data = draw_uniform_graph(graph, context) if self.data_free else graph
        account = Account(EDGE, self.epsilon, context)
        degrees = estimate_degrees(data.degrees, account, 1, context)
        context.progress.update(1, 3, "drawing links")
        check_release_fits("DP-1K", degrees.sum() / 2, context, "raise epsilon")
        rng = context.rng("links")
        degrees = rng.permutation(degrees)
        links = place_left_ends(draw_by_degrees(degrees, rng), degrees, rng)
        context.progress.update(3, 3, "drawing links")
        guarantee = account.make_guarantee(note=describe_data_use(self.data_free, False))
        return self.build_release(graph.with_edges(links), guarantee)


def estimate_degrees(
    degrees: np.ndarray, account: Account, share: Share, context: Context
) -> np.ndarray:
    """(n,) degrees, highest first, for a share of an edge budget."""
    n = len(degrees)
    reaching = n - np.searchsorted(np.sort(degrees), np.arange(1, n))
    scale = account.spend(share, 2.0, "degrees")
    noisy = add_discrete_laplace(reaching, scale, context, "degrees")
    variance = 0.5 / math.sinh(0.5 / scale) ** 2  # of discrete Laplace noise of this scale
    return compute_degrees(noisy, n, variance)


def compute_degrees(noisy: np.ndarray, num_nodes: int, variance: float = 0.0) -> np.ndarray:
    """(n,) degrees, highest first, from noisy numbers of nodes of degree ≥ 1, 2, …, n − 1.

    variance  of the noise. The last levels of the regression, never the first, become 0 as long as
              the sum of their squares is at most TAIL ln n of it: noise averages out to a small
              number over a long range, at whose end a node too many would have its degree.
    """
    from scipy.optimize import isotonic_regression

    if not len(noisy):
        return np.zeros(num_nodes, np.int64)
    falling = isotonic_regression(noisy.astype(np.float64), increasing=False).x
    falling = np.clip(falling, 0.0, num_nodes)
    beyond = np.cumsum(np.square(falling[::-1]))[::-1]
    from_level = beyond[np.searchsorted(-falling, -falling)]  # from the first k of its level on
    limit = TAIL * variance * math.log(num_nodes)
    falling[(from_level <= limit) & (falling < falling[0])] = 0.0
    reaching = np.rint(falling).astype(np.int64)
    # The r-th node has the degree that r nodes or more reach.
    ranks = np.arange(1, num_nodes + 1)
    return np.asarray(np.searchsorted(-reaching, -ranks, "right"))
