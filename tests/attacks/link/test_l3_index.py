"""The L3 index against enumerated paths and closed forms, and graphs of two modes."""

from __future__ import annotations

from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from core.algorithms import path_sums
from core.attacks.link import LINK_ATTACKS
from core.attacks.link.heuristics import CommonNeighborAttack
from core.attacks.link.l3_index import L3Index, compute_l3
from core.context import Context
from core.graph import Graph
from core.node_column import NodeColumn
from core.registry import make_method
from core.release import Release
from core.seeding import Seed
from core.threats import LinkThreat
from tests.oracles.graphs import GRAPHS
from tests.oracles.progress import RecordingProgress

LOCAL = ("common_neighbors", "adamic_adar", "resource_allocation", "jaccard")


def list_pairs(graph: Graph) -> np.ndarray:
    return np.stack(np.triu_indices(graph.num_nodes, 1), 1)


def enumerate_paths(graph: Graph, pairs: np.ndarray) -> list[float]:
    """Scores of pairs by walking every path of three links."""
    weights = graph.adjacency.toarray().astype(float)
    strength = np.maximum(weights.sum(axis=1), 2.0)
    links, found = graph.to_networkx(), []
    for i, j in pairs.tolist():
        score = 0.0
        for path in nx.all_simple_paths(links, i, j, cutoff=3):
            if len(path) == 4:
                _, u, v, _ = path
                score += (
                    weights[i, u]
                    * weights[u, v]
                    * weights[v, j]
                    / np.sqrt(strength[u] * strength[v])
                )
        found.append(score)
    return found


def make_modes(num_users=60, num_items=50, blocks=4, seed=0) -> tuple[Graph, np.ndarray]:
    """A graph of users and items in blocks, and the (users, items) bool links of its block."""
    rng = np.random.default_rng(seed)
    users, items = rng.integers(blocks, size=num_users), rng.integers(blocks, size=num_items)
    alike = users[:, None] == items[None, :]
    linked = rng.random(alike.shape) < np.where(alike, 0.6, 0.03)
    i, j = np.nonzero(linked)
    codes = np.repeat([0, 1], [num_users, num_items])
    graph = Graph.from_pairs(np.stack([i, num_users + j], 1), num_users + num_items)
    return replace(graph, modes=NodeColumn("mode", codes, ("user", "item"))), alike


@pytest.mark.parametrize("name", sorted(GRAPHS))
def test_equals_the_sum_over_enumerated_paths(name):
    graph = GRAPHS[name]()
    pairs = list_pairs(graph)[:400]
    scores = compute_l3(graph, pairs, Context(Seed(0)))
    # weights and their sums at nodes have single precision
    np.testing.assert_allclose(scores, enumerate_paths(graph, pairs), rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize(("a", "b"), [(3, 4), (7, 2), (10, 10)])
def test_a_complete_bipartite_graph_without_one_link_has_a_closed_form(a, b):
    """(a−1)(b−1) paths, inner nodes of degrees a and b."""
    links = [[i, a + j] for i in range(a) for j in range(b) if (i, j) != (0, 0)]
    graph = Graph.from_pairs(links, a + b)
    (score,) = compute_l3(graph, np.array([[0, a]]), Context(Seed(0)))
    assert score == pytest.approx((a - 1) * (b - 1) / np.sqrt(a * b))


@pytest.mark.parametrize("n", [4, 5, 9])
def test_linked_pairs_of_a_clique_have_their_paths_through_others_alone(n):
    graph = Graph.from_pairs(np.stack(np.triu_indices(n, 1), 1), n)
    scores = compute_l3(graph, list_pairs(graph), Context(Seed(0)))
    np.testing.assert_allclose(scores, (n - 2) * (n - 3) / (n - 1))


@pytest.mark.parametrize("seed", range(4))
def test_a_pair_scores_the_same_with_and_without_a_link_of_its_own(seed):
    """A link that a defense draws between them at random tells nothing."""
    rng = np.random.default_rng(seed)
    graph = Graph.from_pairs(rng.integers(0, 40, (120, 2)), 41)
    for pair in rng.integers(0, 41, (40, 2)):
        if pair[0] == pair[1]:
            continue
        asked = pair[None]
        without = graph.without_edges(asked)
        linked = without.with_edges(np.concatenate([without.edges, np.sort(asked)]))
        scores = [compute_l3(each, asked, Context(Seed(0)))[0] for each in (without, linked)]
        assert scores[1] == pytest.approx(scores[0], rel=1e-9, abs=0)


def test_tiles_do_not_change_the_scores(monkeypatch):
    graph = GRAPHS["two_communities"]()
    whole = compute_l3(graph, list_pairs(graph), Context(Seed(0)))
    monkeypatch.setattr(path_sums, "TILE", 200)
    progress = RecordingProgress()
    tiled = compute_l3(graph, list_pairs(graph), Context(Seed(0), progress=progress))
    assert len(progress.updates) > 20
    np.testing.assert_array_equal(tiled, whole)


def test_links_of_two_modes_are_found_by_paths_and_not_by_common_neighbours():
    graph, _ = make_modes()
    is_hidden = np.random.default_rng(1).random(graph.num_edges) < 0.1
    release = Release(graph.select_edges(~is_hidden))
    ends = np.stack(np.meshgrid(np.arange(60), 60 + np.arange(50)), axis=-1).reshape(-1, 2)
    absent = ends[~graph.contains_pairs(ends)]
    threat = LinkThreat(graph.edges[is_hidden], absent, 0.1)
    scores = L3Index().score(release, threat, Context(Seed(0))).scores
    assert roc_auc_score(threat.truth, scores) > 0.8
    for key in LOCAL:
        attack = make_method(key)
        assert "of different modes have none" in attack.supports(release, threat)
        assert not attack.score(release, threat, Context(Seed(0))).scores.any()
        assert attack.supports(Release(replace(release.graph, modes=None)), threat) is None


def test_every_attack_that_ranks_by_common_neighbours_alone_declines_two_modes():
    local = {m.info.key for m in LINK_ATTACKS if m.is_local}
    assert local == set(LOCAL)
    assert all(issubclass(m, CommonNeighborAttack) for m in LINK_ATTACKS if m.is_local)
