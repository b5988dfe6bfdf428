"""What a benchmark says, against audits whose numbers are known."""

from __future__ import annotations

import pandas as pd
import pytest

from core.findings.benchmark import (
    NO_HELP,
    SUMMARY_COLUMNS,
    choose_defense,
    describe_threat,
    format_shape,
    summarize_benchmark,
    summarize_threat,
)
from tests.oracles.audits import make_audit

ATTACKS = ("adamic_adar", "degree_product")
DEFENSES = ("random_deletion", "edge_rand", "dp_1k", "dp_1k:data_free=True", "pseudonyms")
FOUND = {
    "original": (0.6, 0.1),
    "random_deletion": (0.4, 0.1),
    "edge_rand": (0.1, 0.1),
    "dp_1k": (0.05, 0.05),
    "dp_1k:data_free=True": (0.1, 0.1),
    "pseudonyms": (0.6, 0.1),
}
KEPT = {
    "original": 1.0,
    "random_deletion": 0.8,
    "edge_rand": 0.5,
    "dp_1k": 0.2,
    "dp_1k:data_free=True": 0.9,
    "pseudonyms": 1.0,
}
METRIC = "tpr_at_fpr_0.01"


@pytest.fixture
def scores():
    found = {
        (release, attack, METRIC): value
        for release, values in FOUND.items()
        for attack, value in zip(ATTACKS, values, strict=True)
    }
    kept = {(release, "release", "link_f1"): value for release, value in KEPT.items()}
    return {**found, **kept, ("original", "release", "average_clustering"): 0.25}


def summarize(scores):
    return summarize_benchmark([make_audit(scores, ATTACKS, DEFENSES)])


def test_each_release_has_its_strongest_attack_baseline_and_cost(scores):
    table = summarize(scores).set_index("release")
    assert [*table.reset_index()[list(SUMMARY_COLUMNS)]] == list(SUMMARY_COLUMNS)
    assert table.index.tolist() == ["original", *DEFENSES]
    row = table.loc["random_deletion"]
    assert (row.threat, row.metric, row.attack, row.value) == ("link", METRIC, "adamic_adar", 0.4)
    assert (row.low, row.high, row.n, row.seeds) == pytest.approx((0.39, 0.41, 400, 5))
    assert (row.baseline, row.baseline_value) == ("degree_product", 0.1)
    assert (row.against_baseline, row.against_original) == ("higher", "lower")
    assert (row.link_f1, row.clustering) == (0.8, 0.25)
    assert table.loc["edge_rand"].against_baseline == "tie"
    assert table.loc["pseudonyms"].against_original == "tie"
    assert pd.isna(row.link_prediction_auc)


def test_the_release_that_leaves_nothing_to_attackers_and_keeps_most_is_chosen(scores):
    table = summarize(scores)
    assert choose_defense(table).release == "edge_rand"  # not the baseline, not what leaves 0.4
    left = table[~table.release.isin(["edge_rand", "dp_1k"])]
    assert choose_defense(left).release == "random_deletion"
    assert choose_defense(left[left.release != "random_deletion"]) is None


def test_words_name_attack_baseline_defense_and_cost(scores):
    fear, choose = describe_threat(summarize(scores))
    assert fear == (
        "Adamic–Adar reaches TPR at 1 % FPR 0.60 [0.59, 0.61] (n = 400), clearly above the "
        "baseline attacker Degree product (0.10 [0.09, 0.11])."
    )
    assert choose == (
        "EdgeRand (ε = 6) (empirical only) lowers it to 0.10 [0.09, 0.11]; no attack is clearly "
        "above the baseline attackers. Cost: links right (F1) 0.50 [0.49, 0.51] instead of 1."
    )


def test_a_first_look_has_natural_frequencies_and_calls_no_noise_a_difference(scores):
    table = summarize(scores)
    assert summarize_threat(table) == (
        "Adamic–Adar finds 60 of 100 withheld links while accusing 1 of 100 unconnected pairs; a "
        "baseline attacker reaches 10 of 100.",
        "EdgeRand lowers the strongest to 10 of 100, at a cost: its F1 of right links is 0.50.",
    )
    none = "No attack is clearly above the baseline attackers."
    table.loc[table.release == "original", "against_baseline"] = "within_noise"
    assert summarize_threat(table)[0] == none
    table["against_original"] = "within_noise"
    assert summarize_threat(table) == (none, NO_HELP)
    ranked = summarize(scores).assign(metric="auc")
    assert summarize_threat(ranked)[0] == (
        "Adamic–Adar ranks secrets above the rest with an AUC of 0.60; a baseline attacker reaches "
        "0.10."
    )


def test_of_releases_that_leave_attackers_ahead_the_one_that_leaves_least_is_chosen(scores):
    alone = {key: value for key, value in scores.items() if key[1] != "degree_product"}
    table = summarize(alone)
    assert set(table.against_baseline) == {"not_tested"}
    assert choose_defense(table).release == "dp_1k"
    assert "no baseline attacker was run" in describe_threat(table)[1]


def test_words_where_nothing_helps_and_a_baseline_attacker_leads(scores):
    for release in FOUND:
        scores[release, "adamic_adar", METRIC] = 0.05
        scores[release, "degree_product", METRIC] = 0.1
    fear, choose = describe_threat(summarize(scores))
    assert fear.startswith("Degree product, a baseline attacker, reaches")
    assert "no attack does better" in fear
    assert choose == "No defense clearly lowers what the strongest attack reaches."


def test_what_the_original_does_not_resolve_is_told_by_the_ranking(scores):
    scores = {key: v for key, v in scores.items() if key[2] != METRIC}
    for release, values in FOUND.items():
        for attack, value in zip(ATTACKS, values, strict=True):
            scores[release, attack, "auc"] = 0.5 + value / 2
    table = summarize(scores)
    assert set(table.metric) == {"auc"}


def test_a_graph_is_told_by_its_size_and_clustering(scores):
    text = format_shape(summarize(scores))
    assert text.startswith("40 nodes, ")
    assert text.endswith(" links, clustering 25 %")
