"""Estimates with 95 % intervals from the repeats of a metric; intervals of shares."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from scipy.special import ndtri, stdtrit

from core.measures.metrics import ANY, METRICS
from core.results import Estimate, Measurement

LEVEL = 0.95


def combine_measurements(
    items: Sequence[Measurement], overlap: float = 1.0, level: float = LEVEL
) -> Estimate:
    """Mean over the repeats, and an interval of this level for the metric's expectation.

    With v_r the repeats' values, W the mean of their sampling variances, and B the variance of the
    v_r over the R repeats,

        Var(mean) = overlap · W + B / R

    `overlap` is the correlation of the sampling errors of two repeats, about the share of pairs or
    nodes that both evaluate. Repeats share one graph, so that more of them do not reduce the
    sampling error of the graph itself: the default 1 is right if most nodes are hidden in every
    repeat and conservative otherwise; 0 means disjoint samples, whose errors B already contains.
    Quantiles are Student's t with Satterthwaite's degrees of freedom, (R − 1)(Var / (B/R))², as in
    Rubin's rules (Rubin 1987, §3.3). One repeat: W alone with n − 1 degrees of freedom; the
    variance between splits is then unknown, as `how` states. Sampling errors are treated as normal,
    and pairs as independent although they share nodes. The interval is clipped to the metric's
    range.

    Missing values are dropped; if all are missing, so is the estimate, with their reason. Raises
    ValueError for no items or for items of different metrics.
    """
    if not items or len({item.metric for item in items}) > 1:
        raise ValueError("combine_measurements takes at least one item, all of one metric")
    present = [item for item in items if item.value is not None]
    if not present:
        reason = next((item.reason for item in items if item.reason), "no value")
        return Estimate(None, None, None, max(item.n for item in items), len(items), reason)
    values = np.array([item.value for item in present], dtype=float)
    repeats, value = len(values), float(values.mean())
    count = round(float(np.mean([item.n for item in present])))
    within = float(np.mean([item.variance for item in present]))
    between = float(values.var(ddof=1)) / repeats if repeats > 1 else 0.0
    variance = max(overlap * within + between, within / repeats)
    if repeats == 1:
        freedom = max(count - 1.0, 1.0)
        how = "sampling only: one repeat" if variance else "exact on one repeat"
    else:
        freedom = (repeats - 1) * (variance / between) ** 2 if between else np.inf
        how = f"t interval over {repeats} repeats"
        if within:
            how += " and sampling"
    if repeats < len(items):
        how += f"; {len(items) - repeats} repeats without a value"
    half = float(stdtrit(freedom, (1 + level) / 2)) * variance**0.5
    info = METRICS.get(items[0].metric)
    low, high = info.range if info else ANY
    if values.min() < low or values.max() > high:  # a count under the name of a share
        low, high = ANY
    return Estimate(value, max(value - half, low), min(value + half, high), count, repeats, how)


def wilson_interval(successes: float, trials: int) -> tuple[float, float]:
    """95 % score interval of a share (Wilson 1927); (0, 1) without trials.

    >>> from core.measures.intervals import wilson_interval
    >>> [round(float(end), 3) for end in wilson_interval(8, 10)]
    [0.49, 0.943]
    """
    if trials == 0:
        return 0.0, 1.0
    z = float(ndtri((1 + LEVEL) / 2))
    share, scale = successes / trials, 1 + z * z / trials
    centre = (share + z * z / (2 * trials)) / scale
    half = z * np.sqrt(share * (1 - share) / trials + z * z / (4 * trials**2)) / scale
    return max(centre - half, 0.0), min(centre + half, 1.0)


def measure_mean(metric: str, values: np.ndarray, reason: str = "") -> Measurement:
    """Mean of (k,) values with its sampling variance; missing with `reason` if k = 0."""
    if not len(values):
        return Measurement(metric, None, reason=reason)
    variance = float(values.var(ddof=1)) / len(values) if len(values) > 1 else 0.0
    return Measurement(metric, float(values.mean()), variance, len(values))


def measure_share(metric: str, hits: np.ndarray) -> Measurement:
    """Share of (k ≥ 1) true values with its sampling variance."""
    variance = share_variance(float(hits.sum()), len(hits))
    return Measurement(metric, float(hits.mean()), variance, len(hits))


def share_variance(successes: float, trials: float) -> float:
    """Sampling variance of a share with two pseudo-observations on either side.

    Agresti & Coull (1998): positive even where p(1−p)/n is 0.
    """
    share = (successes + 2) / (trials + 4)
    return share * (1 - share) / (trials + 4)


def compare_repeats(before: Mapping[int, float], after: Mapping[int, float]) -> Estimate:
    """Paired difference after − before of one metric (repeat → value) on two releases.

    Mean difference over common repeats with Student's t interval, for the expected difference on
    this graph over splits and noise. Both releases of a repeat share the split, whose difficulty
    cancels; overlap of their own intervals is far less informative. One common repeat gives a value
    without interval, none gives neither.
    """
    common = sorted(set(before) & set(after))
    if not common:
        return Estimate(None, None, None, 0, 0, "no repeat in common")
    differences = np.array([after[repeat] - before[repeat] for repeat in common])
    value, count = float(differences.mean()), len(common)
    if count == 1:
        return Estimate(value, None, None, 0, 1, "one repeat: no interval")
    error = float(differences.std(ddof=1)) / count**0.5
    half = float(stdtrit(count - 1, (1 + LEVEL) / 2)) * error
    how = f"paired t interval over {count} repeats"
    return Estimate(value, value - half, value + half, 0, count, how)
