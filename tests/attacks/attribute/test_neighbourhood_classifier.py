"""It learns from whatever tells: places, neighbours alike or unlike; and from noise nothing."""

from __future__ import annotations

import numpy as np
import pytest

from core.attacks.attribute.neighbourhood_classifier import NeighbourhoodClassifier
from core.context import Context
from core.data.splits import draw_attribute_threat
from core.data.synthetic import generate_social
from core.graph import Graph
from core.measures.ranking import compute_auc
from core.models.evidence import (
    compute_spectrum,
    count_inferred,
    count_labels,
    describe_nodes,
    describe_roles,
    find_quartiles,
)
from core.node_column import NodeColumn
from core.release import Release
from core.seeding import Seed

QUICK = NeighbourhoodClassifier(trees=60)


def infer(graph, column, known=0.3, attack=QUICK):
    threat = draw_attribute_threat(graph, column, known, Seed(1))
    found = attack.infer(Release(graph), threat, Context(Seed(1)))
    return found, threat


def find_auc(graph, column, known=0.3):
    found, threat = infer(graph, column, known)
    truth = threat.attribute.codes[threat.hidden] == 1
    return compute_auc(found.probabilities[threat.hidden, 1], truth)[0]


def make_graph(codes, pairs, features=None):
    attributes = {"private": NodeColumn("private", codes, ("a", "b"))}
    return Graph.from_pairs(pairs, len(codes), features=features, attributes=attributes)


def test_place_and_neighbours_are_told():
    graph = generate_social(400)
    assert find_auc(graph, "seniority") > 0.85  # by role
    assert find_auc(graph, "affiliation") > 0.9  # by proximity


def test_neighbours_who_are_unlike_tell_as_much():
    rng = np.random.default_rng(0)
    codes = np.arange(300) % 2
    pairs = np.stack([rng.integers(0, 150, 900) * 2, rng.integers(0, 150, 900) * 2 + 1], 1)
    assert find_auc(make_graph(codes, pairs), "private", 0.2) > 0.95


def test_what_the_neighbours_have_and_oneself_does_not_is_told():
    rng = np.random.default_rng(7)
    features = rng.normal(size=(300, 4))
    pairs = rng.integers(0, 300, (900, 2))
    around = Graph.from_pairs(pairs, 300).adjacency @ features[:, 0]
    graph = make_graph((around > np.median(around)).astype(int), pairs, features)
    assert find_auc(graph, "private") > 0.9


def test_values_inferred_of_the_neighbours_teach_where_few_are_known():
    rng = np.random.default_rng(4)
    codes = np.arange(400) % 2
    i, j = np.triu_indices(400, 1)
    linked = rng.random(len(i)) < np.where(codes[i] == codes[j], 0.01, 0.04)
    graph = make_graph(codes, np.stack([i, j], 1)[linked])

    def find_error(rounds):
        attack = NeighbourhoodClassifier(trees=60, rounds=rounds)
        found, threat = infer(graph, "private", 0.05, attack)
        return 1 - compute_auc(found.probabilities[threat.hidden, 1], codes[threat.hidden] == 1)[0]

    assert find_error(4) < 0.75 * find_error(0)


def test_noise_teaches_nothing():
    rng = np.random.default_rng(3)
    codes = rng.integers(0, 2, 300)
    graph = make_graph(codes, rng.integers(0, 300, (1500, 2)), rng.normal(size=(300, 5)))
    found, threat = infer(graph, "private")
    truth = threat.attribute.codes[threat.hidden]
    said = found.probabilities[threat.hidden, truth]
    # A model that saw the known nodes' own values would be sure of itself, and wrong.
    assert -np.log(said).mean() < np.log(2) + 0.05


