"""Publishing runs: one release with operating-system entropy that is not recorded.

Audits are reproducible, so their noise comes from a seed and could be subtracted by anybody who
knows it. A release to hand out is therefore drawn anew.
"""

from __future__ import annotations

import secrets
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar

import sqlalchemy as sa
from pydantic import BaseModel
from sqlalchemy.engine import Row

from core.audit.asked.publish_spec import PublishSpec
from core.audit.asked.spec import AuditSpec
from core.audit.computing.making import make_release
from core.audit.computing.prepared import list_written, prepare_graph
from core.audit.computing.threat_sampling import draw_secrets, limit_publisher_knowledge
from core.audit.jobs.job import JobContext, Jobs, read_progress
from core.audit.results.provenance import describe_draw
from core.audit.results.view import PublishProgress
from core.audit.store import files
from core.audit.store.accounts import LOCAL
from core.audit.store.database import Store
from core.audit.store.describe import (
    ReleaseRecord,
    count_changes,
    find_links,
    pack_release,
    unpack_release,
)
from core.audit.store.ledger import enter_release
from core.audit.store.schema import JobRow, LedgerRow
from core.audit.store.states import ACTIVE, State
from core.context import Context
from core.data.link_release import shift_link_times
from core.data.release_columns import leave_out_people
from core.errors import InputError, check_support
from core.graph import Graph
from core.privacy.ledger import Total
from core.progress import Progress
from core.release import Release
from core.seeding import Seed
from core.threats import Threats

RETENTION_DAYS = 7
"""Days a published release is kept, unless its audit is deleted before."""


class PublishJobs(Jobs[PublishSpec, PublishProgress]):
    """Each run is its own release, kept at most RETENTION_DAYS days."""

    name: ClassVar[str] = "publishing"
    request: ClassVar[type[BaseModel]] = PublishSpec

    def start(
        self, spec: PublishSpec, audit_id: str | None = None, person: str = LOCAL.subject
    ) -> str:
        """Make one release in the background; returns the run's id.

        Runs of the local user are signed at once; others need a second person.
        """
        self.sweep()
        signed_by = LOCAL.subject if person == LOCAL.subject else ""
        return self.submit(
            spec, audit_id, release=spec.defense.id, person=person, signed_by=signed_by
        )

    def sign(self, key: str, person: str) -> None:
        """Sign a finished run in its row and in the ledger; the first signature stays.

        Raises InputError if it is not done or was prepared by the same person.
        """
        run = self.get(key)
        if run.state is not State.DONE:
            raise InputError("publishing run", "must be done to be signed", run.state)
        if run.prepared_by == person != LOCAL.subject:
            rule = "must be signed by another person than who prepared it"
            raise InputError("publishing run", rule, remedy="ask an approver")
        with self._store.write(is_durable=True) as connection:
            job = (JobRow.key == key) & (JobRow.signed_by == "")
            if connection.execute(sa.update(JobRow).where(job).values(signed_by=person)).rowcount:
                entry = sa.update(LedgerRow).where(LedgerRow.run == key)
                connection.execute(entry.values(signed_by=person))

    def load_release(self, key: str) -> Release:
        """Release of a finished run; raises InputError if it is not stored."""
        run = self.get(key)
        arrays = files.load_cell(self._store.home, key)
        graph = self._store.load_graph(run.spec.graph_hash)
        links = files.cell_folder(self._store.home, key) / files.LINKS
        return unpack_release(ReleaseRecord.restore(run.description), arrays, graph, links)

    def sweep(self) -> None:
        """Delete expired runs."""
        over = (datetime.now(UTC) - timedelta(days=RETENTION_DAYS)).isoformat()
        ended = (JobRow.kind == self.name, JobRow.created < over, JobRow.state.not_in(ACTIVE))
        self._store.delete_jobs([row.key for row in self._store.list_jobs(*ended)])

    @classmethod
    def uses_gpu(cls, request: PublishSpec) -> bool:
        return request.defense.make_defense().info.uses_gpu

    @classmethod
    def compute(cls, request: PublishSpec, job: JobContext) -> dict[str, Any]:
        graph = job.store.load_graph(request.graph_hash)
        release = publish_release(graph, request, job.progress)
        row = job.store.find_job(job.key)
        person = signed_by = LOCAL.subject
        if row is not None:
            person, signed_by = row.person, row.signed_by
        own = _find_own_audit(job.store, request, job.audit_id)
        provenance = enter_publishing(
            job.store, graph, request, release, job.key, person, signed_by, own
        )
        # What a defense learned of the original's links stays with nobody.
        record, arrays = pack_release(replace(release, link_scores=None), graph)
        job.save_arrays(arrays, find_links(release))
        return {"release": record.describe(), "provenance": provenance}

    @classmethod
    def read(cls, row: Row[Any], state: State) -> PublishProgress:
        result = row.result or {}
        return PublishProgress(
            **read_progress(row, state),
            spec=PublishSpec.model_validate(row.request),
            provenance=result.get("provenance", {}),
            description=result.get("release", {}),
            prepared_by=row.person,
            signed_by=row.signed_by,
        )


