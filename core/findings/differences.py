"""Significance of the difference between two figures.

Rows of one audit are compared repeat by repeat, since both use the same splits. With too few common
repeats, or rows of different audits, the two intervals are treated as independent.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from core.measures.intervals import compare_repeats
from core.results import Estimate

MIN_REPEATS = 3
"""Smallest number of common repeats for a paired interval."""


def find_noise(*rows: Any) -> float:
    """95 % half-width of a sum or difference of independent rows with `value`, `low`, `high`.

    Figures of the same repeats are positively correlated, so the true noise of a difference is
    smaller and the result errs towards "no difference". NaN if a row has no interval.
    """
    if any(row.low is None or row.high is None for row in rows):
        return math.nan
    ends = [(float(row.high) - row.value, row.value - float(row.low)) for row in rows]
    if any(math.isnan(end) for pair in ends for end in pair):
        return math.nan
    return math.sqrt(sum(max(pair) ** 2 for pair in ends))


def compare_rows(first: Any, second: Any) -> Estimate | None:
    """second − first with a paired interval over the repeats of both; None where they have fewer
    than MIN_REPEATS in common. Turned rows (core.findings.inverted_scores) count inverted."""
    before, after = _read_repeats(first), _read_repeats(second)
    if len(set(before) & set(after)) < MIN_REPEATS:
        return None
    return compare_repeats(before, after)


def estimate_difference(first: Any, second: Any) -> Estimate:
    """second − first: `compare_rows` if available, else as if both were independent."""
    paired = compare_rows(first, second)
    if paired is not None:
        return paired
    value, noise = float(second.value - first.value), find_noise(first, second)
    n, seeds = int(getattr(second, "n", 0)), int(getattr(second, "seeds", 1))
    if math.isnan(noise):
        return Estimate(value, None, None, n, seeds, "no interval of its own")
    return Estimate(value, value - noise, value + noise, n, seeds, "as if independent")


def is_clear(first: Any, second: Any) -> bool:
    """Whether the difference of two rows exceeds its noise; False if that is unknown."""
    paired = compare_rows(first, second)
    if paired is None or paired.low is None or paired.high is None:
        return bool(abs(first.value - second.value) > find_noise(first, second))
    return paired.low > 0 or paired.high < 0


def _read_repeats(row: Any) -> dict[int, float]:
    values = getattr(row, "repeats", None)
    if not isinstance(values, Mapping):
        return {}
    is_inverted = bool(getattr(row, "is_inverted", False))
    return {repeat: 1.0 - v if is_inverted else v for repeat, v in values.items()}
