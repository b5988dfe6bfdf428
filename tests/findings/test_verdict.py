"""May it leave? All threats together; missing evidence never clears anything."""

from __future__ import annotations

import json
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.attacks.identity.faq_matcher import FaqMatcher
from core.audit.asked import scenarios
from core.audit.asked.attack import parse_attack
from core.audit.asked.method_choice import MethodChoice
from core.audit.asked.presets import PRESETS, Asked, choose_attacks
from core.audit.asked.release_info import parse_release
from core.audit.asked.scenarios import list_scenarios
from core.audit.results.node_channels import NodeChannels
from core.audit.results.node_risks import NODE_COLUMNS
from core.findings.evidence import find_evidence
from core.findings.policy import Limit, Policy, find_policy, list_policies
from core.findings.required_attacks import is_full, list_lacking
from core.findings.verdict import SEVERITY, Check, find_least_severe, judge
from core.findings.verdict_words import (
    describe_decision,
    explain_check,
    explain_others,
    find_subject,
    list_deciding,
)
from core.registry import parse_method
from core.release import ORIGINAL, Guarantee, Release
from core.report.data import ReportData
from core.report.decision_page import list_choices
from core.report.options import ReportOptions
from tests.oracles.audits import UNREHEARSED, list_attack_keys, make_audit, make_noise
from tests.oracles.graphs import two_communities

ATTACKS = list_attack_keys()
RELEASE = "random_deletion"
NAMES = (ORIGINAL, RELEASE)
PUBLIC = UNREHEARSED
METRICS = ("auc", "tpr_at_fpr_0.01", "class_advantage_share")


def decide(view, release=RELEASE, policy=PUBLIC):
    return judge(view, policy).find(release).decision


def make_house(limit, name="links", threat="link", metric="auc", **more):
    one = Limit(
        name=name, threat=threat, metric=metric, limit=limit, title="x", source="set by", **more
    )
    return Policy(key="house", version=1, title="House", effort="instant", limits=(one,))


def test_noise_attackers_on_a_graph_without_leak_publish():
    verdict = judge(make_audit(make_noise(NAMES, ATTACKS), ATTACKS), PUBLIC)
    assert [release.decision for release in verdict.releases] == ["publish", "publish"]
    assert verdict.recommended == RELEASE
    assert verdict.may_leave


def test_a_limit_that_was_not_tested_is_not_said_to_be_met():
    """ "It meets the policy's 4 limits" of a policy of 12, two of the four not tested."""
    verdict = judge(make_audit(make_noise(NAMES, ATTACKS), ATTACKS), PUBLIC)
    states = [check.state for check in verdict.find(RELEASE).checks]
    met, all_limits = states.count("met"), len(PUBLIC.limits)
    untested = states.count("not_tested")
    assert met + untested == len(states)
    assert untested == 2
    assert len(states) < all_limits
    assert describe_decision(verdict).endswith(
        f": it meets {met} limits; 2 were not tested and {all_limits - len(states)} do not apply."
    )
    whole = keep_met(verdict)
    assert describe_decision(whole).endswith(f": it meets the policy's {met} limits.")


def keep_met(verdict):
    found = verdict.find(RELEASE)
    met = tuple(check for check in found.checks if check.state == "met")
    policy = verdict.policy.model_copy(update={"limits": tuple(check.limit for check in met)})
    released = found.model_copy(update={"checks": met})
    releases = tuple(released if r is found else r for r in verdict.releases)
    return verdict.model_copy(update={"policy": policy, "releases": releases})


@pytest.mark.parametrize(
    ("kept", "told"), [(0.0007, ". It keeps 0.07 % of the links."), (0.5, ""), (None, "")]
)
def test_a_recommended_release_with_next_to_no_links_says_so(kept, told):
    """ "Publish Blink at 2ε = 2", of which one link in 1,400 was the original's."""
    scores = make_noise(NAMES, ATTACKS)
    if kept is not None:
        scores[RELEASE, "release", "links_kept"] = kept
    text = describe_decision(judge(make_audit(scores, ATTACKS), PUBLIC))
    assert text.startswith("Publish Random deletion")
    assert text.endswith(told)
    assert ("of the links" in text) == bool(told)


def test_the_original_is_never_recommended():
    verdict = judge(make_audit(make_noise((ORIGINAL,), ATTACKS), ATTACKS, ()), PUBLIC)
    assert verdict.find(ORIGINAL).decision == "publish"
    assert verdict.recommended is None


