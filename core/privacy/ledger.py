"""Total budget of all published releases of a graph.

Whoever collects every release gets the sum of their budgets (basic composition, Dwork et al., 2006,
Theorem 1). Units imply one another: ε-node DP is ε-edge DP; and link-local DP protects a link from
a reader of all reports by ε, or by 2ε if both ends report it (`Guarantee.epsilon_received`). So
every guarantee counts for one link, node guarantees also for one node; a run without a guarantee
for a unit makes its sum unbounded. The δ are added up as the ε are.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from core.errors import InputError
from core.release import Guarantee, Unit, find_largest_delta
from core.words import count_noun

Protected = Literal["edge", "node"]

COUNTED: dict[Protected, tuple[Unit, ...]] = {"edge": ("edge", "link", "node"), "node": ("node",)}
"""Unit, one link or one node → units whose guarantees cover it."""

PROTECTED: dict[Protected, str] = {"edge": "one link", "node": "one node"}

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
    epsilon, delta  as received; ε is None without a guarantee
    audit_id  the audit that it published a release of, as it was audited; "" without one
    """

    run: str
    made: str
    release: str
    unit: Unit
    relation: str
    epsilon: float | None
    delta: float
    audit_id: str = ""

    @staticmethod
    def of(run: str, made: str, release: str, guarantee: Guarantee, audit_id: str = "") -> Entry:
        """Entry of a release with this guarantee."""
        return Entry(
            run,
            made,
            release,
            guarantee.unit,
            guarantee.relation,
            guarantee.epsilon_received if guarantee.is_private else None,
            guarantee.delta_received,
            audit_id,
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


@dataclass(frozen=True)
class Budget:
    """Largest sums of ε and δ over all publishing runs.

    delta  None: `find_largest_delta`
    """

    epsilon: float
    delta: float | None = None

    def compute_delta(self, num_nodes: int) -> float:
        """Largest sum of δ on a graph of that size; InputError if it would promise nothing."""
        limit = find_largest_delta(num_nodes)
        if self.delta is not None and self.delta > limit:
            rule = f"must be at most 1/{num_nodes:,} = {limit:.2g}, one in the number of nodes"
            raise InputError("δ of the budget", rule, self.delta, "above it δ promises nothing")
        return limit if self.delta is None else self.delta


def parse_budget(value: object) -> Budget:
    """The budget of `EPS[,DELTA]`, of a number or of stored fields; raises InputError.

    >>> from core.privacy.ledger import parse_budget
    >>> parse_budget("2,1e-6")
    Budget(epsilon=2.0, delta=1e-06)
    """
    if isinstance(value, Budget):
        return value
    parts = list(value.values()) if isinstance(value, dict) else str(value).split(",")
    try:
        epsilon, *more = [None if part is None else float(part) for part in parts]
        delta = more[0] if more else None
        is_right = len(parts) <= 2 and epsilon is not None and 0 < epsilon < math.inf
        if is_right and epsilon is not None and (delta is None or 0 <= delta < 1):
            return Budget(epsilon, delta)
    except (TypeError, ValueError):
        pass
    rule = "must be EPS or EPS,DELTA: numbers, ε above 0 and δ from 0 to below 1"
    raise InputError("budget", rule, value, "such as --budget 10 or --budget 10,1e-6")


def check_budget(entries: Iterable[Entry], new: Entry, budget: Budget, num_nodes: int) -> None:
    """Raise InputError if `new` would take a sum above `budget`, or if earlier runs make unbounded
    the sum of a unit that `new` covers.

    num_nodes  of the graph, which bounds a δ that promises something
    """
    if new.epsilon is None:
        raise InputError(
            "release",
            "must guarantee differential privacy where a budget is set",
            new.release,
            "choose a private defense, or publish without --budget",
        )
    delta = budget.compute_delta(num_nodes)
    earlier = [entry for entry in entries if entry.run != new.run]
    for total in compute_totals([*earlier, new]):
        if not new.covers(total.unit):
            continue
        sums = (("ε", total.epsilon, budget.epsilon, new.epsilon),)
        for name, spent, limit, added in (*sums, ("δ", total.delta, delta, new.delta)):
            if spent > limit * (1 + _ROUNDING):
                raise InputError(
                    "budget",
                    f"of {name} = {limit:.6g} would be exceeded",
                    f"{name} = {spent:g} after this run",
                    f"{spent - added:g} is spent by {count_noun(total.runs - 1, 'publishing run')}",
                )
        if total.unbounded:
            unit, runs = PROTECTED[total.unit], count_noun(total.unbounded, "earlier run")
            raise InputError(
                "budget",
                f"of ε = {budget.epsilon:g} cannot hold for {unit}",
                f"{runs} without a guarantee for {unit}",
                "publish without a budget, or with a defense that protects what those runs protect",
            )
