"""The strengths of a defense as a curve: where it meets a limit, and what that costs."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.audit.asked.method_choice import SWEEP, SWEEP_STEPS, MethodChoice
from core.errors import InputError
from core.figures.tradeoff_points import tradeoff
from core.findings.curves import answer_curves, answer_strengths, list_curves
from core.findings.differences import is_clear
from core.findings.tradeoff import compute_tradeoff
from core.findings.verdict import judge
from core.methods import Strength
from core.registry import list_methods
from core.release import ORIGINAL
from core.report.data import ReportData
from core.report.options import ReportOptions
from core.report.results import build_tradeoff
from tests.findings.test_stopping import make_policy
from tests.oracles.audits import make_audit

STRENGTHS = (0.1, 0.3, 0.5, 0.7, 0.9)
USE = "link_f1"


def make_table(risks, kept=None, key="random_deletion:strength={}", values=STRENGTHS, half=0.01):
    """A trade-off of one defense at several strengths, and its audit."""
    kept = [1 - s for s in STRENGTHS] if kept is None else kept
    ids = [MethodChoice.parse(key.format(v), "defense").id for v in values]
    scores = {(ORIGINAL, "katz", "auc"): 0.95, (ORIGINAL, "release", USE): 1.0}
    for release, risk, use in zip(ids, risks, kept, strict=True):
        scores[release, "katz", "auc"] = risk
        scores[release, "release", USE] = use
    view = make_audit(scores, ("katz",), tuple(ids), half=half)
    return compute_tradeoff(view.results, "auc", USE, None, "link"), view


def test_the_limit_is_met_between_two_strengths():
    table, _ = make_table([0.9, 0.8, 0.7, 0.6, 0.5])
    (curve,) = list_curves(table)
    found = curve.find_passing(0.65)
    assert found.strength == pytest.approx(0.6)
    assert found.proven == pytest.approx(0.62)
    assert found.utility.value == pytest.approx(0.38), "what it costs where it is proven"
    told = "Random deletion, at a strength of 0.62 or more (by the figure alone at 0.60 or more)"
    assert curve.describe_passing(0.65, USE) == f"{told}, at links right (F1) 0.38"


def test_a_later_strength_that_exceeds_the_limit_again_counts():
    table, _ = make_table([0.9, 0.6, 0.7, 0.6, 0.5])
    assert list_curves(table)[0].find_passing(0.65).strength == pytest.approx(0.6)


def test_every_strength_and_none():
    table, _ = make_table([0.6, 0.55, 0.5, 0.5, 0.5])
    (curve,) = list_curves(table)
    assert curve.find_passing(0.65).strength == 0.1
    assert "at every strength tried, at links" in curve.describe_passing(0.65, USE)
    told = "at a strength of 0.12 or more (by the figure alone at 0.10 or more)"
    assert told in curve.describe_passing(0.605, USE)
    assert curve.find_passing(0.4) is None
    assert curve.describe_passing(0.4, USE) == "Random deletion, at no strength tried"
    none = "No strength tried is proven to meet the limit of 0.4 on Attack AUC."
    assert answer_curves([curve], 0.4, "auc", USE) == none
    assert answer_curves([], 0.4, "auc", USE) == ""


def test_a_defense_that_is_cleared_at_no_strength_is_not_offered_without_a_word():
    """The example's page named random deletion in bold, which another limit refuses throughout."""
    table, _ = make_table([0.6, 0.55, 0.5, 0.5, 0.5])
    (curve,) = list_curves(table)
    against = " None of the strengths tried is cleared for publishing."
    plain = answer_curves([curve], 0.605, "auc", USE)
    releases = curve.table.release.tolist()
    assert answer_curves([curve], 0.605, "auc", USE, releases[1:]) == plain
    assert answer_curves([curve], 0.605, "auc", USE, releases) == plain + against


