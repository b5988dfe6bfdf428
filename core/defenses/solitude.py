"""Solitude: randomised response, and a sparser graph learned from it together with a GNN."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import numpy as np
from pydantic import Field

from core.context import Context
from core.defenses.budgeted import LinkLocalDefense
from core.defenses.randomized_response import RandomizedResponse
from core.graph import Graph
from core.methods import MethodInfo
from core.release import Release
from core.threats import Threats

HIDDEN, STEP = 16, 0.01


class Solitude(LinkLocalDefense):
    """Minimises L(Â|θ) + λ₁‖Â − Ã‖_F + λ₂‖Â‖₁ over Â and a GCN θ in turn (Blink Eq. 10).

    Ã holds the reports received by randomised response; Â has the same support, in [0, 1]. The
    ‖Â‖₁ term is a proximal step, so that links do reach zero. L is the loss on the known labels
    of the utility column; without one only the two penalties act. Everything after the reports
    is post-processing, so the guarantee is randomised response's.
    """

    info: ClassVar[MethodInfo] = MethodInfo(
        key="solitude",
        title="Solitude",
        summary="Noisy lists, from which the server learns a sparser graph as it trains.",
        source="Lin, Li and Wang, Towards private learning on decentralized graphs, TIFS 2022",
        group="link-local DP",
        cost="seconds",
        uses_gpu=True,
    )
    closeness: float = Field(
        0.01, ge=0, title="λ₁", description="Weight of staying close to what was received."
    )
    sparsity: float = Field(
        0.01, ge=0, title="λ₂", description="How much each round shrinks every link."
    )
    rounds: int = Field(
        60, ge=1, le=2000, title="Rounds", description="Alternations of graph and GCN steps."
    )

    def publish(self, graph: Graph, threats: Threats, context: Context) -> Release:
        response = RandomizedResponse(epsilon=self.epsilon)
        reported = response.publish(graph, threats, context.child("reports"))
        received = reported.graph
        weights = self._learn_weights(received, threats, context)
        keep = weights > 0
        published = replace(received, edges=received.edges[keep], weights=weights[keep])
        accountant = "randomised response; the rest post-processes it"
        guarantee = replace(reported.guarantee, accountant=accountant)
        return self.build_release(published, guarantee)

    def _learn_weights(self, received: Graph, threats: Threats, context: Context) -> np.ndarray:
        """(m̃,) learned weights of the received links."""
        import torch

        from core.models.adam import Adam
        from core.models.encoders import Linear
        from core.models.pair_matrix import PairMatrix
        from core.models.surrogate import NodeInputs

        device = context.device.torch_name
        inputs = NodeInputs(received, device)
        matrix = PairMatrix(received.num_nodes, received.edges, device)
        target = torch.from_numpy(np.array(received.weights, dtype=np.float32)).to(device)
        weights = target.clone().requires_grad_()
        label = threats.utility
        classes = label.num_classes if label is not None else 1
        generator = context.seed.torch("init")
        first = Linear(inputs.size, HIDDEN, generator, bias=False).to(device)
        second = Linear(HIDDEN, classes, generator).to(device)
        optimizer = Adam([*first.parameters(), *second.parameters()], lr=0.01)
        if label is not None:
            known = torch.from_numpy(np.flatnonzero(label.known)).to(device)
            truth = torch.from_numpy(label.observed[label.known]).to(device)
        for done in range(self.rounds):
            optimizer.zero_grad()
            weights.grad = None
            loss = self.closeness * torch.linalg.vector_norm(weights - target)
            if label is not None:
                values = matrix.normalize(weights)
                hidden = torch.relu(matrix.matmul(values, inputs.project(first.weight)))
                scores = matrix.matmul(values, second(hidden))
                loss = loss + torch.nn.functional.cross_entropy(scores[known], truth)
            loss.backward()
            optimizer.step()
            with torch.no_grad():
                # A sign step for the graph: gradients of single links are tiny and uneven.
                assert weights.grad is not None
                step = weights - STEP * torch.sign(weights.grad) - self.sparsity
                weights.copy_(step.clamp_(0.0, 1.0))
            context.progress.record("loss", done, float(loss.detach()))
            context.progress.update(done + 1, self.rounds, "learning a sparser graph")
        return weights.detach().cpu().numpy()
