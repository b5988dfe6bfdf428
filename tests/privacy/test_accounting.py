"""Totals of composed noise: closed forms against libraries, integrals and each other."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats

from core.context import Context
from core.defenses.privdpr import PrivDpr
from core.privacy.budget import (
    calibrate_gaussian,
    calibrate_sampled,
    compute_gaussian_delta,
    compute_gaussian_epsilon,
    compute_naive_epsilon,
    compute_sampled_epsilon,
)
from core.privacy.mechanisms import compute_flip_probability
from core.seeding import Seed
from tests.oracles.graphs import two_communities

budgets = st.floats(0.05, 20.0)
deltas = st.sampled_from([1e-9, 1e-6, 1e-5, 1e-3])


def compute_tight_epsilon(noise_multiplier, steps, delta):
    """T Gaussian steps are one with μ = √T / z."""
    return compute_gaussian_epsilon(math.sqrt(steps) / noise_multiplier, delta)


@pytest.mark.parametrize(("epsilon", "mu"), [(0.0, 0.5), (0.5, 0.3), (1.0, 1.0), (6.0, 2.5)])
def test_delta_is_the_integral_of_what_one_gaussian_exceeds_the_other_by(epsilon, mu):
    def excess(x):
        return max(stats.norm.pdf(x, mu) - math.exp(epsilon) * stats.norm.pdf(x), 0.0)

    start = epsilon / mu + mu / 2
    total = integrate.quad(excess, start, start + 30, limit=200)[0]
    assert compute_gaussian_delta(epsilon, mu) == pytest.approx(total, rel=1e-6)


@settings(max_examples=30)
@given(budgets, deltas, st.integers(1, 5000))
def test_calibrated_noise_meets_its_budget_and_wastes_nothing(epsilon, delta, steps):
    z = calibrate_gaussian(epsilon, delta, steps)
    assert compute_gaussian_delta(epsilon, math.sqrt(steps) / z) <= delta * (1 + 1e-9)
    assert compute_tight_epsilon(z, steps, delta) <= epsilon * (1 + 1e-8)
    assert compute_gaussian_delta(epsilon, math.sqrt(steps) / (0.999 * z)) > delta


@settings(max_examples=30)
@given(st.floats(0.3, 200.0), deltas, st.integers(1, 3000))
def test_tight_total_is_provable_and_below_the_naive_one(z, delta, steps):
    tight = compute_tight_epsilon(z, steps, delta)
    assert compute_gaussian_delta(tight, math.sqrt(steps) / z) <= delta * (1 + 1e-9)
    if tight > 1e-6:  # nothing below it could be proven
        assert compute_gaussian_delta(0.999 * tight, math.sqrt(steps) / z) > delta
    assert tight <= compute_naive_epsilon(z, steps, delta) * (1 + 1e-9)


@pytest.mark.parametrize(("z", "steps"), [(1.0, 1), (5.0, 30), (43.0, 845), (300.0, 2000)])
def test_the_library_never_reports_less_than_the_exact_total(z, steps):
    exact = compute_tight_epsilon(z, steps, 1e-5)
    accounted = compute_sampled_epsilon(z, 1.0, steps, 1e-5)
    assert exact * (1 - 1e-9) <= accounted <= exact * 1.01 + 1e-3


@pytest.mark.parametrize(("z", "rate", "steps"), [(1.0, 0.1, 50), (2.0, 0.02, 400)])
def test_sampled_steps_cost_at_least_one_step_s_exact_loss_and_less_than_unsampled(z, rate, steps):
    """One step's δ(ε) is an integral over the mixture; any number of steps costs no less."""
    total = compute_sampled_epsilon(z, rate, steps, 1e-5)
    x = np.linspace(-12 * z, 12 * z + 1, 400_001)
    without = stats.norm.pdf(x, 0, z)
    mixed = (1 - rate) * without + rate * stats.norm.pdf(x, 1, z)
    one = compute_sampled_epsilon(z, rate, 1, 1e-5)
    for left, right in ((mixed, without), (without, mixed)):
        spent = np.maximum(left - math.exp(one) * right, 0).sum() * (x[1] - x[0])
        assert spent <= 1e-5 * (1 + 1e-3)
    assert one <= total <= compute_tight_epsilon(z, steps, 1e-5)


