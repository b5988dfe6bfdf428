"""Numbers as private values: how far an attacker's estimate is from the truth.

An attack names probabilities of the numbers, or of the intervals that they were cut into. The
estimate that goes with them is the median of the known numbers, weighted by the probability of the
class that each is in: it has the least expected absolute error.
"""

from __future__ import annotations

import numpy as np

from core.measures.intervals import measure_mean, measure_share
from core.results import ClassProbabilities, Measurement
from core.threats import AttributeThreat

POINTS = 25
"""Numbers that stand for an interval, at most: quantiles of the known ones inside it."""

CLOSE = 0.25
"""An estimate is close within this share of the interquartile range of the column."""

MAX_TILE = 1 << 22
"""Entries of the table of cumulative weights at once."""


def measure_quantities(found: ClassProbabilities, threat: AttributeThreat) -> list[Measurement]:
    """absolute_error (in the column's unit), error_reduction and close_share over the hidden
    nodes; nothing for a column that is not one of numbers.

    error_reduction: 1 − Σ|y − ŷ| / Σ|y − m|, m the median of the known numbers, which is what one
    says of everybody who knows nothing of anybody; its variance by the delta method.
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
    """Half the width of the range in which an estimate is close, in the column's unit."""
    low, high = np.nanquantile(values, (0.25, 0.75))
    return float(CLOSE * (high - low))


def estimate_numbers(probabilities: np.ndarray, threat: AttributeThreat) -> np.ndarray:
    """(k,) numbers for probabilities (k, C) of the intervals of `threat.attribute`.

    Reads known numbers only. Intervals in which nobody is known count for nothing; where all the
    probability lies in such, the median of the known numbers.
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
    variance = float(influence.var(ddof=1)) / len(error) if len(error) > 1 else 0.0
    return Measurement("error_reduction", 1.0 - ratio, variance, len(error))
