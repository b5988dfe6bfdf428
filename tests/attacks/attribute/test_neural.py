"""The neural attacks record what tuning chose, and choose by held-out loss."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
import torch

from core.attacks.attribute.gcn import Gcn
from core.context import Context
from core.models.stacked_search import TEMPERATURES, StackedSearch, choose_cell
from core.models.trials import Setting, Trials
from core.release import Release
from core.seeding import Seed
from tests.oracles.graphs import GRAPHS, make_threats
from tests.oracles.progress import RecordingProgress


class Constant(Trials):
    """Logits that training moves, plus fixed ones of each setting: right or wrong beforehand."""

    def __init__(self, fixed: list[np.ndarray], num_folds: int) -> None:
        super().__init__([0.0] * len(fixed), [Seed(0)] * num_folds, Seed(0), "cpu")
        self.free = self.make_bias(2)
        self.fixed = torch.tensor(np.stack(fixed, axis=1), dtype=torch.float32)[:, :, None]

    def forward(self, nodes: np.ndarray | None) -> torch.Tensor:
        scores = self.fixed + self.free
        return scores if nodes is None else scores[nodes]


@dataclass(frozen=True)
class Constants:
    """A family whose logits are `say(dropout)` (n, 2)."""

    say: Callable[[float], np.ndarray]
    sizes: tuple[int, int, int] = (0, 0, 2)

    def make_field(self, nodes):
        return nodes

    def make(self, settings, seeds, masks):
        return Constant([self.say(setting.dropout) for setting in settings], len(seeds))

    def count_values(self, field):
        return 1


def search(say, observed, folds, settings, epochs, lr):
    found = StackedSearch(Constants(say), observed, Context(Seed(0)), epochs=epochs, lr=lr)
    return found.fit(folds, settings)


def test_the_setting_that_predicts_held_out_nodes_wins():
    observed = np.arange(12) % 2
    right = np.where(observed[:, None] == [0, 1], 2.0, -2.0)
    settings = [Setting(0.5, 0.0), Setting(0.1, 0.0)]
    folds = [np.arange(6), np.arange(6, 12)]
    fit = search(
        lambda dropout: right if dropout == 0.1 else -right, observed, folds, settings, 20, 0.01
    )
    assert fit.setting == settings[1]
    # Logits 4 apart, and the coldest temperature tried, as none of them is wrong.
    assert fit.temperature == min(TEMPERATURES)
    assert fit.held_out_loss == pytest.approx(np.log1p(np.exp(-4.0 / fit.temperature)), rel=0.2)
    assert fit.facts["dropout"] == 0.1


def test_without_folds_the_first_setting_and_all_epochs_are_taken():
    settings = [Setting(0.3, 0.0), Setting(0.1, 0.0)]
    fit = search(lambda _: np.zeros((3, 2)), np.array([0, 1, -1]), [], settings, 9, 0.01)
    assert (fit.setting.dropout, fit.epochs, fit.held_out_loss) == (0.3, 9, None)


def test_of_choices_equally_good_the_longest_training_and_the_first_setting_are_taken():
    """A naive loop over all cells beside it."""
    rng = np.random.default_rng(0)
    for _ in range(50):
        losses = rng.exponential(size=(12, 3, 5, 4)) + rng.random((3, 5, 4))
        means, squares = losses.mean(axis=0), (losses**2).mean(axis=0)
        lowest = min(means.ravel())
        cell = np.unravel_index(means.argmin(), means.shape)
        error = losses[:, *cell].std() / np.sqrt(12)
        best = None
        for step in range(5):
            near = [
                (means[row, step, heat], row, heat)
                for row in range(3)
                for heat in range(4)
                if means[row, step, heat] <= lowest + error
            ]
            if near:
                first = min(row for _, row, _ in near)
                best = first, step, min(near, key=lambda cell: (cell[1], cell[0]))[2]
        assert choose_cell(means, squares, 12) == best


def test_a_network_that_is_too_sure_is_cooled_down():
    """Right in three of four held-out nodes, at logits 20 apart."""
    observed = np.arange(16) % 2
    said = np.where(np.arange(16) % 4 == 3, 1 - observed, observed)
    logits = np.where(said[:, None] == [0, 1], 10.0, -10.0)
    folds = [np.arange(8), np.arange(8, 16)]
    fit = search(lambda _: logits, observed, folds, [Setting(0.0, 0.0)], 5, 1e-6)
    assert fit.temperature == max(TEMPERATURES)
    assert fit.held_out_loss < -0.25 * np.log(0.02)


def test_training_stops_where_the_held_out_loss_was_lowest():
    """Labels are alike in training and otherwise in the fold: every step makes it worse."""
    observed = np.array([0, 0, 0, 0, 1, 1])
    folds, settings = [np.arange(4), np.array([4, 5])], [Setting(0.0, 0.0)]
    fit = search(lambda _: np.zeros((6, 2)), observed, folds, settings, 50, 0.1)
    assert fit.epochs == 5


def test_the_choice_and_the_loss_curve_are_recorded():
    graph = GRAPHS["two_communities"]()
    progress = RecordingProgress()
    result = Gcn(epochs=20, hidden=16, folds=2).infer(
        Release(graph), make_threats(graph).attribute, Context(Seed(0), progress=progress)
    )
    assert set(result.facts) == {
        "dropout",
        "weight_decay",
        "epochs",
        "temperature",
        "cross_validated_log_loss",
    }
    assert len(progress.curves["loss"]) == result.facts["epochs"]
