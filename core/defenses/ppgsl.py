"""PPGSL: learns link weights against a surrogate attacker on the sensitive links."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np
from pydantic import Field

from core.attacks.link.feature_neighbourhood import weigh_features
from core.context import Context
from core.defenses.found_strength import FindsStrength, Target
from core.defenses.link_changes import sample_candidates
from core.graph import Graph
from core.methods import MethodInfo, Strength, Suggestion
from core.progress import RecordedCurves
from core.release import Release
from core.threats import Threats

if TYPE_CHECKING:
    import torch

    from core.models.pair_matrix import PairMatrix
    from core.models.surrogate import Surrogate

FGP_MAX_NODES = 3000
"""Largest graph for which all pairs are learned (4.5 million weights), beyond which it takes
hours."""

ADV_UPDATES = 8
"""Surrogate updates per learner step of the ADV protocol (the paper: 4,000 for 500)."""

MIN_WEIGHT = 0.01
"""Weighted releases omit weights below this share of the largest one."""


class Ppgsl(FindsStrength):
    """Wu et al.'s graph structure learning, with the secure iterative training protocol.

    The learner holds one weight w′ in [0, 1] for each link and each candidate. Every μ steps a
    fresh surrogate is trained on the weighted graph (Eq. 5); each step lowers
        Σ over E_s of CE(score, 0) + α ‖A − A′‖²_F        (Eq. 7–9)
    through the surrogate's propagation. Unweighted graphs publish a Bernoulli draw of A′.

    Differences from the paper, and choices that it leaves open:
    - The privacy loss is the sum over E_s, so that α is the price of a change in units of one
      sensitive link, whatever the size of the graph; as a mean, the same α would have to shrink
      with the number of sensitive links.
    - The distortion is that of the published graph. Where a draw is published its expectation
      is Σ |w − w′|, not Σ (w − w′)²: the square makes small changes of many weights cheap,
      which the draw turns into many random changes. `distortion = learned` is Eq. 8 as
      written; on a split of Cora (α = 0.01) it gave attack 0.594, link prediction 0.764 and F1
      0.727, the expectation 0.501, 0.791 and 0.737.
    - Weights are projected onto [0, 1] after each step instead of clamped inside the loss,
      where a weight beyond the bounds would never get a gradient again, and the learning rate
      falls linearly, since at a constant 0.5 Adam keeps weights of this range jumping.
    - The surrogate trains with dropout, as attackers do.

    An α too small pushes the sensitive links below other pairs, which leaks by inversion: the
    aim is an attack AUC of 0.5, not less.
    """

    info: ClassVar[MethodInfo] = MethodInfo(
        key="ppgsl",
        title="PPGSL",
        summary="Learns which links to drop and add so that a trained attacker misses.",
        source="Wu, Yang, Han, Wang and Wu, PPGSL, 2025, §III, Eq. 5–11",
        group="empirical",
        cost="minutes",
        uses_gpu=True,
    )
    suggestion: ClassVar[Suggestion | None] = Suggestion(
        2,
        ("links",),
        ("column", "links"),
        "learns a graph from which withheld links can hardly be inferred",
        is_learned=True,
    )
    acts_by: ClassVar[Strength | None] = Strength("alpha", 0.1, 0.003, is_log=True)
    alpha: float = Field(
        0.015,
        ge=0,
        le=10,
        title="Price of a change (α)",
        description="Smaller is more private and less useful; 0.01 to 0.05 spans the trade-off.",
    )
    target: Target = None
    k: float = Field(
        1.0,
        ge=0,
        le=50,
        title="Candidates per link (k)",
        description="Random pairs that may become links, per link; 0 only removes links.",
    )
    full: bool = Field(
        False,
        title="All pairs (FGP)",
        description=f"Learn every pair of nodes; for graphs up to {FGP_MAX_NODES:,} nodes.",
    )
    distortion: Literal["published", "learned"] = Field(
        "published",
        title="Distortion",
        description="Of the published graph, in expectation, or of the learned weights (Eq. 8); "
        "they differ where the release is drawn from the weights.",
    )
    protocol: Literal["sitp", "adv"] = Field(
        "sitp",
        title="Training protocol",
        description="sitp retrains a fresh attacker every μ steps, adv updates one all along.",
    )
    mu: int = Field(
        50,
        ge=1,
        le=10_000,
        title="Learner steps per surrogate (μ)",
        description="Smaller follows the attacker more closely and takes longer.",
    )
    steps: int = Field(500, ge=1, le=100_000, description="Learner steps in all.")
    lr: float = Field(0.5, gt=0, le=10, description="Learning rate of the weights, at the start.")
    head: Literal["cosine", "inner", "mlp"] = Field(
        "cosine",
        title="Surrogate's head",
        description="How the simulated attacker compares two embeddings.",
    )
    surrogate_epochs: int = Field(
        500,
        ge=1,
        le=10_000,
        title="Epochs per surrogate",
        description="At most; each simulated attacker trains until its loss settles.",
    )
    committee: bool = Field(
        False,
        title="Against a committee",
        description="Also lower the scores of a feature-based and a supervised attacker; the "
        "privacy loss is the mean of the three.",
    )
    withhold_features: bool = Field(
        False,
        title="Withhold features",
        description="Publish links without features, which can predict links that no change of "
        "links hides.",
    )

    @property
    def needs_links(self) -> bool:
        return True

    def supports(self, graph: Graph, threats: Threats) -> str | None:
        if threats.link is None:
            return super().supports(graph, threats)
        if graph.num_edges == 0:
            return "needs a graph with links"
        if self.full and graph.num_nodes > FGP_MAX_NODES:
            return (
                f"learns all {graph.num_pairs:,} pairs with full = true, at most for "
                f"{FGP_MAX_NODES:,} nodes; set k instead"
            )
        return None

    def protect(self, graph: Graph, threats: Threats, context: Context) -> Release:
        if self.withhold_features:
            graph = graph.update_columns(features=None)
        top = 1.0 if graph.weights is None else max(float(graph.weights.max()), 1e-12)
        pairs, start = self._make_pairs(graph, threats, top, context)
        trace = RecordedCurves(context.progress)
        weights = self._learn(graph, threats, pairs, start, trace, context)
        if graph.weights is None:
            keep = context.rng("bernoulli").random(len(weights)) < weights
            release = graph.with_edges(pairs[keep])
        else:
            keep = weights > MIN_WEIGHT
            release = graph.with_edges(pairs[keep], weights[keep] * top)
        is_link = graph.contains_pairs(pairs)
        facts = {"distortion": 2.0 * float(((weights - start) ** 2).sum())}
        scores = weights[is_link].astype(np.float64)
        return self.build_release(release, curves=trace.curves, facts=facts, link_scores=scores)

    def _make_pairs(
        self, graph: Graph, threats: Threats, top: float, context: Context
    ) -> tuple[np.ndarray, np.ndarray]:
        """Pairs (E, 2) whose weights are learned, sorted, and their weights (E,) in A."""
        free = graph.num_pairs - graph.num_edges
        count = free if self.full else min(round(self.k * graph.num_edges), free)
        candidates = sample_candidates(graph, threats, count, context.rng("candidates"))
        pairs = np.concatenate([graph.edges, candidates])
        weights = np.concatenate([graph.link_weights / top, np.zeros(len(candidates))]).astype(
            np.float32
        )
        order = np.lexsort((pairs[:, 1], pairs[:, 0]))
        return pairs[order], weights[order]

    def _learn(
        self,
        graph: Graph,
        threats: Threats,
        pairs: np.ndarray,
        start: np.ndarray,
        trace: RecordedCurves,
        context: Context,
    ) -> np.ndarray:
        """The learned weights (E,) of A′."""
        import torch
        from torch.nn.functional import softplus

        from core.models.adam import Adam
        from core.models.pair_matrix import PairMatrix

        assert threats.link is not None
        device = context.device.torch_name
        matrix = PairMatrix(graph.num_nodes, pairs, device)
        original = torch.from_numpy(start).to(device)
        weights = original.clone().requires_grad_()
        optimizer = Adam([weights], lr=self.lr)
        left, right = (torch.from_numpy(ends.copy()).to(device) for ends in threats.link.hidden.T)
        committee = None
        if self.committee:
            from core.models.link_committee import Committee

            features = None if graph.features is None else weigh_features(graph)
            rng = context.rng("committee")
            committee = Committee(matrix, threats.link.hidden, features, rng)
        surrogates = self._train_surrogates(graph, matrix, weights, trace, context)
        for step, surrogate in enumerate(surrogates):
            optimizer.lr = self.lr * (1.0 - step / self.steps)
            optimizer.zero_grad()
            # CE(σ(s), 0) = softplus(s)
            privacy = softplus(surrogate.compute_logits(weights, left, right)).sum()
            if committee is not None:
                if step % self.mu == 0:
                    committee.fit(weights)
                losses = [privacy, *committee.compute_losses(weights)]
                privacy = torch.stack(losses).mean()
            # ‖·‖_F counts both directions of a pair.
            changes = self._compute_distortion(weights, original, graph.weights is not None)
            distortion = 2.0 * changes.sum()
            loss = privacy + self.alpha * distortion
            loss.backward()
            optimizer.step()
            with torch.no_grad():
                weights.clamp_(0.0, 1.0)
            trace.add("learner loss", step, float(loss.detach()))
            trace.add("privacy loss", step, float(privacy.detach()))
            context.progress.update(step + 1, self.steps, "learning the graph")
        return weights.detach().cpu().numpy()

    def _compute_distortion(
        self, weights: torch.Tensor, original: torch.Tensor, is_weighted: bool
    ) -> torch.Tensor:
        """(E,) squared change of each pair."""
        if self.distortion == "learned" or is_weighted:
            return (weights - original).square()
        # E (a − Bernoulli(w))² = a + w − 2aw for a in {0, 1}
        return original + weights - 2.0 * original * weights

    def _train_surrogates(
        self,
        graph: Graph,
        matrix: PairMatrix,
        weights: torch.Tensor,
        trace: RecordedCurves,
        context: Context,
    ) -> Iterator[Surrogate]:
        """Frozen surrogate of each learner step, trained on the current weights."""
        from core.models.surrogate import NodeInputs, Surrogate

        device = context.device.torch_name
        inputs = NodeInputs(graph, device)
        generator = context.seed.torch("surrogate", device=device)
        surrogate = None
        for step in range(self.steps):

            def report(value: float, step: int = step) -> None:
                trace.add("surrogate loss", len(trace.curves.get("surrogate loss", ())), value)
                context.progress.update(step, self.steps, "training the surrogate attacker")

            if surrogate is None or (self.protocol == "sitp" and step % self.mu == 0):
                surrogate = Surrogate(inputs, matrix, self.head, generator)
                surrogate.fit(weights, self.surrogate_epochs, report)
                surrogate.freeze()
            elif self.protocol == "adv":
                surrogate.fit(weights, ADV_UPDATES, report)
                surrogate.freeze()
            yield surrogate
