"""Node vectors trained on links with edge-level privacy: Poisson samples, clipped, noisy.

A training example is one link (i, j), and its gradient touches the vectors of i and j only. No
aggregation over neighbours takes part, so that adding or removing a link changes the sum of
clipped gradients by at most the clip, whatever else the graph holds (Abadi et al., CCS 2016).
Non-links are drawn independently of the graph and spend no budget.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch

from core.context import Context
from core.graph import Graph
from core.models.adam import Adam
from core.models.synthesis.deep_pagerank import Noise

CLIP = 1.0
"""Largest norm of one link's gradient."""

CANDIDATES = 8
"""Nodes among which the adversarial generator chooses a partner."""


@dataclass(frozen=True)
class LinkSgd:
    """steps, rate (chance of a link to be in a step's sample), noise, learning rate"""

    steps: int
    rate: float
    noise: Noise
    lr: float
    dimensions: int


def compute_link_gradients(
    left: torch.Tensor, right: torch.Tensor, target: float
) -> tuple[torch.Tensor, torch.Tensor]:
    """Gradients (k, r) of the cross-entropy of σ(l · r) with `target`, for either end."""
    error = torch.sigmoid((left * right).sum(dim=1, keepdim=True)) - target
    return error * right, error * left


def clip_jointly(*parts: torch.Tensor) -> list[torch.Tensor]:
    """Parts (k, ·) of k examples' gradients, scaled so that each example's norm is ≤ CLIP."""
    norms = torch.cat(parts, dim=1).norm(dim=1, keepdim=True)
    scale = (CLIP / norms.clamp_min(1e-12)).clamp_max(1.0)
    return [part * scale for part in parts]


class PrivateSteps:
    """Link samples, sums over end nodes and noise, shared by both models."""

    def __init__(self, graph: Graph, plan: LinkSgd, context: Context) -> None:
        self.graph, self.plan, self.context = graph, plan, context
        self.device = context.device.torch_name
        self.num_nodes = graph.num_nodes
        self._rng = context.rng("samples")

    def draw_links(self) -> torch.Tensor:
        """(k, 2) Poisson sample of the links, in random direction."""
        links = self.graph.edges[self._rng.random(self.graph.num_edges) < self.plan.rate]
        return self._orient(links)

    def draw_pairs(self, count: int) -> torch.Tensor:
        """(count, 2) pairs of different nodes, drawn without the graph."""
        first = self._rng.integers(0, self.num_nodes, count)
        step = self._rng.integers(1, self.num_nodes, count)
        return torch.from_numpy(np.stack([first, (first + step) % self.num_nodes], 1)).to(
            self.device
        )

    def sum_over_ends(self, ends: torch.Tensor, *parts: torch.Tensor) -> torch.Tensor:
        """(n, r) sum of parts[e] (k, r) at node ends[:, e]."""
        total = torch.zeros(self.num_nodes, parts[0].shape[1], device=self.device)
        for column, part in enumerate(parts):
            total.index_add_(0, ends[:, column], part)
        return total

    def add_noise(self, total: torch.Tensor) -> torch.Tensor:
        """Add noise to a sum of clipped gradients."""
        return total + self.plan.noise.draw_for(total, CLIP)

    def run(self, step: Callable[[int], None], message: str) -> None:
        """Call `step` as often as planned and report progress."""
        for number in range(self.plan.steps):
            step(number)
            self.context.progress.update(number + 1, self.plan.steps, message)

    def _orient(self, links: np.ndarray) -> torch.Tensor:
        inverted = np.where(self._rng.random((len(links), 1)) < 0.5, links, links[:, ::-1])
        return torch.from_numpy(np.ascontiguousarray(inverted)).to(self.device)


def make_vectors(
    num_nodes: int, plan: LinkSgd, context: Context, purpose: str
) -> torch.nn.Parameter:
    """(n, d) small random vectors to be trained."""
    start = torch.randn(num_nodes, plan.dimensions, generator=context.seed.torch(purpose))
    return torch.nn.Parameter(start.to(context.device.torch_name) / plan.dimensions**0.25)


