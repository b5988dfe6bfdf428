"""What all published releases of a graph have spent together.

Whoever collects every release gets the sum of their budgets (basic composition, Dwork et al.,
2006, Theorem 1). Units imply one another: graphs that differ in one link also differ in the links
of one node, so that ε-node DP is ε-edge DP; and a link whose ends report it under link-local DP is
protected from whoever reads all reports by ε, or by 2ε where both ends report it
(`Guarantee.epsilon_received`). So every promise counts for one link, and those about nodes count
for one node as well; what promises nothing of a unit leaves its sum without an upper limit.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from core.errors import InputError
from core.release import Guarantee, Unit

Protected = Literal["edge", "node"]

COUNTED: dict[Protected, tuple[Unit, ...]] = {"edge": ("edge", "link", "node"), "node": ("node",)}
"""What is protected, one link or one node → units whose promises cover it."""

NOT_COVERED = (
    "Settings that were chosen by auditing this graph are not covered by these sums: the choice "
    "itself tells something of it."
)

_ROUNDING = 1e-9
"""By how much a sum may exceed a budget in floating point."""


@dataclass(frozen=True)
class Entry:
    """One publishing run.

    run      its id: a run counts once, however often its file is downloaded
    epsilon  what the recipient gets; None without a promise: nothing bounds it
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
        """The entry of a release with this guarantee."""
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
        """Whether its promise bounds what is learned of one such unit."""
        return self.epsilon is not None and self.unit in COUNTED[unit]


@dataclass(frozen=True)
class Total:
    """Sum over the publishing runs that promise something of one unit.

    unit       "edge": of one link; "node": of one node with all its links
    runs       whose ε are summed
    unbounded  runs that promise nothing of this unit: with any, the sum is "at least"
    """

    unit: Protected
    epsilon: float
    delta: float
    runs: int
    unbounded: int


def compute_totals(entries: Iterable[Entry]) -> tuple[Total, ...]:
    """A total for each unit that some run protects; each run counts once."""
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
    """Raise InputError where `new` would take a sum that it counts for above `budget`."""
    if not budget > 0:
        raise InputError("budget", "must be above 0", budget)
    if new.epsilon is None:
        raise InputError(
            "release",
            "must promise differential privacy where a budget is set",
            new.release,
            "choose a private defense, or publish without --budget",
        )
    before = [entry for entry in entries if entry.run != new.run]
    for total in compute_totals([*before, new]):
        if new.covers(total.unit) and total.epsilon > budget * (1 + _ROUNDING):
            raise InputError(
                "budget",
                f"of ε = {budget:g} would be exceeded",
                f"ε = {total.epsilon:g} after this run",
                f"{total.epsilon - new.epsilon:g} is spent by {total.runs - 1} publishing runs",
            )
