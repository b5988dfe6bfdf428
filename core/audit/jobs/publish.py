"""A publishing run: one release with operating-system entropy, nothing of which is recorded.

An audit must be repeatable, so its noise comes from a seed; whoever knows the seed can take the
noise away again. What leaves the house is therefore made anew, by a seed that nobody keeps.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar

from pydantic import BaseModel
from sqlalchemy.engine import Row

from core.audit.describe import ReleaseRecord, count_changes, pack_release, unpack_release
from core.audit.jobs.kind import Jobs, Workplace
from core.audit.knowledge import tell_publisher
from core.audit.ledger import describe_totals, enter_release, new_run_id
from core.audit.plan import find_pairs, list_published, prepare_graph
from core.audit.provenance import describe_packages
from core.audit.publishing import PublishSpec
from core.audit.spec import AuditSpec
from core.audit.states import ACTIVE, State
from core.audit.store import files
from core.audit.store.database import Store
from core.audit.store.schema import JobRow
from core.audit.view import PublishProgress
from core.context import Context
from core.data.release_columns import leave_out_people
from core.data.splits import draw_threats
from core.device import compute_memory_budget, cpu_device, find_device
from core.errors import UnsupportedError
from core.graph import Graph
from core.privacy.ledger import NOT_COVERED, Total
from core.progress import Progress
from core.release import Release
from core.seeding import Seed
from core.threats import Threats

RETENTION_DAYS = 7
"""How long a published release is kept; it goes with its audit before that."""


class PublishJobs(Jobs[PublishSpec, PublishProgress]):
    """Each is a release of its own, kept RETENTION_DAYS days at most."""

    name: ClassVar[str] = "publishing"
    request: ClassVar[type[BaseModel]] = PublishSpec

    def start(self, spec: PublishSpec, audit_id: str | None = None) -> str:
        """Make one release in the background; returns the run's id."""
        self.sweep()
        return self.submit(spec, audit_id, release=spec.defense.id)

    def load_release(self, key: str) -> Release:
        """What a finished run made; InputError where it is not stored (any more)."""
        run = self.get(key)
        arrays = files.load_cell(self._store.home, key)
        graph = self._store.load_graph(run.spec.graph_hash)
        return unpack_release(ReleaseRecord.restore(run.description), arrays, graph)

    def sweep(self) -> None:
        """Delete the runs whose time is over."""
        over = (datetime.now(UTC) - timedelta(days=RETENTION_DAYS)).isoformat()
        self._delete(JobRow.created < over, JobRow.state.not_in(ACTIVE))

    def forget_graph(self, graph_hash: str) -> None:
        """Delete the runs of a graph that is no longer stored."""
        rows = self._store.list_jobs(JobRow.kind == self.name)
        keys = [row.key for row in rows if row.request["graph_hash"] == graph_hash]
        self._store.delete_jobs(keys)

    def _delete(self, *conditions: Any) -> None:
        rows = self._store.list_jobs(JobRow.kind == self.name, *conditions)
        self._store.delete_jobs([row.key for row in rows])

    @classmethod
    def uses_gpu(cls, request: PublishSpec) -> bool:
        return request.make_defense().info.uses_gpu

    @classmethod
    def compute(cls, request: PublishSpec, place: Workplace) -> dict[str, Any]:
        graph = place.load_graph(request.graph_hash)
        release = publish_release(graph, request, place.progress)
        provenance = enter_publishing(place.store, request, release, place.key)
        # What a defense learned of the original's links stays with nobody.
        record, arrays = pack_release(replace(release, link_scores=None), graph)
        place.save_arrays(arrays)
        return {"release": record.describe(), "provenance": provenance}

    @classmethod
    def read(cls, row: Row[Any], state: State) -> PublishProgress:
        result = row.result or {}
        return PublishProgress(
            row.key,
            state,
            row.progress,
            row.message,
            row.reason,
            row.seconds,
            spec=PublishSpec.model_validate(row.request),
            provenance=result.get("provenance", {}),
            description=result.get("release", {}),
        )


def publish_release(graph: Graph, spec: PublishSpec, progress: Progress | None = None) -> Release:
    """Defend the whole graph, less the sensitive links that `spec` names.

    Raises UnsupportedError where the defense declines.
    """
    defense = spec.make_defense()
    seed = Seed.from_entropy()
    threats = _set_up(graph, spec, seed.child("threats"))
    reason = defense.supports(threats.visible, threats)
    if reason:
        raise UnsupportedError(defense.label, f"cannot run here: {reason}")
    device = find_device() if defense.info.uses_gpu else cpu_device()
    context = Context(
        seed=seed.child("publish"),
        device=device,
        progress=progress or Progress(),
        memory_budget=compute_memory_budget(device),
        is_publishing=True,
    )
    release = defense.publish(threats.visible, threats, context)
    shown = list_published(_as_audit(spec), threats.visible)
    if shown is not None:
        release = replace(release, graph=release.graph.with_columns(shown))
    if release.guarantee.is_private:
        return release.strip()
    before = leave_out_people(graph, spec.leave_out)
    return replace(release, facts={**count_changes(before, release.graph), **release.facts})


def enter_publishing(
    store: Store, spec: PublishSpec, release: Release, run: str = ""
) -> dict[str, Any]:
    """Enter a release in the ledger of its graph, before anybody gets it; its provenance.

    run  id of the publishing run, by default a new one. InputError where it would exceed the
         spec's budget: such a release must not be handed out.
    """
    made = datetime.now(UTC).isoformat(timespec="seconds")
    totals = enter_release(store, spec.graph_hash, run or new_run_id(), made, release, spec.budget)
    return describe_publishing(release, made, totals)


def describe_publishing(
    release: Release, made: str = "", totals: tuple[Total, ...] = ()
) -> dict[str, Any]:
    """Provenance of a published release.

    No seed, and no hash of the original: who knows all but one link could try both graphs.
    totals  what all publishing runs of the graph have spent with this one
    """
    return {
        "made": made,
        "published_so_far": {"totals": describe_totals(totals), "note": NOT_COVERED},
        "randomness": "operating-system entropy, not recorded",
        **ReleaseRecord.of(release).describe(),
        **describe_packages(),
    }


def _as_audit(spec: PublishSpec) -> AuditSpec:
    return AuditSpec.model_validate(spec.model_dump(exclude={"defense", "budget"}))


def _set_up(graph: Graph, spec: PublishSpec, seed: Seed) -> Threats:
    """What the defense is told: the whole graph, and the threats that the owner named."""
    graph = prepare_graph(_as_audit(spec), graph)
    given = spec.sensitive_links
    threats = draw_threats(
        graph,
        seed,
        private=spec.private,
        utility=spec.utility,
        known=spec.known,
        hide_links=spec.hide_links,
        sensitive_links=None if given is None else find_pairs(graph, given),
        test_links=0.0,
        utility_train=spec.utility_train,
    )
    return tell_publisher(threats, spec.publisher_knows)
