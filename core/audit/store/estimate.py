"""Time estimates of audits, before and while they run, from the times of earlier cells."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from statistics import median
from typing import Literal

import sqlalchemy as sa

from core.audit.asked.knowledge import ADAPTIVE
from core.audit.asked.method_choice import MethodChoice
from core.audit.asked.parts import PARTS
from core.audit.asked.scenarios import split_id
from core.audit.store.costs import Shape, find_cost
from core.audit.store.database import Store
from core.audit.store.schema import AuditCellRow, AuditRow, GraphRow, JobRow
from core.audit.store.states import KEPT, State
from core.defenses.without_columns import WithoutColumns
from core.errors import AuditError
from core.methods import Cost
from core.registry import find_method
from core.release import ORIGINAL

DEFAULT_S: dict[Cost, float] = {"instant": 0.05, "seconds": 5.0, "minutes": 45.0}
"""Seconds by cost class of a method that never ran here, on a graph of `REFERENCE_SIZE`."""

REFERENCE_SIZE = 10_000
MIN_S = 0.02
MAX_PAST = 5_000
_CHUNK = 500

FINDING = "finding"
"""Token of the task of a defense that finds its strength, which takes several times as long."""

START_S = 3.0
"""Start-up time of the workers. Instant cells do not show it, as the audit's own process
computes some of them."""

TELLING_S = 5.0
"""Expected seconds of finished cells above which their times dominate the model of the machine;
hundredths of a second are not informative about minutes."""

Source = Literal["own", "past", "table", "class"]

DOUBT: dict[Source, float] = {"own": 1.4, "past": 1.7, "table": 1.7, "class": 4.0}
"""Error factor of a cell's prediction by its source: cells of the same audit, earlier ones here,
the table of costs, or its cost class alone. Errors of cells on one machine are correlated. An
empty home has the table: its range spans a factor of 2.9."""

CORRECTED = 0.7
"""Exponent of the factor once cells of the audit have shown the machine's current speed."""

NEAREST = 15
"""Maximum number of past cells used, nearest in size first."""

NEAR = 1.25
"""Maximum ratio of distances in size to that of the nearest past cell."""

FAR = 10.0
"""Ratio of sizes above which past times are averaged with the table's."""


@dataclass(frozen=True)
class Task:
    """A cell for estimation: `shape` of its release, `progress` 0 to 1 if running."""

    kind: str
    name: str
    cost: Cost
    shape: Shape
    progress: float = 0.0

    @property
    def size(self) -> float:
        """Nodes and links."""
        return self.shape.nodes + self.shape.links


@dataclass(frozen=True)
class PastCell:
    """Seconds of a past cell on a release of `size` nodes and links."""

    kind: str
    name: str
    size: float
    seconds: float


@dataclass(frozen=True)
class TimeRange:
    """Lower and upper end of an expected duration in seconds."""

    low: float
    high: float


def make_task(
    kind: str, method: str, shape: Shape, release: str = "", progress: float = 0.0
) -> Task:
    """The task of a cell, identified by method key and knowledge, not by settings.

    release  id of the release of a graph of this shape; "" the graph itself
    """
    name, cost = _format_method(kind, method)
    return Task(kind, name, cost, _expect_shape(release, shape), progress)


@lru_cache(maxsize=4096)
def _expect_shape(release: str, shape: Shape) -> Shape:
    if release in ("", ORIGINAL):
        return shape
    defense = MethodChoice.parse(release, "defense").make_defense()
    return shape._replace(links=defense.expect_links(int(shape.nodes), int(shape.links)))


@lru_cache(maxsize=4096)
def _format_method(kind: str, method: str) -> tuple[str, Cost]:
    if kind == "measure":
        part = PARTS.get(method)
        return method, part.cost if part else "seconds"
    bare, tokens = split_id(method)
    key, _, settings = bare.partition(":")
    if kind == "publish" and settings:
        defense = MethodChoice.parse(bare, "defense").make_defense()
        if isinstance(defense, WithoutColumns) and (inner := defense.make_inner()) is not None:
            return _format_method(kind, MethodChoice.of(inner).id)
        if defense.finds_strength:
            tokens = FINDING
    return (f"{key}@{tokens}" if tokens else key), find_method(key).info.cost


class TimeModel:
    """Predicts the seconds of one cell on one worker.

    Median time of the same method on the graphs nearest in size, scaled in proportion to nodes and
    links, and by the square root below `REFERENCE_SIZE`, where overhead dominates.

    speed  seconds here for each one of the table of costs; 1 for the same figure everywhere
    """

    def __init__(self, past: Iterable[PastCell], speed: float = 1.0) -> None:
        self._speed = speed
        self._past: dict[tuple[str, str], list[PastCell]] = {}
        self._predicted: dict[Task, float] = {}
        for item in past:
            if item.seconds > 0:
                self._past.setdefault((item.kind, item.name), []).append(item)

    def find_source(self, task: Task) -> Source:
        """The source of `predict`."""
        if (task.kind, task.name) in self._past:
            return "past"
        return "class" if find_cost(task.kind, task.name, task.shape) is None else "table"

    def predict(self, task: Task) -> float:
        """Expected seconds: scaled past runs, else the table of costs, else the cost class; the
        geometric mean of past and table if the sizes differ much. Found once a task: an
        audit has thousands of cells of a few kinds, and its progress is asked for every second."""
        key = replace(task, progress=0.0)
        if key not in self._predicted:
            self._predicted[key] = self._predict(task)
        return self._predicted[key]

    def _predict(self, task: Task) -> float:
        size = task.size
        cost = find_cost(task.kind, task.name, task.shape)
        first = (DEFAULT_S[task.cost] * _scale(size) if cost is None else cost) * self._speed
        known = self._past.get((task.kind, task.name), [])
        if not known:
            return max(first, MIN_S)
        nearest = sorted(known, key=lambda item: _distance(item.size, size))[:NEAREST]
        bound = _distance(nearest[0].size, size) + math.log(NEAR)
        nearest = [item for item in nearest if _distance(item.size, size) <= bound]
        found = median(p.seconds * _scale(size) / _scale(p.size) for p in nearest)
        is_far = _distance(nearest[0].size, size) > math.log(FAR)
        return max(math.sqrt(found * first) if is_far else found, MIN_S)


