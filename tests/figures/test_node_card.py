"""One person's numbers against the tables and the graph they come from."""

from __future__ import annotations

import numpy as np
import pandas as pd

from core.audit.asked.release_info import parse_release
from core.audit.results.node_risks import NODE_COLUMNS
from core.audit.results.view import PROFILE_COLUMNS
from core.findings import node_card
from core.graph import Graph
from core.node_column import MISSING, NodeColumn
from tests.oracles.node_risks import build_risks

STAR = Graph.from_pairs(
    np.array([[0, 1], [0, 2], [0, 3], [0, 4]]),
    6,
    node_ids=("ann", "Bob", "bo", "hubob", "dan", "eve"),
)
LABEL = NodeColumn("label", np.array([0, 0, 1, 1, MISSING, 0]), ("x", "y"))

DELETION = parse_release("random_deletion").title

NODES = build_risks(
    pd.DataFrame(
        [
            ("ann", "original", "common_neighbors", 0.9, 0.4, 0.8, 1.0, 2),
            ("ann", "original", "label_propagation", 0.7, 0.2, 0.6, 0.8, 2),
            ("ann", "random_deletion", "common_neighbors", 0.4, 0.1, 0.3, 0.5, 2),
            ("Bob", "original", "common_neighbors", np.nan, np.nan, np.nan, np.nan, 0),
        ],
        columns=list(NODE_COLUMNS),
    )
)

PROFILE = pd.DataFrame(
    [
        ("ann", "original", 4, "x", 0.5, 1 / 3, 0.9, 0.5),
        ("eve", "original", 0, "x", 0.5, np.nan, np.nan, np.nan),
    ],
    columns=list(PROFILE_COLUMNS),
)


def test_risks_are_attacks_by_releases() -> None:
    table = node_card.compute_node_risks(NODES, "ann")
    assert list(table.columns) == ["Attack", "Original", DELETION]
    assert table.values.tolist() == [
        ["Common neighbours", "0.90 [0.80, 1.00]", "0.40 [0.30, 0.50]"],
        ["Label propagation", "0.70 [0.60, 0.80]", "–"],
    ]
    gains = node_card.compute_node_risks(NODES, "ann", "advantage")
    assert gains.values.tolist()[0] == [
        "Common neighbours",
        "0.40 [0.30, 0.50]",
        "0.10 [0.00, 0.20]",
    ]
    assert node_card.compute_node_risks(NODES, "Bob").empty


def test_sentence_names_the_attacker_and_the_base_rate() -> None:
    text = node_card.describe_node_risk(NODES, "ann")
    assert text.endswith(
        "risk is 0.90 [0.80, 1.00], by Common neighbours. The base rate is 0.50. "
        "It is 0.40 [0.30, 0.50] with Random deletion: clearly lower."
    )
    assert "Nothing is at stake" in node_card.describe_node_risk(NODES, "Bob")


def test_neighbor_classes_count_the_neighbours() -> None:
    table = node_card.compute_neighbor_classes(STAR, 0, LABEL).set_index("class")
    assert table.neighbours.to_dict() == {"x": 1, "y": 2, "unknown": 1}
    assert np.isclose(table.loc["y", "share of neighbours"], 2 / 3)
    assert np.isclose(table.loc["x", "share of all"], 3 / 5)


def test_search_prefers_equal_then_first_letters() -> None:
    assert node_card.find_node(STAR, "bo") == ["bo", "Bob", "hubob"]
    assert node_card.find_node(STAR, " BOB ") == ["Bob", "hubob"]
    assert node_card.find_node(STAR, "bo", limit=1) == ["bo"]
    assert node_card.find_node(STAR, "  ") == []
