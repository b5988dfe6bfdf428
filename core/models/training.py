"""The one training loop: full batch, Adam, optional early stop on a validation loss."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import torch

from core.models.adam import Adam
from core.progress import Progress


def train(
    parameters: Iterable[torch.nn.Parameter],
    compute_loss: Callable[[int], torch.Tensor],
    *,
    epochs: int,
    lr: float,
    weight_decay: float = 0.0,
    lr_decay: float = 1.0,
    decoupled: bool = False,
    progress: Progress | None = None,
    message: str = "training",
    curve: str | None = None,
    after_epoch: Callable[[int], bool | None] | None = None,
) -> float:
    """Minimise `compute_loss(epoch)`; returns the last loss.

    decoupled    AdamW instead of Adam with L2
    lr_decay     factor per epoch
    curve        name under which the loss is recorded in the progress
    after_epoch  called with the epoch; returning True stops (early stopping)
    """
    progress = progress or Progress()
    optimizer = Adam(parameters, lr, weight_decay, decoupled=decoupled)
    value = float("nan")
    for epoch in range(epochs):
        optimizer.zero_grad()
        loss = compute_loss(epoch)
        loss.backward()
        optimizer.step()
        optimizer.lr *= lr_decay
        value = float(loss.detach())
        if curve:
            progress.record(curve, epoch, value)
        progress.update(epoch + 1, epochs, message)
        if after_epoch is not None and after_epoch(epoch):
            break
    return value
