"""Assembles stored cells into the tables that pages, figures, report and command line read."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterable
from functools import lru_cache
from itertools import product
from typing import Any, Generic, TypeVar

import numpy as np
import pandas as pd
from sqlalchemy.engine import Row

from core.audit.asked.attack import attach_referents, parse_attack
from core.audit.asked.confidence import compute_level
from core.audit.asked.knowledge import Auxiliary
from core.audit.asked.parts import list_parts
from core.audit.asked.release_info import ReleaseInfo
from core.audit.asked.scenarios import Scenario, list_scenarios
from core.audit.asked.spec import AuditSpec
from core.audit.computing.link_sample import SAMPLE, LinkSample
from core.audit.computing.prepared import PreparedAudit
from core.audit.computing.threat_sampling import draw_visible
from core.audit.jobs.claims import ClaimJobs
from core.audit.jobs.job import list_runs
from core.audit.jobs.layout import find_layout, find_partition
from core.audit.results.link_channels import make_link_channels
from core.audit.results.node_channels import make_node_channels
from core.audit.results.node_tables import (
    Groups,
    assemble_nodes,
    assemble_profile,
    assemble_rocs,
    format_part,
    list_done,
    list_made,
    list_read,
    list_releases,
    make_margin_loader,
)
from core.audit.results.view import (
    CELL_COLUMNS,
    CONTROL_COLUMNS,
    REPEATS,
    RESULT_COLUMNS,
    AuditSummary,
    AuditView,
    ReleaseSummary,
)
from core.audit.store import files
from core.audit.store.database import Store
from core.audit.store.describe import CellResult, ReleaseRecord
from core.audit.store.liveness import find_state
from core.audit.store.states import FINISHED, NOT_FINISHED, NOT_TESTED, State
from core.data.release_columns import leave_out_people
from core.graph import Graph
from core.measures.groups import measure_group_gap
from core.measures.intervals import LEVEL, add_variances, combine_measurements
from core.release import EMPIRICAL, ORIGINAL, Guarantee
from core.results import ONE_SCORE, RELEASE, Estimate, Measurement

T = TypeVar("T")


class Once(Generic[T]):
    """A function of no argument whose result is kept, for all threads that ask for it."""

    def __init__(self, make: Callable[[], T]) -> None:
        self._make, self._made, self._lock = make, list[T](), threading.Lock()

    def __call__(self) -> T:
        """The result, of the first call that ended without an error."""
        with self._lock:
            if not self._made:
                self._made.append(self._make())
            return self._made[0]


SAME_SCORE = "it gave every pair the same score, on the original too"
"""Reason of a method that measured nothing."""

CellMeasure = Callable[[Row[Any]], list[Measurement]]
"""Measurements derived from a finished cell when its table is assembled."""


def make_group_measure(store: Store, spec: AuditSpec, graph: Graph) -> CellMeasure:
    """group_gap of an attack's cell by the spec's grouping columns."""
    columns = [graph.column(column).codes for column in spec.groups]

    def measure(cell: Row[Any]) -> list[Measurement]:
        arrays = files.load_cell(store.home, cell.key, ("nodes", "risk", "base"))
        gain = arrays["risk"] - arrays["base"]
        return [measure_group_gap(arrays["nodes"], gain, columns)]

    return measure


def summarize(row: Row[Any], counts: dict[str, int]) -> AuditSummary:
    """One row of the history from the audit's row and its cell counts by state."""
    spec = AuditSpec.model_validate(row.spec)
    threats = ("link",) * spec.threats.has_links
    threats += ("attribute",) * (spec.threats.private is not None)
    threats += ("identity",) * (spec.threats.identity is not None)
    return AuditSummary(
        id=row.id,
        name=row.name,
        state=find_state(row),
        created=row.created,
        seconds=row.seconds,
        graph_name=spec.graph_name,
        graph_hash=row.graph_hash,
        num_nodes=row.num_nodes,
        num_edges=row.num_edges,
        cells_done=sum(counts.get(state, 0) for state in FINISHED),
        cells_total=sum(counts.values()),
        cells_failed=counts.get(State.FAILED, 0),
        threats=threats,
        attacks=tuple(parse_attack(c.id) for c in spec.attacks),
        defenses=tuple(ReleaseInfo(c.id, c.make_defense()) for c in spec.defenses),
        study=row.provenance.get("study"),
        search=row.provenance.get("search"),
        person=row.person,
        cells_skipped=counts.get(State.SKIPPED, 0),
        policy=str((spec.policy or {}).get("title", "")),
    )


