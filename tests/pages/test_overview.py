"""The Overview: what runs, what was decided, and that nothing is opened unasked."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
import streamlit as st

from core.audit.results.view import AuditProgress, AuditSummary
from core.audit.service import AuditService
from core.audit.store.estimate import TimeRange
from core.audit.store.states import State
from pages.ui import load_form, preparation
from pages.ui import service as pages_service
from tests.pages.conftest import PAGES, OpenApp
from tests.pages.test_pages import texts


@pytest.fixture
def only_audit(audited, audit_id, monkeypatch: pytest.MonkeyPatch) -> AuditSummary:
    """The tests' audit, alone in the list: those of other tests may be newer."""
    (stored,) = (audit for audit in audited[0].list_audits() if audit.id == audit_id)
    monkeypatch.setattr(audited[0], "list_audits", lambda: [stored])
    return stored


def test_it_offers_every_way_to_start_and_the_audits_before(
    open_app: OpenApp, only_audit: AuditSummary
) -> None:
    app = open_app("overview")
    assert len(app.segmented_control(key="load-way").options) == 3
    listed = [line.strip() for line in texts(app).splitlines()]
    app.button(key=f"open-{only_audit.id}").click().run()
    assert not app.exception
    assert app.session_state["audit"] == only_audit.id
    assert [title.value for title in app.title] == ["Release decision"]
    icons = (":material/help:", ":material/block:")
    decided = next(line for line in texts(app).splitlines() if line.startswith(icons))
    assert decided in listed  # "No release may be published" was said of a review


def test_the_history_has_decision_and_policy(
    open_app: OpenApp, audited, only_audit: AuditSummary, monkeypatch
) -> None:
    event = SimpleNamespace(selection=SimpleNamespace(rows=[0]))
    monkeypatch.setattr(st, "dataframe", lambda *_, **__: event)
    for policy, words in (("Internal", "Policy: Internal"), ("", "Policy: none was named")):
        found = [replace(only_audit, policy=policy)]
        monkeypatch.setattr(audited[0], "list_audits", lambda found=found: found)
        app = open_app("audits")
        assert words in [caption.value for caption in app.caption]
        assert ":material/block: Do not publish" in texts(app) or ":material/help:" in texts(app)


def test_the_form_is_shown_while_the_store_is_opened(open_app: OpenApp, monkeypatch) -> None:
    shown: list[str] = []
    monkeypatch.setattr(preparation, "wait", lambda: shown.append("store"))
    monkeypatch.setattr(load_form, "show_load_form", lambda: shown.append("form"))
    open_app("overview")
    assert shown == ["form", "store"]


def test_a_running_audit_is_shown_where_nothing_is_open(
    open_app: OpenApp, audited, audit_id, monkeypatch
) -> None:
    service = audited[0]
    stored = service.list_audits()
    running = [replace(audit, state=State.RUNNING) for audit in stored if audit.id == audit_id]
    progress = AuditProgress(State.RUNNING, 77, 123, 0.63, (), 60.0, "", TimeRange(120, 300))
    monkeypatch.setattr(service, "list_audits", lambda: running)
    monkeypatch.setattr(service, "get_progress", lambda audit_id: progress)
    app = open_app("overview")
    shown = [bar.proto.text for bar in app.get("progress")]
    assert "77 of 123 parts, 2 to 5 min left" in shown
    assert "graph" not in app.session_state
    assert not [button for button in app.button if button.label == "Resume the audit"]


def test_an_example_that_is_loaded_opens_its_data_page(open_app: OpenApp, example) -> None:
    app = open_app("overview")
    app.segmented_control(key="load-way").set_value("example").run()
    app.button(key="load-example").click().run()
    assert not app.exception
    assert app.session_state["graph"]
    assert [title.value for title in app.title] == ["Data"]
    assert any("is loaded" in item.value for item in app.success)


PICTURES = Path(__file__).parents[2] / "assets" / "overview"


@pytest.fixture
def empty(open_app: OpenApp, tmp_path, monkeypatch):
    """A service without a graph, which the pages use."""
    service = AuditService(tmp_path / "home")
    monkeypatch.setattr(service, "warm_up", lambda: None)
    pages_service.use_service(service)
    yield service
    service.close()


def test_a_finished_audit_opens_once(open_app: OpenApp, empty) -> None:
    app = open_app("overview")
    assert len(app.get("image")) == 3
    app.button(key="example").click().run()
    assert [title.value for title in app.title] == ["Release decision"]
    assert ":material/check_circle: Publish Blink" in texts(app)
    (summary,) = empty.list_audits()
    assert app.session_state["audit"] == summary.id
    assert summary.name == "Finished example"
    again = open_app("overview")
    assert not again.get("image")
    again.button(key="example").click().run()
    assert len(empty.list_audits()) == 1


@pytest.mark.nightly
def test_a_finished_audit_fills_every_page(open_app: OpenApp, empty) -> None:
    audit_id = empty.open_example()
    for page in ("attack", "risk", "map", "homophily", "defend", "tradeoff", "report"):
        app = open_app(page, audit=audit_id)
        assert [title.value for title in app.title] == [PAGES[page]]
        assert not app.info, page
        assert app.get("plotly_chart") or page == "report", page


def test_each_picture_is_there_in_both_themes() -> None:
    taken = {tuple(path.stem.split("-")) for path in PICTURES.iterdir()}
    assert len(taken) == 6
    assert {theme for _, theme in taken} == {"light", "dark"}
    assert len({name for name, _ in taken}) == 3


def test_the_button_of_an_audit_stays_beside_its_decision(
    open_app: OpenApp, only_audit: AuditSummary
) -> None:
    """At 1024 pixels a long decision went below its button."""
    app = open_app("overview")
    rows = [
        block.proto
        for block in find_blocks(app._tree.root)
        if str(getattr(block.proto, "id", "")).endswith(f"recent-{only_audit.id}")
    ]
    assert rows
    assert not any(row.flex_container.wrap for row in rows)


def find_blocks(block):
    for child in getattr(block, "children", {}).values():
        yield child
        yield from find_blocks(child)
