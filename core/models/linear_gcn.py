"""Linearised two-layer GCN, Â²XW: the classifier whose scores NetFense and Nettack compute."""

from __future__ import annotations

import numpy as np
import torch
from scipy import sparse

from core.context import Context
from core.graph import MISSING, Graph
from core.models.encoders import Dropout, Linear
from core.models.propagation import Propagation
from core.models.training import train

HIDDEN, EPOCHS, LR, WEIGHT_DECAY, DROPOUT = 16, 200, 0.01, 5e-4, 0.5


def fit_linear_gcn(
    graph: Graph, features: np.ndarray | sparse.csr_array, observed: np.ndarray,
    num_classes: int, context: Context, message: str,
) -> np.ndarray:
    """W (d, C) float64 = W₁W₂ of a GCN without its nonlinearity, trained on the known nodes.

    observed (n,) codes, −1 where unknown. Sizes as in NetFense §5.1; the linear form as in
    Nettack (Zügner, Akbarnejad and Günnemann, KDD 2018, §4.1).
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
    known = torch.from_numpy(np.flatnonzero(observed != MISSING)).to(device)
    truth = torch.from_numpy(observed[observed != MISSING]).to(device)

    def compute_loss(_epoch: int) -> torch.Tensor:
        logits = propagate(second(dropout(propagate(first(inputs)))))
        return torch.nn.functional.cross_entropy(logits[known], truth)

    train(
        [*first.parameters(), *second.parameters()], compute_loss, epochs=EPOCHS, lr=LR,
        weight_decay=WEIGHT_DECAY, progress=context.progress, message=message,
    )
    return (first.weight.detach().double() @ second.weight.detach().double()).cpu().numpy()
