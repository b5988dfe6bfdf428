"""node2vec against a naive update, its noise distribution and planted communities."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from core.algorithms.walks import STOP, make_state
from core.context import Context
from core.errors import RunCancelled
from core.graph import Graph
from core.models import node2vec
from core.models.node2vec import Walks, compute_alias, compute_node2vec, share_node2vec
from core.seeding import Seed
from tests.oracles.graphs import GRAPHS
from tests.oracles.progress import RecordingProgress

SMALL = Walks(dimensions=8, walk_length=6, walks_per_node=2)


def cliques(count=4, size=8):
    """`count` cliques in a ring, neighbouring ones joined by a single link."""
    i, j = np.triu_indices(size, 1)
    inside = [np.stack([i, j], 1) + size * c for c in range(count)]
    between = [[[size * c, (size * (c + 1) + 1) % (size * count)]] for c in range(count)]
    return Graph.from_pairs(np.concatenate([*inside, *between]), size * count)


def test_nodes_of_a_clique_lie_closer_than_nodes_of_different_cliques():
    graph = cliques()
    vectors = compute_node2vec(
        graph, Context(Seed(0)), Walks(dimensions=16, walks_per_node=60), lr=0.1
    )
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    cosines = unit @ unit.T
    same = np.arange(32)[:, None] // 8 == np.arange(32) // 8
    inside = cosines[same & ~np.eye(32, dtype=bool)]
    assert inside.mean() > cosines[~same].mean() + 0.3


def test_one_positive_update_equals_the_gradient_of_skip_gram():
    """Two nodes, no noise: v += r (1 − σ(v·u)) u and u likewise, walk by walk."""
    rng = np.random.default_rng(0)
    vectors, contexts = rng.normal(size=(2, 2, 4)).astype(np.float32)
    v, u = vectors.astype(float), contexts.astype(float)
    rate = 0.1
    expected_loss = 0.0
    for centre, target in ((0, 1), (1, 0)):
        share = 1 / (1 + np.exp(-v[centre] @ u[target]))
        expected_loss -= np.log(share) if centre == 0 else 0
        step = rate * (1 - share) * u[target]
        u[target] += rate * (1 - share) * v[centre]
        v[centre] += step
    walks = np.array([[0, 1, STOP, STOP]])
    accept, alias = compute_alias(np.ones(2))
    loss = node2vec._train(vectors, contexts, walks, 1, 0, accept, alias, rate, make_state(Seed(0)))
    np.testing.assert_allclose(vectors, v, rtol=1e-5)
    np.testing.assert_allclose(contexts, u, rtol=1e-5)
    assert loss == pytest.approx(expected_loss, rel=1e-5)


@pytest.mark.parametrize(("is_pooled", "error"), [(False, 1e-5), (True, 1e-3)])
def test_noise_updates_equal_the_gradient_of_skip_gram(is_pooled, error):
    """One certain noise node 2: each context also pushes v away from it."""
    rng = np.random.default_rng(1)
    vectors, contexts = rng.normal(size=(2, 3, 4)).astype(np.float32)
    v, u = vectors.astype(float), contexts.astype(float)
    rate = 0.05
    for centre, target in ((0, 1), (1, 0)):
        step = np.zeros(4)
        for node, label in ((target, 1), (2, 0), (2, 0)):
            gain = rate * (label - 1 / (1 + np.exp(-v[centre] @ u[node])))
            step += gain * u[node]
            u[node] += gain * v[centre]
        v[centre] += step
    accept, alias = compute_alias(np.array([0.0, 0.0, 1.0]))
    settings = rate, make_state(Seed(0)), is_pooled
    walks = np.array([[0, 1]])
    node2vec._train(vectors, contexts, walks, 1, 2, accept, alias, *settings)
    np.testing.assert_allclose(vectors, v, rtol=error)
    np.testing.assert_allclose(contexts, u, rtol=error)


@pytest.mark.parametrize("is_pooled", [False, True])
def test_noise_nodes_are_drawn_by_weight_from_all_nodes(is_pooled):
    """At a rate near 0 each draw moves an empty context by half of the rate. Those of the pool come
    in some thirty copies: the variance of a node's count is as many times its mean."""
    n, length, rate = 5_000, 40, 1e-6
    weights = np.arange(n) % 4 + 1.0
    vectors, contexts = np.ones((n, 1), np.float32), np.zeros((n, 1), np.float32)
    walks = np.random.default_rng(0).integers(0, n, (6_000, length))
    table = compute_alias(weights)
    node2vec._train(vectors, contexts, walks, 5, 5, *table, rate, make_state(Seed(0)), is_pooled)
    times = -2 * contexts[:, 0].astype(float) / rate
    # Each node is the target of some 270 contexts too, which push it the other way.
    per_node = length * 6 - np.mean([2, 6, 12, 20, 30])  # fewer at the ends of a walk
    targets = np.bincount(walks.ravel(), minlength=n) * per_node / length
    by_weight = [np.mean((times + targets)[weights == weight]) for weight in (1, 2, 3, 4)]
    expected = 5 * targets.sum() * np.array([1, 2, 3, 4]) / weights.sum()
    np.testing.assert_allclose(by_weight, expected, rtol=0.05)
    assert ((times + targets)[weights == 4] > 0.2 * expected[3]).all()