def test_a_defense_of_named_links_is_not_cleared_by_drawn_ones():
    names = (ORIGINAL, "ppgsl", "without_columns:defense=dice")
    view = make_audit(make_noise(names, ATTACKS), ATTACKS, names[1:])
    verdict = judge(view, PUBLIC)
    for name in names[1:]:
        found = verdict.find(name)
        assert found.decision == "review"
        assert "sensitive links are named" in found.obstacle
    assert verdict.recommended is None
    assert describe_decision(verdict) == (
        "Review: the original meets every tested limit, but no defended release does."
    )
    data = ReportData(view, ReportOptions(policy=PUBLIC))
    assert not [choice for choice in list_choices(data) if "PPGSL" in choice or "DICE" in choice]
    named = view.spec.update(hide_links=None, sensitive_links=(("a", "b"),))
    assert judge(replace(view, spec=named), PUBLIC).find("ppgsl").decision == "publish"


def test_what_no_attack_tries_keeps_a_release_at_review():
    """Record swapping holds against those who have the release alone."""
    names = (ORIGINAL, "record_swapping", "without_columns:defense=record_swapping")
    view = make_audit(make_noise(names, ATTACKS), ATTACKS, names[1:])
    named = view.spec.update(hide_links=None, sensitive_links=(("a", "b"),))
    verdict = judge(replace(view, spec=named), PUBLIC)
    for name in names[1:]:
        assert verdict.find(name).decision == "review"
        assert any("who was moved" in text for text in verdict.find(name).open_points)
    assert verdict.recommended is None


def test_a_data_free_twin_is_never_recommended():
    independent = "gap:data_free=True"
    names = (ORIGINAL, independent)
    verdict = judge(make_audit(make_noise(names, ATTACKS), ATTACKS, (independent,)), PUBLIC)
    assert verdict.find(independent).decision == "publish"
    assert verdict.recommended is None


def test_the_decision_is_about_a_release_on_which_something_was_tried():
    """While an audit ran, the first cards said "not tested" of a release that still waited."""
    scores = make_noise((ORIGINAL,), ATTACKS)
    scores[ORIGINAL, "katz", "auc"] = 0.9
    verdict = judge(make_audit(scores, ATTACKS, (RELEASE,)), PUBLIC)
    assert verdict.find(RELEASE).decision == "review"
    assert verdict.find(ORIGINAL).decision == "do_not_publish"
    assert find_subject(verdict).release == ORIGINAL


def test_the_decision_is_about_a_release_that_can_be_published():
    """ "Deciding limits for PPGSL", whose links were not named, while another was open too."""
    names = (ORIGINAL, "ppgsl", RELEASE)
    scores = make_noise(names, ATTACKS)
    scores[ORIGINAL, "katz", "auc"] = 0.9
    for name, found in (("ppgsl", 0.042), (RELEASE, 0.048)):
        scores[name, "katz", "tpr_at_fpr_0.01"] = found
    verdict = judge(make_audit(scores, ATTACKS, names[1:], half=0.01), PUBLIC)
    assert [verdict.find(name).decision for name in names[1:]] == ["review", "review"]
    assert find_subject(verdict).release == RELEASE


@pytest.mark.parametrize(("auc", "more"), [(0.98, 0.02), (0.84, 0.26)])
def test_of_those_tied_the_decision_is_about_the_one_that_exceeds_least(auc, more):
    """The first of those tied was told, although another was nearer at every limit: one limit
    exceeded instead of two, then the smaller one."""
    names = (ORIGINAL, RELEASE, "random_rewiring")
    scores = make_noise(names, ATTACKS)
    for name, value in zip(names, (0.95, 0.9, auc), strict=True):
        scores[name, "katz", "auc"] = value
    for name, value in zip(names, (0.3, 0.3, more), strict=True):
        scores[name, "katz", "tpr_at_fpr_0.01"] = value
    house = make_house(0.8)
    second = make_house(0.25, "few", metric="tpr_at_fpr_0.01").limits
    policy = house.model_copy(update={"limits": (*house.limits, *second)})
    verdict = judge(make_audit(scores, ATTACKS, names[1:], half=0.4), policy)
    assert set(find_least_severe(verdict)) == set(names)
    assert find_subject(verdict).release == "random_rewiring"


def test_a_baseline_is_no_release_to_review():
    """Baselines made without the data were counted among the releases to review."""
    baseline = "gap:data_free=True"
    names = (RELEASE, baseline)
    scores = make_noise((ORIGINAL, *names), ATTACKS)
    scores[ORIGINAL, "katz", "auc"] = 0.9
    for name in names:
        scores[name, "katz", "tpr_at_fpr_0.01"] = 0.045
    view = make_audit(scores, ATTACKS, names, half=0.01)
    verdict = judge(view, PUBLIC)
    assert verdict.find(baseline).decision == "review"
    assert describe_decision(verdict).startswith("Review Random deletion: no limit is exceeded")


