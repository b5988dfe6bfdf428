"""Conclusions that once pointed the wrong way, each with the case that misled."""

from __future__ import annotations

import re
from dataclasses import replace

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.audit.store.states import State
from core.findings.change import summarize_release
from core.findings.differences import find_noise, is_clear
from core.findings.facts import Count, format_frequencies, format_frequency
from core.findings.homophily import answer_mechanisms, explain_missing_ratios, summarize_homophily
from core.findings.page_summary import summarize_decision
from core.findings.pair_profile import answer_pair_profile
from core.findings.policy import find_policy
from core.findings.strongest import answer_attack, summarize_attacks
from core.findings.tables import list_metrics
from core.findings.tradeoff import answer_tradeoff, compute_tradeoff
from core.findings.verdict import judge
from core.findings.verdict_words import (
    describe_decision,
    explain_others,
    explain_release,
    list_refused,
)
from core.release import ORIGINAL
from tests.oracles.audits import list_attack_keys, make_audit, make_noise, tabulate_results

ATTACKS = list_attack_keys()
LINKS = ("adamic_adar", "degree_product")
RELEASE = "random_deletion"
NAMES = (ORIGINAL, RELEASE)


def make_scores(**values):
    """auc_null, tpr_best … → results of one real and one baseline attacker on the original."""
    scores = {}
    for name, value in values.items():
        metric, _, who = name.rpartition("_")
        metric = {"auc": "auc", "tpr": "tpr_at_fpr_0.01"}[metric]
        scores[ORIGINAL, LINKS[who == "null"], metric] = value
    return scores


def test_equal_auc_and_thrice_the_rate_at_few_false_alarms_beats_the_null():
    scores = make_scores(auc_best=0.75, auc_null=0.75, tpr_best=0.43, tpr_null=0.16)
    text = answer_attack(make_audit(scores, LINKS).results, "link")
    first, _, rest = text.partition(". ")
    assert "finds 0.43 [0.42, 0.44] of the secrets at 1 % FPR" in first
    assert "0.27 [0.26, 0.28] above the best baseline attacker, Degree product at 0.16" in text
    assert "did not beat" not in first
    assert "Overall" in rest
    assert "reaches an AUC of 0.75 [0.74, 0.76]" in rest
    assert "did not beat" in rest


def test_a_better_auc_is_no_beating_where_its_noise_is_larger():
    scores = make_scores(auc_best=0.75, auc_null=0.74)
    text = answer_attack(make_audit(scores, LINKS, half=0.01).results, "link")
    assert "It is not clearly above the best baseline attacker" in text
    clear = answer_attack(make_audit(scores, LINKS, half=0.005).results, "link")
    assert "0.010 [0.003, 0.017] above the best baseline" in clear


def test_beaten_by_nothing_is_said_of_every_metric():
    scores = make_scores(auc_best=0.6, auc_null=0.75, tpr_best=0.1, tpr_null=0.2)
    text = answer_attack(make_audit(scores, LINKS).results, "link")
    assert text.count("did not beat") == 2


def test_tradeoff_of_the_harmless_threat_does_not_recommend_what_the_other_refuses():
    """Attribute attacks learn nothing anywhere; link attacks find 43 % on original and weak."""
    weak, strong = "random_deletion:strength=0.1", "random_deletion:strength=0.9"
    names = (ORIGINAL, weak, strong)
    scores = make_noise(names, ATTACKS)
    for release, use in zip(names, (0.9, 0.85, 0.6), strict=True):
        scores[release, "release", "node_classification_auc"] = use
        scores[release, "adamic_adar", "tpr_at_fpr_0.01"] = 0.01 if release == strong else 0.43
    view = make_audit(scores, ATTACKS, (weak, strong))
    refused = list_refused(judge(view, find_policy("public")))
    table = compute_tradeoff(view.results, "auc", "node_classification_auc", threat="attribute")
    text = answer_tradeoff(table, 0.7, "auc", "node_classification_auc", refused)
    assert "Random deletion (strength = 0.9)" in text
    assert "Original, Withheld links found (TPR at 1 % FPR): 0.43" in text
    alone = answer_tradeoff(table, 0.7, "auc", "node_classification_auc")
    assert "Original" not in alone


