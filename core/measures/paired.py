"""Two releases compared over the repeats that both have: intervals of differences.

Both releases of a repeat are made from the same split and attacked on the same people, so that
what makes a split easy or hard is in both and cancels. Whether their own intervals overlap says
much less.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from scipy import stats

from core.measures.intervals import LEVEL
from core.results import Estimate


def compare_repeats(
    before: Mapping[int, float], after: Mapping[int, float], n: int = 0
) -> Estimate:
    """after − before, of the values (repeat → value) of one metric on two releases.

    The mean difference over the repeats that both have, with Student's t interval: repeats draw
    splits and noise independently, so the interval is for the expected difference on this graph,
    over all splits and all noise. One repeat in common gives a value and no interval, none gives
    neither. `n` is passed on.
    """
    common = sorted(set(before) & set(after))
    if not common:
        return Estimate(None, None, None, n, 0, "no repeat in common")
    differences = np.array([after[repeat] - before[repeat] for repeat in common])
    value, count = float(differences.mean()), len(common)
    if count == 1:
        return Estimate(value, None, None, n, 1, "one repeat: no interval")
    error = float(differences.std(ddof=1)) / count**0.5
    half = float(stats.t.ppf((1 + LEVEL) / 2, count - 1)) * error
    how = f"paired t interval over {count} repeats"
    return Estimate(value, value - half, value + half, n, count, how)