@pytest.mark.parametrize("status", ["skipped", "not_tested"])
def test_a_limit_that_the_sample_cannot_resolve_says_so(status):
    """ "Not tested" was said where attacks had run on too few pairs."""
    view = make_audit(make_noise(NAMES, ATTACKS), ATTACKS)
    at = view.results.metric == "tpr_at_fpr_0.01"
    rows = view.results.copy()
    rows.loc[at, ["value", "low", "high"]] = np.nan
    rows.loc[at, ["status", "reason"]] = [status, "below what the sample can resolve"]
    release = judge(replace(view, results=rows), PUBLIC).find(RELEASE)
    check = next(c for c in release.checks if c.limit.name == "links_1")
    assert check.state == "not_tested"
    assert explain_check(check).endswith(": too few pairs to measure")
    assert list_deciding(release)[0] == check  # before what is optional


def test_one_bad_threat_of_two_is_enough():
    """The links leak, the attribute does not: whoever looks at one threat alone is misled."""
    scores = make_noise(NAMES, ATTACKS)
    scores[ORIGINAL, "adamic_adar", "tpr_at_fpr_0.01"] = 0.43
    view = make_audit(scores, ATTACKS)
    assert decide(view, ORIGINAL) == "do_not_publish"
    assert judge(view, PUBLIC).recommended == RELEASE


def test_an_auc_equal_to_the_null_is_no_defence_where_low_false_alarms_leak():
    scores = make_noise(NAMES, ATTACKS)
    scores[RELEASE, "adamic_adar", "tpr_at_fpr_0.01"] = 3 * 0.05
    assert decide(make_audit(scores, ATTACKS)) == "do_not_publish"


def test_an_auc_far_below_one_half_leaks_by_inversion():
    scores = make_noise(NAMES, ATTACKS)
    scores[RELEASE, "gcn", "auc"] = 0.1
    assert decide(make_audit(scores, ATTACKS)) == "do_not_publish"


def place_auc(value, half, attack="gcn"):
    """A release without leak, on which one attack has this AUC."""
    view = make_audit(make_noise(NAMES, ATTACKS), ATTACKS)
    rows = view.results
    at = (rows.release == RELEASE) & (rows.method == attack) & (rows.metric == "auc")
    rows.loc[at, ["value", "low", "high"]] = [value, value - half, value + half]
    return view


def find_auc(view, name="attribute_auc"):
    checks = judge(view, PUBLIC).find(RELEASE).checks
    return next(check for check in checks if check.limit.name == name)


@pytest.mark.parametrize(("value", "half"), [(0.42, 0.16), (0.47, 0.14), (0.5, 0.12)])
def test_an_auc_is_proven_in_both_directions(value, half):
    """0.58 [0.42, 0.74] was for review, its mirror 0.42 [0.26, 0.58] was published: inverted, the
    same attack."""
    for view in (place_auc(value, half), place_auc(1 - value, half)):
        assert decide(view) == "review"
        check = find_auc(view)
        assert check.state == "not_proven"
        assert check.evidence.high == pytest.approx(0.5 + abs(value - 0.5) + half)
    assert explain_check(find_auc(place_auc(0.42, 0.16))).endswith(
        "limit 0.60, but the interval of inverted guesses extends above it"
    )
    assert decide(place_auc(value, 0.01)) == "publish"


def test_an_interval_that_reaches_over_the_limit_is_referred():
    scores = make_noise(NAMES, ATTACKS)
    scores[RELEASE, "seal", "auc"] = 0.645
    assert decide(make_audit(scores, ATTACKS, half=0.01)) == "review"
    assert decide(make_audit(scores, ATTACKS, half=0.004)) == "publish"


def test_the_interval_of_every_attack_counts_not_only_that_of_the_worst():
    scores = make_noise(NAMES, ATTACKS)
    view = make_audit(scores, ATTACKS, half=0.01)
    row = (view.results.method == "seal") & (view.results.metric == "auc")
    view.results.loc[row, ["value", "low", "high"]] = [0.49, 0.3, 0.68]
    assert decide(view) == "review"


def test_too_few_repeats_are_referred():
    noise = make_noise(NAMES, ATTACKS)
    view = make_audit(noise, ATTACKS, seeds=2)
    assert decide(view) == "review"
    (few,) = judge(view, PUBLIC).find(RELEASE).untried
    assert few == f"{len(ATTACKS)} attacks ran on 2 splits; the policy requires {PUBLIC.repeats}"


