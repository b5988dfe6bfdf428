"""On a release that is independent of the data, every attack is no better than chance."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from core.context import Context
from core.defenses.dp_1k import Dp1k
from core.registry import list_methods
from core.release import Release
from core.seeding import Seed
from tests.contract.test_methods import quick
from tests.oracles.graphs import make_threats, two_communities

REPEATS = 2
Z = 4.0
"""Standard errors; of some forty attacks two are expected beyond two."""
DECLINES = ("denoising", "denoised_blocks")
"""Need links that were flipped with a known probability."""
ATTACKS = [
    m
    for m in list_methods()
    if m.kind in ("link_attack", "attribute_attack") and m.info.key not in DECLINES
]


def draw_case(repeat: int) -> tuple[Release, object]:
    """A release whose links were not read and whose features are noise, and its threats."""
    noise = np.random.default_rng(repeat).normal(size=(100, 8))
    graph = two_communities(100, seed=repeat).update_columns(features=noise)
    threats = make_threats(graph, seed=repeat)
    context = Context(Seed(repeat))
    return Dp1k(epsilon=2.0, data_free=True).publish(threats.visible, threats, context), threats


def find_scores(attack, release, threats, context) -> tuple[np.ndarray, np.ndarray]:
    """(k,) scores of what is judged, and whether each is a link or of the second class."""
    if attack.kind == "link_attack":
        return attack.score(release, threats.link, context).scores, threats.link.truth
    hidden = threats.attribute.hidden
    found = attack.infer(release, threats.attribute, context).probabilities
    return found[hidden, 1], threats.attribute.attribute.codes[hidden] == 1


@pytest.mark.parametrize("method", ATTACKS, ids=lambda m: m.info.key)
def test_an_attack_learns_nothing_from_a_release_that_is_independent_of_the_data(method):
    attack, excess, variance = quick(method), 0.0, 0.0
    for repeat in range(REPEATS):
        release, threats = draw_case(repeat)
        scores, truth = find_scores(attack, release, threats, Context(Seed(repeat)))
        positives, negatives = truth.sum(), (~truth).sum()
        excess += roc_auc_score(truth, scores) - 0.5
        # variance of the Mann-Whitney statistic under the null hypothesis
        variance += (positives + negatives + 1) / (12 * positives * negatives)
    assert abs(excess) < Z * np.sqrt(variance)


@pytest.mark.parametrize("key", ["common_neighbors", "label_propagation"])
def test_the_same_attacks_are_far_above_chance_on_the_graph_itself(key):
    method = next(m for m in ATTACKS if m.info.key == key)
    _, threats = draw_case(0)
    scores, truth = find_scores(method(), Release(threats.visible), threats, Context(Seed(0)))
    assert roc_auc_score(truth, scores) > 0.6
