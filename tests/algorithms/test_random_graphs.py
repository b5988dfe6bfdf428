"""Graphs of given degrees: the degrees, simple links, what is taken stays away."""

from __future__ import annotations

import networkx as nx
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from core.algorithms.pairs import draw_by_degrees
from core.arrays import pair_codes


@settings(max_examples=50)
@given(st.integers(2, 60), st.floats(0.02, 0.9), st.integers(0, 99))
def test_degrees_are_never_exceeded_and_mostly_reached(n, density, seed):
    wanted = np.array([d for _, d in nx.gnp_random_graph(n, density, seed=seed).degree()])
    rng = np.random.default_rng(seed)
    taken = np.sort(rng.choice(n * n, min(n, 20), replace=False))
    pairs = draw_by_degrees(wanted, rng, taken)
    codes = pair_codes(pairs, n)
    assert (pairs[:, 0] < pairs[:, 1]).all()
    assert len(np.unique(codes)) == len(codes)
    assert not np.isin(codes, taken).any()
    assert (np.bincount(pairs.ravel(), minlength=n) <= wanted).all()


def test_sparse_degrees_are_met():
    wanted = np.random.default_rng(0).poisson(6, 4000)
    pairs = draw_by_degrees(wanted, np.random.default_rng(1))
    reached = np.bincount(pairs.ravel(), minlength=4000)
    assert (wanted - reached).sum() <= 4
    assert draw_by_degrees(np.zeros(5, int), np.random.default_rng(1)).shape == (0, 2)


def test_ends_meet_in_proportion_to_their_degrees():
    """Chung–Lu's d_i d_j / Σd for sparse degrees."""
    wanted = np.repeat([1, 4], [60, 15])
    counts = np.zeros((75, 75))
    for seed in range(800):
        i, j = draw_by_degrees(wanted, np.random.default_rng(seed)).T
        np.add.at(counts, (i, j), 1)
    low = counts[:60, :60].sum() / 800 / (60 * 59 / 2)
    mixed = counts[:60, 60:].sum() / 800 / (60 * 15)
    assert abs(low - 1 / 120) < 0.001
    assert abs(mixed - 4 / 120) < 0.002
