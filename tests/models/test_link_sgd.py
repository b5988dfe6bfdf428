"""Private training on links: clipped sums move by at most the clip, gradients are right."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from core.context import Context
from core.models.synthesis.deep_pagerank import NoNoise
from core.models.synthesis.link_sgd import (
    CLIP,
    LinkSgd,
    PrivateSteps,
    clip_jointly,
    compute_link_gradients,
    train_gan,
    train_vae,
)
from core.privacy.budget import GaussianNoise
from core.seeding import Seed
from tests.oracles.graphs import two_communities

PLAN = LinkSgd(steps=150, rate=0.3, noise=NoNoise(), lr=0.05, dimensions=6)


def test_gradients_are_those_of_autograd():
    generator = torch.Generator().manual_seed(0)
    left, right = (torch.randn(5, 4, generator=generator).requires_grad_() for _ in range(2))
    logits = (left * right).sum(dim=1)
    loss = torch.nn.functional.binary_cross_entropy_with_logits(
        logits, torch.ones(5), reduction="sum"
    )
    loss.backward()
    found = compute_link_gradients(left.detach(), right.detach(), 1.0)
    torch.testing.assert_close(found, (left.grad, right.grad))


def test_clipping_keeps_direction_and_bounds_the_norm_of_all_parts_together():
    parts = torch.tensor([[3.0, 0.0], [0.1, 0.0]]), torch.tensor([[0.0, 4.0], [0.0, 0.2]])
    clipped = clip_jointly(*parts)
    torch.testing.assert_close(clipped[0], torch.tensor([[0.6, 0.0], [0.1, 0.0]]))
    torch.testing.assert_close(clipped[1], torch.tensor([[0.0, 0.8], [0.0, 0.2]]))


def test_one_more_link_changes_the_clipped_sum_by_at_most_the_clip():
    graph = two_communities()
    steps = PrivateSteps(graph, PLAN, Context(Seed(0)))
    vectors = 5 * torch.randn(40, 6, generator=torch.Generator().manual_seed(1))

    def total(links):
        ends = torch.from_numpy(links.copy())
        at = compute_link_gradients(vectors[ends[:, 0]], vectors[ends[:, 1]], 1.0)
        return steps.sum_over_ends(ends, *clip_jointly(*at))

    whole = total(graph.edges)
    for k in range(graph.num_edges):
        change = (whole - total(np.delete(graph.edges, k, axis=0))).norm()
        assert float(change) <= CLIP * (1 + 1e-4)


def test_samples_take_each_link_at_the_stated_rate_and_non_links_know_no_graph():
    graph = two_communities()
    steps = PrivateSteps(graph, PLAN, Context(Seed(0)))
    sizes = [len(steps.draw_links()) for _ in range(400)]
    assert np.mean(sizes) == pytest.approx(0.3 * graph.num_edges, rel=0.03)
    pairs = steps.draw_pairs(4000)
    assert (pairs[:, 0] != pairs[:, 1]).all()
    counts = torch.bincount(pairs.ravel(), minlength=40)
    assert counts.min() > 120


@pytest.mark.parametrize("train", [train_vae, train_gan])
def test_without_noise_vectors_score_links_above_other_pairs_and_noise_drowns_that(train):
    graph = two_communities()
    i, j = np.triu_indices(40, 1)
    is_link = graph.contains_pairs(np.stack([i, j], 1))

    def rank(noise):
        context = Context(Seed(0))
        plan = LinkSgd(150, 0.3, GaussianNoise(noise, context), 0.05, 6)
        vectors = train(graph, plan, 40, context)
        scores = (vectors @ vectors.T)[i, j]
        return (scores[is_link][:, None] > scores[~is_link]).mean()

    assert rank(0.0) > 0.65
    assert abs(rank(1e4) - 0.5) < 0.1
