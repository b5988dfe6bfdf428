"""Links replaced by other pairs: DICE, at random, and along random walks."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from pydantic import Field

from core.algorithms.pairs import sample_non_links
from core.context import Context
from core.defenses.link_changes import change_links, sample_candidates
from core.graph import Graph, pair_codes
from core.methods import Defense, MethodInfo
from core.release import Release
from core.threats import Threats


class Dice(Defense):
    """Removes round(strength · m) links at nodes with a sensitive link, as far as there are so
    many, and adds as many pairs between nodes without one.

    Added links take over the weights of the removed ones.
    """

    info: ClassVar[MethodInfo] = MethodInfo(
        key="dice",
        title="DICE",
        summary="Removes links at nodes with sensitive links, adds links between other nodes.",
        source="Zügner and Günnemann, ICLR 2019, as used by PPGSL (Wu et al., 2025, §V-A4)",
        group="empirical",
    )
    strength: float = Field(
        0.3,
        ge=0,
        le=1,
        title="Share of links replaced",
        description="Share of the links that are removed; as many pairs are added elsewhere.",
    )

    def supports(self, graph: Graph, threats: Threats) -> str | None:
        return None if threats.link else "needs sensitive links to protect"

    def publish(self, graph: Graph, threats: Threats, context: Context) -> Release:
        assert threats.link is not None
        rng = context.rng("links")
        is_sensitive = np.zeros(graph.num_nodes, bool)
        is_sensitive[threats.link.hidden] = True
        exposed = np.flatnonzero(is_sensitive[graph.edges].any(axis=1))
        count = min(round(self.strength * graph.num_edges), len(exposed))
        drop = rng.choice(exposed, count, replace=False)
        added = _sample_among(graph, np.flatnonzero(~is_sensitive), count, rng)
        return self.build_release(change_links(graph, drop, added))


def _sample_among(
    graph: Graph, nodes: np.ndarray, count: int, rng: np.random.Generator
) -> np.ndarray:
    """Up to `count` uniform pairs of the given nodes that the graph does not link."""
    if len(nodes) < 2 or count == 0:
        return np.empty((0, 2), np.int64)
    place = np.full(graph.num_nodes, -1)
    place[nodes] = np.arange(len(nodes))
    inside = place[graph.edges]
    among = Graph.from_pairs(inside[(inside >= 0).all(axis=1)], len(nodes))
    return np.asarray(
        nodes[sample_non_links(among, min(count, among.num_pairs - among.num_edges), rng)]
    )


class RandomRewiring(Defense):
    """Removes round(strength · m) random links and adds as many random non-links.

    Added links take over the weights of the removed ones.
    """

    info: ClassVar[MethodInfo] = MethodInfo(
        key="random_rewiring",
        title="Random rewiring",
        summary="Replaces a random share of the links by random pairs.",
        source="Baseline 'Random' of PPGSL (Wu et al., 2025, §V-A4), after Yu et al., TKDE 2019",
        group="empirical",
    )
    strength: float = Field(
        0.3,
        ge=0,
        le=1,
        title="Share of links replaced",
        description="Share of the links that are removed; as many random pairs are added.",
    )

    def publish(self, graph: Graph, threats: Threats, context: Context) -> Release:
        rng = context.rng("links")
        count = round(self.strength * graph.num_edges)
        drop = rng.choice(graph.num_edges, count, replace=False)
        added = sample_candidates(graph, threats, count, rng)
        return self.build_release(change_links(graph, drop, added))


ATTEMPTS = 10
"""Walks per link before it is dropped without a substitute (the paper's M)."""


class RwLp(Defense):
    """Replaces the link (u, v) by (u, z), z the end of a walk u → v → … → z.

    Walks run on the graph as given. A walk that ends in u, in a link of the release or in a
    sensitive link is drawn again. Substitutes take over the weights of their links.
    """

    info: ClassVar[MethodInfo] = MethodInfo(
        key="rw_lp",
        title="Random-walk link perturbation",
        summary="Replaces links by pairs of nodes that a short random walk connects.",
        source="Mittal, Papamanthou and Song, NDSS 2013 (RW-LP)",
        group="empirical",
    )
    strength: float = Field(
        0.5,
        ge=0,
        le=1,
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
            open_ = np.flatnonzero(ends < 0)
            if not len(open_):
                break
            last = self._walk(graph, starts[open_, 1], rng)
            codes = pair_codes(np.stack([starts[open_, 0], last], 1), graph.num_nodes)
            first = np.zeros(len(codes), bool)
            first[np.unique(codes, return_index=True)[1]] = True
            good = first & (starts[open_, 0] != last) & ~np.isin(codes, used)
            ends[open_[good]] = last[good]
            used = np.concatenate([used, codes[good]])
        found = ends >= 0
        added = np.stack([starts[found, 0], ends[found]], axis=1)
        return self.build_release(change_links(graph, chosen, added, chosen[found]))

    def _walk(self, graph: Graph, nodes: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Where walks of `walk_length` − 1 uniform steps from `nodes` end."""
        adjacency, degrees = graph.adjacency, graph.degrees
        for _ in range(self.walk_length - 1):
            step = (rng.random(len(nodes)) * degrees[nodes]).astype(np.int64)
            nodes = adjacency.indices[adjacency.indptr[nodes] + step].astype(np.int64)
        return nodes
