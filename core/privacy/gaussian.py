"""Gaussian noise on sums: what an account hands to a method that learns by noisy sums."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from core.context import Context

if TYPE_CHECKING:
    import torch

Values = TypeVar("Values", np.ndarray, "torch.Tensor")


class GaussianNoise:
    """Noise of standard deviation `multiplier` times the sensitivity, one stream for all steps."""

    def __init__(self, multiplier: float, context: Context) -> None:
        self.multiplier = multiplier
        self._context = context
        self._stream: Any = None

    def draw_for(self, values: Values, sensitivity: float) -> Values:
        """Noise to be added to sums that one unit changes by ≤ `sensitivity` in ℓ₂ norm.

        Has the shape and kind of `values`: an array, or a tensor on the same device.
        """
        if isinstance(values, np.ndarray):
            return self._draw(values.shape) * self.multiplier * sensitivity
        import torch

        device = self._context.device.torch_name
        if self._context.is_publishing:
            # torch's generator keeps 32 bits of its seed, which can all be tried.
            drawn = torch.from_numpy(self._draw(tuple(values.shape)).astype(np.float32))
            return drawn.to(device) * (self.multiplier * sensitivity)
        if self._stream is None:
            self._stream = self._context.seed.torch("noise", device=device)
        noise = torch.randn(values.shape, generator=self._stream, device=device)
        return noise * (self.multiplier * sensitivity)

    def _draw(self, shape: tuple[int, ...]) -> np.ndarray:
        """Standard normal numbers. What they are added to never leaves: only links do, so no low
        bits of a noisy number can be read (Mironov, 2012)."""
        if self._stream is None:
            self._stream = self._context.rng("noise")
        drawn: np.ndarray = self._stream.standard_normal(shape)
        return drawn