def train_vae(graph: Graph, plan: LinkSgd, negatives: int, context: Context) -> np.ndarray:
    """Means (n, r) of variational node vectors whose inner products explain the links.

    Loss of a pair: cross-entropy at a sample z = μ + e^s ⊙ ξ; of a node: KL(N(μ, e^2s) ‖ N(0, I))
    over the steps (Kipf and Welling, 2016b). The KL term does not depend on links and needs no
    noise.
    negatives  pairs drawn as non-links in each step
    """
    steps = PrivateSteps(graph, plan, context)
    means = make_vectors(graph.num_nodes, plan, context, "means")
    spreads = torch.nn.Parameter(torch.full_like(means, -1.0))
    optimizer = Adam([means, spreads], lr=plan.lr)
    draws = context.seed.torch("latent", device=steps.device)

    def collect(ends: torch.Tensor, target: float) -> tuple[torch.Tensor, torch.Tensor]:
        shape = (2, len(ends), plan.dimensions)
        noise = torch.randn(shape, generator=draws, device=steps.device)
        (i, j), spread = ends.T, torch.exp(spreads)
        shift = noise[0] * spread[i], noise[1] * spread[j]
        at_i, at_j = compute_link_gradients(means[i] + shift[0], means[j] + shift[1], target)
        parts = clip_jointly(at_i, at_j, at_i * shift[0], at_j * shift[1])
        return steps.sum_over_ends(ends, *parts[:2]), steps.sum_over_ends(ends, *parts[2:])

    @torch.no_grad()
    def update(step: int) -> None:
        positive = collect(steps.draw_links(), 1.0)
        negative = collect(steps.draw_pairs(negatives), 0.0)
        prior = means / plan.steps, (torch.exp(2 * spreads) - 1) / plan.steps
        for parameter, link_sum, non_link_sum, prior_gradient in zip(
            (means, spreads), positive, negative, prior, strict=True
        ):
            parameter.grad = steps.add_noise(link_sum) + non_link_sum + prior_gradient
        optimizer.step()

    steps.run(update, "private variational auto-encoder")
    return means.detach().cpu().numpy()


def train_gan(graph: Graph, plan: LinkSgd, negatives: int, context: Context) -> np.ndarray:
    """Generator vectors (n, r), trained against a private discriminator of pairs.

    The discriminator's vectors d separate links from the generator's pairs by σ(d_i · d_j); only
    they are trained on links. The generator draws j for i with p ∝ e^(g_i · g_j) among
    `CANDIDATES` random nodes and learns by policy gradient with reward d_i · d_j (GraphGAN: Wang
    et al., AAAI 2018), which is post-processing.
    """
    steps = PrivateSteps(graph, plan, context)
    discriminator = make_vectors(graph.num_nodes, plan, context, "discriminator")
    generator = make_vectors(graph.num_nodes, plan, context, "generator")
    optimizers = [Adam([vectors], lr=plan.lr) for vectors in (discriminator, generator)]
    draws = context.seed.torch("generated", device=steps.device)

    def generate() -> tuple[torch.Tensor, torch.Tensor]:
        """Pairs (negatives, 2) and their log-probabilities."""
        pool = steps.draw_pairs(negatives * CANDIDATES).view(negatives, CANDIDATES, 2)
        start = pool[:, 0, 0]
        others = torch.where(pool[:, :, 1] == start[:, None], pool[:, :1, 1], pool[:, :, 1])
        logits = (generator[start][:, None] * generator[others]).sum(dim=2)
        chosen = torch.multinomial(torch.softmax(logits.detach(), 1), 1, generator=draws)
        ends = torch.stack([start, others.gather(1, chosen)[:, 0]], dim=1)
        return ends, torch.log_softmax(logits, 1).gather(1, chosen)[:, 0]

    def collect(pairs: torch.Tensor, target: float) -> torch.Tensor:
        left, right = discriminator[pairs[:, 0]], discriminator[pairs[:, 1]]
        return steps.sum_over_ends(
            pairs, *clip_jointly(*compute_link_gradients(left, right, target))
        )

    def update(step: int) -> None:
        ends, log_chance = generate()
        with torch.no_grad():
            discriminator.grad = steps.add_noise(collect(steps.draw_links(), 1.0)) + collect(
                ends, 0.0
            )
            reward = (discriminator[ends[:, 0]] * discriminator[ends[:, 1]]).sum(dim=1)
            reward -= reward.mean()
        optimizers[0].step()
        optimizers[1].zero_grad()
        (-(reward * log_chance).mean()).backward()
        optimizers[1].step()

    steps.run(update, "private adversarial training")
    return generator.detach().cpu().numpy()
