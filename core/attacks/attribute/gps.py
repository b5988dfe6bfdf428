"""GPS attack: proximity and structural role, routed per node by GHRatios."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from core.context import Context
from core.methods import AttributeAttack, MethodInfo
from core.models.tuning import smooth_absent
from core.release import Release
from core.results import ClassProbabilities
from core.threats import AttributeThreat


class Gps(AttributeAttack):
    """One encoder on the whole graph, one on every node's ego network.

    The paper's NBA run is `backbone=gin, epochs=500`. GCN layers, which normalise by degree, are
    the default because they did clearly better on splits of NBA; what the README reports was
    measured on other splits (tests/benchmarks/gps_nba.py --first 10). Since version 2 GIN and
    GraphSAGE have what the authors' code adds to them (core/models/gps/layers.py).
    """

    info: ClassVar[MethodInfo] = MethodInfo(
        key="gps",
        title="GPS",
        summary="Learns from neighbours and from look-alike positions, and weighs both per node.",
        source=(
            "Yuan et al., Unveiling privacy vulnerabilities: investigating the role of structure "
            "in graph data, KDD 2024, Eq. 6-9"
        ),
        group="neural",
        cost="seconds",
        uses_gpu=True,
        version=2,
    )
    routes_by_homophily: ClassVar[bool] = True
    """Whether its gain is told by the GHRatios of the nodes."""

    branches: Literal["both", "proximity", "role"] = Field(
        "both", description="Which encoders take part; one alone is the paper's ablation."
    )
    routing: Literal["ghratio", "equal"] = Field(
        "ghratio",
        description="How both are mixed: by the homophily ratios of pseudo-labels, or evenly.",
    )
    backbone: Literal["gin", "gcn", "sage", "gat"] = Field(
        "gcn", description="Kind of graph layer in both encoders; the paper's default is gin."
    )
    hidden: int = Field(64, ge=1, le=1024, description="Width of the proximity encoder.")
    role_hidden: int = Field(16, ge=1, le=256, description="Width of the role encoder.")
    epochs: int = Field(300, ge=1, le=10_000, description="Training epochs.")
    lr: float = Field(1e-3, gt=0, le=1, description="Learning rate of AdamW.")
    dropout: float = Field(0.1, ge=0, lt=1, description="Share of hidden values dropped.")
    tolerance: int | None = Field(
        None,
        ge=0,
        description="Largest degree difference between nodes of like role, in links; "
        "empty: half the interquartile range of the degrees.",
    )

    def infer(
        self, release: Release, threat: AttributeThreat, context: Context
    ) -> ClassProbabilities:
        from core.algorithms.ghratio import choose_tolerance
        from core.models.gps.attacker import GpsAttacker, GpsSettings

        tolerance = self.tolerance
        if tolerance is None:
            tolerance = choose_tolerance(release.graph)
        settings = GpsSettings(**{**self.config, "tolerance": tolerance})
        attacker = GpsAttacker(
            release.graph, threat.observed, threat.num_classes, settings, context
        )
        loss = attacker.fit()
        facts: dict[str, float | str] = {"last_loss": loss}
        if self.branches == "both":
            facts["mean_proximity_share"] = float(attacker.routing[:, 0].mean())
        counts = np.bincount(threat.observed[threat.known], minlength=threat.num_classes)
        return ClassProbabilities(smooth_absent(attacker.compute_probabilities(), counts), facts)
