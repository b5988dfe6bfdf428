"""The game behind a check: how often a release of either graph is accused, and what is claimed."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

POINTS = 201


def compute_claim_region(epsilon: float, delta: float) -> pd.DataFrame:
    """false, low, high: the rates of true accusations that (ε, δ)-DP allows at each rate of false
    ones (Kairouz, Oh and Viswanath, ICML 2015, Theorem 2.1).

    A rule and its opposite are both bound, so the region is
    max(0, e^{−ε}(q − δ), 1 − e^ε (1 − q) − δ) ≤ p ≤ min(1, e^ε q + δ, 1 − e^{−ε}(1 − q − δ)).
    """
    grow, shrink = math.exp(min(epsilon, 700.0)), math.exp(-epsilon)
    corner = min(1.0, (1 - delta) / (1 + grow))
    q = np.unique(np.concatenate([np.linspace(0, 1, POINTS), [corner, 1 - corner]]))
    high = np.minimum(np.minimum(1.0, grow * q + delta), 1 - shrink * (1 - q - delta))
    low = np.maximum(np.maximum(0.0, shrink * (q - delta)), 1 - grow * (1 - q) - delta)
    return pd.DataFrame({"false": q, "low": low, "high": np.minimum(high, 1.0)})
