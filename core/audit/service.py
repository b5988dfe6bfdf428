"""The audits of one AUDIT_HOME: start, watch, cancel, resume, read, delete.

One object serves all browser sessions of a server, or one command. Audits that other processes run
on the same home appear in the history too. No permission checks here: people go through
core.audit.access.authorised. Never imports torch.
"""

from __future__ import annotations

import secrets
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from core.audit.asked.publish_spec import PublishSpec
from core.audit.asked.spec import AuditSpec
from core.audit.assemble import assemble_cells, assemble_view, summarize
from core.audit.computing.cell import Cell
from core.audit.computing.plan import list_cells, list_first, plan_audit
from core.audit.computing.prepared import PreparedAudit
from core.audit.jobs.advice import AdviceJobs
from core.audit.jobs.claims import ClaimJobs
from core.audit.jobs.cluster import EmbeddedCluster, count_workers
from core.audit.jobs.coordinate import AuditRun, InFlight
from core.audit.jobs.engine import Engine, is_embedded
from core.audit.jobs.job import Jobs
from core.audit.jobs.layout import LayoutJobs
from core.audit.jobs.publish import PublishJobs
from core.audit.results.provenance import describe_run, describe_versions, is_outdated
from core.audit.results.view import (
    AuditProgress,
    AuditSummary,
    AuditView,
    PublishProgress,
    RunningCell,
    wrap_readers,
)
from core.audit.store.accounts import LOCAL
from core.audit.store.archive import EXAMPLE, add_packed, read_record
from core.audit.store.costs import Shape, find_speed
from core.audit.store.database import Store
from core.audit.store.decisions import Decision, list_decisions, record_decision
from core.audit.store.estimate import (
    TimeModel,
    TimeRange,
    estimate_time,
    find_kept,
    load_past,
    make_task,
    shares_result,
)
from core.audit.store.files import clear_flag, raise_flag
from core.audit.store.ledger import (
    Relative,
    assign_lineage,
    describe_revision,
    find_relative,
    list_entries,
)
from core.audit.store.liveness import find_state
from core.audit.store.states import FINAL, FINISHED, State
from core.audit.store.team import Team
from core.errors import DamagedError, InputError
from core.graph import Graph
from core.partitioned.graph import PartitionedGraph
from core.privacy.ledger import Entry
from core.release import Release

StoppingRule = Callable[[AuditSpec, int, Callable[[float], AuditView]], bool]
"""Whether an audit of a spec may end after so many repeats; the last argument assembles its view
with intervals of a given level."""

P = ParamSpec("P")
T = TypeVar("T")

_MAX_GRAPHS = 4
_MAX_VIEWS = 6
_MAX_RELEASES = 2


