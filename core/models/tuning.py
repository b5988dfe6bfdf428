"""Cross-validated choice of settings, using known nodes only."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from core.context import Context
from core.graph import Graph
from core.node_column import MISSING

PENALTIES = (0.001, 0.01, 0.1, 1.0, 10.0)
"""Inverse penalties that `fit_logistic` tries if none are given, strongest penalty first."""

NUM_FOLDS = 5
"""Folds of its cross-validation."""

Predict = Callable[[Any], np.ndarray]
"""From nodes (k,), or a slice of them, to probabilities (k, C)."""
LearnAt = Callable[[Any, np.ndarray, int, float], Predict]
"""From features (n, d), observed codes (n,), classes and an inverse penalty to a prediction."""


def draw_folds(observed: np.ndarray, num_folds: int, rng: np.random.Generator) -> list[np.ndarray]:
    """Disjoint stratified parts of the known nodes, as even as the classes allow.

    A class with a single known node is in one fold; the others train with it.
    """
    order: list[int] = []
    for code in np.unique(observed[observed != MISSING]):
        order.extend(rng.permutation(np.flatnonzero(observed == code)))
    folds = [np.array(order[start::num_folds], np.int64) for start in range(num_folds)]
    return [np.sort(fold) for fold in folds if len(fold)]


def hold_out(observed: np.ndarray, folds: list[np.ndarray]) -> Iterator[tuple[np.ndarray, Any]]:
    """For each fold: the observed codes without the fold's, and the fold's nodes."""
    for fold in folds:
        visible = observed.copy()
        visible[fold] = MISSING
        if (visible != MISSING).any():
            yield visible, fold


def compute_log_loss(probabilities: np.ndarray, observed: np.ndarray, nodes: np.ndarray) -> float:
    """Mean −log p(truth) over `nodes` with known codes."""
    chosen = probabilities[nodes, observed[nodes]]
    return float(-np.log(np.clip(chosen, 1e-12, None)).mean())


def is_gain(gains: np.ndarray, errors: float = 1.0) -> bool:
    """Whether the mean of gains (k,) exceeds 0 by more than so many of its standard errors."""
    return len(gains) > 1 and bool(gains.mean() > errors * gains.std(ddof=1) / np.sqrt(len(gains)))


def scale_features(graph: Graph) -> np.ndarray | sparse.csr_array:
    """Dense columns standardised; sparse ones divided by their largest absolute value."""
    features = graph.features
    assert features is not None
    if isinstance(features, np.ndarray):
        # Not `spread > 0`: rounding gives a constant column a spread of its own.
        varies = features.max(axis=0) > features.min(axis=0)
        centred = features - features.mean(axis=0, dtype=np.float64)
        return np.where(varies, centred / np.where(varies, centred.std(axis=0), 1.0), 0.0)
    peak = np.asarray(abs(features).max(axis=0).todense()).ravel()
    return sparse.csr_array(features @ sparse.diags_array(1.0 / np.where(peak > 0, peak, 1.0)))


def fit_logistic(
    features: np.ndarray | sparse.csr_array,
    observed: np.ndarray,
    num_classes: int,
    context: Context,
    penalties: Sequence[float] = PENALTIES,
    enough: int | None = None,
    *,
    learn: LearnAt | None = None,
) -> tuple[np.ndarray, float, np.ndarray]:
    """Class probabilities (n, C) of a logistic regression with a cross-validated penalty, and (n,
    C) out-of-fold predictions of known nodes, NaN in other rows.

    penalties  inverse penalties that are tried
    enough     known nodes held out, at least, after which no further fold is run; None: all folds
    learn      `learn_logistic`, if not given, or `learn_softmax`

    The penalty with the lowest cross-validated log-loss among the known nodes is used.
    """
    learn = learn or learn_logistic
    known = observed != MISSING
    folds = draw_folds(observed, NUM_FOLDS, context.rng("folds"))
    if enough is not None and folds:
        folds = folds[: -(-enough // len(folds[0]))]
    scores, held_out = {}, {}
    for index, penalty in enumerate(penalties):
        predictions = np.full((len(observed), num_classes), np.nan)
        losses = []
        for visible, fold in hold_out(observed, folds):
            predictions[fold] = learn(features, visible, num_classes, penalty)(slice(None))[fold]
            losses.append(compute_log_loss(predictions, observed, fold) * len(fold))
        scores[penalty], held_out[penalty] = sum(losses) / max(int(known.sum()), 1), predictions
        context.progress.update(index + 1, len(penalties) + 1, "choosing the penalty")
    best = min(scores, key=lambda penalty: scores[penalty])
    chosen = learn(features, observed, num_classes, best)(slice(None))
    return chosen, best, held_out[best]


def learn_logistic(
    features: np.ndarray | sparse.csr_array, observed: np.ndarray, num_classes: int, penalty: float
) -> Callable[[np.ndarray | slice], np.ndarray]:
    """A logistic regression on the observed nodes, at an inverse penalty: nodes (k,) → (k, C).

    Classes without a known node get the pseudo-count of one observation.
    """
    from sklearn.linear_model import LogisticRegression

    def fit(table: Any, codes: np.ndarray, classes: int) -> Predict:
        model = LogisticRegression(C=penalty, max_iter=500, tol=1e-5)
        with warnings.catch_warnings():
            # A column with many classes and few known values is still categorical.
            warnings.filterwarnings("ignore", "The number of unique classes", UserWarning)
            model.fit(table, codes)
        return model.predict_proba  # type: ignore[no-any-return]

    return _learn(fit, features, observed, num_classes)


def learn_softmax(
    features: np.ndarray, observed: np.ndarray, num_classes: int, penalty: float
) -> Callable[[np.ndarray | slice], np.ndarray]:
    """The same of dense columns in a third of the time; see `fit_softmax`."""
    from scipy.special import softmax

    from core.models.softmax import fit_softmax

    def fit(table: np.ndarray, codes: np.ndarray, classes: int) -> Predict:
        weights, intercepts = fit_softmax(table, codes, classes, penalty)
        return lambda rows: softmax(rows @ weights + intercepts, axis=1)

    return _learn(fit, features, observed, num_classes)


def _learn(
    fit: Callable[[Any, np.ndarray, int], Predict],
    features: np.ndarray | sparse.csr_array,
    observed: np.ndarray,
    num_classes: int,
) -> Callable[[np.ndarray | slice], np.ndarray]:
    """Nodes (k,) → (k, C) of what `fit` learns of the known nodes' rows, classes and their number;
    of the only class that there is, without it."""
    known = observed != MISSING
    counts = np.bincount(observed[known], minlength=num_classes)
    present = np.flatnonzero(counts)
    score: Predict | None = None
    if len(present) > 1:
        codes = np.searchsorted(present, observed[known])
        score = fit(features[known], codes, len(present))

    def predict(nodes: np.ndarray | slice) -> np.ndarray:
        selected = features[nodes]
        values = np.zeros((selected.shape[0], num_classes))
        values[:, present] = 1.0 if score is None else score(selected)
        return smooth_absent(values, counts)

    return predict


def smooth_absent(values: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Give classes without known nodes the weight of one observation each."""
    absent = counts == 0
    if not absent.any():
        return values
    share = absent.sum() / (counts.sum() + absent.sum())
    smoothed = np.where(absent, 0.0, np.maximum(values, 1e-12))
    smoothed *= (1.0 - share) / smoothed.sum(axis=1, keepdims=True)
    smoothed[:, absent] = share / absent.sum()
    return smoothed


