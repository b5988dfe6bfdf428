"""Attackers written apart from `core` are not ahead of ours where links were flipped."""

from __future__ import annotations

import numpy as np

from tests.benchmarks.fresh_attackers import INSIDE, compare_attributes, draw_graph, match_afresh


def test_denoised_blocks_are_ahead_of_a_fresh_spectral_attacker():
    graph = draw_graph("blocks", 42, 1, 0.5)
    rows = compare_attributes(graph, "edge_rand:epsilon=3", ["denoised_blocks"], 1)
    fresh, ours = rows["fresh"], rows["denoised_blocks"]
    assert (ours[:3] > fresh[:3] + 0.03).all()
    assert (rows["denoised_blocks@adaptive"][:3] > ours[:3] - 0.05).all()
    few = draw_graph("blocks", 6, 1, INSIDE)
    unflipped = compare_attributes(few, "original", ["denoised_blocks"], 1)
    assert list(unflipped) == ["fresh"]
    assert unflipped["fresh"][0] > 0.8


def test_averaged_regression_is_not_behind_where_nothing_was_flipped():
    rows = compare_attributes(
        draw_graph("blocks", 6, 1, 0.5), "original", ["averaged_regression"], 1
    )
    assert rows["fresh"][0] > 0.8
    assert (rows["averaged_regression"][:3] > rows["fresh"][:3] - 0.02).all()


def test_the_fresh_matcher_finds_a_copy():
    rng = np.random.default_rng(0)
    links = np.triu(rng.random((40, 40)) < 0.3, 1).astype(float)
    links += links.T
    order = rng.permutation(40)
    image = match_afresh(links, links[np.ix_(order, order)], np.zeros((0, 2), int))
    assert (order[image] == np.arange(40)).mean() > 0.9
