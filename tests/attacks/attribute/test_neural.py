"""The neural attacks record what tuning chose, and choose by held-out loss."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from core.attacks.attribute.gcn import Gcn
from core.context import Context
from core.models.classifiers import Setting, fit_classifier
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

    def forward(self) -> torch.Tensor:
        return self.fixed + self.free


def test_the_setting_that_predicts_held_out_nodes_wins():
    observed = np.arange(12) % 2
    right = np.where(observed[:, None] == [0, 1], 2.0, -2.0)
    settings = [Setting(0.5, 0.0), Setting(0.1, 0.0)]
    fit = fit_classifier(
        lambda setting, seed: Constant(right if setting.dropout == 0.1 else -right),
        observed, [np.arange(6), np.arange(6, 12)], settings, Context(Seed(0)),
        epochs=20, lr=0.01,
    )
    assert fit.setting == settings[1]
    assert fit.held_out_loss == pytest.approx(np.log1p(np.exp(-4.0)), rel=0.05)
    assert fit.facts["dropout"] == 0.1


def test_without_folds_the_first_setting_and_all_epochs_are_taken():
    observed = np.array([0, 1, -1])
    fit = fit_classifier(
        lambda setting, seed: Constant(np.zeros((3, 2))), observed, [],
        [Setting(0.3, 0.0), Setting(0.1, 0.0)], Context(Seed(0)), epochs=9, lr=0.01,
    )
    assert (fit.setting.dropout, fit.epochs, fit.held_out_loss) == (0.3, 9, None)


def test_training_stops_where_the_held_out_loss_was_lowest():
    """All labels are alike in training and otherwise in the fold: every step makes it worse."""
    observed = np.array([0, 0, 0, 0, 1, 1])
    fit = fit_classifier(
        lambda setting, seed: Constant(np.zeros((6, 2))), observed, [np.array([4, 5])],
        [Setting(0.0, 0.0)], Context(Seed(0)), epochs=50, lr=0.1,
    )
    assert fit.epochs == 5


def test_the_choice_and_the_loss_curve_are_recorded():
    graph = GRAPHS["two_communities"]()
    progress = RecordingProgress()
    result = Gcn(epochs=20, hidden=16, folds=2).infer(
        Release(graph), make_threats(graph).attribute, Context(Seed(0), progress=progress)
    )
    assert set(result.facts) == {
        "dropout", "weight_decay", "epochs", "cross_validated_log_loss",
    }
    assert len(progress.curves["loss"]) == result.facts["epochs"]
