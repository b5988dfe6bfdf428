"""Promises in words, the claim's region, twins: against closed forms and by hand."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

from core.audit.asked.release_info import ReleaseInfo
from core.audit.results.view import ClaimRun, ReleaseSummary
from core.audit.store.states import State
from core.figures.claim import draw_claim
from core.findings.data_independent import (
    answer_data_independent,
    compute_data_independent_table,
    show_data_independent_table,
)
from core.findings.guarantees import (
    VOID_DELTA,
    bound_chance,
    compute_claim_region,
    explain_claim,
    explain_guarantee,
    explain_signal,
    explain_target,
    list_guarantee_rows,
)
from core.privacy.claim_check import ClaimCheck
from core.privacy.guarantees import EDGE, LINK_ONCE, LINK_TWICE, NODE
from core.registry import parse_method
from core.release import Guarantee
from core.report.guarantee_cards import build_guarantees
from core.results import Estimate
from tests.figures.conftest import RELEASES, make_results, result_row
from tests.oracles.audits import tabulate_results


def make_check(**fields) -> ClaimCheck:
    base = {
        "defense": "edge_rand",
        "config": {"epsilon": 1.0},
        "unit": "edge",
        "claimed": 1.0,
        "delta": 0.0,
        "lower_bound": 0.7,
        "resolution": 3.0,
        "trials": 500,
        "planned": 500,
        "statistic": "links in question",
        "roc": np.array([[0, 0], [0.27, 0.73], [1, 1]]),
    }
    return ClaimCheck(**{**base, **fields})


def make_run(check: ClaimCheck, release: str = "edge_rand:epsilon=1.0") -> ClaimRun:
    return ClaimRun("c", State.DONE, 1.0, "", "", 1.0, release=release, trials=500, check=check)


def test_bound_is_bayes_rule_for_the_worst_output():
    """Randomised response at ε: an output e^ε times likelier under the secret's presence."""
    for prior, epsilon in ((0.5, 1.0), (0.01, 2.0), (0.3, 8.0)):
        yes, no = math.exp(epsilon) * prior, 1 - prior
        assert bound_chance(prior, epsilon) == pytest.approx(yes / (yes + no))


def test_promise_is_told_as_what_may_still_be_learnt():
    text = explain_guarantee(EDGE.make_guarantee(2.0, delta=1e-5), 300, density=0.01)
    for part in (
        "e^2 = 7.39",
        "chance of 10⁻⁵",
        "Even odds may become 88 %",
        "1 %, may become 7 %",
        "moderate",
        "any one pair is linked",
    ):
        assert part in text, part
    assert "next to nothing" in explain_guarantee(EDGE.make_guarantee(8.0), 300)
    assert "strong" in explain_guarantee(EDGE.make_guarantee(0.5), 300)
    assert "any one person" in explain_guarantee(
        NODE.make_guarantee(1.0, "exact"), 300, density=0.01
    )
    assert "no formal guarantee" in explain_guarantee(Guarantee(), 300)


def test_two_reports_of_a_link_are_held_to_twice_the_budget():
    twice, once = LINK_TWICE.make_guarantee(2.0), LINK_ONCE.make_guarantee(2.0)
    assert "e^4 = 55" in explain_guarantee(twice, 300)
    assert "e^2 = 7.39" in explain_guarantee(once, 300)
    budget = dict(list_guarantee_rows(twice))["Budget"]
    assert budget == "ε = 4; the recipient holds the reports of both ends of a link, 2 each"
    assert dict(list_guarantee_rows(once))["Budget"] == "ε = 2"
    assert dict(list_guarantee_rows(twice))["Not covered"].startswith("node set")


@pytest.mark.parametrize("kind", [EDGE, NODE, LINK_TWICE])
def test_a_chance_above_one_in_the_nodes_is_no_guarantee_however_small_its_budget(kind):
    """One node of 300, published at random, keeps to δ = 1/300; both ends of a link report 2δ."""
    largest = 1 / 300 / kind.reports
    for delta, is_void in ((0.0, False), (largest, False), (1.01 * largest, True), (0.4, True)):
        guarantee = kind.make_guarantee(0.2, delta=delta)
        text = explain_guarantee(guarantee, 300)
        assert ("That is a strong guarantee." in text) != is_void
        assert (VOID_DELTA in text) == guarantee.promises_nothing(300) == is_void
    assert VOID_DELTA in explain_guarantee(Guarantee("node", epsilon=0.5, delta=0.9), 300)


def test_a_gradient_far_below_its_noise_is_said():
    def facts(signal):
        return {
            name: Estimate(value, None, None, 1, 1)
            for name, value in (("gradient_norm", signal), ("noise_norm", 1e4))
        }

    assert "1e-10 of the noise" in explain_signal(facts(1e-6))
    assert "next to nothing of the data" in explain_signal(facts(1e-6))
    assert "next to nothing" not in explain_signal(facts(1e3))
    assert explain_signal({}) == ""