def test_a_quick_look_can_refuse_and_cannot_clear_for_the_public():
    quick = list_attack_keys("instant")
    scores = make_noise(NAMES, quick)
    view = make_audit(scores, quick)
    assert decide(view) == "review"
    assert "SEAL" in " ".join(judge(view, PUBLIC).find(RELEASE).untried)
    assert decide(view, policy=find_policy("internal")) == "publish"
    scores[RELEASE, "common_neighbors", "auc"] = 0.9
    assert decide(make_audit(scores, quick)) == "do_not_publish"


@pytest.mark.parametrize("state", ["failed", "cancelled"])
def test_an_attack_that_did_not_finish_is_referred(state):
    view = make_audit(make_noise(NAMES, ATTACKS), ATTACKS)
    view.results.loc[view.results.method == "gps", ["status", "value"]] = [state, None]
    assert decide(view) == "review"


def plan(*attacks):
    """An audit without leak by all attacks, some with other settings or several times."""
    keys = {choice.partition(":")[0] for choice in attacks}
    asked = [*(key for key in ATTACKS if key not in keys), *attacks]
    view = make_audit(make_noise(NAMES, asked), ATTACKS)
    return replace(view, spec=view.spec.update(attacks=tuple(map(MethodChoice.parse, asked))))


@pytest.mark.parametrize(
    ("attacks", "lacks"),
    [
        (["seal:max_pairs=4,epochs=1"], "SEAL (max_pairs = 4, epochs = 1)"),
        (["gps:hidden=1,role_hidden=1"], "GPS (hidden = 1, role_hidden = 1)"),
        (["seal:max_pairs=4,epochs=9"], "SEAL (max_pairs = 4, epochs = 9)"),
        (["seal:epochs=1", "seal:epochs=2"], "SEAL (epochs = 1) and SEAL (epochs = 2)"),
        (["seal:epochs=1", "seal"], ""),
        (["seal:epochs=9"], ""),
    ],
)
def test_a_required_attack_with_weaker_settings_alone_is_lacking(attacks, lacks):
    release = judge(plan(*attacks), PUBLIC).find(RELEASE)
    if not lacks:
        assert (release.untried, release.decision) == ((), "publish")
        return
    (text,) = release.untried
    assert "lacks 1 required attack with default settings; it has: " in text
    assert text.endswith(lacks)
    assert release.decision == "review"


@pytest.mark.parametrize(
    ("method", "columns", "is_so"),
    [
        ("column_values", {"age", "zip"}, True),
        ("column_values:columns=age", {"age", "zip"}, False),
        ("column_values:columns=age|zip", {"age", "zip"}, True),
        ("column_values:columns=age|zip", None, False),
        ("column_values:with_links=degree", {"age"}, False),  # of links that the release changed
        ("neighbor_degrees:error=0.1", None, False),
        ("mlp:folds=2", None, False),
    ],
)
def test_columns_apart_are_weaker_than_columns_together(method, columns, is_so):
    """Three columns apart find 2 % each, together 71 %."""
    assert is_full(parse_method(method), columns) == is_so


@pytest.mark.parametrize("leaving", [{}, {"age": "number"}])
@pytest.mark.parametrize("num_links", [0, 9])
@pytest.mark.parametrize(
    "found", [("degree", "neighbor_degrees"), ("degree", "neighbor_degrees", "neighbor_values")]
)
def test_columns_and_links_are_required_together_where_both_leave(leaving, num_links, found):
    view = make_audit({}, ATTACKS)
    keys = ["column_values", *(f"column_values:with_links={how}" for how in found)]
    planned = [parse_attack(f"{key}@identity") for key in keys]
    channels = NodeChannels(True, find_leaving=lambda _release: leaving)
    summary = replace(view.summary, num_edges=num_links)
    view = replace(view, node_channels=channels, summary=summary)
    (told,) = list_lacking(view, RELEASE, find_policy("internal"), ["identity"], planned)
    joined = "Column values (with_links = neighbor_values)"
    assert (joined in told) == bool(leaving and num_links and len(found) == 2)
    assert "with_links = degree" not in told


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("policy", list_policies())
def test_the_presets_run_what_a_policy_requires(preset, policy):
    """In each form that the app, a search and `judge` run them."""
    fields = {"hide_links": 0.1, "private": "private", "identity": {"seeds_known": 5}}
    fields |= {"released_links": True}
    view = make_audit({}, ATTACKS)
    spec = view.spec.update(**fields, adaptive=preset.adaptive)
    spec = spec.update(attacks=tuple(choose_attacks(Asked.of_spec(spec), [preset.key])))
    told = judge(replace(view, spec=spec), policy).find(RELEASE).untried
    lacking = [text for text in told if " lacks " in text]
    assert bool(lacking) == (not set(policy.allowed_costs) <= set(preset.costs))
    assert not any("default settings" in text for text in lacking)


