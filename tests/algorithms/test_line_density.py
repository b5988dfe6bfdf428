"""Crossings a pixel against a plain loop; how dense parts and single links are shaded."""

from __future__ import annotations

import numpy as np
import pytest

from core.algorithms.line_density import FAINTEST, count_crossings, shade_density


def test_counts_equal_a_loop():
    rng = np.random.default_rng(0)
    places, edges = rng.uniform(-1, 1, (30, 2)), rng.integers(0, 30, (80, 2))
    expected = np.zeros((64, 64), int)
    for i, j in edges:
        (x0, y0), (x1, y1) = (
            ((x + 1.1) * 63 / 2.2, (1.1 - y) * 63 / 2.2) for x, y in (places[i], places[j])
        )
        steps = int(np.ceil(max(abs(x1 - x0), abs(y1 - y0))))
        for share in np.arange(steps + 1) / max(steps, 1):
            expected[round(y0 + share * (y1 - y0)), round(x0 + share * (x1 - x0))] += 1
    assert np.array_equal(count_crossings(places, edges, 64, 1.1), expected)


def test_a_link_on_the_edge_and_one_of_no_length_stay_inside():
    places = np.array([[-1.0, 1.0], [1.0, -1.0]])
    counts = count_crossings(places, np.array([[0, 1], [1, 1]]), 5, 1.0)
    assert np.array_equal(counts, np.diag([1, 1, 1, 1, 2]))
    assert not count_crossings(places, np.zeros((0, 2), int), 5, 1.0).any()


def test_shading_rises_with_the_lines_and_shows_a_single_one():
    image = shade_density(np.array([[0, 1], [4, 400]]), (10, 20, 30))
    assert image[0, 0].tolist() == [0, 0, 0, 0] or image[0, 0, 3] == 0
    assert image[0, 1].tolist() == [10, 20, 30, round(255 * FAINTEST)]
    assert image[0, 1, 3] < image[1, 0, 3] < image[1, 1, 3] == 255


@pytest.mark.parametrize("counts", [np.zeros((3, 3), int), np.eye(3, dtype=int)])
def test_sparse_pictures_have_no_top(counts):
    assert np.array_equal(shade_density(counts, (0, 0, 0))[..., 3] > 0, counts > 0)
