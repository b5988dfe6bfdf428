"""Total budget of all published releases of a graph.

Whoever collects every release gets the sum of their budgets (basic composition, Dwork et al., 2006,
Theorem 1). Units imply one another: ε-node DP is ε-edge DP; and link-local DP protects a link from
a reader of all reports by ε, or by 2ε if both ends report it (`Guarantee.epsilon_received`). So
every guarantee counts for one link, node guarantees also for one node; a run without a guarantee
for a unit makes its sum unbounded.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from core.errors import InputError
from core.release import Guarantee, Unit
from core.words import count_noun

Protected = Literal["edge", "node"]

COUNTED: dict[Protected, tuple[Unit, ...]] = {"edge": ("edge", "link", "node"), "node": ("node",)}
"""Unit, one link or one node → units whose guarantees cover it."""

NOT_COVERED = (
    "Settings that were chosen by auditing this graph are not covered by these sums: the choice "
    "itself reveals information about it."
)

_ROUNDING = 1e-9
"""Tolerance of sums against a budget in floating point."""


@dataclass(frozen=True)
class Entry:
    """One publishing run.

    run      its id: a run counts once, however often its file is downloaded
    epsilon  as received; None without a guarantee
    """

    run: str
    made: str
    release: str
    unit: Unit
    relation: str
    epsilon: float | None
    delta: float

    @staticmethod
    def of(run: str, made: str, release: str, guarantee: Guarantee) -> Entry:
        """Entry of a release with this guarantee."""
        return Entry(
            run,
            made,
            release,
            guarantee.unit,
            guarantee.relation,
            guarantee.epsilon_received if guarantee.is_private else None,
            guarantee.delta,
        )

    def covers(self, unit: Protected) -> bool:
        """Whether its guarantee covers this unit."""
        return self.epsilon is not None and self.unit in COUNTED[unit]


@dataclass(frozen=True)
class Total:
    """Sum over the publishing runs with a guarantee for one unit.

    unit       "edge": of one link; "node": of one node with all its links
    runs       number of summed runs
    unbounded  runs without a guarantee for this unit: with any, the sum is "at least"
    """

    unit: Protected
    epsilon: float
    delta: float
    runs: int
    unbounded: int


def compute_totals(entries: Iterable[Entry]) -> tuple[Total, ...]:
    """One total per covered unit; each run counts once."""
    runs = {entry.run: entry for entry in entries}.values()
    totals = []
    for unit in COUNTED:
        counted = [entry for entry in runs if entry.covers(unit)]
        if counted:
            epsilon = math.fsum(entry.epsilon or 0.0 for entry in counted)
            delta = math.fsum(entry.delta for entry in counted)
            totals.append(Total(unit, epsilon, delta, len(counted), len(runs) - len(counted)))
    return tuple(totals)


def check_budget(entries: Iterable[Entry], new: Entry, budget: float) -> None:
    """Raise InputError if `new` would take a sum above `budget`, or if an earlier run without any
    guarantee makes the sums unbounded."""
    if not budget > 0:
        raise InputError("budget", "must be above 0", budget)
    if new.epsilon is None:
        raise InputError(
            "release",
            "must guarantee differential privacy where a budget is set",
            new.release,
            "choose a private defense, or publish without --budget",
        )
    earlier = [entry for entry in entries if entry.run != new.run]
    unbounded = len({entry.run for entry in earlier if entry.epsilon is None})
    if unbounded:
        raise InputError(
            "budget",
            f"of ε = {budget:g} cannot hold",
            f"{count_noun(unbounded, 'earlier run')} without a guarantee",
            "publish without a budget",
        )
    for total in compute_totals([*earlier, new]):
        if new.covers(total.unit) and total.epsilon > budget * (1 + _ROUNDING):
            raise InputError(
                "budget",
                f"of ε = {budget:g} would be exceeded",
                f"ε = {total.epsilon:g} after this run",
                f"{total.epsilon - new.epsilon:g} is spent by {total.runs - 1} publishing runs",
            )