def test_an_interval_that_never_meets_it_is_told():
    table, _ = make_table([0.9, 0.8, 0.7, 0.65, 0.62], half=0.05)
    (curve,) = list_curves(table)
    found = curve.find_passing(0.64)
    assert found.proven is None
    told = "by the figure alone at a strength of 0.77 or more, not proven"
    assert told in curve.describe_passing(0.64, USE)
    assert answer_curves([curve], 0.64, "auc", USE).startswith("No strength tried is proven")


def test_epsilon_runs_from_weak_to_strong_on_a_logarithmic_scale():
    values = (10.0, 1.0, 0.1)
    table, _ = make_table([0.9, 0.7, 0.5], [0.9, 0.6, 0.3], "edge_rand:epsilon={}", values)
    (curve,) = list_curves(table)
    found = curve.find_passing(0.8)
    assert found.strength == pytest.approx(10**0.5)
    assert found.proven == pytest.approx(10**0.45)
    assert found.utility.value == pytest.approx(0.735)
    told = "at ε = 2.82 or less (by the figure alone at 3.16 or less)"
    assert told in curve.describe_passing(0.8, USE)


def test_the_budget_is_that_of_the_guarantee():
    """Blink's ε of one report stood where every other page has 2ε, and so did the line's ends."""
    values = (8.0, 2.0, 0.5)
    table, view = make_table([0.9, 0.7, 0.5], [0.9, 0.6, 0.3], "blink:epsilon={}", values, 0)
    (curve,) = list_curves(table)
    assert curve.table.title.iloc[0] == "Blink (2ε = 16)"
    assert curve.table.strength.tolist() == [16, 4, 1]
    assert "Blink, at 2ε = 8.00 or less, at links" in curve.describe_passing(0.8, USE)
    lines = [t for t in tradeoff(view.results, "auc", USE).figure.data if t.mode == "lines+text"]
    assert [line.text for line in lines] == [("16", "", "1")]


TWO = {"random_deletion": [0.9, 0.8, 0.7, 0.6, 0.5], "random_rewiring": [0.8, 0.6, 0.5, 0.5, 0.5]}


def make_two(less=0.0, half=0.01):
    """Two defenses at five strengths; the second keeps `less` of the links at each."""
    scores = {(ORIGINAL, "katz", "auc"): 0.95, (ORIGINAL, "release", USE): 1.0}
    ids = []
    for number, (key, values) in enumerate(TWO.items()):
        for strength, risk in zip(STRENGTHS, values, strict=True):
            ids.append(MethodChoice.parse(f"{key}:strength={strength}", "defense").id)
            scores[ids[-1], "katz", "auc"] = risk
            scores[ids[-1], "release", USE] = 1 - strength - number * less
    return make_audit(scores, ("katz",), tuple(ids), half=half)


def test_strengths_as_useful_within_noise_are_all_named():
    """Random deletion at F1 0.31 was "the least cost" beside Blink at 0.30, both ± 0.07."""
    policy = make_policy(link=0.65)

    def answer(less):
        view = make_two(less)
        return answer_strengths(view.results, judge(view, policy), "link", "auc", USE)

    # Met at 0.62 and 0.26, so that links right are 0.38 and 0.74 − less.
    start = "On the curves, the limit of 0.65 on Attack AUC is met "
    assert answer(0.0).startswith(f"{start}at the least cost by Random rewiring, at a strength")
    assert answer(0.40).startswith(f"{start}at the least cost by Random deletion, at a strength")
    tie = answer(0.365)
    assert tie.startswith(f"{start}by Random ")
    assert "least cost" not in tie
    assert " As useful within noise: Random " in tie
    assert tie.count("Random deletion, at a strength of 0.62 or more") == 1


def test_a_cost_alone_is_not_the_least():
    table, _ = make_table([0.9, 0.8, 0.7, 0.6, 0.5])
    told = answer_curves(list_curves(table), 0.65, "auc", USE)
    assert told.startswith(
        "On the curves, the limit of 0.65 on Attack AUC is met only by Random de"
    )


