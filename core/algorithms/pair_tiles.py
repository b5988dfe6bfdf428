"""Long lists of pairs, cut so that the rows which they need fit in memory."""

from __future__ import annotations

import numpy as np


def split_by_work(entries: np.ndarray, most: int) -> list[np.ndarray]:
    """Places of k pairs in consecutive parts of about `most` row entries; parts may be empty.

    entries  (k,) row entries that each pair needs
    """
    total = np.cumsum(entries)
    count = int(total[-1] // most) + 1 if len(total) else 1
    bounds = np.searchsorted(total, most * np.arange(1, count))
    return np.split(np.arange(len(entries)), bounds)
