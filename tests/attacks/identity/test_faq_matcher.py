"""The FAQ matcher against SciPy's own, all permutations, and what it says of its matches."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import quadratic_assignment

from core.attacks.identity import faq_matcher
from core.attacks.identity.faq_matcher import (
    FaqMatcher,
    compare_ranks,
    compute_kept_shares,
    match_by_frank_wolfe,
)
from core.context import Context
from core.data.second_graph import draw_identity_threat
from core.data.synthetic import generate_social
from core.graph import Graph
from core.methods import THIS_SIZE
from core.progress import Progress
from core.release import Release
from core.seeding import Seed

NO_SEEDS = np.empty((0, 2), np.int64)


def draw(n, density, seed):
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.random((n, n)) < density, 1).astype(float)
    return upper + upper.T


def search(known, published, start, seeds=NO_SEEDS, rounds=30):
    here, there = sparse.csr_array(known), sparse.csr_array(published)
    return match_by_frank_wolfe(here, there, start, seeds, rounds, Progress())


def count_kept(known, published, image):
    return (known * published[np.ix_(image, image)]).sum()


@pytest.mark.parametrize("num_seeds", [0, 4])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_search_keeps_as_many_links_as_scipys(seed, num_seeds):
    known = draw(24, 0.3, seed)
    truth = np.random.default_rng(seed).permutation(24)
    noisy = np.clip(known - draw(24, 0.1, seed + 9), 0, 1)
    published = np.zeros((24, 24))
    published[np.ix_(truth, truth)] = noisy
    seeds = np.stack([np.arange(num_seeds), truth[:num_seeds]], axis=1)
    # Seedless, a flat start is an unstable one: a tenth of the truth decides for both.
    start = np.full((24, 24), 1.0 / (24 - num_seeds))
    options = {"maximize": True, "partial_match": seeds, "tol": 1e-6}
    options["rng"] = np.random.default_rng(0)
    if not num_seeds:
        start = 0.9 * start + 0.1 * np.eye(24)[truth]
        options["P0"] = start
    image, gradient = search(known, published, start, seeds)
    oracle = quadratic_assignment(known, published, method="faq", options=options)
    assert sorted(image) == list(range(24))
    assert (image[:num_seeds] == truth[:num_seeds]).all()
    assert count_kept(known, published, image) >= 0.97 * oracle.fun
    assert gradient.shape == (24, 24)


def test_the_best_of_all_permutations_is_found_from_nearby():
    known = draw(7, 0.5, 3)
    truth = np.random.default_rng(0).permutation(7)
    published = np.zeros((7, 7))
    published[np.ix_(truth, truth)] = known
    start = np.full((7, 7), 0.08)
    start[np.arange(7), truth] = 0.52
    image, _ = search(known, published, start)
    best = max(count_kept(known, published, np.array(p)) for p in permutations(range(7)))
    assert count_kept(known, published, image) == best == known.sum()


def test_a_step_stops_where_the_objective_is_largest():
    """On the line from a half-and-half table of a path of three, one round: by a fine grid."""
    known = published = np.array([[0.0, 1, 0], [1, 0, 1], [0, 1, 0]])
    start = np.full((3, 3), 1 / 3)
    _, gradient = search(known, published, start, rounds=1)
    first = known @ start @ published
    # Its best assignment fixes the middle; the ends are interchangeable.
    values = []
    for ends in (np.eye(3), np.eye(3)[::-1]):
        for length in np.linspace(0, 1, 1001):
            table = start + length * (ends - start)
            values.append(((known @ table @ published) * table).sum())
    table = np.linalg.lstsq(np.kron(known, published), gradient.ravel(), rcond=None)[0]
    assert (gradient * table.reshape(3, 3)).sum() == pytest.approx(max(values), abs=1e-3)
    assert (first <= gradient + 1e-12).sum() > 3


def test_graphs_of_unlike_size_leave_people_unmatched():
    known, published = draw(9, 0.5, 0), draw(6, 0.5, 1)
    image, _ = search(known, published, np.full((9, 6), 1 / 6))
    assert (image == -1).sum() == 3
    assert sorted(image[image >= 0]) == list(range(6))


def test_ranks_start_from_alike_people():
    rng = np.random.default_rng(0)
    columns, order = rng.normal(size=(40, 5)), rng.permutation(40)
    table = compare_ranks(columns, np.exp(columns[order]))  # ranks ignore the scale
    np.testing.assert_allclose(table.sum(axis=1), 1.0)
    np.testing.assert_allclose(table.sum(axis=0), 1.0, atol=0.02)
    assert (order[table.argmax(axis=1)] == np.arange(40)).mean() > 0.8


def test_kept_shares_are_counted():
    path = sparse.csr_array(np.array([[0.0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 0]]))
    assert compute_kept_shares(path, path, np.arange(4)).tolist() == [1, 1, 1, 0]
    assert compute_kept_shares(path, path, np.array([0, 1, 3, 2])).tolist() == [1, 0.5, 0, 0]
    assert compute_kept_shares(path, path, np.array([0, 1, -1, 2])).tolist() == [1, 0.5, 0, 0]


@pytest.mark.parametrize("num_seeds", [0, 10])
def test_most_people_of_a_halved_graph_are_found_and_confidence_holds(num_seeds):
    graph = generate_social(300, seed=2)
    keep = np.random.default_rng(5).random(graph.num_edges) < 0.5
    threat = draw_identity_threat(graph, Seed(3), 0.9, 0.0, num_seeds)
    release = Release(graph.with_edges(graph.edges[keep]))
    found = FaqMatcher().find(release, threat, Context(Seed(0)))
    right = found.candidates[:, 0] == threat.people
    wanted = threat.wanted
    assert right[wanted].mean() > 0.6
    assert abs(found.confidence[wanted].mean() - right[wanted].mean()) < 0.2
    assert right[threat.seeds[:, 0]].all()
    assert (found.confidence[threat.seeds[:, 0]] == 1).all()


def test_a_wrong_second_graph_gets_no_confidence():
    graph, other = generate_social(300, seed=2), generate_social(300, seed=7)
    threat = draw_identity_threat(graph, Seed(3), 0.9, 0.0, 0)
    found = FaqMatcher().find(Release(other), threat, Context(Seed(0)))
    assert found.confidence.mean() < 0.15


def test_a_graph_too_large_is_declined_beforehand(monkeypatch):
    graph = Graph.from_pairs(np.array([[0, 1], [1, 2], [2, 3]]), 4)
    threat = draw_identity_threat(graph, Seed(0), 1.0, 0.0, 0)
    monkeypatch.setattr(faq_matcher, "MAX_NODES", 4)
    assert FaqMatcher().supports(Release(graph), threat) is None
    monkeypatch.setattr(faq_matcher, "MAX_NODES", 3)
    reason = FaqMatcher().supports(Release(graph), threat)
    assert THIS_SIZE in reason
    assert "at most 3 nodes, here 4" in reason
