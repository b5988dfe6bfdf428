"""Disclosure control of the external edition: numbers are rounded before sentences are built.

Counts of people, links and parts of the graph are rounded to tens, so that no small group can be
derived by subtraction; shares of fewer than ten people become an upper bound. Two audits that
differ only within the same tens give the same document.
"""

from __future__ import annotations

import pandas as pd

from core.findings.numbers import format_measure, format_number

SMALL = 10
FEW = f"fewer than {SMALL}"

PEOPLE_METRICS = ("advantage_share", "expected_found", "share_unique", "share_below_", "hits_at_")
"""Prefixes of metrics that are shares of people."""


def round_count(number: int) -> int:
    """Rounded to tens; 0 for counts below `SMALL`."""
    return 0 if number < SMALL else (number + SMALL // 2) // SMALL * SMALL


def format_count(number: int) -> str:
    """ "fewer than 10", else "about 1,230"."""
    return f"about {round_count(number):,}" if number >= SMALL else FEW


def is_few(metric: str, value: float | None, n: float) -> bool:
    """Whether a value represents fewer than `SMALL` people."""
    if value is None or value != value or not metric.startswith(PEOPLE_METRICS):
        return False
    return not n > 0 or value * n < SMALL


def format_measured(
    metric: str, value: float | None, low: float | None, high: float | None, n: float
) -> str:
    """ "0.43 [0.40, 0.46]", or "below 0.025" for a share of fewer than `SMALL` people."""
    if is_few(metric, value, n):
        return f"below {format_number(SMALL / max(n, SMALL))}"
    return format_measure(metric, value, low, high)


def round_results(results: pd.DataFrame) -> pd.DataFrame:
    """Results with shares of few people at their upper bound and n rounded to tens."""
    rows = results.copy()
    n = pd.to_numeric(rows.n, errors="coerce").fillna(0)
    value = pd.to_numeric(rows.value, errors="coerce")
    few = [is_few(*row) for row in zip(rows.metric.astype(str), value, n, strict=True)]
    rows.loc[few, "value"] = (SMALL / n[few].clip(lower=SMALL)).astype(float)
    rows.loc[few, ["low", "high"]] = None
    rows["n"] = n.astype(int).map(round_count)
    return rows
