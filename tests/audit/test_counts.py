"""What has come to an end: a cancelled part has not."""

from __future__ import annotations

from types import SimpleNamespace

from core.audit.assemble import summarize
from core.audit.store.states import State


def test_cancelled_cells_are_not_counted_as_done(make_spec):
    row = SimpleNamespace(
        id="a", name="x", spec=make_spec().model_dump(mode="json"), state=State.CANCELLED,
        created="", seconds=1.0, graph_hash="h", num_nodes=1, num_edges=1, owner="",
        heartbeat=0.0, now=0.0, provenance={}, note="", person="local",
    )  # fmt: skip
    counts = {"done": 50, "failed": 2, "skipped": 10, "cancelled": 60, "queued": 3}
    summary = summarize(row, counts)
    assert (summary.cells_done, summary.cells_total) == (62, 125)