def test_only_larger_graphs_draw_from_the_pool(monkeypatch):
    graph, chosen, train = cliques(), [], node2vec._train

    def watch(*settings) -> float:
        chosen.append(settings[-1])
        return train(*settings)

    monkeypatch.setattr(node2vec, "_train", watch)
    compute_node2vec(graph, Context(Seed(0)), SMALL)
    assert set(chosen) == {False}
    chosen.clear()
    monkeypatch.setattr(node2vec, "POOL", graph.num_nodes - 1)
    compute_node2vec(graph, Context(Seed(0)), SMALL)
    assert set(chosen) == {True}


def test_alias_table_holds_exactly_the_given_weights():
    weights = np.random.default_rng(0).random(50) ** 4
    weights[7] = 0.0
    accept, alias = compute_alias(weights)
    shares = np.zeros(50)
    np.add.at(shares, np.arange(50), accept / 50)
    np.add.at(shares, alias, (1 - accept) / 50)
    np.testing.assert_allclose(shares, weights / weights.sum(), atol=1e-12)


@pytest.mark.parametrize("name", sorted(GRAPHS))
def test_vectors_are_finite_seeded_and_zero_for_isolated_nodes(name):
    graph = GRAPHS[name]()
    first = compute_node2vec(graph, Context(Seed(1)), SMALL)
    assert first.shape == (graph.num_nodes, 8)
    assert np.isfinite(first).all()
    assert (first[graph.degrees == 0] == 0).all()
    np.testing.assert_array_equal(first, compute_node2vec(graph, Context(Seed(1)), SMALL))
    assert (first != compute_node2vec(graph, Context(Seed(2)), SMALL)).any()


def test_a_graph_without_links_has_zero_vectors():
    graph = Graph.from_pairs(np.empty((0, 2)), 5)
    assert not compute_node2vec(graph, Context(Seed(0)), SMALL).any()


def test_one_embedding_serves_every_cell_of_a_release():
    graph, context = cliques(), Context(Seed(0))
    first = share_node2vec(graph, context.child("a"), SMALL)
    assert share_node2vec(graph, context.child("b"), SMALL) is first
    assert share_node2vec(graph, context, replace(SMALL, q=2.0)) is not first


def test_loss_falls_progress_is_reported_and_cancel_obeyed(monkeypatch):
    monkeypatch.setattr(node2vec, "UPDATES_AT_ONCE", 20_000)
    progress = RecordingProgress()
    compute_node2vec(
        cliques(), Context(Seed(0), progress=progress), Walks(walks_per_node=40), lr=0.1
    )
    losses = [value for _, value in progress.curves["node2vec_loss"]]
    assert np.mean(losses[-10:]) < np.mean(losses[:10]) - 0.3
    assert progress.updates[-1][:2] == (32 * 40, 32 * 40)
    stopped = RecordingProgress(lambda: len(stopped.updates) >= 2)
    with pytest.raises(RunCancelled):
        compute_node2vec(cliques(), Context(Seed(0), progress=stopped))
    assert len(stopped.updates) == 2
