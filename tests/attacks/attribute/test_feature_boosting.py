"""Trees find what a linear baseline attacker cannot, and nothing where there is nothing."""

from __future__ import annotations

import numpy as np
import pytest

from core.attacks.attribute import feature_boosting
from core.attacks.attribute.feature_boosting import FeatureBoosting, find_splittable
from core.attacks.attribute.feature_regression import FeatureRegression
from core.context import Context
from core.data.splits import draw_attribute_threat
from core.graph import Graph
from core.measures.ranking import measure_class_probabilities
from core.methods import THIS_SIZE
from core.node_column import NodeColumn
from core.release import Release
from core.seeding import Seed
from tests.oracles.graphs import two_communities


def make_graph(codes, features) -> Graph:
    attributes = {"private": NodeColumn("private", codes, ("a", "b"))}
    n = len(codes)
    ring = np.stack([np.arange(n), (np.arange(n) + 1) % n], 1)
    return Graph.from_pairs(ring, n, features=features, attributes=attributes)


def measure_auc(attack, graph):
    threat = draw_attribute_threat(graph, "private", 0.4, Seed(0))
    found = attack.infer(Release(graph), threat, Context(Seed(0)))
    measured = {m.metric: m.value for m in measure_class_probabilities(found, threat)}
    return measured["auc"], found


def test_an_interaction_is_found_by_trees_alone():
    rng = np.random.default_rng(0)
    features = rng.normal(size=(300, 3))
    graph = make_graph((features[:, 0] * features[:, 1] > 0).astype(int), features)
    assert measure_auc(FeatureBoosting(), graph)[0] > 0.85
    assert measure_auc(FeatureRegression(), graph)[0] < 0.65


def test_noise_keeps_the_class_shares():
    rng = np.random.default_rng(1)
    graph = make_graph(np.arange(300) % 2, rng.normal(size=(300, 4)))
    auc, found = measure_auc(FeatureBoosting(trees=40), graph)
    assert found.facts["trees"] <= 5
    assert abs(auc - 0.5) < 0.12


def test_links_are_never_read():
    rng = np.random.default_rng(2)
    graph = make_graph(np.arange(80) % 2, rng.normal(size=(80, 4)))
    _, first = measure_auc(FeatureBoosting(trees=10), graph)
    _, second = measure_auc(FeatureBoosting(trees=10), graph.with_edges(graph.edges[:5]))
    np.testing.assert_array_equal(first.probabilities, second.probabilities)


@pytest.mark.parametrize("least", [1, 2, 5, 9])
def test_columns_that_no_threshold_splits_are_those_that_a_loop_finds(least):
    rng = np.random.default_rng(0)
    table = np.stack(
        [
            *((rng.random((8, 18)) < np.linspace(0.01, 0.99, 8)[:, None]).astype(float)),
            rng.normal(size=18),
            np.full(18, 3.0),
            np.repeat([0.0, 1.0, 2.0], [2, 13, 3]),
        ],
        axis=1,
    )

    def can_split(column):
        below = [(column <= value).sum() for value in np.unique(column)]
        return any(least <= count <= len(column) - least for count in below)

    kept = find_splittable(table, least)
    for number, column in enumerate(table.T):
        # none that can be split is lost; of two values none is kept in vain
        assert kept[number] or not can_split(column)
        if len(np.unique(column)) <= 2 and 2 * least <= len(column):
            assert kept[number] == can_split(column)


def test_leaving_out_such_columns_changes_no_tree(monkeypatch):
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 2, 120)
    rare, common = rng.random((120, 60)) < 0.01, rng.random((120, 5)) < 0.4
    words = np.column_stack([rare, common, rng.random(120) < 0.1 + 0.7 * codes])
    graph = make_graph(codes, words.astype(np.float32))
    release, context = Release(graph), Context(Seed(0))
    threat, attack = draw_attribute_threat(graph, "private", 0.4, Seed(0)), FeatureBoosting(trees=5)
    found = attack.infer(release, threat, context)
    monkeypatch.setattr(
        feature_boosting, "find_splittable", lambda table, _: np.ones(table.shape[1], bool)
    )
    every = attack.infer(release, threat, context)
    assert every.facts["trees"] > 0
    np.testing.assert_array_equal(found.probabilities, every.probabilities)


def test_a_table_too_large_is_declined_beforehand(monkeypatch):
    graph = two_communities(40)
    threat = draw_attribute_threat(graph, "private", 0.4, Seed(0))
    assert FeatureBoosting().supports(Release(graph), threat) is None
    monkeypatch.setattr(feature_boosting, "MAX_ENTRIES", graph.features.size - 1)
    assert THIS_SIZE in FeatureBoosting().supports(Release(graph), threat)
