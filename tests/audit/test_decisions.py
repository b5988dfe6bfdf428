"""Decisions: added, superseded, never edited; what they rest on stays with them."""

from __future__ import annotations

from dataclasses import asdict

import pytest
import sqlalchemy as sa

from core.audit.store.database import Store
from core.audit.store.decisions import (
    Decision,
    find_current,
    find_superseded,
    list_decisions,
    record_decision,
)
from core.audit.store.schema import DecisionRow
from core.errors import InputError

GRAPH = "a" * 64
EVIDENCE = {"policy": "public", "version": "1", "decision": "review", "limits": []}


def decide(kind: str = "chosen", release: str = "edge_rand:epsilon=3", **more) -> Decision:
    fields = {"graph_hash": GRAPH, "audit_id": "a1", "person": "Ada", "evidence": EVIDENCE}
    return Decision(kind=kind, release=release, **{**fields, **more})


@pytest.fixture
def store(tmp_path):
    opened = Store(tmp_path)
    yield opened
    opened.close()


def test_what_is_recorded_is_read_again_in_its_order(store):
    made = [
        decide(made=f"2026-03-0{day}T12:00:00.000+00:00", reason=f"reason {day}")
        for day in (1, 2, 3)
    ]
    for decision in reversed(made):
        record_decision(store, decision)
    assert list_decisions(store, GRAPH) == tuple(made)
    assert list_decisions(store, "b" * 64) == ()


@pytest.mark.parametrize(
    "statement", [sa.update(DecisionRow).values(person="Eve"), sa.delete(DecisionRow)]
)
def test_the_database_refuses_to_change_the_history(store, statement):
    decision = decide()
    record_decision(store, decision)
    with pytest.raises(sa.exc.DBAPIError, match="append-only"), store.write() as connection:
        connection.execute(statement)
    assert list_decisions(store, GRAPH) == (decision,)


def test_the_same_line_is_not_written_twice(store):
    decision = decide()
    record_decision(store, decision)
    with pytest.raises(sa.exc.IntegrityError):
        record_decision(store, decision)
    replace = sa.insert(DecisionRow).prefix_with("OR REPLACE", dialect="sqlite")
    with pytest.raises(sa.exc.IntegrityError), store.write() as connection:
        connection.execute(replace.values({**asdict(decision), "person": "Eve"}))
    assert list_decisions(store, GRAPH) == (decision,)


def test_the_last_choice_of_an_audit_holds_until_it_is_withdrawn():
    first = decide()
    other = decide(audit_id="a2")
    second = decide(release="random_deletion")
    handed = decide("published", file_hash="f" * 64)
    assert find_current([first, other], "a1") == first
    assert find_current([first, other, second, handed], "a1") == second
    assert find_superseded([first, other, second, handed]) == {first.id}
    gone = decide("withdrawn")
    assert find_current([first, second, gone], "a1") is None
    assert find_superseded([first, second, gone]) == {first.id, second.id}
    assert find_current([], "a1") is None


@pytest.mark.parametrize(
    "broken",
    [
        {"person": " "},
        {"person": "x" * 121},
        {"kind": "edited"},
        {"reason": "x" * 2_001},
        {"kind": "published"},
        {"file_hash": "f" * 64},
    ],
)
def test_what_is_no_decision_is_refused(broken):
    with pytest.raises(InputError):
        decide(**broken)
