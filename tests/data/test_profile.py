from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.algorithms.triangles import compute_triangles
from core.data.loaded import LoadReport
from core.data.profile import compute_profile
from core.data.warnings import find_warnings
from core.graph import Graph
from core.link_table import BACKWARD, BOTH, FORWARD, NO_TIME, LinkColumn, LinkTable
from core.measures.queries import compute_assortativity
from core.node_column import NodeColumn
from tests.oracles.graphs import GRAPHS


@pytest.mark.parametrize("name", GRAPHS)
def test_structure_equals_networkx(name):
    graph = GRAPHS[name]()
    view = graph.to_networkx()
    found = compute_profile(graph)
    assert found.counts.num_components == nx.number_connected_components(view)
    assert found.counts.largest_component == max(map(len, nx.connected_components(view)))
    assert found.num_isolated == nx.number_of_isolates(view)
    assert found.counts.num_triangles == sum(nx.triangles(view).values()) // 3
    assert found.counts.average_clustering == pytest.approx(nx.average_clustering(view))
    assert found.density == pytest.approx(nx.density(view))
    assert found.median_degree == np.median([degree for _, degree in view.degree()])
    if len(set(graph.degrees[graph.edges].ravel())) > 1:
        expected = nx.degree_assortativity_coefficient(view)
        assert compute_assortativity(graph) == pytest.approx(expected)
    else:
        assert np.isnan(compute_assortativity(graph))


@settings(max_examples=40)
@given(st.integers(0, 2**32 - 1), st.integers(2, 40), st.floats(0, 1))
def test_triangles_equal_networkx(seed, n, share):
    rng = np.random.default_rng(seed)
    pairs = np.argwhere(np.triu(rng.random((n, n)) < share, 1))
    graph = Graph.from_pairs(pairs, n)
    found = compute_triangles(graph.edges, graph.num_nodes)
    assert found.tolist() == list(nx.triangles(graph.to_networkx()).values())


def test_assortativity_of_a_star_is_minus_one():
    graph = GRAPHS["star"]()
    assert compute_assortativity(graph) == pytest.approx(-1)


def ring(n=60, **fields):
    nodes = np.arange(n)
    return Graph.from_pairs(np.stack([nodes, np.roll(nodes, 1)], 1), n, **fields)


def attribute(name, codes):
    return NodeColumn(name, codes, tuple(f"c{i}" for i in range(max(codes) + 1)))


def test_attribute_tables_count_classes_and_missing():
    codes = [-1] * 15 + [0] * 30 + [1] * 15
    graph = ring(attributes={"team": attribute("team", codes)})
    found = compute_profile(graph)
    row = found.attribute_table.iloc[0]
    assert (row.column, row.classes, row.missing_share) == ("team", 2, 0.25)
    assert (row.largest_class, row.largest_share) == ("c0", pytest.approx(2 / 3))


WARNINGS = {
    "nearly constant": ([0] * 58 + [1] * 2, "nearly constant: 97 % are 'c0'"),
    "one class": ([0] * 60, "has 1 class: there is nothing to infer"),
    "missing": ([-1] * 20 + [0, 1] * 20, "unknown for 33 % of the nodes"),
    "tiny": (
        [2] * 3 + [0] * 30 + [1] * 27,
        "fewer than 10 nodes, too few for reliable results: 'c2'",
    ),
}


@pytest.mark.parametrize("name", WARNINGS)
def test_warnings_about_the_private_column(name):
    codes, text = WARNINGS[name]
    others = attribute("other", [0, 1] * 30)
    graph = ring(attributes={"team": attribute("team", codes), "other": others})
    assert any(text in line for line in compute_profile(graph, private="team").warnings)
    assert not any(text in line for line in compute_profile(graph, utility="other").warnings)


