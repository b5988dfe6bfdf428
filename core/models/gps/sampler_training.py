"""Training of the link sampler against the GPS attack."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import Literal

import numpy as np
import torch

from core.algorithms.ghratio import choose_tolerance, compute_ghratios
from core.graph import Graph
from core.models.adam import Adam
from core.models.encoders import make_inputs
from core.models.gps.attacker import GpsSettings, compute_shares
from core.models.gps.ego import standardize_role_features
from core.models.gps.sampler import RatioGap, RelaxedAttacker, Sampler, draw_relaxed
from core.models.pair_matrix import PairMatrix
from core.node_column import MISSING
from core.seeding import Seed

Report = Callable[[str, int, float], None]
"""Callback with the name of a curve, a step and a value."""

CHECK_EVERY = 10
"""Sampler steps between two checkpoints."""

WARM_UP = 50
"""Attacker steps on the whole graph before the sampler starts."""


@dataclass(frozen=True)
class SamplerSettings:
    """gamma, eta, keep: weights of L_adv, L_dis and L_reg; the others as in the defense."""

    gamma: float
    eta: float
    keep: float
    epochs: int
    attacker_steps: int
    lr: float
    temperature: float
    batch: int
    backbone: Literal["gin", "gcn", "sage", "gat"] = "gcn"


class SamplerTrainer:
    """One graph with beliefs (n, C) about the private attribute; `run` trains one sampler."""

    def __init__(
        self,
        graph: Graph,
        observed: np.ndarray,
        beliefs: np.ndarray,
        prior: np.ndarray,
        settings: SamplerSettings,
        device: str,
    ) -> None:
        self.graph, self.settings, self.device = graph, settings, device
        self.codes = np.where(observed != MISSING, observed, beliefs.argmax(axis=1))
        self.beliefs = torch.from_numpy(beliefs.astype(np.float32)).to(device)
        self.prior = torch.from_numpy(prior.astype(np.float32)).to(device)
        self.tolerance = choose_tolerance(graph)
        self.matrix = PairMatrix(graph.num_nodes, graph.edges, device)
        self.inputs = make_inputs(graph, device)
        self.role_features = torch.from_numpy(standardize_role_features(graph)).to(device)

    def run(self, seed: Seed, report: Report) -> list[np.ndarray]:
        """Keep probabilities (m,) at the checkpoints of one training (Alg. 1).

        `report` gets curve, step and value.
        """
        s, generator = self.settings, seed.torch("draws", device=self.device)
        parts = (self.inputs,) if not isinstance(self.inputs, tuple) else self.inputs
        sampler = Sampler(
            self.graph, (*parts, self.beliefs, self.role_features), seed, self.device
        ).to(self.device)
        optimizer = Adam(sampler.parameters(), lr=s.lr, weight_decay=5e-4, decoupled=True)
        gap = RatioGap(self.matrix, self.beliefs, self.prior, self.tolerance, seed.rng("peers"))
        attacker = self._make_attacker(seed, report)
        states = []
        for epoch in range(s.epochs):
            logits = sampler()
            drawn = self._draw(logits, generator)
            keep_loss = -torch.nn.functional.logsigmoid(logits).mean()
            loss = s.keep * keep_loss
            if attacker is not None:
                attack_loss = attacker.compute_loss(drawn)
                loss = loss - s.gamma * attack_loss
                report("adversary's loss", epoch, float(attack_loss.detach()))
            if s.eta:
                ratio_loss = gap(drawn)
                loss = loss + s.eta * ratio_loss
                report("ratio gap", epoch, float(ratio_loss.detach()))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            report("sampler loss", epoch, float(loss.detach()))
            probability = torch.sigmoid(logits.detach())
            report("links kept", epoch, float(probability.mean()))
            if attacker is not None:
                draw = partial(self._draw, logits.detach(), generator)
                steps = count(epoch * s.attacker_steps)
                attacker.fit(draw, s.attacker_steps, partial(_report_loss, report, steps))
            if (epoch + 1) % CHECK_EVERY == 0 or epoch + 1 == s.epochs:
                states.append(probability.cpu().numpy())
                if attacker is not None:
                    attacker.routing = self._compute_routing(probability, generator)
        return states

    def _draw(self, logits: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
        """(m,) shares by which a relaxed draw keeps the links."""
        return draw_relaxed(logits, self.settings.temperature, generator)

    def _make_attacker(self, seed: Seed, report: Report) -> RelaxedAttacker | None:
        s = self.settings
        if not s.gamma:
            return None
        attacker = RelaxedAttacker(
            self.graph,
            self.inputs,
            self.beliefs,
            self.prior,
            GpsSettings(backbone=s.backbone, plain=True),
            s.lr,
            s.batch,
            seed.child("attacker"),
            self.device,
        )
        attacker.fit(
            lambda: torch.ones(self.graph.num_edges, device=self.device),
            min(WARM_UP, s.epochs * s.attacker_steps),
            partial(_report_loss, report, count(-WARM_UP)),
        )
        return attacker

    def _compute_routing(
        self, probability: torch.Tensor, generator: torch.Generator
    ) -> torch.Tensor:
        """(n, 2) shares of proximity and role on a draw (Eq. 4, 5)."""
        kept = torch.bernoulli(probability, generator=generator).bool().cpu().numpy()
        drawn = self.graph.with_edges(self.graph.edges[kept])
        ratios = compute_ghratios(drawn, self.codes, len(self.prior), self.tolerance)
        return torch.from_numpy(compute_shares(ratios.proximity, ratios.role)).to(self.device)


def _report_loss(report: Report, steps: Iterator[int], loss: float) -> None:
    """Report a step; those before the sampler's first one have negative numbers."""
    report("attacker's loss", next(steps), loss)


def compute_believed_auc(probabilities: np.ndarray, beliefs: np.ndarray) -> float:
    """Weighted one-against-rest AUC of scores (n, C) with a belief (n, C) as the truth.

    Each node counts as positive for class c with weight belief_c and as negative with the rest.
    Classes are weighted by their believed share. At least 0.5, since scores below chance can be
    inverted.
    """
    shares = beliefs.mean(axis=0)
    total = 0.0
    for c, share in enumerate(shares):
        order = np.argsort(probabilities[:, c], kind="stable")
        scores, positive, negative = (
            probabilities[order, c],
            beliefs[order, c],
            1.0 - beliefs[order, c],
        )
        _, group = np.unique(scores, return_inverse=True)
        positive_mass, negative_mass = np.bincount(group, positive), np.bincount(group, negative)
        below = np.cumsum(negative_mass) - negative_mass
        pairs = positive.sum() * negative.sum()
        wins = (positive_mass * (below + 0.5 * negative_mass)).sum()
        auc = wins / pairs if pairs > 0 else 0.5
        total += share * max(auc, 1.0 - auc)
    return float(total / shares.sum())
