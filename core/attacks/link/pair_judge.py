"""Pooled classifiers of pairs, weighted by their cross-validated predictions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.special import expit

from core.algorithms.normalize import fit_scale
from core.context import Context
from core.models.pooling import fit_weights

FOLDS = 4
MAX_TREES = 150
EVENNESS = 10.0
"""Penalty on a classifier's squared distance to an even share."""
LEAST = 8
"""Cases of either kind below which nothing is learned."""


def fit_judge(columns: np.ndarray, truth: np.ndarray, context: Context) -> Judge:
    """A logistic regression and boosted trees, weighed by their cross-validated predictions.

    columns (k, c), truth (k,) bool. With fewer than LEAST cases of a kind nothing is learned.
    """
    if min(truth.sum(), (~truth).sum()) < LEAST or not columns.shape[1]:
        nothing = np.zeros(columns.shape[1])
        return Judge([], np.zeros(0), nothing, nothing + 1.0, np.zeros(len(truth)))
    from sklearn.model_selection import StratifiedKFold, cross_val_predict

    centre, spread = fit_scale(columns)
    scaled = (columns - centre) / spread
    seed = int(context.rng("judge").integers(2**31))
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
    models = _list_models(seed)
    predicted = np.zeros((len(models), len(truth)))
    for number, model in enumerate(models):
        context.progress.update(number, len(models) + 1, "judging classifiers of pairs")
        predicted[number] = cross_val_predict(
            model, scaled, truth, cv=folds, method="decision_function"
        )
    chances = expit(np.stack([-predicted, predicted], axis=2))
    weights = fit_weights(chances, truth.astype(np.int64), EVENNESS)
    loss = float(np.mean(np.logaddexp(0.0, np.where(truth, -1.0, 1.0) * (weights @ predicted))))
    context.progress.update(len(models), len(models) + 1, "training classifiers of pairs")
    fitted = [model.fit(scaled, truth) for model in models]
    return Judge(fitted, weights, centre, spread, weights @ predicted, loss)


class Judge:
    """Fitted classifiers and their `weights`.

    held_out  (k,) cross-validated log odds of the cases that it learned from, and their mean
    loss      log-loss in nats
    """

    def __init__(
        self,
        models: Sequence[Any],
        weights: np.ndarray,
        centre: np.ndarray,
        spread: np.ndarray,
        held_out: np.ndarray,
        loss: float = float("nan"),
    ) -> None:
        self._models, self.weights, self.held_out = models, weights, held_out
        self._centre, self._spread, self.loss = centre, spread, loss

    @property
    def name(self) -> str:
        """Its classifiers and how far each is trusted."""
        names = [
            f"{type(model).__name__} {weight:.2f}"
            for model, weight in zip(self._models, self.weights, strict=True)
        ]
        return ", ".join(names) or "none"

    def compute_logits(self, columns: np.ndarray) -> np.ndarray:
        """(k,) float64 log odds of a link; zeros where nothing was learned."""
        odds = np.zeros(len(columns))
        if not len(columns):
            return odds
        scaled = (columns - self._centre) / self._spread
        for weight, model in zip(self.weights, self._models, strict=True):
            odds += weight * model.decision_function(scaled)
        return odds


def _list_models(seed: int) -> list[Any]:
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.linear_model import LogisticRegression

    return [
        LogisticRegression(C=1.0, max_iter=500),
        HistGradientBoostingClassifier(
            max_iter=MAX_TREES,
            learning_rate=0.06,
            max_leaf_nodes=8,
            min_samples_leaf=10,
            l2_regularization=1.0,
            random_state=seed,
        ),
    ]
