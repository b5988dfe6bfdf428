"""Uniqueness-aware change: changes links of structurally unique nodes."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from pydantic import Field

from core.algorithms.fingerprints import compute_class_sizes, compute_fingerprints
from core.algorithms.pairs import count_shared_neighbors
from core.arrays import pair_codes
from core.context import Context
from core.defenses.link_changes import change_links, sample_candidates
from core.graph import Graph
from core.methods import Defense, MethodInfo, Strength, UnitInterval
from core.release import Release
from core.threats import Threats

NUM_ROUNDS = 20
"""Number of times uniqueness is recomputed while the budget is spent."""


class UniquenessAware(Defense):
    """Removes links that affect most unique nodes, and adds others between unique nodes.

    A link affects its ends and their common neighbours: their degree, or the links among their
    neighbours. A node is unique if no other has its combination of the two. The intermediate state
    with fewest unique nodes is published.
    """

    info: ClassVar[MethodInfo] = MethodInfo(
        key="uniqueness_aware",
        title="Uniqueness-aware changes",
        summary="Spends a budget of changes on the links of people who stand out.",
        source="In the way of de Jong, van der Loo and Takes, The anonymization problem in "
        "social networks (ANO-NET), 2024, heuristic 'affected unique'",
        group="empirical",
        cost="seconds",
        version=3,
    )
    acts_by: ClassVar[Strength | None] = Strength("strength", 0.1, 0.9)
    strength: UnitInterval = Field(
        0.1,
        title="Share of links changed",
        description="Links taken away and added together, as a share of the links.",
    )
    additions: UnitInterval = Field(
        0.0, title="Share of additions", description="Of the changes; 0: deletions only."
    )

    def publish(self, graph: Graph, threats: Threats, context: Context) -> Release:
        rng = context.rng("links")
        budget = round(self.strength * graph.num_edges)
        current, best, fewest = graph, graph, _find_unique(graph).sum()
        spent = 0
        for number in range(NUM_ROUNDS):
            context.progress.update(number, NUM_ROUNDS, "changing links")
            count = round(budget * (number + 1) / NUM_ROUNDS) - spent
            spent += count
            num_added = int(rng.binomial(count, self.additions))
            is_unique = _find_unique(current)
            added = _choose_additions(current, threats, is_unique, num_added, rng)
            current = _remove_links(current, is_unique, count - num_added, rng)
            current = change_links(current, np.empty(0, np.int64), added, rng)
            unique = _find_unique(current).sum()
            if unique < fewest:
                best, fewest = current, unique
        kept = int(np.isin(best.edge_codes, graph.edge_codes).sum())
        facts = {
            "links_removed": float(graph.num_edges - kept),
            "links_added": float(best.num_edges - kept),
        }
        return self.build_release(best, facts=facts)


def _find_unique(graph: Graph) -> np.ndarray:
    """(n,) bool: unique by degree and links among the neighbours."""
    return np.asarray(compute_class_sizes(compute_fingerprints(graph, "degree_triangles")) == 1)


def _remove_links(
    graph: Graph, is_unique: np.ndarray, count: int, rng: np.random.Generator
) -> Graph:
    num_affected = is_unique[graph.edges].sum(axis=1)
    num_affected = num_affected + count_shared_neighbors(graph, graph.edges, is_unique)
    order = np.lexsort((rng.random(graph.num_edges), -num_affected))
    return change_links(graph, order[:count])


def _choose_additions(
    graph: Graph, threats: Threats, is_unique: np.ndarray, count: int, rng: np.random.Generator
) -> np.ndarray:
    """(≤ count, 2) non-linked pairs with most unique ends, among four times as many drawn
    between unique nodes and from all."""
    if not count:
        return np.empty((0, 2), np.int64)
    drawn = sample_candidates(graph, threats, 4 * count, rng)
    unique = np.flatnonzero(is_unique)
    if len(unique) > 1:
        pairs = np.sort(rng.choice(unique, (4 * count, 2)), axis=1)
        pairs = pairs[pairs[:, 0] < pairs[:, 1]]
        blocked = graph.contains_pairs(pairs)
        if threats.link is not None:
            n = graph.num_nodes
            blocked |= np.isin(pair_codes(pairs, n), pair_codes(threats.link.hidden, n))
        drawn = np.unique(np.concatenate([pairs[~blocked], drawn]), axis=0)
    order = np.lexsort((rng.random(len(drawn)), -is_unique[drawn].sum(axis=1)))
    return np.asarray(drawn[order[:count]])
