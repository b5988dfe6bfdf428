"""Deep PageRank (Zhang et al., PrivDPR, KDD 2025, §4): node vectors trained to rank by links.

f(v) is a network on the node's vector, with a sigmoid after each layer and every weight scaled
to spectral norm 1/s. That bounds the gradient of each pair's loss (Theorem 4.2), so that noise
on the gradient of the vectors alone makes them private: the weights are never published, and the
bound holds for any weights.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch

from core.algorithms.walks import STOP, make_state, walk
from core.context import Context
from core.graph import Graph
from core.models.adam import Adam

SIGMOID_SLOPE = 0.25
"""Largest derivative of the sigmoid. Lemma 4.3 bounds it by 1; the noise need not."""

_ROUNDING = 1.0 + 1e-4
"""Safety factor below 1/s, so that float32 rounding never exceeds the bound."""


class Noise(Protocol):
    """multiplier  standard deviation over sensitivity, in every step"""

    multiplier: float

    def draw_for(self, values: torch.Tensor, sensitivity: float) -> torch.Tensor:
        """Noise to be added to sums that one unit changes by ≤ `sensitivity` in ℓ₂ norm."""


class NoNoise:
    """Zero noise, for training without privacy."""

    multiplier = 0.0

    def draw_for(self, values: torch.Tensor, sensitivity: float) -> torch.Tensor:
        """Zeros in the shape of `values`."""
        return torch.zeros_like(values)


def compute_pair_bound(num_nodes: int, damping: float) -> float:
    """M of Lemma 4.4: ‖∂loss/∂V‖ of a pair is at most M Π‖W_l‖₂."""
    n, gamma = num_nodes, damping
    coefficient = 2 * (n - 1) * gamma**2 + 2 * gamma + 2 * gamma * (1 - gamma) / n
    return coefficient * (1 + 1 / gamma)


def compute_num_layers(
    num_nodes: int, damping: float, pairs: int, steps: int, sensitivity: float, scale: float
) -> int:
    """Least number L ≥ 1 of hidden layers with B M s^−(L+1) ≤ S/T (Eq. 13).

    pairs B in a batch, steps T, sensitivity S, scale s > 1.
    """
    ratio = pairs * compute_pair_bound(num_nodes, damping) * steps / sensitivity
    return max(1, math.ceil(math.log(ratio) / math.log(scale) - 1 - 1e-12))


@dataclass(frozen=True)
class Plan:
    """All training parameters, independent of the graph except its number of nodes.

    walks of `walk_length` steps start at each of `batch` nodes, so `pairs` bounds a batch
    """

    num_nodes: int
    epochs: int
    batch: int
    walks: int
    walk_length: int
    damping: float
    sensitivity: float
    scale: float
    dimensions: int
    hidden: int
    lr: float = 1e-3

    @property
    def steps_per_epoch(self) -> int:
        return math.ceil(self.num_nodes / self.batch)

    @property
    def steps(self) -> int:
        return self.epochs * self.steps_per_epoch

    @property
    def pairs(self) -> int:
        return min(self.batch, self.num_nodes) * self.walks * self.walk_length

    @property
    def num_layers(self) -> int:
        return compute_num_layers(
            self.num_nodes, self.damping, self.pairs, self.steps, self.sensitivity, self.scale
        )

    @property
    def gradient_bound(self) -> float:
        """Largest norm of a batch's summed gradient."""
        slope = SIGMOID_SLOPE / self.scale
        pair = compute_pair_bound(self.num_nodes, self.damping) * slope ** (self.num_layers + 1)
        return self.pairs * pair

    @property
    def step_sensitivity(self) -> float:
        """Two batches of neighbouring graphs may share no pair: twice the bound on one."""
        return 2.0 * self.gradient_bound


class RankNetwork(torch.nn.Module):
    """f: vectors (k, r) ↦ (k,) in (0, 1), Eq. 4 with L hidden layers and no bias."""

    def __init__(self, plan: Plan, generator: torch.Generator) -> None:
        super().__init__()

        def draw(*shape: int) -> torch.nn.Parameter:
            return torch.nn.Parameter(torch.randn(*shape, generator=generator))

        width = plan.hidden
        self.scale = plan.scale
        self.first, self.last = draw(plan.dimensions, width), draw(width, 1)
        self.middle = draw(plan.num_layers - 1, width, width)

    @torch.no_grad()
    def normalize(self) -> None:
        """Scale every weight to spectral norm 1/s."""
        for weight in (self.first, self.middle, self.last):
            norms = torch.linalg.matrix_norm(weight, 2, keepdim=True)
            weight.div_(self.scale * _ROUNDING * norms.clamp_min(1e-30))

    def forward(self, vectors: torch.Tensor) -> torch.Tensor:
        x = torch.sigmoid(vectors @ self.first)
        for weight in self.middle:
            x = torch.sigmoid(x @ weight)
        return torch.sigmoid(x @ self.last)[:, 0]