@pytest.mark.parametrize(("epsilon", "rate", "steps"), [(0.1, 0.05, 100), (3.2, 0.02, 300)])
def test_calibrated_sampled_noise_never_overshoots(epsilon, rate, steps):
    z = calibrate_sampled(epsilon, 1e-5, rate, steps)
    assert compute_sampled_epsilon(z, rate, steps, 1e-5) <= epsilon
    assert compute_sampled_epsilon(0.97 * z, rate, steps, 1e-5) > epsilon


@settings(max_examples=8)
@given(st.floats(0.6, 8.0), st.sampled_from([0.01, 0.1, 0.5, 1.0]), st.integers(1, 60))
def test_sampled_total_is_never_less_than_what_the_sum_of_the_steps_proves(z, rate, steps):
    """Whoever sees only the sum of all steps tells N(0, T z²) from its shifts by Binomial(T, q).

    δ(ε) of that pair is an integral, and no accountant of the steps may be below it.
    """
    epsilon = compute_sampled_epsilon(z, rate, steps, 1e-5)
    deviation = z * math.sqrt(steps)
    x = np.linspace(-14 * deviation, 14 * deviation + steps, 40_001)
    shifts = np.arange(steps + 1)
    chances = stats.binom.pmf(shifts, steps, rate)
    without = stats.norm.pdf(x, 0, deviation)
    mixed = sum(
        c * stats.norm.pdf(x, k, deviation)
        for k, c in zip(shifts, chances, strict=True)
        if c > 1e-12
    )
    for left, right in ((mixed, without), (without, mixed)):
        proven = np.maximum(left - math.exp(epsilon) * right, 0).sum() * (x[1] - x[0])
        assert proven <= 1e-5 * (1 + 1e-3)


@settings(max_examples=25)
@given(st.floats(0.05, 20.0), deltas, st.floats(0.01, 0.9), st.integers(1, 4))
def test_no_part_of_a_synthesis_overshoots_its_budget(epsilon, delta, share, rounds):
    """Noisy steps and the number of links together: PrivDPR's training and GAP's hops."""
    graph = two_communities()
    method = PrivDpr(epsilon=epsilon, delta=delta, count_share=share, epochs=rounds)
    steps = method.make_plan(graph.num_nodes).steps
    account = method.open_account(Context(Seed(0)))
    account.spend(share, method.degree_cap)
    spent = compute_tight_epsilon(account.spend_rest_on_sums(steps).multiplier, steps, delta)
    assert spent + share * epsilon <= epsilon * (1 + 1e-8)
    # As the release states it: never less than the parts, and naive addition never less than it.
    guarantee = account.make_guarantee()
    assert guarantee.epsilon == epsilon
    assert guarantee.epsilon_naive >= (spent + share * epsilon) * (1 - 1e-9)
    hops = calibrate_gaussian(epsilon * (1 - share), delta, rounds)
    assert compute_tight_epsilon(hops, rounds, delta) + share * epsilon <= epsilon * (1 + 1e-8)


@given(st.floats(0.01, 30.0))
def test_flips_cost_exactly_their_budget(epsilon):
    flip = compute_flip_probability(epsilon)
    assert math.log((1 - flip) / flip) == pytest.approx(epsilon, rel=1e-6)


def test_noise_of_the_paper_s_formula_is_too_small_for_a_large_budget():
    """σ = √(2 ln(1.25/δ))/ε is proven for ε ≤ 1 only (Balle and Wang, 2018, §2)."""
    epsilon, delta = 10.0, 1e-5
    sigma = math.sqrt(2 * math.log(1.25 / delta)) / epsilon
    assert compute_gaussian_epsilon(1 / sigma, delta) > epsilon


def test_the_naive_total_shares_delta_among_the_steps():
    """Without the division by 50 it would be below what the steps' own δ proves."""
    one = compute_gaussian_epsilon(1 / 5, 1e-5 / 50)
    assert compute_naive_epsilon(5.0, 50, 1e-5) == pytest.approx(50 * one)
    assert 50 * one > 1.1 * 50 * compute_gaussian_epsilon(1 / 5, 1e-5)
