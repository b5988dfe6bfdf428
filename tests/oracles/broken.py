"""Mechanisms that break their promise, for checks that must notice."""

from __future__ import annotations

from dataclasses import replace

from core.context import Context
from core.defenses.privdpr import PrivDpr
from core.graph import Graph
from core.methods import Defense
from core.release import Release


def make_half_noise(defense: Defense) -> Defense:
    """The same mechanism at twice its ε, with the claim of once."""
    loud = defense.model_copy(update={"epsilon": 2 * defense.config["epsilon"]})

    class HalfNoise(type(defense)):  # type: ignore[misc]
        def publish(self, graph, threats, context) -> Release:
            release = loud.publish(graph, threats, context)
            promise = release.guarantee
            transcript = promise.epsilon_transcript
            return replace(
                release,
                guarantee=replace(
                    promise,
                    epsilon=promise.epsilon / 2,
                    epsilon_transcript=None if transcript is None else transcript / 2,
                ),
            )

    return HalfNoise.model_validate(defense.config)


class FreeCountPrivDpr(PrivDpr):
    """PrivDPR that publishes as many links as the private graph has."""

    def _choose_num_links(self, graph: Graph, context: Context) -> int:
        return graph.num_edges
