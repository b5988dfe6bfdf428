"""What all published releases of a graph have spent together.

Whoever collects every release gets the sum of their budgets (basic composition, Dwork et al.,
2006). Budgets add up by unit and neighbouring relation; a promise about links says nothing about
nodes. What counts of a release is what its recipient gets.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from core.errors import InputError
from core.release import Guarantee, Unit

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


@dataclass(frozen=True)
class Total:
    """Sum over the `runs` runs of one unit and relation."""

    unit: Unit
    relation: str
    epsilon: float
    delta: float
    runs: int


def compute_totals(entries: Iterable[Entry]) -> tuple[Total, ...]:
    """One total a unit and relation, in the order of their first run; each run counts once."""
    groups: dict[tuple[Unit, str], dict[str, Entry]] = {}
    for entry in entries:
        if entry.epsilon is not None:
            groups.setdefault((entry.unit, entry.relation), {})[entry.run] = entry
    return tuple(
        Total(
            unit,
            relation,
            math.fsum(entry.epsilon or 0.0 for entry in runs.values()),
            math.fsum(entry.delta for entry in runs.values()),
            len(runs),
        )
        for (unit, relation), runs in groups.items()
    )


def check_budget(entries: Iterable[Entry], new: Entry, budget: float) -> None:
    """Raise InputError where `new` would take the sum of its unit and relation above `budget`."""
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
    totals = compute_totals([*before, new])
    total = next(t for t in totals if (t.unit, t.relation) == (new.unit, new.relation))
    if total.epsilon > budget * (1 + _ROUNDING):
        raise InputError(
            "budget",
            f"of ε = {budget:g} would be exceeded",
            f"ε = {total.epsilon:g} after this run",
            f"{total.epsilon - new.epsilon:g} is spent by {total.runs - 1} publishing runs",
        )
