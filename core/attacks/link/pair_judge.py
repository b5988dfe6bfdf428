"""A judge of pairs: a calibrated classifier on columns, chosen by its held-out loss."""

from __future__ import annotations

from typing import Any

import numpy as np

from core.context import Context

FOLDS = 4
MAX_TREES = 150
LEAST = 8
"""Cases of either kind below which nothing is learned."""


def fit_judge(columns: np.ndarray, truth: np.ndarray, context: Context) -> Judge:
    """The better of a logistic regression and boosted trees, by cross-validated log loss.

    columns (k, c), truth (k,) bool. With fewer than LEAST cases of a kind the judge knows nothing.
    """
    if min(truth.sum(), (~truth).sum()) < LEAST or not columns.shape[1]:
        return Judge(None, np.zeros(columns.shape[1]), np.ones(columns.shape[1]), float("nan"))
    from sklearn.metrics import log_loss
    from sklearn.model_selection import StratifiedKFold, cross_val_predict

    centre, spread = columns.mean(axis=0), columns.std(axis=0)
    spread[spread < 1e-12] = 1.0
    scaled = (columns - centre) / spread
    seed = int(context.rng("judge").integers(2**31))
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
    best: tuple[float, Any] = (float("inf"), None)
    for number, model in enumerate(_list_models(seed)):
        context.progress.update(number, 3, "choosing a classifier of pairs")
        chances = cross_val_predict(model, scaled, truth, cv=folds, method="predict_proba")[:, 1]
        loss = float(log_loss(truth, chances, labels=[False, True]))
        if loss < best[0]:
            best = loss, model
    context.progress.update(2, 3, "training a classifier of pairs")
    return Judge(best[1].fit(scaled, truth), centre, spread, best[0])


class Judge:
    """A fitted classifier; `loss` is its cross-validated log loss in nats."""

    def __init__(self, model: Any, centre: np.ndarray, spread: np.ndarray, loss: float) -> None:
        self._model, self._centre, self._spread, self.loss = model, centre, spread, loss

    @property
    def name(self) -> str:
        return "none" if self._model is None else type(self._model).__name__

    def compute_logits(self, columns: np.ndarray) -> np.ndarray:
        """(k,) float64 log odds of a link; zeros from a judge that knows nothing."""
        if self._model is None or not len(columns):
            return np.zeros(len(columns))
        scaled = (columns - self._centre) / self._spread
        return np.asarray(self._model.decision_function(scaled), dtype=np.float64)


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
