"""ComInfer on communities that are known."""

from __future__ import annotations

import numpy as np

from core.attacks.attribute.com_infer import ComInfer
from core.context import Context
from core.graph import Graph
from core.node_column import NodeColumn
from core.release import Release
from core.seeding import Seed
from core.threats import AttributeThreat


def test_each_clique_gets_the_shares_of_its_known_members():
    i, j = np.triu_indices(6, 1)
    pairs = np.concatenate([np.stack([i, j], 1), np.stack([i, j], 1) + 6])
    codes = np.array([0, 0, 1, 0, 0, 0, 1, 1, 1, 1, 1, 1])
    graph = Graph.from_pairs(pairs, 13, attributes={})
    known = np.zeros(13, bool)
    known[[0, 1, 2, 6, 7]] = True
    attribute = NodeColumn("z", np.append(codes, 0), ("a", "b"))
    result = ComInfer(prior_weight=1.0).infer(
        Release(graph), AttributeThreat(attribute, known, ~known), Context(Seed(0))
    )
    prior = np.array([3, 4]) / 7  # two of a, three of b, and one pseudo-count each
    np.testing.assert_allclose(result.probabilities[3], (np.array([2, 1]) + prior) / 4)
    np.testing.assert_allclose(result.probabilities[9], (np.array([0, 2]) + prior) / 3)
    np.testing.assert_allclose(result.probabilities[12], prior)
    assert result.facts == {"communities": 3.0}
