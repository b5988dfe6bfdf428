"""DPGVAE: a variational graph auto-encoder trained with edge-level privacy."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from core.context import Context
from core.defenses.edge_synthesis import LinkSgdSynthesis
from core.graph import Graph
from core.methods import MethodInfo

if TYPE_CHECKING:
    from core.models.synthesis.link_sgd import LinkSgd


class DpgVae(LinkSgdSynthesis):
    """Variational node vectors trained by DP-SGD on links; the likeliest pairs become the release.

    The original encodes nodes by a graph convolution, through which one link would reach every
    gradient. Here each node has free parameters, so that the stated guarantee holds.
    """

    info: ClassVar[MethodInfo] = MethodInfo(
        key="dpgvae",
        title="DPGVAE",
        summary="Trains a noisy auto-encoder of the links and publishes the likeliest pairs.",
        source="Yang et al., Secure deep graph generation with link DP, IJCAI 2021; PrivDPR §6",
        group="edge DP",
        cost="minutes",
        uses_gpu=True,
        version=2,
    )

    def _train(self, data: Graph, plan: LinkSgd, context: Context) -> np.ndarray:
        from core.models.synthesis.link_sgd import train_vae

        return train_vae(data, plan, self.negatives, context)
