"""A page reads the store once for what several of its parts ask."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from dataclasses import replace

import pytest

from core.audit.service import AuditService
from core.audit.store.states import State
from pages.ui import drawing

VERBS = ("get_view", "get_progress")


def test_what_is_read_once_is_kept_until_the_page_is_drawn():
    read = iter("abcdef")
    assert drawing.read_once("k", lambda: next(read)) == "a"
    assert drawing.read_once("k", lambda: next(read)) == "b"  # no page is drawn
    with drawing.begin():
        assert [drawing.read_once("k", lambda: next(read)) for _ in range(2)] == ["c", "c"]
        drawing.forget("k")
        assert [drawing.read_once("k", lambda: next(read)) for _ in range(2)] == ["d", "d"]
    with suppress(KeyError), drawing.begin():
        assert drawing.read_once("k", lambda: next(read)) == "e"
        raise KeyError
    assert drawing.read_once("k", lambda: next(read)) == "f"
    drawing.forget("k")


@pytest.fixture
def count_reads(monkeypatch):
    found = Counter()

    def count(verb):
        bound = getattr(AuditService, verb)

        def call(self, audit_id):
            found[verb] += 1
            return bound(self, audit_id)

        call.__name__ = verb
        return call

    for verb in VERBS:
        monkeypatch.setattr(AuditService, verb, count(verb))
    return found


@pytest.mark.parametrize("name", ["risk", "defend", "homophily", "report"])
def test_a_page_reads_the_open_audit_once(open_app, audited, count_reads, name):
    app = open_app("overview", audit=audited[1])
    count_reads.clear()
    app.switch_page(f"../{name}.py").run()
    assert not app.exception
    assert count_reads == {"get_view": 1}  # and no progress of an audit that has ended


def test_an_audit_that_ends_while_its_page_waits_is_shown_as_ended(
    open_app, audited, count_reads, monkeypatch
):
    """The frame saw it running; nothing would draw the page again."""
    app = open_app("overview", audit=audited[1])
    read = AuditService.get_view
    count_reads.clear()

    def get_view(self, audit_id):
        view = read(self, audit_id)
        is_first = count_reads["get_view"] == 1
        running = replace(view.summary, state=State.RUNNING)
        return replace(view, summary=running) if is_first else view

    monkeypatch.setattr(AuditService, "get_view", get_view)
    app.switch_page("../risk.py").run()
    assert not app.exception
    assert count_reads == {"get_view": 2, "get_progress": 1}
    assert not [info for info in app.info if "is running" in info.value]
