"""Disclosure control of the external edition: which numbers it writes, and in what words.

Counts of people, links and parts of the graph are rounded to tens, so that no small group can be
derived by subtraction; shares of fewer than ten people, or of all but fewer than ten, become a
bound. Attacks and releases are compared by what was measured, for a bound beside a figure would say
the opposite; the bound takes its place where a number is written or drawn. Two audits that differ
only within the same tens and agree in every comparison give the same document.
"""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from core.audit.results.view import REPEATS
from core.audit.store.states import NOT_TESTED, State
from core.findings.numbers import BOUND, TOLD
from core.results import RELEASE

SMALL = 10
FEW = f"fewer than {SMALL}"

PEOPLE_METRICS = (
    "advantage_share",
    "class_advantage_share",
    "forecast_advantage_share",
    "close_share",
    "expected_found",
    "share_unique",
    "share_below_",
    "hits_at_",
    "named_at_",
)
"""Prefixes of metrics that are shares of people."""


def round_count(number: int) -> int:
    """Rounded to tens; 0 for counts below `SMALL`."""
    return 0 if number < SMALL else (number + SMALL // 2) // SMALL * SMALL


def format_count(number: int) -> str:
    """ "fewer than 10", else "about 1,230"."""
    return f"about {round_count(number):,}" if number >= SMALL else FEW


def find_bound(metric: str, value: float | None, n: float) -> tuple[str, float] | None:
    """("below", upper bound) for a share of fewer than `SMALL` people, ("above", lower bound) for
    one of all but fewer than `SMALL`, from which they follow by subtraction; None for others.

    n is the true one, by which both are decided; the bound holds for every n of the same tens, so
    that it does not tell which one it is.
    """
    if value is None or value != value or not metric.startswith(PEOPLE_METRICS):
        return None
    share = SMALL / max(round_count(int(n)) - SMALL // 2, SMALL) if n > 0 else 1.0
    people, others = round(value * n, 6), round((1.0 - value) * n, 6)  # ten of 28 are no fewer
    if not n > 0 or people < SMALL:
        return "below", share
    return ("above", 1.0 - share) if others < SMALL else None


def format_bound(metric: str, value: float | None, n: float) -> str:
    """ "fewer than 10 of 120" or "all but fewer than 10 of 120" where `find_bound` has a bound,
    which may exceed a limit that is met; else "". n is the true one and told rounded."""
    bound = find_bound(metric, value, n)
    if bound is None:
        return ""
    text = f"{FEW} of {round_count(int(n)):,}" if n >= SMALL else FEW
    return text if bound[0] == "below" else f"all but {text}"


def mark_results(results: pd.DataFrame) -> pd.DataFrame:
    """Results as measured, to be compared; shares of few, or of all but few, people have words
    under `TOLD` and a number under `BOUND`; n rounded to tens. A figure of an attack on fewer than
    `SMALL` cases is none. Reasons are free text, which may tell a count: none is left.
    """
    rows = results.copy()
    n = pd.to_numeric(rows.n, errors="coerce").fillna(0)
    if "status" in rows:
        is_few = (n > 0) & (n < SMALL) & (rows.method != RELEASE) & (rows.status == State.DONE)
        rows.loc[is_few, "status"] = NOT_TESTED
    value = pd.to_numeric(rows.value, errors="coerce")
    figures = list(zip(rows.metric.astype(str), value, n, strict=True))
    bounds = [find_bound(*figure) for figure in figures]
    rows[BOUND] = [float("nan") if bound is None else bound[1] for bound in bounds]
    rows[TOLD] = [format_bound(*figure) for figure in figures]
    if "reason" in rows:
        rows["reason"] = ""
    rows["n"] = n.astype(int).map(round_count)
    return rows


def place_bounds(
    rows: pd.DataFrame,
    values: Sequence[str] = ("value",),
    others: Sequence[str] = ("low", "high", REPEATS),
) -> pd.DataFrame:
    """A table to be drawn: the `BOUND` of a row in its columns `values`, nothing in `others`."""
    if BOUND not in rows:
        return rows
    placed, is_bounded = rows.copy(), rows[BOUND].notna()
    for name in values:
        placed.loc[is_bounded, name] = rows[BOUND][is_bounded]
    placed.loc[is_bounded, [name for name in others if name in rows]] = None
    return placed


def round_results(results: pd.DataFrame) -> pd.DataFrame:
    """`mark_results` with the bounds in place and without the values of their repeats."""
    return place_bounds(mark_results(results))


def round_control(control: pd.DataFrame) -> pd.DataFrame:
    """`round_results` of control nodes, without rows of fewer than `SMALL` and without shares of
    people: their difference from the share on released nodes would tell both."""
    n = pd.to_numeric(control.n, errors="coerce").fillna(0)
    is_told = (n >= SMALL) & ~control.metric.astype(str).str.startswith(PEOPLE_METRICS)
    return round_results(control[is_told])
