"""TmF: publishes the pairs above a threshold after noise on every pair; ε-edge DP."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from pydantic import Field

from core.context import Context
from core.defenses.budgeted import CountShare
from core.defenses.lap_graph import REMEDY, NoisyPairs
from core.graph import Graph
from core.methods import MethodInfo
from core.privacy.mechanisms import check_release_fits
from core.privacy.top_pairs import draw_pairs_above, find_threshold


class Tmf(NoisyPairs):
    """The top-m filter: a noisy number m̃ of links, then A_ij + Laplace above a threshold.

    The threshold is exceeded by m̃ pairs in expectation. The authors then fill up to exactly m̃
    links from the other pairs. That number depends on how many links survived, and the likelihood
    ratio of neighbouring graphs is not bounded by e^ε. Here pairs pass independently by their
    noise: the number of links is m̃ in expectation. Passing non-links are drawn as a Binomial count
    and positions, so that time and memory are linear in m + m̃.
    """

    info: ClassVar[MethodInfo] = MethodInfo(
        key="tmf",
        title="TmF",
        summary="Adds Laplace noise to every pair and publishes the pairs above a threshold.",
        source="Nguyen, Imine and Rusinowitch, Differentially private publication of social "
        "graphs at linear cost, ASONAM 2015, Algorithm 1",
        group="edge DP",
        version=2,
    )
    count_share: CountShare = Field(
        0.1, description="The rest of the budget protects the pairs themselves."
    )

    def _draw(
        self, graph: Graph, wanted: int, scale: float, context: Context
    ) -> tuple[np.ndarray, int]:
        threshold = find_threshold(wanted, graph.num_candidates, scale)
        kept, count = draw_pairs_above(graph, threshold, scale, context.rng("pairs"))
        context.progress.update(1, 2, "drawing links")
        check_release_fits(self.info.title, count, context, REMEDY)
        return kept, count
