"""The GPS attack's model: one encoder per form of the data, and their routing by GHRatio.

Yuan et al., "Unveiling Privacy Vulnerabilities: Investigating the Role of Structure in Graph
Data", KDD 2024, §4. The proximity encoder reads the whole graph, the role encoder each node's
ego network. Their class scores are mixed per node.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from torch.nn.functional import log_softmax, nll_loss

from core.algorithms.ghratio import compute_ghratios
from core.context import Context
from core.graph import Graph
from core.models.encoders import (
    Aggregate,
    Backbone,
    Block,
    Dropout,
    Inputs,
    Linear,
    make_inputs,
    num_columns,
)
from core.models.gps.ego import (
    build_ego_batch,
    compute_ego_costs,
    split_centers,
    standardize_role_features,
)
from core.models.gps.layers import (
    AUTHORS,
    BatchNorm,
    ProximityEncoder,
    draw_uniform,
    drop_inputs,
    make_layers,
)
from core.models.training import train
from core.node_column import MISSING
from core.seeding import Seed

EMBEDDING = 16
"""Dimensions of the embedded role features."""


@dataclass(frozen=True)
class GpsSettings:
    """Architecture and training of a GPS attacker.

    plain  GIN and GraphSAGE without what the authors' code adds to them (`layers.py`)
    """

    branches: Literal["both", "proximity", "role"] = "both"
    routing: Literal["ghratio", "equal"] = "ghratio"
    backbone: Literal["gin", "gcn", "sage", "gat"] = "gcn"
    hidden: int = 64
    role_hidden: int = 16
    epochs: int = 300
    lr: float = 1e-3
    lr_decay: float = 0.993
    weight_decay: float = 5e-4
    dropout: float = 0.1
    tolerance: int = 45
    routing_start: int = 50
    routing_every: int = 10
    plain: bool = False


class Head(torch.nn.Module):
    """A linear classifier with batch normalisation on its output."""

    def __init__(self, num_in: int, num_classes: int, generator: torch.Generator) -> None:
        super().__init__()
        self.linear = Linear(num_in, num_classes, generator)
        self.norm = BatchNorm(num_classes)

    def forward(self, h: torch.Tensor) -> torch.Tensor:
        normed: torch.Tensor = self.norm(self.linear(h))
        return normed


class RoleEncoder(torch.nn.Module):
    """Encoder of ego networks, one output row per centre (GPS Eq. 7).

    After each of two layers, the sum over the network is joined with the centre's own row.
    """

    def __init__(
        self,
        backbone: Backbone,
        num_in: int,
        hidden: int,
        seed: Seed,
        dropout: float,
        plain: bool = True,
    ) -> None:
        super().__init__()
        generator = seed.torch("init")
        self.embed = Linear(2, EMBEDDING, generator)
        self.first, self.second = make_layers(
            backbone, num_in + EMBEDDING, hidden, generator, plain
        )
        self.dropout = Dropout(dropout, seed)
        self.drops_inputs = not plain and backbone in AUTHORS
        self.num_out = 4 * hidden

    def forward(
        self, inputs: Inputs | None, role_features: torch.Tensor, egos: EgoBlocks
    ) -> torch.Tensor:
        """(k, 4 · hidden) for n nodes' inputs and the ego networks of k of them."""
        embedded = self.embed(role_features)
        parts = (embedded,) if inputs is None else (inputs, embedded)
        parts = drop_inputs(self.dropout, parts) if self.drops_inputs else parts
        h1 = torch.relu(self.first(parts, egos.first))
        h2 = torch.relu(self.second(self.dropout(h1), egos.later))
        rows = [part for h in (h1, h2) for part in (egos.pool(h), h.index_select(0, egos.centers))]
        return torch.cat(rows, dim=1)


