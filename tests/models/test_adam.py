import subprocess
import sys

import pytest
import torch

from core.models.adam import Adam


@pytest.mark.parametrize("decoupled", [False, True])
def test_the_same_as_torchs_to_the_last_bit(decoupled):
    kind = torch.optim.AdamW if decoupled else torch.optim.Adam
    draws = torch.Generator().manual_seed(0)
    first = [torch.randn(5, 3, generator=draws), torch.randn((), generator=draws)]
    ours, theirs = ([part.clone().requires_grad_() for part in first] for _ in range(2))
    adam = Adam(ours, 0.05, 0.01, decoupled=decoupled)
    oracle = kind(theirs, lr=0.05, weight_decay=0.01, fused=True)
    for step in range(20):
        adam.lr = oracle.param_groups[0]["lr"] = 0.05 * (1 - step / 20)
        for parts, optimizer in ((ours, adam), (theirs, oracle)):
            optimizer.zero_grad()
            loss = (parts[0] - 1).pow(2).sum()
            if step % 3:  # the second parameter has no gradient in every third step
                loss = loss + (parts[0].sum() * parts[1]).sin()
            loss.backward()
            optimizer.step()
    for one, other, start in zip(ours, theirs, first, strict=True):
        assert torch.equal(one, other)
        assert not torch.equal(one, start)


def test_a_training_does_not_import_torchs_compiler():
    code = """
import sys, torch
from core.models.training import train
weight = torch.nn.Parameter(torch.ones(3))
train([weight], lambda _epoch: weight.square().sum(), epochs=2, lr=0.1)
print("torch._dynamo" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
