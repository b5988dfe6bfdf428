"""What stands at the top of each page: short, one number a clause, and true."""

from __future__ import annotations

import re

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.audit.results.node_risks import NODE_COLUMNS
from core.findings.change import summarize_release
from core.findings.exposure import summarize_risk
from core.findings.facts import Count, format_frequencies, format_frequency
from core.findings.homophily import summarize_homophily
from core.findings.page_summary import PageSummary, summarize_decision
from core.findings.policy import find_policy
from core.findings.strongest import summarize_attacks
from core.findings.tradeoff import summarize_tradeoff
from core.findings.verdict import judge
from core.release import ORIGINAL
from tests.oracles.audits import make_audit, make_noise

ATTACKS = ("adamic_adar", "degree_product", "gcn", "class_prior")
RELEASE = "random_deletion"
NAMES = (ORIGINAL, RELEASE)
POLICY = find_policy("public")
NUMBER = re.compile(r"(?<![\w.,])[\d][\d.,]*(?: of [\d][\d.,]*)?")
CLAUSE = re.compile(r"[,;:] | and | but | while | against ")


def summarize_all(view) -> list[PageSummary]:
    return [
        summarize_decision(judge(view, POLICY)),
        summarize_attacks(view, policy=POLICY),
        summarize_release(view, RELEASE),
        summarize_risk(view),
        summarize_risk(view, RELEASE),
        summarize_homophily(view),
        summarize_tradeoff(view, judge(view, POLICY)),
    ]


def make_scores(link=0.36, baseline=0.16, after=0.05, **more):
    scores = make_noise(NAMES, ATTACKS)
    scores[ORIGINAL, "adamic_adar", "tpr_at_fpr_0.01"] = link
    scores[ORIGINAL, "degree_product", "tpr_at_fpr_0.01"] = baseline
    scores[RELEASE, "adamic_adar", "tpr_at_fpr_0.01"] = after
    for release, use in zip(NAMES, (0.9, 0.7), strict=True):
        scores[release, "release", "node_classification_auc"] = use
        for key in ("proximity", "role"):
            scores[release, "release", f"ghratio_{key}"] = 0.6
            scores[release, "release", f"ghratio_{key}_gap"] = 0.25
    return {**scores, **more}


def make_people(gain=0.5, count=40):
    rows = [
        (f"n{i}", release, "gcn", 0.5 + gain * (i < 12), gain * (i < 12), 0.5, 1.0, 5)
        for release in NAMES
        for i in range(count)
    ]
    return pd.DataFrame(rows, columns=list(NODE_COLUMNS))


def check_style(summary: PageSummary) -> None:
    sentence = summary.sentence
    assert len(sentence.split()) <= 25, sentence
    assert sentence.endswith(".")
    assert not re.search(r"[()\[\]{}=*_]", sentence), sentence
    for clause in CLAUSE.split(sentence):
        assert len(NUMBER.findall(clause)) <= 1, sentence
    for card in summary.cards:
        assert all((card.title, card.value, card.detail))
        assert card.state in (None, "met", "exceeded", "not_proven", "not_tested")


@settings(max_examples=15)
@given(
    st.lists(st.sampled_from([0.0, 0.0017, 0.043, 0.36, 0.5, 0.996, 1.0]), min_size=3, max_size=3),
    st.sampled_from([0.001, 0.01, 0.2, float("nan")]),
    st.integers(0, 40),
)
def test_every_sentence_is_short_and_has_one_number_a_clause(values, half, people):
    view = make_audit(make_scores(*values), ATTACKS, half=half, nodes=make_people(count=people))
    for summary in summarize_all(view):
        check_style(summary)


def test_an_empty_audit_has_its_sentences():
    for summary in summarize_all(make_audit({}, ATTACKS)):
        check_style(summary)
        assert not any(character.isdigit() for character in summary.sentence), summary.sentence


