"""PrivHRG: a graph drawn from a private dendrogram of the nodes; ε-edge DP."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np
from pydantic import Field

from core.context import Context
from core.defenses.budgeted import DataFree, EdgePrivateDefense
from core.graph import Graph
from core.methods import MethodInfo, OpenUnitInterval
from core.privacy.budget import Account
from core.privacy.dendrogram import draw_dendrogram
from core.privacy.guarantees import EDGE, describe_data_use, draw_uniform_graph
from core.privacy.mechanisms import check_release_fits
from core.privacy.tables import subtract_within
from core.release import Release
from core.threats import Threats

CONVERGENCE = (
    "The guarantee holds for the distribution that the Markov chain tends to; after so many steps "
    "the dendrogram need not come from it yet."
)


class PrivHrg(EdgePrivateDefense):
    """A hierarchical random graph with noise.

    In a dendrogram two nodes are linked with the probability of their lowest common ancestor. The
    dendrogram is drawn by the exponential mechanism on its log-likelihood, by a Markov chain; the
    number of links at each ancestor then gets noise, is brought between 0 and the number of its
    pairs so that the sum stays, and links are drawn.

    One more link changes one of those numbers by one, and the log-likelihood of N pairs by at most
    N ln N − (N − 1) ln(N − 1), with N ≤ n²/4, in either direction: hence twice that.
    """

    info: ClassVar[MethodInfo] = MethodInfo(
        key="priv_hrg",
        title="PrivHRG",
        summary="Publishes a random graph drawn from a noisy hierarchy of the nodes.",
        source="Xiao, Chen and Tan, Differentially private network data release via structural "
        "inference, KDD 2014; model: Clauset, Moore and Newman, Nature 453, 2008",
        group="edge DP",
        cost="minutes",
        version=2,
        claim_blind_spot=(
            "The chain starts without the data, so that a short one shows less than the guarantee; "
            "that a long one keeps it, no game on two graphs can show."
        ),
    )
    steps: int = Field(
        100,
        ge=1,
        le=100_000,
        title="Steps a node",
        description="Changes of the dendrogram that are tried, for each node.",
    )
    tree_share: OpenUnitInterval = Field(
        0.5,
        title="Share of ε for the dendrogram",
        description="The rest of the budget protects the numbers of links.",
    )
    data_free: DataFree = False

    def supports(self, graph: Graph, threats: Threats) -> str | None:
        return None if graph.num_nodes >= 3 else "needs a graph of at least three nodes"

    def publish(self, graph: Graph, threats: Threats, context: Context) -> Release:
        data = draw_uniform_graph(graph, context) if self.data_free else graph
        account = Account(EDGE, self.epsilon, context)
        change = compute_sensitivity(graph.num_nodes)
        factor = account.spend_choice(self.tree_share, 2.0 * change, "dendrogram")
        tree = draw_dendrogram(data, factor, self.steps * graph.num_nodes, context)
        noisy = account.add_count_noise(tree.links, account.share_left, 1.0, "links")
        expected = subtract_within(noisy.astype(np.float64), tree.count_pairs())
        check_release_fits("PrivHRG", expected.sum(), context, "raise epsilon")
        rng = context.rng("links")
        links = tree.draw_links(tree.draw_counts(expected, rng), rng)
        note = describe_data_use(self.data_free, False, CONVERGENCE)
        return self.build_release(graph.with_edges(links), account.make_guarantee(note=note))


def compute_sensitivity(num_nodes: int) -> float:
    """Sensitivity of a dendrogram's log-likelihood to one link, for n ≥ 3 nodes."""
    pairs = num_nodes**2 // 4
    return pairs * math.log(pairs) - (pairs - 1) * math.log(pairs - 1)
