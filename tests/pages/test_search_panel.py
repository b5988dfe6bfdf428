"""The search on the Decision page: asked, started, watched, and told as the command tells it."""

from __future__ import annotations

import threading
import time
from dataclasses import replace

import pandas as pd
import pytest

from core.audit.access.authorised import AuthorisedService
from core.figures import search_curves
from core.figures.search_curves import draw_search
from core.findings.recipient import RECIPIENTS
from core.privacy.ledger import Entry
from core.release import Guarantee
from core.search import ladders
from core.search.background import BackgroundSearches
from core.search.outcome import describe_headline, list_facts
from core.search.run import read_search, run_search
from pages.ui import search_panel
from tests.pages.conftest import OpenApp
from tests.pages.test_pages import texts
from tests.search.test_search import FakeAudits, bare_graph, make_request


@pytest.fixture
def show(monkeypatch, open_app: OpenApp, audit_id: str):
    """The Decision page with a search of these audits."""

    def call(audits, request):
        progress = read_search(audits, request)
        monkeypatch.setattr(search_panel, "list_requests", lambda *_: [request])
        monkeypatch.setattr(search_panel, "read_search", lambda *_: progress)
        search_panel._read_once.clear()  # known by its audits in the store, which has none of these
        return open_app("decision", audit=audit_id), progress

    return call


@pytest.mark.parametrize("risk", [lambda s: 0.8 - 0.3 * s, lambda s: 0.95 - 0.1 * s])
def test_page_and_command_tell_the_same(show, risk):
    graph = bare_graph()
    audits, request = FakeAudits(graph, risk), make_request(graph)
    run_search(audits, request)
    app, progress = show(audits, request)
    shown = texts(app).replace("\\", "")
    assert describe_headline(progress) in shown
    assert (
        "Policy: House. Secret: who is linked to whom, who is behind a pseudonym. "
        "To keep: at least 20 % of the links (F1)."
    ) in shown
    assert all(text in shown for text in list_facts(progress))
    assert ("search-open" in {b.key for b in app.button}) == (progress.search.state == "confirmed")


def test_a_search_that_left_a_defense_out_for_time_can_go_on(show, monkeypatch):
    graph = bare_graph()
    monkeypatch.setattr(
        ladders.TimeModel, "predict", lambda _model, task: 40.0 if "deletion" in str(task) else 0.0
    )
    audits, request = FakeAudits(graph), make_request(graph)
    run_search(audits, request, within=900.0)
    app, progress = show(audits, request)
    assert progress.search.state == "confirmed"
    assert {"search-open", "search-continue"} <= {button.key for button in app.button}


def test_a_search_that_is_not_over_can_be_continued(show, monkeypatch):
    graph = bare_graph()
    audits, request = FakeAudits(graph, slow=2), make_request(graph)
    run_search(audits, request, watch=lambda _progress: False)
    started = []
    monkeypatch.setattr(BackgroundSearches, "start", lambda *words: started.append(words[2]))
    app, _ = show(audits, request)
    assert any("What is finished is kept" in warning.value for warning in app.warning)
    app.button(key="search-continue").click().run()
    assert started == [request]


def test_what_is_asked_is_searched(open_app: OpenApp, audit_id, audited, monkeypatch):
    started = []
    monkeypatch.setattr(BackgroundSearches, "start", lambda *words: started.append(words[2:]))
    app = open_app("decision", audit=audit_id)
    app.slider(key="search-share-links").set_value(70).run()
    app.button(key="search-start").click().run()
    assert not app.exception
    ((request, within),) = started
    spec = audited[0].get_view(audit_id).spec
    assert request.useful == {"links": 0.7}
    assert within == 900
    asked = request.spec.threats
    assert asked.identity is not None, "people are looked for too"
    assert asked.model_copy(update={"identity": None}) == spec.threats
    assert request.spec.defenses == ()
    assert request.policy.key == "public"


def test_before_an_audit_the_answers_of_the_guide_are_searched(
    open_app: OpenApp, example: str, monkeypatch
):
    started = []
    monkeypatch.setattr(BackgroundSearches, "start", lambda *words: started.append(words[2]))
    running = {"is_running": True}
    monkeypatch.setattr(BackgroundSearches, "is_running", lambda *_: running["is_running"])
    app = open_app("decision", graph=example)
    app.radio(key="guide-recipient").set_value("internal").run()
    app.button(key="search-start").click().run()
    assert not app.exception
    assert started[0].policy.key == "internal"
    assert started[0].spec.purpose["recipient"] == RECIPIENTS["internal"]
    assert started[0].spec.graph_hash == example
    assert "The search is starting" in texts(app), "before its first audit is stored"
    running["is_running"] = False
    app.run()
    assert any("The search is not over" in warning.value for warning in app.warning)


