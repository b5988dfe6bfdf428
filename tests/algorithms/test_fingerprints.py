"""Fingerprints tell apart exactly what brute force tells apart."""

from __future__ import annotations

from collections import Counter

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.algorithms.fingerprints import (
    DEPTHS,
    EGO_ROUNDS,
    compute_class_sizes,
    compute_fingerprints,
    compute_joint_fingerprints,
    count_links_and_triangles,
    count_matches,
    list_neighbors,
)
from core.data.catalogue import load_dataset
from core.graph import Graph


def refine(graph: nx.Graph, colours: dict, rounds: int) -> dict:
    """Colour refinement on nested tuples, as the textbook has it."""
    for _ in range(rounds):
        colours = {v: (colours[v], tuple(sorted(colours[w] for w in graph[v]))) for v in graph}
        names = {colour: k for k, colour in enumerate(sorted(set(colours.values())))}
        colours = {v: names[colour] for v, colour in colours.items()}
    return colours


def fingerprint_by_hand(graph: nx.Graph, depth: str) -> list:
    degree = dict(graph.degree)
    if depth == "degree":
        return [degree[v] for v in graph]
    if depth == "degree_triangles":
        return [(degree[v], graph.subgraph(graph[v]).number_of_edges()) for v in graph]
    if depth == "neighbor_degrees":
        return [(degree[v], sorted(degree[w] for w in graph[v])) for v in graph]
    egos = {}
    for v in graph:
        inside = graph.subgraph(graph[v])
        texts = {w: str(degree[w]) for w in inside}
        for _ in range(EGO_ROUNDS):
            texts = {w: f"({texts[w]}|{sorted(texts[x] for x in inside[w])})" for w in inside}
        egos[v] = str(sorted(texts.values()))
    if depth == "ego":
        return [egos[v] for v in graph]
    names = {text: k for k, text in enumerate(sorted(set(egos.values())))}
    colours = refine(graph, {v: names[egos[v]] for v in graph}, graph.number_of_nodes())
    return [colours[v] for v in graph]


graphs = st.integers(1, 14).flatmap(
    lambda n: st.builds(
        lambda pairs: Graph.from_pairs(np.array(pairs, int).reshape(-1, 2), n),
        st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=30),
    )
)


@pytest.mark.parametrize("depth", DEPTHS)
@given(graph=graphs)
@settings(max_examples=60)
def test_same_classes_as_brute_force(depth, graph):
    by_hand = [str(f) for f in fingerprint_by_hand(graph.to_networkx(), depth)]
    counts = Counter(by_hand)
    sizes = compute_class_sizes(compute_fingerprints(graph, depth))
    assert sizes.tolist() == [counts[text] for text in by_hand]


@given(graph=graphs, data=st.data())
@settings(max_examples=60)
def test_a_renamed_graph_has_the_same_fingerprints(graph, data):
    order = np.array(data.draw(st.permutations(range(graph.num_nodes))))
    renamed = graph.with_edges(order[graph.edges])
    for depth in DEPTHS:
        left, right = compute_joint_fingerprints([graph, renamed], depth)
        np.testing.assert_array_equal(left, right[order])
        assert count_matches(left, right).tolist() == compute_class_sizes(left).tolist()


@given(graph=graphs)
@settings(max_examples=60)
def test_deeper_knowledge_never_hides_anyone(graph):
    sizes = {d: compute_class_sizes(compute_fingerprints(graph, d)) for d in DEPTHS}
    for shallow, deep in [
        ("degree", "degree_triangles"),
        ("degree", "neighbor_degrees"),
        ("degree_triangles", "ego"),
        ("neighbor_degrees", "ego"),
        ("ego", "colour_refinement"),
    ]:
        assert (sizes[deep] <= sizes[shallow]).all()


