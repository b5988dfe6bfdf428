"""NetFense and Nettack: closed forms against dense algebra, rules of flipping, effect."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from core.context import Context
from core.defenses.netfense import NetFense
from core.defenses.nettack import Nettack
from core.graph import Graph
from core.models.flips.perturbation import Flipper, compute_gap, fit_surrogates
from core.models.flips.selection import FlippedGcn, FlippedGraph
from core.models.flips.unnoticed import DEGREE_MIN, MAX_RATIO, PageRankEffect, passes_degree_test
from core.seeding import Seed
from tests.oracles.graphs import GRAPHS, make_threats, two_communities


def compute_dense_scores(adjacency, features, weights):
    loops = adjacency + np.eye(len(adjacency))
    scale = 1 / np.sqrt(loops.sum(axis=1))
    matrix = scale[:, None] * loops * scale
    return matrix @ matrix @ features @ weights


@pytest.fixture
def flipped():
    graph = two_communities(24)
    rng = np.random.default_rng(1)
    features = rng.integers(0, 2, (24, 6)).astype(np.float32)
    weights = rng.normal(size=(6, 5))
    return FlippedGraph(graph, features, weights), graph, features, weights


@pytest.mark.parametrize("v", [0, 5, 23])
def test_scores_of_every_link_flip_equal_the_dense_product(flipped, v):
    state, graph, features, weights = flipped
    found = state.score_link_flips(v)
    for u in range(24):
        dense = graph.adjacency.toarray().astype(float)
        if u != v:
            dense[u, v] = dense[v, u] = 1 - dense[u, v]
        expected = compute_dense_scores(dense, features, weights)[v]
        np.testing.assert_allclose(found[u], expected, atol=1e-6)


def test_scores_stay_right_after_any_flips(flipped):
    state, graph, features, weights = flipped
    rng = np.random.default_rng(2)
    dense, values = graph.adjacency.toarray().astype(float), features.astype(float)
    for _ in range(40):
        u, v = rng.choice(24, 2, replace=False)
        state.flip_link(int(v), int(u))
        dense[u, v] = dense[v, u] = 1 - dense[u, v]
        column = int(rng.integers(6))
        state.flip_feature(int(v), column)
        values[v, column] = 1 - values[v, column]
    expected = compute_dense_scores(dense, values, weights)
    np.testing.assert_allclose(state.compute_all_scores(), expected, atol=1e-5)
    np.testing.assert_array_equal(state.adjacency.toarray(), dense)
    np.testing.assert_array_equal(state.to_graph().adjacency.toarray(), dense)
    np.testing.assert_array_equal(state.read_features(3), values[3])
    found = state.score_feature_flips(3)
    for column in range(6):
        changed = values.copy()
        changed[3, column] = 1 - changed[3, column]
        expected = compute_dense_scores(dense, changed, weights)[3]
        np.testing.assert_allclose(found[column], expected, atol=1e-5)


@pytest.mark.parametrize("name", ["two_communities", "two_components", "isolated_node", "clique"])
def test_page_rank_effect_equals_the_dense_inverse(name):
    graph, restart = GRAPHS[name](), 0.1
    adjacency = graph.adjacency.toarray().astype(float)
    degrees = np.maximum(adjacency.sum(axis=1), 1)
    inverse = np.linalg.inv(np.eye(len(degrees)) - (1 - restart) * adjacency / degrees[:, None])
    ranks = PageRankEffect(restart)
    for v in (0, graph.num_nodes - 1):
        found = ranks.compute(graph.adjacency.astype(float), v)
        for u in range(graph.num_nodes):
            if u == v:
                continue
            sign = 1 - 2 * adjacency[u, v]
            total = 0.0
            for a, b in ((u, v), (v, u)):
                c = sign * (1 - restart) / degrees[a]
                total += sum(c * inverse[i, a] for i in range(len(degrees))) / (
                    1 + c * inverse[a, b]
                )
            assert found[u] == pytest.approx(abs(total), rel=1e-3)


def test_degree_test_equals_the_likelihood_ratio_of_both_sequences():
    graph = two_communities(30)
    start, v = graph.degrees, 3
    change = np.where(graph.adjacency.toarray()[v] > 0, -1, 1)
    found = passes_degree_test(start, start, v, change)

    def likelihood(values):
        values = values[values >= DEGREE_MIN]
        low = DEGREE_MIN - 0.5
        exponent = 1 + len(values) / np.log(values / low).sum()
        return np.log((exponent - 1) / low * (values / low) ** -exponent).sum()

    for u in range(30):
        if u != v:
            after = start.copy()
            after[[u, v]] += change[u]
            joint = likelihood(np.concatenate([start, after]))
            ratio = 2 * (likelihood(start) + likelihood(after) - joint)
            assert found[u] == (ratio < MAX_RATIO)


def publish(method, threats, seed=0):
    return method.publish(threats.visible, threats, Context(Seed(seed)))


def draw_case(seed=3):
    graph = two_communities(60, seed=seed)
    features = (graph.features > 0.8).astype(np.float32)
    graph = graph.update_columns(features=features)
    return make_threats(graph, seed)


def compute_private_gaps(threats, releases):
    """Mean gap of the hidden nodes by the classifier that was trained before the flips."""
    surrogates = fit_surrogates(threats.visible, threats, Context(Seed(0)), 2)
    gaps = []
    for graph in releases:
        state = FlippedGcn(graph, graph.features, surrogates.weights)
        private, _ = surrogates.split(state.compute_all_scores())
        gaps.append(compute_gap(private)[threats.attribute.hidden].mean())
    return gaps


@pytest.mark.parametrize("what", ["structure", "features", "both"])
def test_flips_close_the_gap_between_private_classes(what):
    threats = draw_case()
    release = publish(NetFense(members=2, what=what, budget=4), threats)
    before, after = compute_private_gaps(threats, [threats.visible, release.graph])
    assert after < 0.7 * before
    changed = not np.array_equal(threats.visible.edges, release.graph.edges)
    assert changed == (what != "features")
    assert (release.facts["features_flipped"] > 0) == (what != "structure") or what == "both"


@pytest.mark.parametrize("classifier", ["gcn", "linear"])
def test_a_tolerance_trades_the_gap_for_the_label(classifier):
    """A larger one leaves the gap wider and the label's probability higher."""
    threats = draw_case()
    threats = replace(
        threats,
        utility=replace(
            threats.attribute,
            attribute=replace(
                threats.attribute.attribute, codes=threats.attribute.attribute.codes[::-1].copy()
            ),
        ),
    )
    surrogates = fit_surrogates(threats.visible, threats, Context(Seed(0)), 2)
    rows = np.arange(threats.visible.num_nodes)
    start = FlippedGcn(threats.visible, threats.visible.features, surrogates.weights)
    predicted = surrogates.split(start.compute_all_scores())[1].argmax(axis=1)
    found = []
    for tolerance in (0.0, 0.3):
        method = NetFense(members=2, budget=4, tolerance=tolerance, classifier=classifier)
        state = FlippedGcn(
            publish(method, threats).graph, threats.visible.features, surrogates.weights
        )
        private, label = surrogates.split(state.compute_all_scores())
        found.append((compute_gap(private).mean(), label[rows, predicted].mean()))
    assert found[1][0] > found[0][0]
    assert found[1][1] > found[0][1]


