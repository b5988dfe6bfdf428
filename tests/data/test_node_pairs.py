import itertools

import numpy as np
import pytest

from core.audit.computing.threat_sampling import find_pairs
from core.data.node_pairs import find_links_at, find_links_between, load_node_pairs
from core.data.splits import draw_threats
from core.errors import InputError
from core.graph import Graph
from core.node_column import NodeColumn
from core.seeding import Seed
from tests.oracles.graphs import two_communities


@pytest.fixture
def graph():
    edges = np.array([[0, 1], [1, 2], [2, 3], [0, 3], [3, 4]])
    team = NodeColumn("team", [0, 1, 0, 1, -1], ("red", "blue"))
    return Graph.from_pairs(edges, 5, node_ids=tuple("abcde"), attributes={"team": team})


def test_pairs_of_a_file_are_links_once_each(graph, tmp_path):
    path = tmp_path / "pairs.csv"
    path.write_text("source,target\nb,a\na,b\nd,e\n")
    assert load_node_pairs(path, graph) == [("a", "b"), ("d", "e")]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,z\n", r"nodes of the graph only.*1 others, such as 'z'"),
        ("a,b\na,c\n", r"links of the graph only.*1 pairs.*'a' and 'c'"),
        ("a,a\n", r"links of the graph only"),
    ],
)
def test_pairs_that_are_no_links_are_refused(graph, tmp_path, text, message):
    path = tmp_path / "pairs.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        load_node_pairs(path, graph)


def test_links_at_nodes(graph):
    assert find_links_at(graph, ["a"]) == [("a", "b"), ("a", "d")]
    assert find_links_at(graph, ["a", "d"]) == [("a", "b"), ("a", "d"), ("c", "d"), ("d", "e")]
    with pytest.raises(InputError, match=r"node must be in the graph; got z"):
        find_links_at(graph, ["a", "z"])


def test_links_between_classes(graph):
    both = [("a", "b"), ("a", "d"), ("b", "c"), ("c", "d")]
    assert find_links_between(graph, "team", "red", "blue") == both
    assert find_links_between(graph, "team", "blue", "red") == both
    assert find_links_between(graph, "team", "red", "red") == []
    with pytest.raises(InputError, match=r"one of its classes.*green"):
        find_links_between(graph, "team", "red", "green")


def test_links_between_all_classes_partition_the_links():
    graph = two_communities(30)
    classes = graph.column("label").classes
    parts = [
        find_links_between(graph, "label", a, b)
        for a, b in itertools.combinations_with_replacement(classes, 2)
    ]
    joined = itertools.chain.from_iterable(parts)
    assert sorted(joined) == sorted(find_links_at(graph, graph.node_ids))


def test_chosen_links_become_the_threat(graph):
    chosen = find_pairs(graph, tuple(find_links_at(graph, ["a"])))
    threats = draw_threats(graph, Seed(0), sensitive_links=chosen, test_links=0)
    assert threats.link.hidden.tolist() == [[0, 1], [0, 3]]
    with pytest.raises(InputError, match="sensitive link must be in the graph; got z"):
        find_pairs(graph, (("a", "z"),))
