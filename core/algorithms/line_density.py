"""Density image of all links: number of lines per pixel."""

from __future__ import annotations

import numba
import numpy as np

FAINTEST = 0.22
"""Opacity of a pixel crossed by a single link."""

BUSIEST = 0.995
"""Quantile of the crossed pixels above which they are opaque."""


def count_crossings(
    positions: np.ndarray, edges: np.ndarray, pixels: int, half: float
) -> np.ndarray:
    """(pixels, pixels) int32: lines per pixel; row 0 is the top.

    positions  (n, 2) within [-half, half]
    edges      (m, 2) node numbers of each line's ends
    """
    scale = (pixels - 1) / (2 * half)
    places = np.empty(positions.shape, np.float64)
    places[:, 0] = (positions[:, 0] + half) * scale
    places[:, 1] = (half - positions[:, 1]) * scale
    counts = np.zeros((pixels, pixels), np.int32)
    _add_lines(counts, np.clip(places, 0, pixels - 1), edges.astype(np.int64))
    return counts


def shade_density(counts: np.ndarray, color: tuple[int, int, int]) -> np.ndarray:
    """(h, w, 4) uint8 RGBA of one colour, with opacity logarithmic in the number of lines."""
    image = np.zeros((*counts.shape, 4), np.uint8)
    crossed = counts > 0
    if not crossed.any():
        return image
    top = max(float(np.quantile(counts[crossed], BUSIEST)), 2.0)
    level = np.log(counts[crossed]) / np.log(top)
    image[..., :3] = color
    image[crossed, 3] = np.round(255 * np.clip(FAINTEST + (1 - FAINTEST) * level, 0, 1))
    return image


@numba.njit(cache=True, nogil=True)
def _add_lines(counts: np.ndarray, places: np.ndarray, edges: np.ndarray) -> None:
    """Add one to a pixel per step along the longer side of each line, both ends included."""
    for index in range(len(edges)):
        x0, y0 = places[edges[index, 0]]
        x1, y1 = places[edges[index, 1]]
        steps = int(np.ceil(max(abs(x1 - x0), abs(y1 - y0))))
        for step in range(steps + 1):
            share = step / steps if steps else 0.0
            x = int(np.round(x0 + share * (x1 - x0)))
            y = int(np.round(y0 + share * (y1 - y0)))
            counts[y, x] += 1