def compute_pair_losses(
    ranks: torch.Tensor, ends: torch.Tensor, degrees: torch.Tensor, plan: Plan
) -> torch.Tensor:
    """(k,) losses of Eq. 5 for `ends` (k, 2); ranks (n,), degrees (n,) ≥ 1 at the ends."""
    (i, j), gamma, n = ends.T, plan.damping, plan.num_nodes
    degree_i, degree_j = degrees[i], degrees[j]
    gap = ranks[i] / degree_i - ranks[j] / (degree_j * gamma)
    return (
        degree_j * gamma**2 * gap**2
        + gap * 2 * gamma * (1 - gamma) / n
        + (1 - gamma) ** 2 / (degree_j * n**2)
    )


def train_vectors(
    graph: Graph, plan: Plan, noise: Noise, context: Context
) -> tuple[np.ndarray, dict[str, float]]:
    """Node vectors (n, r) float32, and the mean norms of clean gradient and noise.

    noise  has sensitivity `plan.step_sensitivity` a step; `NoNoise` trains without privacy

    The noisy gradient is divided by a public constant (without noise: by its own norm) before
    Adam, which is invariant to scale except for its constant of 1e-8, far above these numbers.
    Without links the gradient is zero.
    """
    device = context.device.torch_name
    seed = context.seed
    shape = plan.num_nodes, plan.dimensions
    start = torch.randn(shape, generator=seed.torch("vectors")) / math.sqrt(plan.dimensions)
    vectors = torch.nn.Parameter(start.to(device))
    network = RankNetwork(plan, seed.torch("network")).to(device)
    optimizer = Adam([vectors, *network.parameters()], lr=plan.lr)
    degrees = torch.from_numpy(graph.degrees.astype(np.float32)).to(device)
    deviation = noise.multiplier * plan.step_sensitivity
    state, norms = make_state(seed.child("walks")), []
    for step in range(plan.steps):
        batch = _list_nodes(plan, step, seed.rng("order", step // plan.steps_per_epoch))
        ends = torch.from_numpy(_draw_pairs(graph, batch, plan, state)).to(device)
        optimizer.zero_grad()
        network.normalize()
        if len(ends):
            nodes, indices = torch.unique(ends, return_inverse=True)
            ranks = network(vectors[nodes])
            loss = compute_pair_losses(ranks, indices, degrees[nodes], plan).sum()
            loss.backward()
            context.progress.record("deep_pagerank_loss", step, float(loss.detach()) / len(ends))
        clean = torch.zeros_like(vectors) if vectors.grad is None else vectors.grad
        added = noise.draw_for(clean, plan.step_sensitivity)
        # In float64: squares of gradients this small are 0 in float32.
        norms.append([float(part.double().norm()) for part in (clean, added)])
        unit = deviation or max(norms[-1][0] / math.sqrt(vectors.numel()), 1e-300)
        vectors.grad = ((clean.double() + added) / unit).float()
        optimizer.step()
        context.progress.update(step + 1, plan.steps, "deep PageRank")
    gradient, noise_norm = np.mean(norms, axis=0)
    facts = {"gradient_norm": float(gradient), "noise_norm": float(noise_norm)}
    return vectors.detach().cpu().numpy(), facts


def _list_nodes(plan: Plan, step: int, rng: np.random.Generator) -> np.ndarray:
    """Start nodes of a batch: each node once per epoch, in a data-independent order."""
    start = step % plan.steps_per_epoch * plan.batch
    return rng.permutation(plan.num_nodes)[start : start + plan.batch]


def _draw_pairs(graph: Graph, nodes: np.ndarray, plan: Plan, state: np.ndarray) -> np.ndarray:
    """(k, 2) consecutive nodes on random walks, k ≤ `plan.pairs`."""
    adjacency = graph.adjacency
    walks = walk(
        adjacency.indptr,
        adjacency.indices,
        np.empty(0),
        np.repeat(nodes, plan.walks),
        plan.walk_length + 1,
        1.0,
        1.0,
        state,
    )
    pairs = np.stack([walks[:, :-1].ravel(), walks[:, 1:].ravel()], axis=1)
    return np.asarray(pairs[(pairs != STOP).all(axis=1)])
