"""LapGraph: Laplace noise on every pair; the m̃ largest are published; ε-edge DP."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

import numpy as np
from pydantic import Field

from core.algorithms.pairs import sample_candidates
from core.context import Context
from core.defenses.budgeted import CountShare, EdgePrivateDefense
from core.graph import Graph
from core.methods import MethodInfo
from core.privacy.budget import Account
from core.privacy.guarantees import EDGE
from core.privacy.mechanisms import check_release_fits
from core.privacy.top_pairs import draw_top_pairs
from core.release import Release
from core.threats import Threats

REMEDY = "raise epsilon or use a smaller graph"


class NoisyPairs(EdgePrivateDefense):
    """Spends `count_share` of ε on a noisy number m̃ of links, the rest on the pairs themselves."""

    count_share: CountShare = Field(
        0.01, description="The rest of the budget protects the pairs themselves."
    )

    def publish(self, graph: Graph, threats: Threats, context: Context) -> Release:
        account = Account(EDGE, self.epsilon, context)
        links = np.array([graph.num_edges])
        noisy = account.add_count_noise(links, self.count_share, 1.0, "count")[0]
        wanted = int(np.clip(noisy, 0, graph.num_candidates))
        check_release_fits(self.info.title, wanted, context, REMEDY)
        scale = account.spend(account.share_left, label="pairs")
        kept, num_added = self._draw(graph, wanted, scale, context)
        added = sample_candidates(graph, num_added, context.rng("positions"))
        published = graph.with_edges(np.concatenate([graph.edges[kept], added]))
        return self.build_release(published, account.make_guarantee())

    @abstractmethod
    def _draw(
        self, graph: Graph, wanted: int, scale: float, context: Context
    ) -> tuple[np.ndarray, int]:
        """A mask (m,) over the links, and the number of other published pairs."""


class LapGraph(NoisyPairs):
    """Publishes the m̃ largest values, independently of the threats and without weights."""

    info: ClassVar[MethodInfo] = MethodInfo(
        key="lap_graph",
        title="LapGraph",
        summary="Adds Laplace noise to every pair and publishes as many top pairs as links.",
        source="Wu et al., LinkTeller, IEEE S&P 2022, §V (LapGraph)",
        group="edge DP",
        version=2,
    )

    def _draw(
        self, graph: Graph, wanted: int, scale: float, context: Context
    ) -> tuple[np.ndarray, int]:
        rng = context.rng("pairs")
        return draw_top_pairs(graph.num_edges, graph.num_candidates, wanted, scale, rng)
