"""PrivGraph: noisy communities, degrees and counts, from which a graph is drawn; ε-edge DP."""

from __future__ import annotations

import math
from typing import ClassVar

import networkx as nx
import numpy as np
from pydantic import Field

from core.context import Context
from core.graph import Graph, pair_codes
from core.methods import Defense, MethodInfo
from core.privacy.data_free import DESCRIPTION, draw_uniform_graph
from core.privacy.guarantees import describe_data_use, make_edge_guarantee
from core.privacy.mechanisms import add_discrete_laplace, add_laplace, check_release_fits
from core.release import Release
from core.threats import Threats

MAX_GROUPS = 2000
ROUNDS = 12
"""Rounds in which drawn links that coincide are drawn again."""


class PrivGraph(Defense):
    """A synthetic graph from three noisy views of the private one, a third of ε each.

    1. Random groups of nodes; noisy counts of the links between them; Louvain on the groups.
       A link changes one count by one.
    2. Each node moves to a community by the exponential mechanism, scored by its links into
       it, with ε/6 a node: a link raises one score of either end, and monotone scores need no
       factor 2.
    3. Noisy degrees inside the communities (a link changes two) and noisy counts between them
       (one); any link counts in one of the two only, so both may spend ε/3. Inside, links are
       drawn by Chung–Lu on the degrees; between, uniformly.

    Counts that are zero are not stored: only those whose noise exceeds a public threshold are
    drawn, as a Binomial count and positions.
    """

    info: ClassVar[MethodInfo] = MethodInfo(
        key="priv_graph",
        title="PrivGraph",
        summary="Publishes a synthetic graph drawn from noisy communities and degrees.",
        source="Yuan et al., PrivGraph, USENIX Security 2023",
        group="edge DP",
        cost="seconds",
    )
    epsilon: float = Field(
        6.0,
        gt=0,
        le=100,
        title="Privacy budget ε",
        description="Spent in equal parts on communities, their adjustment, and the counts.",
    )
    group_size: int = Field(
        20,
        ge=1,
        le=1000,
        title="Nodes a group",
        json_schema_extra={"unit": "nodes"},
        description="Size of the random groups from which communities are first guessed.",
    )
    data_free: bool = Field(False, title="Data-free twin", description=DESCRIPTION)

    def publish(self, graph: Graph, threats: Threats, context: Context) -> Release:
        data = draw_uniform_graph(graph, context) if self.data_free else graph
        third = self.epsilon / 3.0
        context.progress.update(0, 4, "communities")
        community = self._guess_communities(data, third, context)
        context.progress.update(1, 4, "adjusting communities")
        community = adjust_communities(data, community, third, context.rng("adjust"))
        context.progress.update(2, 4, "noisy degrees and counts")
        inside = community[data.edges[:, 0]] == community[data.edges[:, 1]]
        degrees = np.bincount(data.edges[inside].ravel(), minlength=graph.num_nodes)
        noisy = add_laplace(degrees, 2.0 / third, context, "degrees")
        sizes = np.bincount(community)
        noisy = np.minimum(subtract_to_sum(noisy), sizes[community] - 1.0)
        cells, counts = add_noise_to_counts(
            community[data.edges[~inside]], len(sizes), False, 1.0 / third, context, "between"
        )
        counts = np.minimum(counts, sizes[cells[:, 0]] * sizes[cells[:, 1]])
        inner = np.floor(
            np.bincount(community, noisy, len(sizes)) / 2 + context.rng("round").random(len(sizes))
        ).astype(np.int64)
        total = float(inner.sum() + counts.sum())
        check_release_fits("PrivGraph", total, context, "raise epsilon or use a smaller graph")
        edges = _draw_links(community, noisy, inner, cells, counts, context)
        release = graph.with_edges(edges)
        facts = {"communities": float(len(sizes))}
        if not context.is_publishing:
            kept = float(graph.contains_pairs(release.edges).sum())
            facts |= {
                "links_removed": graph.num_edges - kept,
                "links_added": release.num_edges - kept,
            }
        return Release(
            release,
            self.info.key,
            self.config,
            facts=facts,
            guarantee=make_edge_guarantee(
                self.epsilon,
                "sequential composition",
                note=describe_data_use(self.data_free, False),
            ),
        )

    def _guess_communities(self, graph: Graph, epsilon: float, context: Context) -> np.ndarray:
        """(n,) community of each node, from noisy counts between random groups."""
        n = graph.num_nodes
        size = max(self.group_size, math.ceil(n / MAX_GROUPS))
        group = context.rng("groups").permutation(n) // size
        cells, counts = add_noise_to_counts(
            group[graph.edges], int(group.max()) + 1, True, 1.0 / epsilon, context, "groups"
        )
        groups = nx.Graph()
        groups.add_nodes_from(range(int(group.max()) + 1))
        groups.add_weighted_edges_from(zip(*cells.T.tolist(), counts.tolist(), strict=True))
        seed = int(context.rng("louvain").integers(2**31))
        best: list[set[int]] = [set(groups)]
        for level in nx.community.louvain_partitions(groups, seed=seed):
            context.progress.check()
            best = level
        of_group = np.empty(len(groups), np.int64)
        for index, members in enumerate(best):
            of_group[list(members)] = index
        return of_group[group]