def assemble_view(
    store: Store,
    row: Row[Any],
    load_graph: Callable[[str], Graph] | None = None,
    level: float | None = None,
    repeats: int | None = None,
) -> AuditView:
    """The view of a finished or running audit.

    level    of its intervals; None: the usual one, of a confirmation the one at which all of them
             hold together
    repeats  the first ones that it shows; None: all

    Tables of nodes and curves are read from their cells when they are first asked for. Raises
    DamagedError if one of these cells is incomplete.
    """
    spec = AuditSpec.model_validate(row.spec)
    if level is None:
        level = LEVEL if spec.confirmation_error is None else compute_level(spec)
    cells = [c for c in store.list_cells(row.id) if repeats is None or c.repeat < repeats]
    load = load_graph or store.load_graph
    groups: Groups = {}
    repeated = {
        (made.id, scenario.id)
        for made, (_, _, scenario) in product(list_made(spec), list_scenarios(spec))
        if not scenario.differs_on(made.defense)
    }
    for cell in sorted(cells, key=lambda c: c.repeat):
        if (cell.release, cell.method) in repeated:
            continue  # equal to the standard form, which has its rows
        key = {"publish": "", "measure": format_part(cell.method)}.get(cell.kind, cell.method)
        groups.setdefault((cell.release, key), []).append(cell)
    keys = {(c.release, c.repeat): c.key for c in cells if c.kind == "publish"}

    @lru_cache(maxsize=1)
    def load_visible(repeat: int) -> Graph:
        return draw_visible(PreparedAudit.load(spec, load), repeat)

    def load_release(release: str, repeat: int) -> Graph:
        visible = load_visible(repeat)
        if release == ORIGINAL:
            return visible
        return files.load_release(store.home, keys[release, repeat], visible)

    def load_sample(release: str) -> LinkSample:
        sample = LinkSample.unpack(files.load_cell(store.home, keys[release, 0], SAMPLE))
        # Releases made by earlier versions have none.
        return sample or LinkSample.draw(load_visible(0), load_release(release, 0))

    def load_link_scores(release: str, repeat: int) -> np.ndarray | None:
        key = keys[release, repeat]
        return files.load_cell(store.home, key, ("link_scores",)).get("link_scores")

    identity = spec.threats.identity
    second = None if identity is None else identity.auxiliary_graph
    link_channels = make_link_channels(
        store.home,
        row.graph_hash,
        second,
        spec.disclosure,
        lambda release: [cell.key for cell in list_done(groups, release, "")],
    )

    def find_made(release: str) -> list[tuple[str, int, str]]:
        done = list_done(groups, release, "")
        return [(cell.key, cell.repeat, _read_record(cell).content_hash) for cell in done]

    node_channels = make_node_channels(store.home, spec, load, load_visible, find_made)

    def load_graph_left() -> Graph:
        return leave_out_people(load(row.graph_hash), spec.disclosure.leave_out)

    for cell in list_read(groups):
        files.check_complete(store.home, cell.key)
    measure = (
        make_group_measure(store, spec, load_graph_left()) if spec.groups else _measure_nothing
    )
    devices = sorted({cell.device for cell in cells if cell.device})
    return AuditView(
        summary=summarize(row, _count_states(cells)),
        spec=spec,
        provenance={**row.provenance, "devices": devices},
        releases=tuple(_summarize_releases(spec, groups)),
        results=_assemble_results(spec, groups, measure, level),
        cells=assemble_cells(cells),
        control=_assemble_control(spec, groups),
        load_nodes=Once(lambda: assemble_nodes(store, spec, groups, load_graph_left())),
        load_profile=Once(lambda: assemble_profile(store, spec, groups, load_graph_left())),
        load_rocs=Once(lambda: assemble_rocs(store, spec, groups)),
        load_graph=load_graph_left,
        load_second_graph=lambda: None if second is None else load(second),
        load_layout=lambda: find_layout(store.home, load(row.graph_hash), load_graph_left()),
        load_communities=lambda: find_partition(
            store.home, load(row.graph_hash), load_graph_left()
        ),
        load_release=load_release,
        load_sample=load_sample,
        load_link_scores=load_link_scores,
        link_channels=link_channels,
        node_channels=node_channels,
        load_margins=make_margin_loader(store, groups),
        claims=list_runs(store, ClaimJobs, row.id),
    )


