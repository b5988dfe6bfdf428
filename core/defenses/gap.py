"""GAP: noisy aggregation of random features, and a graph drawn from the result."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np
from pydantic import Field

from core.context import Context
from core.defenses.edge_synthesis import EdgeSynthesis
from core.graph import Graph
from core.methods import MethodInfo
from core.privacy.budget import Account, GaussianNoise


class Gap(EdgeSynthesis):
    """Each hop sums the neighbours' unit vectors, adds Gaussian noise and normalises.

    The features are random and public. One link changes two rows of a sum by a unit vector each, so
    a hop has sensitivity √2. This is edge-level: on undirected graphs one node's links change any
    number of rows, and no degree bound makes them few.
    """

    info: ClassVar[MethodInfo] = MethodInfo(
        key="gap",
        title="GAP",
        summary="Spreads random features over the links with noise, and draws links from them.",
        source="Sajadmanesh et al., GAP, USENIX Security 2023, §4; as used in PrivDPR §6",
        group="edge DP",
        cost="seconds",
        version=2,
    )
    hops: int = Field(2, ge=1, le=5, description="Rounds of noisy aggregation; each costs budget.")
    temperature: float = Field(
        0.1, gt=0, description="Smaller values draw links between similar nodes more strictly."
    )

    def _synthesize(
        self, data: Graph, wanted: int, account: Account, context: Context
    ) -> tuple[np.ndarray, str]:
        from core.models.synthesis.drawing import draw_links

        noise = account.spend_rest_on_sums(self.hops)
        vectors = self.aggregate(data, noise, context) / math.sqrt(self.temperature)
        links = draw_links(vectors, wanted, context.child("links"))
        return links, f"{self.hops} Gaussian hops, composed exactly (μ-GDP)"

    def aggregate(self, data: Graph, noise: GaussianNoise, context: Context) -> np.ndarray:
        """(n, (hops + 1) · dimensions): the features and each hop's noisy sums, unit rows."""
        shape = data.num_nodes, self.dimensions
        blocks = [_scale_rows(context.rng("features").standard_normal(shape))]
        for hop in range(self.hops):
            sums = data.adjacency @ blocks[-1]
            blocks.append(_scale_rows(sums + noise.draw_for(sums, math.sqrt(2.0))))
            context.progress.update(hop + 1, self.hops, "noisy aggregation")
        return np.concatenate(blocks, axis=1)


def _scale_rows(x: np.ndarray) -> np.ndarray:
    """Rows of norm 1, never above by rounding."""
    return np.asarray(x / np.maximum(np.linalg.norm(x, axis=1, keepdims=True) * (1 + 1e-12), 1e-12))