def adjust_communities(
    graph: Graph, community: np.ndarray, epsilon: float, rng: np.random.Generator
) -> np.ndarray:
    """(n,) new communities, node i's drawn ∝ exp(ε/2 · number of its links into it).

    O(m): communities that a node has no link into have weight 1 each, drawn as one. Empty
    communities are dropped from the numbering.
    """
    n, num = graph.num_nodes, int(community.max()) + 1
    both = np.concatenate([graph.edges, graph.edges[:, ::-1]])
    keys, counts = np.unique(both[:, 0] * num + community[both[:, 1]], return_counts=True)
    node, choice = keys // num, keys % num
    # Gumbel-max: the largest of log-weight + Gumbel noise is a draw from the weights.
    scores = epsilon / 2.0 * counts + rng.gumbel(size=len(counts))
    rest = num - np.bincount(node, minlength=n)
    with np.errstate(divide="ignore"):
        best = np.log(rest) + rng.gumbel(size=n)
    order = np.lexsort((scores, node))
    last = order[np.append(np.diff(node[order]) > 0, True)] if len(order) else order
    chosen = np.full(n, -1)
    wins = scores[last] > best[node[last]]
    chosen[node[last[wins]]] = choice[last[wins]]
    for i in np.flatnonzero(chosen < 0):  # any community without a link of i
        while chosen[i] < 0:
            draw = int(rng.integers(num))
            place = np.searchsorted(keys, i * num + draw)
            if place == len(keys) or keys[place] != i * num + draw:
                chosen[i] = draw
    return np.unique(chosen, return_inverse=True)[1]


