"""GPS's layers against formulas."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from core.context import Context
from core.models.encoders import LAYERS, Block, Dropout, Linear, make_inputs
from core.models.gps.attacker import GpsAttacker, GpsSettings
from core.models.gps.layers import BatchNorm, NormalisedGin, NormalisedSage, drop_inputs
from core.seeding import Seed
from tests.oracles.graphs import GRAPHS, make_threats

QUICK = GpsSettings(epochs=6, hidden=8, role_hidden=4, routing_start=2, routing_every=2)


def make_attacker(settings, name="two_communities"):
    graph = GRAPHS[name]()
    threat = make_threats(graph).attribute
    return GpsAttacker(graph, threat.observed, threat.num_classes, settings, Context(Seed(2)))


def normalise(values):
    return (values - values.mean(0)) / (values.var(0, correction=0) + 1e-5).sqrt()


def test_gin_is_a_normalised_perceptron_of_the_weighted_sum():
    graph = GRAPHS["two_communities"]()
    x, layer = make_inputs(graph), NormalisedGin(8, 4, Seed(0).torch("init"))
    layer.own.data.fill_(0.3)
    adjacency = torch.from_numpy(graph.adjacency.toarray().astype(np.float32))
    sums = 1.3 * x + adjacency @ x
    hidden = torch.relu(normalise(sums @ layer.first.weight + layer.bias))
    expected = torch.relu(layer.second(hidden))
    found = layer(x, Block.of_graph(graph, "gin"))
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-4)


def test_sage_is_its_plain_layer_normalised():
    graph = GRAPHS["two_communities"]()
    x, block = make_inputs(graph), Block.of_graph(graph, "sage")
    layer = NormalisedSage(8, 4, Seed(0).torch("init"))
    plain = LAYERS["sage"](8, 4, Seed(0).torch("init"))
    torch.testing.assert_close(layer(x, block), normalise(plain(x, block)), atol=1e-5, rtol=1e-4)


def test_a_single_row_is_normalised_by_the_running_statistics():
    norm, row = BatchNorm(3), torch.tensor([[1.0, 2.0, 3.0]])
    torch.testing.assert_close(norm(row), row, atol=1e-4, rtol=0)


@pytest.mark.parametrize("backbone", ["gin", "sage"])
def test_first_weights_lie_within_one_over_the_root_of_the_inputs(backbone):
    model = make_attacker(replace(QUICK, backbone=backbone)).model
    for linear in filter(lambda module: isinstance(module, Linear), model.modules()):
        bound = linear.weight.shape[0] ** -0.5
        assert 0.5 * bound < linear.weight.abs().max() <= bound


@pytest.mark.parametrize("backbone", ["gcn", "gat"])
def test_gcn_and_gat_have_no_other_layers(backbone):
    found = [
        make_attacker(replace(QUICK, backbone=backbone, plain=plain)) for plain in (False, True)
    ]
    for attacker in found:
        attacker.fit()
    np.testing.assert_array_equal(*(attacker.compute_probabilities() for attacker in found))


@pytest.mark.parametrize("backbone", ["gin", "sage"])
def test_inputs_are_dropped_while_training_only(backbone):
    attacker = make_attacker(replace(QUICK, backbone=backbone, dropout=0.5))
    encoder = attacker.model.proximity.eval()
    assert attacker.model.role.drops_inputs
    with torch.no_grad():
        still = [encoder(attacker.inputs, attacker.block) for _ in range(2)]
    torch.testing.assert_close(*still)
    dropped = drop_inputs(Dropout(0.5, Seed(0)), (torch.ones(50, 4), torch.ones(50, 2)))
    assert all(set(part.unique().tolist()) == {0.0, 2.0} for part in dropped)


@pytest.mark.parametrize("backbone", ["gin", "sage"])
@pytest.mark.parametrize("branches", ["both", "proximity", "role"])
def test_every_branch_trains(backbone, branches):
    attacker = make_attacker(replace(QUICK, backbone=backbone, branches=branches))
    attacker.fit()
    np.testing.assert_allclose(attacker.compute_probabilities().sum(1), 1.0)
