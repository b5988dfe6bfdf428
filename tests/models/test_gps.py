"""Routing and memory of the GPS model."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from core.context import Context
from core.models.gps.attacker import GpsAttacker, GpsSettings, compute_shares, mix
from core.seeding import Seed
from tests.oracles.graphs import GRAPHS, make_threats

QUICK = GpsSettings(epochs=12, hidden=8, role_hidden=4, routing_start=4, routing_every=4)


def make_attacker(settings=QUICK, budget=1 << 30, name="two_communities") -> GpsAttacker:
    graph = GRAPHS[name]()
    threat = make_threats(graph).attribute
    context = Context(Seed(2), memory_budget=budget)
    return GpsAttacker(graph, threat.observed, threat.num_classes, settings, context)


def test_shares_follow_the_ratios_and_undefined_ones_count_nothing():
    proximity = np.array([0.6, np.nan, 0.5, np.nan, 0.0])
    role = np.array([0.2, 0.4, np.nan, np.nan, 0.0])
    expected = [[0.75, 0.25], [0, 1], [1, 0], [0.5, 0.5], [0.5, 0.5]]
    np.testing.assert_allclose(compute_shares(proximity, role), expected)


def test_the_mixture_gives_each_branch_its_share_of_the_logits():
    proximity, role = torch.tensor([[2.0, 0.0]]), torch.tensor([[0.0, 4.0]])
    found = mix(proximity, role, torch.tensor([[0.75, 0.25]])).exp()
    expected = torch.softmax(torch.tensor([[1.5, 1.0]]), dim=1)
    torch.testing.assert_close(found, expected)
    torch.testing.assert_close(mix(None, role, torch.zeros(1, 2)).exp(), role.softmax(1))


@pytest.mark.parametrize("tolerance", [0, 2, 45])
def test_routing_equals_naive_ghratios_of_the_pseudo_labels(tolerance):
    attacker = make_attacker(replace(QUICK, tolerance=tolerance, epochs=4))
    attacker.fit()
    graph, observed = attacker.graph, attacker.observed
    guesses = attacker.compute_probabilities().argmax(axis=1)
    codes = np.where(observed >= 0, observed, guesses)
    dense, degrees = graph.adjacency.toarray() > 0, graph.degrees
    found = attacker._compute_routing().numpy()
    for i in range(graph.num_nodes):
        ratios = []
        peers = np.abs(degrees - degrees[i]) <= tolerance
        peers[i] = False
        for near in (dense[i], peers):
            ratios.append((codes[near] == codes[i]).mean() if near.any() else 0.0)
        total = sum(ratios)
        expected = [r / total for r in ratios] if total else [0.5, 0.5]
        np.testing.assert_allclose(found[i], expected, rtol=1e-5)


def test_weights_stay_even_until_the_routing_starts():
    attacker = make_attacker(replace(QUICK, routing_start=12))
    attacker.fit()
    assert (attacker.routing == 0.5).all()
    routed = make_attacker()
    routed.fit()
    assert (routed.routing != 0.5).any()
    torch.testing.assert_close(routed.routing.sum(1), torch.ones(40))


def test_inference_in_small_parts_gives_the_same_probabilities():
    whole = make_attacker()
    whole.fit()
    expected = whole.compute_probabilities()
    small = make_attacker()
    small.fit()
    small.all_egos = []
    small.context = replace(small.context, memory_budget=int(small.costs.max()) * 2)
    np.testing.assert_allclose(small.compute_probabilities(), expected, atol=1e-6)
    assert not small.all_egos


def test_known_nodes_that_do_not_fit_take_turns():
    attacker = make_attacker(budget=20_000)
    assert len(attacker.parts) > 1
    known = np.flatnonzero(attacker.observed >= 0)
    np.testing.assert_array_equal(np.concatenate(attacker.parts), known)
    attacker.fit()
    assert np.isfinite(attacker.compute_probabilities()).all()


def test_one_branch_alone_needs_nothing_of_the_other():
    near = make_attacker(replace(QUICK, branches="proximity"))
    role = make_attacker(replace(QUICK, branches="role"))
    assert not hasattr(near.model, "role")
    assert not hasattr(role.model, "proximity")
    for attacker in (near, role):
        attacker.fit()
        np.testing.assert_allclose(attacker.compute_probabilities().sum(1), 1.0)


def test_proximity_branch_finds_planted_communities():
    attacker = make_attacker(replace(QUICK, branches="proximity", epochs=100, lr=0.01))
    attacker.fit()
    found = attacker.compute_probabilities().argmax(axis=1)
    assert (found == (np.arange(40) >= 20)).mean() > 0.9
