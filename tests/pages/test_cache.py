"""What pages keep for all sessions is that of the audit that is open."""

from __future__ import annotations

from dataclasses import replace

import pytest

from core.audit.asked.spec import AuditSpec
from core.audit.jobs.claims import ClaimRun
from core.audit.store.states import State
from core.data.catalogue import load_dataset
from core.release import ORIGINAL
from pages.ui import cache
from tests.inline import run_inline
from tests.oracles.audits import make_audit

LEFT_OUT = ("3", "17")
JUDGED: list[int] = []
"""Not in a closure, whose values are part of the key."""

RUN = ClaimRun("c", State.DONE, 1.0, "", "", 1.0, release=ORIGINAL, trials=9)


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


@pytest.mark.parametrize("change", [{"claims": (RUN,)}, {"ledger": (1,)}, {"decisions": (1,)}])
def test_what_is_kept_of_an_audit_ends_with_whatever_changes_its_verdict(change):
    """A guarantee that a check refuted stayed cleared on the pages, and was not in the PDF."""
    view = make_audit({(ORIGINAL, "link", "auc"): 0.6}, ["katz"], [])
    cache._remember.clear()
    JUDGED.clear()

    def judge(of):
        cache.remember(of, lambda: JUDGED.append(1))

    judge(view)
    judge(view)
    assert len(JUDGED) == 1
    judge(replace(view, **change))
    assert len(JUDGED) == 2
    judge(replace(view, summary=replace(view.summary, state=State.CANCELLED)))
    assert len(JUDGED) == 3