@pytest.mark.parametrize(("uses", "words"), [((0.70, 0.70), "within noise"), ((0.8, 0.6), "most")])
def test_the_most_useful_is_named_beyond_noise_only_and_beside_the_original(uses, words):
    """ "The most useful is Random rewiring: 0.70" where another tied and the original had 1.00."""
    names = (ORIGINAL, "random_rewiring", RELEASE)
    scores = make_noise(names, ATTACKS)
    for release, use in zip(names, (1.0, *uses), strict=True):
        scores[release, "release", "link_f1"] = use
    view = make_audit(scores, ATTACKS, names[1:])
    table = compute_tradeoff(view.results, "auc", "link_f1", threat="link")
    text = answer_tradeoff(table, 0.7, "auc", "link_f1")
    assert "the original: 1.00" in text
    assert words in text
    assert ("the most useful" in text) == (words == "most")


def test_added_links_count_as_well_as_lost_ones():
    assert (
        list_metrics(
            tabulate_results(
                (RELEASE, RELEASE, {}, "release", metric, 0.5, 0.5, 0.5, 9, 3, "done", "")
                for metric in ("links_kept", "link_f1")
            ),
            "release",
        )[0]
        == "link_f1"
    )


def test_tradeoff_without_a_defense_recommends_nothing():
    scores = make_noise((ORIGINAL,), ATTACKS)
    scores[ORIGINAL, "release", "node_classification_auc"] = 0.9
    table = compute_tradeoff(
        make_audit(scores, ATTACKS, ()).results, "auc", "node_classification_auc", threat="link"
    )
    text = answer_tradeoff(table, 0.7, "auc", "node_classification_auc")
    assert "none of them can be recommended" in text


@pytest.mark.parametrize(
    ("after", "words"), [(0.116, "not clearly narrow the gap"), (0.02, "narrows the gap")]
)
def test_a_gap_is_narrowed_only_beyond_noise(after, words):
    """EdgeRand "narrowed the gap most" on 0.116 against 0.119."""
    rows = []
    for release, gap in ((ORIGINAL, 0.119), (RELEASE, after)):
        for kind, value in (("hidden", 2.0 - gap), ("absent", 2.0)):
            rows.append(
                (release, release, {}, "release", f"pair_path_length_{kind}", value,
                 value - 0.005, value + 0.005, 400, 5, "done", "")
            )  # fmt: skip
    text = answer_pair_profile(tabulate_results(rows))
    assert words in text
    assert ("narrows the gap" in text) == (after == 0.02)


def interval(value, half):
    return pd.Series({"value": value, "low": value - half, "high": value + half})


def test_noise_adds_in_squares():
    assert find_noise(interval(1.0, 3.0), interval(6.0, 4.0)) == pytest.approx(5)
    assert not is_clear(interval(1.0, 3.0), interval(5.9, 4.0))
    assert is_clear(interval(1.0, 3.0), interval(6.1, 4.0))
    assert not is_clear(interval(1.0, float("nan")), interval(6.1, 4.0))


def test_the_decision_says_what_decides():
    scores = make_noise(NAMES, ATTACKS)
    verdict = judge(make_audit(scores, ATTACKS), find_policy("public"))
    assert describe_decision(verdict).startswith("Publish Random deletion: it meets")
    assert explain_others(verdict, make_audit(scores, ATTACKS).results)[0][0] == ORIGINAL
    for release in NAMES:
        scores[release, "katz", "auc"] = 0.9
    refused = judge(make_audit(scores, ATTACKS), find_policy("public"))
    assert describe_decision(refused).startswith("Do not publish")
    assert "Katz" in list_refused(refused)[RELEASE]
    untried = describe_decision(judge(make_audit({}, ATTACKS), find_policy("public")))
    assert untried == "Review: no attack has finished on the releases that may still be published."
    few = {key: value for key, value in make_noise(NAMES, ATTACKS).items() if "katz" not in key}
    told = describe_decision(judge(make_audit(few, ATTACKS), find_policy("public")))
    assert told == "Review: no limit rules out a release, but none is cleared yet."


