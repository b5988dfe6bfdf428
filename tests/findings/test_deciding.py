"""The limits that decide: which ones are shown, in which order, and with which figures."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest

from core.audit.asked.release_info import parse_release
from core.audit.results.node_risks import NODE_COLUMNS
from core.audit.store.states import State
from core.cli.audit import describe_results, judge_audit
from core.findings.change import summarize_release
from core.findings.exposure import summarize_risk
from core.findings.limit_scale import LimitScale
from core.findings.page_summary import format_checks, summarize_decision
from core.findings.policy import Limit, Policy, find_policy
from core.findings.strongest import choose_measure
from core.findings.tradeoff import choose_threat, summarize_tradeoff
from core.findings.verdict import judge
from core.findings.verdict_words import (
    describe_decision,
    find_subject,
    list_deciding,
    summarize_reasons,
    title_deciding,
)
from core.release import ORIGINAL
from core.report.data import ReportData
from core.report.decision_page import build_decision
from core.report.document import build_content
from core.report.options import ReportOptions
from core.report.people import build_risk
from tests.oracles.audits import list_attack_keys, make_audit, make_noise

ATTACKS = list_attack_keys()
RELEASE = "random_deletion"
NAMES = (ORIGINAL, RELEASE)
PUBLIC = find_policy("public")


def set_limits(link=(), attribute=(), **more):
    """A house policy; metric → limit of each threat."""
    limits = [
        Limit(name=f"{threat}-{metric}", threat=threat, metric=metric, limit=limit,
              title=f"{threat} {metric}", source="set by a test", **more)
        for threat, found in (("link", link), ("attribute", attribute))
        for metric, limit in dict(found).items()
    ]  # fmt: skip
    return Policy(key="house", version=1, title="House", effort="instant", limits=tuple(limits))


def test_what_stands_in_the_way_is_listed_whole_and_first():
    """ "Exceeded, met, exceeded": one limit of each threat went before the rest."""
    scores = make_noise(NAMES, ATTACKS)
    scores[RELEASE, "katz", "auc"] = 0.9
    scores[RELEASE, "katz", "tpr_at_fpr_0.01"] = 0.3
    scores[RELEASE, "katz", "tpr_at_fpr_0.001"] = 0.05
    scores[RELEASE, "gcn", "tpr_at_fpr_0.01"] = 0.045  # its interval ends above 0.05
    scores[RELEASE, "gcn", "auc"] = 0.595
    release = judge(make_audit(scores, ATTACKS), PUBLIC).find(RELEASE)
    found = [(check.state, check.limit.name) for check in list_deciding(release)]
    assert found == [
        ("exceeded", "links_1"),
        ("exceeded", "links_01"),
        ("exceeded", "links_auc"),
        ("not_proven", "attribute_auc"),
        ("not_proven", "attribute_1"),
    ]
    assert title_deciding(release).startswith("Deciding limits for ")
    scores[RELEASE, "katz", "precision_at_100"] = 1e-4  # a tenth of the smallest limit
    none = set_limits({"precision_at_100": 0.0}, {"auc": 0.6}, weight="review")
    release = judge(make_audit(scores, ATTACKS), none).find(RELEASE)
    assert [check.state for check in list_deciding(release)] == ["exceeded", "not_proven"]


def test_where_nothing_stands_in_the_way_the_nearest_limits_are_called_met():
    scores = make_noise(NAMES, ATTACKS)
    scores[RELEASE, "katz", "tpr_at_fpr_0.01"] = 0.035
    release = judge(make_audit(scores, ATTACKS), PUBLIC).find(RELEASE)
    found = [(check.state, check.limit.name) for check in list_deciding(release)]
    assert found == [("met", "attribute_auc"), ("met", "links_auc"), ("met", "links_1")]
    assert len(found) < sum(check.state == "met" for check in release.checks)
    assert title_deciding(release).endswith(", all met")
    alone = set_limits(link={"precision_at_100": 0.9}, optional=True)
    untested = judge(make_audit(scores, ATTACKS), alone).find(RELEASE)
    assert [check.state for check in list_deciding(untested)] == ["not_tested"]
    assert "met" not in title_deciding(untested)


def test_figures_beside_limits_have_one_unit_and_show_which_is_larger():
    """ "27 of 100" stood above "65 of 1,000", and "0.60, limit 0.60" was exceeded."""
    scores = make_noise(NAMES, ATTACKS)
    scores[RELEASE, "katz", "tpr_at_fpr_0.01"] = 0.27
    scores[RELEASE, "gcn", "tpr_at_fpr_0.01"] = 0.065
    scores[RELEASE, "gcn", "auc"] = 0.604
    policy = set_limits({"tpr_at_fpr_0.01": 0.05}, {"tpr_at_fpr_0.01": 0.05, "auc": 0.6})
    verdict = judge(make_audit(scores, ATTACKS, half=0.001), policy)
    release = verdict.find(RELEASE)
    only = verdict.model_copy(update={"releases": (release,)})
    summary = summarize_decision(only)
    assert [(card.value, card.compared_with) for card in summary.cards] == [
        ("270 of 1,000", "limit 50 of 1,000"),
        ("65 of 1,000", "limit 50 of 1,000"),
        ("0.604", "limit 0.600"),
    ]
    assert "0.604 [0.603, 0.605] by GCN; exceeded, limit 0.600" in summary.exact[-1]


def test_a_difference_that_no_digit_shows_is_told_in_words():
    scores = make_noise(NAMES, ATTACKS)
    scores[RELEASE, "katz", "tpr_at_fpr_0.01"] = 0.05 + 1e-12
    release = judge(make_audit(scores, ATTACKS), PUBLIC).find(RELEASE)
    (check,) = [check for check in release.checks if check.limit.name == "links_1"]
    assert check.state == "exceeded"
    assert format_checks([check]) == [("just above 5 of 100", "5 of 100")]


def test_bars_have_one_scale_on_which_every_figure_has_its_place():
    """14 for a limit of 3 looked like 42 for one of 10: bars ended at twice the limit."""
    scores = make_noise(NAMES, ATTACKS)
    for attack, metric, value in (("katz", "auc", 0.9), ("gcn", "auc", 0.62)):
        scores[RELEASE, attack, metric] = value
    scores[RELEASE, "katz", "tpr_at_fpr_0.01"] = 0.9  # 18 times the limit
    checks = judge(make_audit(scores, ATTACKS), PUBLIC).find(RELEASE).checks
    scale = LimitScale.of(checks)
    assert scale.highest == 100
    assert scale.place(1.0) == pytest.approx(1 / 3)
    assert scale.place(10.0) - scale.place(1.0) == pytest.approx(1 / 3)
    places = [scale.place(check.severity) for check in checks]
    assert all(0 <= place < 1 for place in places)
    assert len(set(places)) == len({check.severity for check in checks})
    for check, place in zip(checks, places, strict=True):
        assert (place > scale.place(1.0)) == (check.severity > 1)
    assert LimitScale.of([]).highest == 10


def test_every_limit_that_was_not_tested_is_counted():
    """A cancelled audit was "not tested against 4 limits", beside 7 dashes."""
    view = make_audit({}, ATTACKS, state=State.CANCELLED)
    release = judge(view, PUBLIC).find(RELEASE)
    dashes = sum(check.state == "not_tested" for check in release.checks)
    required = sum(not check.limit.optional for check in release.checks)
    assert 0 < required < dashes
    told = f"is not tested against {dashes} limits, above all “{release.checks[0].limit.title}”"
    assert summarize_reasons(release) == told
    house = set_limits({"auc": 0.6}, {"auc": 0.6}, optional=True)
    assert "not tested against" not in summarize_reasons(judge(view, house).find(RELEASE))


def refuse(**worst):
    """An audit in which each release exceeds a limit; defense → AUC of Katz."""
    names = (ORIGINAL, *worst)
    scores = make_noise(names, ATTACKS)
    for name, auc in zip(names, (0.95, *worst.values()), strict=True):
        scores[name, "katz", "auc"] = auc
    return make_audit(scores, ATTACKS, names[1:])


def test_the_limits_shown_are_those_of_the_release_that_the_sentence_names():
    """ "PPGSL comes closest to passing" stood above "Deciding limits for Original": the links of
    PPGSL were not named, which matters only where it may be published."""
    view = refuse(ppgsl=0.7, random_deletion=0.9)
    verdict = judge(view, PUBLIC)
    assert verdict.decision == "do_not_publish"
    assert verdict.find("ppgsl").obstacle
    assert describe_decision(verdict).endswith("; PPGSL comes closest to passing.")
    assert find_subject(verdict).release == "ppgsl"
    options = ReportOptions(policy=PUBLIC, sections=())
    said, limits = build_content(view, options)[0]["summary"][:2]
    assert "PPGSL comes closest" in str(said["spans"])
    assert limits["caption"].startswith("Deciding limits for PPGSL")


STRENGTHS = {f"random_deletion:strength={s}": count for s, count in ((0.5, 9), (0.75, 3), (0.8, 1))}
"""Release → people whom the attack exposes."""
CHOSEN = "random_deletion:strength=0.75"


def try_strengths():
    """An audit of three strengths, all of which pass; the one in the middle is the most useful."""
    exposed = {ORIGINAL: 12, **STRENGTHS}
    scores = make_noise(tuple(exposed), ATTACKS)
    for name in exposed:
        scores[name, "release", "link_prediction_auc"] = 0.8 if name == CHOSEN else 0.6
    rows = [
        (f"n{i}", name, "gcn", 0.5 + gain, gain, 0.5 + gain, 0.5 + gain, 5)
        for name, count in exposed.items()
        for i in range(34)
        for gain in [0.4 if i < count else 0.0]
    ]
    nodes = pd.DataFrame(rows, columns=list(NODE_COLUMNS))
    view = make_audit(scores, ATTACKS, tuple(STRENGTHS), nodes=nodes)
    policy = find_policy("internal").model_dump(mode="json")
    return replace(view, spec=view.spec.update(policy=policy))


@pytest.mark.usefixtures("no_pictures")
def test_a_release_among_strengths_is_named_with_its_own_and_has_its_own_figures():
    """ "Publish Random deletion", and next "1 with Random deletion (strength = 0.8)", while the one
    to publish had 0.75 and exposed 3."""
    view = try_strengths()
    said: list[str] = []
    judge_audit(view, said.append)
    assert said[-1].startswith("Publish Random deletion at strength 0.75: it meets ")
    (told,) = [line for line in describe_results(view) if "Exposed: advantage" in line]
    exposes = (
        "exposes 12 of 34 people on the original, and 3 with Random deletion (strength = 0.75)"
    )
    assert exposes in told
    data = ReportData(view, ReportOptions())
    assert exposes in str(build_risk(data))
    assert "Publish Random deletion at strength 0.75: it meets" in str(build_decision(data)[0])
    for release, count in STRENGTHS.items():
        name = parse_release(release).phrase
        told = summarize_risk(view, release).sentence
        assert told.startswith(f"On {name}, {count} of 34 people")
        assert name in summarize_release(view, release).sentence
    verdict = judge(view, find_policy("internal"))
    assert summarize_tradeoff(view, verdict).sentence.startswith(
        "Random deletion at strength 0.75 may be published"
    )


def test_the_tradeoff_shows_the_threat_that_stops_most_releases():
    """None was cleared, and the picture beside it said that all are within the limit."""
    scores = make_noise(NAMES, ATTACKS)
    scores[RELEASE, "gcn", "auc"] = scores[RELEASE, "gcn", "tpr_at_fpr_0.01"] = 0.9
    view = make_audit(scores, ATTACKS)
    metric = choose_measure(view.results, "attribute").metric
    limits = {"link": {metric: 0.95}, "attribute": {metric: 0.6}}
    assert choose_threat(view.results, judge(view, set_limits(**limits))) == "attribute"
    met = {threat: {metric: 0.95} for threat in limits}
    assert choose_threat(view.results, judge(view, set_limits(**met))) == "link"


def test_refused_strengths_are_named_with_their_own():
    pair = {f"random_deletion:strength={s}": auc for s, auc in ((0.5, 0.9), (0.8, 0.7))}
    told = describe_decision(judge(refuse(**pair), PUBLIC))
    assert told.endswith("; Random deletion at strength 0.8 comes closest to passing.")
    baseline = {"gap:data_free=True": 0.9, "gap": 0.7}
    near = describe_decision(judge(refuse(**baseline), PUBLIC))
    assert near.endswith("; GAP comes closest to passing.")
    alone = describe_decision(judge(refuse(random_deletion=0.7), PUBLIC))
    assert alone.endswith("; Random deletion comes closest to passing.")
    scores = make_noise((ORIGINAL, *pair), ATTACKS)
    for release, auc in zip((ORIGINAL, *pair), (0.9, 0.9, 0.645), strict=True):
        scores[release, "katz", "auc"] = auc
    review = describe_decision(judge(make_audit(scores, ATTACKS, tuple(pair)), PUBLIC))
    assert review.startswith("Review Random deletion at strength 0.8: no limit is exceeded")
