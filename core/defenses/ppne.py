"""PPNE: greedy changes with the best privacy gain per utility loss."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from pydantic import Field

from core.context import Context
from core.defenses.candidates import sample_candidates
from core.graph import Graph
from core.methods import Defense, MethodInfo
from core.release import Release
from core.threats import Threats


class Ppne(Defense):
    """Repeats: sample candidate changes, keep the one with the best gain per loss.

    The paper scores a change by what it does to a closed-form embedding. Here the embedding of
    a node is its row of A + I, so that the similarity of i and j is
    s_ij = |N[i] ∩ N[j]| / √(|N[i]| |N[j]|), and a change at (u, v) touches pairs with u or v
    only: gain and loss are exact, in time linear in the degrees.
    gain = drop of Σ s over sensitive links; loss = Σ |Δs| over links of the graph.
    """

    info: ClassVar[MethodInfo] = MethodInfo(
        key="ppne",
        title="PPNE",
        summary="Changes links one by one, each time the one that hides most for its cost.",
        source="Han, Yang, Wang and Wu, IEEE TDSC 21(2), 2024 (closed form: see the class)",
        group="empirical",
        cost="minutes",
    )
    strength: float = Field(
        0.3,
        ge=0,
        le=1,
        title="Changes per link",
        description="Number of links removed or added, as a share of the links.",
    )
    num_candidates: int = Field(
        20,
        ge=2,
        le=1000,
        title="Candidates per change",
        description="Changes sampled each time, half removals and half additions.",
    )

    def supports(self, graph: Graph, threats: Threats) -> str | None:
        return None if threats.link else "needs sensitive links to protect"

    def publish(self, graph: Graph, threats: Threats, context: Context) -> Release:
        assert threats.link is not None
        rng = context.rng("candidates")
        state = _Neighborhoods(graph, threats.link.hidden)
        budget = round(self.strength * graph.num_edges)
        half = max(self.num_candidates // 2, 1)
        exposed = _find_exposed(graph, threats.link.hidden)
        fresh = sample_candidates(graph, threats, max(4 * budget, half), rng)
        fresh = fresh[state.is_exposed[fresh].any(axis=1)]
        for change in range(budget):
            if change % 16 == 0:
                context.progress.update(change, budget, "choosing changes")
            best, best_ratio = None, 0.0
            picked = [exposed[rng.integers(len(exposed), size=half)]] if len(exposed) else []
            if len(fresh):
                picked.append(fresh[rng.integers(len(fresh), size=half)])
            for u, v in np.concatenate(picked).tolist() if picked else []:
                gain, loss = state.compute_effect(u, v)
                if gain > 0 and gain / (loss + 1e-3) > best_ratio:
                    best, best_ratio = (u, v), gain / (loss + 1e-3)
            if best is None:
                continue
            u, v = best
            state.flip(u, v)
        return Release(state.to_graph(), self.info.key, self.config)


def _find_exposed(graph: Graph, hidden: np.ndarray) -> np.ndarray:
    """Links with an end at a sensitive link: only these can matter to its similarity."""
    mask = np.zeros(graph.num_nodes, bool)
    mask[hidden] = True
    links: np.ndarray = graph.edges[mask[graph.edges].any(axis=1)]
    return links


class _Neighborhoods:
    """Closed neighbourhoods that change, and what a change does to the similarities."""

    def __init__(self, graph: Graph, hidden: np.ndarray) -> None:
        self.graph = graph
        self.neighbors: list[set[int]] = [{i} for i in range(graph.num_nodes)]
        for i, j in graph.edges.tolist():
            self.neighbors[i].add(j)
            self.neighbors[j].add(i)
        self.sensitive: dict[int, list[int]] = {}
        for i, j in hidden.tolist():
            self.sensitive.setdefault(i, []).append(j)
            self.sensitive.setdefault(j, []).append(i)
        self.is_exposed = np.zeros(graph.num_nodes, bool)
        self.is_exposed[hidden] = True
        self._links = set(map(tuple, graph.edges.tolist()))

    def is_link(self, u: int, v: int) -> bool:
        return (min(u, v), max(u, v)) in self._links

    def flip(self, u: int, v: int) -> None:
        self.neighbors[u] ^= {v}
        self.neighbors[v] ^= {u}

    def compute_effect(self, u: int, v: int) -> tuple[float, float]:
        """(gain, loss) of removing (u, v) where it is a link, of adding it where not.

        Links through which nothing but the flipped pair changes are the pairs at u and at v;
        the flipped pair itself counts for neither.
        """
        gain = loss = 0.0
        sign = -1 if v in self.neighbors[u] else 1
        for a, b in ((u, v), (v, u)):
            size = len(self.neighbors[a])
            for x in self.sensitive.get(a, ()):
                gain -= self._change(a, b, x, size, sign)
            for x in self.neighbors[a]:
                if x != a and x != b:
                    loss += abs(self._change(a, b, x, size, sign))
        return gain, loss

    def _change(self, a: int, b: int, x: int, size: int, sign: int) -> float:
        """Δ s_ax when b enters (sign 1) or leaves (−1) N[a]; x keeps its neighbourhood."""
        if x == b:
            return 0.0
        common = len(self.neighbors[a] & self.neighbors[x])
        other = len(self.neighbors[x])
        after = common + sign * (b in self.neighbors[x])
        return float(after / ((size + sign) * other) ** 0.5 - common / (size * other) ** 0.5)

    def to_graph(self) -> Graph:
        ends = [(i, j) for i, row in enumerate(self.neighbors) for j in row if i < j]
        edges = np.array(ends, dtype=np.int64).reshape(-1, 2)
        if self.graph.weights is None:
            return self.graph.with_edges(edges)
        known = dict(
            zip(map(tuple, self.graph.edges.tolist()), self.graph.weights.tolist(), strict=True)
        )
        fill = float(np.median(self.graph.weights)) if self.graph.num_edges else 1.0
        weights = np.array([known.get(pair, fill) for pair in map(tuple, edges.tolist())])
        return self.graph.with_edges(edges, weights)
