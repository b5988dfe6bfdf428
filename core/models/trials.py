"""Common base of classifiers trained together.

Shapes: S settings, F folds, n nodes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import torch

from core.seeding import Seed


@dataclass(frozen=True)
class Setting:
    """One point of the search: dropout share, AdamW's weight decay, and whether GraphSAGE uses a
    node's own features."""

    dropout: float
    weight_decay: float
    root: bool = True


class Trials(torch.nn.Module):
    """S × F classifiers of one kind; called with a field: scores (t, S, F, C) of its targets.

    seeds  F: of the initial weights, equal in all settings
    masks  of dropout, equal in all S × F except for the share
    """

    def __init__(
        self, dropouts: Sequence[float], seeds: Sequence[Seed], masks: Seed, device: str
    ) -> None:
        super().__init__()
        self.shape, self.device = (len(dropouts), len(seeds)), device
        keeps = [1.0 - dropout for dropout in dropouts]
        self._keeps = torch.tensor(keeps, device=device)[:, None, None]
        self._masks = masks.torch("dropout", device=device)
        self._generators = [seed.torch("init") for seed in seeds]

    def make_weights(self, shape: tuple[int, int, int], bound: float) -> torch.Tensor:
        """(a, b, S, F, c) of `shape` (a, b, c), uniform within ± bound."""
        drawn = [(torch.rand(shape, generator=g) * 2 - 1) * bound for g in self._generators]
        repeated = torch.stack(drawn, dim=2)[:, :, None].expand(-1, -1, self.shape[0], -1, -1)
        return repeated.to(self.device)

    def make_matrix(self, num_in: int, num_out: int) -> torch.Tensor:
        """(in, S, F, out) uniform within Glorot and Bengio's bound (2010, eq. 16)."""
        return self.make_weights((1, num_in, num_out), math.sqrt(6.0 / (num_in + num_out)))[0]

    def make_bias(self, size: int) -> torch.nn.Parameter:
        """(S, F, size) zeros."""
        return torch.nn.Parameter(torch.zeros(*self.shape, size, device=self.device))

    def drop_inputs(self, inputs: torch.Tensor) -> torch.Tensor:
        """(n, S or 1, d): (n, d) after dropout."""
        if not self.training:
            return inputs[:, None]
        return (inputs * self._draw_mask(*inputs.shape)).transpose(0, 1)

    def drop(self, hidden: torch.Tensor) -> torch.Tensor:
        """Hidden values (n, S, F, h) after dropout."""
        if not self.training:
            return hidden
        mask = self._draw_mask(hidden.shape[0], hidden.shape[-1])
        return hidden * mask.transpose(0, 1)[:, :, None]

    def _draw_mask(self, num_rows: int, num_columns: int) -> torch.Tensor:
        """(S, rows, columns): 0 or 1 / keep, from the same random numbers in all settings."""
        shape = (num_rows, num_columns)
        drawn = torch.rand(shape, generator=self._masks, device=self.device)
        return (drawn < self._keeps) / self._keeps


class Family(Protocol):
    """Classifiers of one kind on one graph, for a search."""

    @property
    def sizes(self) -> tuple[int, int, int]:
        """Input columns, hidden width, classes."""
        ...

    def make_field(self, nodes: np.ndarray | None) -> Any:
        """Rows and layers that the scores of `nodes` (sorted, distinct; None: all) depend on."""
        ...

    def make(self, settings: Sequence[Setting], seeds: Sequence[Seed], masks: Seed) -> Trials:
        """Every setting with every seed, untrained."""
        ...

    def count_values(self, field: Any) -> int:
        """Numbers in one trial's largest layer on a field and in its weights."""
        ...
