"""GHRatios as numbers: their means by mechanism (GPS Eq. 3–5)."""

from __future__ import annotations

import numpy as np

from core.algorithms.ghratio import GHRatios
from core.measures.intervals import measure_mean
from core.results import Measurement

DEFAULT_TOLERANCE = 5
"""Degree difference between structural peers; the paper searches {0, 5, 10, 15, 20}."""


def measure_ghratios(
    ghratios: GHRatios, codes: np.ndarray, shares: np.ndarray
) -> list[Measurement]:
    """Mean of each ratio over the nodes where it is defined, and of its gap to the class share.

    `shares` (C,) is P̂(Z = c), the value at which a set gives nothing away.
    """
    result = []
    for name in ("proximity", "role", "combined"):
        ratios = getattr(ghratios, name)
        defined = np.isfinite(ratios)
        values = ratios[defined]
        gaps = values - np.asarray(shares)[codes[defined]]
        reason = "no node with a known value has anyone to compare with"
        result.append(measure_mean(f"ghratio_{name}", values, reason))
        result.append(measure_mean(f"ghratio_{name}_gap", gaps, reason))
    return result