def test_a_class_that_may_mean_unknown_is_told_with_its_count_and_option():
    """Of whatever format; −1 beside other negative numbers is a value."""
    salary = NodeColumn("salary", [0] * 12 + [1] * 24 + [2] * 24, ("-1", "0", "1"))
    graph = ring(attributes={"salary": salary})
    for columns in ({"private": "salary"}, {"utility": "salary"}, {}):
        (line,) = [w for w in compute_profile(graph, **columns).warnings if "may mean" in w]
        assert line.startswith("Column 'salary' has the class '-1' (12 nodes), which may mean")
        assert line.endswith("or --unknown=-1.")
    for classes in (("-1", "-2", "1"), ("1", "0", "2")):
        graph = ring(attributes={"salary": NodeColumn("salary", salary.codes, classes)})
        assert not any("may mean" in line for line in compute_profile(graph).warnings)


def test_all_but_one_are_not_said_to_be_all():
    graph = ring(600, attributes={"team": attribute("team", [0] * 599 + [1])})
    lines = " ".join(compute_profile(graph, private="team").warnings)
    assert "nearly constant: 99.8 % are 'c0'" in lines
    assert "100 %" not in lines


def test_isolated_nodes_and_few_links_are_mentioned():
    lines = compute_profile(GRAPHS["isolated_node"]()).warnings
    assert any("1 node has no link" in line for line in lines)
    assert any("30 links, too few for reliable results" in line for line in lines)


def test_profile_shows_what_was_dropped():
    report = LoadReport(num_self_loops=3, num_duplicates=2, num_reciprocal=1)
    found = compute_profile(GRAPHS["two_components"](), report)
    assert found.dropped["self-loops"] == 3


def test_facebook_pages_have_the_triangles_that_are_published(data_root, monkeypatch, audit_home):
    from core.data.catalogue import load_dataset

    monkeypatch.setenv("AUDIT_DATA", str(data_root))
    loaded = load_dataset("facebook_pages")
    found = compute_profile(loaded.graph, loaded.report)
    assert found.counts.num_triangles == 794_953
    assert found.counts.num_components == 1


@pytest.mark.parametrize(("step", "is_said"), [(1, True), (4, False)])
def test_weights_by_which_links_are_known_again_are_warned_of(step, is_said):
    """A weight that no other link has names its link, whatever the node is called."""
    pairs = [[i, (i + 1) % 60] for i in range(60)]
    graph = Graph.from_pairs(pairs, weights=np.arange(60) // step + 1.0)
    said = [text for text in find_warnings(graph, None, None, None) if "weight" in text]
    assert len(said) == is_said
    assert not said or said[0].startswith("100 % of the links have a weight that no other")


def test_values_of_links_are_told():
    edges = [[0, 1], [1, 2], [2, 3]]
    plain = compute_profile(Graph.from_pairs(edges, 4))
    assert (plain.median_strength, plain.time_spans, plain.reciprocity) == (None, {}, None)
    at = LinkColumn("time", np.array([20, NO_TIME, 19_000, 7]), unit="D")
    ways = LinkColumn("direction", np.array([FORWARD, BACKWARD, BOTH, BACKWARD]))
    table = LinkTable(np.array([0, 0, 1, 2]), {"at": at, "direction": ways})
    graph = replace(Graph.from_pairs(edges, 4, np.array([1.0, 2.0, 4.0])), link_table=table)
    found = compute_profile(graph)
    assert found.median_strength == np.median([1, 3, 6, 4])
    assert found.time_spans == {"at": ("1970-01-08", "2022-01-08")}
    assert found.reciprocity == 2 / 3  # by two events, and by one
    timed = replace(graph, link_table=replace(table, columns={"at": replace(at, unit="s")}))
    spans = compute_profile(timed).time_spans
    assert spans == {"at": ("1970-01-01 00:00:07", "1970-01-01 05:16:40")}


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=15))
def test_reciprocity_is_that_of_its_definition(pairs):
    pairs = [(i, j) for i, j in pairs if i != j] or [(0, 1)]
    graph = Graph.from_pairs(pairs, 6)
    ways = LinkColumn("direction", np.full(len(pairs), FORWARD))
    table = LinkTable.of_pairs(np.array(pairs), graph.edges, 6, {"direction": ways})
    both = {(i, j) for i, j in pairs if (j, i) in pairs and i < j}
    expected = len(both) / len({(min(pair), max(pair)) for pair in pairs})
    found = compute_profile(replace(graph, link_table=table)).reciprocity
    assert found == pytest.approx(expected)
