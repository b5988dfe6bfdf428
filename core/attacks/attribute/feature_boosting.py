"""Feature boosting: boosted-tree baseline on features without links."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from pydantic import Field

from core.context import Context
from core.methods import THIS_SIZE, AttributeAttack, MethodInfo
from core.models.tuning import compute_log_loss, draw_folds, hold_out, smooth_absent
from core.node_column import MISSING
from core.release import Release
from core.results import ClassProbabilities
from core.threats import AttributeThreat

NUM_FOLDS = 3
MAX_ENTRIES = 1 << 26
"""Largest feature table, in entries, for growing trees."""


class FeatureBoosting(AttributeAttack):
    """Gradient-boosted trees on X, which capture interactions.

    The number of trees, possibly none, is chosen by the log-loss on held-out known nodes; with none
    the class shares remain.
    """

    info: ClassVar[MethodInfo] = MethodInfo(
        key="feature_boosting",
        title="Feature boosting",
        summary="Baseline attacker: gradient-boosted trees on the features, blind to the links.",
        source="Friedman, Greedy function approximation, Annals of Statistics 2001, by histograms",
        group="baseline attackers",
        cost="seconds",
        is_baseline=True,
    )
    reads_links: ClassVar[bool] = False
    needs_features: ClassVar[bool] = True
    trees: int = Field(100, ge=1, le=10_000, description="Trees a class at most.")
    rate: float = Field(0.1, gt=0, le=1, description="Learning rate.")
    depth: int = Field(3, ge=1, le=20, description="Largest depth of a tree.")

    def supports(self, release: Release, threat: AttributeThreat) -> str | None:
        features = release.graph.features
        if features is not None and features.shape[0] * features.shape[1] > MAX_ENTRIES:
            return f"does not run {THIS_SIZE}: the feature table is too large for trees"
        return super().supports(release, threat)

    def infer(
        self, release: Release, threat: AttributeThreat, context: Context
    ) -> ClassProbabilities:
        features = release.graph.features
        assert features is not None
        table = features if isinstance(features, np.ndarray) else features.toarray()
        observed = threat.observed
        folds = draw_folds(observed, NUM_FOLDS, context.rng("folds"))
        losses = np.zeros(self.trees + 1)
        for number, (rest, fold) in enumerate(hold_out(observed, folds)):
            context.progress.update(number, NUM_FOLDS + 1, "choosing the number of trees")
            for count, values in enumerate(self._grow(table, rest, threat)):
                losses[count] += compute_log_loss(values, observed, fold) * len(fold)
        context.progress.update(NUM_FOLDS, NUM_FOLDS + 1, "growing trees")
        best = int(np.argmin(losses))
        grown = list(self._grow(table, observed, threat))
        return ClassProbabilities(grown[best], {"trees": float(best)})

    def _grow(
        self, table: np.ndarray, observed: np.ndarray, threat: AttributeThreat
    ) -> Iterator[np.ndarray]:
        """(n, C) after 0, 1, …, `trees` trees a class; always as many."""
        from sklearn.ensemble import HistGradientBoostingClassifier

        known = observed != MISSING
        counts = np.bincount(observed[known], minlength=threat.num_classes)
        present = np.flatnonzero(counts)
        shares = np.tile((counts + 1.0) / (counts + 1.0).sum(), (len(observed), 1))
        yield shares
        if len(present) < 2:
            for _ in range(self.trees):
                yield shares
            return
        least = int(np.clip(known.sum() // 20, 2, 20))
        table = table[:, find_splittable(table[known], least)]
        if not table.shape[1]:
            # Trees without a column to split still learn the shares of the classes.
            table = np.zeros((len(observed), 1))
        model: Any = HistGradientBoostingClassifier(
            max_iter=self.trees,
            learning_rate=self.rate,
            max_depth=self.depth,
            min_samples_leaf=least,
            early_stopping=False,
            random_state=0,
        )
        model.fit(table[known], observed[known])
        for found in model.staged_predict_proba(table):
            values = np.zeros((len(observed), threat.num_classes))
            values[:, present] = found
            yield smooth_absent(values, counts)


def find_splittable(table: np.ndarray, least: int) -> np.ndarray:
    """(c,) whether a threshold on a column of (k, c) can leave `least` rows on both sides.

    The side without the median has at most the rows that differ from it. Leaves few columns of a
    bag of words, with identical trees. O(k c) time.
    """
    median = np.partition(table, len(table) // 2, axis=0)[len(table) // 2]
    return np.asarray((table != median).sum(axis=0) >= least)
