"""Disclosure control of the external edition: numbers are rounded before sentences are built.

Counts of people, links and parts of the graph are rounded to tens, so that no small group can be
derived by subtraction; shares of fewer than ten people, or of all but fewer than ten, become a
bound. Two audits that differ only within the same tens give the same document.
"""

from __future__ import annotations

import pandas as pd

from core.audit.results.view import REPEATS
from core.audit.store.states import NOT_TESTED, State
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


def round_results(results: pd.DataFrame) -> pd.DataFrame:
    """Results with shares of few, or of all but few, people at their bound, without the values of
    their repeats; n rounded to tens. A figure of an attack on fewer than `SMALL` cases is none.
    Reasons are free text, which may tell a count: none is left.
    """
    rows = results.copy()
    n = pd.to_numeric(rows.n, errors="coerce").fillna(0)
    if "status" in rows:
        is_few = (n > 0) & (n < SMALL) & (rows.method != RELEASE) & (rows.status == State.DONE)
        rows.loc[is_few, "status"] = NOT_TESTED
    value = pd.to_numeric(rows.value, errors="coerce")
    bounds = [find_bound(*row) for row in zip(rows.metric.astype(str), value, n, strict=True)]
    is_bounded = [bound is not None for bound in bounds]
    rows.loc[is_bounded, "value"] = [bound[1] for bound in bounds if bound is not None]
    gone = [name for name in ("low", "high", REPEATS) if name in rows]
    rows.loc[is_bounded, gone] = None
    if "reason" in rows:
        rows["reason"] = ""
    rows["n"] = n.astype(int).map(round_count)
    return rows


def round_control(control: pd.DataFrame) -> pd.DataFrame:
    """`round_results` of control nodes, without rows of fewer than `SMALL` and without shares of
    people: their difference from the share on released nodes would tell both."""
    n = pd.to_numeric(control.n, errors="coerce").fillna(0)
    is_told = (n >= SMALL) & ~control.metric.astype(str).str.startswith(PEOPLE_METRICS)
    return round_results(control[is_told])