class AuditService:
    """Thread-safe. The cluster starts with the first cell that needs it.

    >>> import tempfile
    >>> from core import Graph
    >>> from core.audit.service import AuditService
    >>> service = AuditService(tempfile.mkdtemp())
    >>> graph_hash = service.save_graph(Graph.from_pairs([(0, 1), (1, 2)]))
    >>> service.load_graph(graph_hash), service.list_audits()
    (Graph('graph', nodes=3, links=2), [])
    >>> service.close()
    """

    def __init__(
        self,
        home: str | Path | None = None,
        stopping_rule: StoppingRule | None = None,
        cluster: EmbeddedCluster | None = None,
    ) -> None:
        """stopping_rule: for audits that may stop early; without one they run all repeats.
        cluster: an embedded cluster that is starting already."""
        self._stopping_rule = stopping_rule
        self._store = Store(home)
        self._engine = Engine(self._store.home, cluster)
        self._in_flight = InFlight()
        self._lock = threading.RLock()
        self._is_warm = False
        self._runs: dict[str, AuditRun] = {}
        self.claims = ClaimJobs(self._store, self._engine)
        self.advice = AdviceJobs(self._store, self._engine)
        self.publishing = PublishJobs(self._store, self._engine)
        self.team = Team(self._store)
        self.layouts = LayoutJobs(self._store, self._engine)
        self._kinds: tuple[Jobs[Any, Any], ...] = (
            self.claims,
            self.advice,
            self.publishing,
            self.layouts,
        )
        self.publishing.sweep()
        self._graphs: OrderedDict[str, Graph] = OrderedDict()
        self._models: OrderedDict[str, TimeModel] = OrderedDict()
        self._releases: OrderedDict[str, Release] = OrderedDict()
        self._ledgers: OrderedDict[str, tuple[Any, tuple[Entry, ...]]] = OrderedDict()
        self._views: OrderedDict[str, tuple[Any, AuditView]] = OrderedDict()

    @property
    def home(self) -> Path:
        return self._store.home

    def close(self) -> None:
        """Stop computing; running audits can be resumed."""
        with self._lock:
            runs = list(self._runs.values())
        for run in runs:
            run.stop()
        for run in runs:
            run.wait(5)
        for jobs in self._kinds:
            jobs.close()
        self._engine.close()
        self._store.close()

    def find_device_title(self) -> str:
        """Display name of the device: "NVIDIA H100" or "CPU (8 cores)"."""
        return self._engine.find_device_title()

    def warm_up(self) -> None:
        """Start the cluster in the background, once, before the first audit."""
        with self._lock:
            if not self._is_warm:
                self._is_warm = True
                self._engine.connect_early()

    def rest(self) -> None:
        """Stop the embedded cluster to free memory; it restarts with the next cell."""
        self._engine.rest()

    # -- graphs -----------------------------------------------------------------------------

    def save_graph(
        self, graph: Graph, person: str = LOCAL.subject, made_of: str | None = None
    ) -> str:
        """Store a graph that `person` loaded; returns its hash, by which specs name it.

        made_of  hash of the stored graph that it is a variant of
        """
        graph_hash = self._store.save_graph(graph, person)
        if isinstance(graph, PartitionedGraph):  # its links are elsewhere from now on
            graph = self._store.load_graph(graph_hash)
        self._remember(self._graphs, graph_hash, graph, _MAX_GRAPHS)
        return graph_hash

    def load_graph(self, graph_hash: str) -> Graph:
        """A stored graph; raises InputError if it is missing."""
        with self._lock:
            if graph_hash in self._graphs:
                self._graphs.move_to_end(graph_hash)
                return self._graphs[graph_hash]
        graph = self._store.load_graph(graph_hash)
        self._remember(self._graphs, graph_hash, graph, _MAX_GRAPHS)
        return graph

    def save_choice(
        self, graph_hash: str, choice: dict[str, Any], person: str = LOCAL.subject
    ) -> None:
        """Keep what `person` chose for a graph that they loaded, as JSON."""
        self._store.save_choice(graph_hash, choice, person)

    def find_choice(self, graph_hash: str, person: str = LOCAL.subject) -> dict[str, Any] | None:
        """What `save_choice` kept for a graph, None if nothing."""
        return self._store.find_choice(graph_hash, person)

    # -- audits -----------------------------------------------------------------------------

    def start_audit(
        self,
        spec: AuditSpec,
        name: str | None = None,
        marks: dict[str, Any] | None = None,
        person: str = LOCAL.subject,
    ) -> str:
        """Plan the audit and compute it in the background; returns its id at once.

        name    in the history; None: its graph, the policy's title and the day
        marks   additional provenance, such as the study it belongs to
        person  owner of the audit
        Cells computed by earlier audits are reused. Raises InputError if the threats cannot be
        drawn on the graph.
        """
        audit = PreparedAudit.load(spec, self.load_graph)
        for graph in (audit.source, *audit.held_graphs):
            self._store.save_graph(graph, None)
        spec, cells = audit.spec, plan_audit(audit)
        audit_id = secrets.token_hex(5)
        provenance = {**describe_run(spec), **(marks or {})}
        self._store.add_audit(audit_id, name or _format_name(spec), spec, cells, provenance, person)
        self._run(audit_id, (audit, cells))
        return audit_id

    def open_example(self, person: str = LOCAL.subject) -> str:
        """Id of this person's newest audit that is the finished example; stored if there is none.

        It is stored as computed, beside all other audits; the ledger is not touched.
        """
        spec = AuditSpec.model_validate(read_record(EXAMPLE)["spec"])
        known = self.find_same_audit(spec, person)
        return known or add_packed(self._store, EXAMPLE, person)

    def resume_audit(self, audit_id: str) -> None:
        """Compute missing and failed cells, unless the audit is running already."""
        self._store.find_audit(audit_id)
        self._run(audit_id)

    def cancel_audit(self, audit_id: str) -> None:
        """Cancel within a second, from any process; finished cells are kept."""
        row = self._store.find_audit(audit_id)
        if find_state(row).is_active:
            raise_flag(self.home, audit_id)

    def wait(self, audit_id: str, timeout: float | None = None) -> bool:
        """Wait for an audit of this process; False if it still runs after `timeout` s."""
        with self._lock:
            run = self._runs.get(audit_id)
        return run is None or run.wait(timeout)

    def delete_audit(self, audit_id: str) -> None:
        """Delete the audit and everything stored for it alone, cancelling it if it runs."""
        self.cancel_audit(audit_id)
        if not self.wait(audit_id, timeout=30):
            raise InputError("audit", "must have stopped to be deleted", audit_id, "try again")
        for jobs in self._kinds:
            jobs.cancel_all(audit_id)
        row = self._store.find_audit(audit_id)
        if find_state(row).is_active:
            raise InputError("audit", "runs in another process", audit_id, "wait until it stops")
        for graph_hash in self._store.delete_audit(audit_id):
            self.publishing.forget_graph(graph_hash)
            self.layouts.forget_graph(graph_hash)
        with self._lock:
            self._views.pop(audit_id, None)
            self._models.pop(audit_id, None)
            self._graphs.clear()
            self._releases.clear()
            self._runs.pop(audit_id, None)

    def find_same_audit(self, spec: AuditSpec, person: str = LOCAL.subject) -> str | None:
        """Id of this person's newest audit with exactly this spec, or None."""
        return self._store.find_same_audit(spec.normalized(), person)

    # -- reading ----------------------------------------------------------------------------

    def list_audits(self) -> list[AuditSummary]:
        """The history, newest first."""
        counts = self._store.count_cells()
        return [summarize(row, counts.get(row.id, {})) for row in self._store.list_audits()]

    def find_last_confirmation(self, graph_hash: str) -> int:
        """Number of the last confirmation of a search on a graph's data, in any order of its nodes
        and by whomever; 0 without one."""
        same = {graph_hash, self.load_graph(graph_hash).identity_hash}
        marks = [row.provenance.get("search") or {} for row in self._store.list_audits()]
        own = [m for m in marks if same & {m.get("graph_hash"), m.get("identity")}]
        return max((mark["confirmation"] for mark in own), default=0)

    def get_progress(self, audit_id: str) -> AuditProgress:
        """State, counts and running cells of an audit, from the store."""
        row = self._store.find_audit(audit_id)
        counts = self._store.count_cells(audit_id).get(audit_id, {})
        running = self._store.list_running(audit_id)
        cells = [
            RunningCell(
                c.kind,
                c.release,
                c.method,
                c.repeat,
                c.progress,
                c.message,
                {k: [(s, v) for s, v in points] for k, points in (c.curves or {}).items()},
            )
            for c in running
        ]
        done, total = sum(counts.get(state, 0) for state in FINISHED), sum(counts.values())
        state, note = self._find_end(audit_id) or (find_state(row), row.note)
        if state is State.RUNNING and not cells and done < total:
            note = "waiting for a free worker"
        return AuditProgress(
            state=state,
            cells_done=done,
            cells_total=total,
            fraction=(done + sum(cell.fraction for cell in cells)) / max(total, 1),
            running=tuple(cells) if state is State.RUNNING else (),
            seconds=row.seconds,
            note=note,
            time_left=self._estimate_left(audit_id, row.graph_hash)
            if state is State.RUNNING
            else None,
        )

    def estimate_time(self, spec: AuditSpec) -> TimeRange:
        """Expected wall seconds of an audit, excluding cells that are already stored."""
        audit = PreparedAudit.load(spec, self.load_graph)
        cells = [cell for cell in list_cells(audit) if not (cell.skip or cell.same_as)]
        kept = find_kept(self._store, [cell.key for cell in cells])
        shape = Shape.of(audit.graph)
        left = [
            make_task(cell.kind, cell.method, shape, cell.release)
            for cell in cells
            if cell.key not in kept
        ]
        return estimate_time(self.load_time_model(), left, [], count_workers())

    def load_time_model(self) -> TimeModel:
        """Time model from past cells and the speed of this machine."""
        return TimeModel(load_past(self._store), find_speed(self.home))

    def _estimate_left(self, audit_id: str, graph_hash: str) -> TimeRange:
        """Remaining time, from this audit's finished cells and past ones."""
        with self._lock:
            model = self._models.get(audit_id)
        if model is None:
            model = self.load_time_model()
            self._remember(self._models, audit_id, model, _MAX_VIEWS)
        columns = ("kind", "release", "method", "state", "progress", "seconds")
        shape, left, done = Shape.of(self.load_graph(graph_hash)), [], []
        for cell in self._store.list_cells(audit_id, *columns):
            if shares_result(cell.release, cell.method):
                continue
            if cell.state == State.DONE:
                done.append((make_task(cell.kind, cell.method, shape, cell.release), cell.seconds))
            elif cell.state not in FINAL:
                parts = cell.release, cell.progress
                left.append(make_task(cell.kind, cell.method, shape, *parts))
        return estimate_time(model, left, done, count_workers())

    def get_view(self, audit_id: str) -> AuditView:
        """The view of an audit, reassembled only after cells have finished."""
        row = self._store.find_audit(audit_id)
        counts = self._store.count_cells(audit_id).get(audit_id, {})
        claims = tuple((c.id, c.state) for c in self.claims.list(audit_id) if not c.is_active)
        finished = sorted((state, n) for state, n in counts.items() if state in FINAL)
        ledger = self._list_entries(row.graph_hash)
        decisions = list_decisions(self._store, row.graph_hash)
        known_of = (ledger, len(decisions), str(row.provenance))
        fingerprint = (find_state(row), claims, *known_of, *finished)
        with self._lock:
            known = self._views.get(audit_id)
        if known is not None and known[0] == fingerprint:
            if find_state(row) is not State.RUNNING:
                return known[1]
            cells = assemble_cells(self._store.list_cells(audit_id))
            return replace(known[1], summary=summarize(row, counts), cells=cells)
        try:
            view = assemble_view(self._store, row, self.load_graph)
        except DamagedError:
            if not self._set_damage_aside(audit_id):  # it is the graph that is damaged
                raise
            return self.get_view(audit_id)
        view = replace(view, ledger=ledger, decisions=decisions)
        view = wrap_readers(view, lambda read: self._watch_damage(audit_id, read))
        self._remember(self._views, audit_id, (fingerprint, view), _MAX_VIEWS)
        return view

    def _set_damage_aside(self, audit_id: str) -> int:
        """Queue damaged cells again and mark the audit as interrupted; returns their number."""
        damaged = self._store.requeue_damaged_cells(audit_id)
        if damaged and not find_state(self._store.find_audit(audit_id)).is_active:
            note = "stored parts were damaged: resume the audit to compute them again"
            self._store.update_audit(audit_id, state=State.INTERRUPTED, note=note)
        return damaged

    def _watch_damage(self, audit_id: str, read: Callable[P, T]) -> Callable[P, T]:
        """`read`, which sets the cells aside that it finds damaged before it raises."""

        def call(*args: P.args, **kwargs: P.kwargs) -> T:
            try:
                return read(*args, **kwargs)
            except DamagedError:
                self._set_damage_aside(audit_id)
                raise

        return call

    def _list_entries(self, graph_hash: str) -> tuple[Entry, ...]:
        """Publishing runs of a graph's lineage, cached until the ledger changes."""
        revision = describe_revision(self._store)
        with self._lock:
            known = self._ledgers.get(graph_hash)
        if known is None or known[0] != revision:
            known = revision, list_entries(self._store, self.load_graph(graph_hash))
            self._remember(self._ledgers, graph_hash, known, _MAX_VIEWS)
        return known[1]

    def find_relative(self, graph_hash: str) -> Relative | None:
        """Published graphs with the same data as one that is new to the ledger; to be shown
        before publishing."""
        return find_relative(self._store, self.load_graph(graph_hash))

    def assign_lineage(
        self, graph_hash: str, lineage: str, reason: str, person: str = LOCAL.subject
    ) -> None:
        """Count a graph's publishing runs with those of `lineage` only."""
        assign_lineage(self._store, self.load_graph(graph_hash), lineage, person, reason)

    def record_decision(self, decision: Decision, person: str = LOCAL.subject) -> str:
        """Append a decision by `person`; later ones supersede it."""
        record_decision(self._store, replace(decision, subject=person))
        return decision.id

    # -- publishing -------------------------------------------------------------------------

    def start_publish(
        self, spec: PublishSpec, audit_id: str | None = None, person: str = LOCAL.subject
    ) -> str:
        """Make one release with operating-system entropy; returns an id for `get_publish`.

        audit_id  the audit that it is shown and deleted with
        person    who prepares it; runs of others than the local user must be signed
        """
        self.load_graph(spec.graph_hash)
        return self.publishing.start(spec, audit_id, person)

    def sign_publish(self, publish_id: str, person: str = LOCAL.subject) -> None:
        """Sign a run that another person prepared."""
        self.publishing.sign(publish_id, person)

    def hand_out(self, publish_id: str) -> PublishProgress:
        """`get_publish` for download; raises InputError without a signed release."""
        run = self.get_publish(publish_id)
        if run.release is None:
            rule = "must be done and signed to be handed out"
            raise InputError("publishing run", rule, publish_id)
        return run

    def get_publish(self, publish_id: str) -> PublishProgress:
        """Progress of a run, with the release once it is done and signed."""
        run = self.publishing.get(publish_id)
        if run.state is not State.DONE or not run.signed_by:
            return run
        with self._lock:
            release = self._releases.get(publish_id)
        if release is None:
            release = self.publishing.load_release(publish_id)
            self._remember(self._releases, publish_id, release, _MAX_RELEASES)
        return replace(run, release=release)

    def set_notifier(self, notify: Callable[[str], object]) -> None:
        """Set the callback for one-line messages while waiting for database or disk."""
        self._store.notify = notify

    # -- inside -----------------------------------------------------------------------------

    def _run(self, audit_id: str, planned: tuple[PreparedAudit, list[Cell]] | None = None) -> None:
        """planned: the audit with its cells, if it was planned just now."""
        with self._lock:
            if audit_id in self._runs and not self._runs[audit_id].is_over:
                return
            lease = self._store.claim_audit(audit_id)
            if lease is None:
                return
            row = self._store.find_audit(audit_id)
            if planned is None:
                audit = PreparedAudit.load(AuditSpec.model_validate(row.spec), self.load_graph)
                cells = plan_audit(audit)
            else:
                audit, cells = planned
            spec = audit.spec
            self._store.replace_plan(lease, cells)
            if planned is None and is_outdated(spec, row.provenance):
                versions = {**row.provenance, **describe_versions(spec)}
                self._store.update_audit(audit_id, provenance=versions)
            clear_flag(self.home, audit_id)
            run = AuditRun(
                self._store,
                self._engine,
                self._in_flight,
                lease,
                spec,
                cells,
                row.seconds,
                first=list_first(audit, cells) if is_embedded() else (),
                is_decided=self._make_stopping_rule(audit_id, spec),
            )
            self._runs[audit_id] = run
            run.start()

    def _make_stopping_rule(self, audit_id: str, spec: AuditSpec) -> Callable[[int], bool] | None:
        """Function that decides whether the audit may end after so many repeats, or None. It sees
        no later ones, of which some parts may have been computed first or before a resume."""
        rule = self._stopping_rule
        if rule is None or not spec.stop_early:
            return None
        return lambda repeats: rule(
            spec,
            repeats,
            lambda level: assemble_view(
                self._store, self._store.find_audit(audit_id), self.load_graph, level, repeats
            ),
        )

    def _find_end(self, audit_id: str) -> tuple[State, str] | None:
        """Final state and note of a run of this process that could not be stored."""
        with self._lock:
            run = self._runs.get(audit_id)
        if run is None or not run.is_over or run.ended is None:
            return None
        return None if find_state(self._store.find_audit(audit_id)) is run.ended[0] else run.ended

    def _remember(self, cache: OrderedDict[str, Any], key: str, value: Any, limit: int) -> None:
        with self._lock:
            cache[key] = value
            cache.move_to_end(key)
            while len(cache) > limit:
                cache.popitem(last=False)


def _format_name(spec: AuditSpec) -> str:
    """ "social, Partner under contract, 27 Nov 2026"."""
    now = datetime.now(UTC)
    policy = str((spec.policy or {}).get("title", ""))
    return ", ".join(filter(None, (spec.graph_name, policy, f"{now.day} {now:%b %Y}")))
