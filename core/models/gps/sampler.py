"""Learnable graph sampling (GPS §5): keep probabilities of links, and their training losses.

Yuan et al., "Unveiling Privacy Vulnerabilities: Investigating the Role of Structure in Graph
Data", KDD 2024.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch

from core.graph import Graph
from core.models.adam import Adam
from core.models.encoders import Block, Encoder, Inputs, Linear, num_columns
from core.models.gps.attacker import GpsModel, GpsSettings, mix
from core.models.gps.ego import describe_roles
from core.models.gps.relaxed_ego import RelaxedBlock, RelaxedEgos, find_entry_slots, link_strengths
from core.models.pair_matrix import PairMatrix
from core.seeding import Seed

ENCODER_SIZE, MLP_SIZE = 64, 32
START_LOGIT = 1.0
"""Initial keep probability of about 73 %."""


class Sampler(torch.nn.Module):
    """GraphSAGE on the original graph and an MLP on both ends of a link (Eq. 10, 11)."""

    def __init__(self, graph: Graph, inputs: Inputs, seed: Seed, device: str) -> None:
        super().__init__()
        generator = seed.torch("mlp")
        sizes = [num_columns(inputs), ENCODER_SIZE, ENCODER_SIZE]
        self.encoder = Encoder("sage", sizes, seed.child("encoder"))
        self.first = Linear(ENCODER_SIZE, MLP_SIZE, generator)
        self.second = Linear(ENCODER_SIZE, MLP_SIZE, generator, bias=False)
        self.out = Linear(MLP_SIZE, 1, generator)
        with torch.no_grad():
            self.out.bias.fill_(START_LOGIT)  # type: ignore[union-attr]
        self._inputs, self._block = inputs, Block.of_graph(graph, "sage", device)
        ends = torch.from_numpy(graph.edges.copy()).to(device)
        self._left, self._right = ends[:, 0], ends[:, 1]

    def forward(self) -> torch.Tensor:
        """(m,) logits of T: the mean over both orders of the ends, hence symmetric."""
        h = torch.relu(self.encoder(self._inputs, self._block))
        # Without a common scale the MLP saturates within a few steps: all links or none.
        h = (h - h.mean(dim=0)) / (h.std(dim=0) + 1e-3)
        a, b = self.first(h), self.second(h)
        forward_scores = self.out(torch.relu(a[self._left] + b[self._right]))
        backward_scores = self.out(torch.relu(a[self._right] + b[self._left]))
        scores: torch.Tensor = 0.5 * (forward_scores + backward_scores).squeeze(1)
        return scores


def draw_relaxed(
    logits: torch.Tensor, temperature: float, generator: torch.Generator
) -> torch.Tensor:
    """(m,) relaxed Bernoulli draws (Maddison et al., 2017), one per link for both directions.

    σ((log U − log(1−U) + log T − log(1−T)) / temperature): the paper's formula leaves out the
    last logarithm, without which the draw does not tend to Bernoulli(T).
    """
    u = torch.rand(logits.shape, generator=generator, device=logits.device)
    u = u.clamp(1e-6, 1 - 1e-6)
    return torch.sigmoid((torch.log(u) - torch.log1p(-u) + logits) / temperature)


class RatioGap:
    """L_dis (Eq. 15) on a relaxed graph, with the expectation taken over uncertain labels.

    beliefs  (n, C) one-hot where the label is known, a guess elsewhere
    prior    (C,) P̂(Z = c)

    For node i, Σ_c belief_ic (|prox_ic − prior_c| + |role_ic − prior_c|), where prox_ic is the
    share of class c among its neighbours and role_ic among the nodes whose soft degree is
    within `tolerance` of its own, with a soft border. One observation of the prior is added to
    each set, so that a node without neighbours adds no gap. In larger graphs the role part is
    the mean over `MAX_NODES` nodes and `MAX_PEERS` peers drawn anew each step.
    """

    MAX_NODES, MAX_PEERS = 4096, 1024

    def __init__(
        self,
        matrix: PairMatrix,
        beliefs: torch.Tensor,
        prior: torch.Tensor,
        tolerance: float,
        rng: np.random.Generator,
    ) -> None:
        self._matrix, self._beliefs, self._prior = matrix, beliefs, prior
        self._tolerance, self._rng = tolerance, rng

    def __call__(self, weights: torch.Tensor) -> torch.Tensor:
        """The mean over all nodes, for link weights (m,)."""
        beliefs, n = self._beliefs, self._matrix.num_nodes
        values = torch.cat([weights, weights.new_zeros(n)])
        with_degrees = torch.cat([beliefs, beliefs.new_ones(n, 1)], dim=1)
        counted = self._matrix.matmul(values, with_degrees)
        counts, degrees = counted[:, :-1], counted[:, -1]
        nodes, peers = self._sample(self.MAX_NODES), self._sample(self.MAX_PEERS)
        border = max(self._tolerance / 4.0, 0.5)
        distance = (degrees[nodes, None] - degrees[None, peers]).abs()
        closeness = torch.sigmoid((self._tolerance + 0.5 - distance) / border)
        closeness = closeness * (nodes[:, None] != peers)
        by_neighbors = (beliefs * self._gap(counts, degrees)).sum(dim=1).mean()
        by_role = self._gap(closeness @ beliefs[peers], closeness.sum(dim=1))
        return by_neighbors + (beliefs[nodes] * by_role).sum(dim=1).mean()

    def _sample(self, limit: int) -> torch.Tensor:
        """All nodes, or `limit` of them without replacement."""
        n = self._matrix.num_nodes
        chosen = np.arange(n) if n <= limit else self._rng.choice(n, limit, replace=False)
        return torch.from_numpy(chosen).to(self._beliefs.device)

    def _gap(self, counts: torch.Tensor, totals: torch.Tensor) -> torch.Tensor:
        return ((counts + self._prior) / (totals[:, None] + 1.0) - self._prior).abs()


class RelaxedAttacker:
    """The GPS attack on relaxed graphs: `fit` takes training steps, `compute_loss` evaluates.

    The layers are those of `GpsAttacker`; a test compares the forward passes. It trains on
    beliefs of all nodes rather than on the known nodes alone: a stronger attacker than the real
    one, and far less noisy with few known values. Each step uses `batch` random nodes.
    """

    def __init__(
        self,
        graph: Graph,
        inputs: Inputs,
        beliefs: torch.Tensor,
        prior: torch.Tensor,
        settings: GpsSettings,
        lr: float,
        batch: int,
        seed: Seed,
        device: str,
    ) -> None:
        self.model = GpsModel(
            inputs, graph.features is not None, beliefs.shape[1], settings, seed
        ).to(device)
        self._graph, self._inputs, self._backbone = graph, inputs, settings.backbone
        self._role_inputs = inputs if graph.features is not None else None
        self._beliefs, self._prior, self._device = beliefs, prior, device
        self._matrix = PairMatrix(graph.num_nodes, graph.edges, device)
        self._strength, self._floor = link_strengths(graph, device)
        self._slots = find_entry_slots(graph)
        self._batch, self._rng = batch, seed.rng("batches")
        self._optimizer = Adam(self.model.parameters(), lr=lr, weight_decay=5e-4, decoupled=True)
        self.routing = torch.full((graph.num_nodes, 2), 0.5, device=device)

    def fit(
        self, draw: Callable[[], torch.Tensor], steps: int, report: Callable[[float], None]
    ) -> None:
        """`steps` steps of lower cross-entropy, each on a fresh draw (m,) of kept shares."""
        self.model.train().requires_grad_(True)
        for _ in range(steps):
            self._optimizer.zero_grad()
            nodes = self._draw_nodes()
            scores = self.score(draw().detach(), nodes)
            loss = -(self._beliefs[nodes] * scores).sum(dim=1).mean()
            loss.backward()
            self._optimizer.step()
            report(float(loss.detach()))

    def compute_loss(self, kept: torch.Tensor) -> torch.Tensor:
        """L_adv: cross-entropy of the attack, at most that of the prior for each node.

        A loss above the prior's is not rewarded, since confident errors leak by inversion.
        Without the bound the sampler and the attacker oscillate.
        """
        self.model.eval().requires_grad_(False)
        nodes = self._draw_nodes()
        bounded = torch.maximum(self.score(kept, nodes), torch.log(self._prior))
        return -(self._beliefs[nodes] * bounded).sum(dim=1).mean()

    def score(self, kept: torch.Tensor, nodes: np.ndarray) -> torch.Tensor:
        """Log-probabilities (k, C) of the attack for `nodes` (k,), links kept with shares (m,)."""
        block = RelaxedBlock(self._matrix, self._strength * kept, self._backbone, floor=self._floor)
        h = torch.relu(self.model.proximity(self._inputs, block))
        proximity = self.model.proximity_head(h)[nodes]
        egos = RelaxedEgos(self._graph, nodes, self._slots, self._device)
        blocks = egos.make_blocks(kept, self._backbone)
        features = self._compute_role_features(kept)
        role = self.model.role_head(self.model.role(self._role_inputs, features, blocks))
        return mix(proximity, role, self.routing[nodes])

    def _draw_nodes(self) -> np.ndarray:
        count = min(self._batch, self._graph.num_nodes)
        return np.sort(self._rng.choice(self._graph.num_nodes, count, replace=False))

    def _compute_role_features(self, kept: torch.Tensor) -> torch.Tensor:
        """(n, 2) standardised degree and overlap. The degree follows the shares; the overlap is
        that of the links kept by more than half, without a gradient."""
        n, degrees = self._graph.num_nodes, self._matrix.sum_at_ends(kept)
        is_kept = (kept.detach() > 0.5).cpu().numpy()[self._slots]
        adjacency = self._graph.adjacency
        ends = np.append(0, np.cumsum(is_kept))[adjacency.indptr]
        drawn = describe_roles(ends, adjacency.indices[is_kept])
        overlap = torch.from_numpy(drawn[:, 1]).to(kept)
        # 0.5 / n is below the smallest positive variance of integer degrees.
        return torch.stack([_standardize(degrees, 0.5 / n), _standardize(overlap, 1e-12)], dim=1)


def _standardize(column: torch.Tensor, min_variance: float) -> torch.Tensor:
    """Mean 0 and variance 1; `min_variance` bounds the divisor, and so the gradients."""
    return (column - column.mean()) / column.var(correction=0).clamp_min(min_variance).sqrt()