def test_an_attack_that_cannot_run_is_not_held_against_the_release():
    view = make_audit(make_noise(NAMES, ATTACKS), ATTACKS)
    view.results.loc[view.results.method == "mlp", ["status", "value"]] = ["skipped", None]
    assert decide(view) == "publish"


def test_attacks_that_the_graphs_size_keeps_from_running_are_named():
    """ "Every attack of the tool must have run" was said where FAQ had not; no large graph could be
    cleared if it were held against it."""
    graph = two_communities(40)
    many, few = SimpleNamespace(num_nodes=10**6, num_edges=10**9), Release(graph)
    threat = SimpleNamespace(known=many, visible=many)
    reasons = {"mlp": FaqMatcher().supports(few, threat), "gps": "needs features"}
    view = make_audit(make_noise(NAMES, ATTACKS), ATTACKS)
    rows = view.results.astype({name: object for name in ("value", "low", "high")})
    for key, reason in reasons.items():
        at = (rows.method == key) & (rows.release == RELEASE)
        rows.loc[at, ["status", "reason"]] = ["skipped", reason]
        rows.loc[at, ["value", "low", "high"]] = None
    view = replace(view, results=rows)
    verdict = judge(view, PUBLIC)
    assert verdict.find(RELEASE).oversized == (view.get_attack("mlp").title,)
    assert verdict.find(RELEASE).untried == ()
    assert verdict.recommended == RELEASE
    assert describe_decision(verdict).endswith("; not run on a graph of this size: MLP.")
    assert verdict.find(ORIGINAL).oversized == ()


def test_nothing_tried_is_referred():
    view = make_audit({}, ATTACKS)
    checks = judge(view, PUBLIC).find(RELEASE).checks
    assert decide(view) == "review"
    assert all(check.state == "not_tested" for check in checks)


def test_people_are_counted_by_what_the_attack_adds():
    """A 73 % majority is known at 0.73 without any attack: nobody of it is exposed."""
    house = make_house(0.05, "people", "attribute", "advantage_share")
    policy = house.model_copy(update={"limits": (*house.limits, *make_house(0.65).limits)})
    scores = make_noise(NAMES, ATTACKS)
    rows = [(f"n{i}", r, "gcn", 0.73, 0.0, 0.7, 0.76, 5) for r in NAMES for i in range(400)]
    nodes = pd.DataFrame(rows, columns=list(NODE_COLUMNS))
    assert decide(make_audit(scores, ATTACKS, nodes=nodes), policy=policy) == "publish"
    is_lost = (np.arange(len(nodes)) % 10 == 0) & (nodes.release == RELEASE)
    gains = np.where(is_lost, 0.25, 0.0)
    lost = nodes.assign(advantage=gains, risk=0.73 + gains)
    view = make_audit(scores, ATTACKS, nodes=lost)
    check = judge(view, policy).find(RELEASE).checks[0]
    assert check.evidence.value == 0.1
    assert find_evidence(view, ORIGINAL, check.limit).value == 0.0
    assert check.evidence.low < 0.1 < check.evidence.high
    assert decide(view, policy=policy) == "do_not_publish"
    fields = {"confirmation_error": 0.001, "policy": policy.model_dump(mode="json")}
    sure = replace(view, spec=view.spec.model_copy(update=fields))
    assert find_evidence(sure, RELEASE, check.limit).high > check.evidence.high + 0.01


def lose_figure(view, metric, reason, **more):
    """The view without any figure of a metric: attacks ran, on too few people for it."""
    rows = view.results.astype({name: object for name in ("value", "low", "high")})
    at = rows.metric == metric
    for name, value in more.items():
        at &= rows[name] == value
    rows.loc[at, ["value", "low", "high"]] = None
    rows.loc[at, ["status", "reason"]] = ["skipped", reason]
    return replace(view, results=rows)


@pytest.mark.parametrize("has_rows", [True, False])
def test_the_share_of_everybody_does_not_stand_for_the_worst_class(has_rows):
    """60 classes of 18, one of them found out to the last: of everybody that is 0.017, and it was
    published, since no class had 10 people at stake."""
    rows = [
        (f"n{i}", r, "gcn", gain + 0.017, gain, 0.0, 1.0, 5)
        for r in NAMES
        for i in range(540)
        for gain in ([0.9] if i < 9 else [0.0])
    ]
    nodes = pd.DataFrame(rows, columns=list(NODE_COLUMNS))
    scores = make_noise(NAMES, ATTACKS)
    if not has_rows:
        scores = {key: x for key, x in scores.items() if key[2] != "class_advantage_share"}
    view = make_audit(scores, ATTACKS, nodes=nodes)
    view = lose_figure(view, "class_advantage_share", "no class has 10 people at stake")
    release = judge(view, PUBLIC).find(RELEASE)
    check = next(c for c in release.checks if c.limit.name == "attribute_share")
    assert (check.evidence.value, check.state) == (None, "not_tested")
    assert check.evidence.is_unresolved == has_rows
    assert release.decision == "review"


