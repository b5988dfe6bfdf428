"""Sparse draws of the local protocol against the plain one, bit by bit."""

from __future__ import annotations

import numpy as np

from core.privacy.link_local import PairBand, draw_noisy_rows, iterate_pair_tiles, merge_reports
from tests.oracles.graphs import two_communities


def test_a_band_holds_each_of_its_pairs_once():
    x = np.random.default_rng(0).normal(size=30).round(1)  # ties included
    i, j = np.triu_indices(30, 1)
    for low, high in [(-9.0, 9.0), (-0.53, 0.71), (1.01, 9.0), (3.02, 3.04), (9.0, np.inf)]:
        band = PairBand.of(x, low, high)
        inside = (x[i] + x[j] > low) & (x[i] + x[j] <= high)
        pairs = band.decode(np.arange(band.count))
        expected = set(zip(i[inside].tolist(), j[inside].tolist(), strict=True))
        assert set(map(tuple, pairs.tolist())) == expected
        assert band.count == len(expected)


def test_non_links_of_a_band_are_drawn_at_their_rate():
    graph = two_communities(20)
    x = np.linspace(-1, 1, 20)
    band = PairBand.of(x, -0.6, 0.9)
    inside = int(((x[graph.edges].sum(1) > -0.6) & (x[graph.edges].sum(1) <= 0.9)).sum())
    counts = np.zeros((20, 20))
    for seed in range(400):
        pairs = band.draw_non_links(graph, inside, 0.3, np.random.default_rng(seed))
        assert not graph.contains_pairs(pairs).any()
        counts[tuple(pairs.T)] += 1
    pairs = band.decode(np.arange(band.count))
    free = pairs[~graph.contains_pairs(pairs)]
    rates = counts[tuple(free.T)] / 400
    assert counts.sum() == counts[tuple(free.T)].sum()
    assert abs(rates.mean() - 0.3) < 4 * np.sqrt(0.21 / 400 / len(free))
    assert rates.max() < 0.3 + 5 * np.sqrt(0.21 / 400)
    assert rates.min() > 0.3 - 5 * np.sqrt(0.21 / 400)


def test_tiles_cover_all_pairs_once_with_the_right_reports():
    graph = two_communities(20)
    reports = np.arange(graph.num_edges) % 3
    ones = np.zeros(3)
    for tile_pairs in (1, 50, 10_000):
        seen, ones = [], np.zeros(3)
        for i, j, c, (positions, numbers) in iterate_pair_tiles(
            graph, 0.3, reports, lambda row: np.random.default_rng(row), tile_pairs
        ):
            seen.append(np.stack([i, j], axis=1))
            np.testing.assert_array_equal(c[positions], reports[numbers])
            np.testing.assert_array_equal(seen[-1][positions], graph.edges[numbers])
            ones += np.bincount(np.delete(c, positions), minlength=3)
        pairs = np.concatenate(seen)
        np.testing.assert_array_equal(pairs, np.stack(np.triu_indices(20, 1), axis=1))
    expected = np.array([0.49, 0.42, 0.09]) * ones.sum()
    assert np.abs(ones - expected).max() < 5 * np.sqrt(ones.sum() * 0.25)


def test_noisy_rows_report_each_bit_at_its_own_rate():
    graph = two_communities(16)
    keep, add = np.linspace(0.5, 1.0, 16), np.linspace(0.0, 0.4, 16)
    counts = np.zeros((16, 16))
    trials = 600
    for seed in range(trials):
        ones = draw_noisy_rows(graph, keep, add, np.random.default_rng(seed))
        assert len(np.unique(ones, axis=0)) == len(ones)
        counts[tuple(ones.T)] += 1
    adjacency = graph.adjacency.toarray() > 0
    expected = np.where(adjacency, keep[:, None], add[:, None])
    np.fill_diagonal(expected, 0.0)
    spread = np.sqrt(np.maximum(expected * (1 - expected), 1e-9) / trials)
    assert (np.abs(counts / trials - expected) <= 5 * spread + 1e-9).all()


def test_merged_reports_weigh_what_both_ends_say():
    graph = two_communities(6)
    merged = merge_reports(graph, np.array([[0, 1], [1, 0], [4, 2]]))
    assert merged.edges.tolist() == [[0, 1], [2, 4]]
    assert merged.weights.tolist() == [1.0, 0.5]
