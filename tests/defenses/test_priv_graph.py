"""PrivGraph: each noisy step against its law, and the whole against the graph it imitates."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import permutations, product

import numpy as np
import pytest
from scipy import stats

from core.context import Context
from core.defenses.priv_graph import PrivGraph
from core.graph import Graph
from core.privacy.tables import add_noise_to_counts, draw_choices, subtract_to_sum, subtract_within
from core.seeding import Seed
from core.threats import Threats
from tests.oracles.graphs import GRAPHS, two_communities


def test_nodes_move_in_turn_by_the_exponential_mechanism():
    """Each partition of a path of three nodes and its leaf, against all orders and choices."""
    graph, factor, num = Graph.from_pairs(np.array([[0, 1], [1, 2], [1, 3]]), 4), 1.0, 3
    start = np.array([0, 1, 2, 2])
    expected: dict[tuple[int, ...], float] = defaultdict(float)
    orders = list(permutations(range(4)))
    for order in orders:
        for choice in product(range(num), repeat=4):
            community, chance = start.copy(), 1 / len(orders)
            for node, chosen in zip(order, choice, strict=True):
                neighbors = [i + j - node for i, j in graph.edges.tolist() if node in (i, j)]
                links = np.bincount(community[neighbors], minlength=num)
                weights = np.exp(factor * links)
                chance *= weights[chosen] / weights.sum()
                community[node] = chosen
            expected[tuple(np.unique(community, return_inverse=True)[1])] += chance
    rng, runs = np.random.default_rng(0), 6000
    drawn = Counter(tuple(draw_choices(graph, start, factor, rng)) for _ in range(runs))
    assert set(drawn) <= set(expected)
    counts = np.array([drawn[key] for key in expected])
    chances = np.array(list(expected.values()))
    assert stats.chisquare(counts, runs * chances / chances.sum()).pvalue > 1e-3


def test_a_strong_score_neither_overflows_nor_ties():
    graph, community = two_communities(), np.zeros(two_communities().num_nodes, np.int64)
    community[0] = 1
    moved = draw_choices(graph, community, 1e4, np.random.default_rng(0))
    assert (moved == moved[1]).all()  # every node has more links into the first community


@pytest.mark.parametrize("with_diagonal", [True, False])
def test_noisy_counts_have_the_law_of_noise_on_every_cell(with_diagonal):
    """Cells above the threshold, against plain noise on the whole table."""
    num, scale, runs = 8, 1.5, 1200
    ends = np.array([[0, 1]] * 6 + [[2, 5]] * 3)
    rows, columns = np.triu_indices(num, 0 if with_diagonal else 1)
    truth = np.zeros((num, num))
    truth[0, 1], truth[2, 5] = 6, 3
    threshold = max(round(scale * np.log(max(len(rows) / (4 * num), 1))), 0)
    sums, naive = np.zeros((num, num)), np.zeros((num, num))
    rng, decay = np.random.default_rng(0), np.exp(-1 / scale)
    for r in range(runs):
        cells, counts = add_noise_to_counts(ends, num, with_diagonal, scale, Context(Seed(r)), "x")
        assert (counts > threshold).all()
        sums[tuple(cells.T)] += counts
        noise = rng.geometric(1 - decay, (num, num)) - rng.geometric(1 - decay, (num, num))
        noisy = truth + noise
        naive += np.where(noisy > threshold, noisy, 0)
    assert sums[np.tril_indices(num, -1 if with_diagonal else 0)].sum() == 0
    for mask in (truth[rows, columns] > 0, truth[rows, columns] == 0):
        left, right = sums[rows, columns][mask] / runs, naive[rows, columns][mask] / runs
        assert left.mean() == pytest.approx(right.mean(), rel=0.08)
    zeros = truth[rows, columns] == 0
    assert stats.ks_2samp(sums[rows, columns][zeros], naive[rows, columns][zeros]).pvalue > 1e-4


@pytest.mark.parametrize("values", [[3.0, -1.0, 0.5, 2.0], [1.0, 2.0], [-1.0, -2.0], [0.0]])
def test_subtracting_keeps_the_sum_and_drops_the_negative(values):
    values = np.array(values)
    result = subtract_to_sum(values)
    assert (result >= 0).all()
    assert result.sum() == pytest.approx(max(values.sum(), 0))
    shifts = (values - result)[result > 0]
    assert np.ptp(shifts) < 1e-9 if len(shifts) else True


@pytest.mark.parametrize("scale", [0.2, 1.0, 30.0])
def test_subtracting_within_bounds_is_the_nearest_point_of_that_sum(scale):
    rng = np.random.default_rng(4)
    most = rng.integers(1, 9, 60).astype(np.float64)
    values = rng.normal(most / 3, scale)
    result = subtract_within(values, most)
    assert (result >= 0).all()
    assert (result <= most).all()
    assert result.sum() == pytest.approx(np.clip(values.sum(), 0, most.sum()))
    shifts, is_inner = values - result, (result > 0) & (result < most)
    if is_inner.any():  # one shift inside, less of it at the upper end and more at 0
        shift = shifts[is_inner].mean()
        assert shifts[is_inner] == pytest.approx(shift)
        assert (shifts[result == most] >= shift - 1e-9).all()
        assert (shifts[result == 0] <= shift + 1e-9).all()


def test_large_budget_reproduces_degrees_and_number_of_links():
    graph = two_communities(200, seed=2)
    release = PrivGraph(epsilon=100.0, group_size=1).publish(
        graph, Threats(graph), Context(Seed(0))
    )
    assert release.graph.num_edges == pytest.approx(graph.num_edges, rel=0.1)
    correlation = np.corrcoef(graph.degrees, release.graph.degrees)[0, 1]
    assert correlation > 0.6
    side = graph.column("private").codes
    within = [(side[g.edges[:, 0]] == side[g.edges[:, 1]]).mean() for g in (graph, release.graph)]
    assert within[1] == pytest.approx(within[0], abs=0.1)


@pytest.mark.parametrize("name", sorted(GRAPHS))
@pytest.mark.parametrize("epsilon", [0.05, 3.0])
def test_any_graph_and_budget_gives_a_release_with_its_guarantee(name, epsilon):
    graph = GRAPHS[name]()
    release = PrivGraph(epsilon=epsilon).publish(graph, Threats(graph), Context(Seed(0)))
    assert release.guarantee.epsilon == epsilon
    assert release.guarantee.unit == "edge"
    assert release.graph.weights is None