@given(graph=graphs)
@settings(max_examples=40)
def test_neighbours_and_triangles_as_networkx_has_them(graph):
    by_hand = graph.to_networkx()
    indptr, indices = list_neighbors(graph)
    for v in by_hand:
        assert indices[indptr[v] : indptr[v + 1]].tolist() == sorted(by_hand[v])
    degrees, triangles = count_links_and_triangles(graph)
    assert degrees.tolist() == [d for _, d in by_hand.degree]
    assert triangles.tolist() == list(nx.triangles(by_hand).values())


def test_links_of_weight_zero_are_no_links():
    path = Graph.from_pairs(np.array([[0, 1], [1, 2]]), 3)
    weighted = Graph.from_pairs(
        np.array([[0, 1], [1, 2], [0, 2]]), 3, weights=np.array([1.0, 0.5, 0.0])
    )
    for depth in DEPTHS:
        left, right = compute_joint_fingerprints([path, weighted], depth)
        np.testing.assert_array_equal(left, right)


def test_hubs_are_looked_up_as_others_are():
    """Both ways of listing the links among neighbours: a hub of 60 leaves and a triangle."""
    pairs = [(0, v) for v in range(1, 61)] + [(1, 2)]
    graph = Graph.from_pairs(np.array(pairs), 61)
    sizes = compute_class_sizes(compute_fingerprints(graph, "ego"))
    assert sizes[[0, 1, 2, 3]].tolist() == [1, 2, 2, 58]


MIRRORED = [(0, 1), (0, 2), (1, 2), (1, 3), (2, 4), (3, 4), (3, 5)]
MIRRORED += [(5, 6), (5, 7), (6, 8), (7, 8), (7, 9), (8, 9), (10, 11)]


@pytest.mark.parametrize(
    ("pairs", "depth", "classes"),
    [
        ([], "ego", "aaaaaa"),
        ([(i, j) for i in range(3) for j in range(3, 6)], "ego", "aaaaaa"),
        ([(i, j) for i in range(6) for j in range(i + 1, 6)], "ego", "aaaaaa"),
        ([(0, 1), (1, 2), (3, 4), (4, 5)], "degree_triangles", "abaaba"),
        ([(0, 1), (1, 2), (3, 4), (4, 5)], "ego", "abaaba"),
        ([(0, 1), (0, 2), (1, 2), (3, 4), (3, 5), (4, 5)], "ego", "aaaaaa"),
        ([(0, 1), (0, 2), (1, 2), (1, 3), (3, 4), (3, 5), (4, 5)], "ego", "ababaa"),
        (MIRRORED, "colour_refinement", "abcdedebcaff"),
    ],
)
def test_examples_that_ano_net_publishes(pairs, depth, classes):
    """The equivalence classes that all seven of its example graphs are published with (de Jong et
    al. 2023); the fourth line is what its manual prints for the fourth, counting links."""
    graph = Graph.from_pairs(np.array(pairs, int).reshape(-1, 2), len(classes))
    rows = compute_fingerprints(graph, depth)
    same = (rows[:, None] == rows[None]).all(axis=2)
    named = np.array(list(classes))
    np.testing.assert_array_equal(same, named[:, None] == named[None])


@pytest.mark.parametrize(
    ("name", "depth", "percent", "digits"),
    [
        ("nba", "degree_triangles", 95.8, 1),
        ("facebook_pages", "degree_triangles", 16.1, 1),
        ("cora", "degree_triangles", 3.2, 1),
        ("cora", "neighbor_degrees", 49, 0),
        ("lastfm_asia", "neighbor_degrees", 64, 0),
        ("facebook_pages", "neighbor_degrees", 76, 0),
    ],
)
def test_published_share_of_unique_people(data_root, monkeypatch, name, depth, percent, digits):
    """Among the people with a link: three of NBA have none."""
    monkeypatch.setenv("AUDIT_DATA", str(data_root))
    graph = load_dataset(name).graph
    sizes = compute_class_sizes(compute_fingerprints(graph, depth))
    assert round(100 * (sizes == 1)[graph.degrees > 0].mean(), digits) == percent
