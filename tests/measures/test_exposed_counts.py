"""Counts of exposed nodes against the truth, on graphs whose posterior is known."""

from __future__ import annotations

import numpy as np
import pytest

from tests.benchmarks.exposed_counts import POWERS, count_attacks, count_ideal
from tests.oracles.blocks import draw_exact_blocks


def test_the_posterior_of_the_truth_is_exact():
    """Its mean at the true class is that at a class drawn from it, and each class has as many nodes
    as it says."""
    gaps, excess = [], []
    for seed in range(8):
        graph, known, posterior = draw_exact_blocks(6, 600, 1.0, seed)
        codes = graph.column("private").codes[~known]
        rows = posterior[~known]
        missing = rows.sum(axis=0) - np.bincount(codes, minlength=6)
        excess.append(missing**2 / (rows * (1 - rows)).sum(axis=0))
        gaps.append(rows[np.arange(len(rows)), codes] - (rows**2).sum(axis=1))
        assert not known[graph.edges].all(axis=1).any()
        assert known[graph.edges].any(axis=1).all()
        assert graph.num_edges == pytest.approx(len(rows), rel=0.2)
    gaps = np.concatenate(gaps)
    assert abs(gaps.mean()) < 3 * gaps.std() / np.sqrt(len(gaps))
    assert np.mean(excess) == pytest.approx(1.0, abs=0.5)
    assert rows.max(axis=1).mean() > 0.4


@pytest.mark.parametrize("num_classes", [4, 40])
def test_exposed_nodes_are_as_many_as_in_truth(num_classes):
    threat, release, counts = count_ideal(num_classes, 1200, 3.0, 0)
    for name in POWERS:
        assert counts[name] == pytest.approx(counts["truth"], abs=0.05 * counts["at stake"]), name
    told = counts["too timid, as reported"]
    assert abs(told - counts["truth"]) > 0.15 * counts["at stake"]
    found = count_attacks(threat, release, ["label_propagation", "class_prior"], 0)
    # No attacker beats the ideal one beyond noise, and who knows nothing exposes nobody.
    assert found["class_prior"] == 0
    assert 0.3 * counts["truth"] < found["headline"] < counts["truth"] * 1.05
    assert found["headline"] == found["label_propagation"] == found["upper bound"]