class TestTwoSecrets:
    """Each private column is held against each limit."""

    @pytest.fixture
    def view(self):
        plain = make_audit(make_noise(NAMES, ATTACKS), ATTACKS)
        spec = plain.spec.update(more_private=("income",))
        own = {s.id: s.target for _, _, s in list_scenarios(spec)}
        scores = make_noise(NAMES, own)
        view, graph = make_audit(scores, ATTACKS), plain.load_graph()
        income = replace(graph.column("private"), name="income")
        with_income = graph.with_attributes({"income": income})
        return replace(view, spec=spec, load_graph=lambda: with_income)

    def lose(self, view, metric):
        rows = view.results
        second = [a is not None and a.target == "income" for a in rows.attack]
        return lose_figure(
            replace(view, results=rows.assign(is_second=second)), metric, "too few", is_second=True
        )

    def test_with_figures_of_both_it_is_published(self, view):
        assert decide(view) == "publish"

    @pytest.mark.parametrize("metric", ["auc", "class_advantage_share"])
    def test_the_figure_of_one_does_not_stand_for_the_other(self, view, metric):
        release = judge(self.lose(view, metric), PUBLIC).find(RELEASE)
        (check,) = (
            c for c in release.checks if (c.limit.threat, c.limit.metric) == ("attribute", metric)
        )
        assert (check.state, check.evidence.untested) == ("not_proven", ("income",))
        assert explain_check(check).endswith(", but no attack measured it for income")
        assert release.decision == "review"

    def test_an_optional_limit_may_lack_one(self, view):
        assert decide(self.lose(view, "tpr_at_fpr_0.01")) == "publish"

    def test_what_exceeds_a_limit_still_refuses(self, view):
        rows = view.results
        at = (rows.method == "gcn") & (rows.metric == "auc")
        rows.loc[at, ["value", "low", "high"]] = [0.9, 0.89, 0.91]
        assert decide(self.lose(view, "auc")) == "do_not_publish"


def test_the_repeats_of_a_limit_are_those_of_its_own_figure():
    """Five repeats of each attack, the worst class measured in one of them."""
    view = make_audit(make_noise(NAMES, ATTACKS), ATTACKS)
    view.results.loc[view.results.metric == "class_advantage_share", "seeds"] = 1
    release = judge(view, PUBLIC).find(RELEASE)
    assert release.untried == (
        "“Private values exposed in the worst class” was measured on 1 split; the policy "
        "requires 3",
    )
    assert release.decision == "review"


def test_a_promise_above_the_limit_is_referred_and_no_promise_is_no_fault():
    noise = make_noise(NAMES, ATTACKS)
    weak = {RELEASE: Guarantee(unit="edge", epsilon=12)}
    view = make_audit(noise, ATTACKS, guarantees=weak)
    assert decide(view) == "review"
    assert judge(view, PUBLIC).recommended is None
    strong = {RELEASE: Guarantee(unit="edge", epsilon=0.5)}
    assert decide(make_audit(noise, ATTACKS, guarantees=strong)) == "publish"
    both_ends = {RELEASE: Guarantee(unit="link", epsilon=0.6, epsilon_transcript=1.2)}
    assert decide(make_audit(noise, ATTACKS, guarantees=both_ends)) == "review"


def test_a_guarantee_whose_delta_promises_nothing_meets_no_limit():
    shown = []
    for delta in (0.0, 0.9):
        made = {RELEASE: Guarantee(unit="edge", epsilon=0.5, delta=delta)}
        view = make_audit(make_noise(NAMES, ATTACKS), ATTACKS, guarantees=made)
        checks = judge(view, PUBLIC).find(RELEASE).checks
        shown.append("epsilon_edge" in {check.limit.metric for check in checks})
    assert shown == [True, False]


def test_the_most_useful_of_the_safe_is_recommended():
    safe, useful = "random_deletion:strength=0.8", "random_deletion:strength=0.5"
    scores = make_noise((ORIGINAL, safe, useful), ATTACKS)
    scores[safe, "release", "link_prediction_auc"] = 0.6
    scores[useful, "release", "link_prediction_auc"] = 0.8
    assert judge(make_audit(scores, ATTACKS, (safe, useful)), PUBLIC).recommended == useful
    scores[useful, "seal", "auc"] = 0.9
    assert judge(make_audit(scores, ATTACKS, (safe, useful)), PUBLIC).recommended == safe


