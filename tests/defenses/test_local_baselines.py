"""RR, SymRR, DPRR and L-DpGCN: rates and degrees that their definitions guarantee."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import ks_2samp

from core.context import Context
from core.defenses.dprr import DegreePreservingRR
from core.defenses.l_dpgcn import LocalDpGcn
from core.defenses.randomized_response import RandomizedResponse
from core.defenses.sym_rr import SymRR
from core.privacy.top_pairs import compute_laplace_sum_tail, draw_laplace_sums, find_laplace_sum_cut
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
    """(pairs,) kept pairs of the definition: noise on all degrees (5 % of ε) and all entries."""
    entries = GRAPH.adjacency.toarray() + rng.laplace(0, 1 / (0.95 * epsilon), (30, 30))
    degrees = GRAPH.degrees + rng.laplace(0, 1 / (0.05 * epsilon), 30)
    sums = (entries + entries.T)[np.triu_indices(30, 1)]
    wanted = int(np.clip(round(degrees.sum() / 2), 0, len(sums)))
    kept = np.zeros(len(sums), bool)
    kept[np.argsort(-sums)[:wanted]] = True
    return kept


@pytest.mark.parametrize("epsilon", [1.0, 4.0])
def test_l_dpgcn_keeps_links_and_others_as_often_as_its_definition(epsilon):
    plain = sum(run_l_dpgcn_plainly(epsilon, np.random.default_rng(s)) for s in range(200)) / 200
    rates = average_weights(LocalDpGcn(epsilon=epsilon), 200)
    for group in (TRUE, ~TRUE):
        spread = np.sqrt(0.25 / 200 / group.sum()) * 5 + 0.02
        assert abs(plain[group].mean() - rates[group].mean()) < spread


@pytest.mark.parametrize("low", [-np.inf, 0.0, 0.7, 3.0])
def test_sums_of_two_laplaces_above_a_cut_have_their_law(low):
    rng = np.random.default_rng(0)
    plain = rng.laplace(0, 0.5, 400_000) + rng.laplace(0, 0.5, 400_000)
    assert (plain > low).mean() == pytest.approx(compute_laplace_sum_tail(low, 0.5), rel=0.05)
    drawn = draw_laplace_sums(low, 0.5, 20_000, rng)
    assert ks_2samp(plain[plain > low], drawn).pvalue > 1e-3


def test_the_cut_inverts_the_tail():
    for share in (1e-9, 1e-3, 0.3, 0.499):
        cut = find_laplace_sum_cut(share, 2.0)
        assert compute_laplace_sum_tail(cut, 2.0) == pytest.approx(share, rel=1e-6)
    assert find_laplace_sum_cut(0.8, 2.0) == -np.inf


def test_guarantees_say_how_many_ends_report():
    context = Context(Seed(0))
    for method, transcript in [(RandomizedResponse, 4.0), (SymRR, None), (LocalDpGcn, 4.0)]:
        guarantee = method(epsilon=2.0).publish(GRAPH, Threats(GRAPH), context).guarantee
        assert guarantee.unit == "link"
        assert guarantee.epsilon == 2.0
        assert guarantee.epsilon_transcript == transcript
