"""Noise primitives against their closed forms."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from core.context import Context
from core.errors import ResourceError
from core.graph import Graph
from core.privacy.mechanisms import (
    add_discrete_laplace,
    add_laplace,
    check_release_fits,
    compute_flip_probability,
    compute_laplace_tail,
    draw_flips,
    draw_laplace_above,
)
from core.seeding import Seed

RUNS = [Context(Seed(3)), Context(Seed.from_entropy(), is_publishing=True)]
RUN_NAMES = ["audit", "publishing"]


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
def test_flip_probability_attains_the_likelihood_ratio_of_epsilon(epsilon):
    flip = compute_flip_probability(epsilon)
    assert np.log((1 - flip) / flip) == pytest.approx(epsilon)


def test_flip_probability_of_a_huge_budget_is_zero():
    assert compute_flip_probability(1e4) == 0.0


def test_flips_have_the_distribution_of_one_coin_a_pair():
    """Each pair of a small graph flips with the same rate, links and non-links alike."""
    graph = Graph.from_pairs(np.array([[0, 1], [1, 2], [3, 4]]), 6)
    rng, flip, runs = np.random.default_rng(0), 0.3, 4000
    counts = np.zeros((6, 6))
    for _ in range(runs):
        kept, added = draw_flips(graph, flip, rng)
        for i, j in np.concatenate([graph.edges[~kept], added]):
            counts[i, j] += 1
    rates = counts[np.triu_indices(6, 1)]
    # 15 binomial counts; chi-square of their deviations from the common rate
    chi2 = ((rates - runs * flip) ** 2 / (runs * flip * (1 - flip))).sum()
    assert stats.chi2.cdf(chi2, 15) < 0.999
    assert counts[np.tril_indices(6)].sum() == 0


@pytest.mark.parametrize("context", RUNS, ids=RUN_NAMES)
@pytest.mark.parametrize("scale", [0.4, 2.0, 25.0])
def test_discrete_laplace_has_its_mass_function(context, scale):
    noise = add_discrete_laplace(np.full(6000, 7), scale, context, "noise") - 7
    edge = int(np.ceil(3 * scale))
    support = np.arange(-edge, edge + 1)
    decay = np.exp(-1 / scale)
    mass = (1 - decay) / (1 + decay) * decay ** np.abs(support)
    expected = 6000 * np.append(mass, 1 - mass.sum())
    inside = np.abs(noise) <= edge
    observed = np.append(np.bincount(noise[inside] + edge, minlength=len(support)), (~inside).sum())
    use = expected >= 5
    chi2 = ((observed - expected)[use] ** 2 / expected[use]).sum()
    assert stats.chi2.cdf(chi2, use.sum()) < 0.9999


@pytest.mark.parametrize("context", RUNS, ids=RUN_NAMES)
def test_counts_and_noise_beyond_32_bits_are_as_any_others(context):
    large = np.array([3_000_000_000, -(2**40), 7])
    assert np.abs(add_discrete_laplace(large, 2.0, context, "noise") - large).max() < 200
    noise = add_discrete_laplace(np.zeros(2000, int), 5e10, context, "noise")
    assert stats.kstest(noise, stats.laplace(scale=5e10).cdf).pvalue > 1e-4


@pytest.mark.parametrize("context", RUNS, ids=RUN_NAMES)
def test_laplace_noise_is_laplace(context):
    noise = add_laplace(np.full(4000, 10.0), 3.0, context, "noise") - 10.0
    assert stats.kstest(noise, stats.laplace(scale=3.0).cdf).pvalue > 1e-4


def test_seeded_noise_repeats_and_publishing_noise_does_not():
    values = np.arange(50)
    audit, publishing = RUNS
    first, second = (add_discrete_laplace(values, 9.0, audit, "x") for _ in range(2))
    assert (first == second).all()
    first, second = (add_discrete_laplace(values, 9.0, publishing, "x") for _ in range(2))
    assert (first != second).any()


@pytest.mark.parametrize("low", [-2.0, 0.0, 1.5])
@pytest.mark.parametrize("high", [3.0, np.inf])
def test_laplace_above_a_threshold_is_the_conditional_law(low, high):
    draws = draw_laplace_above(low, 0.7, 5000, np.random.default_rng(1), high)
    law = stats.laplace(scale=0.7)
    assert draws.min() > low
    assert draws.max() <= high
    inside = law.cdf(high) - law.cdf(low)
    assert stats.kstest(draws, lambda x: (law.cdf(x) - law.cdf(low)) / inside).pvalue > 1e-4
    assert compute_laplace_tail(low, 0.7) == pytest.approx(law.sf(low))


def test_a_release_that_does_not_fit_is_refused_with_the_expected_count():
    context = Context(Seed(0), memory_budget=128 * 1000)
    check_release_fits("X", 1000, context, "")
    with pytest.raises(ResourceError, match="about 1,001 links expected"):
        check_release_fits("X", 1001, context, "")
