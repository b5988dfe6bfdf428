"""Linearised two-layer GCN, Â²XW: the classifier whose scores NetFense and Nettack compute."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from scipy import sparse

from core.context import Context
from core.graph import MISSING, Graph
from core.models.encoders import Dropout, Linear
from core.models.propagation import Propagation
from core.models.training import train
from core.models.tuning import draw_folds

CHECK_EVERY = 5
"""Epochs between two looks at the held-out loss."""

MIN_TO_HOLD_OUT = 50
"""Known nodes from which on a fifth is held out; fewer are all needed for training."""

HIDDEN, EPOCHS, LR, WEIGHT_DECAY, DROPOUT = 16, 200, 0.01, 5e-4, 0.5


def fit_linear_gcn(
    graph: Graph,
    features: np.ndarray | sparse.csr_array,
    observed: np.ndarray,
    num_classes: int,
    context: Context,
    message: str,
) -> np.ndarray:
    """W (d, C) float64 = W₁W₂ of a GCN without its nonlinearity, trained on the known nodes.

    A fifth of them is held out, and the weights with the lowest loss there are kept: margins of
    an overfitted classifier say little about those of the attacker's. observed (n,) codes, −1
    where unknown. Sizes as in NetFense §5.1; the linear form as in Nettack (Zügner, Akbarnejad
    and Günnemann, KDD 2018, §4.1).
    """
    device = context.device.torch_name
    propagate = Propagation.of_graph(graph, "symmetric", True, device)
    inputs: torch.Tensor | Propagation
    if isinstance(features, np.ndarray):
        inputs = torch.from_numpy(features.astype(np.float32)).to(device)
    else:
        inputs = Propagation(sparse.csr_array(features), False, device)
    generator = context.seed.torch("init")
    first = Linear(features.shape[1], HIDDEN, generator, bias=False).to(device)
    second = Linear(HIDDEN, num_classes, generator, bias=False).to(device)
    dropout = Dropout(DROPOUT, context.seed)
    rest, held_out = _hold_out(observed, context)
    known, truth = _select(rest, observed, device)
    others, answers = _select(held_out, observed, device)
    best: list[Any] = [np.inf, None]

    def compute_loss(_epoch: int) -> torch.Tensor:
        logits = propagate(second(dropout(propagate(first(inputs)))))
        return torch.nn.functional.cross_entropy(logits[known], truth)

    def look(epoch: int) -> None:
        if len(others) and epoch % CHECK_EVERY == 0:
            with torch.no_grad():
                logits = propagate(second(propagate(first(inputs))))
                loss = float(torch.nn.functional.cross_entropy(logits[others], answers))
            if loss < best[0]:
                best[:] = loss, _multiply(first, second)

    train(
        [*first.parameters(), *second.parameters()],
        compute_loss,
        epochs=EPOCHS,
        lr=LR,
        weight_decay=WEIGHT_DECAY,
        progress=context.progress,
        message=message,
        after_epoch=look,
    )
    return _multiply(first, second) if best[1] is None else best[1]


def _hold_out(observed: np.ndarray, context: Context) -> tuple[np.ndarray, np.ndarray]:
    """Known nodes to train on and to stop by; no node to stop by where few are known."""
    known = np.flatnonzero(observed != MISSING)
    if len(known) < MIN_TO_HOLD_OUT:
        return known, known[:0]
    fold = draw_folds(observed, 5, context.rng("folds"))[0]
    return np.setdiff1d(known, fold), fold


def _select(
    nodes: np.ndarray, observed: np.ndarray, device: str
) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.from_numpy(nodes).to(device), torch.from_numpy(observed[nodes]).to(device)


def _multiply(first: Linear, second: Linear) -> np.ndarray:
    product = first.weight.detach().double() @ second.weight.detach().double()
    return np.asarray(product.cpu().numpy())
