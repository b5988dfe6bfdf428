"""SEAL: it learns, it is seeded, it stops when told."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from core.attacks.link.seal import Seal
from core.context import Context
from core.data.splits import draw_threats
from core.errors import RunCancelled
from core.graph import Graph
from core.models.seal import fit_seal
from core.release import Release
from core.seeding import Seed
from core.threats import LinkThreat
from tests.oracles.graphs import GRAPHS
from tests.oracles.progress import RecordingProgress

PAIRS = np.array([[0, 1], [1, 2]])


def triangles(count=60):
    """Many triangles chained by single links: a missing side closes a path of two."""
    base = 3 * np.arange(count)[:, None]
    sides = np.concatenate([base + ends for ends in ([[0, 1]], [[0, 2]], [[1, 2]])])
    chain = np.stack([base[:-1, 0] + 2, base[1:, 0]], 1)
    return Graph.from_pairs(np.concatenate([sides, chain]), 3 * count)


def test_learns_from_structure_alone():
    threats = draw_threats(triangles(), Seed(0), hide_links=0.1)
    progress = RecordingProgress()
    context = Context(Seed(0), progress=progress)
    scores = fit_seal(threats.visible, context, epochs=8).score(threats.link.pairs, context)
    assert roc_auc_score(threats.link.truth, scores) > 0.85
    losses = [value for _, value in progress.curves["seal_loss"]]
    assert losses[-1] < losses[0]
    assert len(progress.curves["seal_validation_loss"]) == 8


@pytest.mark.parametrize("links", [[], [[0, 1]], [[0, 1], [0, 2], [1, 2]]])
def test_nothing_to_learn_from_gives_constant_scores(links):
    graph = Graph.from_pairs(np.array(links, int).reshape(-1, 2), 3)
    scores = fit_seal(graph, Context(Seed(0)), epochs=1).score(PAIRS, Context(Seed(0)))
    assert (scores == scores[0]).all()


def test_cancel_stops_within_one_batch():
    progress = RecordingProgress(lambda: len(progress.updates) >= 4)
    graph = GRAPHS["two_communities"]()
    with pytest.raises(RunCancelled):
        fit_seal(graph, Context(Seed(0), progress=progress), epochs=500)
    assert len(progress.updates) == 4


def test_a_score_is_the_pairs_own_whoever_asks():
    graph = GRAPHS["two_communities"]()
    model = fit_seal(graph, Context(Seed(0)), max_nodes=3, epochs=1)
    one = model.score(graph.edges[:20], Context(Seed(1)))
    other = model.score(graph.edges[19:5:-1], Context(Seed(2)))
    np.testing.assert_allclose(other, one[19:5:-1], rtol=1e-5)


def test_a_release_is_learned_once():
    graph = GRAPHS["two_communities"]()
    threat, context = LinkThreat(graph.edges[:3], PAIRS, 0.1), Context(Seed(0), Seed(9))
    seal = Seal(epochs=1)
    first = seal.score(Release(graph), threat, context).scores
    progress = RecordingProgress()
    again = seal.score(Release(graph), threat, replace(context, seed=Seed(5), progress=progress))
    np.testing.assert_array_equal(again.scores, first)
    assert "seal_loss" not in progress.curves
