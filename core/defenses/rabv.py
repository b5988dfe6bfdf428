"""RABV: each pair of symmetric bits of the adjacency matrix is perturbed once."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from pydantic import Field

from core.context import Context
from core.graph import Graph
from core.methods import Defense, MethodInfo
from core.privacy.link_local import make_local_release
from core.privacy.mechanisms import check_release_fits, compute_flip_probability, draw_flips
from core.release import Release
from core.threats import Threats


class Rabv(Defense):
    """Randomised response on one bit a pair; the other bit of the pair copies it.

    The whole budget goes to the bits: the graph is published as collected, without LF-GDPR's
    degree query and calibration, as the GPS paper uses it.
    """

    info: ClassVar[MethodInfo] = MethodInfo(
        key="rabv",
        title="RABV",
        summary="Flips one bit of each pair of symmetric bits at random and copies it.",
        source="Ye, Hu, Au, Meng and Xiao, LF-GDPR, TKDE 2020; baseline of GPS (KDD 2024, §6.3)",
        group="link-local DP",
    )
    epsilon: float = Field(
        6.0, gt=0, le=100, title="Privacy budget ε", description="Budget of one link.",
    )

    def publish(self, graph: Graph, threats: Threats, context: Context) -> Release:
        flip = compute_flip_probability(self.epsilon)
        check_release_fits(
            "RABV", graph.num_edges + graph.num_pairs * flip, context, "raise epsilon"
        )
        kept, added = draw_flips(graph, flip, context.rng("flips"))
        published = graph.with_edges(np.concatenate([graph.edges[kept], added]))
        return make_local_release(self, graph, published, 1, context)
