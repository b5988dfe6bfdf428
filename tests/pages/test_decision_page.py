"""The Verdict page: questions before an audit, a verdict after it, a choice that is carried."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from core.audit.asked.release_info import parse_release
from core.audit.asked.spec import AuditSpec
from core.audit.store.estimate import TimeRange
from core.findings.channels import list_channels
from core.findings.guide import KNOWLEDGE
from core.findings.limit_scale import LimitScale
from core.findings.policy import find_policy
from core.findings.recipient import RECIPIENTS
from core.findings.verdict import judge
from core.findings.verdict_words import DECISION_TITLES, find_subject, list_deciding, title_deciding
from core.report import ReportOptions, format_dpia
from core.report.data import ReportData
from core.report.decision_page import build_verdict
from core.words import begin_sentence
from pages.ui import documents, estimate
from pages.ui.cards import STATE_ICONS
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
    for of, is_named in ((view, False), (replace(view, spec=spec), True)):
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
    matrix = app.table[0].value
    assert not any(" \\=" in name for name in matrix.columns)  # a head breaks before a setting
    assert len(matrix.columns) == len(verdict.releases)
    for column, release in zip(matrix.columns, verdict.releases, strict=True):
        assert matrix[column].iloc[0] == DECISION_TITLES[release.decision]
    assert verdict.recommended is None
    assert find_choice(app).value is None


def test_deciding_limits_have_bars_on_one_scale(open_app: OpenApp, audit_id: str, audited) -> None:
    app = open_app("decision", audit=audit_id)
    subject = find_subject(judge(audited[0].get_view(audit_id), find_policy("public")))
    checks = list_deciding(subject)
    heads = [item.value.replace("\\", "") for item in app.header]
    assert title_deciding(subject) in heads
    html = [item.proto.body for item in app.get("html")]
    bars = [body for body in html if body.startswith('<div class="limit-bar"')]
    assert len(bars) == len(checks) > 3
    scale = LimitScale.of(checks)
    for bar, check in zip(bars, checks, strict=True):
        assert f'<i style="left:{scale.place(1.0):.1%}">' in bar
        assert f'"{check.state}" style="width:{scale.place(check.severity):.1%}"' in bar
    assert f"from {scale.describe()} on a logarithmic scale" in texts(app)


def test_another_recipient_is_another_policy(open_app: OpenApp, audit_id: str) -> None:
    app = open_app("decision", audit=audit_id)
    app.segmented_control(key=f"policy-{audit_id}").set_value("internal").run()
    assert not app.exception
    assert "Policy: Internal, version" in texts(app)


def test_a_policy_laxer_than_that_of_the_recipient_is_warned_of(
    open_app: OpenApp, audited, audit_id: str, monkeypatch
) -> None:
    view = audited[0].get_view(audit_id)
    policy = find_policy("partner").model_dump(mode="json")
    purpose = {"recipient": RECIPIENTS["partner"]}
    spec = view.spec.model_copy(update={"policy": policy, "purpose": purpose})
    monkeypatch.setattr("pages.ui.cache.load_view", lambda _audit: replace(view, spec=spec))
    monkeypatch.setattr("pages.ui.cache.remember", lambda view, make, *more: make())
    app = open_app("decision", audit=audit_id)
    assert "laxer than that of the recipient" not in texts(app)
    app.segmented_control(key=f"policy-{audit_id}").set_value("internal").run()
    assert "Recipient: A partner under contract" in texts(app)
    assert any("laxer than that of the recipient" in item.value for item in app.warning)


def choose(app, audit_id: str, policy: str):
    app.segmented_control(key=f"policy-{audit_id}").set_value(policy).run()
    find_choice(app).set_value(RELEASE).run()


def test_a_choice_is_carried_to_publishing_which_refuses_or_asks(
    open_app: OpenApp, audit_id: str, audited
) -> None:
    view = audited[0].get_view(audit_id)
    app = open_app("decision", audit=audit_id)
    choose(app, audit_id, "partner")
    decision = judge(view, find_policy("partner")).find(RELEASE).decision
    assert decision != "publish"
    assert decision.replace("_", " ") in texts(app).lower()
    app.switch_page("../report.py").run()
    assert app.selectbox(key=f"publish-choice-{audit_id}").value.id == RELEASE
    assert app.button(key="publish").disabled
    shown = texts(app).replace("\\", "")
    assert "No column is published with the links. Attributes are, if you include" in shown
    refused = [item.value for item in app.error if "does not allow this release" in item.value]
    assert bool(refused) == (decision == "do_not_publish")
    if decision == "review":
        app.checkbox(key=f"publish-against-{RELEASE}").check().run()
        assert not app.button(key="publish").disabled


def test_a_later_recommendation_is_proposed_and_a_choice_by_hand_stays(
    open_app: OpenApp, audit_id: str, monkeypatch
) -> None:
    from pages.ui import policy

    recommended = {"now": None}
    monkeypatch.setattr(
        policy,
        "judge",
        lambda v, p: judge(v, p).model_copy(update={"recommended": recommended["now"]}),
    )
    monkeypatch.setattr(policy.cache, "remember", lambda view, make, *more: make())
    app = open_app("decision", audit=audit_id)
    assert find_choice(app).value is None
    recommended["now"] = RELEASE
    assert find_choice(app.run()).value == RELEASE
    find_choice(app).select_index(0).run()
    recommended["now"] = None
    assert find_choice(app.run()).value is None
    recommended["now"] = RELEASE
    assert find_choice(app.run()).value is None


def test_report_never_preselects_what_was_not_chosen(open_app: OpenApp, audit_id: str) -> None:
    app = open_app("report", audit=audit_id)
    box = app.selectbox(key=f"publish-choice-{audit_id}")
    assert box.value is None
    assert app.button(key="publish").disabled
    assert not any("original" in option.lower() for option in box.options)


def test_the_assessment_is_handed_out(open_app: OpenApp, audit_id: str, audited) -> None:
    app = open_app("report", audit=audit_id)
    labels = {button.proto.label for button in app.get("download_button")}
    assert {"Assessment (text)", "Assessment (JSON)"} <= labels
    view = audited[0].get_view(audit_id)
    for name, text in format_dpia(view, ReportOptions()).items():
        assert documents.make_dpia(view, ReportOptions(), name) == text.encode()


def test_a_decision_is_recorded_with_its_evidence(
    open_app: OpenApp, audit_id: str, audited
) -> None:
    app = open_app("decision", audit=audit_id)
    choose(app, audit_id, "partner")
    record = next(b for b in app.button if b.label == "Record the decision")
    record.click().run()
    assert any("who decides" in item.value for item in app.error)  # nobody was named
    app.text_input(key="decision-person").set_value("Ada *Lovelace*")
    app.text_input(key="decision-reason").set_value("the board agreed")
    next(b for b in app.button if b.label == "Record the decision").click().run()
    assert not app.exception
    view = audited[0].get_view(audit_id)
    (decision,) = view.decisions
    assert (decision.kind, decision.release, decision.reason) == (
        "chosen", RELEASE, "the board agreed",
    )  # fmt: skip
    assert decision.evidence["policy"] == "partner"
    expected = judge(view, find_policy("partner")).find(RELEASE)
    assert decision.evidence["decision"] == expected.decision
    assert "On record: Random deletion" in texts(app).replace("\\", "")
    assert "*Lovelace*" in texts(app).replace("\\", "")
    assert "Record the decision" not in [b.label for b in app.button]
    find_choice(app).select_index(0).run()
    app.text_input(key="decision-person").set_value("Ada *Lovelace*")
    next(b for b in app.button if b.label == "Withdraw the decision").click().run()
    kinds = [d.kind for d in audited[0].get_view(audit_id).decisions]
    assert kinds == ["chosen", "withdrawn"]
    app.switch_page("../report.py").run()
    assert any("Decisions on this graph: 2" in e.label for e in app.expander)


def test_what_is_handed_out_is_recorded_with_its_hash(audited, audit_id: str, monkeypatch) -> None:
    from pages.ui import decision_record, service

    monkeypatch.setattr(decision_record, "judge_view", lambda v: judge(v, find_policy("public")))
    service.use_service(audited[0])
    view = audited[0].get_view(audit_id)
    make = decision_record.record_handout(view, RELEASE, lambda: b"a release")
    count = len(view.decisions)
    assert len(audited[0].get_view(audit_id).decisions) == count  # not before it is handed out
    assert make() == b"a release"
    last = audited[0].get_view(audit_id).decisions[-1]
    service.use_service(None)
    assert last.kind == "published"
    # printf 'a release' | sha256sum
    assert last.file_hash == "e9edfb8e46f891370bda2772760ae14bc1572a2ce9263368cd5282dac3241eb8"
    assert last.evidence["policy"] == "public"


def test_a_page_without_a_policy_says_by_what_it_judges(open_app: OpenApp, audit_id: str) -> None:
    for page in ("decision", "tradeoff", "report"):
        app = open_app(page, audit=audit_id)
        assert "No recipient was chosen" in texts(app)
        assert "starting point, not law" in texts(app)
    app = open_app("decision", audit=audit_id)
    app.segmented_control(key=f"policy-{audit_id}").set_value("internal").run()
    assert "No recipient was chosen" not in texts(app)


def test_every_release_has_a_mark_for_every_limit(open_app: OpenApp, audited, audit_id) -> None:
    app = open_app("decision", audit=audit_id)
    verdict = judge(audited[0].get_view(audit_id), find_policy("public"))
    matrix = app.table[0].value
    for column, release in zip(matrix.columns, verdict.releases, strict=True):
        marks = [STATE_ICONS[check.state] for check in release.checks]
        assert [mark for mark in matrix[column].iloc[1:] if mark != "–"] == [
            mark for mark in marks if mark != "–"
        ]
    assert f"{STATE_ICONS['met']} met" in texts(app)


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
        [b for b in build_verdict(ReportData(view, o)) if "Channel" in b.get("columns", ())]
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
    monkeypatch.setattr("pages.ui.cache.remember", lambda view, make, *more: make())
    app = open_app("decision", audit=audit_id)
    assert f"{parse_release(RELEASE).title} could not be made: {reason}" in texts(app)
    assert list(app.table[0].value.columns) == ["Original"]


def test_every_page_tells_the_same_time_for_the_same_audit(
    open_app: OpenApp, example: str, audited, monkeypatch
) -> None:
    """A standard audit was 3 h on one page and 21 min on another."""
    monkeypatch.setattr(audited[0], "estimate_time", lambda spec: TimeRange(120, 300))
    estimate._estimate.clear()
    guide = open_guide(open_app, example)
    assert str(guide.radio(key="guide-preset-public").proto.captions).count("2 to 5 min") == 3
    attack = open_app("attack", graph=example)
    assert texts(attack).count("2 to 5 min") == 4  # three presets, and what is chosen
    defend = open_app("defend", graph=example)
    defend.checkbox(key="defense.random_deletion").check().run()
    assert "2 to 5 min on this computer" in texts(defend)
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


def test_no_private_column_is_offered_for_the_released_file(monkeypatch) -> None:
    """The second one is as private as the first."""
    from types import SimpleNamespace

    from core.release import Release
    from pages.ui import publishing

    graph = two_communities()
    columns = dict.fromkeys(("age", "illness", "city"), graph.attributes["private"])
    spec = SimpleNamespace(
        threats=SimpleNamespace(private="age", more_private=("illness",)),
        disclosure=SimpleNamespace(utility=None),
    )
    offered = []
    monkeypatch.setattr(
        publishing.st, "multiselect", lambda label, names, *more, **named: offered.extend(names)
    )
    release = Release(replace(graph, attributes=columns))
    publishing._choose_attributes(SimpleNamespace(spec=spec), release)
    assert offered == ["city"]
