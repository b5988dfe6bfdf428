"""All releases against all limits, and what has changed since an earlier audit."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from core.audit.asked.release_info import parse_release
from core.figures.limit_panels import SYMBOLS, compare_releases
from core.findings.comparing import answer_changes, compute_comparison
from core.findings.facts import STATE_TITLES
from core.findings.palette import WITHIN_FILL
from core.findings.policy import find_policy
from core.findings.verdict import Verdict, judge
from tests.oracles.audits import list_attack_keys, make_audit, make_noise

RELEASES = ("original", "random_deletion", "edge_rand:epsilon=3")
MADE = list(map(parse_release, RELEASES))
EARLIER = "the audit of 3 March 2026"


def judge_audit(found: float, half: float = 0.01) -> Verdict:
    """Noise everywhere but for one link attack that finds `found` at 1 % on the original."""
    attacks = list_attack_keys()
    scores = make_noise(RELEASES, attacks)
    scores["original", "adamic_adar", "tpr_at_fpr_0.01"] = found
    return judge(make_audit(scores, attacks, RELEASES[1:], half), find_policy("public"))


def find_row(table, release="original", name="links_1"):
    return table[(table.release == release) & (table.name == name)].iloc[0]


def test_a_row_a_limit_and_release_as_the_verdict_has_it():
    verdict = judge_audit(0.4)
    table = compute_comparison(verdict)
    checks = {(r.release, c.limit.name): c for r in verdict.releases for c in r.checks}
    measured = {key: c for key, c in checks.items() if c.evidence.value is not None}
    assert set(zip(table.release, table.name, strict=True)) == set(measured)
    for row in table.itertuples():
        check = measured[row.release, row.name]
        assert (row.value, row.limit) == (check.evidence.value, check.limit.limit)
        assert row.state == STATE_TITLES[check.state]
    assert find_row(table).state == "exceeded"
    assert table.before.isna().all()


@pytest.mark.parametrize(
    ("found", "state"), [(0.01, "met"), (0.045, "not proven"), (0.4, "exceeded")]
)
def test_what_is_not_proven_is_drawn_apart_from_what_is_met(found, state):
    """ "Not proven" was kept in the picture and broken in audit.json."""
    table = compute_comparison(judge_audit(found))
    assert find_row(table).state == state
    chart = compare_releases(table, MADE)
    points = [t for t in chart.figure.data if t.text is not None]
    drawn = {x: s for t in points for x, s in zip(t.x, t.marker.symbol, strict=True)}
    assert drawn[found] == SYMBOLS[state]
    assert len(set(SYMBOLS.values())) == len(SYMBOLS)


@pytest.mark.parametrize(
    ("before", "change"), [(0.4, ""), (0.405, ""), (0.419, ""), (0.43, "lower"), (0.2, "higher")]
)
def test_only_what_lies_outside_both_intervals_is_a_change(before, change):
    table = compute_comparison(judge_audit(0.4), judge_audit(before))
    assert find_row(table).change == change
    assert find_row(table).before == before
    assert (table[table.release != "original"].change == "").all()
    text = answer_changes(table, EARLIER)
    if change:
        assert f"on Original is {change}, 0.40 [0.39, 0.41] after" in text
    else:
        assert "Nothing has clearly changed since the audit of 3 March 2026" in text


def test_without_anything_in_common_nothing_is_compared():
    table = compute_comparison(judge_audit(0.4))
    assert answer_changes(table, EARLIER) == f"Nothing here was measured in {EARLIER}."


def test_the_figure_draws_each_value_once_against_its_limit():
    table = compute_comparison(judge_audit(0.4), judge_audit(0.2))
    chart = compare_releases(table, MADE, "dark", EARLIER)
    points = [t for t in chart.figure.data if t.text is not None]
    assert len(points) == table.name.nunique()
    drawn = np.sort(np.concatenate([np.asarray(t.x, float) for t in points]))
    assert drawn == pytest.approx(np.sort(table.value))
    symbols = {s for t in points for s in t.marker.symbol}
    assert symbols == {SYMBOLS[state] for state in table.state}
    within = [s for s in chart.figure.layout.shapes if s.type == "rect"]
    assert sorted(s.x1 for s in within) == sorted(table.drop_duplicates("name").limit)
    assert {s.fillcolor for s in within} == {WITHIN_FILL}
    lines = [s.x0 for s in chart.figure.layout.shapes if s.type == "line"]
    assert sorted(lines) == sorted(table.drop_duplicates("name").limit)
    assert EARLIER in chart.note
    assert compare_releases(table.head(0), MADE).is_empty


@pytest.mark.parametrize("num_releases", [1, 3])
def test_titles_have_room_below_the_numbers_of_the_panels_above(num_releases: int):
    releases = RELEASES[:num_releases]
    table = compute_comparison(judge_audit(0.4))
    layout = compare_releases(
        table[table.release.isin(releases)], MADE[:num_releases]
    ).figure.layout
    room = layout.height - layout.margin.t - layout.margin.b
    domains = sorted(_domains(layout))
    gaps = [room * (above[0] - below[1]) for below, above in itertools.pairwise(domains)]
    assert gaps
    assert min(gaps) >= 90  # three lines of a title and one of numbers


def test_names_of_three_lines_have_room_above_each_other():
    releases = ("original", "rw_lp:strength=0.5", "random_deletion")
    attacks = list_attack_keys()
    view = make_audit(make_noise(releases, attacks), attacks, releases[1:])
    table = compute_comparison(judge(view, find_policy("public")))
    layout = compare_releases(table, list(map(parse_release, releases))).figure.layout
    low, high = min(_domains(layout))
    room = (high - low) * (layout.height - layout.margin.t - layout.margin.b) / len(releases)
    lines = max(text.count("<br>") + 1 for text in layout.yaxis.ticktext)
    assert lines == 3
    assert room >= 18 * lines


def _domains(layout) -> set[tuple[float, float]]:
    return {tuple(np.round(layout[key].domain, 6)) for key in layout if key.startswith("yaxis")}


def test_the_figure_says_whose_upper_end_it_draws():
    table = compute_comparison(judge_audit(0.4))
    assert "up to the highest end of any" in compare_releases(table, MADE).note
