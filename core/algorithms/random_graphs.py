"""Random graphs of given degrees."""

from __future__ import annotations

import numpy as np

from core.graph import is_among, pair_codes, sort_distinct

ROUNDS = 12
"""Times that ends are matched anew whose pair was a loop or there already."""


def draw_by_degrees(
    degrees: np.ndarray, rng: np.random.Generator, taken: np.ndarray | None = None
) -> np.ndarray:
    """(k, 2) distinct pairs i < j in which node i occurs `degrees[i]` times, as far as that can be.

    The configuration model (Bollobás, 1980): all ends are matched at random. Loops, repeated
    pairs and pairs whose codes are among `taken` (sorted) are taken apart and matched again, up
    to `ROUNDS` times; what is left then stays away. O(k) time a round.
    """
    n = len(degrees)
    taken = np.empty(0, np.int64) if taken is None else taken
    found, left = np.empty(0, np.int64), degrees.astype(np.int64)
    for _ in range(ROUNDS):
        ends = np.repeat(np.arange(n), left)
        if len(ends) < 2:
            break
        rng.shuffle(ends)
        pairs = ends[: len(ends) // 2 * 2].reshape(-1, 2)
        codes = pair_codes(pairs[pairs[:, 0] != pairs[:, 1]], n)
        found = sort_distinct(np.concatenate([found, codes[~is_among(codes, taken)]]))
        left = degrees - np.bincount(np.concatenate([found // n, found % n]), minlength=n)
    return np.stack([found // n, found % n], axis=1)
