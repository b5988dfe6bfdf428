"""Gaussian noise: its law in arrays and tensors, and a cipher behind it in publishing runs."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
import pytest
import torch
from scipy import stats

from core.context import Context
from core.privacy.budget import GaussianNoise
from core.seeding import Seed

RUNS = [Context(Seed(3)), Context(Seed.from_entropy(), is_publishing=True)]


@pytest.mark.parametrize("context", RUNS, ids=["audit", "publishing"])
@pytest.mark.parametrize(
    "values", [np.zeros((60, 50)), torch.zeros(60, 50)], ids=["array", "torch"]
)
def test_noise_is_normal_with_multiplier_times_sensitivity(context, values):
    noise = GaussianNoise(2.5, context)
    first, second = (np.asarray(noise.draw_for(values, 3.0)) for _ in range(2))
    assert first.shape == (60, 50)
    assert (first != second).any()
    assert stats.kstest(first.ravel(), stats.norm(scale=7.5).cdf).pvalue > 1e-4


def test_publishing_never_asks_torch_for_noise():
    with patch.object(torch, "randn", side_effect=AssertionError("32 bits")):
        GaussianNoise(1.0, RUNS[1]).draw_for(torch.zeros(3), 1.0)
