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
from core.audit.store.database import Store
from core.audit.store.schema import AuditCellRow, AuditRow, GraphRow, JobRow
from core.audit.store.states import KEPT, State
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

START_S = 10.0
"""Start-up time of the workers. Instant cells do not show it, as the audit's own process
computes some of them."""

TELLING_S = 5.0
"""Expected seconds of finished cells above which their times dominate the model of the machine;
hundredths of a second are not informative about minutes."""

Source = Literal["own", "past", "typical", "class"]

DOUBT: dict[Source, float] = {"own": 1.4, "past": 1.8, "typical": 3.0, "class": 4.0}
"""Error factor of a cell's prediction by its source: cells of the same audit, earlier ones here,
`TYPICAL_S`, or its cost class alone. Errors of cells on one machine are correlated."""

CORRECTED = 0.7
"""Exponent of the factor once cells of the audit have shown the machine's current speed."""

NEAREST = 15
"""Maximum number of past cells used, nearest in size first."""

NEAR = 1.25
"""Maximum ratio of distances in size to that of the nearest past cell."""

FAR = 10.0
"""Ratio of sizes above which past times are averaged with typical ones."""


@dataclass(frozen=True)
class Task:
    """A cell for estimation: `size` in nodes and links of its release, `progress` 0 to 1 if
    running."""

    kind: str
    name: str
    cost: Cost
    size: float
    progress: float = 0.0


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
    kind: str, method: str, num_nodes: int, num_links: int, release: str = "", progress: float = 0.0
) -> Task:
    """The task of a cell, identified by method key and knowledge, not by settings.

    release  id of the release of a graph of `num_nodes` and `num_links`; "" the graph itself
    """
    name, cost = _format_method(kind, method)
    size = num_nodes + _expect_links(release, num_nodes, num_links)
    return Task(kind, name, cost, size, progress)


@lru_cache(maxsize=4096)
def _expect_links(release: str, num_nodes: int, num_links: int) -> float:
    if release in ("", ORIGINAL):
        return num_links
    return MethodChoice.parse(release, "defense").make_defense().expect_links(num_nodes, num_links)


@lru_cache(maxsize=4096)
def _format_method(kind: str, method: str) -> tuple[str, Cost]:
    if kind == "measure":
        part = PARTS.get(method)
        return method, part.cost if part else "seconds"
    bare, tokens = split_id(method)
    key, _, settings = bare.partition(":")
    if kind == "publish" and settings and MethodChoice.parse(bare).make().finds_strength:
        tokens = FINDING
    return (f"{key}@{tokens}" if tokens else key), find_method(key).info.cost


class TimeModel:
    """Predicts the seconds of one cell on one worker.

    Median time of the same method on the graphs nearest in size, scaled in proportion to nodes and
    links, and by the square root below `REFERENCE_SIZE`, where overhead dominates.
    """

    def __init__(self, past: Iterable[PastCell]) -> None:
        self._past: dict[tuple[str, str], list[PastCell]] = {}
        self._predicted: dict[Task, float] = {}
        for item in past:
            if item.seconds > 0:
                self._past.setdefault((item.kind, item.name), []).append(item)

    def find_source(self, task: Task) -> Source:
        """The source of `predict`."""
        if (task.kind, task.name) in self._past:
            return "past"
        return "class" if _find_typical(task) is None else "typical"

    def predict(self, task: Task) -> float:
        """Expected seconds: scaled past runs, else `TYPICAL_S`, else the cost class; the
        geometric mean of past and typical times if the sizes differ much. Found once a task: an
        audit has thousands of cells of a few kinds, and its progress is asked for every second."""
        key = replace(task, progress=0.0)
        if key not in self._predicted:
            self._predicted[key] = self._predict(task)
        return self._predicted[key]

    def _predict(self, task: Task) -> float:
        size = task.size
        first = (_find_typical(task) or DEFAULT_S[task.cost]) * _scale(size)
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
    is_started = any(task.cost != "instant" for task, _ in done)
    return TimeRange(wall / factor, wall * factor + (0.0 if is_started else START_S))


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
            task = make_task(row.kind, row.method, row.num_nodes, row.num_edges, row.release)
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


