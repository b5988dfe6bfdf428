"""The limits that decide: which ones are shown, in which order, and with which figures."""

from __future__ import annotations

import pytest

from core.findings.limit_scale import LimitScale
from core.findings.page_summary import format_checks, summarize_decision
from core.findings.policy import Limit, Policy, find_policy
from core.findings.verdict import judge
from core.findings.verdict_words import list_deciding, title_deciding
from core.release import ORIGINAL
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
