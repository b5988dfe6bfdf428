"""Advice on one node as a job that belongs to its audit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from pydantic import BaseModel
from sqlalchemy.engine import Row

from core.audit.asked.spec import AuditSpec
from core.audit.computing.advice import Advice, AdviceRequest, compute_advice
from core.audit.jobs.job import JobContext, Jobs, make_key, read_progress
from core.audit.jobs.worker import limit_threads
from core.audit.results.view import JobProgress
from core.audit.store.states import State
from core.context import Context
from core.seeding import Seed


@dataclass(frozen=True)
class AdviceProgress(JobProgress):
    """Progress of advice on one node; `advice` is set once it is done."""

    advice: Advice | None = None


class AdviceJobs(Jobs[AdviceRequest, AdviceProgress]):
    """At most one per node and audit: a new one replaces the old one."""

    name: ClassVar[str] = "advice"
    request: ClassVar[type[BaseModel]] = AdviceRequest
    priority: ClassVar[int] = 50
    """Highest priority, since a user waits for it."""

    def start(self, audit_id: str, request: AdviceRequest) -> str:
        """Compute the advice anew, unless it is being computed already."""
        self._store.find_audit(audit_id)
        return self.submit(request, audit_id, method=request.attack.id)

    def find(self, audit_id: str, node: str) -> AdviceProgress | None:
        """None if no advice on the node was requested."""
        return self._look_up(self._find_key(audit_id, node))

    def cancel_node(self, audit_id: str, node: str) -> None:
        """Cancel the advice on this node; partial results are dropped."""
        self.cancel(self._find_key(audit_id, node))

    def list_done(self, audit_id: str) -> list[Advice]:
        """All finished advice of the audit, ordered by node id."""
        found = [run.advice for run in self.list(audit_id) if run.advice is not None]
        return sorted(found, key=lambda advice: advice.request.node)

    def _find_key(self, audit_id: str, node: str) -> str:
        return make_key(self.name, audit_id, node)

    @classmethod
    def format_parts(cls, request: AdviceRequest) -> tuple[Any, ...]:
        return (request.node,)

    @classmethod
    def uses_gpu(cls, request: AdviceRequest) -> bool:
        return request.attack.make("attribute_attack").info.uses_gpu

    @classmethod
    def compute(cls, request: AdviceRequest, job: JobContext) -> dict[str, Any]:
        assert job.audit_id is not None
        limit_threads()
        spec = AuditSpec.model_validate(job.store.find_audit(job.audit_id).spec)
        seed, uses_gpu = Seed(spec.root_seed), cls.uses_gpu(request)
        context = Context.build(seed, uses_gpu, progress=job.progress)
        graph = job.store.load_graph(spec.graph_hash)
        return compute_advice(spec, graph, request, context).model_dump(mode="json")

    @classmethod
    def read(cls, row: Row[Any], state: State) -> AdviceProgress:
        advice = Advice.model_validate(row.result) if row.result else None
        return AdviceProgress(**read_progress(row, state), advice=advice)
