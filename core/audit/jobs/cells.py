"""Computes one cell on a worker and stores its result or failure."""

from __future__ import annotations

import logging
import shutil
import sys
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from core.audit.asked.parts import PARTS
from core.audit.asked.spec import AuditSpec
from core.audit.computing.attacking import attack_release
from core.audit.computing.cell import (
    SHARED_NOTE,
    Cell,
    make_cell_seed,
    make_member_seeds,
    make_shared_seed,
)
from core.audit.computing.link_sample import LinkSample
from core.audit.computing.making import make_release
from core.audit.computing.prepared import PreparedAudit, list_seen
from core.audit.computing.threat_sampling import (
    draw_repeat,
    limit_publisher_knowledge,
    select_attacker,
)
from core.audit.jobs.worker import StoredProgress, limit_threads, thin_curves, work
from core.audit.store import files
from core.audit.store.database import Store, open_store
from core.audit.store.describe import (
    CellResult,
    count_changes,
    find_links,
    pack_release,
    to_json,
    unpack_release,
)
from core.audit.store.kept import KeptWork
from core.audit.store.retry import keep_trying
from core.audit.store.states import State
from core.context import BasePrediction, Context, SharedWork
from core.data.link_release import strip_link_columns
from core.data.release_columns import show_columns
from core.device import Device, compute_memory_budget, cpu_device, find_device
from core.errors import check_support
from core.graph import Graph
from core.methods import Defense
from core.release import ORIGINAL, Release
from core.threats import Threats

log = logging.getLogger(__name__)

_shared = SharedWork()
"""Shared work of this process, such as embeddings; seeded by its key, so any process may compute
it."""


@dataclass(frozen=True)
class Job:
    """Everything a worker needs: the store, the spec and the cell.

    followers  cells to compute next, which reuse the shared work of `cell`
    """

    home: str
    database: str
    audit_id: str
    spec: str
    cell: Cell
    followers: tuple[Cell, ...] = ()


@dataclass
class Outcome:
    """Result of a cell: JSON for the database and arrays for files."""

    result: CellResult
    arrays: files.Arrays
    curves: dict[str, list[tuple[float, float]]] | None = None
    links: Path | None = None
    """Folder of a release's links in partitions, which is removed when it is stored."""


def execute_cell(job: Job) -> State:
    """Compute and store a cell and its followers; returns the cell's final state and never raises
    for a method's failure."""
    store = open_store(job.home, job.database)
    state = compute_and_store(store, job)
    for cell in job.followers:
        compute_and_store(store, replace(job, cell=cell))
    return state


def compute_and_store(store: Store, job: Job) -> State:
    """As `execute_cell`, in a process with an open store."""
    cell = job.cell
    row = store.find_job(cell.key)
    if row is not None and row.state.is_kept:
        return State(row.state)
    if cell.upstream:
        release = store.find_job(cell.upstream)
        if release is None or release.state is not State.DONE:
            state = release.state if release is not None else State.FAILED
            reason = release.reason if release is not None else "it is no longer stored"
            if state not in (State.SKIPPED, State.CANCELLED):
                state = State.FAILED
            store.update_job(cell.key, state=state, message="", reason=f"no release: {reason}")
            return state
    if cell.same_as:
        same = store.find_job(cell.same_as)
        if same is None or same.state is not State.DONE:
            state = State.FAILED if same is None else same.state
            reason = "its standard form is no longer stored" if same is None else same.reason
            store.update_job(cell.key, state=state, message="", reason=reason)
            return state
    progress = StoredProgress(store, cell.key, job.audit_id)

    def compute() -> dict[str, Any]:
        if cell.same_as:
            outcome, device, note = _share_result(store, cell)
        else:
            outcome, device, note = _compute_with_retries(job, store, progress)
        save = partial(files.save_cell, store.home, cell.key, outcome.arrays, outcome.links)
        keep_trying(save, store.notify, progress.check)
        if outcome.links is not None:
            shutil.rmtree(outcome.links)
        return {
            "note": note,
            "device": device.title,
            "result": to_json(outcome.result.describe()),
            "curves": thin_curves(outcome.curves or progress.curves),
        }

    return work(store, cell.key, cell.label, progress, compute)


def load_threats(home: Path, spec: AuditSpec, repeat: int) -> Threats:
    """Threats of one repeat on the stored graph; the latest few are cached."""
    return _draw(str(home), spec.model_dump_json(), repeat)