def assemble_cells(cells: Iterable[Row[Any]]) -> pd.DataFrame:
    """One row per cell, as `AuditView.cells` describes."""
    names = ["kind", "release", "method", "repeat", "state", "progress", "message"]
    names += ["seconds", "cpu_seconds", "device"]
    rows = [(*(getattr(cell, name) for name in names), cell.reason or cell.note) for cell in cells]
    table = pd.DataFrame(rows, columns=list(CELL_COLUMNS))
    return table.assign(state=table.state.map(str))


def _count_states(cells: Iterable[Row[Any]]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for cell in cells:
        counts[cell.state] = counts.get(cell.state, 0) + 1
    return counts


def _summarize_releases(spec: AuditSpec, groups: Groups) -> Iterable[ReleaseSummary]:
    original, *defended = list_made(spec)
    yield ReleaseSummary(original, EMPIRICAL)
    for info in defended:
        done = list_done(groups, info.id, "")
        guarantee, facts, curves = Guarantee(), {}, {}
        if done:
            record = _read_record(done[0])
            guarantee = record.guarantee
            names = [n for n, v in record.facts.items() if isinstance(v, int | float)]
            facts = {name: _combine_fact(name, done) for name in names}
            curves = {
                name: [(step, value) for step, value in points]
                for name, points in (done[0].curves or {}).items()
            }
        yield ReleaseSummary(info, guarantee, facts, curves)


def _read_record(cell: Row[Any]) -> ReleaseRecord:
    record = CellResult.restore(cell.result).release
    assert record is not None
    return record


def _combine_fact(name: str, cells: list[Row[Any]]) -> Estimate:
    values = [_read_record(cell).facts.get(name) for cell in cells]
    return combine_measurements([Measurement(name, value, n=1) for value in values])


def _assemble_results(
    spec: AuditSpec, groups: Groups, measure: CellMeasure, level: float
) -> pd.DataFrame:
    """Rows in the order of the spec: releases, attacks, then measures of the release.

    measure  what is measured from an attack's cell when the table is made
    """
    configs = {choice.id: choice for choice in spec.defenses}
    overlaps = {
        scenario.id: _compute_overlap(spec, scenario) for _, _, scenario in list_scenarios(spec)
    }
    rows = []
    for release in list_releases(spec):
        defense = configs.get(release)
        head = (release, defense.key if defense else ORIGINAL, defense.config if defense else {})
        for method, overlap in overlaps.items():
            cells = groups.get((release, method), [])
            tails = _combine_cells(cells, "auc", overlap, level, measure)
            if _gave_one_score(cells) and _gave_one_score(groups.get((ORIGINAL, method), [])):
                tails = map(_drop_figure, tails)
            rows += [(*head, method, *tail) for tail in tails]
        for part in list_parts(spec):
            cells = groups.get((release, format_part(part)), [])
            rows += [(*head, RELEASE, *tail) for tail in _combine_cells(cells, part, 1.0, level)]
    return attach_referents(pd.DataFrame(rows, columns=[*RESULT_COLUMNS, REPEATS]))


def _compute_overlap(spec: AuditSpec, scenario: Scenario) -> float:
    """Share of the evaluated items that two repeats have in common.

    Drawn links overlap by their share, hidden nodes by the unknown share; links and people named by
    the analyst are the same in every repeat.
    """
    if scenario.threat == "included":
        return 1.0
    if scenario.threat == "attribute":
        known = scenario.knowledge
        if isinstance(known, Auxiliary):
            return 1.0 - known.share
        return 1.0 if spec.threats.known_people is not None else 1.0 - spec.threats.known
    if scenario.threat == "identity":  # the same people in every repeat
        return 1.0
    if spec.threats.sensitive_links is not None or spec.threats.hide_links is None:
        return 1.0
    return spec.threats.hide_links


def _measure_nothing(cell: Row[Any]) -> list[Measurement]:
    return []


def _combine_cells(
    cells: list[Row[Any]],
    main: str,
    overlap: float,
    level: float,
    measure: CellMeasure = _measure_nothing,
) -> Iterable[tuple[object, ...]]:
    """metric, value, low, high, n, seeds, status, reason, repeats of one method on one release.

    Without a finished repeat, one row with the gravest state; none while a method that declined in
    some repeats still waits in others, because it may fail there.

    main  metric name of the row if nothing was measured
    """
    done = [cell for cell in cells if cell.state is State.DONE]
    ended = {state: [cell for cell in cells if cell.state is state] for state in NOT_FINISHED}
    lost = {state: own for state, own in ended.items() if own}
    if not done:
        gravest = next(iter(lost), None)
        is_open = gravest is State.SKIPPED and len(lost[gravest]) < len(cells)
        if gravest is not None and not is_open:
            yield main, None, None, None, 0, 0, gravest.value, lost[gravest][0].reason, {}
        return
    missing = "; ".join(
        f"{len(own)} of {len(cells)} repeats {state}: {own[0].reason}"
        for state, own in lost.items()
    )
    found = _group_measurements(done, "released", measure)
    estimates = {
        metric: combine_measurements(list(by_repeat.values()), overlap, level)
        for metric, by_repeat in found.items()
    }
    is_empty = not any(estimate.is_known for estimate in estimates.values())
    unknown = NOT_TESTED if is_empty else State.SKIPPED.value
    for metric, estimate in estimates.items():
        is_known, values = estimate.is_known, found[metric].items()
        yield (
            metric,
            estimate.value,
            _finite(estimate.low),
            _finite(estimate.high),
            estimate.n,
            estimate.seeds,
            State.DONE.value if is_known else unknown,
            missing if is_known else "; ".join(filter(None, [estimate.how, missing])),
            {repeat: item.value for repeat, item in values if item.value is not None},
        )


def _gave_one_score(cells: list[Row[Any]]) -> bool:
    """Whether an attack finished, and told no pair from any other in any repeat."""
    done = [cell for cell in cells if cell.state is State.DONE]
    return bool(done) and all(ONE_SCORE in cell.result["facts"] for cell in done)


def _drop_figure(tail: tuple[Any, ...]) -> tuple[object, ...]:
    """Columns as `_combine_cells` yields them, of an attack that measured nothing.

    One that tells pairs apart on the original and not on a release has measured that release: AUC
    0.5 is what the defense or a lack of links left it.
    """
    metric, *_, seeds, _, _, _ = tail
    return metric, None, None, None, 0, seeds, NOT_TESTED, SAME_SCORE, {}


def _group_measurements(
    cells: list[Row[Any]], population: str, measure: CellMeasure = _measure_nothing
) -> dict[str, dict[int, Measurement]]:
    """Metric → repeat → measurement on a population, from finished cells."""
    found: dict[str, dict[int, Measurement]] = {}
    for cell in cells:
        for item in (*CellResult.restore(cell.result).measurements, *measure(cell)):
            if item.population == population:
                found.setdefault(item.metric, {})[cell.repeat] = item
    return found


def _assemble_control(spec: AuditSpec, groups: Groups) -> pd.DataFrame:
    """`AuditView.control`, in the order of the results."""
    rows = []
    for release in list_releases(spec) if spec.control else ():
        for _, _, scenario in list_scenarios(spec):
            done = list_done(groups, release, scenario.id)
            released = _group_measurements(done, "released")
            overlap = _compute_overlap(spec, scenario)
            for metric, apart in _group_measurements(done, "control").items():
                tail = _compare_control(released[metric], apart, overlap, spec.control or 0.0)
                if tail is not None:
                    rows.append((release, scenario.id, metric, *tail))
    return attach_referents(pd.DataFrame(rows, columns=[*CONTROL_COLUMNS]))


def _compare_control(
    released: dict[int, Measurement], control: dict[int, Measurement], overlap: float, share: float
) -> tuple[object, ...] | None:
    """Columns of a row of `AuditView.control`; None if no repeat has both figures.

    The two groups of nodes are disjoint, so their sampling variances add up. Control nodes are
    redrawn and overlap between repeats by their share.
    """
    pairs = [(released[repeat], item) for repeat, item in control.items()]
    pairs = [(a, b) for a, b in pairs if a.value is not None and b.value is not None]
    if not pairs:
        return None
    own = combine_measurements([b for _, b in pairs], share)
    differences = [
        Measurement(
            "control_difference",
            a.value - b.value,
            add_variances(a.variance, b.variance),
            min(a.n, b.n),
        )
        for a, b in pairs
        if a.value is not None and b.value is not None
    ]
    weights = np.array([(a.variance or 0.0, b.variance or 0.0) for a, b in pairs]).mean(axis=0)
    mixed = float(weights @ (overlap, share) / weights.sum()) if weights.any() else 1.0
    added = combine_measurements(differences, mixed)
    ends = (added.value, _finite(added.low), _finite(added.high))
    return own.value, _finite(own.low), _finite(own.high), own.n, own.seeds, *ends


def _finite(value: Any) -> float | None:
    return None if value is None or not math.isfinite(value) else float(value)
