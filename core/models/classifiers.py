"""Node classifiers: trained on the known nodes, tuned by cross-validation among them only."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch.nn.functional import cross_entropy

from core.context import Context
from core.graph import MISSING, Graph
from core.models.encoders import Backbone, Block, Encoder, Inputs, num_columns
from core.models.training import train
from core.seeding import Seed

CHECK_EVERY = 5
"""Epochs between two looks at the held-out loss while tuning."""


@dataclass(frozen=True)
class Setting:
    """One point of the search: dropout share and AdamW's weight decay."""

    dropout: float
    weight_decay: float


MakeModel = Callable[[Setting, Seed], torch.nn.Module]
"""Makes a module that, called without arguments, yields the logits (n, C) of all nodes."""


@dataclass(frozen=True, eq=False)
class Fit:
    """Probabilities (n, C), and what the search chose and saw."""

    probabilities: np.ndarray
    setting: Setting
    epochs: int
    held_out_loss: float | None

    @property
    def facts(self) -> dict[str, float | str]:
        facts: dict[str, float | str] = {
            "dropout": self.setting.dropout,
            "weight_decay": self.setting.weight_decay,
            "epochs": float(self.epochs),
        }
        if self.held_out_loss is not None:
            facts["cross_validated_log_loss"] = round(self.held_out_loss, 4)
        return facts


def fit_classifier(
    make_model: MakeModel,
    observed: np.ndarray,
    folds: Sequence[np.ndarray],
    settings: Sequence[Setting],
    context: Context,
    *,
    epochs: int,
    lr: float,
) -> Fit:
    """Try every setting on every fold, then train the best one on all known nodes.

    The setting and the number of epochs with the lowest held-out log-loss win; with no fold to
    hold out, the first setting and all epochs.
    """
    steps = [epoch for epoch in range(epochs) if (epoch + 1) % CHECK_EVERY == 0] or [epochs - 1]
    curves = np.zeros((len(settings), len(steps)))
    usable = [fold for fold in folds if 0 < len(fold) < (observed != MISSING).sum()]
    can_search = bool(usable) and (len(settings) > 1 or len(steps) > 1)
    for row, setting in enumerate(settings if can_search else ()):
        for number, fold in enumerate(usable):
            rest = observed.copy()
            rest[fold] = MISSING
            model = make_model(setting, context.seed.child("fold", row, number))
            curves[row] += len(fold) * _watch(model, rest, observed, fold, steps, epochs, lr,
                                              setting, context)
    if can_search:
        curves /= sum(map(len, usable))
        row, column = divmod(int(np.argmin(curves)), len(steps))
        setting, count, loss = settings[row], steps[column] + 1, float(curves[row, column])
    else:
        setting, count, loss = settings[0], epochs, None
    model = make_model(setting, context.seed.child("final"))
    _train(model, observed, count, lr, setting, context, curve="loss")
    return Fit(compute_probabilities(model), setting, count, loss)


def compute_probabilities(model: torch.nn.Module) -> np.ndarray:
    """(n, C) float64 softmax of the model's logits, in evaluation mode."""
    model.eval()
    with torch.no_grad():
        return model().double().softmax(dim=1).cpu().numpy()


def _watch(
    model: torch.nn.Module, rest: np.ndarray, observed: np.ndarray, fold: np.ndarray,
    steps: list[int], epochs: int, lr: float, setting: Setting, context: Context,
) -> np.ndarray:
    """Held-out log-loss at each step of training without the fold."""
    losses: list[float] = []

    def look(epoch: int) -> None:
        if epoch == steps[len(losses)]:
            chosen = compute_probabilities(model)[fold, observed[fold]]
            losses.append(float(-np.log(np.clip(chosen, 1e-9, None)).mean()))
            model.train()

    def look_in_time(epoch: int) -> None:
        if len(losses) < len(steps):
            look(epoch)

    _train(model, rest, epochs, lr, setting, context, after_epoch=look_in_time)
    return np.array(losses)


def _train(
    model: torch.nn.Module, observed: np.ndarray, epochs: int, lr: float, setting: Setting,
    context: Context, curve: str | None = None,
    after_epoch: Callable[[int], bool | None] | None = None,
) -> None:
    device = next(model.parameters()).device
    known = torch.from_numpy(np.flatnonzero(observed != MISSING)).to(device)
    truth = torch.from_numpy(observed[observed != MISSING]).to(device)
    model.train()
    train(
        model.parameters(),
        lambda epoch: cross_entropy(model()[known], truth),
        epochs=epochs, lr=lr, weight_decay=setting.weight_decay, decoupled=True,
        progress=context.progress, curve=curve, after_epoch=after_epoch,
        message="training" if curve else "tuning on the known nodes",
    )


class EncoderClassifier(torch.nn.Module):
    """An encoder with its inputs and its graph: called without arguments."""

    def __init__(self, encoder: Encoder, inputs: Inputs, block: Block) -> None:
        super().__init__()
        self.encoder, self._inputs, self._block = encoder, inputs, block

    def forward(self) -> torch.Tensor:
        return self.encoder(self._inputs, self._block)


def make_encoder_classifier(
    backbone: Backbone, graph: Graph, inputs: Inputs, hidden: int, num_classes: int, device: str
) -> MakeModel:
    """Two layers of one kind, the graph prepared once for all trials."""
    block = Block.of_graph(graph, backbone, device)

    def make(setting: Setting, seed: Seed) -> torch.nn.Module:
        sizes = [num_columns(inputs), hidden, num_classes]
        encoder = Encoder(backbone, sizes, seed, setting.dropout)
        return EncoderClassifier(encoder, inputs, block).to(device)

    return make
