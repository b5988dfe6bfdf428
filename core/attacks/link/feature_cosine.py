"""Feature cosine: baseline attacker that knows the node features only."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from scipy import sparse

from core.algorithms.row_dots import compute_row_dots
from core.arrays import divide_or_zero
from core.context import Context
from core.methods import LinkAttack, MethodInfo
from core.release import Release
from core.results import PairScores
from core.threats import LinkThreat


class FeatureCosine(LinkAttack):
    """Score cos(x_i, x_j), which no change of links affects."""

    info: ClassVar[MethodInfo] = MethodInfo(
        key="feature_cosine",
        title="Feature cosine",
        summary="Baseline attacker: guesses that nodes with like features are linked.",
        source="Attribute similarity of PPGSL's Table I used as a score",
        group="baseline attackers",
        is_baseline=True,
    )
    needs_features: ClassVar[bool] = True

    def score(self, release: Release, threat: LinkThreat, context: Context) -> PairScores:
        features = sparse.csr_array(release.graph.features, dtype=np.float64)
        lengths = np.sqrt(np.asarray(features.multiply(features).sum(axis=1)).ravel())
        scale = divide_or_zero(1.0, lengths)
        i, j = threat.pairs.T
        dots = compute_row_dots(features, features, threat.pairs, context, "feature similarity")
        return PairScores(dots * scale[i] * scale[j])
