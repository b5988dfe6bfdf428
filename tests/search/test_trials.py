"""What trials and confirmations of searches may be taken for, and how often the data were asked."""

from __future__ import annotations

import json
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from core.audit.asked.method_choice import MethodChoice
from core.audit.asked.spec import SET_BY_SEARCH, AuditSpec
from core.audit.service import AuditService
from core.cli.audit_spec import _load_spec
from core.findings.evidence import TRIAL
from core.findings.recipient import RECIPIENTS
from core.findings.stopping import describe_repeats, explain_repeats
from core.findings.verdict import judge
from core.findings.verdict_words import describe_decision
from core.privacy.ledger import Entry
from core.release import Guarantee
from core.search.outcome import describe_headline, list_facts
from core.search.run import (
    PUBLISHED,
    SearchRequest,
    list_requests,
    read_search,
    run_search,
    share_error,
)
from core.search.strategy import Trial
from tests.search.test_search import POLICY, FakeAudits, bare_graph, make_request

CHOICE = MethodChoice.parse("random_deletion:strength=0.9", "defense")


@pytest.fixture(scope="module")
def graph():
    return bare_graph()


def make_view(graph, stage, mark):
    """An audit of one release within every limit, as a trial of this stage, with another mark."""
    spec = make_request(graph).make_spec(Trial(stage, 0, (CHOICE,)), 1)
    view = FakeAudits(graph)._make_view("a0", spec)
    search = None if mark is None else {"stage": mark}
    return replace(view, summary=replace(view.summary, search=search))


@pytest.mark.parametrize("mark", ["race", "screening"])
def test_a_trial_of_a_search_is_no_decision(graph, mark):
    """ "Publish Random deletion" stood above a release that the confirmation refused."""
    view = make_view(graph, "race", mark)
    verdict = judge(view, POLICY)
    assert verdict.find(CHOICE.id).decision == "review"
    assert verdict.find(CHOICE.id).open_points == (TRIAL,)
    assert describe_decision(verdict).endswith("but only the confirmation of its search decides.")
    assert explain_repeats(view, POLICY) == f"{TRIAL}."


def test_a_confirmation_and_an_audit_of_no_search_decide(graph):
    for mark in ("confirmation", None):
        view = make_view(graph, "race", mark)
        assert judge(view, POLICY).find(CHOICE.id).decision == "publish"
        assert judge(view, POLICY).find(CHOICE.id).open_points == ()


def test_settings_of_a_confirmation_confirm_nothing(graph, tmp_path):
    """Any audit with `--spec audit.json` of one was said to confirm what a search chose."""
    view = make_view(graph, "confirmation", "confirmation")
    assert "miss in at most 2.5 %" in describe_repeats(view)
    copied = replace(view, summary=replace(view.summary, search=None))
    assert "miss" not in describe_repeats(copied)
    assert "onfirms" not in explain_repeats(copied, POLICY)
    path = tmp_path / "audit.json"
    path.write_text(json.dumps({"spec": view.spec.model_dump(mode="json")}))
    spec = AuditSpec.check_spec(_load_spec(path))
    default = AuditSpec(graph_hash=spec.graph_hash)
    for name in SET_BY_SEARCH:
        assert getattr(view.spec, name) != getattr(default, name)
        assert getattr(spec, name) == getattr(default, name)
    again = SearchRequest.check(view.spec, {"links": 0.2}, graph)
    race = again.make_spec(Trial("race", 0, (CHOICE,)), 0)
    assert (race.confirmation_error, race.must_keep) == (None, {})


def test_a_recipient_is_kept_and_warned_of_in_the_same_search(graph):
    purpose = {"recipient": RECIPIENTS["public"]}
    request, audits = make_request(graph, purpose=purpose), FakeAudits(graph)
    assert request.id == make_request(graph).id
    progress = run_search(audits, make_request(graph))
    assert not any("is laxer than" in text for text in list_facts(progress))
    named = read_search(audits, request)
    assert named.audits == progress.audits, "the same trials"
    (told,) = [text for text in list_facts(named) if "is laxer than" in text]
    assert "The policy “House” is laxer than that of the recipient" in told
    assert request.make_spec(Trial("race", 0, (CHOICE,)), 0).purpose == purpose
    audits.start_audit(request.make_spec(Trial("race", 9, (CHOICE,)), 0), "", {
        "search": {**audits.list_audits()[0].search, "request": request.describe()}
    })  # fmt: skip
    (newest,) = list_requests(audits, graph.content_hash)
    assert newest.spec.purpose == purpose


def test_a_release_that_is_out_is_why_a_finished_search_is_open(graph):
    audits, request = FakeAudits(graph), make_request(graph)
    assert run_search(audits, request).search.state == "confirmed"
    audits.ledger = (Entry.of("r1", "2026-01-01T00:00:00+00:00", "dice", Guarantee()),)
    progress = read_search(audits, request)
    assert not progress.is_over
    assert describe_headline(progress) == f"Not decided, since {PUBLISHED}."
    (told,) = [text for text in list_facts(progress) if "published before" in text]
    assert "came nearest, but 1 release of this graph was published before" in told
    # One whose first confirmation is what is left to do is open for no such reason.
    audits.audits = {k: a for k, a in audits.audits.items() if a[1]["stage"] != "confirmation"}
    assert read_search(audits, request).stopped == ""


@pytest.fixture
def service(tmp_path, monkeypatch):
    monkeypatch.delenv("AUDIT_DATABASE", raising=False)
    service = AuditService(tmp_path)
    yield service
    service.close()


def test_the_error_is_of_all_confirmations_on_the_same_data(graph, service, monkeypatch):
    """The same people in another order had the whole error again, as had another person."""
    shuffled = graph.subgraph(np.random.default_rng(1).permutation(graph.num_nodes))
    other = graph.subgraph(np.arange(graph.num_nodes - 1))
    for one in (graph, shuffled, other):
        service.save_graph(one)
    assert shuffled.content_hash != graph.content_hash
    audits = FakeAudits(graph)
    run_search(audits, make_request(graph))
    marks = [{"search": mark} for _, mark, _ in audits.audits.values()]
    assert {mark["search"]["identity"] for mark in marks} == {graph.identity_hash}
    rows = [SimpleNamespace(provenance=each) for each in (*marks, {})]
    monkeypatch.setattr(service._store, "list_audits", lambda: rows)
    asked = [service.find_last_confirmation(g.content_hash) for g in (graph, shuffled, other)]
    assert asked == [1, 1, 0]
    errors = [share_error(1 + number) for number in (0, *asked[:1])]
    assert sum(errors) < 0.05
