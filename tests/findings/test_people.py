"""People in order, threat by threat, against plain loops; reasons of the threat at hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from core.audit.asked.attack import parse_attack
from core.audit.results.node_risks import NODE_COLUMNS, NodeRisks
from core.findings.link_prior import describe_link_prior
from core.findings.node_card import describe_node_risk
from core.findings.node_reasons import (
    compare_contacts,
    count_same_neighbors,
    explain_node,
    explain_people,
)
from core.findings.people import (
    Secret,
    describe_order,
    describe_prior,
    find_worst_secret,
    list_secrets,
    rank_people,
)
from core.findings.risk import compute_heatmap
from core.release import ORIGINAL
from tests.figures.conftest import RELEASES, make_view
from tests.oracles.graphs import two_communities
from tests.oracles.node_risks import build_risks


@pytest.fixture(scope="module")
def view():
    return make_view()


LINK, CLASS = Secret("link"), Secret("attribute")


def make_rows(*rows) -> pd.DataFrame:
    """node, attack, risk, base, low: everything else follows."""
    return pd.DataFrame(
        [(n, ORIGINAL, a, risk, risk - base, low, 1.0, 5) for n, a, risk, base, low in rows],
        columns=list(NODE_COLUMNS),
    )


def make_nodes(*rows) -> NodeRisks:
    return build_risks(make_rows(*rows))


def test_the_first_is_on_whom_most_is_gained_not_who_is_in_the_majority():
    """Nine of ten stood on top for having the value that 73 % have."""
    many = [(f"m{i}", "gcn", 0.95, 0.73, 0.9) for i in range(9)]
    nodes = make_nodes(*many, ("rare", "gcn", 0.80, 0.27, 0.6))
    people = rank_people(nodes, CLASS)
    assert people.node.iloc[0] == "rare"
    assert people.advantage.iloc[0] == pytest.approx(0.53)
    assert people["rank"].tolist() == list(range(1, 11))
    assert describe_prior(people.base, CLASS).endswith("27 % to 73 % here.")


def test_the_base_rate_of_released_links_is_no_coin():
    """ "The base rate is 5 %, since as many links as unlinked pairs are tested"."""
    of_released = rank_people(
        make_nodes(("a", "plausibility@included", 0.95, 0.05, 0.9)), Secret("included")
    )
    told = describe_prior(of_released.base, Secret("included"))
    assert told == "The base rate is 5 %, the share of pairs that are linked."
    of_withheld = rank_people(make_nodes(("a", "common_neighbors", 0.95, 0.5, 0.9)), LINK)
    assert "50 %, since as many links as unlinked pairs" in describe_prior(of_withheld.base, LINK)


def test_ties_are_broken_by_the_interval_then_by_the_other_attacks():
    ensemble = [(n, "ensemble", 1.0, 0.5, low) for n, low in zip("abcd", (0.7, 0.9, 0.7, 0.7))]  # noqa: B905
    others = [("a", "gcn", 0.6, 0.5, 0.5), ("c", "gcn", 0.9, 0.5, 0.5), ("d", "gcn", 0.9, 0.5, 0.5)]
    nodes = make_rows(*ensemble, *others, ("b", "gcn", 0.1, 0.5, 0.1))
    assert rank_people(build_risks(nodes), CLASS).node.tolist() == ["b", "c", "d", "a"]
    shuffled = nodes.sample(frac=1, random_state=1)
    assert rank_people(build_risks(shuffled), CLASS).node.tolist() == ["b", "c", "d", "a"]


def test_the_first_is_surely_exposed_and_who_was_tested_once_comes_last():
    """Nine of the first eleven were "Not clearly above chance: tested in one split"."""
    nodes = make_nodes(
        ("once", "gcn", 1.0, 0.5, np.nan),
        ("open", "gcn", 0.95, 0.5, 0.45),
        ("sure", "gcn", 0.75, 0.5, 0.7),
        ("other", "gcn", 0.6, 0.5, np.nan),
    )
    people, found = rank_people(nodes, CLASS), nodes.find_headline(ORIGINAL)
    expected = ["sure", "open", "once", "other"]
    assert people.node.tolist() == expected
    assert nodes.names.take(found.nodes[found.order]).tolist() == expected
    assert compute_heatmap(nodes, ORIGINAL).node.tolist() == expected
    assert describe_order(people.low).endswith("; the 2 tested in one split come last.")
    assert describe_order(people.low[:2]).endswith("interval of the advantage.")
    assert describe_order(people.low[2:]).startswith("Ranked by the advantage, as one split")


def test_a_node_is_told_by_the_secret_that_surely_exposes_it():
    nodes = make_nodes(
        ("a", "gcn", 1.0, 0.5, np.nan),
        ("a", "common_neighbors", 0.75, 0.5, 0.71),
        ("b", "gcn", 0.95, 0.5, 0.5),
        ("b", "common_neighbors", 0.7, 0.5, 0.6),
    )
    told = {node: nodes.list_figures(node)[0].attack.id for node in "ab"}
    assert told == {"a": "common_neighbors", "b": "gcn"}


def test_order_equals_a_loop(view):
    rows = view.nodes.to_frame([(ORIGINAL, parse_attack("common_neighbors"))])
    people = rank_people(build_risks(rows), LINK)
    sure = rows.low - (rows.risk - rows.advantage)
    ranked = rows.assign(sure=sure.round(9), gain=rows.advantage.round(9)).itertuples()
    expected = sorted(ranked, key=lambda r: (-r.sure, -r.gain))
    assert people.node.tolist() == [row.node for row in expected]
    assert np.allclose(people.risk - people.base, people.advantage)


def test_a_threat_holds_its_own_rows_and_no_others(view):
    assert list_secrets(view.nodes) == [LINK]  # class_prior is a baseline attacker
    more = make_rows(("x", "gcn@column:age", 0.9, 0.1, 0.8))
    both = build_risks(pd.concat([view.nodes.to_frame(), more]))
    assert list_secrets(both) == [LINK, Secret("attribute", "age")]
    assert Secret("attribute", "age").key == "attribute:age"
    assert both.select(secret=("attribute", "age")).to_frame().node.tolist() == ["x"]
    alone = both.select(secret=LINK)
    assert {attack.id for _, attack in alone.parts} == {"common_neighbors", "degree_product"}
    assert find_worst_secret(both) == Secret("attribute", "age")


def test_two_releases_show_the_same_people_in_the_same_rows(view):
    nodes, people = view.nodes.select(secret=LINK), rank_people(view.nodes, LINK)
    order, rows = people.number.to_numpy(), nodes.to_frame()
    tables = [compute_heatmap(nodes, release, order=order) for release in RELEASES[:2]]
    assert tables[0].node.tolist() == tables[1].node.tolist() == people.node.tolist()
    for release, table in zip(RELEASES[:2], tables, strict=True):
        lookup = {
            (r.node, r.attack): r.advantage for r in rows[rows.release == release].itertuples()
        }
        for node, gain in zip(table.node, table[parse_attack("common_neighbors")], strict=True):
            assert gain == pytest.approx(lookup[node, "common_neighbors"])
    assert compute_heatmap(nodes, RELEASES[1]).node.tolist() != people.node.tolist()
    assert list(tables[0].columns) == list(tables[1].columns)


def test_contacts_of_everybody_equal_a_naive_count():
    graph = two_communities()
    release = graph.with_edges(np.delete(graph.edges, np.arange(0, graph.num_edges, 4), axis=0))
    around = {n: set() for n in range(graph.num_nodes)}
    for a, b in release.edges.tolist():
        around[a].add(b)
        around[b].add(a)
    nodes = np.random.default_rng(0).permutation(graph.num_nodes)[:25]
    table = compare_contacts(graph, release, nodes)
    for place, node in enumerate(nodes):
        linked = {n for pair in graph.edges.tolist() if node in pair for n in pair} - {node}
        gone, strangers = linked - around[node], set(range(graph.num_nodes)) - linked - {node}
        row = table.iloc[place]
        assert (row.links, row.withheld) == (len(linked), len(gone))
        if gone:
            assert row.ends == pytest.approx(np.mean([len(around[node] & around[n]) for n in gone]))
        assert row.others == pytest.approx(
            np.mean([len(around[node] & around[n]) for n in strangers])
        )


def test_neighbours_with_the_same_value_equal_a_loop():
    graph = two_communities()
    codes = graph.column("private").codes.copy()
    codes[:3] = -1
    same, total = count_same_neighbors(graph, codes)
    for node in range(graph.num_nodes):
        near = [n for pair in graph.edges.tolist() if node in pair for n in pair if n != node]
        known = [n for n in near if codes[n] >= 0]
        if codes[node] < 0:
            assert (same[node], total[node]) == (0, 0)
        else:
            assert total[node] == len(known)
            assert same[node] == sum(codes[n] == codes[node] for n in known)


def make_two_threats():
    graph = two_communities()
    ids = graph.node_ids
    rows = [(ids[3], "common_neighbors", 1.0, 0.5, 0.9), (ids[3], "gcn", 0.9, 0.5, 0.8)]
    kept = np.delete(graph.edges, np.flatnonzero((graph.edges == 3).any(axis=1))[:2], axis=0)
    nodes = make_nodes(*rows, (ids[6], "gcn", 0.505, 0.5, 0.4))
    return replace(
        make_view(graph),
        load_nodes=lambda: nodes,
        load_release=lambda _release, _repeat: graph.with_edges(kept),
    )


def test_each_reason_is_of_the_threat_that_the_number_is_from():
    view = make_two_threats()
    node = view.load_graph().node_ids[3]
    (link,) = explain_people(view, rank_people(view.nodes, LINK), LINK)
    assert "withheld links" in link
    assert "value" not in link
    first, second = explain_people(view, rank_people(view.nodes, CLASS), CLASS)
    assert "share its value" in first
    assert "withheld links" not in first
    assert "Nothing is learned" in second
    assert "withheld links" in " ".join(explain_node(view, node, secret=LINK))
    assert "share its value" not in " ".join(explain_node(view, node, secret=LINK))
    assert "contacts" not in " ".join(explain_node(view, node, secret=CLASS))


def test_a_further_column_is_explained_by_its_own_values():
    view = make_two_threats()
    graph = view.load_graph()
    secret = Secret("attribute", "label")
    node = graph.node_ids[3]
    nodes = make_nodes((node, "gcn@column:label", 0.9, 0.5, 0.8))
    view = replace(view, load_nodes=lambda: nodes)
    (line,) = explain_people(view, rank_people(nodes, secret), secret)
    release = view.load_release(ORIGINAL, 0)
    same, total = count_same_neighbors(release, graph.column("label").codes)
    assert f"{same[3]} of {total[3]} neighbours" in line
    assert explain_node(view, node, secret=secret) == [f"{line}."]


def test_a_persons_sentences_are_by_the_attacker_chosen_on_everybody():
    """One attack is best on x alone, which nobody can know without knowing the truth on x."""
    gains = {"common_neighbors": (0.3, 0.1), "jaccard": (0.0, 0.45)}
    rows = [
        (node, release, attack, 0.5 + gain, gain, 0.49 + gain, 0.51 + gain, 5)
        for release, kept in ((ORIGINAL, 1.0), (RELEASES[1], 0.5))
        for attack, (others, own) in gains.items()
        for node in two_communities().node_ids
        for gain in [kept * (own if node == "3" else others)]
    ]
    nodes = build_risks(pd.DataFrame(rows, columns=list(NODE_COLUMNS)))
    view = replace(make_view(), load_nodes=lambda: nodes)
    people = rank_people(nodes, LINK).set_index("node")
    assert people.attack["3"].id == "common_neighbors"
    assert "a risk of 0.60 [0.59, 0.61] becomes at least" in describe_link_prior(
        view, "3", ORIGINAL
    )
    text = describe_node_risk(nodes, "3")
    assert text.startswith("On the original its risk is 0.60 [0.59, 0.61], by Common neighbours")
    assert "It is 0.55 [0.54, 0.56] with Random deletion: clearly lower." in text
    (reason,) = explain_node(view, "3", LINK)
    (line,) = explain_people(view, rank_people(nodes, LINK).query("node == '3'"), LINK)
    assert reason == f"{line}."
    assert "Jaccard" not in reason


def test_no_release_is_said_to_help_within_noise(view):
    """ "DICE lowers it most: the advantage falls from 0.00 to −0.15 [−0.50, 0.50]"."""
    node = rank_people(view.nodes, LINK).node.iloc[0]
    table = view.nodes.to_frame()
    wide = build_risks(table.assign(low=table.risk - 0.5, high=table.risk + 0.5))
    told = describe_node_risk(wide, node)
    assert told.endswith(": not clearly different.")
    assert "lower" not in told


def test_a_release_is_beside_the_original_in_one_account():
    """ "Risk is 1.00 … 0.043 with Random deletion. None of the releases clearly lowers it"."""
    values = [
        (ORIGINAL, 0.8, 0.7, 0.9),
        (RELEASES[1], 0.55, 0.5, 0.6),
        (RELEASES[2], 0.75, 0.6, 0.9),
        ("dice", 0.3, np.nan, np.nan),
        ("k_degree_anonymity", 0.95, 0.92, 0.98),
    ]
    rows = [("x", r, "gcn", risk, risk - 0.5, *ends, 2) for r, risk, *ends in values]
    nodes = build_risks(pd.DataFrame(rows, columns=list(NODE_COLUMNS)))
    assert describe_node_risk(nodes, "x") == (
        "On the original its risk is 0.80 [0.70, 0.90], by GCN. The base rate is 0.50. "
        "It is 0.55 [0.50, 0.60] with Random deletion (strength = 0.5): clearly lower. "
        "It is 0.75 [0.60, 0.90] with Random deletion (strength = 0.9): not clearly different. "
        "It is 0.95 [0.92, 0.98] with k-degree anonymity: clearly higher. "
        "It is 0.30 with DICE (strength = 0.3): one split cannot tell whether that differs."
    )


def test_of_many_releases_the_span_is_told():
    """Ten releases stood in one sentence, nine of them with "0.014 [0.014, 0.014]"."""
    risks = [(ORIGINAL, 0.9), *((f"edge_rand:epsilon={k}.0", 0.1 * k) for k in range(1, 5))]
    for count, expected in ((4, "It is 0.10 [0.10, 0.10] with EdgeRand (ε = 1), "), (5, "")):
        rows = [("x", r, "gcn", v, v - 0.5, v, v, 5) for r, v in risks[:count]]
        text = describe_node_risk(build_risks(pd.DataFrame(rows, columns=list(NODE_COLUMNS))), "x")
        span = "It is 0.10 [0.10, 0.10] to 0.40 [0.40, 0.40] with 4 releases, lowest with EdgeRand "
        assert (expected or f"{span}(ε = 1): clearly lower.") in text
        assert text.count("EdgeRand") == (3 if expected else 1)
    rows = [("x", r, "gcn", 0.9 if r == ORIGINAL else 0.1, 0.1, 0.1, 0.1, 5) for r, _ in risks]
    tied = describe_node_risk(build_risks(pd.DataFrame(rows, columns=list(NODE_COLUMNS))), "x")
    assert " 0.10 [0.10, 0.10] with 4 releases: " in tied


def test_a_release_is_compared_on_the_secret_that_is_told():
    """The worst secret on the release is another one, whose risk says nothing of the first."""
    rows = [
        ("x", r, attack, risk, risk - 0.5, risk - 0.01, risk + 0.01, 5)
        for r, risks in ((ORIGINAL, (0.9, 0.7)), (RELEASES[1], (0.55, 0.75)))
        for attack, risk in zip(("common_neighbors", "gcn"), risks, strict=True)
    ]
    text = describe_node_risk(build_risks(pd.DataFrame(rows, columns=list(NODE_COLUMNS))), "x")
    assert "by Common neighbours" in text
    assert "It is 0.55 [0.54, 0.56] with Random deletion: clearly lower." in text
    assert "0.75" not in text