@dataclass(frozen=True, eq=False)
class EgoBlocks:
    """Input of the role encoder: the ego networks of `nodes` (k,)."""

    nodes: torch.Tensor
    centers: torch.Tensor
    first: Block
    later: Block
    pool: Aggregate

    @staticmethod
    def of(graph: Graph, nodes: np.ndarray, backbone: Backbone, device: str) -> EgoBlocks:
        """Blocks of the ego networks of `nodes`."""
        batch = build_ego_batch(graph, nodes)
        first, later, pool = batch.make_blocks(graph.num_nodes, backbone, device)
        centers = torch.from_numpy(batch.centers).to(device)
        return EgoBlocks(torch.from_numpy(nodes).to(device), centers, first, later, pool)


class GpsModel(torch.nn.Module):
    """Both encoders with their heads; unused ones are not built."""

    def __init__(
        self,
        inputs: Inputs,
        has_features: bool,
        num_classes: int,
        settings: GpsSettings,
        seed: Seed,
    ) -> None:
        super().__init__()
        s, width = settings, num_columns(inputs)
        if s.branches != "role":
            self.proximity = ProximityEncoder(
                s.backbone, width, s.hidden, seed.child("proximity"), s.dropout, s.plain
            )
            self.proximity_head = Head(
                self.proximity.num_out, num_classes, seed.torch("proximity_head")
            )
        if s.branches != "proximity":
            self.role = RoleEncoder(
                s.backbone,
                width if has_features else 0,
                s.role_hidden,
                seed.child("role"),
                s.dropout,
                s.plain,
            )
            self.role_head = Head(self.role.num_out, num_classes, seed.torch("role_head"))
        if not s.plain and s.backbone in AUTHORS:
            draw_uniform(self, seed.torch("uniform"))


