"""The sentences on top of the pages say what the numbers say."""

from __future__ import annotations

import pandas as pd
import pytest

from core.audit.asked.attack import attach_referents, parse_attack
from core.audit.results.node_risks import NODE_COLUMNS
from core.findings.change import answer_defense
from core.findings.exposure import answer_bound, answer_risk, find_least_exposing
from core.findings.knowing_more import answer_odds
from core.findings.people import list_secrets
from core.findings.strongest import answer_attack
from core.findings.tradeoff import answer_tradeoff, compute_tradeoff
from tests.figures.conftest import RELEASES, make_nodes, make_results, result_row
from tests.oracles.audits import tabulate_results
from tests.oracles.graphs import two_communities
from tests.oracles.node_risks import build_risks


def replace_value(results: pd.DataFrame, method: str, value: float, half: float) -> pd.DataFrame:
    table = results.copy()
    rows = (table.method == method) & (table.metric == "auc") & (table.release == "original")
    table.loc[rows, ["value", "low", "high"]] = [value, value - half, value + half]
    return table


def test_attack_cites_the_best_and_the_best_null() -> None:
    text = answer_attack(make_results(), "link")
    assert "Common neighbours" in text
    assert "0.84 [0.80, 0.88]" in text
    assert (
        "0.23 [0.17, 0.29] above the best baseline attacker, Degree product at 0.61 [0.57, 0.65]."
        in text
    )


def test_only_null_attackers_are_no_attack() -> None:
    assert "No attack" in answer_attack(make_results(), "attribute")


def test_odds_are_those_of_the_best_named_pair() -> None:
    text = answer_odds(make_results())
    assert "that Common neighbours ranks highest, a share of 0.20 [0.15, 0.25] are withheld" in text
    assert answer_odds(make_results().iloc[:0]) == ""


def test_defense_names_the_safest_release() -> None:
    text = answer_defense(make_results(), "link")
    assert "reaches an AUC of 0.84 [0.80, 0.88] on the original" in text
    assert "strength = 0.9" in text
    assert "0.52 [0.48, 0.56]" in text


def test_defense_names_who_finds_least_at_few_false_alarms_before_the_headline() -> None:
    """Of equal AUC one release can leave ten times the links findable that another leaves."""
    results = make_results()
    few, found = results.metric == "tpr_at_fpr_0.01", (0.4, 0.02, 0.3)
    for column in ("value", "low", "high"):
        column_values = results.release.map(dict(zip(RELEASES, found, strict=True)))
        results.loc[few, column] = column_values[few]
    text = answer_defense(results, "link")
    first, _, second = text.partition("Overall")
    assert "finds 0.40 [0.40, 0.40] of the secrets at 1 % FPR on the original" in first
    assert "strength = 0.5" in first
    assert "strength = 0.9" not in first
    assert "strength = 0.9" in second


@pytest.mark.parametrize(
    ("status", "is_told"),
    [("done", True), ("skipped", True), ("not_tested", False), ("cancelled", False), ("", False)],
)
def test_a_release_that_the_strongest_attack_was_not_tried_on_is_not_called_safe(
    status: str, is_told: bool
) -> None:
    """As after a cancel: what has been attacked by the weak alone looks safe."""
    value = 0.55 if status == "done" else None
    rows = [
        result_row("original", "common_neighbors", "auc", 0.9, 0.02),
        result_row("original", "degree_product", "auc", 0.6, 0.02),
        result_row(RELEASES[1], "degree_product", "auc", 0.55, 0.02),
        result_row(RELEASES[1], "common_neighbors", "auc", value, 0.02, status=status),
    ]
    table = tabulate_results(rows[: None if status else -1])
    assert ("falls to 0.55" in answer_defense(table, "link")) == is_told


def test_defense_that_helps_nothing_is_said() -> None:
    results = replace_value(make_results(), "common_neighbors", 0.5, 0.02)
    results = replace_value(results, "degree_product", 0.5, 0.02)
    assert "it does not fall" in answer_defense(results, "link")


def test_risk_counts_the_exposed() -> None:
    rows = [
        (f"n{i}", release, attack, risk, risk - 0.5, None, None, 1)
        for release, risks in (
            ("original", [0.9, 0.8, 0.7, 0.1]),
            (RELEASES[1], [0.5, 0.5, 0.9, 0.1]),
        )
        for attack in ("common_neighbors", "degree_product")
        for i, risk in enumerate(risks)
    ]
    nodes = build_risks(pd.DataFrame(rows, columns=list(NODE_COLUMNS)))
    text = answer_risk(nodes)
    # An advantage of just 0.2 is not above the limit, whatever the floats say.
    assert "Link inference exposes likely 2 of 4 people on the original, and likely 1 with " in text
    assert "advantage above 0.2 by Common neighbours, chosen on other nodes" in text
    assert "Tried: 1 quick attack: Common neighbours." in text
    assert "Degree product" not in text
    bound = answer_bound(nodes)
    assert bound.startswith("Upper bound on the original for link inference: 2 of 4")
    assert "Guessing would reach" in bound


@pytest.mark.parametrize(
    ("limit", "words"),
    [
        (0.4, "No release keeps"),
        (0.6, "strength = 0.9"),
        (0.75, "strength = 0.5"),
        (0.95, "strength = 0.5"),
    ],
)
def test_tradeoff_names_the_most_useful_within_the_limit(limit: float, words: str) -> None:
    table = compute_tradeoff(make_results(), "auc", "node_classification_f1", threat="link")
    text = answer_tradeoff(table, limit, "auc", "node_classification_f1")
    assert words in text


REAL = "common_neighbors"
"""The only attack of the table by hand that is no baseline attacker."""


def test_the_least_exposing_release_is_that_on_which_the_headline_attacker_gains_least(
    view,
) -> None:
    best = {}
    for release in RELEASES[1:]:
        best[release] = view.nodes.parts[release, parse_attack(REAL)].advantage.mean()
    assert find_least_exposing(view.nodes) == min(best, key=best.get)
    assert find_least_exposing(view.nodes.select(["original"])) is None
    for secret in list_secrets(view.nodes):
        safest = find_least_exposing(view.nodes, secret)
        assert safest == find_least_exposing(view.nodes.select(secret=secret))
        assert safest is not None


def test_a_data_free_twin_is_never_the_best_defense() -> None:
    """It is there to compare with, not to be published."""
    independent = "gap:data_free=True"
    results = attach_referents(make_results().replace({"release": {RELEASES[2]: independent}}))
    text = answer_defense(results, "link")
    assert "strength = 0.5" in text
    assert parse_attack(independent).title not in text
    nodes = make_nodes(two_communities()).replace({"release": {RELEASES[2]: independent}})
    assert parse_attack(independent).title not in answer_risk(build_risks(nodes))
