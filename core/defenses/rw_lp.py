"""RW-LP: replaces links by shortcuts of random walks that start with them."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pandas as pd
from pydantic import Field

from core.arrays import pair_codes
from core.context import Context
from core.defenses.link_changes import change_links
from core.graph import Graph
from core.methods import Defense, MethodInfo, Strength, Suggestion, UnitInterval
from core.release import Release
from core.threats import Threats

ATTEMPTS = 10
"""Walks per link before it is dropped without a substitute (the paper's M)."""


class RwLp(Defense):
    """Replaces the link (u, v) by (u, z), z the end of a walk u → v → … → z.

    Walks use the original graph. A walk that ends in u, in a link of the release or in a sensitive
    link is redrawn. Substitutes get the weights of their links.
    """

    info: ClassVar[MethodInfo] = MethodInfo(
        key="rw_lp",
        title="Random-walk link perturbation",
        summary="Replaces links by pairs of nodes that a short random walk connects.",
        source="Mittal, Papamanthou and Song, NDSS 2013 (RW-LP)",
        group="empirical",
        version=2,
    )
    suggestion: ClassVar[Suggestion | None] = Suggestion(
        11,
        ("links",),
        ("links", "column"),
        "replaces links by links between nearby nodes, which preserves communities",
        recipients=("partner", "internal"),
    )
    acts_by: ClassVar[Strength | None] = Strength("strength", 0.1, 0.9)
    strength: UnitInterval = Field(
        0.5,
        title="Share of links replaced",
        description="1 replaces every link, as the paper does.",
    )
    walk_length: int = Field(
        3,
        ge=2,
        le=50,
        title="Length of the walks",
        json_schema_extra={"unit": "steps"},
        description="Longer walks hide more and keep less of the structure.",
    )

    def publish(self, graph: Graph, threats: Threats, context: Context) -> Release:
        rng = context.rng("walks")
        count = round(self.strength * graph.num_edges)
        chosen = rng.permutation(graph.num_edges)[:count]
        flipped = rng.random(count) < 0.5
        starts = np.where(flipped[:, None], graph.edges[chosen, ::-1], graph.edges[chosen])
        taken = np.delete(graph.edges, chosen, axis=0)
        if threats.link is not None:
            taken = np.concatenate([taken, threats.link.hidden])
        used = pair_codes(taken, graph.num_nodes)
        ends = np.full(count, -1)
        for attempt in range(ATTEMPTS):
            context.progress.update(attempt, ATTEMPTS, "random walks")
            pending = np.flatnonzero(ends < 0)
            if not len(pending):
                break
            last = self._walk(graph, starts[pending, 1], rng)
            codes = pair_codes(np.stack([starts[pending, 0], last], 1), graph.num_nodes)
            is_first = ~pd.Series(codes).duplicated().to_numpy()
            is_valid = is_first & (starts[pending, 0] != last) & ~np.isin(codes, used)
            ends[pending[is_valid]] = last[is_valid]
            used = np.concatenate([used, codes[is_valid]])
        found = ends >= 0
        added = np.stack([starts[found, 0], ends[found]], axis=1)
        return self.build_release(change_links(graph, chosen, added, rng))

    def _walk(self, graph: Graph, nodes: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Ends of walks of `walk_length` − 1 uniform steps from `nodes`."""
        adjacency, degrees = graph.adjacency, graph.degrees
        for _ in range(self.walk_length - 1):
            step = (rng.random(len(nodes)) * degrees[nodes]).astype(np.int64)
            nodes = adjacency.indices[adjacency.indptr[nodes] + step].astype(np.int64)
        return nodes
