"""Typed facts: measured figures and their comparisons, from which sentences are rendered.

A sentence calls one figure lower than another only if a `Comparison` says so. Counts stay numbers
until they are rendered, so that the external edition rounds values instead of editing text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import pandas as pd

from core.audit.asked.attack import Attack
from core.audit.asked.release_info import ReleaseInfo
from core.findings.differences import estimate_difference
from core.findings.numbers import find_told, format_measure
from core.measures.metrics import METRICS
from core.results import Estimate

LimitState = Literal["met", "not_proven", "exceeded", "not_tested"]
STATE_TITLES: dict[LimitState, str] = {
    "met": "met",
    "not_proven": "not proven",
    "exceeded": "exceeded",
    "not_tested": "not tested",
}

Outcome = Literal["lower", "higher", "tie", "within_noise", "not_tested"]
"""Outcome of a comparison; "not_tested" if either figure has no interval."""

DENOMINATORS = (100, 1_000, 10_000, 100_000)
MAX_ROUNDING = 0.025
"""Relative error allowed in a natural frequency of one digit; two digits are always enough."""
COARSE = 3
"""Cases of the larger share up to which the smaller one is reported as a number below one."""


@dataclass(frozen=True)
class Count:
    """A count of people, nodes or links and its total; rendered by `format`."""

    value: int
    total: int | None = None

    def format(self, hide_below: int = 0) -> str:
        """ "12 of 2,736"; "fewer than 10 of 2,736" where 0 < value < hide_below."""
        is_small = 0 < self.value < hide_below
        text = f"fewer than {hide_below}" if is_small else f"{self.value:,}"
        return text if self.total is None else f"{text} of {self.total:,}"


@dataclass(frozen=True)
class Figure:
    """One measured number.

    made     the release; None for a number that is on none, such as a limit
    attack   who reached it; None for a measure of the release itself
    seeds    number of repeats with a value; `repeats` holds these values, by repeat
    told     what is written in the place of the value, as core.findings.numbers.TOLD
    Its fields are those of a row of results, so that it is formatted and compared like one.
    """

    metric: str
    made: ReleaseInfo | None
    attack: Attack | None
    value: float
    low: float | None = None
    high: float | None = None
    n: int = 0
    seeds: int = 1
    is_inverted: bool = False
    repeats: Mapping[int, float] = field(default_factory=dict, compare=False, repr=False)
    told: str = ""

    @property
    def is_share(self) -> bool:
        """Whether the figure is a share of cases, shown as a natural frequency."""
        return self.metric in METRICS and METRICS[self.metric].is_share

    def format(self) -> str:
        """Headline format without interval: "36 of 100", "0.75" if it is not a share, ε = "6"."""
        if self.told:
            return self.told
        if self.is_share:
            return format_frequency(self.value)
        return format_measure(self.metric, self.value)


@dataclass(frozen=True)
class Comparison:
    """`second` against `first`: second − first with its interval, and the outcome."""

    first: Figure
    second: Figure
    difference: Estimate
    outcome: Outcome


def build_figure(row: Any) -> Figure:
    """Figure of a finished row of results (of `invert_scores` when attacks are compared)."""
    return Figure(
        metric=str(row.metric),
        made=row.made,
        attack=row.attack,
        value=float(row.value),
        low=None if pd.isna(row.low) else float(row.low),
        high=None if pd.isna(row.high) else float(row.high),
        n=int(row.n),
        seeds=int(row.seeds),
        is_inverted=bool(getattr(row, "is_inverted", False)),
        repeats=found if isinstance(found := getattr(row, "repeats", None), Mapping) else {},
        told=find_told(row),
    )


def compare_results(first: Any, second: Any) -> Comparison:
    """Compare two finished rows of one metric, repeat by repeat if they share repeats."""
    difference = estimate_difference(first, second)
    return Comparison(
        build_figure(first), build_figure(second), difference, find_outcome(difference)
    )


def find_outcome(difference: Estimate) -> Outcome:
    """Outcome that an estimated difference supports for the second figure."""
    if difference.value is None or difference.low is None or difference.high is None:
        return "not_tested"
    if difference.high < 0:
        return "lower"
    if difference.low > 0:
        return "higher"
    return "tie" if difference.value == 0 else "within_noise"


def format_frequency(share: float, per: int | None = None) -> str:
    """0.155 → "15 of 100", 0.0017 → "17 of 10,000": smallest denominator that gives two
    significant digits; values next to 0 or 1 are never rounded to none or all.

    per  smallest denominator to use, so that two shares can have the same one
    """
    for denominator in DENOMINATORS:
        if per is not None and denominator < per:
            continue
        exact = share * denominator
        rounded = round(exact)
        is_extreme = rounded in (0, denominator) and exact != rounded
        is_close = rounded >= 10 or abs(exact - rounded) <= MAX_ROUNDING * exact
        if not is_extreme and is_close:
            return f"{rounded:,} of {denominator:,}"
    largest = DENOMINATORS[-1]
    if share * largest < 0.5:
        return f"fewer than 1 of {largest:,}"
    return f"{min(round(share * largest), largest - (share < 1)):,} of {largest:,}"


def format_both(first: Figure, second: Figure) -> tuple[str, str]:
    """Two figures of one metric for a headline, fine enough to differ if they do; shares over one
    denominator."""
    if first.told or second.told:
        return first.format(), second.format()
    if first.is_share:
        return format_frequencies(first.value, second.value)
    texts, values = (first.format(), second.format()), (first.value, second.value)
    for decimals in (3, 4):
        if texts[0] != texts[1] or values[0] == values[1] or max(map(abs, values)) > 10:
            break
        texts = f"{values[0]:.{decimals}f}", f"{values[1]:.{decimals}f}"
    return texts


def format_frequencies(first: float, second: float) -> tuple[str, str]:
    """Two shares over one denominator, fine enough to differ if the shares do; a far smaller one
    may be "fewer than 1"."""
    return format_frequency_pairs([(first, second)])[0]


def format_frequency_pairs(
    pairs: Sequence[tuple[float, float]], differ: Sequence[bool] | None = None
) -> list[tuple[str, str]]:
    """`format_frequencies` of each pair, all over one denominator; shares that no denominator tells
    apart do not make it finer.

    differ  whether the texts of a pair must (where its difference is noise, they need not)
    """
    finest = [_format_pair(*pair, DENOMINATORS[-1]) for pair in pairs]
    wanted = differ or [True] * len(pairs)
    is_apart = [
        first != second and must for (first, second), must in zip(finest, wanted, strict=True)
    ]
    for denominator in DENOMINATORS:
        found = [_format_pair(*pair, denominator) for pair in pairs]
        is_fine = all(text.endswith(f" of {denominator:,}") for texts in found for text in texts)
        if is_fine and not any(
            first == second and must for (first, second), must in zip(found, is_apart, strict=True)
        ):
            return found
    return finest


def _format_pair(first: float, second: float, denominator: int) -> tuple[str, str]:
    is_coarse = max(first, second) * denominator >= COARSE

    def write(share: float) -> str:
        if is_coarse and 0 < share * denominator < 1:
            return f"fewer than 1 of {denominator:,}"
        return format_frequency(share, denominator)

    return write(first), write(second)
