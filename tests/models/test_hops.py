"""MixHop and H2GCN against dense formulas."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
import torch
from scipy import sparse

from core.errors import ResourceError
from core.models.encoders import make_inputs, num_columns
from core.models.hops import HopFamily, compute_two_hops, make_two_hop_propagation
from core.models.propagation import Propagation
from core.models.trials import Setting
from core.seeding import Seed
from tests.oracles.graphs import GRAPHS


@pytest.mark.parametrize("name", sorted(GRAPHS))
def test_two_hops_are_the_pairs_at_distance_two(name):
    graph = GRAPHS[name]()
    lengths = dict(nx.all_pairs_shortest_path_length(graph.to_networkx()))
    n = graph.num_nodes
    expected = [[lengths[i].get(j) == 2 for j in range(n)] for i in range(n)]
    np.testing.assert_array_equal(compute_two_hops(graph, 1 << 30).toarray() > 0, expected)


def test_two_hops_decline_what_does_not_fit():
    with pytest.raises(ResourceError, match="distance two"):
        compute_two_hops(GRAPHS["star"](), 1000)


def make_trials(family, num_folds):
    settings = [Setting(0.0, 0.0), Setting(0.0, 0.0)]
    trials = family.make(settings, [Seed(fold) for fold in range(num_folds)], Seed(9))
    with torch.no_grad():
        for parameter in trials.parameters():
            parameter.add_(0.1 * torch.randn(parameter.shape, generator=torch.manual_seed(0)))
    return trials


def make_family(name, graph, is_sparse):
    features = np.random.default_rng(0).normal(size=(graph.num_nodes, 5)).astype(np.float32)
    if is_sparse:
        features = sparse.csr_array(np.where(features > 0.5, features, 0.0).astype(np.float32))
    inputs = make_inputs(
        graph.update_columns(features=features, feature_names=()), scaling="standard"
    )
    hops = (Propagation.of_graph(graph),)
    if name == "h2gcn":
        one = Propagation.of_graph(graph, self_loops=False)
        hops = (one, make_two_hop_propagation(graph, 1 << 30, "cpu"))
    return HopFamily(hops, inputs, (num_columns(inputs), 6, 3))


def score_by_mixhop(family, trials, x, place):
    a = family.hops[0].matrix.to_dense()
    for weight, bias in zip(trials.maps, trials.biases, strict=True):
        parts = [torch.linalg.matrix_power(a, p) @ x @ weight[:, p, *place] for p in range(3)]
        x = torch.relu(torch.cat(parts, dim=1) + bias[place])
    return x @ trials.out[:, *place] + trials.out_bias[place]


def score_by_h2gcn(family, trials, x, place):
    a1, a2 = (hop.matrix.to_dense() for hop in family.hops)
    r0 = torch.relu(x @ trials.embed[:, 0, *place])
    near = [[r, a1 @ r, a2 @ r] for r in (a1 @ r0, a2 @ r0)]
    return torch.cat([r0, *near[0], *near[1]], 1) @ trials.out[:, *place] + trials.out_bias[place]


@pytest.mark.parametrize("name", ["mixhop", "h2gcn"])
@pytest.mark.parametrize("is_sparse", [False, True])
def test_each_trial_scores_and_learns_as_the_dense_formula(name, is_sparse):
    graph = GRAPHS["two_communities"]()
    family = make_family(name, graph, is_sparse)
    x = family.inputs.matrix.to_dense() if is_sparse else family.inputs
    score = {"mixhop": score_by_mixhop, "h2gcn": score_by_h2gcn}[name]
    for trials in (make_trials(family, 3), make_trials(family, 3).eval()):
        for nodes in (np.array([1, 4, 6]), None):
            found = trials(family.make_field(nodes))
            for place in np.ndindex(2, 3):
                expected = score(family, trials, x, place)
                expected = expected if nodes is None else expected[nodes]
                torch.testing.assert_close(found[:, *place], expected, atol=1e-5, rtol=1e-4)
                gradients = []
                for scores in (found[:, *place], expected):
                    trials.zero_grad()
                    scores.square().sum().backward(retain_graph=True)
                    gradients.append([weight.grad.clone() for weight in trials.parameters()])
                for one, other in zip(*gradients, strict=True):
                    torch.testing.assert_close(one, other, atol=1e-4, rtol=1e-3)


@pytest.mark.parametrize("name", ["mixhop", "h2gcn"])
def test_what_is_dropped_is_alike_but_for_the_share(name):
    """Kept values weigh 1 / keep, and who drops more drops what the other drops as well."""
    graph = GRAPHS["two_communities"]()
    family = make_family(name, graph, False)
    settings = [Setting(0.2, 0.0), Setting(0.7, 0.0)]
    trials = family.make(settings, [Seed(0)], Seed(9)).train()
    few, many = trials.drop(torch.ones(400, 2, 1, 8)).unbind(1)
    assert {round(float(v), 4) for v in few.unique()} == {0.0, 1.25}
    assert {round(float(v), 4) for v in many.unique()} == {0.0, round(1 / 0.3, 4)}
    assert ((few == 0) <= (many == 0)).all()
    assert float((few > 0).float().mean()) == pytest.approx(0.8, abs=0.03)
    first = trials(family.make_field(None))
    assert not torch.equal(first, trials(family.make_field(None)))
    trials.eval()
    assert torch.equal(trials(family.make_field(None)), trials(family.make_field(None)))
