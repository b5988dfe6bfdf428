"""Which pairs have the largest values after Laplace noise on every one of them."""

from __future__ import annotations

import numpy as np

from core.privacy.mechanisms import compute_laplace_tail, draw_laplace_above


def draw_top_pairs(
    num_links: int, num_pairs: int, wanted: int, scale: float, rng: np.random.Generator
) -> tuple[np.ndarray, int]:
    """Which pairs are among the `wanted` largest of A_ij + Laplace(scale).

    Returns a mask (m,) over the links and the number of non-links; given it, their positions
    are uniform. The law is exactly that of noise on all pairs, in O(m + wanted): non-links are
    drawn in layers from the top, each layer a Binomial count of values between two thresholds,
    until enough values are known. Values below the last threshold cannot be among the largest.
    """
    links = 1.0 + rng.laplace(0.0, scale, num_links)
    remaining = num_pairs - num_links
    layers: list[np.ndarray] = []
    high, tail_high, found = np.inf, 0.0, 0
    while True:
        # The threshold below which a further `missing` non-links are expected, with a margin.
        missing = max(wanted - found, 0) + 3.0 * np.sqrt(wanted + 1.0) + 16
        share = min(missing / max(remaining, 1), 1.0)
        tail = tail_high + (1.0 - tail_high) * share
        low = _invert_tail(tail, scale)
        tail = compute_laplace_tail(low, scale)
        chance = min(max((tail - tail_high) / max(1.0 - tail_high, 1e-300), 0.0), 1.0)
        count = remaining if low == -np.inf else int(rng.binomial(remaining, chance))
        layers.append(draw_laplace_above(low, scale, count, rng, high))
        remaining -= count
        high, tail_high, found = low, tail, found + count
        if found + (links > low).sum() >= wanted or remaining == 0:
            break
    values = np.concatenate([links, *layers])
    order = (
        np.argpartition(-values, wanted - 1)[:wanted]
        if 0 < wanted < len(values)
        else (np.arange(len(values) if wanted else 0))
    )
    kept = np.zeros(num_links, bool)
    kept[order[order < num_links]] = True
    return kept, int((order >= num_links).sum())


def _invert_tail(tail: float, scale: float) -> float:
    """The threshold that Laplace(0, scale) exceeds with probability `tail`."""
    if tail >= 1.0:
        return -np.inf
    quantile: float = -scale * np.log(2 * tail) if tail <= 0.5 else scale * np.log(2 * (1 - tail))
    return quantile