def test_known_values_around_a_node_are_counted_as_a_loop_counts_them():
    rng = np.random.default_rng(5)
    codes = rng.integers(0, 3, 12)
    graph = Graph.from_pairs(rng.integers(0, 12, (25, 2)), 12)
    observed = np.where(rng.random(12) < 0.6, codes, -1)
    prior = np.array([0.5, 0.3, 0.2])
    found = count_labels(graph, observed, prior)
    neighbours = [set(graph.adjacency[[i]].indices) for i in range(12)]
    for i in range(12):
        near = [observed[j] for j in neighbours[i] if observed[j] >= 0]
        far = [observed[k] for j in neighbours[i] for k in neighbours[j] if observed[k] >= 0]
        for start, seen, weight in ((0, near, 1.0), (3, far, 5.0)):
            for c in range(3):
                share = (seen.count(c) + weight * prior[c]) / (len(seen) + weight)
                assert found[i, start + c] == pytest.approx(np.log(share / prior[c]))


def test_what_is_said_around_a_node_is_counted_as_a_loop_counts_it():
    rng = np.random.default_rng(6)
    graph = Graph.from_pairs(rng.integers(0, 10, (18, 2)), 10)
    chances = rng.dirichlet(np.ones(3), 10)
    prior = np.array([0.5, 0.3, 0.2])
    found = count_inferred(graph, chances, prior)
    neighbours = [graph.adjacency[[i]].indices for i in range(10)]
    for i in range(10):
        near = [j for j in neighbours[i]]
        far = [k for j in near for k in neighbours[j] if k != i]
        assert np.allclose(found[i, :3], np.log(np.maximum(chances[i], 1e-3) / prior))
        for start, seen in ((3, near), (6, far)):
            shares = (chances[seen].sum(axis=0) + 0.1 * prior) / (len(seen) + 0.1)
            assert np.allclose(found[i, start : start + 3], np.log(shares / prior))


def test_directions_are_the_largest_eigenvectors_of_either_sign():
    graph = generate_social(200)
    links = graph.adjacency.toarray().astype(float)
    degrees = links.sum(axis=1)
    scale = 1 / np.sqrt(degrees + degrees.mean())
    values, vectors = np.linalg.eigh(scale[:, None] * links * scale)
    largest = np.argsort(-np.abs(values))[:3]
    wanted = vectors[:, largest] * values[largest]
    found = compute_spectrum(graph, 3, 0)
    assert found.std() == pytest.approx(1.0)
    for column in range(3):
        cosine = found[:, column] @ wanted[:, column]
        cosine /= np.linalg.norm(found[:, column]) * np.linalg.norm(wanted[:, column])
        assert abs(cosine) > 0.99


def test_quartiles_are_those_of_the_sorted_values_of_the_neighbours():
    rng = np.random.default_rng(8)
    graph = Graph.from_pairs(rng.integers(0, 15, (40, 2)), 16)
    values = rng.normal(size=16)
    found = find_quartiles(graph, values)
    for i in range(16):
        near = np.sort(values[graph.adjacency[[i]].indices])
        ranks = np.round(np.array([0, 0.25, 0.5, 0.75, 1]) * (len(near) - 1)).astype(int)
        assert np.array_equal(found[i], near[ranks] if len(near) else np.zeros(5))


def test_blocks_without_anything_to_tell_are_left_out():
    ring = Graph.from_pairs(np.stack([np.arange(6), (np.arange(6) + 1) % 6], 1), 6)
    assert describe_roles(ring).shape == (6, 0)
    assert set(describe_nodes(ring, 4, 0)) == {"spectrum"}
    assert describe_nodes(Graph.from_pairs([], 5), 4, 0) == {}
    star = Graph.from_pairs([(0, 1), (0, 2), (0, 3)], 4)
    assert set(describe_nodes(star, 4, 0)) == {"role", "spectrum"}
    wide = Graph.from_pairs([(0, 1), (2, 3)], 4, features=np.eye(4, 9, dtype=np.float32))
    assert describe_nodes(wide, 2, 0)["features"].shape == (4, 2)
