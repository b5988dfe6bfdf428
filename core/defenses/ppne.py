"""PPNE: greedy changes with the best privacy gain per utility loss."""

from __future__ import annotations

import math
from typing import ClassVar

import numba
import numpy as np
from pydantic import Field
from scipy import sparse

from core.algorithms.walks import contains
from core.arrays import find_places, pair_codes
from core.context import Context
from core.defenses.found_strength import FindsStrength, Target
from core.defenses.link_changes import draw_weights, sample_candidates
from core.graph import Graph
from core.methods import MethodInfo, Strength, UnitInterval
from core.release import Release
from core.threats import Threats

CHANGES_AT_ONCE = 2048
"""Changes between two progress reports."""

SEARCHED = 8
"""Ratio of row lengths above which the longer row is searched instead of walked."""


class Ppne(FindsStrength):
    """Repeats: sample candidate changes, keep the one with the best gain per loss.

    The paper scores a change by its effect on a closed-form embedding. Here the embedding of
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
        version=3,
    )
    acts_by: ClassVar[Strength | None] = Strength("strength", 0.1, 0.9)
    strength: UnitInterval = Field(
        0.3,
        title="Changes per link",
        description="Number of links removed or added, as a share of the links.",
    )
    target: Target = None
    num_candidates: int = Field(
        20,
        ge=2,
        le=1000,
        title="Candidates per change",
        description="Changes sampled each time, half removals and half additions.",
    )

    @property
    def needs_links(self) -> bool:
        return True

    def protect(self, graph: Graph, threats: Threats, context: Context) -> Release:
        assert threats.link is not None
        rng = context.rng("candidates")
        state = _Neighborhoods(graph, threats.link.hidden)
        budget = round(self.strength * graph.num_edges)
        half = max(self.num_candidates // 2, 1)
        exposed = graph.edges[state.is_exposed[graph.edges].any(axis=1)]
        fresh = sample_candidates(graph, threats, max(4 * budget, half), rng)
        fresh = fresh[state.is_exposed[fresh].any(axis=1)]
        pools = [pool for pool in (exposed, fresh) if len(pool)]
        for start in range(0, budget if pools else 0, CHANGES_AT_ONCE):
            count = min(CHANGES_AT_ONCE, budget - start)
            picked = [
                [pool[rng.integers(len(pool), size=half)] for pool in pools] for _ in range(count)
            ]
            state.change(np.array(picked).reshape(count, -1, 2))
            context.progress.update(start + count, budget, "choosing changes")
        return self.build_release(state.to_graph(context.rng("weights")))


class _Neighborhoods:
    """Mutable closed neighbourhoods, and the effect of changes on similarities."""

    def __init__(self, graph: Graph, hidden: np.ndarray) -> None:
        self.graph, n = graph, graph.num_nodes
        closed = sparse.csr_array(graph.adjacency != 0, dtype=np.int8)
        closed = sparse.csr_array(closed + sparse.eye_array(n, format="csr", dtype=np.int8))
        closed.sort_indices()
        self._starts = closed.indptr.astype(np.int64)
        self._columns = closed.indices.astype(np.int64)
        self._sizes = np.diff(self._starts)
        ends = np.concatenate([hidden, hidden[:, ::-1]]).astype(np.int64)
        ends = ends[np.argsort(ends[:, 0], kind="stable")]
        counts = np.bincount(ends[:, 0], minlength=n)
        self._secrets = np.concatenate([[0], np.cumsum(counts)]), ends[:, 1].copy()
        self.is_exposed = np.zeros(n, bool)
        self.is_exposed[hidden] = True

    def change(self, candidates: np.ndarray) -> None:
        """Flip the best pair of each row of (k, c, 2) candidates, sequentially."""
        room = np.bincount(candidates.ravel(), minlength=self.graph.num_nodes)
        self._starts, self._columns = make_room(self._starts, self._sizes, self._columns, room)
        make_changes(self._starts, self._sizes, self._columns, *self._secrets, candidates)

    def to_graph(self, rng: np.random.Generator) -> Graph:
        """Graph of the neighbourhoods; added links have weights like those of the graph."""
        rows = np.repeat(np.arange(self.graph.num_nodes), self._sizes)
        offsets = np.cumsum(self._sizes) - self._sizes
        places = np.arange(len(rows)) - offsets[rows] + self._starts[rows]
        edges = np.stack([rows, self._columns[places]], axis=1)
        edges = edges[edges[:, 0] < edges[:, 1]]
        if self.graph.weights is None:
            return self.graph.with_edges(edges)
        places = find_places(pair_codes(edges, self.graph.num_nodes), self.graph.edge_codes)
        weights = np.empty(len(edges))
        weights[places >= 0] = self.graph.weights[places[places >= 0]]
        is_kept = np.zeros(self.graph.num_edges, bool)
        is_kept[places[places >= 0]] = True
        kept = self.graph.select_edges(is_kept)
        weights[places < 0] = draw_weights(kept, int((places < 0).sum()), rng)
        return self.graph.with_edges(edges, weights)


@numba.njit(nogil=True, cache=True)
def make_room(
    starts: np.ndarray, sizes: np.ndarray, columns: np.ndarray, room: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Copy the rows with `room` (n,) free places at the end of each."""
    begins = np.zeros(len(sizes) + 1, np.int64)
    for i in range(len(sizes)):
        begins[i + 1] = begins[i] + sizes[i] + room[i]
    wider = np.empty(begins[-1], np.int64)
    for i in range(len(sizes)):
        wider[begins[i] : begins[i] + sizes[i]] = columns[starts[i] : starts[i] + sizes[i]]
    return begins, wider


