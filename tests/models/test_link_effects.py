"""First-order effects against removing links one by one."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from core.context import Context
from core.data.splits import draw_attribute_threat
from core.models.encoders import Block
from core.models.flips import link_effects
from core.models.flips.link_effects import LinkEffects
from core.seeding import Seed
from tests.oracles.graphs import two_communities, weighted

NODE = 3


def make_effects(graph, epochs=40, models=2):
    effects = LinkEffects(graph, 2, Context(Seed(0)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(link_effects, "EPOCHS", epochs)
        for number in range(models):
            threat = draw_attribute_threat(graph, "private", 0.4, Seed(0).child(number))
            effects.train(threat.observed, Context(Seed(1).child(number)))
    return effects


def compute_by_hand(effects, graph, code):
    """Mean log-odds of the class by the encoders themselves, on a graph built anew."""
    values = []
    for encoder in effects._encoders:
        with torch.no_grad():
            logits = encoder(effects._inputs, Block.of_graph(graph, "gcn"))[NODE].double()
        p = float(torch.softmax(logits, 0)[code])
        values.append(np.log(p) - np.log1p(-p))
    return np.mean(values)


@pytest.fixture(scope="module", params=[two_communities, weighted])
def graph(request):
    return request.param()


@pytest.fixture(scope="module")
def effects(graph):
    return make_effects(graph)


def test_removal_is_what_the_model_says_on_the_graph_without_the_links(graph, effects):
    for hidden in ([], [0], [5, 9]):
        smaller = graph.without_edges(graph.edges[hidden])
        value = effects.compute_removal(NODE, 1, hidden)
        assert value == pytest.approx(compute_by_hand(effects, smaller, 1), abs=1e-4)


def test_estimate_is_the_derivative(graph, effects):
    """Against central differences in each weight, and 0 where the node does not see the link."""
    estimates = effects.estimate_removals(NODE, 0)
    step = 1e-2
    for link in range(0, graph.num_edges, 7):
        values = []
        for sign in (1, -1):
            weights = effects.weights.clone()
            weights[link] += sign * step
            values.append(float(effects.compute_log_odds(NODE, 0, weights)))
        slope = (values[0] - values[1]) / (2 * step)
        expected = -slope * float(effects.weights[link])
        assert estimates[link] == pytest.approx(expected, abs=3e-3)
    hops = np.flatnonzero(
        (graph.adjacency[[NODE]].toarray().ravel() > 0) | (np.arange(graph.num_nodes) == NODE)
    )
    beyond = ~np.isin(graph.edges, hops).any(axis=1)
    assert not estimates[beyond & ~np.isin(graph.edges, _reach(graph, hops)).any(axis=1)].any()


def _reach(graph, nodes):
    """Nodes within one link of `nodes`: two GCN layers see the links among them."""
    return np.flatnonzero(np.asarray(graph.adjacency[nodes].sum(axis=0)).ravel() > 0)


def test_estimates_order_links_as_removing_them_does(graph, effects):
    """Brute force over every link: the first-order ranking agrees where it matters."""
    code = int(graph.column("private").codes[NODE])
    now = effects.compute_removal(NODE, code, [])
    true = np.array([effects.compute_removal(NODE, code, [e]) for e in range(graph.num_edges)])
    estimates = effects.estimate_removals(NODE, code)
    assert np.corrcoef(estimates, true - now)[0, 1] > 0.9
    chosen = effects.choose_links(NODE, code, 1)
    assert true[chosen[0].link] == pytest.approx(true.min(), abs=1e-5)
    assert chosen[0].change == pytest.approx(true.min() - now, abs=1e-5)


def test_choice_is_greedy_and_never_makes_it_worse(graph, effects):
    code = int(graph.column("private").codes[NODE])
    chosen = effects.choose_links(NODE, code, 4)
    links = [effect.link for effect in chosen]
    assert len(set(links)) == len(links)
    assert all(effect.change < 0 for effect in chosen)
    total = sum(effect.change for effect in chosen)
    start = effects.compute_removal(NODE, code, [])
    assert effects.compute_removal(NODE, code, links) == pytest.approx(start + total, abs=1e-4)


def test_node_without_links_gets_no_advice():
    from tests.oracles.graphs import isolated_node

    effects = make_effects(isolated_node(), epochs=5)
    assert effects.choose_links(15, 0, 3) == []
