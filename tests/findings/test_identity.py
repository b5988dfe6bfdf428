"""The panel's sentences: one of how many, and where a person is unique no more."""

from __future__ import annotations

import pandas as pd

from core.audit.results.node_risks import NODE_COLUMNS
from core.findings.identity import describe_identity, list_hiding
from tests.oracles.node_risks import build_risks

WEAK, STRONG = "random_deletion:strength=0.1", "k_degree_anonymity"


def make_nodes(risks):
    rows = [
        ("anna", release, f"{method}@identity", risk, risk - 0.01, None, None, 2)
        for (release, method), risk in risks.items()
    ]
    return build_risks(pd.DataFrame(rows, columns=list(NODE_COLUMNS)))


def test_followed_from_the_original_to_where_it_is_not_unique():
    nodes = make_nodes(
        {
            ("original", "degree"): 1 / 12,
            ("original", "degree_triangles"): 1.0,
            ("original", "ego"): 1.0,
            (WEAK, "degree"): 0.2,
            (WEAK, "degree_triangles"): 1.0,
            (STRONG, "degree_triangles"): 0.125,
            ("dice", "degree_triangles"): 0.0,
            ("original", "degree:error=0.1"): 0.05,
            ("original", "seeded_percolation"): 0.9,
        }
    )
    text = describe_identity(nodes, "anna", 5)
    assert text[0] == "One of 12 with these 5 links."
    assert text[1] == (
        "The only one with these 5 links and the links among the neighbours: this knowledge "
        "identifies the person."
    )
    assert text[2].startswith("Not unique by this on: DICE")
    assert "(no longer matches this knowledge), k-degree anonymity" in text[2]
    assert text[2].endswith("(found in 12 % of tries).")
    assert "Random deletion" not in text[2]
    assert len(text) == 3
    assert list_hiding(nodes, "anna") == ["dice", STRONG]
    assert list_hiding(nodes, "ben") == []


def test_unique_everywhere_is_said():
    nodes = make_nodes({("original", "degree"): 1.0, (WEAK, "degree"): 1.0})
    text = describe_identity(nodes, "anna", 1)
    assert "The only one with this one link" in text[0]
    assert text[1] == "It is just as unique on every other release."


def test_nothing_is_said_of_others():
    nodes = make_nodes({("original", "degree"): 1.0})
    assert describe_identity(nodes, "ben", 3) == []
    assert describe_identity(nodes.select([]), "anna", 3) == []
