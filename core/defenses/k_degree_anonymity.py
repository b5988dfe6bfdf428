"""k-degree anonymity: every degree is shared by at least k nodes."""

from __future__ import annotations

from typing import ClassVar

import numba
import numpy as np
from pydantic import Field

from core.arrays import pair_codes
from core.context import Context
from core.defenses.link_changes import change_links
from core.errors import UnsupportedError
from core.graph import Graph
from core.methods import Defense, MethodInfo, Strength, Suggestion
from core.release import Release
from core.threats import Threats

MAX_TRIES = 200
"""Draws for one link or one exchange before another way is tried."""


class KDegreeAnonymity(Defense):
    """Adds links until every degree is shared by at least k nodes.

    Target degrees have minimum total increase; nodes that lack links are joined, largest deficit
    first. If two of them cannot be joined, a link between others is removed and each of its ends is
    joined to one of the two, which changes no other degree. If that fails, a link to another node
    is added and the targets are recomputed.
    """

    info: ClassVar[MethodInfo] = MethodInfo(
        key="k_degree_anonymity",
        title="k-degree anonymity",
        summary="Adds links until each number of links is shared by at least k people.",
        source="Liu and Terzi, Towards identity anonymization on graphs, SIGMOD 2008",
        group="empirical",
        cost="seconds",
        version=3,
    )
    suggestion: ClassVar[Suggestion | None] = Suggestion(
        8,
        ("identity",),
        ("links", "column", "statistics"),
        "adds a few links until several nodes share every number of links",
    )
    acts_by: ClassVar[Strength | None] = Strength("k", 2, 50, is_log=True, in_title=False)
    k: int = Field(
        5, ge=2, le=1000, title="People to hide among", description="Least people per degree."
    )

    def supports(self, graph: Graph, threats: Threats) -> str | None:
        if graph.num_nodes < self.k:
            return f"needs at least k = {self.k} nodes, the graph has {graph.num_nodes}; lower k"
        return None

    def publish(self, graph: Graph, threats: Threats, context: Context) -> Release:
        rng = context.rng("links")
        withheld = set() if threats.link is None else set(map(tuple, threats.link.hidden.tolist()))
        links = Links(graph, withheld)
        while True:
            context.progress.update(len(links.added), graph.num_edges + 1, "adding links")
            deficits = self._plan(links.degrees) - links.degrees
            if not deficits.any():
                break
            if not _add_missing_links(links, deficits, rng, context) and not _add_anywhere(
                links, deficits, rng
            ):
                raise UnsupportedError(
                    self.label, "cannot be reached without the withheld links", self.k, "lower k"
                )
        return links.make_release(self, rng)

    def _plan(self, degrees: np.ndarray) -> np.ndarray:
        """Target degrees with an even sum: if needed, a class of odd size is raised by one."""
        targets = compute_group_degrees(degrees, self.k)
        if targets.sum() % 2:
            values, counts = np.unique(targets, return_counts=True)
            odd = values[(counts % 2 == 1) & (values < len(degrees) - 1)]
            if len(odd):
                targets = np.where(targets == odd[0], targets + 1, targets)
        return targets


class Links:
    """The links of a graph under change; withheld ones are never added."""

    def __init__(self, graph: Graph, withheld: set[tuple[int, int]]) -> None:
        self.graph = graph
        self.neighbors: list[set[int]] = [set() for _ in range(graph.num_nodes)]
        for i, j in graph.edges.tolist():
            self.neighbors[i].add(j)
            self.neighbors[j].add(i)
        self.degrees = graph.degrees.copy()
        self.added: set[tuple[int, int]] = set()
        self.removed: set[tuple[int, int]] = set()
        self._withheld = withheld

    def is_free(self, i: int, j: int) -> bool:
        """Whether the pair may be linked: distinct, not linked, not withheld."""
        return i != j and j not in self.neighbors[i] and _order(i, j) not in self._withheld

    def add(self, i: int, j: int) -> None:
        """Link the pair."""
        self._change(i, j, 1)
        self.neighbors[i].add(j)
        self.neighbors[j].add(i)

    def remove(self, i: int, j: int) -> None:
        """Take the link away."""
        self._change(i, j, -1)
        self.neighbors[i].discard(j)
        self.neighbors[j].discard(i)

    def _change(self, i: int, j: int, by: int) -> None:
        pair = _order(i, j)
        changed, opposite = (self.added, self.removed) if by > 0 else (self.removed, self.added)
        if pair in opposite:
            opposite.discard(pair)
        else:
            changed.add(pair)
        self.degrees[[i, j]] += by

    def make_release(self, defense: Defense, rng: np.random.Generator) -> Release:
        """Release in which added links get weights like those of the graph."""
        graph = self.graph
        added = np.array(sorted(self.added), np.int64).reshape(-1, 2)
        removed = np.array(sorted(self.removed), np.int64).reshape(-1, 2)
        drop = np.flatnonzero(np.isin(graph.edge_codes, pair_codes(removed, graph.num_nodes)))
        changed = change_links(graph, drop, added, rng)
        facts = {"links_removed": float(len(removed)), "links_added": float(len(added))}
        return defense.build_release(changed, facts=facts)