def test_what_differs_is_told_with_both_numbers():
    view = make_audit(make_scores(), ATTACKS, nodes=make_people())
    assert summarize_attacks(view, policy=POLICY).sentence == (
        "An attacker finds 36 of 100 withheld links while accusing 1 of 100 unconnected pairs; "
        "a baseline attacker reaches 16 of 100."
    )
    assert summarize_release(view, RELEASE).sentence == (
        "With Random deletion, an attacker finds fewer withheld links, "
        "but not clearly fewer private values."
    )
    links = ("adamic_adar", "degree_product")
    scores = {key: value for key, value in make_scores().items() if key[1] in links}
    assert summarize_release(make_audit(scores, links), RELEASE).sentence == (
        "With Random deletion, an attacker reaches 5 of 100 withheld links, "
        "against 36 of 100 on the original."
    )
    ranked = {
        (release, attack, "auc"): 0.6 for release in ("original", RELEASE) for attack in links
    }
    assert summarize_release(make_audit(ranked, links), RELEASE).sentence == (
        "Random deletion does not clearly change the AUC that an attacker reaches."
    )
    assert summarize_risk(view).sentence == (
        "On the original, 12 of 40 people are exposed to attribute inference."
    )
    assert summarize_homophily(view).sentence == (
        "60 of 100 role peers share a person's value, against 35 of 100 by chance."
    )


def test_a_card_and_what_it_is_compared_with_have_one_denominator():
    """ "37 of 1,000; limit 3 of 100" had to be converted in the head."""
    view = make_audit(make_scores(link=0.037, baseline=0.02, after=0.043), ATTACKS)
    shown = [
        *summarize_decision(judge(view, POLICY)).cards,
        *summarize_attacks(view, policy=POLICY).cards,
        *summarize_release(view, RELEASE).cards,
    ]
    pairs = [re.findall(r"of ([\d,]*\d)", f"{card.value} {card.compared_with}") for card in shown]
    assert ["1,000", "1,000"] in pairs
    assert all(len(set(pair)) <= 1 for pair in pairs), shown


def test_a_far_smaller_share_does_not_make_the_larger_one_long():
    """ "3,094 of 10,000, baseline 14 of 10,000" had four digits where two say as much."""
    assert format_frequencies(0.3094, 0.0014) == ("31 of 100", "fewer than 1 of 100")
    assert format_frequencies(0.0057, 0.1) == ("fewer than 1 of 100", "10 of 100")
    assert format_frequencies(0.0, 0.36) == ("0 of 100", "36 of 100")
    assert format_frequencies(0.005, 0.01) == ("5 of 1,000", "10 of 1,000")


def test_homophily_within_noise_is_called_so():
    scores = make_scores()
    scores[ORIGINAL, "release", "ghratio_role_gap"] = 0.005
    near, role = summarize_homophily(make_audit(scores, ATTACKS)).cards
    assert role.compared_with.endswith(", within noise")
    assert "noise" not in near.compared_with


def test_where_figures_do_not_join_the_worst_change_is_told():
    """AUC alone was measured of links; that a release shows more values must not go unsaid."""
    scores = {k: v for k, v in make_scores().items() if k[2] != "tpr_at_fpr_0.01" or k[1] == "gcn"}
    for attack, values in (("adamic_adar", (0.9, 0.6)), ("gcn", (0.1, 0.4))):
        metric = "tpr_at_fpr_0.01" if attack == "gcn" else "auc"
        for release, value in zip(NAMES, values, strict=True):
            scores[release, attack, metric] = value
    told = summarize_release(make_audit(scores, ATTACKS), RELEASE).sentence
    assert "40 of 100 private values, against 10 of 100" in told


@pytest.mark.parametrize(("link", "baseline"), [(0.16, 0.16), (0.161, 0.16)])
def test_noise_is_called_no_difference(link, baseline):
    view = make_audit(make_scores(link, baseline, link), ATTACKS)
    assert "reaches" not in summarize_attacks(view, policy=POLICY).sentence
    unchanged = summarize_release(view, RELEASE)
    assert "not clearly" in unchanged.sentence
    assert unchanged.cards[0].compared_with.endswith((", no difference", ", within noise"))
    changed = summarize_release(make_audit(make_scores(), ATTACKS), RELEASE)
    assert not changed.cards[0].compared_with.endswith((", no difference", ", within noise"))
    assert changed.cards[1].compared_with.endswith((", no difference", ", within noise"))


