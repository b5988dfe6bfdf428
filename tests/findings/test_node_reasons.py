"""A risk is explained by the attack that causes it, and only by what its numbers support."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from core.audit.asked.attack import parse_attack
from core.audit.asked.presets import list_released_attacks
from core.audit.results.node_risks import NODE_COLUMNS
from core.findings.identity import BRIEF, KNOWN
from core.findings.node_reasons import _format_mechanism, explain_node, explain_people
from core.findings.people import Secret, list_secrets, rank_people
from core.graph import Graph
from core.node_column import NodeColumn
from core.registry import list_methods
from core.release import ORIGINAL
from core.words import begin_sentence
from pages.ui.node_table import WIDTHS
from tests.figures.conftest import make_view
from tests.oracles.graphs import two_communities
from tests.oracles.node_risks import build_risks

GCN = parse_attack("gcn")
MAX_LETTERS = 53
"""Photographed: what the column shows on a page of 1024 pixels."""


def risk(node, attack, advantage, low=0.05):
    return (node, ORIGINAL, attack, 0.5 + advantage, advantage, 0.5 + low, 1.0, 5)


def view_of(rows, number=3, graph=None):
    graph = graph or two_communities()
    keep = np.ones(graph.num_edges, bool)
    keep[np.flatnonzero((graph.edges == number).any(axis=1))[:2]] = False
    nodes = pd.DataFrame(rows, columns=list(NODE_COLUMNS))
    return replace(
        make_view(graph),
        load_nodes=lambda: build_risks(nodes),
        load_release=lambda _release, _repeat: graph.with_edges(graph.edges[keep]),
    )


def explain(rows, number=3):
    graph = two_communities()
    return explain_node(view_of(rows, number, graph), graph.node_ids[number])


def test_a_link_attack_is_explained_by_links_not_by_classes():
    """A risk of 1.00 by a link attack was once explained with the neighbours' classes."""
    node = two_communities().node_ids[3]
    text = " ".join(explain([risk(node, "common_neighbors", 0.5), risk(node, "gcn", 0.0)]))
    assert "share its value" not in text
    assert "Nothing is learned beyond the base rate" in text


def test_an_attribute_attack_is_explained_by_classes():
    node = two_communities().node_ids[3]
    text = " ".join(explain([risk(node, "gcn", 0.4)]))
    assert "neighbours share its value" in text
    assert "withheld" not in text


@pytest.mark.parametrize(
    ("low", "words"), [(-0.1, "Not clearly above chance"), (np.nan, "in one split")]
)
def test_no_reason_where_the_interval_includes_chance(low, words):
    """ "80 % of its neighbours … gives it away" stood where the interval included zero."""
    node = two_communities().node_ids[3]
    for attack in ("gcn", "common_neighbors"):
        (text,) = explain([risk(node, attack, 0.4, low)])
        assert words in text
        assert "share" not in text


def test_what_needs_no_reason_loads_no_graph():
    """The Risk page drew the withheld links of a million people to say nothing of them."""
    node = two_communities().node_ids[3]
    for attack, secret in (("gcn", "attribute"), ("common_neighbors", "link")):
        rows = [risk(node, attack, 0.4, np.nan)]
        fail = lambda *_asked: pytest.fail("loaded")  # noqa: E731
        view = replace(view_of(rows), load_graph=fail, load_release=fail)
        (text,) = explain_node(view, node, secret=Secret(secret))
        assert "in one split" in text


def test_one_neighbour_is_no_reason():
    """ "100 % of its neighbours share its value" where the neighbour is one."""
    codes = np.array([0, 0, 0, 0, 0, 1, 1, 1, 1, 1])
    pairs = np.array([[0, 1], [2, 3], [2, 4], [2, 1], [5, 6]])
    graph = Graph.from_pairs(
        pairs, 10, attributes={"private": NodeColumn("private", codes, ("a", "b"))}
    )
    people = pd.DataFrame(
        {"node": [graph.node_ids[0]], "attack": GCN, "advantage": 0.4, "low": 0.2}
    )
    view = make_view(graph)
    nobody = view.profile.iloc[:0]
    view = replace(view, load_release=lambda _release, _repeat: graph, load_profile=lambda: nobody)
    (line,) = explain_people(view, people, Secret("attribute"))
    assert line == "GCN sees beyond its neighbours"


@pytest.mark.parametrize(("same", "is_reason"), [(1, False), (2, False), (3, True)])
def test_few_neighbours_are_no_reason_however_rare_their_value(same, is_reason):
    """All of one's neighbours say nothing while they are one or two."""
    row = SimpleNamespace(same=same, known=same, share=0.01, role=np.nan)
    assert ("neighbours share its value" in _format_mechanism(GCN, row)) == is_reason


