"""RR, SymRR, DPRR and L-DpGCN: rates and degrees that their definitions promise."""

from __future__ import annotations

import numpy as np
import pytest

from core.context import Context
from core.defenses.dprr import DegreePreservingRR
from core.defenses.l_dpgcn import LocalDpGcn
from core.defenses.randomized_response import RandomizedResponse
from core.defenses.sym_rr import SymRR
from core.seeding import Seed
from core.threats import Threats
from tests.oracles.graphs import two_communities

GRAPH = two_communities(30)
TRUE = GRAPH.adjacency.toarray()[np.triu_indices(30, 1)] > 0


def average_weights(defense, trials: int = 300) -> np.ndarray:
    """(pairs,) mean published weight of each pair."""
    total = np.zeros((30, 30))
    for seed in range(trials):
        graph = defense.publish(GRAPH, Threats(GRAPH), Context(Seed(seed))).graph
        total[tuple(graph.edges.T)] += 1.0 if graph.weights is None else graph.weights
    return total[np.triu_indices(30, 1)] / trials


@pytest.mark.parametrize("method", [RandomizedResponse, SymRR])
def test_flip_rate_is_that_of_randomised_response(method):
    flip = 1.0 / (1.0 + np.exp(1.2))
    rates = average_weights(method(epsilon=1.2))
    expected = np.where(TRUE, 1 - flip, flip)
    assert np.abs(rates - expected).max() < 5 * np.sqrt(0.25 / 300)
    assert abs((rates - expected).mean()) < 5 * np.sqrt(0.25 / 300 / len(rates))


def test_dprr_keeps_the_expected_number_of_reports():
    rates = average_weights(DegreePreservingRR(epsilon=20.0, delta=0.5))
    assert 2 * rates.sum() == pytest.approx(GRAPH.degrees.sum(), rel=0.02)
    noisy = average_weights(DegreePreservingRR(epsilon=2.0, delta=0.5))
    assert 2 * noisy.sum() == pytest.approx(GRAPH.degrees.sum(), rel=0.1)


def run_l_dpgcn_plainly(epsilon: float, rng) -> np.ndarray:
    """(n, n) kept entries of the definition: noise on all, keep the top ‖Ã‖₁."""
    entries = GRAPH.adjacency.toarray() + rng.laplace(0, 1 / epsilon, (30, 30))
    off = ~np.eye(30, dtype=bool)
    wanted = int(np.clip(round(entries[off].sum()), 0, 870))
    kept = np.zeros(870, bool)
    kept[np.argsort(-entries[off])[:wanted]] = True
    result = np.zeros((30, 30))
    result[off] = kept
    return result


@pytest.mark.parametrize("epsilon", [1.0, 4.0])
def test_l_dpgcn_keeps_links_and_others_as_often_as_its_definition(epsilon):
    plain = sum(run_l_dpgcn_plainly(epsilon, np.random.default_rng(s)) for s in range(200)) / 200
    plain = ((plain + plain.T) / 2)[np.triu_indices(30, 1)]
    rates = average_weights(LocalDpGcn(epsilon=epsilon), 200)
    for group in (TRUE, ~TRUE):
        spread = np.sqrt(0.25 / 200 / group.sum()) * 5 + 0.02
        assert abs(plain[group].mean() - rates[group].mean()) < spread


def test_guarantees_say_how_many_ends_report():
    context = Context(Seed(0))
    for method, transcript in [(RandomizedResponse, 4.0), (SymRR, None), (LocalDpGcn, 4.0)]:
        guarantee = method(epsilon=2.0).publish(GRAPH, Threats(GRAPH), context).guarantee
        assert guarantee.unit == "link"
        assert guarantee.epsilon == 2.0
        assert guarantee.epsilon_transcript == transcript