def test_a_twin_that_passes_is_not_told_as_the_original():
    independent = "gap:data_free=True"
    scores = make_noise((ORIGINAL, independent), ATTACKS)
    scores[ORIGINAL, "katz", "auc"] = 0.9
    verdict = judge(make_audit(scores, ATTACKS, (independent,)), find_policy("public"))
    assert describe_decision(verdict) == (
        "Review: every release made from the data is refused; only baselines remain."
    )
    assert verdict.find(independent).decision == "publish"
    assert not verdict.may_leave  # the gate let a pipeline pass beside that sentence


def test_of_equal_usefulness_within_noise_the_other_is_not_called_less_useful():
    names = (ORIGINAL, RELEASE, "edge_rand:epsilon=1.0")
    scores = make_noise(names, ATTACKS)
    for release, use in zip(names, (0.9, 0.80, 0.79), strict=True):
        scores[release, "release", "node_classification_auc"] = use
    view = make_audit(scores, ATTACKS, names[1:])
    both = judge(view, find_policy("internal"))
    assert "as useful within noise" in dict(explain_others(both, view.results))[names[2]]
    clear = make_audit(scores, ATTACKS, names[1:], half=0.001)
    told = dict(explain_others(judge(clear, find_policy("internal")), clear.results))
    assert told[names[2]].startswith("less useful")


def test_a_reason_has_the_interval_of_the_attack_it_names():
    scores = make_noise(NAMES, ATTACKS)
    scores[RELEASE, "katz", "auc"] = 0.7
    view = make_audit(scores, ATTACKS)
    row = (view.results.method == "seal") & (view.results.metric == "auc")
    view.results.loc[row, ["value", "low", "high"]] = [0.5, 0.2, 0.8]
    verdict = judge(view, find_policy("public"))
    assert "0.70 [0.69, 0.71] by Katz" in list_refused(verdict)[RELEASE]
    original = " ".join(explain_release(verdict.find(ORIGINAL)))
    assert "the interval of another attack extends above it" in original


@pytest.mark.parametrize(
    ("state", "words"), [(State.RUNNING, "Still running"), (State.CANCELLED, "was not measured")]
)
def test_homophily_that_is_not_measured_yet_is_no_missing_column(state, words):
    view = make_audit({}, ATTACKS, state=state)
    assert words in explain_missing_ratios(view)
    assert "no private column" not in explain_missing_ratios(view)
    spec = view.spec.update(private=None)
    assert "no private column" in explain_missing_ratios(replace(view, spec=spec))


def test_who_knows_another_column_is_no_yardstick_for_who_does_not():
    attacks = ("label_propagation", "class_prior")
    attacks += tuple(f"{attack}@joint:known" for attack in attacks)
    values = dict(zip(attacks, (0.8, 0.5, 0.96, 0.95), strict=True))
    scores = {(ORIGINAL, attack, "auc"): value for attack, value in values.items()}
    text = answer_attack(make_audit(scores, attacks).results, "attribute")
    assert "0.30 [0.29, 0.31] above the best baseline attacker, Class prior at 0.50" in text


def test_more_and_less_than_chance_are_told_with_their_intervals():
    scores = {
        (ORIGINAL, "release", f"ghratio_{key}{end}"): value
        for key, gap in (("proximity", 0.12), ("role", -0.08))
        for end, value in (("", 0.5), ("_gap", gap))
    }
    neighbours, peers = answer_mechanisms(make_audit(scores, LINKS, half=0.02).results)
    assert neighbours.endswith("share its value: 0.12 [0.10, 0.14] more than chance.")
    assert peers.endswith("share its value: 0.080 [0.060, 0.100] less than chance.")


PAIRED = ("adamic_adar", "degree_product", "gcn", "class_prior")


def make_pages(link=0.36, baseline=0.16, after=0.05):
    scores = make_noise(NAMES, PAIRED)
    scores[ORIGINAL, "adamic_adar", "tpr_at_fpr_0.01"] = link
    scores[ORIGINAL, "degree_product", "tpr_at_fpr_0.01"] = baseline
    scores[RELEASE, "adamic_adar", "tpr_at_fpr_0.01"] = after
    for release, use in zip(NAMES, (0.9, 0.7), strict=True):
        scores[release, "release", "node_classification_auc"] = use
        for key in ("proximity", "role"):
            scores[release, "release", f"ghratio_{key}"] = 0.6
            scores[release, "release", f"ghratio_{key}_gap"] = 0.25
    return scores


