"""Feature regression: linear baseline on features without links."""

from __future__ import annotations

from typing import ClassVar

from core.context import Context
from core.methods import AttributeAttack, MethodInfo
from core.models.tuning import fit_logistic, scale_features
from core.release import Release
from core.results import ClassProbabilities
from core.threats import AttributeThreat


class FeatureRegression(AttributeAttack):
    """Logistic regression on X; its penalty is chosen by cross-validation on known nodes."""

    info: ClassVar[MethodInfo] = MethodInfo(
        key="feature_regression",
        title="Feature regression",
        summary="Baseline attacker: logistic regression on the features, blind to the links.",
        source="Cox, The regression analysis of binary sequences, 1958",
        group="baseline attackers",
        is_baseline=True,
    )
    reads_links: ClassVar[bool] = False
    needs_features: ClassVar[bool] = True
    holds_out = True

    def infer(
        self, release: Release, threat: AttributeThreat, context: Context
    ) -> ClassProbabilities:
        features = scale_features(release.graph)
        probabilities, penalty, held_out = fit_logistic(
            features, threat.observed, threat.num_classes, context
        )
        return ClassProbabilities(probabilities, {"inverse_penalty": penalty}, held_out)
