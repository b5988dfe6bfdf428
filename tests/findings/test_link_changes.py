"""What a release removes and adds by group, against sets of pairs; uneven beyond noise only."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from core.findings.link_changes import count_link_changes, describe_link_changes
from core.graph import Graph
from tests.oracles.graphs import two_communities

GRAPH = two_communities(60)


def drop_links(graph: Graph, within: float, between: float, added: int = 0) -> Graph:
    """Without these shares of links inside a half and between the halves."""
    rng, side = np.random.default_rng(0), GRAPH.column("private").codes
    ends = side[graph.edges]
    share = np.where(ends[:, 0] == ends[:, 1], within, between)
    kept = graph.edges[rng.random(graph.num_edges) >= share]
    linked = set(map(tuple, graph.edges.tolist()))
    free = [(i, j) for i in range(30) for j in range(30, 60) if (i, j) not in linked]
    return graph.with_edges(np.concatenate([kept, np.reshape(free[:added], (-1, 2)).astype(int)]))


def make_table(rows: dict[str, tuple[int, int, int]]) -> pd.DataFrame:
    named = [(kind.split()[0], kind.partition(" ")[2], *counts) for kind, counts in rows.items()]
    return pd.DataFrame(named, columns=["kind", "group", "links", "removed", "added"])


def test_counts_are_those_of_sets_of_pairs():
    codes = GRAPH.column("private").codes.copy()
    codes[:4] = -1
    after = drop_links(GRAPH, 0.5, 0.2, 25)
    old, new = ({*map(tuple, graph.edges.tolist())} for graph in (GRAPH, after))
    table = count_link_changes(GRAPH, after, codes, ("left", "right")).set_index(["kind", "group"])

    def count(pairs: set[tuple[int, int]]) -> list[int]:
        ends = [(codes[i], codes[j]) for i, j in pairs]
        return [
            sum(a == b == 0 for a, b in ends),
            sum(a == b == 1 for a, b in ends),
            sum(a != b and a >= 0 and b >= 0 for a, b in ends),
            sum(a < 0 or b < 0 for a, b in ends),
        ]

    assert table.links.tolist() == count(old)
    assert table.removed.tolist() == count(old - new)
    assert table.added.tolist() == count(new - old)
    assert table.index.get_level_values("kind").tolist() == [
        *("within", "within", "between", "unknown")
    ]


def test_links_are_compared_by_the_ids_of_their_ends():
    codes, turned = GRAPH.column("private").codes, np.arange(60)[::-1]
    after = Graph.from_pairs(
        turned[GRAPH.edges], 60, node_ids=[GRAPH.node_ids[node] for node in turned]
    )
    table = count_link_changes(GRAPH, after, codes, ("left", "right"))
    assert not table.removed.sum()
    assert not table.added.sum()


@pytest.mark.parametrize(
    ("within", "between", "added", "expected"),
    [
        (0.0, 0.0, 0, "X changes no link."),
        (0.7, 0.1, 0, "X removes 63 % of the links within classes, 6 % between them."),
        (0.4, 0.4, 0, " evenly over classes within noise."),
        (1.0, 1.0, 0, "X removes 100 % of the links."),
        (0.0, 0.0, 30, "X removes no link. It adds 30 links: 100 % join two classes"),
        (0.0, 0.0, 4, "X removes no link. It adds 4 links."),
    ],
)
def test_the_sentence_says_what_the_release_does(within, between, added, expected):
    table = count_link_changes(
        GRAPH,
        drop_links(GRAPH, within, between, added),
        GRAPH.column("private").codes,
        ("left", "right"),
    )
    text = describe_link_changes({"class": table}, "X")
    assert expected in text
    assert len(text.split(".")[0].split()) <= 25


def test_the_surest_difference_is_told_not_the_largest():
    few = make_table({"within a": (3, 3, 0), "between": (997, 400, 0)})
    many = make_table({"within 1": (500, 250, 0), "between": (500, 153, 0)})
    text = describe_link_changes({"class": few, "community": many}, "X")
    assert text == "X removes 50 % of the links within communities, 31 % between them."


def test_an_even_release_is_rarely_called_uneven():
    """300 releases that remove each link with the same chance: at most 5 in 100, and noise."""
    rng, told = np.random.default_rng(3), 0
    for _ in range(300):
        parts = {}
        for by in ("class", "community"):
            sizes = {"within a": 400, "between": 90}
            rows = {kind: (size, rng.binomial(size, 0.3), 0) for kind, size in sizes.items()}
            parts[by] = make_table(rows)
        told += "evenly" not in describe_link_changes(parts, "X")
    assert 3 <= told <= 25
