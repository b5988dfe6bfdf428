"""What is learned on one graph of such people holds on another; noise teaches nothing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from core.attacks.attribute.label_propagation import LabelPropagation
from core.attacks.attribute.neighbourhood_classifier import NeighbourhoodClassifier
from core.context import Context
from core.data.catalogue import load_dataset
from core.data.synthetic import generate_social
from core.graph import Graph
from core.measures.ranking import measure_class_probabilities
from core.models.shadow_graph import join_graphs, learn_from_neighbours, translate_codes
from core.node_column import MISSING, NodeColumn
from core.release import Release
from core.seeding import Seed
from core.threats import AttributeThreat
from tests.oracles.graphs import plant_blocks

QUICK = NeighbourhoodClassifier(trees=20, folds=3)


def tell(graph, column, known=()):
    attribute, mask = graph.column(column), np.zeros(graph.num_nodes, bool)
    mask[list(known)] = True
    return AttributeThreat(attribute, mask, attribute.known & ~mask)


def find_auc(other, graph, column, known=()):
    threat = tell(graph, column, known)
    found = QUICK.infer_from(other, Release(graph), threat, Context(Seed(0)))
    rows = measure_class_probabilities(found, threat)
    return next(row.value for row in rows if row.metric == "auc")


def make_unlike(seed, size=300):
    """Links mostly across two classes, and a feature that tells a little of them."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 2, size)
    graph = plant_blocks(codes, np.array([[0.01, 0.05], [0.05, 0.01]]), seed)
    features = rng.normal(size=(size, 2))
    features[:, 0] += 0.5 * codes
    return graph.update_columns(features=features, feature_names=("x", "y"))


def test_a_role_learned_in_one_network_is_found_in_another_where_nobody_is_known():
    other, graph = generate_social(400, 0), generate_social(300, 1)
    assert find_auc(other, graph, "seniority") > 0.8


def test_links_between_unlike_people_are_learned_too():
    graph = make_unlike(1)
    told = find_auc(make_unlike(0), graph, "private")
    feature = find_auc(replace(make_unlike(0), edges=np.empty((0, 2))), graph, "private")
    assert told > 0.85
    assert told > feature + 0.1


def test_half_of_a_real_graph_teaches_the_other_half(data_root, monkeypatch):
    monkeypatch.setenv("AUDIT_DATA", str(data_root))
    graph = load_dataset("nba").graph.with_private("country")
    for seed in (0, 1):
        order = np.random.default_rng(seed).permutation(graph.num_nodes)
        halves = [graph.subgraph(np.sort(part)) for part in np.array_split(order, 2)]
        assert find_auc(*halves, "country") > 0.65


def test_noise_teaches_nothing():
    rng = np.random.default_rng(3)

    def draw():
        codes = rng.integers(0, 2, 300)
        return Graph.from_pairs(
            rng.integers(0, 300, (1200, 2)),
            300,
            features=rng.normal(size=(300, 3)),
            attributes={"private": NodeColumn("private", codes, ("a", "b"))},
        )

    found = [find_auc(draw(), draw(), "private") for _ in range(4)]
    assert abs(np.mean(found) - 0.5) < 0.06
    other, graph = draw(), draw()
    threat = tell(graph, "private")
    said = QUICK.infer_from(other, Release(graph), threat, Context(Seed(0))).probabilities
    assert -np.log(said[np.arange(300), threat.attribute.codes]).mean() < np.log(2) + 0.05


def test_what_lies_in_places_of_one_graph_is_not_said_surely_of_another():
    """Affiliation is a matter of places, seniority of roles: these hold anywhere."""
    other, graph = generate_social(600, 2), generate_social(600, 3)
    found = {}
    for column in ("affiliation", "seniority"):
        threat = tell(graph, column)
        said = QUICK.infer_from(other, Release(graph), threat, Context(Seed(1)))
        attribute = threat.attribute
        loss = -np.log(said.probabilities[np.arange(600), attribute.codes]).mean()
        blind = -(attribute.shares * np.log(attribute.shares)).sum()
        found[column] = (said.facts["sureness"], loss - blind)
    assert found["affiliation"][0] < 0.5
    assert found["affiliation"][1] < 0.5  # 2.7 where nothing is tempered
    assert found["seniority"][0] > 0.8
    assert found["seniority"][1] < -0.3


