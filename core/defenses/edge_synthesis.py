"""Syntheses with edge-level privacy: DPGGAN and DPGVAE."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from pydantic import Field

from core.context import Context
from core.defenses.budgeted import CountShare, DataFree, Delta, Epsilon, NumLinks
from core.graph import Graph
from core.methods import Defense, Strength
from core.privacy.budget import NUMBER_OF_LINKS, Account
from core.privacy.guarantees import EDGE, describe_data_use
from core.privacy.mechanisms import check_release_fits
from core.release import Release
from core.threats import Threats

if TYPE_CHECKING:
    from core.models.synthesis.link_sgd import LinkSgd


class EdgeSynthesis(Defense):
    """Node vectors learned with edge-level privacy, and new links drawn from them."""

    acts_by: ClassVar[Strength | None] = Strength("epsilon", 10.0, 0.5, is_log=True)
    epsilon: Epsilon = Field(3.2, description="Smaller is more private; one link is protected.")
    delta: Delta = Field(1e-5, description="Should be far below 1 / number of links.")
    data_free: DataFree = False
    num_links: NumLinks = Field(
        None, description="Links to publish, if that number is public; empty: estimated with noise."
    )
    count_share: CountShare = Field(
        0.05, description="Spent only where the number of links is not given as public."
    )
    dimensions: int = Field(128, ge=1, le=1024, description="Length of a node's vector.")

    def publish(self, graph: Graph, threats: Threats, context: Context) -> Release:
        # Without weights, so that each link counts one.
        data = graph.with_edges(np.empty((0, 2), np.int64) if self.data_free else graph.edges)
        account = Account(EDGE, self.epsilon, context, self.delta)
        wanted = self.num_links
        if wanted is None:
            count = np.array([graph.num_edges])
            wanted = int(
                account.add_count_noise(count, self.count_share, 1, "links", NUMBER_OF_LINKS)[0]
            )
        wanted = int(np.clip(wanted, 0, graph.num_pairs))
        check_release_fits(self.info.title, wanted, context, "set the number of links")
        links, accountant = self._synthesize(data, wanted, account, context)
        note = describe_data_use(self.data_free, self.num_links is not None)
        guarantee = account.make_guarantee(accountant, note)
        return self.build_release(graph.with_edges(links), guarantee)

    def supports(self, graph: Graph, threats: Threats) -> str | None:
        return None if graph.num_nodes >= 3 else "needs a graph of at least three nodes"

    @abstractmethod
    def _synthesize(
        self, data: Graph, wanted: int, account: Account, context: Context
    ) -> tuple[np.ndarray, str]:
        """New links (k, 2), for the remaining budget of the account, and the name of the
        accounting."""


class LinkSgdSynthesis(EdgeSynthesis):
    """Vectors trained by DP-SGD on links; the pairs with the largest scores are published."""

    steps: int = Field(200, ge=1, le=10_000, description="Training steps; each costs budget.")
    rate: float = Field(
        0.05,
        gt=0,
        le=1,
        title="Sampling rate",
        description="Chance of each link to be used in a step; smaller spends less a step.",
    )
    negatives: int = Field(256, ge=1, le=100_000, description="Non-links drawn in each step.")
    lr: float = Field(0.01, gt=0, title="Learning rate", description="Step size of Adam.")

    def _synthesize(
        self, data: Graph, wanted: int, account: Account, context: Context
    ) -> tuple[np.ndarray, str]:
        from core.models.synthesis.drawing import take_top_links
        from core.models.synthesis.link_sgd import LinkSgd

        context.progress.check()
        noise = account.spend_rest_on_sums(self.steps, self.rate)
        plan = LinkSgd(self.steps, self.rate, noise, self.lr, self.dimensions)
        links = take_top_links(self._train(data, plan, context), wanted, context)
        return links, f"{self.steps:,} sampled Gaussian steps, privacy loss distributions"

    @abstractmethod
    def _train(self, data: Graph, plan: LinkSgd, context: Context) -> np.ndarray:
        """Node vectors (n, r) that depend on links only through the plan's noisy steps."""
