"""Counts of exposed nodes say how many attackers stand behind them, and which."""

from __future__ import annotations

import pandas as pd
import pytest

from core.audit.results.node_risks import NODE_COLUMNS
from core.findings.exposure import answer_risk, describe_exposed, list_exposures
from tests.oracles.node_risks import build_risks

BLIND, BASELINE = "random_match", "degree_product"


def count_risks(*attacks: str, release: str = "original"):
    rows = [
        (f"n{i}", release, attack, 0.9, 0.4, None, None, 1) for attack in attacks for i in range(4)
    ]
    return build_risks(pd.DataFrame(rows, columns=list(NODE_COLUMNS)))


@pytest.mark.parametrize(
    ("attacks", "tried", "names"),
    [
        (["common_neighbors"], "1 quick attack", "Common neighbours"),
        (
            ["common_neighbors", "jaccard", "adamic_adar"],
            "3 quick attacks",
            "Common neighbours, Jaccard, Adamic–Adar",
        ),
        # A form of an attack is no attack of its own, and a baseline none.
        (["jaccard", "jaccard@adaptive", BASELINE], "1 quick attack", "Jaccard"),
        (["jaccard", "gae_cosine"], "2 attacks", "Jaccard, GAE + cosine"),
        ([BASELINE], "1 baseline attacker", "Degree product"),
    ],
)
def test_a_count_names_the_attackers_behind_it(attacks, tried, names):
    nodes = count_risks(*attacks)
    (one,) = list_exposures(nodes)
    assert (one.tried, one.names) == (tried, names)
    assert f"Tried: {tried}: {names}." in answer_risk(nodes)
    assert describe_exposed(nodes).endswith(f"4 of 4 by {tried}.")


def test_attackers_of_another_secret_or_release_do_not_stand_behind_it():
    both = count_risks("common_neighbors", "label_propagation", "gcn", "gcn@column:x")
    tried = {one.secret.threat + one.secret.target: one.tried for one in list_exposures(both)}
    assert tried == {"link": "1 quick attack", "attribute": "2 attacks", "attributex": "1 attack"}
