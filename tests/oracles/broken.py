"""Mechanisms that break their guarantee, for checks that must notice."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from core.algorithms.triangles import compute_triangles
from core.context import Context
from core.defenses.dp_1k import estimate_degrees
from core.defenses.priv_skg import PrivSkg, count_stars
from core.defenses.privdpr import PrivDpr
from core.graph import Graph
from core.methods import Defense
from core.privacy.budget import Account
from core.privacy.guarantees import EDGE
from core.release import Release


def make_half_noise(defense: Defense) -> Defense:
    """The same mechanism at twice its ε, with the claim of once."""
    loud = defense.model_copy(update={"epsilon": 2 * defense.config["epsilon"]})

    class HalfNoise(type(defense)):  # type: ignore[misc]
        def publish(self, graph, threats, context) -> Release:
            release = loud.publish(graph, threats, context)
            guarantee = release.guarantee
            transcript = guarantee.epsilon_transcript
            return replace(
                release,
                guarantee=replace(
                    guarantee,
                    epsilon=guarantee.epsilon / 2,
                    epsilon_transcript=None if transcript is None else transcript / 2,
                ),
            )

    return HalfNoise.model_validate(defense.config)


class FreeCountPrivDpr(PrivDpr):
    """PrivDPR that publishes as many links as the private graph has."""

    def _choose_num_links(self, graph: Graph, context: Context) -> int:
        return graph.num_edges


class CountsOfPrivSkg(PrivSkg):
    """PrivSKG that publishes its noisy counts, which its graph is made of, as weights of links."""

    def publish(self, graph, threats, context) -> Release:
        account = Account(EDGE, self.epsilon, context, self.delta)
        counts = self._estimate_counts(graph, account, context)
        links = np.stack([np.zeros(4, np.int64), np.arange(1, 5)], axis=1)
        return self.build_release(graph.with_edges(links, counts), account.make_guarantee())


class PgbPrivSkg(CountsOfPrivSkg):
    """The counts with the noise of PGB's implementation (Liu et al., 2024).

    One factor of the number of claws is the true degrees; the noise of the triangles has the scale
    of the most triangles at one node, not smoothed over neighbouring graphs.
    """

    def _estimate_counts(self, graph, account, context) -> np.ndarray:
        degrees = estimate_degrees(graph.degrees, account, 0.5, context).astype(np.float64)
        true = np.sort(graph.degrees)[::-1]
        claws = float((true * (degrees - 1) * (degrees - 2)).sum() / 6)
        at_nodes, half = compute_triangles(graph.edges, graph.num_nodes), self.epsilon / 2
        account.spend(0.5, 1.0, "triangles")
        smoothing = math.floor(10 * half / (2 * math.log(2 / self.delta))) / 10
        scale = 2 * at_nodes.max() * math.exp(-smoothing) / half
        triangles = at_nodes.sum() / 3 + context.rng("triangles").laplace(0.0, scale)
        return np.array([*count_stars(degrees)[:2], max(claws, 1.0), max(triangles, 1.0)])