def test_a_search_runs_beside_the_pages_until_it_is_stopped():
    graph = bare_graph()
    audits, request = FakeAudits(graph, slow=1), make_request(graph)
    searches = BackgroundSearches()
    thread = searches.start(audits, request)
    assert isinstance(thread, threading.Thread)
    assert searches.is_running(request.id)
    assert searches.start(audits, request) is None, "one at a time"
    while (progress := searches.find_progress(request.id)) is None:
        time.sleep(0.01)
    assert progress.current in ("a0", "a1")
    searches.stop(request.id)
    thread.join(30)
    assert not searches.is_running(request.id)
    assert searches.get_reason(request.id) == "it was stopped"
    assert audits.cancelled == ["a1"]


def test_an_error_in_the_background_is_told():
    graph = bare_graph()
    audits, request = FakeAudits(graph), make_request(graph)
    audits.get_progress = None
    searches = BackgroundSearches()
    searches.start(audits, request).join(30)
    assert searches.get_reason(request.id).startswith("TypeError")


def test_the_chart_shows_every_release_and_rings_the_confirmed_one():
    graph = bare_graph()
    audits = FakeAudits(graph)
    progress = run_search(audits, make_request(graph))
    chart = draw_search(progress)
    tried = {choice.id for trial in progress.search.trials for choice in trial.choices}
    assert set(chart.table.release) == tried
    rings = [
        w for trace in chart.figure.data if trace.mode == "markers" for w in trace.marker.line.width
    ]
    assert sum(w > 0 for w in rings) == len(progress.search.list_confirmed())
    row = chart.table[chart.table.release == "random_deletion:strength=0.443"].iloc[0]
    assert row.kept == pytest.approx(1 - 0.443 / 2)
    assert row.risk == pytest.approx(0.667 / 0.7, abs=0.02)


def test_releases_without_columns_are_hollow_points_of_their_defense(monkeypatch):
    tried = pd.DataFrame(
        [
            ("Blink", True, 0.5),
            ("EdgeRand", True, 0.7),
            ("Blink", False, 0.9),
            ("Rest", False, 2.0),
        ],
        columns=["defense", "has_columns", "risk"],
    ).assign(release="r", title="t", stage="race", limit="AUC", kept=0.5, is_confirmed=False)
    monkeypatch.setattr(search_curves, "tabulate_tried", lambda _progress: tried)
    points = [trace for trace in draw_search(None).figure.data if trace.mode == "markers"]
    hollow = {trace.name for trace in points if trace.marker.symbol.endswith("-open")}
    assert hollow == {"Blink", "Rest"}
    named = [trace.name for trace in points if trace.showlegend]
    assert named == ["Blink", "EdgeRand", "Rest"]
    looks = {(t.name, t.marker.color, t.marker.symbol.removesuffix("-open")) for t in points}
    assert len(looks) == len(named), "one look a defense"


def test_a_stored_search_is_read_again_only_when_an_audit_has_changed(
    open_app: OpenApp, audited, audit_id, monkeypatch
):
    graph = bare_graph()
    audits, request = FakeAudits(graph), make_request(graph)
    progress = run_search(audits, request)
    read, own = [], audits.list_audits()[:3]
    monkeypatch.setattr(search_panel, "list_requests", lambda *_: [request])
    monkeypatch.setattr(search_panel, "read_search", lambda *_: (read.append(1), progress)[1])
    usual = audited[0].list_audits
    monkeypatch.setattr(audited[0], "list_audits", lambda: [*own, *usual()])
    view = AuthorisedService.get_view
    monkeypatch.setattr(
        AuthorisedService,
        "get_view",
        lambda own, one: audits.get_view(one) if one in audits.audits else view(own, one),
    )
    search_panel._read_once.clear()
    app = open_app("decision", audit=audit_id)
    app.run()
    assert len(read) == 1
    own[0] = replace(own[0], cells_done=own[0].cells_done + 1)
    app.run()
    assert len(read) == 2
    audits.ledger = (Entry.of("r1", "2026-01-01T00:00:00+00:00", "dice", Guarantee()),)
    app.run()
    assert len(read) == 3, "it said that a release may leave after another one had left"
