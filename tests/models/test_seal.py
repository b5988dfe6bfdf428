"""SEAL: it learns, it is seeded, it stops when told."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from core.context import Context
from core.data.splits import draw_threats
from core.errors import RunCancelled
from core.graph import Graph
from core.models.seal import compute_seal_scores
from core.progress import RecordingProgress
from core.seeding import Seed
from tests.oracles.graphs import GRAPHS


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
    scores = compute_seal_scores(threats.visible, threats.link.pairs, context, epochs=8)
    assert roc_auc_score(threats.link.truth, scores) > 0.85
    losses = [value for _, value in progress.curves["seal_loss"]]
    assert losses[-1] < losses[0]
    assert len(progress.curves["seal_validation_loss"]) == 8


@pytest.mark.parametrize("links", [[], [[0, 1]], [[0, 1], [0, 2], [1, 2]]])
def test_nothing_to_learn_from_gives_constant_scores(links):
    graph = Graph.from_pairs(np.array(links, int).reshape(-1, 2), 3)
    scores = compute_seal_scores(graph, np.array([[0, 1], [1, 2]]), Context(Seed(0)), epochs=1)
    assert (scores == scores[0]).all()


def test_cancel_stops_within_one_batch():
    progress = RecordingProgress(lambda: len(progress.updates) >= 4)
    graph = GRAPHS["two_communities"]()
    with pytest.raises(RunCancelled):
        compute_seal_scores(graph, graph.edges[:5], Context(Seed(0), progress=progress), epochs=500)
    assert len(progress.updates) == 4
