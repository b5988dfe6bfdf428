"""One limit and one release: each clause of their decision, at its boundary."""

from __future__ import annotations

import pytest

from core.audit.asked.release_info import parse_release
from core.findings.evidence import Evidence
from core.findings.policy import Limit, Policy
from core.findings.verdict import Check, ReleaseVerdict, Verdict, find_least_severe

TESTED = Evidence(0.05, 0.02, 0.08)


def check_limit(found, limit=0.1, weight="stop", optional=False, threat="link"):
    one = {"name": "x", "title": "x", "source": "x", "threat": threat, "metric": "auc"}
    asked = Limit(**one, limit=limit, weight=weight, optional=optional)
    return Check(limit=asked, evidence=found)


def judge_one(*checks, release="random_deletion", **more):
    return ReleaseVerdict(made=parse_release(release), checks=checks, **more)


@pytest.mark.parametrize(
    ("value", "high", "state", "by_stop", "by_review", "by_optional"),
    [
        (0.1, 0.1, "met", "publish", "publish", "publish"),
        (0.05, 0.11, "not_proven", "review", "review", "review"),
        (0.05, None, "not_proven", "review", "review", "review"),
        (0.11, 0.2, "exceeded", "do_not_publish", "review", "do_not_publish"),
        (0.11, None, "exceeded", "do_not_publish", "review", "do_not_publish"),
        (None, None, "not_tested", "review", "review", "publish"),
    ],
)
def test_a_limit_decides_by_its_state(value, high, state, by_stop, by_review, by_optional):
    found = Evidence(value, None if value is None else 0.0, high)
    assert check_limit(found).state == state
    assert check_limit(found).decision == by_stop
    assert check_limit(found, weight="review").decision == by_review
    assert check_limit(found, optional=True).decision == by_optional


def test_a_limit_of_zero_has_a_finite_severity():
    assert check_limit(Evidence(0.2, 0.1, 0.3), limit=0.0).severity == pytest.approx(200)
    assert check_limit(Evidence(0.2, 0.1, 0.3), limit=0.4).severity == pytest.approx(0.5)
    assert check_limit(Evidence()).severity == 0


def test_what_stands_against_a_release_beside_its_limits():
    met, untested = check_limit(TESTED), check_limit(Evidence(), optional=True)
    assert judge_one(met, untested).decision == "publish"
    assert judge_one(untested).decision == "review"  # nothing was tested at all
    for more in ({"untried": ("x",)}, {"obstacle": "x"}, {"is_unchanged": True}):
        assert judge_one(met, **more).decision == "review"
    assert judge_one(met, refuted=("x",)).decision == "do_not_publish"


def find_least(*releases):
    limits = tuple(check.limit for check in releases[0].checks)
    policy = Policy(key="house", version=1, title="House", limits=limits)
    return find_least_severe(Verdict(policy=policy, releases=releases, recommended=None))


def test_the_least_severe_release_was_tested_by_attacks_and_is_no_baseline():
    worse = judge_one(check_limit(Evidence(0.2, 0.19, 0.21)))
    useful = judge_one(check_limit(TESTED, threat="release"), release="dice")
    baseline = judge_one(check_limit(TESTED), release="dp_1k:data_free=True")
    assert baseline.made.is_data_independent
    assert find_least(worse, useful, baseline) == ["random_deletion"]


def test_noise_is_that_of_the_worst_attack():
    """`high` is the largest upper end over all attacks, which another one may have."""
    first = judge_one(check_limit(Evidence(0.2, 0.19, 0.9, own_high=0.21)))
    second = judge_one(check_limit(Evidence(0.3, 0.29, 0.9, own_high=0.31)), release="dice")
    assert find_least(first, second) == ["random_deletion"]
    unknown = judge_one(check_limit(Evidence(0.3, 0.29, 0.9)), release="dice")
    assert find_least(first, unknown) == ["random_deletion", "dice"]
