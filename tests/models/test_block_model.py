"""Block models: exact on a forest by brute force; blocks of either kind; nothing in noise."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from core.context import Context
from core.graph import Graph
from core.models import blocks
from core.models.block_model import BlockModel, Fitting
from core.models.blocks import find_blocks
from core.seeding import Seed
from tests.oracles.graphs import plant_blocks


def enumerate_blocks(graph, theta, rates, shares, mean):
    """Chances (n, B) and log-likelihood by all B^n ways, links that are not there as one field:
    exp(−θ_i Σ_b ω_ab mean_b) a node, and half of its mean back, as the Bethe value has it."""
    size = len(shares)
    pull = rates @ mean
    total, chances = 0.0, np.zeros((graph.num_nodes, size))
    for way in itertools.product(range(size), repeat=graph.num_nodes):
        value = np.prod([shares[a] * np.exp(-t * pull[a]) for a, t in zip(way, theta, strict=True)])
        value *= np.prod([rates[way[i], way[j]] for i, j in graph.edges])
        total += value
        chances[np.arange(graph.num_nodes), way] += value
    return chances / total, np.log(total) + 0.5 * mean @ rates @ mean


@pytest.mark.parametrize("corrected", [True, False])
def test_a_forest_is_solved_as_all_ways_together_solve_it(corrected):
    graph = Graph.from_pairs([(0, 1), (1, 2), (1, 3), (4, 5), (5, 6)], 8)
    start = np.random.default_rng(0).dirichlet(np.ones(2), 8)
    model = BlockModel(graph, corrected)
    found = model.fit(start, np.random.default_rng(1), rounds=60, sweeps=40, tolerance=1e-9)
    theta = graph.degrees.astype(float) if corrected else np.ones(8)
    mean = theta @ found.chances
    chances, likelihood = enumerate_blocks(graph, theta, found.rates, found.shares, mean)
    np.testing.assert_allclose(found.chances, chances, atol=1e-6)
    one = np.ones((8, 1))
    single = model.fit(one, np.random.default_rng(1))
    _, alone = enumerate_blocks(graph, theta, single.rates, single.shares, theta @ one)
    assert single.evidence == pytest.approx(0.0, abs=1e-9)
    assert found.evidence == pytest.approx(likelihood - alone, abs=1e-6)


def test_numbers_of_links_are_those_of_sure_blocks():
    """Two cliques and a bridge, closed form: ω_ab = links between a and b over κ_a κ_b."""
    pairs = [*itertools.combinations(range(6), 2), *itertools.combinations(range(6, 12), 2), (0, 6)]
    graph = Graph.from_pairs(pairs, 12)
    start = np.repeat(np.eye(2), 6, axis=0) * 0.98 + 0.01
    found = BlockModel(graph).fit(start, np.random.default_rng(0))
    assert (found.chances.argmax(axis=1) == np.repeat([0, 1], 6)).all()
    ends = (np.array([[30, 1], [1, 30]]) + 0.25) / (31.5**2)
    np.testing.assert_allclose(found.rates, ends, rtol=0.02)


@pytest.mark.parametrize("alike", [True, False])
@pytest.mark.parametrize("uneven", [True, False])
def test_blocks_alike_or_unlike_are_found_at_any_degrees(alike, uneven):
    codes = np.arange(300) % 2
    inside, across = (0.08, 0.015) if alike else (0.015, 0.08)
    theta = np.where(np.arange(300) % 3 == 0, 2.0, 0.5) if uneven else None
    graph = plant_blocks(codes, [[inside, across], [across, inside]], 1, theta)
    found = find_blocks(graph, 8, Context(Seed(0)))[0]
    assert found.chances.shape[1] == 2
    right = (found.chances.argmax(axis=1) == codes).mean()
    assert max(right, 1 - right) > 0.9


def test_the_links_say_how_many_blocks_there_are():
    codes = np.arange(400) % 4
    graph = plant_blocks(codes, np.full((4, 4), 0.01) + 0.12 * np.eye(4))
    for found in find_blocks(graph, 24, Context(Seed(0))):
        assert found.chances.shape[1] == 4


@pytest.mark.parametrize("seed", [0, 1, 3])
def test_blocks_that_are_found_late_are_counted(seed):
    """After a round or two three blocks that meet unevenly look no better than two."""
    ordered = np.repeat(np.arange(3), [405, 297, 198])
    codes = np.random.default_rng(seed).permutation(ordered)
    rates = np.array([[6, 2, 3], [2, 7, 1], [3, 1, 3]]) * 2.5 / 900
    _, uncorrected = find_blocks(plant_blocks(codes, rates, seed), 8, Context(Seed(0)))
    assert uncorrected.chances.shape[1] == 3


def test_the_best_number_of_blocks_is_fitted_to_its_end(monkeypatch):
    codes = np.arange(300) % 3
    graph = plant_blocks(codes, np.full((3, 3), 0.02) + 0.05 * np.eye(3), 5)
    found = find_blocks(graph, 3, Context(Seed(0)))
    monkeypatch.setattr(blocks, "COARSE", 1e-6)
    finest = find_blocks(graph, 3, Context(Seed(0)))
    assert len(found) == len(finest) > 0
    for one, other in zip(found, finest, strict=True):
        assert np.abs(one.chances - other.chances).mean() < 2e-3


def test_noise_has_no_blocks():
    graph = Graph.from_pairs(np.random.default_rng(2).integers(0, 400, (1600, 2)), 400)
    assert find_blocks(graph, 8, Context(Seed(0))) == []
    assert find_blocks(Graph.from_pairs([], 5), 8, Context(Seed(0))) == []


def test_a_fit_that_is_taken_up_again_ends_where_one_in_one_go_does():
    codes = np.arange(200) % 4
    graph = plant_blocks(codes, np.full((4, 4), 0.02) + 0.15 * np.eye(4), 3)
    guesses = np.where(np.arange(200) % 5 == 0, 0, codes)
    start = np.full((200, 4), 0.1) + 0.6 * np.eye(4)[guesses]
    at_once = BlockModel(graph).fit(start, np.random.default_rng(1))
    fitting = Fitting(BlockModel(graph), start, np.random.default_rng(1))
    coarse = fitting.go_on(tolerance=0.1)
    assert fitting.rounds < 40
    assert not np.array_equal(coarse.chances, at_once.chances)
    found = fitting.go_on()
    np.testing.assert_array_equal(found.chances, at_once.chances)
    assert found.evidence == at_once.evidence
    assert fitting.go_on(rounds=1).chances.shape == (200, 4)
