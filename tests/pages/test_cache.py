"""What pages keep for all sessions is that of the audit that is open."""

from __future__ import annotations

from core.audit.asked.spec import AuditSpec
from core.data.catalogue import load_dataset
from core.release import ORIGINAL
from pages.ui import cache
from tests.inline import run_inline

LEFT_OUT = ("3", "17")


def test_people_are_numbered_as_in_the_graph_that_was_audited(tmp_path, monkeypatch):
    """Whoever comes after somebody who was left out has another number than in the file."""
    monkeypatch.delenv("AUDIT_DATABASE", raising=False)
    graph = load_dataset("karate").graph
    fields = {
        "graph_hash": graph.content_hash,
        "hide_links": 0.1,
        "test_links": 0.0,
        "num_repeats": 1,
        "attacks": [{"key": "common_neighbors"}],
    }
    specs = [AuditSpec.check_spec({**fields, "leave_out": out}) for out in ((), LEFT_OUT)]
    whole, part = (run_inline(spec, graph, tmp_path) for spec in specs)
    assert cache.load_audit_graph(whole).index == graph.index
    numbers = cache.load_audit_graph(part).index
    assert set(graph.node_ids) - set(numbers) == set(LEFT_OUT)
    assert sorted(numbers.values()) == list(range(len(graph.node_ids) - len(LEFT_OUT)))
    released = part.load_release(ORIGINAL, 0)
    assert all(released.node_ids[number] == node for node, number in numbers.items())
    before = graph.index
    assert any(number != before[node] for node, number in numbers.items())