@pytest.mark.parametrize(
    ("leaving", "chosen", "value", "told"),
    [
        ((), None, 0.9, "Attackers read 2 columns that would not leave, as none were chosen"),
        (("age",), None, 0.9, "Attackers read 1 column that would not leave"),
        (("age", "pay"), None, 0.9, ""),
        ((), (), 0.9, ""),
        ((), None, 0.5, ""),
    ],
)
def test_columns_that_do_not_leave_and_were_attacked_are_named_where_a_limit_is_exceeded(
    leaving, chosen, value, told
):
    """A column that stays re-identified everybody, and no next step named it."""
    scores = make_noise(NAMES, ATTACKS) | {(RELEASE, "katz", "auc"): value}
    view = make_audit(scores, ATTACKS)
    kinds = {"age": "number", "pay": "number", "town": "category"}
    channels = replace(
        view.node_channels,
        find_source=lambda: kinds,
        find_leaving=lambda _release: {name: kinds[name] for name in leaving},
    )
    spec = view.spec.update(publish_columns=chosen)
    found = judge(replace(view, spec=spec, node_channels=channels), PUBLIC).find(RELEASE)
    points = [text for text in found.open_points if "would not leave" in text]
    assert len(points) == bool(told)
    assert all(text.startswith(told) for text in points)
    assert (found.decision == "do_not_publish") == (value > 0.8)


def recommend(half, private=0.79, unit="edge"):
    """The verdict and results of two releases that may leave, one with a guarantee."""
    empirical, noisy = "random_deletion:strength=0.5", "edge_rand:epsilon=1.0"
    promised = Guarantee("edge", epsilon=1.0) if unit == "edge" else Guarantee()
    scores = make_noise((ORIGINAL, empirical, noisy), ATTACKS)
    for release, use in ((ORIGINAL, 0.9), (empirical, 0.8), (noisy, private)):
        scores[release, "release", "node_classification_auc"] = use
    view = make_audit(scores, ATTACKS, (empirical, noisy), guarantees={noisy: promised})
    rows = view.results.metric == "node_classification_auc"
    ends = (None, None) if half is None else (-half, half)
    for name, end in zip(("low", "high"), ends, strict=True):
        view.results.loc[rows, name] = None if end is None else view.results.value[rows] + end
    return judge(view, PUBLIC), view.results


def test_of_releases_as_useful_within_noise_the_one_with_a_guarantee_is_recommended():
    verdict, results = recommend(half=0.02)
    assert "edge_rand" in verdict.recommended
    told = dict(explain_others(verdict, results))["random_deletion:strength=0.5"]
    assert told.startswith("as useful within noise, without a guarantee: ")
    assert "random_deletion" in recommend(half=0.02, unit="none")[0].recommended


@pytest.mark.parametrize("half", [0.001, None])
def test_a_guarantee_does_not_outweigh_usefulness_beyond_noise(half):
    """Nor where the noise is unknown."""
    assert "random_deletion" in recommend(half)[0].recommended


def test_without_a_guarantee_the_higher_figure_is_recommended():
    assert "edge_rand" in recommend(half=0.02, private=0.81, unit="none")[0].recommended


def test_the_contract_of_audit_json():
    content = judge(make_audit(make_noise(NAMES, ATTACKS), ATTACKS), PUBLIC).describe()
    assert set(content) == {"policy", "policy_warning", "recommended", "releases", "not_made"}
    assert content["policy"] == "public"
    for release in content["releases"].values():
        assert set(release) == {"decision", "limits"}
        for limit in release["limits"]:
            assert set(limit) == {"name", "limit", "value", "low", "high", "state"}
            if limit["state"] == "met":
                assert limit["high"] <= limit["limit"]
    assert json.loads(json.dumps(content)) == content


values = st.dictionaries(
    st.tuples(st.just(RELEASE), st.sampled_from(ATTACKS), st.sampled_from(METRICS)),
    st.floats(0, 1),
    max_size=6,
)


@settings(max_examples=8)
@given(values, st.floats(0, 0.3), st.floats(0, 1), st.floats(0, 1))
def test_tightening_a_limit_never_makes_a_verdict_milder(found, half, first, second):
    view = make_audit({**make_noise(NAMES, ATTACKS), **found}, ATTACKS, half=half)
    tight, loose = sorted((first, second))
    for metric in METRICS:
        threat = "attribute" if metric == METRICS[2] else "link"
        grades = [
            SEVERITY[decide(view, policy=make_house(limit, threat=threat, metric=metric))]
            for limit in (tight, loose)
        ]
        assert grades[0] >= grades[1]


