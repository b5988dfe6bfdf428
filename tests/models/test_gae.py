"""The graph auto-encoder: what it learns, its heads, its seeds and its odd inputs."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from sklearn.metrics import roc_auc_score

from core.algorithms.pairs import draw_non_links, sample_non_links
from core.context import Context
from core.errors import RunCancelled
from core.graph import Graph
from core.models.gae import OUT, PairHead, compute_gae, share_gae
from core.seeding import Seed
from tests.oracles.graphs import GRAPHS, make_threats
from tests.oracles.progress import RecordingProgress

HEADS = ("cosine", "inner", "mlp")


def test_separates_hidden_links_from_non_links_of_two_communities():
    graph = GRAPHS["two_communities"](n=80)
    threats = make_threats(graph)
    model = compute_gae(threats.visible, Context(Seed(0)), epochs=60)
    # The sides are all there is to learn: (1 + share of links − share of non-released links) / 2.
    best = 0.72
    assert roc_auc_score(threats.link.truth, model.score(threats.link.pairs)) > best - 0.06


@pytest.mark.parametrize("head", HEADS)
def test_loss_falls_and_curve_is_recorded(head):
    progress = RecordingProgress()
    graph = GRAPHS["two_communities"]()
    compute_gae(graph, Context(Seed(0), progress=progress), head=head, epochs=60)
    losses = [value for _, value in progress.curves["gae_loss"]]
    assert len(losses) == 60
    assert np.mean(losses[-5:]) < np.mean(losses[:5]) - 0.02


@pytest.mark.parametrize("head", HEADS)
def test_heads_equal_their_formulas_and_are_symmetric(head):
    scorer = PairHead(head, Seed(0).torch("head"))
    vectors = torch.randn(14, OUT, generator=Seed(1).torch("ends"))
    ends = torch.arange(14).view(2, 7)
    left, right = vectors.view(2, 7, OUT)
    scores = scorer(vectors, ends).detach()
    torch.testing.assert_close(scores, scorer(vectors, ends.flip(0)).detach())
    for row in range(7):
        a, b = left[row], right[row]
        if head == "cosine":
            expected = a @ b / (a.norm() * b.norm())
        elif head == "inner":
            expected = a @ b
        else:
            both = [
                scorer.last(torch.relu(scorer.first(torch.cat(ends)[None])))
                for ends in ((a, b), (b, a))
            ]
            expected = (both[0] + both[1]).squeeze().detach() / 2
        torch.testing.assert_close(scores[row], expected)


def test_cosine_scores_are_the_cosines_of_the_vectors():
    graph = GRAPHS["two_communities"]()
    model = compute_gae(graph, Context(Seed(0)), epochs=5)
    pairs = sample_non_links(graph, 20, np.random.default_rng(0))
    unit = model.vectors / np.linalg.norm(model.vectors, axis=1, keepdims=True)
    expected = (unit[pairs[:, 0]] * unit[pairs[:, 1]]).sum(axis=1)
    np.testing.assert_allclose(model.score(pairs), expected, atol=1e-5)


@pytest.mark.parametrize("name", sorted(GRAPHS))
def test_vectors_depend_on_the_seed_only(name):
    graph = GRAPHS[name]()
    torch.manual_seed(1)
    first = compute_gae(graph, Context(Seed(3)), epochs=3).vectors
    torch.manual_seed(2)
    second = compute_gae(graph, Context(Seed(3)), epochs=3).vectors
    other = compute_gae(graph, Context(Seed(4)), epochs=3).vectors
    assert first.shape == (graph.num_nodes, 64)
    np.testing.assert_array_equal(first, second)
    assert np.abs(first - other).max() > 1e-3


def test_one_training_serves_every_cell_of_a_release():
    graph = GRAPHS["two_communities"]()
    context = Context(Seed(0))
    first = share_gae(graph, context.child("gae_cosine"), epochs=2)
    assert share_gae(graph, context.child("gae_svc"), epochs=2) is first
    assert share_gae(graph, context, epochs=3) is not first


def test_a_link_of_weight_zero_is_no_link():
    graph = GRAPHS["two_communities"]()
    absent = sample_non_links(graph, 10, np.random.default_rng(0))
    weights = np.r_[np.ones(graph.num_edges), np.zeros(10)]
    padded = graph.with_edges(np.concatenate([graph.edges, absent]), weights)
    pairs = np.stack(np.triu_indices(graph.num_nodes, 1), 1)
    scores = [
        compute_gae(g, Context(Seed(0)), epochs=40).score(pairs)
        for g in (padded, graph.with_edges(graph.edges, np.ones(graph.num_edges)))
    ]
    assert np.corrcoef(*scores)[0, 1] > 0.9


@pytest.mark.parametrize("pairs", [[], [[0, 1]], [[0, 1], [0, 2], [1, 2]]])
def test_empty_tiny_and_complete_graphs_give_finite_scores(pairs):
    graph = Graph.from_pairs(np.array(pairs, int).reshape(-1, 2), 3)
    model = compute_gae(graph, Context(Seed(0)), epochs=3)
    assert np.isfinite(model.score(np.array([[0, 1], [1, 2]]))).all()


def test_non_links_are_no_links_and_uniform():
    graph = GRAPHS["clique"]()
    pairs = draw_non_links(graph, 200_000, np.random.default_rng(0))
    assert not graph.contains_pairs(pairs).any()
    assert (pairs[:, 0] != pairs[:, 1]).all()
    codes = pairs.min(axis=1) * graph.num_nodes + pairs.max(axis=1)
    counts = np.unique(codes, return_counts=True)[1]
    assert len(counts) == graph.num_pairs - graph.num_edges
    expected = 200_000 / (graph.num_nodes**2 / 2)
    assert abs(counts - expected).max() < 6 * np.sqrt(expected)


def test_cancel_stops_within_one_epoch():
    progress = RecordingProgress(lambda: len(progress.updates) >= 3)
    with pytest.raises(RunCancelled):
        compute_gae(GRAPHS["star"](), Context(Seed(0), progress=progress), epochs=1000)
    assert len(progress.updates) == 3
