"""Links drawn from scores: exact distributions, wanted numbers, block sizes that don't matter."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from core.context import Context
from core.models.synthesis.drawing import draw_links, take_top_links
from core.seeding import Seed


def transition_scores(vectors):
    scores = np.exp(vectors @ vectors.T)
    np.fill_diagonal(scores, 0.0)
    steps = scores / scores.sum(axis=1, keepdims=True)
    return np.maximum(steps, steps.T)


@pytest.fixture
def vectors():
    return np.random.default_rng(3).normal(size=(4, 3))


def test_first_neighbours_follow_the_symmetrised_transition_scores(vectors):
    """With no further links wanted, {i, j} is present iff i drew j or j drew i."""
    scores = transition_scores(vectors)
    chance = scores / scores.sum(axis=1, keepdims=True)
    trials = 3000
    counts = np.zeros((4, 4))
    for trial in range(trials):
        i, j = draw_links(vectors, 0, Context(Seed(trial))).T
        counts[i, j] += 1
    for i in range(4):
        for j in range(i + 1, 4):
            expected = 1 - (1 - chance[i, j]) * (1 - chance[j, i])
            assert stats.binomtest(int(counts[i, j]), trials, expected).pvalue > 1e-4


def test_the_most_wanted_pair_is_drawn_in_proportion_to_its_score(monkeypatch, vectors):
    import core.models.synthesis.drawing as synthesis

    scores = transition_scores(vectors)[np.triu_indices(4, 1)]
    seen = np.zeros(6, int)
    original = synthesis._LargestPairs.codes

    def spy(self, num_nodes):
        codes = original(self, num_nodes)
        i, j = np.triu_indices(4, 1)
        seen[np.flatnonzero(i * 4 + j == codes[0])[0]] += 1
        return codes

    monkeypatch.setattr(synthesis._LargestPairs, "codes", spy)
    for trial in range(2000):
        draw_links(vectors, 1, Context(Seed(trial)))
    assert stats.chisquare(seen, 2000 * scores / scores.sum()).pvalue > 1e-4


@pytest.mark.parametrize("wanted", [0, 7, 60, 435])
def test_number_of_links_and_that_every_node_has_one(wanted):
    vectors = np.random.default_rng(0).normal(size=(30, 5))
    pairs = draw_links(vectors, wanted, Context(Seed(1)))
    assert len(np.unique(pairs[:, 0] * 30 + pairs[:, 1])) == len(pairs)
    assert (pairs[:, 0] < pairs[:, 1]).all()
    assert set(pairs.ravel()) == set(range(30))
    assert len(pairs) == wanted if wanted >= 30 else 15 <= len(pairs) <= 30


def test_top_links_are_the_largest_scores_for_any_block_size():
    vectors = np.random.default_rng(0).normal(size=(40, 6)).astype(np.float32)
    i, j = np.triu_indices(40, 1)
    order = np.argsort(-(vectors @ vectors.T)[i, j])[:50]
    expected = set(zip(i[order], j[order], strict=True))
    for budget in (1, 64 * 40 * 7, 1 << 30):
        pairs = take_top_links(vectors, 50, Context(Seed(0), memory_budget=budget))
        assert set(map(tuple, pairs)) == expected


def test_one_node_has_no_pairs():
    assert draw_links(np.ones((1, 2)), 5, Context(Seed(0))).shape == (0, 2)
