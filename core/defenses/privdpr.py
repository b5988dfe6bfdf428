"""PrivDPR: a synthetic graph with node-level differential privacy."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np
from pydantic import Field

from core.context import Context
from core.defenses.budgeted import CountShare, Delta, Epsilon, NumLinks
from core.defenses.dpr import Dpr
from core.graph import Graph
from core.methods import MethodInfo, Strength, Suggestion
from core.privacy.budget import NUMBER_OF_LINKS, Account, Share
from core.privacy.capping import select_capped_links
from core.privacy.guarantees import NODE, describe_data_use
from core.release import Guarantee

if TYPE_CHECKING:
    from core.models.synthesis.deep_pagerank import Plan


class PrivDpr(Dpr):
    """Deep PageRank with Gaussian noise on the gradient of the node vectors (Algorithm 2).

    The accounting differs from the paper's as the guarantee requires: the sensitivity covers
    both neighbouring graphs (factor 2) and all pairs of a batch; σ is calibrated exactly and
    composed tightly instead of by √(2 ln(1.25/δ))/ε and a split of ε; the number of links spends a
    share of ε unless it is public. The sigmoid's slope of ¼ per layer, which the paper omits,
    lowers the noise.

    The gradient is still many orders of magnitude below the noise. Compare every release with its
    data-independent baseline: only the difference comes from the data.
    """

    info: ClassVar[MethodInfo] = MethodInfo(
        key="privdpr",
        title="PrivDPR",
        summary="Publishes a synthetic graph that hides each node with all its links.",
        source="Zhang, Hu, Ye and Xu, PrivDPR, KDD 2025, Algorithm 2, Theorems 4.2 and 5.1",
        group="node DP",
        cost="minutes",
        uses_gpu=True,
        claim_blind_spot=(
            "PrivDPR's signal is so far below its noise that in this game even half the noise "
            "goes unnoticed; only the number of links could give it away."
        ),
        version=2,
    )
    suggestion: ClassVar[Suggestion | None] = Suggestion(
        4,
        ("links", "identity"),
        ("statistics",),
        "generates a synthetic network. Guarantees node-DP, for all links of a node",
        recipients=("public",),
        limit="epsilon_node",
        is_learned=True,
    )
    acts_by: ClassVar[Strength | None] = Strength("epsilon", 10.0, 0.5, is_log=True)
    epsilon: Epsilon = Field(
        3.2, description="Smaller is more private; one node with all its links is protected."
    )
    delta: Delta = Field(1e-5, description="Should be far below 1 / number of nodes.")
    count_share: CountShare = Field(
        0.1, description="Spent only where the number of links is not given as public."
    )
    degree_cap: int = Field(
        50,
        ge=1,
        title="Largest counted degree",
        description="Caps what one node adds to the number of links; the rest is not counted.",
    )
    num_links: NumLinks = Field(
        None, description="Links to publish, if that number is public; empty: estimated with noise."
    )

    def open_account(self, context: Context) -> Account:
        return Account(NODE, self.epsilon, context, self.delta)

    def make_guarantee(self, account: Account, plan: Plan) -> Guarantee:
        note = describe_data_use(
            self.data_free,
            self.num_links is not None,
            "The noise is far above the signal: compare with the data-independent baseline.",
        )
        accountant = f"{plan.steps:,} Gaussian steps, composed exactly (μ-GDP)"
        return account.make_guarantee(accountant, note)

    def _choose_num_links(self, graph: Graph, account: Account | None) -> int:
        if self.num_links is not None:
            return min(self.num_links, graph.num_pairs)
        assert account is not None
        return estimate_num_links(graph, account, self.count_share, self.degree_cap)


def estimate_num_links(graph: Graph, account: Account, share: Share, degree_cap: int) -> int:
    """Number of links for a share of a node budget, between 0 and all pairs; biased downwards by
    the cap."""
    count = select_capped_links(graph.edges, graph.num_nodes, degree_cap).sum(keepdims=True)
    noisy = account.add_count_noise(count, share, degree_cap, NUMBER_OF_LINKS)[0]
    return int(np.clip(noisy, 0, graph.num_pairs))