def test_usefulness_between_strengths_is_compared_repeat_by_repeat():
    """Both curves sway with the split, and one keeps 0.05 more on every one of them."""
    table, _ = make_table([0.9, 0.8, 0.7, 0.6, 0.5], half=0.2)
    sway = np.array([-0.1, 0.0, 0.1])
    rows = [dict(enumerate((1 - s + sway).tolist())) for s in STRENGTHS]
    (curve,) = list_curves(table.assign(utility_repeats=[{}, *rows]))
    found = curve.find_passing(0.85)
    weight = (found.proven - 0.3) / 0.2
    by_hand = [
        (1 - weight) * a + weight * b for a, b in zip(*(r.values() for r in rows[1:3]), strict=True)
    ]
    assert list(found.utility.repeats.values()) == pytest.approx(by_hand)
    assert found.utility.high - found.utility.value == pytest.approx(0.2)
    more = found.utility._replace(
        value=found.utility.value + 0.05,
        repeats={k: v + 0.05 + 0.01 * (k - 1) for k, v in found.utility.repeats.items()},
    )
    assert is_clear(found.utility, more)
    assert not is_clear(found.utility, more._replace(repeats={}))


def test_a_cleared_release_of_a_drawn_curve_is_counted():
    """ "None of the strengths tried is cleared" stood under a cleared one of another curve."""
    view = make_two()
    table = compute_tradeoff(view.results, "auc", USE, None, "link")
    curves = list_curves(table)
    ids = table.release[table.release != ORIGINAL].tolist()
    plain = answer_curves(curves, 0.65, "auc", USE)
    assert "by Random rewiring" in plain
    one = ids[3]
    assert one.startswith("random_deletion")
    told = answer_curves(curves, 0.65, "auc", USE, [i for i in ids if i != one])
    assert told == (
        f"{plain} None of these is cleared for publishing; on the curves, "
        f"{table.set_index('release').title[one]} is."
    )
    assert answer_curves(curves, 0.65, "auc", USE, ids[:-1]) == plain
    none = " None of the strengths tried is cleared for publishing."
    assert answer_curves(curves, 0.65, "auc", USE, ids) == plain + none


def test_the_cheapest_proven_strength_answers():
    view = make_two()
    table = compute_tradeoff(view.results, "auc", USE, None, "link")
    curves = list_curves(table)
    assert [curve.title for curve in curves] == ["Random deletion", "Random rewiring"]
    said = answer_curves(curves, 0.65, "auc", USE)
    assert said.startswith(
        "On the curves, the limit of 0.65 on Attack AUC is met at the least cost by Random rewi"
    )
    assert "at a strength of 0.26 or more (by the figure alone at 0.25 or more)" in said
    chart = tradeoff(view.results, "auc", USE, threat="link", max_risk=0.65)
    lines = [trace for trace in chart.figure.data if trace.mode == "lines+text"]
    assert [trace.name for trace in lines] == ["Random deletion", "Random rewiring"]
    assert [trace.text for trace in lines] == [("0.1", "", "", "", "0.9")] * 2
    assert "Lines join the strengths" in chart.note


def test_other_settings_and_single_strengths_make_no_curve():
    table, _ = make_table([0.9], [0.5], values=(0.5,))
    assert list_curves(table) == []
    table, view = make_table([0.9, 0.8], [0.5, 0.4], "ppgsl:alpha=0.1,steps={}", (50, 60))
    assert list_curves(table) == []
    chart = tradeoff(view.results, "auc", USE, threat="link")
    assert {t.name for t in chart.figure.data if t.mode == "lines"} <= {"Pareto front"}


@given(st.integers(2, 20), st.booleans())
def test_strengths_are_even_between_the_declared_ends(count, is_log):
    strength = Strength("s", 8.0, 0.5, is_log=is_log)
    values = np.array(strength.list_values(count))
    assert (values[0], values[-1]) == (8.0, 0.5)
    steps = np.diff(np.log(values) if is_log else values)
    assert steps == pytest.approx(np.full(count - 1, steps.mean()), abs=0.02)


