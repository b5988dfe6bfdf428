"""Every method that trains gives usable results on a CUDA device, close to the CPU's."""

from __future__ import annotations

import numpy as np
import pytest

from core.context import Context
from core.device import cpu_device, find_device
from core.measures.ranking import compute_auc
from core.registry import list_methods
from core.release import Release
from core.seeding import Seed
from tests.contract.test_methods import quick
from tests.oracles.graphs import make_threats, two_communities

TRAINED = [method for method in list_methods() if method.info.uses_gpu]


def run(method, device):
    """Scores that separate the truth where they are high, or a release's share of links kept."""
    graph = two_communities(60)
    threats = make_threats(graph)
    context = Context(Seed(3), device=device)
    configured = quick(method)
    if method.kind == "defense":
        release = configured.publish(threats.visible, threats, context)
        return release.graph.num_edges / threats.visible.num_edges
    release = Release(threats.visible)
    if method.kind == "link_attack":
        scores = configured.score(release, threats.link, context).scores
        return compute_auc(scores, threats.link.truth)[0]
    probabilities = configured.infer(release, threats.attribute, context).probabilities
    hidden = threats.attribute.hidden
    assert np.isfinite(probabilities).all()
    return compute_auc(probabilities[hidden, 1], threats.attribute.attribute.codes[hidden] == 1)[0]


@pytest.mark.gpu
@pytest.mark.parametrize("method", TRAINED, ids=lambda m: m.info.key)
def test_a_trained_method_runs_on_cuda_and_agrees_with_the_cpu(method):
    device = find_device()
    assert device.is_gpu
    # Other generators, so other draws: the agreement is one of quality, not of digits.
    assert run(method, device) == pytest.approx(run(method, cpu_device()), abs=0.35)


@pytest.mark.gpu
def test_the_memory_budget_is_that_of_the_gpu():
    import torch

    from core.device import compute_memory_budget

    free, _total = torch.cuda.mem_get_info(0)
    assert compute_memory_budget(find_device()) == pytest.approx(free / 4, rel=0.2)