def test_the_decision_names_the_least_severe_release_and_the_original_may_be_it():
    scores = make_scores(link=0.2, after=0.4)
    told = summarize_decision(judge(make_audit(scores, ATTACKS), POLICY)).sentence
    assert told == (
        "Do not publish: each of the 2 releases exceeds at least one limit; the original comes "
        "closest to passing."
    )
    tied = summarize_decision(
        judge(make_audit(make_scores(link=0.4, after=0.4), ATTACKS), POLICY)
    ).sentence
    assert "none comes clearly closest" in tied


def test_releases_are_compared_over_the_attackers_that_both_faced():
    """An attacker that the original never met makes the release look neither worse nor better."""
    scores = make_scores(link=0.36, after=0.05)
    scores[RELEASE, "jaccard", "tpr_at_fpr_0.01"] = 0.6
    summary = summarize_release(make_audit(scores, ATTACKS), RELEASE)
    assert "does not clearly change" in summary.sentence
    assert summary.cards[0].value == "60 of 100"
    assert any("On one of the two only" in line for line in summary.exact)


def test_an_adaptive_attacker_is_compared_with_its_standard_form_on_the_original():
    """There is no defense to adapt to: the original has no row of it."""
    scores = make_scores(link=0.36, after=0.05)
    scores[RELEASE, "adamic_adar@adaptive", "tpr_at_fpr_0.01"] = 0.6
    summary = summarize_release(make_audit(scores, ATTACKS), RELEASE)
    assert "finds more withheld links" in summary.sentence
    assert not any("On one of the two only" in line for line in summary.exact)


def test_small_counts_can_be_hidden():
    assert Count(3, 5).format(10) == "fewer than 10 of 5"
    assert Count(0, 5).format(10) == "0 of 5"


def test_the_worst_threat_leads_and_its_worst_figure():
    """A threat far above its limit goes before one that comes first in the list."""
    scores = make_scores(link=0.06, baseline=0.01, after=0.01)
    for metric, value, guess in (("tpr_at_fpr_0.01", 0.2, 0.1), ("accuracy", 0.9, 0.3)):
        scores[ORIGINAL, "gcn", metric] = value
        scores[ORIGINAL, "class_prior", metric] = guess
    view = make_audit(scores, ATTACKS)
    told = "An attacker guesses 90 of 100 private values right; a baseline attacker reaches 30"
    for policy in (POLICY, None):
        assert summarize_attacks(view, policy=policy).sentence.startswith(told)


def test_a_threat_that_noise_explains_does_not_lead():
    """It is further above its limit, but a baseline attacker may do as well."""
    scores = make_scores(link=0.26, baseline=0.11, after=0.01)
    scores[ORIGINAL, "gcn", "tpr_at_fpr_0.01"] = 0.405
    scores[ORIGINAL, "class_prior", "tpr_at_fpr_0.01"] = 0.4
    view = make_audit(scores, ATTACKS)
    for policy in (POLICY, None):
        told = summarize_attacks(view, policy=policy).sentence
        assert told.startswith("An attacker finds 26 of 100 withheld links")


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0.36, "36 of 100"),
        (0.043, "43 of 1,000"),
        (0.0017, "17 of 10,000"),
        (0.0, "0 of 100"),
        (1.0, "100 of 100"),
        (0.996, "996 of 1,000"),
        (1e-7, "fewer than 1 of 100,000"),
        (0.9999999, "99,999 of 100,000"),
    ],
)
def test_frequencies_have_two_significant_digits(share, text):
    assert format_frequency(share) == text


@given(st.floats(0, 1), st.floats(0, 1))
def test_frequencies_keep_their_order(first, second):
    texts = format_frequencies(first, second)
    values = []
    for text in texts:
        found = re.findall(r"[\d,]+", text)
        values.append(int(found[0].replace(",", "")) / int(found[1].replace(",", "")))
    if first <= second:
        assert values[0] <= values[1] + 1e-9
