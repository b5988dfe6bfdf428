"""Number formats shared by pages and report."""

from __future__ import annotations

import math
from typing import Any

from core.results import Estimate
from core.words import write_power

TOLD = "told"
"""Column of results and field of figures: the words that an edition writes in the place of a value
which it may not tell, such as "fewer than 10 of 300"; "" where it may. The value itself stays, so
that figures are compared as they were measured."""
BOUND = "bound"
"""Column of results: the number that is drawn in the place of such a value; NaN elsewhere."""
EDITION = (TOLD, BOUND)
"""Columns that only the results of an edition for outsiders have."""

MAX_DECIMALS = 4
SMALLEST = 1e-4
"""Intervals wholly below it are shown as such."""
MOST_APART = 6
"""Decimals up to which a figure is told apart from its limit by digits."""


def format_number(value: float | None, fewest: int = 0) -> str:
    """Two decimals; two significant digits below 0.1, no meaningless ones above 10.

    0.844 → "0.84", 0.0031 → "0.0031", 0.00004 → "4.0 × 10⁻⁵", 12.34 → "12", 1234 → "1,234",
    None → "–".
    fewest  decimals to show at least, but of powers of ten
    """
    if value is None or value != value:
        return "–"
    size = abs(value)
    if size >= 10:
        return _format_fixed(value, fewest)
    if size >= 0.0955 or size < 5e-7:
        return _format_fixed(value, max(2, fewest))
    if size >= 1e-4:
        leading = int(f"{size:.1e}".rpartition("e")[2])  # of the rounded number
        return _format_fixed(value, max(1 - leading, fewest))
    return write_power(f"{value:.1e}".replace("-", "−", int(value < 0)))


def format_interval(
    value: float | None, low: float | None, high: float | None, fewest: int = 0
) -> str:
    """ "0.84 [0.80, 0.88]", with as many decimals as the interval's width supports.

    Two significant digits of the number or of its distance to the ends, whichever is larger, with
    two to four decimals, or `fewest`. "below 0.0001" if all three vanish and no more decimals are
    due; the number alone without interval.
    """
    if value is None or low is None or high is None or math.isnan(value + low + high):
        return format_number(value, fewest)
    three = (value, low, high)
    if any(three) and max(map(abs, three)) < SMALLEST and fewest <= MAX_DECIMALS:
        return f"below {SMALLEST:g}" if low >= 0 else f"within {SMALLEST:g} of 0"
    size = max(abs(value), value - low, high - value)
    decimals = 0 if size >= 10 else 2
    if SMALLEST <= size < 0.0955:
        decimals = min(1 - int(f"{size:.1e}".rpartition("e")[2]), MAX_DECIMALS)
    shown = [_format_fixed(number, max(decimals, fewest)) for number in three]
    return f"{shown[0]} [{shown[1]}, {shown[2]}]"


def format_mean(mean: float, sd: float, n: int) -> str:
    """`format_interval` of a mean over n nodes with its 95 % interval, 1.96 standard errors."""
    half = 1.96 * sd / math.sqrt(n)
    return format_interval(mean, mean - half, mean + half)


def format_measure(
    metric: str, value: float | None, low: float | None = None, high: float | None = None
) -> str:
    """`format_interval`; an ε, which is set and not estimated, is a number alone: "6"."""
    if metric.startswith("epsilon") and value is not None:
        return f"{value:g}"
    return format_interval(value, low, high)


def format_limited(
    value: float | None,
    limit: float,
    low: float | None = None,
    high: float | None = None,
    metric: str = "",
) -> tuple[str, str]:
    """A figure and its limit as `format_measure` has them, with the decimals by which the figure
    and the ends of its interval differ from the limit: ("0.604", "0.600").

    A difference beyond `MOST_APART` decimals is told in words: ("just above 0.60", "0.60").
    """
    if value is None or math.isnan(value) or metric.startswith("epsilon"):
        return format_measure(metric, value, low, high), format_measure(metric, limit)
    ends = [end for end in (value, low, high) if end is not None and not math.isnan(end)]
    fewest = max(_count_apart(end, limit) for end in ends)
    text = format_interval(value, low, high, fewest)
    if value != limit and round(value, MOST_APART) == round(limit, MOST_APART):
        text = f"just {'above' if value > limit else 'below'} {text}"
    return text, format_number(limit, fewest)


def _count_apart(number: float, limit: float) -> int:
    """Fewest decimals by which a number differs from the limit; 0 if none shows it."""
    decimals = range(MOST_APART + 1)
    return next((d for d in decimals if round(number, d) != round(limit, d)), 0)


def format_row(row: Any) -> str:
    """`format_interval` of the `value`, `low` and `high` of a row, or its words under `TOLD`."""
    return find_told(row) or format_interval(row.value, row.low, row.high)


def find_told(row: Any) -> str:
    """Words of a row under `TOLD`; "" if its value may be told."""
    told = getattr(row, TOLD, "")
    return told if isinstance(told, str) else ""


def _format_fixed(value: float, decimals: int) -> str:
    """Fixed number of decimals, a true minus sign, and no negative zero."""
    return f"{value:z,.{decimals}f}".replace("-", "−")


def format_estimate(estimate: Estimate) -> str:
    """A number with its interval, or the reason why it is missing."""
    if not estimate.is_known:
        return estimate.how or "not resolved"
    return format_interval(estimate.value, estimate.low, estimate.high)


def format_duration(seconds: float) -> str:
    """ "5 s", "40 s", "3 min", "2 h": no more digits than an estimate supports."""
    if seconds < 10:
        return f"{max(round(seconds), 1)} s"
    if seconds < 90:
        return f"{round(seconds / 10) * 10} s"
    if seconds < 90 * 60:
        return f"{round(seconds / 60)} min"
    return f"{round(seconds / 3600)} h"


def format_duration_range(low: float, high: float) -> str:
    """ "2 to 5 min", "40 s to 3 min", "about 2 h"; seconds."""
    first, last = format_duration(low), format_duration(high)
    if first == last:
        return f"about {last}"
    number, _, unit = first.partition(" ")
    return f"{number if last.endswith(f' {unit}') else first} to {last}"