def _add_missing_links(
    links: Links, deficits: np.ndarray, rng: np.random.Generator, context: Context
) -> bool:
    """Add the lacking links (n,), counted down; False if it gets stuck."""
    while deficits.any():
        context.progress.check()
        u = int(np.argmax(deficits))
        others = np.flatnonzero(deficits)
        others = others[np.argsort(-deficits[others], kind="stable")]
        found = next((int(w) for w in others if links.is_free(u, int(w))), None)
        if found is not None:
            links.add(u, found)
            deficits[[u, found]] -= 1
            continue
        v = int(others[1]) if len(others) > 1 else u
        if u == v and deficits[u] < 2:
            return False
        if not _exchange(links, u, v, rng):
            return False
        deficits[u] -= 1
        deficits[v] -= 1
    return True


def _exchange(links: Links, u: int, v: int, rng: np.random.Generator) -> bool:
    """Remove a link (a, b) and join u with a and v with b."""
    nodes = np.flatnonzero(links.degrees)
    for _ in range(MAX_TRIES):
        a = int(rng.choice(nodes))
        b = int(rng.choice(sorted(links.neighbors[a])))
        if {a, b} & {u, v} or not links.is_free(u, a) or not links.is_free(v, b):
            continue
        links.remove(a, b)
        links.add(u, a)
        links.add(v, b)
        return True
    return False


def _add_anywhere(links: Links, deficits: np.ndarray, rng: np.random.Generator) -> bool:
    """Join a node that lacks a link, else any node, with a node of low degree."""
    order = np.lexsort((rng.random(len(deficits)), links.degrees))
    for u in [*np.flatnonzero(deficits).tolist(), *order.tolist()]:
        for w in order.tolist():
            if links.is_free(u, w):
                links.add(u, w)
                return True
    return False


def _order(i: int, j: int) -> tuple[int, int]:
    return (i, j) if i < j else (j, i)


def compute_group_degrees(degrees: np.ndarray, k: int) -> np.ndarray:
    """(n,) int64 targets ≥ `degrees` (n,), each occurring at least k times, of least sum.

    Dynamic programme of Liu and Terzi (SIGMOD 2008, §5.1) over the descending degrees: a group
    of k to 2k − 1 neighbours in the order is raised to its highest. Raises ValueError for n < k.
    """
    if len(degrees) < k:
        raise ValueError("there must be at least k degrees")
    order = np.argsort(-degrees, kind="stable")
    targets = np.empty(len(degrees), np.int64)
    targets[order] = _raise_groups(degrees[order].astype(np.int64), k)
    return targets


@numba.njit(nogil=True, cache=True)
def _raise_groups(ordered: np.ndarray, k: int) -> np.ndarray:
    n = len(ordered)
    sums = np.zeros(n + 1, np.int64)
    for i in range(n):
        sums[i + 1] = sums[i] + ordered[i]
    unreachable = np.int64(1) << 60
    cost = np.full(n + 1, unreachable)
    size = np.zeros(n + 1, np.int64)
    cost[0] = 0
    for i in range(k, n + 1):
        for s in range(k, min(2 * k, i + 1)):
            if cost[i - s] == unreachable:
                continue
            total = cost[i - s] + ordered[i - s] * s - (sums[i] - sums[i - s])
            if total < cost[i]:
                cost[i], size[i] = total, s
    targets = np.empty(n, np.int64)
    i = n
    while i > 0:
        start = i - size[i]
        targets[start:i] = ordered[start]
        i = start
    return targets