def add_noise_to_counts(
    ends: np.ndarray, num: int, with_diagonal: bool, scale: float, context: Context, purpose: str
) -> tuple[np.ndarray, np.ndarray]:
    """Cells (c, 2) i ≤ j of a num × num symmetric table and their noisy counts, where positive.

    ends (k, 2) are the cells of the k links. The threshold is public: about two zero cells a row
    exceed it.
    """
    codes, counts = np.unique(pair_codes(ends, num), return_counts=True)
    num_cells = num * (num + 1) // 2 if with_diagonal else num * (num - 1) // 2
    threshold = max(round(scale * math.log(max(num_cells / (4.0 * num), 1.0))), 0)
    counts = add_discrete_laplace(counts, scale, context, purpose)
    decay = math.exp(-1.0 / scale)
    rng = context.rng(purpose, "zeros")
    # P(two-sided geometric > t) = decay^(t+1) / (1 + decay); above t it is t + geometric.
    exceeding = rng.binomial(num_cells - len(codes), decay ** (threshold + 1) / (1.0 + decay))
    zeros = _draw_empty_cells(codes, num, with_diagonal, int(exceeding), rng)
    values = threshold + rng.geometric(max(1.0 - decay, 1e-12), len(zeros))
    codes, counts = np.concatenate([codes, zeros]), np.concatenate([counts, values])
    keep = counts > threshold
    codes = codes[keep]
    return np.stack([codes // num, codes % num], axis=1), counts[keep]


def subtract_to_sum(values: np.ndarray) -> np.ndarray:
    """max(v − δ, 0) with δ such that the sum is that of `values` (or 0 if that is negative).

    Clipping noisy numbers at 0 alone would inflate their sum (NormSub: Wang et al., 2020).
    """
    target = max(float(values.sum()), 0.0)
    ordered = np.sort(values)[::-1]
    shifts = (np.cumsum(ordered) - target) / np.arange(1, len(values) + 1)
    positive = np.flatnonzero(ordered > shifts)
    shift = shifts[positive[-1]] if target > 0 and len(positive) else np.inf
    return np.maximum(values - shift, 0.0) if np.isfinite(shift) else np.zeros(len(values))


def _draw_empty_cells(
    codes: np.ndarray, num: int, with_diagonal: bool, count: int, rng: np.random.Generator
) -> np.ndarray:
    """`count` distinct codes of cells outside `codes` (sorted), uniformly."""
    found = np.empty(0, np.int64)
    while len(found) < count:
        ends = rng.integers(0, num, (2 * (count - len(found)) + 16, 2))
        # A cell off the diagonal is hit from both sides: keep one of them.
        ends = ends[(ends[:, 0] < ends[:, 1]) | (with_diagonal & (ends[:, 0] == ends[:, 1]))]
        drawn = pair_codes(ends, num)
        merged = np.concatenate([found, drawn[~np.isin(drawn, codes)]])
        found = merged[np.sort(np.unique(merged, return_index=True)[1])]
    return found[:count]


def _draw_links(
    community: np.ndarray,
    degrees: np.ndarray,
    inner: np.ndarray,
    cells: np.ndarray,
    counts: np.ndarray,
    context: Context,
) -> np.ndarray:
    """Distinct links: `inner` (C,) inside communities ∝ degrees, `counts` (c,) between them."""
    n, num = len(community), len(inner)
    rng = context.rng("draw")
    order = np.argsort(community, kind="stable")
    stops = np.cumsum(np.bincount(community, minlength=num))
    starts = stops - np.bincount(community, minlength=num)
    by_degree = np.append(0.0, np.cumsum(degrees[order]))
    uniform = np.arange(n + 1.0)

    def draw(cumulative: np.ndarray, of: np.ndarray) -> np.ndarray:
        low, high = cumulative[starts[of]], cumulative[stops[of]]
        place = np.searchsorted(cumulative, low + (high - low) * rng.random(len(of)), "right") - 1
        chosen: np.ndarray = order[np.clip(place, starts[of], stops[of] - 1)]
        return chosen

    left = np.concatenate([np.arange(num), cells[:, 0]])
    right = np.concatenate([np.arange(num), cells[:, 1]])
    wanted = np.concatenate([inner, counts]).astype(np.int64)
    cell_codes = left * num + right
    by_code = np.argsort(cell_codes)
    found = np.empty(0, np.int64)
    missing = wanted
    for attempt in range(ROUNDS):
        context.progress.update(3 + attempt / ROUNDS, 4, "drawing links")
        which = np.repeat(np.arange(len(wanted)), missing)
        if not len(which):
            break
        is_inner = which < num
        i, j = np.empty(len(which), np.int64), np.empty(len(which), np.int64)
        for mask, cumulative in ((is_inner, by_degree), (~is_inner, uniform)):
            i[mask] = draw(cumulative, left[which[mask]])
            j[mask] = draw(cumulative, right[which[mask]])
        pairs = np.stack([i, j], axis=1)[i != j]
        found = np.unique(np.concatenate([found, pair_codes(pairs, n)]))
        ends = np.sort(community[np.stack([found // n, found % n], 1)], axis=1)
        cell = by_code[np.searchsorted(cell_codes, ends[:, 0] * num + ends[:, 1], sorter=by_code)]
        missing = np.maximum(wanted - np.bincount(cell, minlength=len(wanted)), 0)
    return np.stack([found // n, found % n], axis=1)