def _find_typical(task: Task) -> float | None:
    """Of the task, or of its method: who knows more runs the same one, more often."""
    own = task.name.partition("@")[0]
    return TYPICAL_S.get((task.kind, task.name), TYPICAL_S.get((task.kind, own)))


def _distance(first: float, second: float) -> float:
    return abs(math.log(max(first, 1) / max(second, 1)))


def _scale(size: float) -> float:
    """Time on a release of this size relative to `REFERENCE_SIZE`."""
    ratio = max(size, 1) / REFERENCE_SIZE
    return ratio if ratio > 1 else math.sqrt(ratio)


TYPICAL_S = {
    ("attack", "adjacency_regression"): 0.4,
    ("attack", "ai_deepwalk"): 1.2,
    ("attack", "ai_node2vec"): 1.5,
    ("attack", "attri_infer"): 0.4,
    ("attack", "best_single"): 6.0,
    ("attack", "block_model"): 3.5,
    ("attack", "colour_refinement"): 0.1,
    ("attack", "column_values"): 0.15,
    ("attack", "denoised_blocks"): 0.3,
    ("attack", "ego"): 0.15,
    ("attack", "ensemble"): 0.5,
    ("attack", "feature_boosting"): 0.4,
    ("attack", "feature_neighbourhood"): 0.7,
    ("attack", "feature_regression"): 0.15,
    ("attack", "gae_cosine"): 1.3,
    ("attack", "gae_svc"): 1.0,
    ("attack", "gat"): 3.0,
    ("attack", "gcn"): 1.3,
    ("attack", "gps"): 2.2,
    ("attack", "h2gcn"): 4.5,
    ("attack", "katz"): 0.7,
    ("attack", "mixhop"): 5.5,
    ("attack", "mlp"): 0.3,
    ("attack", "narayanan_shmatikov"): 0.1,
    ("attack", "ncn"): 11.0,
    ("attack", "neighbourhood_classifier"): 4.5,
    ("attack", "node2vec_cosine"): 1.5,
    ("attack", "node2vec_svc"): 0.1,
    ("attack", "pair_classifier"): 5.0,
    ("attack", "personalized_pagerank"): 1.5,
    ("attack", "sage"): 3.5,
    ("attack", "seal"): 5.2,
    ("attack", "seeded_percolation"): 0.15,
    ("attack", "structural_alignment"): 0.5,
    ("attack", "supervised_matcher"): 17.0,
    ("attack", "transport_matcher"): 64.0,
    ("publish", "betweenness_deletion"): 0.2,
    ("publish", "blink"): 1.3,
    ("publish", "dgg"): 0.03,
    ("publish", "dp_1k"): 0.02,
    ("publish", "dp_2k"): 0.02,
    ("publish", "dpggan"): 1.5,
    ("publish", "dpgvae"): 1.5,
    ("publish", "dpr"): 1.7,
    ("publish", "gap"): 0.4,
    ("publish", "gps_sampling"): 36.0,
    ("publish", "k_degree_anonymity"): 0.3,
    ("publish", "ldpgen"): 0.05,
    ("publish", "netfense"): 50.0,
    ("publish", "nettack"): 10.0,
    ("publish", "node_private"): 0.02,
    ("publish", "ppgsl"): 6.0,
    ("publish", "ppgsl@finding"): 60.0,
    ("publish", "ppne"): 0.3,
    ("publish", "ppne@finding"): 25.0,
    ("publish", "priv_graph"): 0.06,
    ("publish", "priv_hrg"): 0.3,
    ("publish", "priv_skg"): 0.1,
    ("publish", "privdpr"): 5.5,
    ("publish", "solitude"): 0.1,
    ("publish", "uniqueness_aware"): 0.2,
    ("measure", "homophily"): 0.02,
    ("measure", "structure"): 0.15,
    ("measure", "queries"): 0.15,
    ("measure", "pairs"): 0.02,
    ("measure", "utility"): 1.3,
}
"""(kind, key) → seconds on a graph of `REFERENCE_SIZE`; shared work counts once. Geometric means
over five graphs of 8 to 190 thousand nodes and links on two cores; matchers and most defenses over
two or three of 8 to 35 thousand."""