@settings(max_examples=8)
@given(values, st.floats(0, 0.1), st.data())
def test_leaving_attackers_out_never_clears_what_was_refused(found, half, data):
    """Neither attackers whose results are lost, nor attackers that nobody planned."""
    scores = {**make_noise(NAMES, ATTACKS), **found}
    for policy in list_policies():
        asked = list_attack_keys(*policy.allowed_costs)
        known = {key: value for key, value in scores.items() if key[1] in asked}
        if decide(make_audit(known, asked, half=half), policy=policy) != "do_not_publish":
            continue
        kept = data.draw(st.lists(st.sampled_from(asked), unique=True, max_size=len(asked) - 1))
        fewer = {key: value for key, value in known.items() if key[1] in kept}
        assert decide(make_audit(fewer, asked, half=half), policy=policy) != "publish"
        assert decide(make_audit(fewer, kept, half=half), policy=policy) != "publish"


def test_the_least_severe_release_is_named_by_severity_and_not_by_a_count():
    """Random deletion "broke 3 of 7, none fewer" where the original broke 3 as well and was
    better on all three."""
    scores = make_noise(NAMES, ATTACKS)
    for release, found in zip(NAMES, (0.7, 0.9), strict=True):
        scores[release, "katz", "auc"] = found
        scores[release, "katz", "tpr_at_fpr_0.01"] = found / 3
        scores[release, "gcn", "auc"] = found
    verdict = judge(make_audit(scores, ATTACKS), PUBLIC)
    assert find_least_severe(verdict) == [ORIGINAL]
    assert find_subject(verdict).release == ORIGINAL


def test_releases_within_noise_are_tied_and_one_that_nothing_was_tried_on_is_not_least():
    scores = make_noise(NAMES, ATTACKS)
    for release, found in zip(NAMES, (0.401, 0.4), strict=True):
        scores[release, "katz", "tpr_at_fpr_0.01"] = found
    view = make_audit(scores, ATTACKS, (RELEASE, "dice"))
    assert find_least_severe(judge(view, PUBLIC)) == list(NAMES)


@pytest.mark.parametrize("defense", ["dice", "rw_lp"])
@pytest.mark.parametrize("state", ["skipped", "failed"])
def test_a_release_that_could_not_be_made_is_nowhere_offered(state, defense):
    """With a private column alone DICE cannot run; the sign-off offered to publish it."""
    scores = make_noise((*NAMES, defense), ATTACKS)
    view = make_audit(scores, ATTACKS, (RELEASE, defense))
    rows = view.results.release == defense
    view.results.loc[rows, ["status", "reason"]] = [state, "it needs sensitive links"]
    verdict = judge(view, PUBLIC)
    assert verdict.find(defense) is None
    assert verdict.not_made == {defense: "it needs sensitive links"}
    assert defense not in verdict.describe()["releases"]
    for options in (ReportOptions(policy=PUBLIC), ReportOptions()):
        choices = list_choices(ReportData(view, options))
        assert not any(parse_release(defense).title in choice for choice in choices)


def test_a_limit_has_one_of_four_states():
    scores = make_noise(NAMES, ATTACKS)
    states = {}
    for value, half in ((0.04, 0.001), (0.045, 0.01), (0.06, 0.02)):
        scores[RELEASE, "katz", "tpr_at_fpr_0.01"] = value
        verdict = judge(make_audit(scores, ATTACKS, half=half), PUBLIC).find(RELEASE)
        states[value] = {check.limit.name: check.state for check in verdict.checks}
        told = {limit["name"]: limit["state"] for limit in map(Check.describe, verdict.checks)}
        assert told == states[value]  # audit.json counted "not proven" as broken
    assert [s["links_1"] for s in states.values()] == ["met", "not_proven", "exceeded"]
    assert states[0.04]["links_01"] == "not_tested"


def test_the_scenarios_of_an_audit_are_listed_once(monkeypatch):
    """However many releases, limits and policies ask for them."""
    calls, own = [], scenarios._list_own_scenarios
    monkeypatch.setattr(
        scenarios, "_list_own_scenarios", lambda *given: calls.append(given) or own(*given)
    )
    view = make_audit(make_noise(NAMES, ATTACKS), ATTACKS)
    view = replace(view, spec=view.spec.model_copy())  # that nobody has asked for before
    calls.clear()
    for policy in list_policies():
        judge(view, policy)
    assert len(calls) == len(view.spec.attacks)
