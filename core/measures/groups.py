"""Differences in advantage between groups of people."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from core.results import Measurement
from core.seeding import mix_bits

MIN_GROUP = 10
"""Smaller groups are omitted, for privacy and because of noise."""


def measure_group_gap(
    nodes: np.ndarray, advantage: np.ndarray, columns: Sequence[np.ndarray]
) -> Measurement:
    """group_gap: difference between the largest and the smallest mean advantage over groups.

    nodes (k,) at stake and their advantage (k,); columns  (n,) group codes each, −1 unknown

    The largest of many differences is biased upwards, so the two groups are selected on one half of
    the nodes over all columns and compared on the other half, both ways round.
    """
    half = mix_bits(nodes) & np.uint64(1) == 1
    parts = []
    for chosen, measured in ((half, ~half), (~half, half)):
        pair = _find_pair(nodes, advantage, columns, chosen)
        if pair is None:
            continue
        sides = [advantage[mask & measured] for mask in pair]
        if min(map(len, sides)) < 2:
            continue
        value = float(sides[0].mean() - sides[1].mean())
        parts.append((value, sum(float(side.var(ddof=1)) / len(side) for side in sides)))
    if not parts:
        reason = f"needs two groups of at least {MIN_GROUP} people at stake"
        return Measurement("group_gap", None, n=len(nodes), reason=reason)
    value = float(np.mean([part[0] for part in parts]))
    variance = sum(part[1] for part in parts) / len(parts) ** 2
    return Measurement("group_gap", value, variance, len(nodes))


def _find_pair(
    nodes: np.ndarray, advantage: np.ndarray, columns: Sequence[np.ndarray], chosen: np.ndarray
) -> tuple[np.ndarray, np.ndarray] | None:
    """Masks (k,) of the groups with the highest and lowest mean among the selected nodes."""
    best, found = -np.inf, None
    for column in columns:
        codes = column[nodes]
        means = {}
        for code in np.unique(codes[codes >= 0]):
            mask = codes == code
            if mask.sum() >= MIN_GROUP and (mask & chosen).any():
                means[int(code)] = float(advantage[mask & chosen].mean())
        if len(means) < 2:
            continue
        high, low = max(means, key=means.__getitem__), min(means, key=means.__getitem__)
        if means[high] - means[low] > best:
            best, found = means[high] - means[low], (codes == high, codes == low)
    return found
