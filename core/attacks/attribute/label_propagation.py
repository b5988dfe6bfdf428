"""Label propagation: a strong and nearly free attacker that every audit should include."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from core.algorithms.spreading import spread_labels
from core.context import Context
from core.methods import AttributeAttack, MethodInfo
from core.release import Release
from core.results import ClassProbabilities
from core.threats import AttributeThreat


class LabelPropagation(AttributeAttack):
    """F ← share · D⁻¹ A F + (1 − share) · prior, the known rows clamped to the truth."""

    info: ClassVar[MethodInfo] = MethodInfo(
        key="label_propagation",
        title="Label propagation",
        summary="Spreads the known values along the links until they settle.",
        source=(
            "Zhu, Ghahramani and Lafferty, Semi-supervised learning using Gaussian fields and "
            "harmonic functions, ICML 2003"
        ),
        group="propagation",
    )
    neighbor_share: float = Field(
        0.99,
        ge=0,
        le=1,
        description="Weight of the neighbours' values; the rest is the class prior.",
    )
    rounds: int = Field(100, ge=1, le=10_000, description="Propagation rounds.")

    def infer(
        self, release: Release, threat: AttributeThreat, context: Context
    ) -> ClassProbabilities:
        values = spread_labels(
            release.graph,
            threat.observed,
            threat.observed_shares,
            self.neighbor_share,
            self.rounds,
            context.progress,
        )
        return ClassProbabilities(values)