def publish_release(graph: Graph, spec: PublishSpec, progress: Progress | None = None) -> Release:
    """Defend the whole graph without the sensitive links that `spec` names.

    Its graph has no column, classes included, where the defense keeps none.

    Raises UnsupportedError if the defense does not apply.
    """
    defense = spec.defense.make_defense()
    seed = Seed.from_entropy()
    threats = _set_up(graph, spec, seed.child("threats"))
    check_support(defense.label, defense.supports(threats.visible, threats))
    context = Context.build(
        seed.child("publish"),
        defense.info.uses_gpu,
        progress=progress or Progress(),
        is_publishing=True,
    )
    release = make_release(defense, threats, context)
    rng = seed.child("shift").rng()
    shifted = shift_link_times(release.graph, spec.disclosure.generalize, rng)
    release = replace(release, graph=shifted)
    if spec.disclosure.names_columns or not defense.keeps_columns:
        shown = list_written(spec, release.graph, defense)
        release = replace(release, graph=release.graph.with_columns(shown))
    if release.guarantee.is_private:
        return release.strip()
    before = leave_out_people(graph, spec.disclosure.leave_out)
    return replace(release, facts={**count_changes(before, release.graph), **release.facts})


def check_ids(store: Store, graph_hash: str) -> None:
    """Raise InputError if an audit of the graph counts the ids as left out, which then must not
    leave unsaid."""
    audit = store.find_identity_audit(graph_hash)
    if audit is not None:
        raise InputError(
            "pseudonyms",
            f"must be chosen: audit {audit} of this graph looks for people behind pseudonyms and "
            "counts the ids as left out",
            "none",
            "replace the ids (--pseudonyms, in scripts pseudonyms=True), or say that they leave "
            "(--no-pseudonyms, pseudonyms=False)",
        )


def enter_publishing(
    store: Store,
    graph: Graph,
    spec: PublishSpec,
    release: Release,
    run: str = "",
    person: str = LOCAL.subject,
    signed_by: str = LOCAL.subject,
    audit_id: str = "",
) -> dict[str, Any]:
    """Enter a release of `graph` in its ledger before it is handed out; returns its provenance.

    run  id of the publishing run, by default a new one; audit_id  as in the ledger's `Entry`.
    Raises InputError if the spec's budget would be exceeded: such a release must not be handed out.
    Unsigned runs stay entered, since whoever prepared them has seen the release.
    """
    made = datetime.now(UTC).isoformat(timespec="seconds")
    totals = enter_release(
        store,
        graph,
        run or secrets.token_hex(8),
        made,
        release,
        spec.budget,
        person,
        signed_by,
        spec.lineage,
        audit_id,
    )
    return describe_publishing(release, made, totals)


def describe_publishing(
    release: Release, made: str = "", totals: tuple[Total, ...] = ()
) -> dict[str, Any]:
    """Provenance of a published release.

    Contains no seed and no hash of anything that stays behind, by which someone who knows all but
    one link, value or pseudonym could test each guess: the release's graph still has the private
    column and its own ids. Whoever writes the files adds the hash of what they contain.
    totals: budget spent by all publishing runs including this one.
    """
    record = ReleaseRecord.of(release).describe()
    del record["content_hash"]
    record["config"] = release.public_config
    return {**describe_draw(made, totals), **record}


def _find_own_audit(store: Store, run: PublishSpec, audit_id: str | None) -> str:
    """The audit that a run belongs to, if it makes one of its releases as it was audited; else "".

    A run with other columns or another threat is none that the audit's decision is about.
    """
    if audit_id is None:
        return ""
    try:
        audit = AuditSpec.model_validate(store.find_audit(audit_id).spec)
    except InputError:  # deleted since
        return ""
    made = run.model_copy(update={"budget": None, "lineage": None})
    asked = (PublishSpec.of_audit(audit, choice) for choice in audit.defenses)
    return audit_id if made in asked else ""


def _set_up(graph: Graph, spec: PublishSpec, seed: Seed) -> Threats:
    """Input of the defense: the whole graph, and the threats that the owner named."""
    threats = draw_secrets(spec, prepare_graph(spec, graph), seed, test_links=0.0)
    return limit_publisher_knowledge(threats, spec.publisher_knows)
