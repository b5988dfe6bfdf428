"""Adam without torch's optimizer classes, which import torch's compiler (1 s) on first use."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from torch.optim.adam import adam


class Adam:
    """Adam (Kingma and Ba, 2015); AdamW (Loshchilov and Hutter, 2019) where `decoupled`.

    The same parameters as `torch.optim.Adam(fused=True)`, to the last bit. `lr` may be changed
    between steps. A parameter without a gradient is left as it is.
    """

    def __init__(
        self,
        parameters: Iterable[torch.Tensor],
        lr: float,
        weight_decay: float = 0.0,
        *,
        decoupled: bool = False,
    ) -> None:
        self.lr = lr
        self._weight_decay, self._is_decoupled = weight_decay, decoupled
        self._parameters = list(parameters)
        self._means = [torch.zeros_like(parameter) for parameter in self._parameters]
        self._squares = [torch.zeros_like(parameter) for parameter in self._parameters]
        self._steps = [torch.zeros((), device=part.device) for part in self._parameters]

    def zero_grad(self) -> None:
        """Drop the gradients, before a loss adds its own."""
        for parameter in self._parameters:
            parameter.grad = None

    @torch.no_grad()
    def step(self) -> None:
        """Update the parameters in place by their gradients."""
        used = [k for k, part in enumerate(self._parameters) if part.grad is not None]

        def pick(parts: list[Any]) -> list[torch.Tensor]:
            return [parts[k] for k in used]

        adam(
            pick(self._parameters),
            pick([parameter.grad for parameter in self._parameters]),
            pick(self._means),
            pick(self._squares),
            [],
            pick(self._steps),
            fused=True,
            amsgrad=False,
            beta1=0.9,
            beta2=0.999,
            lr=self.lr,
            weight_decay=self._weight_decay,
            eps=1e-8,
            maximize=False,
            decoupled_weight_decay=self._is_decoupled,
        )