def estimate_time(
    model: TimeModel, left: Sequence[Task], done: Sequence[tuple[Task, float]], num_workers: int
) -> TimeRange:
    """Wall seconds for the cells `left`, as a range with 80 % nominal coverage (`python -m
    tests.benchmarks.estimates` measures it).

    done  finished cells of this audit with seconds, which calibrate methods and machine
    """
    own: dict[tuple[str, str], list[float]] = {}
    for task, seconds in done:
        if seconds > 0:
            own.setdefault((task.kind, task.name), []).append(seconds / _scale(task.size))
    typical = {key: median(known) for key, known in own.items()}
    correction, trust = _compare_machine(model, done)
    times, doubt = [], 0.0
    for task in left:
        known = typical.get((task.kind, task.name))
        whole = known * _scale(task.size) if known else model.predict(task) * correction
        factor = DOUBT["own"] if known else DOUBT[model.find_source(task)]
        power = 1.0 if known else 1.0 - trust * (1.0 - CORRECTED)
        times.append(whole * (1.0 - min(max(task.progress, 0.0), 1.0)))
        doubt += times[-1] * power * math.log(factor)
    total = sum(times)
    if not total:
        return TimeRange(0.0, 0.0)
    wall = max(total / max(num_workers, 1), max(times))
    factor = math.exp(doubt / total)
    if all(task.cost == "instant" for task, _ in done):
        wall += START_S
    return TimeRange(wall / factor, wall * factor)


def _compare_machine(model: TimeModel, done: Sequence[tuple[Task, float]]) -> tuple[float, float]:
    """Slowdown of this machine against the model, and its reliability, 0 to 1.

    Weighted median over finished cells, weights being expected seconds; shrunk towards 1 if little
    time was expected in total.
    """
    found = [(model.predict(task), seconds) for task, seconds in done if seconds > MIN_S]
    ratios = sorted((seconds / expected, expected) for expected, seconds in found)
    total = sum(weight for _, weight in ratios)
    half = total / 2
    for ratio, weight in ratios:
        half -= weight
        if half <= 0:
            trust = total / (total + TELLING_S)
            return float(ratio**trust), trust
    return 1.0, 0.0


def load_past(store: Store) -> list[PastCell]:
    """The latest finished cells of all audits, with the size of their graph."""
    query = (
        sa.select(
            JobRow.kind,
            JobRow.release,
            JobRow.method,
            JobRow.seconds,
            GraphRow.num_nodes,
            GraphRow.num_edges,
        )
        .join(AuditCellRow, AuditCellRow.cell_key == JobRow.key)
        .join(AuditRow, AuditRow.id == AuditCellRow.audit_id)
        .join(GraphRow, GraphRow.hash == AuditRow.graph_hash)
        .where(JobRow.state == State.DONE, JobRow.seconds > 0)
        .order_by(AuditRow.created.desc())
        .limit(MAX_PAST)
    )
    with store.read() as connection:
        rows = connection.execute(query).all()
    found = []
    for row in rows:
        if shares_result(row.release, row.method):
            continue
        try:
            shape = Shape(row.num_nodes, row.num_edges)
            task = make_task(row.kind, row.method, shape, row.release)
        except AuditError:  # a method that this version does not know
            continue
        found.append(PastCell(task.kind, task.name, task.size, row.seconds))
    return found


def shares_result(release: str, method: str) -> bool:
    """Whether a stored cell shares another one's result: adaptive attacks on the original."""
    known = split_id(method)[1].rpartition("+")[2]
    return release == ORIGINAL and known.startswith((ADAPTIVE.kind, "composition:"))


def find_kept(store: Store, keys: Sequence[str]) -> set[str]:
    """Keys of cells that are already stored."""
    found: set[str] = set()
    with store.read() as connection:
        for start in range(0, len(keys), _CHUNK):
            part = keys[start : start + _CHUNK]
            query = sa.select(JobRow.key).where(JobRow.key.in_(part), JobRow.state.in_(KEPT))
            found.update(connection.execute(query).scalars())
    return found


def _distance(first: float, second: float) -> float:
    return abs(math.log(max(first, 1) / max(second, 1)))


def _scale(size: float) -> float:
    """Time on a release of this size relative to `REFERENCE_SIZE`."""
    ratio = max(size, 1) / REFERENCE_SIZE
    return ratio if ratio > 1 else math.sqrt(ratio)