@pytest.mark.parametrize("method", list_methods("defense"), ids=lambda m: m.info.key)
def test_every_defense_is_valid_at_every_strength(method):
    varied = method().vary(SWEEP_STEPS)
    if method.acts_by is None:
        assert varied == [method()]
        return
    values = [each.config[method.acts_by.setting] for each in varied]
    assert (values[0], values[-1]) == (method.acts_by.weakest, method.acts_by.strongest)
    assert len(set(values)) == len(varied) == SWEEP_STEPS
    text = f"{method.info.key}:{method.acts_by.setting}={SWEEP}"
    assert [c.make_defense() for c in MethodChoice.expand(text, "defense")] == varied


def test_a_sweep_keeps_other_settings_and_refuses_other_names():
    (first, *_, last) = MethodChoice.expand("ppgsl: steps=50, alpha = sweep", "defense")
    assert (first.config["steps"], first.config["alpha"], last.config["alpha"]) == (50, 0.1, 0.003)
    with pytest.raises(InputError, match="use alpha=sweep"):
        MethodChoice.expand("ppgsl:steps=sweep", "defense")
    with pytest.raises(InputError, match="it has none"):
        MethodChoice.expand("dpr:epsilon=sweep", "defense")
    with pytest.raises(InputError, match="alpha=sweep"):
        MethodChoice.expand("ppgsl:alpha=sweep,steps=sweep", "defense")


def test_the_report_draws_a_line_a_defense_and_gives_the_page_s_answer():
    table, view = make_table([0.9, 0.8, 0.7, 0.6, 0.5])
    data = ReportData(view, ReportOptions(policy=make_policy(link=0.65)))
    (figure,) = build_tradeoff(data)
    assert answer_curves(list_curves(table), 0.65, "auc", USE) in figure["caption"]
    assert "Not drawn" not in figure["caption"]
    drawn = re.findall(r">([^<>]+)</text>", data.images[figure["name"]])
    assert {"Random deletion", "0.1", "0.9"} <= set(drawn)
    assert not [text for text in drawn if "strength" in text], "no entry a release on a line"


@pytest.mark.parametrize("seed", range(12))
def test_page_and_report_give_one_answer_for_drawn_audits(seed):
    """The report answered from the eight releases that it draws: it knew none that passed."""
    rng = np.random.default_rng(seed)
    scores = {(ORIGINAL, "katz", "auc"): 0.95, (ORIGINAL, "release", USE): 1.0}
    ids = []
    for key, values in (
        ("random_deletion:strength={}", STRENGTHS),
        ("blink:epsilon={}", (8.0, 4.0, 2.0, 1.0, 0.5)),
        ("dice:strength={}", STRENGTHS[:2]),
    ):
        risks, kept = (np.sort(rng.uniform(0.4, 0.95, len(values)))[::-1] for _ in range(2))
        for value, risk, use in zip(values, risks, kept, strict=True):
            ids.append(MethodChoice.parse(key.format(value), "defense").id)
            scores[ids[-1], "katz", "auc"] = float(risk)
            scores[ids[-1], "jaccard", "auc"] = float(risk - rng.uniform(0, 0.1))
            scores[ids[-1], "release", USE] = float(use)
    view = make_audit(scores, ("katz", "jaccard"), tuple(ids), half=float(rng.uniform(0.01, 0.1)))
    policy = make_policy(link=round(float(rng.uniform(0.5, 0.8)), 2))
    data = ReportData(view, ReportOptions(policy=policy))
    assert len(data.shown) < len(view.releases)
    (figure,) = build_tradeoff(data)
    page = answer_strengths(view.results, judge(view, policy), "link", "auc", USE)
    assert page
    assert figure["caption"].endswith(f" {page}")
    assert f"Not drawn: {len(view.releases) - len(data.shown)} more releases." in figure["caption"]
    # What it says a curve reaches, by hand: the first strength beyond which all meet the limit.
    limit = policy.limits[0].limit
    verdict = judge(view, policy)
    for curve in list_curves(compute_tradeoff(view.results, "auc", USE, None, "link", verdict)):
        states = [verdict.find(release).checks[0].state for release in curve.table.release]
        is_met = states[-1] == "met"
        found = curve.find_passing(limit)
        assert (found is not None and found.proven is not None) == is_met
        assert (f"{curve.title}, at" in page) <= is_met
