"""Estimates with 95 % intervals from the repeats of a metric; intervals of shares."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from scipy.special import betainccinv, betaincinv, ndtri, stdtrit

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

    Shares (items with `trials`) are not normal near 0 and 1: their interval is that of
    `share_interval` for trials that have this variance and these quantiles (Korn & Graubard, Survey
    Methodology 24, 1998), of one repeat the trials themselves.

    Missing values are dropped; if all are missing, so is the estimate, with their reason. A value
    without variance has no interval. Raises ValueError for no items or for items of different
    metrics.
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
    known = [item.variance for item in present if item.variance is not None]
    if len(known) < repeats:
        return Estimate(value, None, None, count, repeats, "one case: no interval")
    between = float(values.var(ddof=1)) / repeats if repeats > 1 else 0.0
    if all(item.trials for item in present):
        trials = float(np.mean([item.trials for item in present]))
        low, high = _combine_shares(value, trials, between, repeats, overlap, level)
        how = "sampling only: one repeat" if repeats == 1 else _count_repeats(repeats)
        return Estimate(value, low, high, count, repeats, how + _count_missing(items, repeats))
    within = float(np.mean(known))
    variance = max(overlap * within + between, within / repeats)
    if repeats == 1:
        freedom = max(count - 1.0, 1.0)
        how = "sampling only: one repeat" if variance else "exact on one repeat"
    else:
        freedom = (repeats - 1) * (variance / between) ** 2 if between else np.inf
        how = _count_repeats(repeats) if within else f"t interval over {repeats} repeats"
    how += _count_missing(items, repeats)
    half = float(stdtrit(freedom, (1 + level) / 2)) * variance**0.5
    info = METRICS.get(items[0].metric)
    low, high = info.range if info else ANY
    if values.min() < low or values.max() > high:  # a count under the name of a share
        low, high = ANY
    return Estimate(value, max(value - half, low), min(value + half, high), count, repeats, how)


def _combine_shares(
    share: float, trials: float, between: float, repeats: int, overlap: float, level: float
) -> tuple[float, float]:
    """Interval of a mean share over the repeats, of as many trials each."""
    within = share * (1 - share) / trials
    least = overlap + (1 - overlap) / repeats  # of equal shares too, whatever varies between them
    inflation, freedom = least, np.inf
    if between and within:
        inflation = max(overlap + between / within, least)
        freedom = (repeats - 1) * (inflation * within / between) ** 2
    tail = (1 + level) / 2
    if np.isfinite(freedom):
        inflation *= (float(stdtrit(freedom, tail)) / float(ndtri(tail))) ** 2
    return share_interval(share * trials / inflation, trials / inflation, level)


def _count_repeats(repeats: int) -> str:
    return f"t interval over {repeats} repeats and sampling"


def _count_missing(items: Sequence[Measurement], repeats: int) -> str:
    missing = len(items) - repeats
    return f"; {missing} repeats without a value" if missing else ""


def share_interval(successes: float, trials: float, level: float = LEVEL) -> tuple[float, float]:
    """Exact interval of a share of at least this level (Clopper & Pearson 1934).

    Either end is missed with a probability of at most (1 − level) / 2 for every number of trials.
    Counts need not be whole. Without trials (0, 1).

    >>> from core.measures.intervals import share_interval
    >>> [round(float(end), 3) for end in share_interval(0, 3)]
    [0.0, 0.708]
    """
    others, tail = trials - successes, (1 - level) / 2
    low = float(betaincinv(successes, others + 1, tail)) if successes > 0 else 0.0
    high = float(betainccinv(successes + 1, others, tail)) if others > 0 else 1.0
    return low, high


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
    """Mean of (k,) values with its sampling variance, unknown if k = 1; missing with `reason` if
    k = 0."""
    if not len(values):
        return Measurement(metric, None, reason=reason)
    variance = float(values.var(ddof=1)) / len(values) if len(values) > 1 else None
    return Measurement(metric, float(values.mean()), variance, len(values))


def measure_share(metric: str, hits: np.ndarray, reason: str = "") -> Measurement:
    """Share of (k,) true values; missing with `reason` if k = 0.

    Or the mean of numbers from 0 to 1, which vary at most as much as true and false ones.
    """
    if not len(hits):
        return Measurement(metric, None, reason=reason)
    return make_share(metric, float(hits.mean()), len(hits))


def make_share(
    metric: str, share: float, trials: float, n: int | None = None, more: float = 0.0
) -> Measurement:
    """A share over so many trials.

    n     number counted, if not the trials
    more  sampling variance beyond that of the trials, which counts as fewer of them
    """
    variance = share_variance(share * trials, trials)
    count = round(trials) if n is None else n
    effective = trials * variance / (variance + more)
    return Measurement(metric, share, variance + more, count, trials=effective)


def add_variances(*variances: float | None) -> float | None:
    """Variance of a sum or difference of independent figures; unknown if one's is."""
    known = [variance for variance in variances if variance is not None]
    return sum(known) if len(known) == len(variances) else None


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
