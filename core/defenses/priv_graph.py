"""PrivGraph: a graph drawn from noisy communities, degrees and counts; ε-edge DP."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import ClassVar

import numpy as np
from pydantic import Field

from core.arrays import decode_pairs, pair_codes
from core.context import Context
from core.defenses.budgeted import DataFree, EdgePrivateDefense
from core.graph import Graph
from core.methods import MethodInfo, Suggestion
from core.privacy.budget import Account
from core.privacy.guarantees import EDGE, describe_data_use, draw_uniform_graph
from core.privacy.mechanisms import add_laplace, check_release_fits
from core.privacy.tables import add_noise_to_counts, draw_choices, subtract_to_sum
from core.release import Release
from core.threats import Threats

MAX_GROUPS = 2000
"""Most initial groups: noise is drawn for each pair of them, two million at most."""
ROUNDS = 12
"""Rounds of redrawing duplicate links."""


class PrivGraph(EdgePrivateDefense):
    """A synthetic graph from three noisy views of the private one, a third of ε each.

    1. Random groups of nodes; noisy counts of the links between them; Louvain on the groups.
       A link changes one count by one.
    2. One node after the other moves to a community by the exponential mechanism, scored by its
       links into it, with ε/6 a node: a link raises one score of either end, and monotone scores
       need no factor 2.
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
        version=2,
    )
    suggestion: ClassVar[Suggestion | None] = Suggestion(
        6,
        ("links", "identity"),
        ("statistics",),
        "generates a synthetic network with similar communities and degrees. "
        "Guarantees edge-DP, for single links",
        recipients=("public",),
        limit="epsilon_edge",
    )
    group_size: int = Field(
        20,
        ge=1,
        le=1000,
        title="Nodes a group",
        json_schema_extra={"unit": "nodes"},
        description="Size of the random groups from which communities are first guessed.",
    )
    data_free: DataFree = False

    def publish(self, graph: Graph, threats: Threats, context: Context) -> Release:
        data = draw_uniform_graph(graph, context) if self.data_free else graph
        account, third = Account(EDGE, self.epsilon, context), Fraction(1, 3)
        context.progress.update(0, 4, "communities")
        scale = account.spend(third, 1.0, "communities")
        community = self._guess_communities(data, scale, context)
        context.progress.update(1, 4, "adjusting communities")
        # A link raises one score of either end.
        factor = account.spend_choice(third, 2.0, "adjusted communities")
        community = draw_choices(data, community, factor, context.rng("adjust"))
        context.progress.update(2, 4, "noisy degrees and counts")
        inside = community[data.edges[:, 0]] == community[data.edges[:, 1]]
        degrees = np.bincount(data.edges[inside].ravel(), minlength=graph.num_nodes)
        of_degrees, of_counts = account.spend_either(third, (2.0, 1.0), "degrees and counts")
        noisy = add_laplace(degrees, of_degrees, context, "degrees")
        sizes = np.bincount(community)
        noisy = np.minimum(subtract_to_sum(noisy), sizes[community] - 1.0)
        cells, counts = add_noise_to_counts(
            community[data.edges[~inside]], len(sizes), False, of_counts, context, "between"
        )
        counts = np.minimum(counts, sizes[cells[:, 0]] * sizes[cells[:, 1]])
        inner = np.floor(
            np.bincount(community, noisy, len(sizes)) / 2 + context.rng("round").random(len(sizes))
        ).astype(np.int64)
        total = float(inner.sum() + counts.sum())
        check_release_fits("PrivGraph", total, context, "raise epsilon or use a smaller graph")
        edges = _draw_links(community, noisy, inner, cells, counts, context)
        guarantee = account.make_guarantee(note=describe_data_use(self.data_free, False))
        facts = {"communities": float(len(sizes))}
        return self.build_release(graph.with_edges(edges), guarantee, facts=facts)

    def _guess_communities(self, graph: Graph, scale: float, context: Context) -> np.ndarray:
        """(n,) community of each node, from noisy counts between random groups."""
        import networkx as nx

        n = graph.num_nodes
        size = max(self.group_size, math.ceil(n / MAX_GROUPS))
        group = context.rng("groups").permutation(n) // size
        cells, counts = add_noise_to_counts(
            group[graph.edges], int(group.max()) + 1, True, scale, context, "groups"
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

    def draw(cumulative: np.ndarray, communities: np.ndarray) -> np.ndarray:
        low, high = cumulative[starts[communities]], cumulative[stops[communities]]
        place = (
            np.searchsorted(cumulative, low + (high - low) * rng.random(len(communities)), "right")
            - 1
        )
        return np.asarray(order[np.clip(place, starts[communities], stops[communities] - 1)])

    left = np.concatenate([np.arange(num), cells[:, 0]])
    right = np.concatenate([np.arange(num), cells[:, 1]])
    wanted = np.concatenate([inner, counts]).astype(np.int64)
    cell_codes = left * num + right
    by_code = np.argsort(cell_codes)
    found = np.empty(0, np.int64)
    missing = wanted
    for attempt in range(ROUNDS):
        context.progress.update(3 + attempt / ROUNDS, 4, "drawing links")
        cell_of_link = np.repeat(np.arange(len(wanted)), missing)
        if not len(cell_of_link):
            break
        is_inner = cell_of_link < num
        i, j = np.empty(len(cell_of_link), np.int64), np.empty(len(cell_of_link), np.int64)
        for mask, cumulative in ((is_inner, by_degree), (~is_inner, uniform)):
            i[mask] = draw(cumulative, left[cell_of_link[mask]])
            j[mask] = draw(cumulative, right[cell_of_link[mask]])
        pairs = np.stack([i, j], axis=1)[i != j]
        found = np.unique(np.concatenate([found, pair_codes(pairs, n)]))
        ends = np.sort(community[decode_pairs(found, n)], axis=1)
        cell = by_code[np.searchsorted(cell_codes, ends[:, 0] * num + ends[:, 1], sorter=by_code)]
        missing = np.maximum(wanted - np.bincount(cell, minlength=len(wanted)), 0)
    return decode_pairs(found, n)