def test_a_card_and_what_it_is_compared_with_have_one_denominator():
    """ "37 of 1,000; limit 3 of 100" had to be converted in the head."""
    view = make_audit(make_pages(link=0.037, baseline=0.02, after=0.043), PAIRED)
    shown = [
        *summarize_decision(judge(view, find_policy("public"))).cards,
        *summarize_attacks(view, policy=find_policy("public")).cards,
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
    scores = make_pages()
    scores[ORIGINAL, "release", "ghratio_role_gap"] = 0.005
    near, role = summarize_homophily(make_audit(scores, PAIRED)).cards
    assert role.compared_with.endswith(", within noise")
    assert "noise" not in near.compared_with


def test_where_figures_do_not_join_the_worst_change_is_told():
    """AUC alone was measured of links; that a release shows more values must not go unsaid."""
    scores = {k: v for k, v in make_pages().items() if k[2] != "tpr_at_fpr_0.01" or k[1] == "gcn"}
    for attack, values in (("adamic_adar", (0.9, 0.6)), ("gcn", (0.1, 0.4))):
        metric = "tpr_at_fpr_0.01" if attack == "gcn" else "auc"
        for release, value in zip(NAMES, values, strict=True):
            scores[release, attack, metric] = value
    told = summarize_release(make_audit(scores, PAIRED), RELEASE).sentence
    assert "40 of 100 private values, against 10 of 100" in told


def test_releases_are_compared_over_the_attackers_that_both_faced():
    """An attacker that the original never met makes the release look neither worse nor better."""
    scores = make_pages(link=0.36, after=0.05)
    scores[RELEASE, "jaccard", "tpr_at_fpr_0.01"] = 0.6
    summary = summarize_release(make_audit(scores, PAIRED), RELEASE)
    assert "does not clearly change" in summary.sentence
    assert summary.cards[0].value == "60 of 100"
    assert any("On one of the two only" in line for line in summary.exact)


def test_an_adaptive_attacker_is_compared_with_its_standard_form_on_the_original():
    """There is no defense to adapt to: the original has no row of it."""
    scores = make_pages(link=0.36, after=0.05)
    scores[RELEASE, "adamic_adar@adaptive", "tpr_at_fpr_0.01"] = 0.6
    summary = summarize_release(make_audit(scores, PAIRED), RELEASE)
    assert "finds more withheld links" in summary.sentence
    assert not any("On one of the two only" in line for line in summary.exact)


def test_small_counts_can_be_hidden():
    assert Count(3, 5).format(10) == "fewer than 10 of 5"
    assert Count(0, 5).format(10) == "0 of 5"


def test_the_worst_threat_leads_and_its_worst_figure():
    """A threat far above its limit goes before one that comes first in the list."""
    scores = make_pages(link=0.06, baseline=0.01, after=0.01)
    for metric, value, guess in (("tpr_at_fpr_0.01", 0.2, 0.1), ("accuracy", 0.9, 0.3)):
        scores[ORIGINAL, "gcn", metric] = value
        scores[ORIGINAL, "class_prior", metric] = guess
    view = make_audit(scores, PAIRED)
    told = "An attacker guesses 90 of 100 private values right; a baseline attacker reaches 30"
    for policy in (find_policy("public"), None):
        assert summarize_attacks(view, policy=policy).sentence.startswith(told)


def test_a_threat_that_noise_explains_does_not_lead():
    """It is further above its limit, but a baseline attacker may do as well."""
    scores = make_pages(link=0.26, baseline=0.11, after=0.01)
    scores[ORIGINAL, "gcn", "tpr_at_fpr_0.01"] = 0.405
    scores[ORIGINAL, "class_prior", "tpr_at_fpr_0.01"] = 0.4
    view = make_audit(scores, PAIRED)
    for policy in (find_policy("public"), None):
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


def test_an_auc_is_no_count_of_secrets():
    ranked = {(r, attack, "auc"): 0.6 for r in NAMES for attack in LINKS}
    assert "the AUC that" in summarize_release(make_audit(ranked, LINKS), RELEASE).sentence
