"""Communities on discs of their own: a silhouette by scikit-learn, and what must stay."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import silhouette_score

from core.algorithms.community_discs import FILL, separate_communities


def draw(sizes: list[int], seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Places all over each other, as stress puts the communities of a small world."""
    rng = np.random.default_rng(seed)
    communities = np.repeat(np.arange(len(sizes)), sizes)
    middles = rng.normal(0, 0.1, (len(sizes), 2))
    return middles[communities] + rng.normal(0, 0.4, (sum(sizes), 2)), communities


def test_communities_that_lie_over_each_other_are_seen_apart():
    places, communities = draw([200, 120, 80, 60, 40])
    assert silhouette_score(places, communities) < 0.1
    assert silhouette_score(separate_communities(places, communities), communities) > 0.4


def test_discs_do_not_overlap_and_have_the_area_of_their_nodes():
    sizes = [300, 100, 100, 25]
    places, communities = draw(sizes, 1)
    placed = separate_communities(places, communities)
    assert np.abs(placed).max() == pytest.approx(1)
    own = [placed[communities == c] for c in range(len(sizes))]
    middles = [points.mean(axis=0) for points in own]
    spread = [np.linalg.norm(p - m, axis=1).mean() for p, m in zip(own, middles, strict=True)]
    assert np.array(spread) / np.sqrt(sizes) == pytest.approx(spread[0] / 300**0.5, rel=0.1)
    far = [np.linalg.norm(p - m, axis=1).max() for p, m in zip(own, middles, strict=True)]
    for i in range(len(sizes)):
        for j in range(i):
            assert np.linalg.norm(middles[i] - middles[j]) > 0.8 * (far[i] + far[j])


def test_nodes_keep_direction_and_order_around_their_communitys_mean():
    places, communities = draw([40, 30], 2)
    placed = separate_communities(places, communities)
    for c in (0, 1):
        before, after = places[communities == c], placed[communities == c]
        before = before - before.mean(axis=0)
        after = after - find_middle(before, after)
        lengths = np.linalg.norm(before, axis=1), np.linalg.norm(after, axis=1)
        assert np.array_equal(*map(np.argsort, lengths))
        np.testing.assert_allclose(
            before / lengths[0][:, None], after / lengths[1][:, None], atol=1e-9
        )


def find_middle(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """Where the mean went: the common point of the lines through it, by least squares."""
    unit = before / np.linalg.norm(before, axis=1)[:, None]
    across = np.eye(2) - unit[:, :, None] * unit[:, None, :]
    return np.linalg.solve(across.sum(axis=0), (across @ after[:, :, None]).sum(axis=0)[:, 0])


def test_communities_that_are_apart_stay_where_they_are():
    rng = np.random.default_rng(3)
    communities = np.repeat([0, 1], 50)
    places = np.array([[-1.0, 0], [1, 0]])[communities] + rng.normal(0, 0.05, (100, 2))
    placed = separate_communities(places, communities)
    middles = [places[communities == c].mean(axis=0) for c in (0, 1)]
    after = [placed[communities == c].mean(axis=0) for c in (0, 1)]
    apart = np.linalg.norm(after[1] - after[0]), np.linalg.norm(middles[1] - middles[0])
    assert apart[0] == pytest.approx(apart[1], rel=0.15)
    assert apart[0] > 2 * FILL


@pytest.mark.parametrize("sizes", [[1], [1, 1, 1], [5], [400] * 3 + [1] * 300])
def test_single_nodes_and_one_community_are_finite_and_inside(sizes):
    places, communities = draw(sizes)
    placed = separate_communities(places, communities)
    assert np.isfinite(placed).all()
    assert np.abs(placed).max() <= 1 + 1e-9
    same = separate_communities(places, communities)
    assert np.array_equal(placed, same)
