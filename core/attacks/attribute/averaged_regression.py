"""Averaged regression: what a node's own links tell, averaged with what its neighbours' do."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from core.attacks.attribute.adjacency_regression import (
    HELD_OUT,
    AdjacencyRegression,
    draw_known,
    find_directions,
    project_rows,
    read_rows,
)
from core.context import Context
from core.methods import AttributeAttack, MethodInfo
from core.models.tuning import fit_logistic
from core.release import Release
from core.results import ClassProbabilities
from core.threats import AttributeThreat

PENALTY = 10.0
"""Inverse penalty of both."""


class AveragedRegression(AttributeAttack):
    """Mean of two multinomial logistic regressions: on rows of A + I, and on these propagated once.

    Rows are weighted and projected as in adjacency regression, which is more often right where
    values spread along links. This ranks better where they do not, since one model looks no further
    than a node's own links, and where both agree it is sure.
    """

    info: ClassVar[MethodInfo] = MethodInfo(
        key="averaged_regression",
        title="Averaged regression",
        summary="Averages what a node's own links tell with what its neighbours' links do.",
        source=(
            "Links as features: Macskassy and Provost, JMLR 8, 2007; mean of the probabilities of "
            "unlike classifiers: Kittler et al., IEEE TPAMI 20(3), 1998"
        ),
        group="propagation",
    )
    holds_out = True
    width: int = Field(
        256, ge=1, le=4096, description="Main directions that the known nodes' rows are reduced to."
    )

    def supports(self, release: Release, threat: AttributeThreat) -> str | None:
        return AdjacencyRegression(width=self.width).supports(release, threat)

    def infer(
        self, release: Release, threat: AttributeThreat, context: Context
    ) -> ClassProbabilities:
        looped, own = read_rows(release.graph)
        nodes = draw_known(threat.known, context)
        tables = (
            own @ find_directions(own[nodes], self.width),
            project_rows(looped, own, nodes, self.width),
        )
        # A penalty chosen on the few known values exposes fewer, measured on NBA.
        (first, _, own_out), (second, _, mixed_out) = (
            fit_logistic(table, threat.observed, threat.num_classes, context, (PENALTY,), HELD_OUT)
            for table in tables
        )
        return ClassProbabilities((first + second) / 2, None, (own_out + mixed_out) / 2)
