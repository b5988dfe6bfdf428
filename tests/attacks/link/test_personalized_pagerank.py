"""Personalised PageRank by push against NetworkX and the dense solution."""

from __future__ import annotations

from itertools import product

import networkx as nx
import numpy as np
import pytest

from core.attacks.link import personalized_pagerank
from core.attacks.link.personalized_pagerank import compute_pagerank_scores
from core.context import Context
from core.errors import RunCancelled
from core.graph import Graph
from core.release import Release
from core.seeding import Seed
from core.threats import LinkThreat
from tests.oracles.graphs import GRAPHS
from tests.oracles.progress import RecordingProgress


def solve(graph, restart):
    """(n, n) rows π_i = restart · e_i (I − (1 − restart) P)⁻¹; loops at nodes without links."""
    dense = graph.adjacency.toarray().astype(float)
    alone = dense.sum(axis=1) == 0
    dense[alone, alone] = 1
    step = dense / dense.sum(axis=1, keepdims=True)
    n = len(dense)
    return restart * np.linalg.inv(np.eye(n) - (1 - restart) * step)


@pytest.mark.parametrize("name", sorted(GRAPHS))
@pytest.mark.parametrize("restart", [0.15, 0.6])
def test_equals_the_dense_solution_within_the_stated_error(name, restart):
    graph = GRAPHS[name]()
    exact = solve(graph, restart)
    pairs = np.stack(np.triu_indices(graph.num_nodes, 1), 1)
    i, j = pairs.T
    expected = exact[i, j] + exact[j, i]
    degrees = graph.adjacency.toarray().sum(axis=1)
    if graph.link_weights.any():
        degrees = degrees / graph.link_weights.mean()
    for tolerance, look_ahead in product((1e-3, 1e-8), (False, True)):
        scores = compute_pagerank_scores(
            graph, pairs, restart, tolerance, Context(Seed(0)), look_ahead
        )
        error = expected - scores
        assert (error > -1e-6).all()
        assert (error <= tolerance * (degrees[i] + degrees[j]) + 1e-6).all()


@pytest.mark.parametrize("weights", [None, (0.2, 0.5, 2.0)])
def test_where_nothing_is_pushed_but_the_start_two_steps_are_walked(weights):
    rng = np.random.default_rng(1)
    graph = Graph.from_pairs(rng.integers(1, 40, (120, 2)), 40)
    if weights:
        graph = graph.with_edges(graph.edges, rng.choice(weights, graph.num_edges))
    matrix, restart = graph.adjacency.toarray().astype(float), 0.15
    total = matrix.sum(axis=1)
    walk = (1 - restart) * matrix / np.where(total > 0, total, 1.0)[:, None]
    near = restart * (walk + walk @ walk)
    pairs = np.stack(np.triu_indices(40, 1), 1)
    i, j = pairs.T
    scores = compute_pagerank_scores(graph, pairs, restart, 100.0, Context(Seed(0)), True)
    np.testing.assert_allclose(scores, near[i, j] + near[j, i], rtol=1e-6)


def test_the_attack_by_itself_does_not_look_ahead():
    """Told to, it ranked pairs apart behind distant ones, and on Cora .017 worse."""
    graph = GRAPHS["two_communities"]()
    pairs = np.stack(np.triu_indices(graph.num_nodes, 1), 1)
    attack = personalized_pagerank.PersonalizedPagerank(tolerance=1e-2)
    threat = LinkThreat(pairs[:3], pairs[3:], 0.1)
    found = attack.score(Release(graph), threat, Context(Seed(0))).scores
    asked = (graph, threat.pairs, attack.restart, attack.tolerance, Context(Seed(0)))
    np.testing.assert_array_equal(found, compute_pagerank_scores(*asked, look_ahead=False))
    assert (found < compute_pagerank_scores(*asked, look_ahead=True)).any()


def test_a_common_factor_of_all_weights_changes_nothing():
    graph = GRAPHS["two_communities"]()
    weights = np.random.default_rng(0).random(graph.num_edges)
    pairs = np.stack(np.triu_indices(graph.num_nodes, 1), 1)
    scores = [
        compute_pagerank_scores(
            graph.with_edges(graph.edges, factor * weights), pairs, 0.15, 1e-3, Context(Seed(0))
        )
        for factor in (1.0, 0.0625)
    ]
    np.testing.assert_array_equal(*scores)


def test_equals_networkx():
    graph = GRAPHS["two_communities"]()
    whole = graph.to_networkx()
    ranks = [
        nx.pagerank(whole, alpha=0.85, personalization={node: 1.0}, tol=1e-12) for node in (3, 30)
    ]
    scores = compute_pagerank_scores(graph, np.array([[3, 30]]), 0.15, 1e-9, Context(Seed(0)))
    assert scores[0] == pytest.approx(ranks[0][30] + ranks[1][3], rel=1e-5)


def test_progress_is_reported_and_cancel_obeyed(monkeypatch):
    monkeypatch.setattr(personalized_pagerank, "REPORT_INTERVAL_S", 0.0)
    graph = GRAPHS["two_communities"]()
    stopped = RecordingProgress(lambda: len(stopped.updates) >= 2)
    with pytest.raises(RunCancelled):
        compute_pagerank_scores(graph, graph.edges, 0.15, 1e-4, Context(Seed(0), progress=stopped))
    assert len(stopped.updates) == 2
