"""Where a private training gets its noise: from whoever holds the budget."""

from __future__ import annotations

from typing import Protocol

import torch


class Noise(Protocol):
    """multiplier  standard deviation over sensitivity, in every step"""

    multiplier: float

    def draw_for(self, values: torch.Tensor, sensitivity: float) -> torch.Tensor:
        """Noise to be added to sums that one unit changes by ≤ `sensitivity` in ℓ₂ norm."""


class NoNoise:
    """What a training without privacy adds."""

    multiplier = 0.0

    def draw_for(self, values: torch.Tensor, sensitivity: float) -> torch.Tensor:
        """Zeros: nothing is spent."""
        return torch.zeros_like(values)
