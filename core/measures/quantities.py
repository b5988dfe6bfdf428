"""Numeric private values: distance of an attacker's estimate from the truth.

An attack gives probabilities of the numbers or of the intervals they were binned into. The estimate
is the median of the known numbers, weighted by the probability of each one's class, which minimises
the expected absolute error.
"""

from __future__ import annotations

import numpy as np

from core.measures.intervals import measure_mean, measure_share
from core.results import ClassProbabilities, Measurement
from core.threats import AttributeThreat

POINTS = 25
"""Maximum number of known numbers per interval: their quantiles."""

CLOSE = 0.25
"""An estimate is close within this share of the column's interquartile range."""

MAX_TILE = 1 << 22
"""Entries of the table of cumulative weights per chunk."""


def measure_quantities(found: ClassProbabilities, threat: AttributeThreat) -> list[Measurement]:
    """absolute_error (in the column's unit), error_reduction and close_share over the hidden nodes;
    empty for a column that is not numeric.

    error_reduction: 1 − Σ|y − ŷ| / Σ|y − m|, m the median of the known numbers, the estimate
    without any evidence; its variance by the delta method.
    """
    values = threat.attribute.values
    nodes = np.flatnonzero(threat.hidden)
    if values is None or not len(nodes) or not threat.known.any():
        return []
    truth = values[nodes]
    error = np.abs(truth - estimate_numbers(found.probabilities[nodes], threat))
    blind = np.abs(truth - np.median(values[threat.known]))
    close = measure_share("close_share", error <= find_tolerance(values))
    return [measure_mean("absolute_error", error), _measure_reduction(error, blind), close]


def find_tolerance(values: np.ndarray) -> float:
    """Largest error of a close estimate, in the column's unit."""
    low, high = np.nanquantile(values, (0.25, 0.75))
    return float(CLOSE * (high - low))


def estimate_numbers(probabilities: np.ndarray, threat: AttributeThreat) -> np.ndarray:
    """(k,) numbers for probabilities (k, C) of the intervals of `threat.attribute`.

    Uses known numbers only. Intervals without known numbers are ignored; if all probability is on
    such, the median of the known numbers.
    """
    values = threat.attribute.values
    assert values is not None
    points, codes, weights = [], [], []
    for code in range(threat.num_classes):
        inside = values[threat.known & (threat.attribute.codes == code)]
        count = min(len(inside), POINTS)
        if count:
            places = (np.arange(count) + 0.5) / count
            points.append(np.quantile(inside, places, method="hazen"))
            codes.append(np.full(count, code))
            weights.append(np.full(count, 1.0 / count))
    order = np.argsort(np.concatenate(points), kind="stable")
    number = np.concatenate(points)[order]
    inside_of, weight = np.concatenate(codes)[order], np.concatenate(weights)[order]
    counts = np.bincount(threat.attribute.codes[threat.known], minlength=threat.num_classes)
    reached = probabilities @ (counts > 0) > 0
    probabilities = np.where(reached[:, None], probabilities, counts)
    result = np.empty(len(probabilities))
    step = max(MAX_TILE // len(number), 1)
    for start in range(0, len(probabilities), step):
        part = np.cumsum(probabilities[start : start + step][:, inside_of] * weight, axis=1)
        half = (part >= (0.5 - 1e-12) * part[:, -1:]).argmax(axis=1)
        result[start : start + step] = number[half]
    return result


def _measure_reduction(error: np.ndarray, blind: np.ndarray) -> Measurement:
    base = float(blind.mean())
    if base == 0:
        reason = "the median of the known numbers is everybody's"
        return Measurement("error_reduction", None, n=len(error), reason=reason)
    ratio = float(error.mean()) / base
    influence = (error - ratio * blind) / base
    variance = float(influence.var(ddof=1)) / len(error) if len(error) > 1 else None
    return Measurement("error_reduction", 1.0 - ratio, variance, len(error))