class GpsAttacker:
    """Trains on the known nodes and infers all others.

    The role encoder is trained on the known nodes' ego networks only: the loss needs no other.
    All nodes' networks are encoded when routing weights are due and at the end, in parts that
    fit the memory budget. If the networks of all known nodes exceed it, each epoch trains on one
    part of them.
    """

    def __init__(
        self,
        graph: Graph,
        observed: np.ndarray,
        num_classes: int,
        settings: GpsSettings,
        context: Context,
    ) -> None:
        self.graph, self.observed, self.num_classes = graph, observed, num_classes
        self.settings, self.context = settings, context
        self.device = context.device.torch_name
        self.inputs = make_inputs(graph, self.device)
        has_features = graph.features is not None
        self.role_inputs = self.inputs if has_features else None
        self.model = GpsModel(self.inputs, has_features, num_classes, settings, context.seed).to(
            self.device
        )
        known = np.flatnonzero(observed != MISSING)
        self.parts = [known]
        if settings.branches != "role":
            self.block = Block.of_graph(graph, settings.backbone, self.device)
        if settings.branches != "proximity":
            role = standardize_role_features(graph)
            self.role_features = torch.from_numpy(role).to(self.device)
            self.costs = self._compute_costs()
            self.parts = list(split_centers(known, self.costs, context.memory_budget // 2))
            self.training_egos = [
                EgoBlocks.of(graph, part, settings.backbone, self.device)
                for part in (self.parts if len(self.parts) == 1 else [])
            ]
            self.all_egos: list[EgoBlocks] = []
        self.routing = torch.full((graph.num_nodes, 2), 0.5, device=self.device)

    def fit(self) -> float:
        """Train; returns the last loss (GPS Eq. 9)."""
        s = self.settings
        return train(
            self.model.parameters(),
            self._compute_loss,
            epochs=s.epochs,
            lr=s.lr,
            weight_decay=s.weight_decay,
            lr_decay=s.lr_decay,
            decoupled=True,
            progress=self.context.progress,
            curve="loss",
        )

    def compute_probabilities(self) -> np.ndarray:
        """(n, C) float64."""
        return self._infer().double().exp().cpu().numpy()

    def _compute_loss(self, epoch: int) -> torch.Tensor:
        s = self.settings
        routed_epochs = epoch - s.routing_start
        is_routed = s.routing == "ghratio" and s.branches == "both"
        if is_routed and routed_epochs >= 0 and routed_epochs % s.routing_every == 0:
            self.routing = self._compute_routing()
        part_index = epoch % len(self.parts)
        nodes = torch.from_numpy(self.parts[part_index]).to(self.device)
        truth = torch.from_numpy(self.observed[self.parts[part_index]]).to(self.device)
        proximity = role = None
        if s.branches != "role":
            h = torch.relu(self.model.proximity(self.inputs, self.block))
            proximity = self.model.proximity_head(h[nodes])
        if s.branches != "proximity":
            role = self._encode_roles(self._find_training_egos(part_index))
        return nll_loss(mix(proximity, role, self.routing[nodes]), truth)

    def _find_training_egos(self, part_index: int) -> EgoBlocks:
        if self.training_egos:
            return self.training_egos[part_index]
        return EgoBlocks.of(self.graph, self.parts[part_index], self.settings.backbone, self.device)

    def _encode_roles(self, egos: EgoBlocks) -> torch.Tensor:
        scores: torch.Tensor = self.model.role_head(
            self.model.role(self.role_inputs, self.role_features, egos)
        )
        return scores

    @torch.no_grad()
    def _infer(self) -> torch.Tensor:
        """Log-probabilities (n, C) of all nodes."""
        self.model.eval()
        s, proximity, role = self.settings, None, None
        if s.branches != "role":
            h = torch.relu(self.model.proximity(self.inputs, self.block))
            proximity = self.model.proximity_head(h)
        if s.branches != "proximity":
            role = torch.empty(self.graph.num_nodes, self.num_classes, device=self.device)
            for egos in self._iterate_egos():
                role[egos.nodes] = self._encode_roles(egos)
                self.context.progress.check()
        self.model.train()
        return mix(proximity, role, self.routing)

    def _iterate_egos(self) -> Iterator[EgoBlocks]:
        """The ego networks of all nodes; kept if they fit, else rebuilt each time."""
        if self.all_egos:
            yield from self.all_egos
            return
        nodes, budget = np.arange(self.graph.num_nodes), self.context.memory_budget // 2
        fits = self.costs.sum() <= budget
        for part in split_centers(nodes, self.costs, max(budget // 8, 1)):
            egos = EgoBlocks.of(self.graph, part, self.settings.backbone, self.device)
            if fits:
                self.all_egos.append(egos)
            yield egos

    def _compute_routing(self) -> torch.Tensor:
        """(n, 2) shares of proximity and role, from the GHRatios of pseudo-labels (Eq. 4, 5).

        Known nodes keep their true value. Undefined ratios count 0; nodes with neither are routed
        evenly.
        """
        predicted = self._infer().argmax(dim=1).cpu().numpy()
        codes = np.where(self.observed != MISSING, self.observed, predicted)
        ratios = compute_ghratios(self.graph, codes, self.num_classes, self.settings.tolerance)
        return torch.from_numpy(compute_shares(ratios.proximity, ratios.role)).to(self.device)

    def _compute_costs(self) -> np.ndarray:
        """(n,) bytes that each node's ego network takes while it is encoded and trained."""
        rows, links = compute_ego_costs(self.graph).T
        width = 4 * self.settings.role_hidden
        per_link = 24 + (6 * width if self.settings.backbone == "gat" else 0)
        return np.asarray(rows * (12 * width + 48) + links * per_link)


def mix(
    proximity: torch.Tensor | None, role: torch.Tensor | None, routing: torch.Tensor
) -> torch.Tensor:
    """Log-probabilities of g_prox Ẑ_prox + g_role Ẑ_role (Eq. 8), mixed as logits.

    With one branch only, its own; `routing` (k, 2) holds g_prox and g_role.
    """
    if proximity is None or role is None:
        single = role if proximity is None else proximity
        assert single is not None
        return log_softmax(single, dim=1)
    return log_softmax(routing[:, :1] * proximity + routing[:, 1:] * role, dim=1)


def compute_shares(proximity: np.ndarray, role: np.ndarray) -> np.ndarray:
    """(n, 2) float32: both ratios over their sum."""
    ratios = np.nan_to_num(np.stack([proximity, role], axis=1))
    total = ratios.sum(axis=1, keepdims=True)
    equal = np.full_like(ratios, 0.5)
    return np.asarray(np.divide(ratios, total, out=equal, where=total > 0).astype(np.float32))
