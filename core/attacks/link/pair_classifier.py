"""Pair classifier: trained on links withheld from the release by the attacker.

Classifiers of pairs, pooled by their cross-validated predictions, for this and other attacks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from pydantic import Field
from scipy.special import expit

from core.algorithms.normalize import fit_scale
from core.algorithms.pairs import hide_in_turn
from core.attacks.link.pair_features import describe_pairs
from core.context import Context, SharedWork
from core.methods import LinkAttack, MethodInfo, OpenUnitInterval
from core.models.pooling import fit_weights
from core.release import Release
from core.results import PairScores
from core.threats import LinkThreat

ENOUGH = 4000
"""Number of links above which no further round is started."""


class PairClassifier(LinkAttack):
    """Log odds of a logistic regression and boosted trees on all columns of `pair_features`.

    The columns of the training pairs are computed on the release without the links withheld for
    training, as those that the owner withheld are missing too. With few training links, others
    are withheld in further rounds.
    """

    info: ClassVar[MethodInfo] = MethodInfo(
        key="pair_classifier",
        title="Pair classifier",
        summary="Hides links of the release from itself and learns how to find such links again.",
        source="Liben-Nowell and Kleinberg, 2007, and Al Hasan et al., Link prediction using "
        "supervised learning, SDM Workshop 2006",
        group="learned structure",
        cost="seconds",
        uses_gpu=True,
        version=7,
    )

    describes_score: ClassVar[bool] = False

    share: OpenUnitInterval = Field(0.1, description="Share of the release's links to hide.")
    max_links: int = Field(
        5000, ge=10, le=1_000_000, description="Links to hide at once; twice as many non-links."
    )
    rounds: int = Field(
        8, ge=1, le=100, description="Times at most that other links are hidden, to learn from."
    )
    embedding: bool = Field(
        False, description="Look at an auto-encoder's embedding too; seconds more in each round."
    )

    def score(self, release: Release, threat: LinkThreat, context: Context) -> PairScores:
        columns, truths, learned = [], [], 0
        for reduced, hidden, absent in hide_in_turn(
            release.graph, self.share, self.max_links, self.rounds, context.rng("hidden"), ratio=2.0
        ):
            pairs = np.concatenate([hidden, absent])
            # other attacks cannot reuse what is computed without these links
            own_context = replace(context, shared=SharedWork())
            columns.append(describe_pairs(reduced, pairs, own_context, self.embedding))
            truths.append(np.arange(len(pairs)) < len(hidden))
            learned += len(hidden)
            if learned >= ENOUGH:
                break
        classifier = fit_pair_classifier(np.concatenate(columns), np.concatenate(truths), context)
        facts: dict[str, float | str] = {
            "classifier": classifier.name,
            "held_out_loss": classifier.loss,
        }
        return PairScores(classifier.compute_logits(self.describe(release, threat, context)), facts)

    def describe(self, release: Release, threat: LinkThreat, context: Context) -> np.ndarray:
        return describe_pairs(release.graph, threat.pairs, context, self.embedding)


FOLDS = 4
MAX_TREES = 150
EVENNESS = 10.0
"""Penalty on the classifiers' squared distance to equal weights."""
LEAST = 8
"""Minimum number of training cases per class."""


def fit_pair_classifier(
    columns: np.ndarray, truth: np.ndarray, context: Context
) -> PooledClassifier:
    """Fit a logistic regression and boosted trees, weighted by their cross-validated predictions.

    columns (k, c), truth (k,) bool. No model is trained with fewer than LEAST cases of a class.
    """
    if min(truth.sum(), (~truth).sum()) < LEAST or not columns.shape[1]:
        zeros = np.zeros(columns.shape[1])
        return PooledClassifier([], np.zeros(0), zeros, zeros + 1.0, np.zeros(len(truth)))
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
    probabilities = expit(np.stack([-predicted, predicted], axis=2))
    weights = fit_weights(probabilities, truth.astype(np.int64), EVENNESS)
    loss = float(np.mean(np.logaddexp(0.0, np.where(truth, -1.0, 1.0) * (weights @ predicted))))
    context.progress.update(len(models), len(models) + 1, "training classifiers of pairs")
    fitted = [model.fit(scaled, truth) for model in models]
    return PooledClassifier(fitted, weights, centre, spread, weights @ predicted, loss)


class PooledClassifier:
    """Fitted classifiers, combined by `weights`.

    held_out  (k,) cross-validated log odds of the training cases
    loss      their mean log-loss in nats
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
        """The classifiers with their weights."""
        names = [
            f"{type(model).__name__} {weight:.2f}"
            for model, weight in zip(self._models, self.weights, strict=True)
        ]
        return ", ".join(names) or "none"

    def compute_logits(self, columns: np.ndarray) -> np.ndarray:
        """(k,) float64 log odds of a link; zeros if nothing was trained."""
        logits = np.zeros(len(columns))
        if not len(columns):
            return logits
        scaled = (columns - self._centre) / self._spread
        for weight, model in zip(self.weights, self._models, strict=True):
            logits += weight * model.decision_function(scaled)
        return logits


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