def compute_cell(store: Store, spec: AuditSpec, cell: Cell, context: Context) -> Outcome:
    """Run the method of a cell; raises UnsupportedError if it does not apply."""
    threats = load_threats(store.home, spec, cell.repeat)
    if cell.kind == "publish":
        return _publish(cell, limit_publisher_knowledge(threats, spec.publisher_knows), context)
    release = _load_release(store, cell, threats)
    if cell.kind != "attack" or cell.scenario.threat != "identity":  # nobody else reads them
        threats = replace(threats, visible=strip_link_columns(threats.visible))
        release = replace(release, graph=strip_link_columns(release.graph))
    if cell.kind == "attack":
        if cell.scenario.threat != "identity":  # who looks for people is told which columns leave
            shown = show_columns(release.graph, list_seen(spec, release.graph, cell.release))
            release = replace(release, graph=shown)
        measurements, facts, arrays = attack_release(
            cell.make_method(),
            cell.scenario,
            release,
            select_attacker(spec, cell.scenario, cell.repeat, threats),
            context,
        )
        return Outcome(CellResult(tuple(measurements), facts), arrays)
    from core.audit.computing.measuring import measure_release

    measurements, arrays = measure_release(cell.method, release, threats, context)
    return Outcome(CellResult(tuple(measurements)), arrays)


def _publish(cell: Cell, threats: Threats, context: Context) -> Outcome:
    defense = cell.make_method()
    assert isinstance(defense, Defense)
    check_support(defense.label, defense.supports(threats.visible, threats))
    release = make_release(defense, threats, context)
    facts = {**count_changes(threats.visible, release.graph), **release.facts}
    record, arrays = pack_release(replace(release, facts=facts), threats.visible)
    arrays |= LinkSample.draw(threats.visible, release.graph).pack()
    links = find_links(release)
    return Outcome(CellResult(release=record), arrays, release.curves or None, links)


def _share_result(store: Store, cell: Cell) -> tuple[Outcome, Device, str]:
    """Result of the cell that this one shares."""
    row = store.find_job(cell.same_as)
    assert row is not None
    arrays = files.load_cell(store.home, cell.same_as)
    return Outcome(CellResult.restore(row.result), arrays), cpu_device(), SHARED_NOTE


def _compute_with_retries(
    job: Job, store: Store, progress: StoredProgress
) -> tuple[Outcome, Device, str]:
    """Compute; on out-of-memory retry in smaller chunks, then on the CPU, noting it."""
    spec, cell = AuditSpec.model_validate_json(job.spec), job.cell
    device = _find_device() if cell.uses_gpu else cpu_device()
    budget = compute_memory_budget(device)
    attempts = [(device, budget, ""), (device, budget // 4, "out of memory: smaller chunks")]
    if device.is_gpu:
        cpu = cpu_device()
        attempts.append((cpu, compute_memory_budget(cpu) // 4, "out of memory: on the CPU"))
    is_training = cell.uses_gpu or (cell.kind == "measure" and PARTS[cell.method].cost == "minutes")
    if is_training or "torch" in sys.modules:
        limit_threads()
    for number, (chosen, size, note) in enumerate(attempts, 1):
        context = Context(
            seed=make_cell_seed(spec, cell),
            shared_seed=make_shared_seed(spec, cell),
            device=chosen,
            progress=progress,
            memory_budget=size,
            shared=_shared,
            base_predictions=_load_base_predictions(store, spec, cell),
            kept=KeptWork(files.shared_folder(store.home, job.audit_id)),
        )
        try:
            return compute_cell(store, spec, cell, context), chosen, note
        except Exception as error:
            if not _is_out_of_memory(error) or number == len(attempts):
                raise
            log.warning("%s: %s", cell.label, error)
        _free_memory()
        progress.restart()
    raise AssertionError("the last attempt returns or raises")


def _load_base_predictions(store: Store, spec: AuditSpec, cell: Cell) -> dict[str, BasePrediction]:
    """Base models with the results of their own cells, if finished."""
    seeds = make_member_seeds(spec, cell)
    predictions = {}
    for name, key in zip(seeds, cell.members, strict=True):
        row = store.find_job(key)
        is_there = row is not None and row.state is State.DONE and files.is_whole(store.home, key)
        predictions[name] = BasePrediction(
            seeds[name], files.load_cell(store.home, key) if is_there else None
        )
    return predictions


def _load_release(store: Store, cell: Cell, threats: Threats) -> Release:
    if cell.release == ORIGINAL:
        return Release(threats.visible)
    row = store.find_job(cell.upstream)
    assert row is not None
    record = CellResult.restore(row.result).release
    assert record is not None
    arrays = files.load_cell(store.home, cell.upstream)
    links = files.cell_folder(store.home, cell.upstream) / files.LINKS
    return unpack_release(record, arrays, threats.visible, links)


@lru_cache(maxsize=4)
def _draw(home: str, spec: str, repeat: int) -> Threats:
    checked = AuditSpec.model_validate_json(spec)
    audit = PreparedAudit.load(checked, lambda name: _load_graph(home, name))
    return draw_repeat(audit, repeat)


@lru_cache(maxsize=3)
def _load_graph(home: str, graph_hash: str) -> Graph:
    return files.load_graph(Path(home), graph_hash)


@lru_cache(maxsize=1)
def _find_device() -> Device:
    return find_device()


def _is_out_of_memory(error: Exception) -> bool:
    return isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError"


def _free_memory() -> None:
    _shared.clear()
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available():
        torch.cuda.empty_cache()
