"""Quality of an attack's raw scores: AUC, TPR at a low FPR, odds, margins, ROC.

Cases are treated as independent; pairs share nodes, so that intervals of very small graphs are
somewhat too narrow.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.measures.intervals import make_share, measure_mean, measure_share, share_variance
from core.results import ClassProbabilities, Measurement, PairScores
from core.threats import AttributeThreat, LinkThreat

FPR_GRID = np.concatenate([[0.0], np.logspace(-4, 0, 81)])
"""False-positive rates (82,) at which ROC curves are stored: 0, then 20 a decade up to 1."""

LOW_RATES = (0.01, 0.001)
"""False-positive rates at which TPR is reported."""


@dataclass(frozen=True, eq=False)
class Roc:
    """A ROC curve: `fpr` (g,) ascending from 0 to 1 and `tpr` (g,)."""

    fpr: np.ndarray
    tpr: np.ndarray

    def at(self, rate: float | np.ndarray) -> np.ndarray:
        """TPR at a false-positive rate, interpolated between thresholds."""
        last = np.searchsorted(self.fpr, rate, side="right") - 1
        following = np.minimum(last + 1, len(self.fpr) - 1)
        width = self.fpr[following] - self.fpr[last]
        share = np.where(width > 0, (rate - self.fpr[last]) / np.where(width > 0, width, 1), 0)
        return np.asarray(self.tpr[last] + share * (self.tpr[following] - self.tpr[last]))


def rank_with_ties(scores: np.ndarray) -> np.ndarray:
    """(k,) ranks from 1, averaged over ties: SciPy's `rankdata` without the import time of its
    statistics."""
    _, place, count = np.unique(scores, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(count) - (count - 1) / 2)[place])


def compute_auc(scores: np.ndarray, truth: np.ndarray) -> tuple[float, np.ndarray]:
    """AUC (ties count half) and each case's influence on it, (k,); O(k log k).

    DeLong's structural components by mid-ranks (DeLong et al. 1988; Sun & Xu 2014). The sum of
    the squared influences is DeLong's variance; influences of several AUCs on the same cases
    add up before squaring. NaN where a side is empty.

    >>> import numpy as np
    >>> from core.measures.ranking import compute_auc
    >>> auc, influence = compute_auc(np.array([4.0, 2, 3, 1]), np.array([True, True, False, False]))
    >>> float(auc), influence.shape
    (0.75, (4,))
    """
    influence = np.zeros(len(scores))
    positives, negatives = scores[truth], scores[~truth]
    m, n = len(positives), len(negatives)
    if not m or not n:
        return float("nan"), influence
    ranks = rank_with_ties(scores)
    beaten = (ranks[truth] - rank_with_ties(positives)) / n
    lost = 1 - (ranks[~truth] - rank_with_ties(negatives)) / m
    auc = float(beaten.mean())
    influence[truth] = (beaten - auc) / np.sqrt(m * max(m - 1, 1))
    influence[~truth] = (lost - auc) / np.sqrt(n * max(n - 1, 1))
    return auc, influence


def compute_roc(scores: np.ndarray, truth: np.ndarray, weights: np.ndarray | None = None) -> Roc:
    """ROC curve at every distinct score, from (0, 0) to (1, 1); both sides not empty.

    weights (k,): number of cases that each represents
    """
    true, false = count_above(scores, truth, weights)
    return Roc(np.concatenate([[0.0], false / false[-1]]), np.concatenate([[0.0], true / true[-1]]))


def compute_grid_roc(
    scores: np.ndarray, truth: np.ndarray, weights: np.ndarray | None = None
) -> Roc:
    """The same at FPR_GRID; NaN if a side is empty."""
    if truth.all() or not truth.any():
        return Roc(FPR_GRID, np.full(len(FPR_GRID), np.nan))
    return Roc(FPR_GRID, compute_roc(scores, truth, weights).at(FPR_GRID))


def count_above(
    scores: np.ndarray, truth: np.ndarray, weights: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """(t,) true and (t,) false cases at or above each distinct score, highest first."""
    order = np.argsort(-scores, kind="stable")
    ends = np.append(np.flatnonzero(np.diff(scores[order])), len(order) - 1)
    weights = np.ones(len(scores)) if weights is None else weights
    true, false = (np.cumsum((weights * side)[order])[ends] for side in (truth, ~truth))
    return true, false


def measure_link_scores(
    scores: PairScores, threat: LinkThreat, more: np.ndarray | None = None
) -> list[Measurement]:
    """auc, tpr_at_fpr_0.01 and tpr_at_fpr_0.001 of a link attack.

    more: (b,) scores of `threat.more_absent`, which join the non-links at 0.1 % FPR, and at 1 %
    where the threat's own are too few.
    """
    auc = _measure_ranking(scores.scores, threat.truth)[0]
    return [auc, *(_measure_tpr(*join_more(scores, threat, more, r), r) for r in LOW_RATES)]


def join_more(
    scores: PairScores, threat: LinkThreat, more: np.ndarray | None, rate: float
) -> tuple[np.ndarray, np.ndarray]:
    """Scores and truth (k,) by which a low FPR is judged: further non-links join the threat's
    pairs at the lowest, and where the pairs do not resolve the rate."""
    own, truth = scores.scores, threat.truth
    if more is None or (rate != LOW_RATES[-1] and not _resolve_rate(truth, rate)):
        return own, truth
    return np.concatenate([own, more]), np.concatenate([truth, np.zeros(len(more), bool)])


def measure_class_probabilities(
    probabilities: ClassProbabilities, threat: AttributeThreat
) -> list[Measurement]:
    """auc, accuracy, balanced_accuracy, margins, and TPRs of an attribute attack.

    Over the hidden nodes only. auc: one class against the rest, averaged over the classes that
    occur (for two classes the ordinary AUC), and likewise the TPRs; with two classes the rarer one
    is positive. Rounding differences are removed: without evidence the AUC is exactly 0.5.
    """
    nodes = np.flatnonzero(threat.hidden)
    codes, raw = threat.attribute.codes[nodes], probabilities.probabilities[nodes]
    values = drop_rounding(raw)
    names = ("accuracy", "balanced_accuracy", "margin", "margin_absolute", "share_below_zero")
    if not len(nodes):
        rates = [f"tpr_at_fpr_{rate:g}" for rate in LOW_RATES]
        return [
            Measurement(name, None, reason="no hidden nodes") for name in ("auc", *rates, *names)
        ]
    if threat.num_classes == 2:
        positive = _positive_class(threat)
        result = _measure_ranking(values[:, positive], codes == positive)
    else:
        result = [_measure_macro_auc(values, codes)]
        result += [_measure_macro_tpr(values, codes, rate) for rate in LOW_RATES]
    hits = raw.argmax(axis=1) == codes
    result.append(measure_share("accuracy", hits))
    result.append(_measure_balanced_accuracy(hits, codes))
    margins = compute_margins(raw, codes)
    result.append(measure_mean("margin", margins))
    result.append(measure_mean("margin_absolute", np.abs(margins)))
    result.append(measure_share("share_below_zero", margins < 0))
    return result


def drop_rounding(values: np.ndarray) -> np.ndarray:
    """Values rounded to 40 binary digits, so that the order of summation affects no rank."""
    fraction, exponent = np.frexp(values)
    return np.asarray(np.ldexp(np.round(np.ldexp(fraction, 40)), exponent - 40))


def compute_margins(values: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """(k,) probability of the true class minus the highest other one (NetFense §5)."""
    rows = np.arange(len(codes))
    others = values.copy()
    others[rows, codes] = -np.inf
    return np.asarray(
        values[rows, codes] - others.max(axis=1, initial=-np.inf if others.shape[1] > 1 else 0)
    )


def compute_node_margins(probabilities: np.ndarray, threat: AttributeThreat) -> np.ndarray:
    """(n,) margins of the hidden nodes, NaN for the others, from (n, C) raw probabilities."""
    margins = np.full(len(probabilities), np.nan)
    nodes = np.flatnonzero(threat.hidden)
    if len(nodes):
        margins[nodes] = compute_margins(probabilities[nodes], threat.attribute.codes[nodes])
    return margins


def compute_attribute_roc(probabilities: ClassProbabilities, threat: AttributeThreat) -> Roc:
    """ROC at FPR_GRID over the hidden nodes; several classes: mean of one-against-rest curves."""
    nodes = np.flatnonzero(threat.hidden)
    codes, values = threat.attribute.codes[nodes], probabilities.probabilities[nodes]
    if threat.num_classes == 2:
        positive = _positive_class(threat)
        return compute_grid_roc(values[:, positive], codes == positive)
    classes = _ranked_classes(codes)
    curves = [compute_grid_roc(values[:, c], codes == c).tpr for c in classes]
    tpr = np.mean(curves, axis=0) if curves else np.full(len(FPR_GRID), np.nan)
    return Roc(FPR_GRID, tpr)


def _positive_class(threat: AttributeThreat) -> int:
    """The rarer of two classes, the second if equal."""
    shares = threat.attribute.shares
    return int(shares[1] <= shares[0])


def _ranked_classes(codes: np.ndarray) -> list[int]:
    """Classes with nodes both inside and outside them."""
    found, counts = np.unique(codes, return_counts=True)
    return [int(c) for c, count in zip(found, counts, strict=True) if count < len(codes)]


def _measure_ranking(scores: np.ndarray, truth: np.ndarray) -> list[Measurement]:
    auc, influence = compute_auc(scores, truth)
    if np.isnan(auc):
        first = Measurement("auc", None, n=len(truth), reason="needs cases of both kinds")
    else:
        first = Measurement("auc", auc, _auc_variance(auc, influence, truth), len(truth))
    return [first] + [_measure_tpr(scores, truth, rate) for rate in LOW_RATES]


def _auc_variance(auc: float, influence: np.ndarray, truth: np.ndarray) -> float:
    """DeLong's variance, bounded below for perfect rankings of few cases."""
    smaller = min(int(truth.sum()), int((~truth).sum()))
    variance = float((influence**2).sum())
    return variance if variance > 0 else share_variance(auc * smaller, smaller)


