"""Two processes that coordinate one audit, and clocks an hour apart: only the later one writes."""

from __future__ import annotations

import threading

import pytest

from core.audit.assemble import assemble_view
from core.audit.computing.plan import plan_audit
from core.audit.computing.prepared import PreparedAudit
from core.audit.jobs import coordinate
from core.audit.jobs.coordinate import AuditRun, InFlight
from core.audit.results.export import describe_audit
from core.audit.store.database import Store
from core.audit.store.liveness import DatabaseTime
from tests.reliability.bad_days import GRAPH, SPEC, compute

CELLS = plan_audit(PreparedAudit.build(SPEC, GRAPH))


class SlowCluster:
    """One that is still starting: whoever coordinates computes the cells itself meanwhile."""

    def connect_early(self) -> threading.Thread:
        over = threading.Event()
        thread = threading.Thread(target=over.wait, args=(60,), daemon=True)
        thread.start()
        return thread


def coordinate_by(store: Store, lease) -> AuditRun:
    return AuditRun(store, SlowCluster(), InFlight(), lease, SPEC, CELLS, 0.0, first=CELLS)


@pytest.mark.parametrize("shift", [-3600.0, 3600.0])
def test_who_was_taken_for_dead_writes_nothing_more(tmp_path, monkeypatch, shift):
    """By the clock's jump: the first goes on while the second takes the audit over and ends it."""
    expected = compute(tmp_path / "sound")
    monkeypatch.setattr(coordinate, "HEARTBEAT_S", 0.0)
    sound = coordinate.compute_and_store
    store = Store(tmp_path / "home")
    try:
        store.save_graph(GRAPH)
        store.add_audit("a", "a", SPEC, CELLS, {})
        first = coordinate_by(store, store.claim_audit("a"))

        def compute_and_lose(own, job):
            state = sound(own, job)
            monkeypatch.setattr(coordinate, "compute_and_store", sound)
            store.update_audit("a", owner='["elsewhere", 1, 0.0]')
            assert store.claim_audit("a") is None  # it was heard of just now
            store.update_audit("a", heartbeat=DatabaseTime() + shift)
            second = coordinate_by(store, store.claim_audit("a"))
            second.run()
            assert second.ended[0] == "done"
            return state

        monkeypatch.setattr(coordinate, "compute_and_store", compute_and_lose)
        first.run()
        row = store.find_audit("a")
        assert first.ended is None
        assert (row.state, row.lease, row.note) == ("done", 2, "")
        assert describe_audit(assemble_view(store, row))["results"] == expected
    finally:
        store.close()
