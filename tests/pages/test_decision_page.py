"""The Verdict page: questions before an audit, a verdict after it, a choice that is carried."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from core.audit.asked.release_info import parse_release
from core.audit.asked.spec import AuditSpec
from core.audit.computing.prepared import list_written
from core.audit.store.estimate import TimeRange
from core.figures.limit_matrix import MARKS
from core.findings.channels import list_channels
from core.findings.guide import KNOWLEDGE
from core.findings.policy import find_policy
from core.findings.recipient import RECIPIENTS
from core.findings.verdict import judge
from core.findings.verdict_words import DECISION_TITLES, find_subject
from core.report import ReportOptions
from core.report.data import ReportData
from core.report.leaving import build_leaving
from core.words import begin_sentence
from pages.ui import estimate
from pages.ui.publishing import _describe_leaving
from tests.inline import run_inline
from tests.oracles.graphs import two_communities
from tests.pages.conftest import OpenApp, open_tab

RELEASE = "random_deletion:strength=0.5"
HALF = {"key": "random_deletion", "config": {"strength": 0.5}}


def texts(app) -> str:
    return "\n".join(item.value for item in [*app.markdown, *app.info, *app.caption, *app.warning])


def find_choice(app):
    return next(box for box in app.selectbox if box.label == "Chosen release")


def open_guide(open_app: OpenApp, graph: str, recipient: str = "public"):
    """The page without an audit, once the recipient is chosen."""
    app = open_app("decision", graph=graph)
    return app.radio(key="guide-recipient").set_value(recipient).run()


def test_the_recipient_is_asked_first_and_without_a_default(
    open_app: OpenApp, example: str
) -> None:
    app = open_app("decision", graph=example)
    assert [box.label for box in [*app.radio, *app.multiselect]] == ["Who receives it?"]
    assert app.radio(key="guide-recipient").value is None
    assert not [box for box in app.button if box.key in ("guide-run", "search-start")]
    assert "depend on the recipient" in texts(app)
    app.radio(key="guide-recipient").set_value("partner").run()
    assert find_policy("partner").summary in texts(app)


def test_another_audit_starts_from_the_recipient_of_the_open_one(
    open_app: OpenApp, audited, audit_id: str, monkeypatch
) -> None:
    view = audited[0].get_view(audit_id)
    policy = find_policy("partner").model_dump(mode="json")
    for asked, chosen in ((policy, "partner"), (None, None)):
        spec = view.spec.model_copy(update={"policy": asked})
        of = replace(view, spec=spec)
        monkeypatch.setattr("pages.ui.cache.load_view", lambda _audit, of=of: of)
        app = open_app("decision", audit=audit_id)
        app.session_state["start-over-False"] = True
        app.run()
        assert app.radio(key="guide-recipient").value == chosen


def test_the_recipient_follows_the_policy_chosen_on_the_page(
    open_app: OpenApp, audited, audit_id: str, monkeypatch
) -> None:
    view = audited[0].get_view(audit_id)
    own, named = find_policy("internal").model_dump(mode="json"), RECIPIENTS["internal"]
    spec = view.spec.model_copy(update={"policy": own, "purpose": {"recipient": named}})
    of = replace(view, spec=spec)
    monkeypatch.setattr("pages.ui.cache.load_view", lambda _audit: of)
    app = open_app("decision", audit=audit_id)
    assert f"Recipient: {named}. Policy: Internal" in texts(app)
    control = next(group for group in app.button_group if group.key == f"policy-{audit_id}")
    control.set_value("public").run()
    told = texts(app).replace("\\", "")
    assert f"Recipient: {RECIPIENTS['public']}. Policy: Public" in told
    assert f"Recipient: {named}" not in told


def test_what_can_clear_a_release_in_five_minutes_is_proposed_first(
    open_app: OpenApp, example: str, audited, monkeypatch
) -> None:
    """A first look that can only refuse is for those who cannot wait."""
    for seconds, proposed in ((300, "standard"), (301, "quick")):
        monkeypatch.setattr(
            audited[0], "estimate_time", lambda spec, s=seconds: TimeRange(s / 2, s)
        )
        estimate._estimate.clear()
        app = open_guide(open_app, example, "partner")
        assert app.radio(key="guide-preset-partner").value == proposed
    estimate._estimate.clear()


def test_the_questions_follow(open_app: OpenApp, example: str) -> None:
    app = open_guide(open_app, example)
    labels = [box.label for box in [*app.radio, *app.multiselect]]
    for question in (
        "Who receives it?",
        "What do they already know?",
        "What must not be learned?",
        "What do they need it for?",
    ):
        assert question in labels
    assert not app.button(key="guide-run").disabled
    assert 1 <= sum(str(box.key).startswith("guide-try-") for box in app.checkbox) <= 4
    assert "Can refuse a release" in str(app.radio(key="guide-preset-public").proto.captions)


def test_presets_name_adaptive_attacks_as_the_answers_have_them(
    open_app: OpenApp, example: str
) -> None:
    app = open_guide(open_app, example)
    app.radio(key="guide-preset-public").set_value("thorough").run()
    radio = app.radio(key="guide-preset-public")
    find = {box.label: box for box in app.multiselect}
    known = find["What do they already know?"]
    assert "method" in known.value
    assert all("adaptive ones too" in text for text in radio.options)
    known.set_value([key for key in known.value if key != "method"]).run()
    radio = app.radio(key="guide-preset-public")
    assert ["adaptive" in text for text in radio.options] == [False, False, True]
    assert radio.value == "thorough"


def test_nothing_secret_cannot_be_run(open_app: OpenApp, example: str) -> None:
    app = open_guide(open_app, example)
    box = next(box for box in app.multiselect if box.label == "What must not be learned?")
    box.set_value([]).run()
    assert app.button(key="guide-run").disabled


def test_a_confirmation_is_named_with_its_wider_intervals(
    open_app: OpenApp, audited, audit_id: str, monkeypatch
) -> None:
    view = audited[0].get_view(audit_id)
    spec = view.spec.model_copy(update={"confirmation_error": 0.01})
    summary = replace(view.summary, search={"stage": "confirmation"})
    copied = replace(view, spec=spec)
    confirming = replace(copied, summary=summary)
    for of, is_named in ((view, False), (copied, False), (confirming, True)):
        monkeypatch.setattr("pages.ui.cache.load_view", lambda _audit, of=of: of)
        said = texts(open_app("decision", audit=audit_id))
        assert ("Confirms what a search chose" in said) is is_named
        assert ("miss in at most 1 %" in said) is is_named


def test_the_verdict_of_an_audit_is_that_of_the_pure_function(
    open_app: OpenApp, audited, audit_id: str
) -> None:
    app = open_app("decision", audit=audit_id)
    view = audited[0].get_view(audit_id)
    verdict = judge(view, find_policy("public"))
    (heat,) = json.loads(app.get("plotly_chart")[0].proto.spec)["data"]
    drawn = [row for row in heat["text"] if any(row)]
    assert len(drawn) == len(verdict.releases)
    limits = {check.limit.name for release in verdict.releases for check in release.checks}
    for release in verdict.releases:
        states = Counter(MARKS[check.state] for check in release.checks)
        left_out = len(limits) - len([text for text in drawn[0] if text])
        states["–"] -= left_out  # optional, and tested on no release
        assert +states in [Counter(text[:1] for text in row if text) for row in drawn]
    assert "✓ met" in texts(app)


def test_what_leaves_is_one_table_on_the_page_and_in_the_report(
    open_app: OpenApp, audited, audit_id
) -> None:
    view, policy = audited[0].get_view(audit_id), find_policy("public")
    listed = list_channels(view, find_subject(judge(view, policy)).release)
    channels = [c for c in listed if c.name != "link weights"]
    assert len(channels) == len(listed) - 1, "the graph has none, which scripts are told"
    states = {c.treatment for c in channels}
    assert {"not attacked", "left out"} <= states
    app = open_app("decision", audit=audit_id)
    (fold,) = [fold for fold in app.expander if fold.label.startswith("What leaves: ")]
    num_out = sum(c.treatment == "left out" for c in channels)
    assert f"{len(channels) - num_out} of {len(channels)} channels, " in fold.label
    app.session_state["channels-open-False"] = True
    (shown,) = [t.value for t in app.run().table if "Channel" in t.value.columns]
    options = [ReportOptions(policy=policy, edition=name) for name in ("internal", "external")]
    internal, external = (
        [b for b in build_leaving(ReportData(view, o)) if "Channel" in b.get("columns", ())]
        for o in options
    )
    for table in (shown.to_numpy().tolist(), internal[0]["rows"]):
        rows = {row[0].replace("\\", ""): row for row in table}
        assert len(table) == len(rows) == len(channels)
        for channel in channels:
            kind, leaves, state, attacks = rows[begin_sentence(channel.name)][1:]
            assert (kind, state) == (channel.kind, channel.treatment)
            assert leaves == ("no" if channel.treatment == "left out" else "yes")
            assert attacks == ", ".join(channel.attacks)
    withheld = {begin_sentence(c.name) for c in channels if c.treatment == "left out"}
    assert withheld.isdisjoint(row[0] for row in external[0]["rows"])


def test_what_would_change_the_decision_is_a_button(open_app: OpenApp, audited, audit_id) -> None:
    from core.findings.guide import propose_changes

    view = audited[0].get_view(audit_id)
    verdict = judge(view, find_policy("public"))
    proposals = propose_changes(view, verdict, view.load_graph())
    app = open_app("decision", audit=audit_id)
    shown = [str(b.key) for b in app.button if str(b.key).startswith("change-")]
    assert shown
    assert set(shown) <= {f"change-{proposal.key}" for proposal in proposals}


def test_a_limit_can_be_read_in_figures(open_app: OpenApp, audit_id: str) -> None:
    app = open_tab(open_app("decision", audit=audit_id), "decision-tabs", "Each release")
    (limits,) = [t.value for t in app.table if "At most" in t.value.columns]
    assert {"State", "By"} <= set(limits.columns)


def test_the_guide_starts_the_audit_that_it_describes(
    open_app: OpenApp, example: str, audited, monkeypatch
) -> None:
    started = []
    monkeypatch.setattr(audited[0], "start_audit", lambda spec: started.append(spec) or "a1")
    app = open_guide(open_app, example)
    kept = [box.label.strip("*") for box in app.checkbox if str(box.key).startswith("guide-try-")]
    app.button(key="guide-run").click().run()
    (spec,) = started
    assert spec.graph_hash == example
    assert spec.threats.hide_links == 0.1
    assert kept
    assert set(kept) <= {parse_release(defense.id).title for defense in spec.defenses}


def test_the_guide_offers_to_end_early_where_repeats_can_be_saved(
    open_app: OpenApp, example: str, audited, monkeypatch
) -> None:
    """The quick look runs no more repeats than the policy asks for."""
    started = []
    monkeypatch.setattr(audited[0], "start_audit", lambda spec: started.append(spec) or "a1")
    app = open_guide(open_app, example)
    app.radio(key="guide-preset-public").set_value("quick").run()
    assert not any(str(box.key).startswith("guide-stop-early") for box in app.checkbox)
    (quick, *longer) = app.radio(key="guide-preset-public").captions
    assert "stops early" not in quick
    assert all("less if it stops early" in caption for caption in longer)
    for preset in ("thorough", "standard"):
        app.radio(key="guide-preset-public").set_value(preset).run()
        assert app.checkbox(key=f"guide-stop-early-{preset}").value
    app.button(key="guide-run").click().run()
    (spec,) = started
    assert spec.stop_early
    assert spec.policy is not None


def test_what_cannot_be_published_is_not_offered(open_app: OpenApp, audited, monkeypatch) -> None:
    """PPGSL protects named links; those that an audit draws are not withheld from a release."""
    monkeypatch.setattr("core.defenses.random_deletion.RandomDeletion.needs_links", True)
    monkeypatch.setattr("pages.ui.cache.remember", lambda view, make, *more: make())
    for page in ("decision", "report"):
        app = open_app(page, audit=audited[1])
        assert "cannot be published before its sensitive links are named on the Data page" in texts(
            app
        )
        boxes = [b for b in app.selectbox if b.label in ("Chosen release", "Release to publish")]
        assert all(RELEASE not in str(option) for box in boxes for option in box.options)
        assert all(len(box.options) <= 1 for box in boxes)


def test_a_release_that_could_not_be_made_is_told_with_its_reason(
    open_app: OpenApp, audit_id: str, monkeypatch
) -> None:
    """Everything for DICE was skipped and no page said why."""
    reason = "it needs sensitive links"
    monkeypatch.setattr("core.findings.verdict.find_not_made", lambda view: {RELEASE: reason})
    for remember in ("pages.ui.cache.remember", "pages.ui.chart.remember"):
        monkeypatch.setattr(remember, lambda view, make, *of: make(*of))
    app = open_app("decision", audit=audit_id)
    assert f"{parse_release(RELEASE).title} could not be made: {reason}" in texts(app)
    (matrix, *_) = app.get("plotly_chart")
    names = json.loads(matrix.proto.spec)["layout"]["yaxis"]["ticktext"]
    assert [name for name in names if not name.startswith("<b>")] == ["Original"]


def test_every_page_tells_the_same_time_for_the_same_audit(
    open_app: OpenApp, example: str, audited, monkeypatch
) -> None:
    """A standard audit was 3 h on one page and 21 min on another. No attack alone takes hours."""
    monkeypatch.setattr(audited[0], "estimate_time", lambda spec: TimeRange(30_000, 60_000))
    estimate._estimate.clear()
    guide = open_guide(open_app, example)
    assert str(guide.radio(key="guide-preset-public").proto.captions).count("8 to 17 h") == 3
    attack = open_app("attack", graph=example)
    assert texts(attack).count("8 to 17 h") == 4  # three presets, and what is chosen
    defend = open_app("defend", graph=example)
    defend.checkbox(key="defense.random_deletion").check().run()
    assert "8 to 17 h on this computer" in texts(defend)
    estimate._estimate.clear()


def test_the_guide_offers_only_knowledge_that_helps_to_learn_the_secret(
    open_app: OpenApp, example: str
) -> None:
    app = open_guide(open_app, example)
    find = {box.label: box for box in app.multiselect}
    find["What must not be learned?"].set_value(["links"]).run()
    (known,) = [b for b in app.multiselect if b.label == "What do they already know?"]
    assert known.options == [KNOWLEDGE["method"], KNOWLEDGE["links"]]
    assert known.value == ["method"]


def test_weights_that_leave_are_named_with_their_remedy(open_app: OpenApp, audited) -> None:
    graph = two_communities(40, seed=5)
    graph = replace(graph, weights=np.arange(1.0, graph.num_edges + 1))
    fields = {"graph_name": "calls", "graph_hash": graph.content_hash, "identity": {}}
    fields |= {"num_repeats": 1, "attacks": [{"key": "degree"}], "defenses": [HALF]}
    spec = AuditSpec.check_spec(fields)
    view = run_inline(spec, graph, audited[0].home, "weighted")
    told = _describe_leaving(view, view.spec.defenses[0].id)
    assert "link.weight" in told, "nobody named a column, and the weights leave"
    app = open_app("decision", audit=view.summary.id)
    warnings = "\n".join(item.value for item in app.warning)
    assert "ink weights leave and no attack finds people by them" in warnings
    assert "weight none" in warnings


@pytest.mark.parametrize("decision", ["review", "do_not_publish"])
def test_a_choice_that_is_not_cleared_is_warned_of(
    open_app: OpenApp, audit_id: str, monkeypatch, decision: str
) -> None:
    monkeypatch.setattr(
        "core.findings.verdict.ReleaseVerdict.decision", property(lambda verdict: decision)
    )
    app = open_app("decision", audit=audit_id)
    find_choice(app).set_value(RELEASE).run()
    assert f"{DECISION_TITLES[decision]}: " in "".join(item.value for item in app.warning)


def test_a_release_without_columns_is_handed_over_with_none() -> None:
    """One stored by an earlier version still has its classes."""
    from types import SimpleNamespace

    graph = two_communities(40, seed=5)
    fields = {"graph_hash": graph.content_hash, "identity": {}, "num_repeats": 1}
    defenses = [{"key": "without_columns"}, HALF]
    spec = AuditSpec.check_spec({**fields, "attacks": [{"key": "degree"}], "defenses": defenses})
    view = SimpleNamespace(spec=spec, load_graph=lambda: graph)
    bare, half = (choice.id for choice in spec.defenses)
    assert _describe_leaving(view, bare) == "No column is published with the links."
    named = spec.update(publish_columns=("private",))
    view = SimpleNamespace(spec=named, load_graph=lambda: graph)
    assert _describe_leaving(view, bare) == "No column is published with the links."
    assert "private" in _describe_leaving(view, half)
    made = {choice.id: choice.make_defense() for choice in spec.defenses}
    assert list_written(named, graph, made[bare]) == []
    assert list_written(named, graph, made[half]) == ["private"]


def test_no_private_column_is_in_the_released_file() -> None:
    """The second one is as private as the first."""
    graph = two_communities()
    columns = dict.fromkeys(("age", "illness", "city"), graph.attributes["private"])
    graph = graph.update_columns(attributes=columns)
    fields = {"private": "age", "more_private": ["illness"], "utility": "city"}
    fields |= {"graph_hash": graph.content_hash, "attacks": [{"key": "class_prior"}]}
    for generalize in ([], ["city:rare=2"]):
        spec = AuditSpec.check_spec({**fields, "generalize": generalize})
        assert {*columns} & {*list_written(spec, graph)} == {"city"}
