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
TEMPERATURES = (1.0, 0.5, 0.7, 1.5, 2.0, 3.0, 5.0, 8.0)
"""Divisors of the logits tried with each look; the first serves where nothing is held out."""


@dataclass(frozen=True)
class Setting:
    """One point of the search: dropout share, AdamW's weight decay, and whether GraphSAGE
    looks at a node's own features."""

    dropout: float
    weight_decay: float
    root: bool = True


MakeModel = Callable[[Setting, Seed], torch.nn.Module]
"""Makes a module that yields the logits (n, C) of all nodes, or (k, C) of those that it is called
with: few are known, and the rows of others need no last layer."""


@dataclass(frozen=True, eq=False)
class Fit:
    """Probabilities (n, C), and what the search chose and saw.

    held_out  (n, C) what was said of each known node by the trial of the chosen setting that had
              not seen it, NaN for others; None where nothing was held out
    """

    probabilities: np.ndarray
    setting: Setting
    epochs: int
    temperature: float
    held_out_loss: float | None
    held_out: np.ndarray | None = None

    @property
    def facts(self) -> dict[str, float | str]:
        """What was chosen and reached, for the result's facts."""
        facts: dict[str, float | str] = {
            "dropout": self.setting.dropout,
            "weight_decay": self.setting.weight_decay,
            "epochs": float(self.epochs),
            "temperature": self.temperature,
        }
        if not self.setting.root:
            facts["own_features"] = "left out"
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

    Setting, number of epochs and temperature (Guo et al., 2017, §4.2) are chosen by held-out
    log-loss; without a temperature a network that ranks well but is too sure loses to one hardly
    trained. On forty known nodes the lowest loss is often chance: within one standard error of it
    (Hastie et al., 2009, §7.10) longer training is preferred, then the setting named first. With
    no fold to hold out, the first setting and all epochs.
    """
    steps = [epoch for epoch in range(epochs) if (epoch + 1) % CHECK_EVERY == 0] or [epochs - 1]
    usable = [fold for fold in folds if 0 < len(fold) < (observed != MISSING).sum()]
    setting, count, temperature, loss = settings[0], epochs, TEMPERATURES[0], None
    if usable:
        moments = np.zeros((2, len(settings), len(steps), len(TEMPERATURES)))
        for row, choice in enumerate(settings):
            for number, fold in enumerate(usable):
                rest = observed.copy()
                rest[fold] = MISSING
                model = make_model(choice, context.seed.child("fold", row, number))
                moments[:, row] += _watch(
                    model, rest, observed, fold, steps, epochs, lr, choice, context
                )
        moments /= sum(map(len, usable))
        row, column, heat = choose_cell(moments[0], moments[1], sum(map(len, usable)))
        setting, count, temperature = settings[row], steps[column] + 1, TEMPERATURES[heat]
        loss = float(moments[0, row, column, heat])
    model = make_model(setting, context.seed.child("final"))
    _train(model, observed, count, lr, setting, context, curve="loss")
    probabilities = compute_probabilities(model, temperature)
    return Fit(probabilities, setting, count, temperature, loss)


def choose_cell(means: np.ndarray, squares: np.ndarray, count: int) -> tuple[int, int, int]:
    """The (setting, step, temperature) to trust: of those within a standard error of the lowest
    mean loss the latest step, there the first setting, and there the lowest loss.

    means    (settings, steps, temperatures) mean of the losses of `count` held-out nodes
    squares  the same of their squares
    """
    best = np.unravel_index(int(np.argmin(means)), means.shape)
    error = np.sqrt(max(squares[best] - means[best] ** 2, 0.0) / count)
    near = means <= means[best] + error
    step = int(np.flatnonzero(near.any(axis=(0, 2)))[-1])
    row = int(np.flatnonzero(near[:, step].any(axis=1))[0])
    return row, step, int(np.argmin(means[row, step]))


def compute_probabilities(model: torch.nn.Module, temperature: float = 1.0) -> np.ndarray:
    """(n, C) float64 softmax of the model's logits over `temperature`, in evaluation mode."""
    model.eval()
    with torch.no_grad():
        probabilities: np.ndarray = (model().double() / temperature).softmax(dim=1).cpu().numpy()
        return probabilities


def _watch(
    model: torch.nn.Module,
    rest: np.ndarray,
    observed: np.ndarray,
    fold: np.ndarray,
    steps: list[int],
    epochs: int,
    lr: float,
    setting: Setting,
    context: Context,
) -> np.ndarray:
    """(2, steps, temperatures): held-out log-losses and their squares, summed over the fold."""
    losses: list[np.ndarray] = []
    nodes, truth = torch.from_numpy(fold), torch.from_numpy(observed[fold])
    device = next(model.parameters()).device

    def look(epoch: int) -> None:
        if len(losses) < len(steps) and epoch == steps[len(losses)]:
            model.eval()
            with torch.no_grad():
                logits = model(nodes.to(device)).double().cpu()
            each = torch.stack(
                [cross_entropy(logits / heat, truth, reduction="none") for heat in TEMPERATURES]
            )
            losses.append(torch.stack([each.sum(1), each.square().sum(1)]).numpy())
            model.train()

    _train(model, rest, epochs, lr, setting, context, after_epoch=look)
    return np.stack(losses, axis=1)


def _train(
    model: torch.nn.Module,
    observed: np.ndarray,
    epochs: int,
    lr: float,
    setting: Setting,
    context: Context,
    curve: str | None = None,
    after_epoch: Callable[[int], bool | None] | None = None,
) -> None:
    device = next(model.parameters()).device
    known = torch.from_numpy(np.flatnonzero(observed != MISSING)).to(device)
    truth = torch.from_numpy(observed[observed != MISSING]).to(device)
    model.train()
    train(
        model.parameters(),
        lambda epoch: cross_entropy(model(known), truth),
        epochs=epochs,
        lr=lr,
        weight_decay=setting.weight_decay,
        decoupled=True,
        progress=context.progress,
        curve=curve,
        after_epoch=after_epoch,
        message="training" if curve else "tuning on the known nodes",
    )


class EncoderClassifier(torch.nn.Module):
    """An encoder with its inputs and its graph, called with the nodes that are asked for.

    Dense inputs are dropped out too, as Kipf and Welling (2017) do: with forty known nodes and as
    many features a network that keeps them learns them by heart.
    """

    def __init__(self, encoder: Encoder, inputs: Inputs, block: Block) -> None:
        super().__init__()
        self.encoder, self._inputs, self._block = encoder, inputs, block

    def forward(self, nodes: torch.Tensor | None = None) -> torch.Tensor:
        scores: torch.Tensor = self.encoder(self.encoder.dropout(self._inputs), self._block)
        return scores if nodes is None else scores[nodes]


def make_encoder_classifier(
    backbone: Backbone, graph: Graph, inputs: Inputs, hidden: int, num_classes: int, device: str
) -> MakeModel:
    """Two layers of one kind, the graph prepared once for all trials."""
    block = Block.of_graph(graph, backbone, device)

    def make(setting: Setting, seed: Seed) -> torch.nn.Module:
        sizes = [num_columns(inputs), hidden, num_classes]
        encoder = Encoder(backbone, sizes, seed, setting.dropout, setting.root)
        return EncoderClassifier(encoder, inputs, block).to(device)

    return make
