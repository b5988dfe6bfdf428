"""Whether a release meets a limit is the verdict's state wherever it is told."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from core.figures.tradeoff_points import tradeoff
from core.findings.change import summarize_release
from core.findings.curves import list_curves
from core.findings.page_summary import summarize_decision
from core.findings.tradeoff import answer_tradeoff, compute_admissible, compute_tradeoff
from core.findings.verdict import judge, judge_release
from core.findings.verdict_words import compute_limit_table, explain_check
from core.release import ORIGINAL
from core.report.data import ReportData
from core.report.decision_page import build_decision
from core.report.options import ReportOptions
from tests.findings.test_stopping import make_policy
from tests.oracles.audits import make_audit

USE, LIMIT = "link_f1", 0.7
STRENGTHS = (0.1, 0.3, 0.5, 0.7, 0.9)
IDS = [f"random_deletion:strength={s}" for s in STRENGTHS]
OTHER = "the interval of another attack extends above it"
POLICY = make_policy(link=LIMIT)


def draw(risks, weaker, half, wide):
    """An audit in which the weaker attack, `weaker` below the worst, has the `wide` interval."""
    scores = {(ORIGINAL, "katz", "auc"): 0.95, (ORIGINAL, "release", USE): 1.0}
    for release, risk, strength in zip(IDS, risks, STRENGTHS, strict=True):
        scores[release, "katz", "auc"] = risk
        scores[release, "jaccard", "auc"] = risk - weaker
        scores[release, "release", USE] = 1 - strength
    view = make_audit(scores, ("katz", "jaccard"), tuple(IDS), half=half)
    results = view.results.copy()
    is_weak = results.method == "jaccard"
    results.loc[is_weak, "low"] = results.value[is_weak] - wide
    results.loc[is_weak, "high"] = results.value[is_weak] + wide
    return replace(view, results=results)


@pytest.mark.parametrize("seed", range(20))
def test_releases_that_meet_a_limit_are_those_of_the_verdict(seed):
    """Trade-off counted one as met, interval included, that the decision called not proven: of the
    weaker attack's interval it knew nothing."""
    rng = np.random.default_rng(seed)
    risks = np.sort(rng.uniform(0.55, 0.8, 5))[::-1]
    view = draw(risks, rng.uniform(0, 0.04), rng.uniform(0.005, 0.03), rng.uniform(0.01, 0.1))
    verdict = judge(view, POLICY)
    states = {one.release: one.checks[0].state for one in verdict.releases}
    # The verdict by hand: the highest upper end of either attack.
    rows = view.results[view.results.metric == "auc"].groupby("release")
    for release, own in rows:
        worst = "met" if own.high.max() <= LIMIT else "not_proven"
        assert states[release] == ("exceeded" if own.value.max() > LIMIT else worst)
    table = compute_tradeoff(view.results, "auc", USE, None, "link", verdict)
    is_met = dict(zip(table.release, compute_admissible(table, LIMIT), strict=True))
    assert is_met == {release: state == "met" for release, state in states.items()}
    told = {release for release, why in zip(table.release, table.unproven, strict=True) if why}
    assert told == {release for release, state in states.items() if state == "not_proven"}
    chart = tradeoff(view.results, "auc", USE, None, "link", LIMIT, "light", verdict)
    count = sum(states[release] == "met" for release in IDS)
    start = f"{count} of 5 defended releases" if count else "No defended release"
    assert chart.title.startswith(start)
    points = {t.customdata[0]: t for t in chart.figure.data if t.customdata is not None}
    for release, point in points.items():
        assert point.marker.symbol.endswith("-open") == (states[release] != "met")
        assert ("not proven: " in point.hovertemplate) == (states[release] == "not_proven")
    (curve,) = list_curves(table)
    found = curve.find_passing(LIMIT)
    assert (found is not None and found.proven is not None) == (states[IDS[-1]] == "met")


def test_one_attack_alone_counts_by_its_own_interval():
    view = draw([0.66] * 5, 0.01, 0.01, 0.06)
    verdict = judge(view, POLICY)
    table = compute_tradeoff(view.results, "auc", USE, "katz", "link", verdict)
    assert compute_admissible(table, LIMIT).tolist() == [False, *[True] * 5]
    assert not any(table.unproven)
    chart = tradeoff(view.results, "auc", USE, "katz", "link", LIMIT, "light", verdict)
    assert chart.title == "5 of 5 defended releases meet the limit of 0.7, by Katz alone"


def test_a_figure_beside_a_state_of_another_attack_says_so():
    """ "0.092 [0.037, 0.182], not proven, limit 0.20" gave no reason, and "[0.037, 0.269]" was
    printed as the worst attack's own."""
    view = draw([0.66] * 5, 0.01, 0.01, 0.06)
    verdict = judge(view, POLICY)
    release = verdict.find(IDS[0])
    own = "0.66 [0.65, 0.67] by Katz"
    assert explain_check(release.checks[0]).endswith(f"{own}, limit 0.70, but {OTHER}")
    (row,) = compute_limit_table(release).to_dict("records")
    assert (row["Measured"], row["State"]) == ("0.66 [0.65, 0.67]", f"not proven: {OTHER}")
    alone = replace(view, results=view.results[view.results.release.isin([ORIGINAL, IDS[0]])])
    told = [line for r in IDS[:1] for line in summarize_release(alone, r, POLICY).exact]
    assert any(f"{OTHER}." in line and "Katz" in line for line in told)
    card = summarize_release(alone, IDS[0], POLICY).cards[0]
    assert card.state == "not_proven"
    assert card.detail.endswith(f" Limit not proven: {OTHER}.")
    (line,) = (e for e in summarize_decision(verdict).exact)
    assert f"by Katz; not proven, limit 0.70: {OTHER}; n = 400." in line
    table = compute_tradeoff(view.results, "auc", USE, None, "link", verdict)
    assert answer_tradeoff(table, LIMIT, "auc", USE).endswith(f", but {OTHER}.")


def test_a_state_of_the_figure_s_own_interval_needs_no_reason():
    view = draw([0.66] * 5, 0.05, 0.05, 0.01)
    release = judge_release(view, IDS[0], POLICY)
    assert compute_limit_table(release).State.tolist() == ["not proven"]
    assert summarize_release(view, IDS[0], POLICY).cards[0].detail.endswith("5 splits.")


def test_the_report_s_table_of_limits_says_it_too():
    view = draw([0.66] * 5, 0.01, 0.01, 0.06)
    text = str(build_decision(ReportData(view, ReportOptions(policy=POLICY))))
    assert f"not proven: {OTHER}" in text
    assert "0.66 [0.65, 0.67]" in text
