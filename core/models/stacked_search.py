"""Cross-validated tuning on the known nodes, with all trials trained together."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from core.context import Context
from core.models.training import train
from core.models.trials import Family, Setting, Trials
from core.node_column import MISSING
from core.progress import PartProgress, Progress
from core.seeding import Seed

CHECK_EVERY = 5
"""Epochs between two evaluations of the held-out loss while tuning."""
TEMPERATURES = (1.0, 0.5, 0.7, 1.5, 2.0, 3.0, 5.0, 8.0)
"""Temperatures tried at each evaluation; the first is used if nothing is held out."""

_COPIES = 8
"""Tensors of a hidden layer's size that a step holds."""


@dataclass(frozen=True, eq=False)
class Fit:
    """Probabilities (n, C), the chosen setting, and held-out predictions.

    held_out  (n, C) out-of-fold predictions of known nodes by the chosen setting, NaN for others;
              None if nothing was held out
    """

    probabilities: np.ndarray
    setting: Setting
    epochs: int
    temperature: float
    held_out_loss: float | None
    held_out: np.ndarray | None = None

    @property
    def facts(self) -> dict[str, float | str]:
        """Chosen setting and held-out loss, as facts of the result."""
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


class StackedSearch:
    """Finds setting, epochs and temperature, then trains on all known nodes.

    The choice is that of `choose_cell`. Trials that exceed the memory budget run in groups, with
    the same result.
    """

    def __init__(
        self, family: Family, observed: np.ndarray, context: Context, *, epochs: int, lr: float
    ) -> None:
        """observed (n,) codes."""
        self._family, self._context = family, context
        self._epochs, self._lr = epochs, lr
        self._device = context.device.torch_name
        self._known = np.flatnonzero(observed != MISSING)
        self._truth = observed[self._known]
        self._num_nodes = len(observed)
        self._field = family.make_field(self._known)

    def fit(self, folds: Sequence[np.ndarray], settings: Sequence[Setting]) -> Fit:
        """`folds` split the known nodes; without folds the first setting and all epochs are
        used."""
        usable = [fold for fold in folds if 0 < len(fold) < len(self._known)]
        setting, epochs, temperature, loss, held_out = settings[0], self._epochs, 1.0, None, None
        if usable:
            fold_of = np.zeros(len(self._known), np.int64)
            for number, fold in enumerate(usable):
                fold_of[np.searchsorted(self._known, fold)] = number
            steps = list_steps(self._epochs)
            scores = self._try_all(settings, fold_of, len(usable), steps)
            means, squares = measure_losses(scores, self._truth)
            row, column, temperature_index = choose_cell(means, squares, len(self._known))
            setting, epochs, temperature = (
                settings[row],
                steps[column] + 1,
                TEMPERATURES[temperature_index],
            )
            loss = float(means[row, column, temperature_index])
            held_out = np.full((self._num_nodes, self._family.sizes[2]), np.nan)
            chosen = torch.from_numpy(scores[row, column]).double() / temperature
            held_out[self._known] = chosen.softmax(dim=1).numpy()
        probabilities = self._train_chosen(setting, epochs, temperature)
        return Fit(probabilities, setting, epochs, temperature, loss, held_out)

    def _try_all(
        self, settings: Sequence[Setting], fold_of: np.ndarray, num_folds: int, steps: list[int]
    ) -> np.ndarray:
        """(S, steps, k, C) out-of-fold scores of the known nodes."""
        shape = (len(settings), len(steps), len(self._known), self._family.sizes[2])
        scores = np.zeros(shape, np.float32)
        groups = list(self._split(len(settings), num_folds))
        for number, (rows, folds) in enumerate(groups):
            progress = PartProgress(self._context.progress, number, len(groups) + 1)
            is_member = np.isin(fold_of, folds)
            chosen = settings[rows.start : rows.stop]
            scores[rows.start : rows.stop, :, is_member] = self._try_group(
                chosen, folds, fold_of, steps, progress
            )
        return scores

    def _try_group(
        self,
        settings: Sequence[Setting],
        folds: range,
        fold_of: np.ndarray,
        steps: list[int],
        progress: Progress,
    ) -> np.ndarray:
        """(S, steps, k', C) scores of the k' known nodes that lie in these folds."""
        stack = self._make(settings, [self._context.seed.child("fold", fold) for fold in folds])
        members = np.flatnonzero(np.isin(fold_of, folds))
        nodes = torch.from_numpy(members).to(self._device)
        trial = torch.from_numpy(fold_of[members] - folds.start).to(self._device)
        checkpoints: list[np.ndarray] = []

        def evaluate(epoch: int) -> None:
            if len(checkpoints) < len(steps) and epoch == steps[len(checkpoints)]:
                stack.eval()
                with torch.no_grad():
                    checkpoints.append(stack(self._field)[nodes, :, trial].cpu().numpy())
                stack.train()

        train(
            stack.parameters(),
            self._make_loss(stack, fold_of[:, None] != np.asarray(folds)),
            epochs=self._epochs,
            lr=self._lr,
            weight_decay=settings[0].weight_decay,
            decoupled=True,
            progress=progress,
            after_epoch=evaluate,
            message="tuning on the known nodes",
        )
        return np.stack(checkpoints).transpose(2, 0, 1, 3)

    def _split(self, num_settings: int, num_folds: int) -> Iterator[tuple[range, range]]:
        """Groups of settings and folds that fit the memory budget."""
        trial_bytes = 4 * _COPIES * self._family.count_values(self._field)
        at_once = max(1, self._context.memory_budget // max(trial_bytes, 1))
        folds = min(num_folds, at_once)
        settings = max(1, at_once // num_folds) if folds == num_folds else 1
        for row in range(0, num_settings, settings):
            for fold in range(0, num_folds, folds):
                yield (
                    range(row, min(row + settings, num_settings)),
                    range(fold, min(fold + folds, num_folds)),
                )

    def _train_chosen(self, setting: Setting, epochs: int, temperature: float) -> np.ndarray:
        """(n, C) probabilities of the setting trained on all known nodes."""
        stack = self._make([setting], [self._context.seed.child("final")])
        train(
            stack.parameters(),
            self._make_loss(stack, np.ones((len(self._known), 1), bool)),
            epochs=epochs,
            lr=self._lr,
            weight_decay=setting.weight_decay,
            decoupled=True,
            progress=self._context.progress,
            curve="loss",
        )
        stack.eval()
        with torch.no_grad():
            scores = stack(self._family.make_field(None))[:, 0, 0].double() / temperature
        return np.asarray(scores.softmax(dim=1).cpu().numpy())

    def _make(self, settings: Sequence[Setting], seeds: Sequence[Seed]) -> Trials:
        return self._family.make(settings, seeds, self._context.seed.child("masks")).train()

    def _make_loss(self, stack: Trials, is_training: np.ndarray) -> Callable[[int], torch.Tensor]:
        """Sum over trials of the mean cross-entropy of each trial's training nodes."""
        shares = torch.from_numpy((is_training / is_training.sum(axis=0)).astype(np.float32))
        shares = shares[:, None].to(self._device)
        truth = torch.from_numpy(self._truth).to(self._device)[:, None, None, None]

        def compute_loss(epoch: int) -> torch.Tensor:
            logs = stack(self._field).log_softmax(dim=3)
            true_logs = logs.gather(3, truth.expand(-1, *stack.shape, -1))[..., 0]
            loss: torch.Tensor = -(true_logs * shares).sum()
            return loss

        return compute_loss


def list_steps(epochs: int) -> list[int]:
    """Epochs after which held-out nodes are evaluated."""
    return [epoch for epoch in range(epochs) if (epoch + 1) % CHECK_EVERY == 0] or [epochs - 1]


def measure_losses(values: np.ndarray, truth: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Means and mean squares (S, steps, temperatures) of the log-loss of k held-out nodes, from
    their scores (S, steps, k, C)."""
    scores = torch.from_numpy(values).double()
    index = torch.from_numpy(truth)[:, None].expand(*values.shape[:3], 1)
    means, squares = [], []
    for temperature in TEMPERATURES:
        losses = -(scores / temperature).log_softmax(dim=3).gather(3, index)[..., 0]
        means.append(losses.mean(dim=2))
        squares.append(losses.square().mean(dim=2))
    return torch.stack(means, dim=2).numpy(), torch.stack(squares, dim=2).numpy()


def choose_cell(means: np.ndarray, squares: np.ndarray, count: int) -> tuple[int, int, int]:
    """The (setting, step, temperature) to use: of those within a standard error of the lowest mean
    loss (Hastie et al., 2009, §7.10) the latest step, there the first setting, and there the lowest
    loss.

    With few known nodes the lowest loss is often chance. Without a temperature (Guo et al., 2017,
    §4.2) a well-ranking but overconfident network loses to a hardly trained one.

    means    (settings, steps, temperatures) mean losses of `count` held-out nodes
    squares  the same of their squares
    """
    best = np.unravel_index(int(np.argmin(means)), means.shape)
    error = np.sqrt(max(squares[best] - means[best] ** 2, 0.0) / count)
    is_close = means <= means[best] + error
    step = int(np.flatnonzero(is_close.any(axis=(0, 2)))[-1])
    row = int(np.flatnonzero(is_close[:, step].any(axis=1))[0])
    return row, step, int(np.argmin(means[row, step]))
