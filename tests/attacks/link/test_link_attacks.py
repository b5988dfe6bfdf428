"""What holds for every link attack: a pair's score depends on the pair alone."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from core.attacks.link import LINK_ATTACKS
from core.context import Context
from core.defenses.edge_rand import EdgeRand
from core.graph import Graph
from core.release import Release
from core.seeding import Seed
from core.threats import LinkThreat, Threats
from tests.oracles.graphs import GRAPHS, make_threats

QUICK = json.loads((Path(__file__).parents[2] / "contract" / "quick.json").read_text())


def make_quick(method):
    return method(**QUICK.get(method.info.key, {}))


def make_release(method, graph, threat):
    """The graph itself, or links flipped with a known probability for an attack that asks it."""
    release = Release(graph)
    if make_quick(method).supports(release, threat):
        release = EdgeRand(epsilon=4.0).publish(graph, Threats(graph), Context(Seed(1)))
    assert make_quick(method).supports(release, threat) is None
    return release


@pytest.mark.parametrize("method", LINK_ATTACKS, ids=lambda m: m.info.key)
@pytest.mark.parametrize("name", ["weighted", "two_communities"])
def test_scores_follow_their_pairs_in_any_order_and_direction(method, name):
    threats = make_threats(GRAPHS[name]())
    threat = threats.link
    release = make_release(method, threats.visible, threat)
    scores = make_quick(method).score(release, threat, Context(Seed(2))).scores
    # Pairs shuffled, every other one inverted, and hidden and absent ones exchanged.
    order = np.random.default_rng(0).permutation(len(threat.pairs))
    moved = threat.pairs[order]
    moved[::2] = moved[::2, ::-1]
    half = len(moved) // 3
    other = LinkThreat(moved[:half], moved[half:], prior=0.5)
    again = make_quick(method).score(release, other, Context(Seed(2))).scores
    np.testing.assert_allclose(again, scores[order], rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("method", LINK_ATTACKS, ids=lambda m: m.info.key)
@pytest.mark.parametrize("links", [[], [[0, 1]], [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]]])
def test_empty_nearly_empty_and_complete_releases_get_finite_scores(method, links):
    graph = make_threats(GRAPHS["two_communities"]()).visible
    keep = np.arange(4)
    small = Graph.from_pairs(np.array(links, int).reshape(-1, 2), 4, features=graph.features[keep])
    threat = LinkThreat(np.array([[0, 1], [1, 2]]), np.array([[2, 3]]), prior=0.3)
    if make_quick(method).supports(Release(small), threat):
        return
    scores = make_quick(method).score(Release(small), threat, Context(Seed(0))).scores
    assert scores.shape == (3,)


@pytest.mark.parametrize("method", LINK_ATTACKS, ids=lambda m: m.info.key)
def test_no_pairs_give_no_scores(method):
    threats = make_threats(GRAPHS["two_communities"]())
    none = np.empty((0, 2), np.int64)
    threat = replace(threats.link, hidden=none, absent=none)
    release = make_release(method, threats.visible, threat)
    scores = make_quick(method).score(release, threat, Context(Seed(0))).scores
    assert scores.shape == (0,)