def _measure_macro_auc(values: np.ndarray, codes: np.ndarray) -> Measurement:
    classes = _ranked_classes(codes)
    if not classes:
        return Measurement("auc", None, n=len(codes), reason="needs nodes of two classes")
    parts = [compute_auc(values[:, c], codes == c) for c in classes]
    auc = float(np.mean([part[0] for part in parts]))
    influence = np.mean([part[1] for part in parts], axis=0)
    variance = float((influence**2).sum())
    if variance == 0:
        smallest = int(np.unique(codes, return_counts=True)[1].min())
        variance = share_variance(auc * smallest, smallest)
    return Measurement("auc", auc, variance, len(codes))


def _resolve_rate(truth: np.ndarray, rate: float) -> str:
    """Reason why the sample cannot resolve a false-positive rate; "" if it can."""
    negatives, needed = int((~truth).sum()), round(1 / rate)
    if not truth.any():
        return "needs cases of both kinds"
    if negatives < needed:
        return f"below what the sample can resolve: {negatives} of {needed} negative cases needed"
    return ""


def _compute_tpr(scores: np.ndarray, truth: np.ndarray, rate: float) -> tuple[float, float]:
    """TPR at a false-positive rate, and its variance by the threshold.

    Which the negatives' sample sets: half the change of the TPR between FPRs one standard error
    apart either way. That of the positives' sample is a share's.
    """
    roc = compute_roc(scores, truth)
    spread = np.sqrt(rate * (1 - rate) / int((~truth).sum()))
    ends = roc.at(np.array([max(rate - spread, 0.0), min(rate + spread, 1.0)]))
    return float(roc.at(rate)), (float(ends[1] - ends[0]) / 2) ** 2


