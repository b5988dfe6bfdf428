"""When two numbers may be called different: only beyond the noise of both."""

from __future__ import annotations

import math
from typing import Any


def find_noise(*rows: Any) -> float:
    """95 % half-width of a sum or difference of independent rows with `value`, `low`, `high`.

    What is measured on the same repeats varies together, so that the true noise of a difference
    is smaller: the wider one errs towards "no difference". NaN where a row has no interval.
    """
    ends = [(float(row.high) - row.value, row.value - float(row.low)) for row in rows]
    if any(math.isnan(end) for pair in ends for end in pair):
        return math.nan
    return math.sqrt(sum(max(pair) ** 2 for pair in ends))


def is_clear(first: Any, second: Any) -> bool:
    """Whether the difference of two rows exceeds its noise; False where that is unknown."""
    return bool(abs(first.value - second.value) > find_noise(first, second))
