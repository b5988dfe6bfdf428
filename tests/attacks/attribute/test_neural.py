"""The neural attacks record what tuning chose, and choose by held-out loss."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from core.attacks.attribute.gcn import Gcn
from core.context import Context
from core.models.classifiers import TEMPERATURES, Setting, choose_cell, fit_classifier
from core.progress import RecordingProgress
from core.release import Release
from core.seeding import Seed
from tests.oracles.graphs import GRAPHS, make_threats


class Constant(torch.nn.Module):
    """Logits that training moves, plus fixed ones: right or wrong beforehand."""

    def __init__(self, fixed: np.ndarray) -> None:
        super().__init__()
        self.free = torch.nn.Parameter(torch.zeros(2))
        self.fixed = torch.from_numpy(fixed)

    def forward(self, nodes: torch.Tensor | None = None) -> torch.Tensor:
        scores = self.fixed + self.free
        return scores if nodes is None else scores[nodes]


def test_the_setting_that_predicts_held_out_nodes_wins():
    observed = np.arange(12) % 2
    right = np.where(observed[:, None] == [0, 1], 2.0, -2.0)
    settings = [Setting(0.5, 0.0), Setting(0.1, 0.0)]
    fit = fit_classifier(
        lambda setting, seed: Constant(right if setting.dropout == 0.1 else -right),
        observed,
        [np.arange(6), np.arange(6, 12)],
        settings,
        Context(Seed(0)),
        epochs=20,
        lr=0.01,
    )
    assert fit.setting == settings[1]
    # Logits 4 apart, and the coldest temperature tried, as none of them is wrong.
    assert fit.temperature == min(TEMPERATURES)
    assert fit.held_out_loss == pytest.approx(np.log1p(np.exp(-4.0 / fit.temperature)), rel=0.2)
    assert fit.facts["dropout"] == 0.1


def test_without_folds_the_first_setting_and_all_epochs_are_taken():
    observed = np.array([0, 1, -1])
    fit = fit_classifier(
        lambda setting, seed: Constant(np.zeros((3, 2))),
        observed,
        [],
        [Setting(0.3, 0.0), Setting(0.1, 0.0)],
        Context(Seed(0)),
        epochs=9,
        lr=0.01,
    )
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
    fit = fit_classifier(
        lambda setting, seed: Constant(logits),
        observed,
        [np.arange(8), np.arange(8, 16)],
        [Setting(0.0, 0.0)],
        Context(Seed(0)),
        epochs=5,
        lr=1e-6,
    )
    assert fit.temperature == max(TEMPERATURES)
    assert fit.held_out_loss < -0.25 * np.log(0.02)


def test_training_stops_where_the_held_out_loss_was_lowest():
    """All labels are alike in training and otherwise in the fold: every step makes it worse."""
    observed = np.array([0, 0, 0, 0, 1, 1])
    fit = fit_classifier(
        lambda setting, seed: Constant(np.zeros((6, 2))),
        observed,
        [np.array([4, 5])],
        [Setting(0.0, 0.0)],
        Context(Seed(0)),
        epochs=50,
        lr=0.1,
    )
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
