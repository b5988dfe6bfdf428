"""Communities of a laid out graph, seen apart: each on a disc, discs that do not overlap.

A layout by distance puts the communities of a small world over each other (figures in
tests/benchmarks/README.md, map_page).
"""

from __future__ import annotations

import numpy as np

FILL = 0.6
"""Radius of a community's disc, times the square root of its share of the nodes."""

MAX_DISCS, DISC_ROUNDS, GAP = 200, 100, 1.05
"""Number of communities that are moved apart, in at most so many rounds, and the distance at which
two of them leave each other alone, in sums of their radii."""


def separate_communities(places: np.ndarray, communities: np.ndarray) -> np.ndarray:
    """(n, 2) float64 places within [-1, 1] with each community on a disc of its own.

    Its nodes are drawn towards their mean, until the disc's area is proportional to their number;
    those far out come to lie near its rim. Then the `MAX_DISCS` largest discs move apart. Distances
    within a community keep their order around its mean, those between communities grow.

    places       (n, 2) as of `compute_layout`
    communities  (n,) from 0, the largest first
    """
    sizes = np.bincount(communities)
    sums = [np.bincount(communities, axis) for axis in places.T]
    centres = np.column_stack(sums) / sizes[:, None]
    offsets = places - centres[communities]
    squares = (offsets**2).sum(axis=1)
    radii = FILL * np.sqrt(sizes / len(places))
    spreads = np.sqrt(2 * np.bincount(communities, squares) / sizes)  # of a full disc: its radius
    scale = np.minimum(radii / np.maximum(spreads, 1e-9), 1.0)[communities]
    rims = 1.2 * radii[communities]
    lengths = np.maximum(scale * np.sqrt(squares), 1e-12)
    shrunk = offsets * (scale * rims / lengths * np.tanh(lengths / rims))[:, None]
    top = slice(MAX_DISCS)
    centres[top] = _push_apart(centres[top], radii[top])
    placed = centres[communities] + shrunk
    low, high = placed.min(axis=0), placed.max(axis=0)
    return np.asarray((placed - (low + high) / 2) / max(float((high - low).max()) / 2, 1e-9))


def _push_apart(centres: np.ndarray, radii: np.ndarray) -> np.ndarray:
    """(k, 2) centres of discs that hardly overlap: in each round all pairs that do part by half of
    it, the smaller disc farther."""
    centres, (i, j) = centres.copy(), np.triu_indices(len(centres), 1)
    reach = GAP * (radii[i] + radii[j])
    share = radii[i] ** 2 / (radii[i] ** 2 + radii[j] ** 2)
    for _ in range(DISC_ROUNDS):
        apart = centres[j] - centres[i]
        length = np.maximum(np.linalg.norm(apart, axis=1), 1e-9)
        hit = length < 0.999 * reach
        if not hit.any():
            break
        step = (0.5 * (reach / length - 1)[:, None] * apart)[hit]
        for ends, part in ((j[hit], share[hit]), (i[hit], share[hit] - 1)):
            for axis, moved in enumerate(step.T):
                centres[:, axis] += np.bincount(ends, moved * part, len(centres))
    return centres