Learn = Callable[[np.ndarray, np.ndarray], Predict]
"""From a table (n, d) and observed codes (n,), MISSING where unknown, to a prediction."""
Runs = Sequence[np.ndarray]
"""One table (n, d) per run."""


class CrossFit:
    """One run per fold of held-out known values, and a last run with all of them.

    parts      observed codes (n,) without a fold, and the nodes of the fold
    run_codes  (n,) observed codes of each run
    truth      (h,) classes of the held-out nodes, in the order of the folds
    """

    def __init__(self, observed: np.ndarray, folds: list[np.ndarray]) -> None:
        self.parts = list(hold_out(observed, folds))
        self.run_codes = [*(visible for visible, _ in self.parts), observed]
        self.truth = observed[self._concatenate([fold for _, fold in self.parts])]

    def mix(self, tables: Runs) -> list[np.ndarray]:
        """One table per run: rows of its known nodes from the run that held them out, all other
        rows from the run itself."""
        merged = tables[-1].copy()
        for (_, fold), table in zip(self.parts, tables, strict=False):
            merged[fold] = table[fold]
        return [
            np.where((codes != MISSING)[:, None], merged, table)
            for codes, table in zip(self.run_codes, tables, strict=True)
        ]

    def merge_held_out(self, predictions: np.ndarray) -> np.ndarray:
        """(n, C) out-of-fold predictions of (R, n, C): known nodes from the run that held them
        out, all others from the last run."""
        merged: np.ndarray = predictions[-1].copy()
        for run, (_, fold) in enumerate(self.parts):
            merged[fold] = predictions[run][fold]
        return merged

    def run(self, learn: Learn, tables: Runs) -> np.ndarray:
        """(R, n, C) predictions for all nodes in each run, from tables of `mix`."""
        runs = zip(tables, self.run_codes, strict=True)
        return np.array([learn(table, codes)(slice(None)) for table, codes in runs])

    def choose(self, learners: Sequence[Learn], tables: Runs) -> np.ndarray:
        """(R, n, C) of the learner with the lowest held-out log-loss; the first if nothing is
        held out."""
        if not self.parts:
            return self.run(learners[0], tables)
        predictions = [self.run(learn, tables) for learn in learners]
        nodes = np.arange(len(self.truth))
        losses = [compute_log_loss(self.hold_out(s), self.truth, nodes) for s in predictions]
        return predictions[int(np.argmin(losses))]

    def hold_out(self, predictions: np.ndarray) -> np.ndarray:
        """(h, C) of (R, n, C): each held-out node as predicted by the run that held it out."""
        rows = [predictions[run][fold] for run, (_, fold) in enumerate(self.parts)]
        return np.concatenate(rows) if rows else np.zeros((0, predictions.shape[2]))

    @staticmethod
    def _concatenate(parts: list[np.ndarray]) -> np.ndarray:
        return np.concatenate(parts) if parts else np.zeros(0, np.int64)
