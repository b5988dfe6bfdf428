"""DP-1K: a random graph of the noisy degree distribution; ε-edge DP."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from pydantic import Field

from core.algorithms.pairs import draw_by_degrees, place_left_ends
from core.context import Context
from core.defenses.budgeted import EdgePrivateDefense
from core.graph import Graph
from core.methods import MethodInfo
from core.privacy.budget import Account, Share
from core.privacy.guarantees import DESCRIPTION, EDGE, describe_data_use, draw_uniform_graph
from core.privacy.mechanisms import check_release_fits
from core.release import Release
from core.threats import Threats


class Dp1k(EdgePrivateDefense):
    """The dK-1 series with noise, and a graph drawn from it by the configuration model, with
    switchings where that would join two nodes twice.

    Noise is added to the number of nodes of degree k or more, for each k: a link changes two of
    these numbers by one, but four bins of the histogram (the paper's sensitivity of 4).
    Monotonicity in k is then restored by isotonic regression, which averages the noise over empty
    ranges of k (Hay, Li, Miklau and Jensen, 2009, on the sorted degrees). Degrees are assigned to
    nodes at random.
    """

    info: ClassVar[MethodInfo] = MethodInfo(
        key="dp_1k",
        title="DP-1K",
        summary="Publishes a random graph whose degrees are distributed as the noisy ones.",
        source="Wang and Wu, Preserving differential privacy in degree-correlation based graph "
        "generation, Transactions on Data Privacy 2013, DP-1K",
        group="edge DP",
        cost="seconds",
        version=2,
    )
    keeps_nodes: ClassVar[bool] = False
    data_free: bool = Field(False, title="Data-independent baseline", description=DESCRIPTION)

    def publish(self, graph: Graph, threats: Threats, context: Context) -> Release:
        data = draw_uniform_graph(graph, context) if self.data_free else graph
        account = Account(EDGE, self.epsilon, context)
        degrees = estimate_degrees(data.degrees, account, 1)
        context.progress.update(1, 3, "drawing links")
        check_release_fits("DP-1K", degrees.sum() / 2, context, "raise epsilon")
        rng = context.rng("links")
        degrees = rng.permutation(degrees)
        links = place_left_ends(draw_by_degrees(degrees, rng), degrees, rng)
        context.progress.update(3, 3, "drawing links")
        guarantee = account.make_guarantee(note=describe_data_use(self.data_free, False))
        return self.build_release(graph.with_edges(links), guarantee)


def estimate_degrees(degrees: np.ndarray, account: Account, share: Share) -> np.ndarray:
    """(n,) degrees, highest first, for a share of an edge budget."""
    n = len(degrees)
    reaching = n - np.searchsorted(np.sort(degrees), np.arange(1, n))
    return compute_degrees(account.add_count_noise(reaching, share, 2.0, "degrees"), n)


def compute_degrees(noisy: np.ndarray, num_nodes: int) -> np.ndarray:
    """(n,) degrees, highest first, from noisy numbers of nodes of degree ≥ 1, 2, …, n − 1."""
    from scipy.optimize import isotonic_regression

    if not len(noisy):
        return np.zeros(num_nodes, np.int64)
    falling = isotonic_regression(noisy.astype(np.float64), increasing=False).x
    reaching = np.rint(np.clip(falling, 0.0, num_nodes)).astype(np.int64)
    # The r-th node has the degree that r nodes or more reach.
    ranks = np.arange(1, num_nodes + 1)
    return np.asarray(np.searchsorted(-reaching, -ranks, "right"))