def test_no_more_flips_than_the_budget_and_none_at_nodes_of_degree_one():
    threats = draw_case()
    release = publish(NetFense(members=2, targets=1, budget=3), threats)
    changed = np.setxor1d(threats.visible.edge_codes, release.graph.edge_codes)
    assert 0 < len(changed) <= 3
    ends = threats.visible.edges[threats.visible.degrees[threats.visible.edges].min(axis=1) == 1]
    full = publish(NetFense(members=2, budget=5), threats)
    assert full.graph.contains_pairs(ends).all()
    assert full.graph.degrees[threats.visible.degrees > 0].min() >= 1


def test_sensitive_links_are_never_put_back():
    threats = draw_case()
    for method in (NetFense(members=2, budget=10, quantile=1.0), Nettack(budget=10)):
        assert not publish(method, threats).graph.contains_pairs(threats.link.hidden).any()


def test_random_flips_keep_the_degree_distribution():
    threats = draw_case()
    release = publish(NetFense(members=2, choice="random", budget=3), threats)
    before, after = threats.visible.degrees, release.graph.degrees
    assert not threats.visible.contains_pairs(release.graph.edges).all()
    zero = np.zeros(len(before), int)
    assert passes_degree_test(before, after, 0, zero).all()


def test_nettack_misleads_the_classifier_where_netfense_stops_at_a_tie():
    threats = draw_case()
    threat = threats.attribute
    surrogates = fit_surrogates(threats.visible, threats, Context(Seed(0)))
    flipper = Flipper(threats.visible, surrogates, np.zeros(0, int))
    predicted = flipper.original_scores[:, :2].argmax(axis=1)
    wrong = []
    for method in (NetFense(members=2, budget=5, classifier="linear"), Nettack(budget=5)):
        state = FlippedGraph(
            publish(method, threats).graph, surrogates.features, surrogates.weights
        )
        private, _ = surrogates.split(state.compute_all_scores())
        margin = private[np.arange(60), predicted] - private[np.arange(60), 1 - predicted]
        wrong.append(margin[threat.hidden].mean())
    assert wrong[1] < wrong[0]
    assert wrong[1] < 0


def test_says_why_it_cannot_flip():
    weighted = make_threats(GRAPHS["weighted"]())
    assert "ignore its link weights" in NetFense().supports(weighted.visible, weighted)
    dense = make_threats(two_communities())
    assert "what = structure" in NetFense(members=2, what="features").supports(dense.visible, dense)
    empty = Graph.from_pairs(np.zeros((0, 2), int), 4)
    assert "links" in Nettack().supports(empty, replace(dense, visible=empty))