def test_it_is_said_whether_a_defense_met_its_target():
    def facts(met, attack=0.564):
        found = {"meets_target": met, "estimated_attack_auc": attack}
        return {name: Estimate(value, None, None, 1, 1) for name, value in found.items()}

    def report(found):
        info = ReleaseInfo("ppgsl:target=0.55", parse_method("ppgsl:target=0.55", "defense"))
        view = SimpleNamespace(claims=[], ledger=[], spec=SimpleNamespace(defenses=[]))
        summaries = [ReleaseSummary(info, Guarantee(), found)]
        data = SimpleNamespace(view=view, releases=summaries, ids=[], results=make_results())
        return str(build_guarantees(data))

    start = (
        "On links held out for this, the strongest of its attacks had an AUC of 0.56: the defense"
    )
    assert explain_target(facts(1.0)) == f"{start} met its target."
    assert explain_target(facts(0.5)) == f"{start} met its target in some repeats only."
    assert explain_target(facts(0.0)) == f"{start} met its target at no strength that it tried."
    assert explain_target({}) == ""
    assert f"PPGSL (target = 0.55). {start} met its target at no" in report(facts(0.0))
    assert "held out" not in report({})


def test_a_passed_check_says_what_it_does_not_prove():
    passed = explain_claim(make_run(make_check()))
    assert "was not refuted" in passed
    assert "does not prove" in passed
    for key in ("blink", "privdpr"):
        assert "half the noise" in explain_claim(make_run(make_check(defense=key)))
    double = make_check(defense="blink", unit="link", config={"epsilon": 1.0}, claimed=2.0)
    assert "held to 2ε" in explain_claim(make_run(double))
    assert "2ε" not in passed
    refuted = explain_claim(make_run(make_check(lower_bound=1.2)))
    assert "does not hold" in refuted
    assert "Do not publish" in refuted


@pytest.mark.parametrize(("epsilon", "delta"), [(0.0, 0.0), (1.0, 0.0), (2.0, 0.1), (0.5, 0.3)])
def test_region_holds_every_rule_of_a_mechanism_that_keeps_its_claim(epsilon, delta):
    """The extreme (ε, δ) mechanism touches the border; a Gaussian one stays inside."""
    region = compute_claim_region(epsilon, delta)
    assert (region.low <= region.high + 1e-12).all()
    grow = math.exp(epsilon)
    # Outcomes: "surely first" δ, then the two answers of randomised response, "surely second" δ.
    keep = (1 - delta) * grow / (1 + grow)
    first = np.array([delta, keep, 1 - delta - keep, 0.0])
    second = first[::-1]
    q, p = np.cumsum(second), np.cumsum(first)
    high = np.interp(q, region.false, region.high)
    low = np.interp(q, region.false, region.low)
    np.testing.assert_allclose(p[:2], high[:2], atol=1e-9)
    assert (p <= high + 1e-9).all()
    assert (p >= low - 1e-9).all()
    if epsilon and delta:
        from core.privacy.budget import calibrate_gaussian

        mu = 1 / calibrate_gaussian(epsilon, delta)
        rates = np.linspace(0.001, 0.999, 50)
        power = stats.norm.cdf(stats.norm.ppf(rates) + mu)
        assert (power <= np.interp(rates, region.false, region.high) + 1e-6).all()


def test_chart_has_the_games_rates_and_says_how_it_came_about():
    chart = draw_claim(make_check(), "dark")
    assert chart.table.to_numpy().tolist() == [[0, 0], [0.27, 0.73], [1, 1]]
    assert "500 releases" in chart.note
    assert any("allowed by ε = 1" in (trace.name or "") for trace in chart.figure.data)


def test_a_synthesis_owes_to_the_data_what_exceeds_its_twin():
    results = make_results()  # F1: 0.82 and 0.60, ± 0.02
    good, poor = RELEASES[1], RELEASES[2]
    table = compute_data_independent_table(results, {good: poor, poor: good})
    f1 = table[table.metric == "node_classification_f1"].set_index("release")
    assert f1.verdict.to_dict() == {good: "from the data", poor: "none"}
    assert f1.gain[good] == pytest.approx(0.22)
    assert f1.independent[good] == "0.60 [0.58, 0.62]"
    sentences = answer_data_independent(table)
    assert "exceeds its data-independent baseline" in sentences[0]
    assert "Node classification F1 by 0.22" in sentences[0]
    assert "Only the number of links is shown to come from the data." in sentences[1]
    shown = show_data_independent_table(table)
    assert set(shown["Due to"]) >= {"the data", "nothing clear"}


def test_without_intervals_a_twin_decides_nothing():
    rows = [
        result_row(r, "release", "node_classification_f1", v, None)
        for r, v in ((RELEASES[1], 0.9), (RELEASES[2], 0.1))
    ]
    table = compute_data_independent_table(tabulate_results(rows), {RELEASES[1]: RELEASES[2]})
    assert list(table.verdict) == ["unsure"]
    assert "too few repeats" in answer_data_independent(table)[0]
