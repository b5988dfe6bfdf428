"""DGG: what takes the noise, blocks against their expectation, and the guarantee."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from core.algorithms.pairs import draw_by_degrees, place_left_ends
from core.arrays import pair_codes
from core.context import Context
from core.defenses.dgg import Dgg, draw_blocks
from core.graph import Graph
from core.privacy.budget import Account
from core.privacy.claim_check import check_claim
from core.seeding import Seed
from core.threats import Threats
from tests.oracles.graphs import two_communities


def publish(graph, seed=0, **settings):
    return Dgg(**settings).publish(graph, Threats(graph), Context(Seed(seed)))


def test_blocks_hold_nodes_of_like_degree_and_as_many_links_as_expected():
    degrees = np.array([1, 0, 2, 3, 2, 3, 2, 5, 3, 3, 1, 5])
    runs = [draw_blocks(degrees, 0.8, 0.6, np.random.default_rng(seed)) for seed in range(2000)]
    mean = sum(np.bincount(links.ravel(), minlength=12) for links in runs) / len(runs)
    scale = np.log(6.0)
    low, middle, high = (0.8 * (1 - 0.6 * (np.log(d + 1) / scale) ** 2) for d in (2, 3, 5))
    # In order of degree: three of 2; four of 3; the two of 5.
    assert mean[[2, 4, 6]] == pytest.approx(2 * low, abs=0.07)
    assert mean[[3, 5, 8, 9]] == pytest.approx(3 * middle, abs=0.07)
    assert mean[[7, 11]] == pytest.approx(high, abs=0.07)
    assert not mean[[0, 1, 10]].any()
    blocks = [{2, 4, 6}, {3, 5, 8, 9}, {7, 11}]
    assert all(any(set(pair) <= block for block in blocks) for pair in runs[0].tolist())


def test_degrees_are_kept_without_noise_and_blocks_close_triangles():
    graph = Graph.from_pairs(np.random.default_rng(0).integers(0, 500, (2500, 2)), 500)
    release = publish(graph, epsilon=100.0).graph
    assert np.abs(release.degrees - graph.degrees).mean() < 1.0
    flat = publish(graph, epsilon=100.0, density=0.0).graph
    found, without = (nx.average_clustering(g.to_networkx()) for g in (release, flat))
    assert found > 5 * without


def make_hubs():
    """Three hubs of 300 links each among 1,200 nodes of one or two."""
    rng = np.random.default_rng(0)
    links = [[hub, 3 + node] for hub in range(3) for node in rng.permutation(1200)[:300]]
    return Graph.from_pairs(np.concatenate([links, rng.integers(3, 1203, (900, 2))]), 1203)


def test_hubs_keep_their_degrees_when_blocks_have_used_up_those_of_the_others():
    graph = make_hubs()
    release = publish(graph, epsilon=100.0).graph
    assert np.abs(release.degrees - graph.degrees).sum() <= 2


def test_left_ends_take_the_place_of_links_that_keep_their_degrees():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        g = nx.gnp_random_graph(60, 0.1, seed=seed)
        g.add_edges_from((hub, leaf) for hub in (0, 1) for leaf in range(10, 30))
        degrees = np.array([d for _, d in g.degree()])
        drawn = draw_by_degrees(degrees, rng)
        links = place_left_ends(drawn, degrees, rng)
        reached = np.bincount(links.ravel(), minlength=60)
        assert (links[:, 0] < links[:, 1]).all()
        assert len(np.unique(pair_codes(links, 60))) == len(links) >= len(drawn)
        assert (reached <= degrees).all()
        assert (degrees - reached).sum() <= 2


def test_rounding_keeps_the_number_of_links(monkeypatch):
    """Clipping subtracts one fraction from every degree: rounding must not go one way."""
    seen = []
    add = Account.add_count_noise

    def record(*arguments, **named):
        seen.append(add(*arguments, **named))
        return seen[-1]

    monkeypatch.setattr(Account, "add_count_noise", record)
    graph = Graph.from_pairs(np.arange(4000).reshape(-1, 2), 4000)
    for seed, epsilon in enumerate((0.5, 1.0, 1.5, 2.0, 3.0)):
        release = publish(graph, seed, epsilon=epsilon).graph
        expected = seen[-1].sum() / 2
        # Standard deviation of 4,000 roundings: at most half their root, over two ends a link.
        assert release.num_edges == pytest.approx(expected, abs=4 * np.sqrt(4000) / 4)


def test_one_link_changes_the_degrees_by_the_sensitivity(monkeypatch):
    stated = []
    spend = Account.spend

    def record(self, share=1, sensitivity=1.0, label="noise"):
        stated.append((share, sensitivity))
        return spend(self, share, sensitivity, label)

    monkeypatch.setattr(Account, "spend", record)
    guarantee = publish(two_communities()).guarantee
    assert stated == [(1, 2.0)]
    assert (guarantee.unit, guarantee.epsilon, guarantee.delta) == ("edge", 6.0, 0.0)


def test_the_claim_is_not_refuted_and_a_quarter_of_the_noise_is(monkeypatch):
    context = Context(Seed(3))
    assert not check_claim(Dgg(epsilon=1.0), context, trials=400).is_refuted
    spend = Account.spend
    monkeypatch.setattr(Account, "spend", lambda *arguments: spend(*arguments) / 4)
    assert check_claim(Dgg(epsilon=1.0), context, trials=1000).is_refuted
