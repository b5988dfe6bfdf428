"""DPGGAN: a link generator trained against a discriminator with edge-level privacy."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from core.context import Context
from core.defenses.edge_synthesis import LinkSgdSynthesis
from core.graph import Graph
from core.methods import MethodInfo

if TYPE_CHECKING:
    from core.models.synthesis.link_sgd import LinkSgd


class DpgGan(LinkSgdSynthesis):
    """Only the discriminator is trained on links, by DP-SGD; the generator learns from it.

    The original's discriminator convolves over the graph, through which one link would reach
    every gradient. Here it judges pairs by free node vectors, so that the guarantee holds.
    """

    info: ClassVar[MethodInfo] = MethodInfo(
        key="dpggan",
        title="DPGGAN",
        summary="Trains a link generator against a noisy judge and publishes the likeliest pairs.",
        source="Yang et al., Secure deep graph generation with link DP, IJCAI 2021; PrivDPR §6",
        group="edge DP",
        cost="minutes",
        uses_gpu=True,
        version=2,
    )

    def _train(self, data: Graph, plan: LinkSgd, context: Context) -> np.ndarray:
        from core.models.synthesis.link_sgd import train_gan

        return train_gan(data, plan, self.negatives, context)