def _measure_tpr(scores: np.ndarray, truth: np.ndarray, rate: float) -> Measurement:
    metric = f"tpr_at_fpr_{rate:g}"
    reason = _resolve_rate(truth, rate)
    if reason:
        return Measurement(metric, None, n=len(truth), reason=reason)
    tpr, more = _compute_tpr(scores, truth, rate)
    return make_share(metric, tpr, int(truth.sum()), len(truth), more)


def _measure_macro_tpr(values: np.ndarray, codes: np.ndarray, rate: float) -> Measurement:
    """Mean of one-against-rest over the C classes, treated as independent samples.

    It varies as a share over C² / Σ 1/trials outcomes, or fewer if small classes vary most.
    """
    metric = f"tpr_at_fpr_{rate:g}"
    parts = [_measure_tpr(values[:, c], codes == c, rate) for c in _ranked_classes(codes)]
    rates = np.array([part.value for part in parts if part.value is not None])
    if not parts or len(rates) < len(parts):
        reason = next((part.reason for part in parts if part.reason), "needs nodes of two classes")
        return Measurement(metric, None, n=len(codes), reason=reason)
    tpr, weights = float(rates.mean()), 1 / np.array([part.trials for part in parts])
    even = tpr * (1 - tpr) * weights.sum()
    inflation = max((rates * (1 - rates)) @ weights / even, 1.0) if even else 1.0
    return make_share(metric, tpr, len(parts) ** 2 / weights.sum() / inflation, len(codes))


def _measure_balanced_accuracy(hits: np.ndarray, codes: np.ndarray) -> Measurement:
    """Mean recall over the classes that occur among the hidden nodes."""
    totals = np.bincount(codes)
    right = np.bincount(codes, weights=hits)[totals > 0]
    totals = totals[totals > 0]
    variance = sum(share_variance(r, t) for r, t in zip(right, totals, strict=True))
    return Measurement(
        "balanced_accuracy",
        float((right / totals).mean()),
        float(variance) / len(totals) ** 2,
        len(codes),
    )