@numba.njit(nogil=True, cache=True)
def make_changes(
    starts: np.ndarray,
    sizes: np.ndarray,
    columns: np.ndarray,
    secret_starts: np.ndarray,
    secrets: np.ndarray,
    candidates: np.ndarray,
) -> None:
    """Flip, for each row of `candidates` (k, c, 2) in turn, the pair with the best gain per loss.

    secret_starts, secrets  CSR of the sensitive links. Nothing is flipped without a gain.
    """
    mark = np.zeros(len(sizes), np.bool_)
    for step in range(len(candidates)):
        best, best_ratio = -1, 0.0
        for place in range(candidates.shape[1]):
            u, v = candidates[step, place, 0], candidates[step, place, 1]
            gain, loss = compute_effect(starts, sizes, columns, secret_starts, secrets, u, v, mark)
            if gain > 0 and gain / (loss + 1e-3) > best_ratio:
                best, best_ratio = place, gain / (loss + 1e-3)
        if best >= 0:
            u, v = candidates[step, best, 0], candidates[step, best, 1]
            _flip(starts, sizes, columns, u, v)
            _flip(starts, sizes, columns, v, u)


@numba.njit(nogil=True, cache=True)
def compute_effect(
    starts: np.ndarray,
    sizes: np.ndarray,
    columns: np.ndarray,
    secret_starts: np.ndarray,
    secrets: np.ndarray,
    u: int,
    v: int,
    mark: np.ndarray,
) -> tuple[float, float]:
    """(gain, loss) of removing (u, v) if linked, else of adding it; `mark` (n,) all False."""
    gain = loss = 0.0
    is_link = contains(columns, starts[u], starts[u] + sizes[u], v)
    sign = -1 if is_link else 1
    for a, b in ((u, v), (v, u)):
        row = columns[starts[a] : starts[a] + sizes[a]]
        for x in row:
            mark[x] = True
        for x in secrets[secret_starts[a] : secret_starts[a + 1]]:
            if x != b:
                gain -= _change(starts, sizes, columns, a, b, x, sign, mark)
        for x in row:
            if x != a and x != b:
                loss += abs(_change(starts, sizes, columns, a, b, x, sign, mark))
        for x in row:
            mark[x] = False
    return gain, loss


@numba.njit(nogil=True, cache=True)
def _change(
    starts: np.ndarray,
    sizes: np.ndarray,
    columns: np.ndarray,
    a: int,
    b: int,
    x: int,
    sign: int,
    mark: np.ndarray,
) -> float:
    """Δ s_ax when b is added to (sign 1) or removed from (−1) the marked N[a]; N[x] unchanged."""
    first, size, own = starts[x], sizes[x], sizes[a]
    common = 0
    if size > SEARCHED * own:
        for y in columns[starts[a] : starts[a] + own]:
            common += contains(columns, first, first + size, y)
    else:
        for y in columns[first : first + size]:
            common += mark[y]
    new_common = common + sign * contains(columns, first, first + size, b)
    return new_common / math.sqrt((own + sign) * size) - common / math.sqrt(own * size)


@numba.njit(nogil=True, cache=True)
def _flip(starts: np.ndarray, sizes: np.ndarray, columns: np.ndarray, a: int, b: int) -> None:
    """Remove b from N[a] or insert it, keeping the row sorted."""
    first, size = starts[a], sizes[a]
    place = first
    while place < first + size and columns[place] < b:
        place += 1
    if place < first + size and columns[place] == b:
        for index in range(place, first + size - 1):
            columns[index] = columns[index + 1]
        sizes[a] -= 1
        return
    for index in range(first + size, place, -1):
        columns[index] = columns[index - 1]
    columns[place] = b
    sizes[a] += 1
