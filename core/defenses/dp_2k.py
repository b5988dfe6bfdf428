"""DP-2K: a random graph of noisy degrees and noisy joint degree counts; ε-edge DP."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from pydantic import Field

from core.algorithms.pairs import draw_by_degrees
from core.arrays import decode_pairs, divide_or_zero, pair_codes, sort_distinct
from core.context import Context
from core.defenses.budgeted import DataFree, EdgePrivateDefense
from core.defenses.dp_1k import estimate_degrees
from core.graph import Graph
from core.methods import MethodInfo, OpenUnitInterval
from core.privacy.budget import Account
from core.privacy.guarantees import EDGE, describe_data_use, draw_uniform_graph
from core.privacy.mechanisms import check_release_fits
from core.privacy.tables import add_noise_to_counts
from core.release import Release
from core.threats import Threats

ROUNDS = 50
"""Rounds of fitting the joint table to the degrees."""


class Dp2k(EdgePrivateDefense):
    """The dK-2 series with noise: the number of links between nodes of degree j and of degree k.

    Degrees from a cap on are one class. One more link raises the degree of both ends and, below the
    cap, moves all their other links to another cell: 4 (cap − 1) + 1 in sum. The authors use no cap
    but noise of a smooth sensitivity, which requires a δ. Degrees are those of DP-1K; the table is
    fitted to them, and the ends of each class are matched at random.
    """

    info: ClassVar[MethodInfo] = MethodInfo(
        key="dp_2k",
        title="DP-2K",
        summary="Publishes a random graph whose links join noisy degrees as the real ones do.",
        source="Wang and Wu, Preserving differential privacy in degree-correlation based graph "
        "generation, Transactions on Data Privacy 2013, DP-2K",
        group="edge DP",
        cost="seconds",
        version=3,
    )
    degree_cap: int = Field(
        20,
        ge=1,
        le=1000,
        title="Largest class of degrees",
        description="Nodes with as many links or more are one class; noise grows with it.",
    )
    degree_share: OpenUnitInterval = Field(
        0.3,
        title="Share of ε for the degrees",
        description="The rest of the budget protects the links between classes.",
    )
    data_free: DataFree = False

    @property
    def keeps_nodes(self) -> bool:
        return False

    def publish(self, graph: Graph, threats: Threats, context: Context) -> Release:
        n, cap = graph.num_nodes, self.degree_cap
        data = draw_uniform_graph(graph, context) if self.data_free else graph
        account = Account(EDGE, self.epsilon, context)
        estimated = estimate_degrees(data.degrees, account, self.degree_share, context)
        context.progress.update(1, 3, "links between degrees")
        scale = account.spend(account.share_left, 4.0 * (cap - 1) + 1.0, "links between degrees")
        ends = np.minimum(data.degrees[data.edges], cap) - 1
        cells, counts = add_noise_to_counts(ends, cap, True, scale, context, "joint")
        rng = context.rng("links")
        degrees = rng.permutation(estimated)
        check_release_fits("DP-2K", degrees.sum() / 2, context, "raise epsilon")
        table = np.zeros((cap, cap))
        table[cells[:, 0], cells[:, 1]] += counts
        table[cells[:, 1], cells[:, 0]] += counts  # counts of ends: a link within a class has two
        links = match_classes(degrees, fit_table(table, degrees), rng)
        context.progress.update(2, 3, "drawing links")
        missing = degrees - np.bincount(links.ravel(), minlength=n)
        codes = sort_distinct(pair_codes(links, n))
        completion = draw_by_degrees(np.maximum(missing, 0), rng, codes)
        context.progress.update(3, 3, "drawing links")
        guarantee = account.make_guarantee(note=describe_data_use(self.data_free, False))
        return self.build_release(graph.with_edges(np.concatenate([links, completion])), guarantee)


def fit_table(table: np.ndarray, degrees: np.ndarray) -> np.ndarray:
    """(c, c) symmetric numbers of ends of class j joined to class k, with row sums given by the
    degrees: j + 1, or c and more in the last row.

    Iterative proportional fitting (Deming and Stephan, 1940), on both sides at once; a small share
    of random matching is added first, so that no row is empty.
    """
    cap = len(table)
    ends = np.bincount(np.minimum(degrees, cap), degrees, cap + 1)[1:]
    total = max(ends.sum(), 1.0)
    table = table + 1e-3 * np.outer(ends, ends) / total
    for _ in range(ROUNDS):
        rows = table.sum(axis=1)
        scale = np.sqrt(divide_or_zero(ends, rows))
        table = table * scale[:, None] * scale
    return table


def match_classes(degrees: np.ndarray, table: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """(k, 2) distinct pairs whose ends are matched at random within each cell of the table;
    loops, duplicates and leftover ends are dropped."""
    cap, n = len(table), len(degrees)
    classes = np.minimum(degrees, cap)
    members = [np.flatnonzero(classes == k) for k in range(1, cap + 1)]
    free = [rng.permutation(np.repeat(nodes, degrees[nodes])) for nodes in members]
    found = [np.empty((0, 2), np.int64)]
    for j in range(cap):
        for k in range(j, cap):
            wanted = table[j, k] / (2 if j == k else 1)
            count = int(wanted + rng.random())
            limit = len(free[j]) // 2 if j == k else min(len(free[j]), len(free[k]))
            count = min(count, limit)
            left, free[j] = free[j][:count], free[j][count:]
            right, free[k] = free[k][:count], free[k][count:]
            found.append(np.stack([left, right], axis=1))
    pairs = np.concatenate(found)
    codes = sort_distinct(pair_codes(pairs[pairs[:, 0] != pairs[:, 1]], n))
    return decode_pairs(codes, n)