def test_neighbours_no_more_alike_than_luck_are_no_reason():
    row = SimpleNamespace(same=4, known=5, share=0.5, role=np.nan)
    assert "share its value" not in _format_mechanism(GCN, row)
    row = SimpleNamespace(same=40, known=50, share=0.5, role=np.nan)
    assert "40 of 50 neighbours share its value" in _format_mechanism(GCN, row)


@pytest.mark.parametrize("attack", ["feature_regression", "feature_boosting", "mlp"])
def test_an_attack_that_reads_no_links_is_not_explained_by_neighbours(attack):
    node = two_communities().node_ids[3]
    (text,) = explain([risk(node, attack, 0.4)])
    assert text.endswith("reads it from published columns.")


@pytest.mark.parametrize("attack", ["gae_cosine", "preferential_attachment", "feature_cosine"])
def test_an_attack_that_does_not_score_contacts_is_not_explained_by_them(attack):
    """ "Other ends share 0.00 contacts", risk .99."""
    node = two_communities().node_ids[3]
    (text,) = explain([risk(node, attack, 0.49)])
    assert "at withheld links" not in text


def test_no_contacts_in_common_are_no_reason():
    """ "Other ends share 0.00 contacts": on a tree nobody shares any with whom they know."""
    pairs = np.array([[(i - 1) // 2, i] for i in range(1, 40)])
    graph = two_communities().with_edges(pairs)
    node = graph.node_ids[3]
    text = " ".join(explain_node(view_of([risk(node, "common_neighbors", 0.49)], 3, graph), node))
    assert text == "Link inference: By Common neighbours."


def test_every_reason_fits_its_column():
    """Reasons were cut in the table of nodes, whose column shows about so many letters."""
    row = SimpleNamespace(same=120, known=250, share=0.0004, role=np.nan)
    lines = [_format_mechanism(GCN, row), _format_mechanism(GCN, replace_row(row, role=0.9995))]
    graph, node = two_communities(), two_communities().node_ids[3]
    for attack in list_released_attacks():
        rows = [risk(node, f"{attack.info.key}@included", 0.4)]
        lines += explain_node(view_of(rows, 3, graph), node)
    for kind in ("link_attack", "attribute_attack"):
        for method in list_methods(kind):
            key = method.info.key
            if not parse_attack(key).is_blind:
                lines += explain_node(view_of([risk(node, key, 0.4)], 3, graph), node)
                lines.append(_format_mechanism(parse_attack(key), replace_row(row, same=1)))
    for low in (0.0, np.nan):
        lines += explain([risk(node, "gcn", 0.4, low)])
    # The table is of one secret, which only a card names.
    lines = [line.split(" inference: ")[-1].split("released links: ")[-1] for line in lines]
    assert max(map(len, lines)) <= MAX_LETTERS, max(lines, key=len)


def replace_row(row, **values):
    return SimpleNamespace(**{**vars(row), **values})


def test_the_table_and_the_card_say_the_same():
    node = two_communities().node_ids[3]
    view = view_of([risk(node, "gcn", 0.4), risk(node, "adamic_adar", 0.3)])
    said = explain_node(view, node)
    for secret in list_secrets(view.nodes):
        (line,) = explain_people(view, rank_people(view.nodes, secret), secret)
        assert f"{begin_sentence(secret.attack)}: {line}." in said
        assert explain_node(view, node, secret) == [f"{line}."]


def test_a_further_column_is_explained_by_a_naive_count_telling_or_not():
    """Where the neighbours told nothing, the page of risks once ended in an error."""
    graph = two_communities()
    codes = np.arange(graph.num_nodes) % 2
    attributes = {**graph.attributes, "shift": NodeColumn("shift", codes, ("day", "night"))}
    graph = graph.update_columns(attributes=attributes)
    people = pd.DataFrame({"node": graph.node_ids, "attack": GCN, "advantage": 0.5, "low": 0.2})
    view = replace(make_view(graph), load_release=lambda _release, _repeat: graph)
    lines = explain_people(view, people, Secret("attribute", "shift"))
    for number, line in enumerate(lines):
        near = graph.adjacency[[number]].indices
        alike = int(np.sum(codes[near] == codes[number]))
        if "neighbours share" in line:
            assert f"{alike} of {len(near)} neighbours" in line
            assert alike / len(near) > 0.5
        else:
            assert "sees beyond" in line
    assert any("sees beyond" in line for line in lines)


def test_what_finds_a_node_is_told_in_a_row_of_a_page_of_1024_pixels():
    """ "Unique by its links and each neighbour's num": the rest was cut."""
    assert BRIEF.keys() == KNOWN.keys()
    letters = max(len(f"Unique by {text}") for text in BRIEF.values())
    assert 6.1 * letters + 16 <= WIDTHS["Why"]