def test_values_of_the_release_are_read_of_known_people_only():
    other, graph = generate_social(250, 0), generate_social(250, 1)
    threat = tell(graph, "affiliation", range(30))
    swapped = threat.attribute.codes.copy()
    swapped[30:] = (swapped[30:] + 1) % 3
    changed = replace(threat, attribute=replace(threat.attribute, codes=swapped))
    found = [
        QUICK.infer_from(other, Release(graph), each, Context(Seed(0))).probabilities
        for each in (threat, changed)
    ]
    np.testing.assert_array_equal(*found)


def test_known_people_of_the_release_are_added():
    other, graph = generate_social(300, 0), generate_social(300, 1)
    few = find_auc(other, graph, "affiliation")
    assert find_auc(other, graph, "affiliation", range(100)) > few + 0.03


def test_sizes_and_scales_do_not_matter():
    """Twice the people in another unit: the evidence is that of the same people."""
    graph = make_unlike(0)
    twice = np.concatenate([graph.edges, graph.edges + 300])
    other = Graph.from_pairs(
        twice,
        600,
        features=np.tile(graph.features, (2, 1)) * 1000 + 5,
        feature_names=("x", "y"),
        attributes={"private": NodeColumn("private", np.tile(np.arange(300) % 2, 2), ("a", "b"))},
    )
    both = join_graphs(graph, np.full(300, MISSING), other, graph.column("private"))
    for block in both.blocks.values():
        np.testing.assert_allclose(block[:300], block[300:600], atol=1e-5)
        assert np.abs(block[:300].mean(axis=0)).max() < 1e-9


def test_classes_and_columns_meet_by_name():
    column = NodeColumn("p", [0, 1, 2, -1], ("c", "a", "x"))
    assert translate_codes(column, ("a", "b", "c")).tolist() == [2, 0, -1, -1]
    graph, other = make_unlike(0), make_unlike(1)
    flipped = other.update_columns(features=other.features[:, ::-1], feature_names=("y", "x"))
    plain, inverted = (
        join_graphs(graph, np.full(300, MISSING), each, graph.column("private")).blocks
        for each in (other, flipped)
    )
    assert plain.keys() == inverted.keys() == {"role", "features", "neighbours", "neighbourhood"}
    for name in plain:
        np.testing.assert_allclose(plain[name], inverted[name], atol=1e-6)
    strange = other.update_columns(features=other.features, feature_names=("u", "v"))
    alone = join_graphs(graph, np.full(300, MISSING), strange, graph.column("private"))
    assert set(alone.blocks) == {"role"}


def test_what_the_neighbours_say_is_pooled_by_sign():
    """A star whose leaves are surely of one class: its centre is of the other, where that is so
    of the graph next to it."""
    codes = np.array([1, 0, 0, 0, 0] * 8)
    stars = [(5 * k, 5 * k + leaf) for k in range(8) for leaf in range(1, 5)]
    attribute = NodeColumn("p", codes, ("a", "b"))
    other = Graph.from_pairs(stars, 40, attributes={"p": attribute})
    both = join_graphs(other, np.full(40, MISSING), other, attribute)
    chances = np.full((80, 2), 0.5)
    leaves = np.tile(codes == 0, 2)
    chances[leaves] = [0.9, 0.1]
    found = learn_from_neighbours(both, chances, np.zeros(80, bool), np.array([0.8, 0.2]))
    assert (found[:40].argmax(axis=1) == codes).all()


def test_who_cannot_learn_elsewhere_says_so():
    graph = make_unlike(0)
    with pytest.raises(NotImplementedError):
        LabelPropagation().infer_from(graph, Release(graph), tell(graph, "private"), None)
