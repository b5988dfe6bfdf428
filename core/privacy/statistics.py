"""Node-private statistics of a graph, with intervals that include the noise.

Each statistic is a table of integers with a known node sensitivity, and gets discrete Laplace
noise. Counts are clipped only by a public maximum degree: on graphs that respect it nothing is cut
off and the intervals cover the truth; if it is wrong the guarantee holds, the intervals do not.

Without such knowledge no private interval can be much shorter: of two graphs that differ in one
node, an interval that covers the truth of one with 95 % must cover the other's with 1 − 0.05 e^ε,
and one node may have n − 1 links.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np

from core.context import Context
from core.errors import InputError
from core.graph import Graph
from core.node_column import MISSING, NodeColumn
from core.privacy.budget import Account
from core.privacy.capping import count_capped_triangles, select_capped_links
from core.privacy.guarantees import NODE
from core.release import Guarantee

Statistic = Literal["degree_distribution", "num_links", "triangles", "mixing"]

LEVEL = 0.95
"""Simultaneous confidence of all intervals of a table."""


@dataclass(frozen=True)
class Row:
    """One count: label, value and interval, as integers."""

    statistic: str
    of: str
    estimate: int
    low: int
    high: int


@dataclass(frozen=True, eq=False)
class Counts:
    """Counts before noise.

    values       (k,) int64
    sensitivity  change by all links of one node, in sum
    bounds         (k,) int64 upper bounds
    is_falling   whether the counts are non-increasing
    """

    of: tuple[str, ...]
    values: np.ndarray
    sensitivity: int
    bounds: np.ndarray
    is_falling: bool = False


def draw_statistics(
    graph: Graph,
    names: Sequence[Statistic],
    epsilon: float,
    context: Context,
    max_degree: int | None = None,
    column: NodeColumn | None = None,
) -> tuple[tuple[Row, ...], Guarantee]:
    """A table of the named statistics and its ε-node guarantee; each spends an equal share.

    max_degree  public bound on a node's links; by default n − 1, which holds for any graph
    column      public classes of the nodes, for `mixing`
    """
    graph = graph.with_edges(graph.present_edges)
    cap = graph.num_nodes - 1 if max_degree is None else min(max_degree, graph.num_nodes - 1)
    account, share = Account(NODE, epsilon, context), Fraction(1, len(names))
    tables = [_count(graph, name, cap, column) for name in names]
    alpha = (1 - LEVEL) / max(sum(len(table.values) for table in tables), 1)
    rows: list[Row] = []
    for name, table in zip(names, tables, strict=True):
        context.progress.check()
        sensitivity = float(max(table.sensitivity, 1))
        noisy = account.add_count_noise(table.values, share, sensitivity, name)
        scale = sensitivity / account.spendings[-1].epsilon
        rows += _bound(name, table, noisy, compute_noise_bound(scale, alpha))
    note = f"The intervals hold where no node has more than {cap:,} links"
    reason = "which is so in any graph" if max_degree is None else "which was given as public"
    return tuple(rows), account.make_guarantee(note=f"{note}, {reason}.")


def compute_noise_bound(scale: float, alpha: float) -> int:
    """Smallest t with P(|Z| > t) ≤ alpha, for discrete Laplace noise P(Z = z) ∝ e^(−|z|/scale);
    P(|Z| > t) = 2 e^(−(t + 1)/scale) / (1 + e^(−1/scale))."""
    bound = scale * math.log(2.0 / (alpha * (1.0 + math.exp(-1.0 / scale)))) - 1.0
    return max(math.ceil(bound - 1e-9), 0)


def _count(graph: Graph, name: Statistic, cap: int, column: NodeColumn | None) -> Counts:
    if name == "num_links":
        return count_links(graph, cap)
    if name == "degree_distribution":
        return count_degrees(graph, cap)
    if name == "triangles":
        return count_triangles(graph, cap)
    if column is None:
        raise InputError("mixing", "needs a public column", remedy="name one of the graph's")
    return count_mixing(graph, cap, column)


def count_links(graph: Graph, cap: int) -> Counts:
    """Number of links (1,); one node has at most `cap`."""
    n = graph.num_nodes
    count = select_capped_links(graph.edges, n, cap).sum(keepdims=True)
    return Counts(("all links",), count, cap, np.array([n * cap // 2]))


def count_degrees(graph: Graph, cap: int) -> Counts:
    """Nodes (k,) with at least 1, 2, … links, on a grid of degrees that gets coarser.

    One more link at a node moves it by at most one grid point. The changed node passes all points;
    the others change by 2 `cap` links in sum, or by one each without a cap.
    """
    n = graph.num_nodes
    degrees = np.bincount(
        graph.edges[select_capped_links(graph.edges, n, cap)].ravel(), minlength=n
    )
    steps = [2**power * part // 2 for power in range(3, 63) for part in (2, 3)]
    grid = np.array([k for k in (*range(1, 8), *steps) if k <= cap], np.int64)
    reaching = n - np.searchsorted(np.sort(degrees), grid)
    others = n - 1 if cap >= n - 1 else 2 * cap
    names = tuple(f"nodes with at least {k} link{'s' if k > 1 else ''}" for k in grid.tolist())
    bounds = np.full(len(grid), n)
    return Counts(names, reaching, len(grid) + others, bounds, is_falling=True)


def count_triangles(graph: Graph, cap: int) -> Counts:
    """Number of triangles (1,); a node with `cap` links is in at most cap (cap − 1) / 2. With
    capping, rounding the sum of weights may add one."""
    per_node = cap * (cap - 1) // 2
    is_rounded = cap < graph.num_nodes - 1
    count = math.floor(count_capped_triangles(graph, per_node) + 0.5)
    bounds = np.array([graph.num_nodes * per_node // 3])
    return Counts(("all triangles",), np.array([count]), per_node + is_rounded, bounds)


def count_mixing(graph: Graph, cap: int, column: NodeColumn) -> Counts:
    """Links (k,) within each class and between each two classes of a public column.

    The links of each pair of classes are capped separately: a node of class a changes those of a
    with b by at most min(cap, size of b).
    """
    num = column.num_classes
    codes = np.where(column.codes == MISSING, num, column.codes)
    names = [*column.classes, "unknown"]
    sizes = np.bincount(codes, minlength=num + 1)
    present = np.flatnonzero(sizes)
    ends = np.sort(codes[graph.edges], axis=1)
    labels, values, bounds = [], [], []
    for place, a in enumerate(present):
        for b in present[place:]:
            links = graph.edges[(ends[:, 0] == a) & (ends[:, 1] == b)]
            values.append(int(select_capped_links(links, graph.num_nodes, cap).sum()))
            labels.append(f"links between {names[a]} and {names[b]}")
            between = min(sizes[a] * min(cap, sizes[b]), sizes[b] * min(cap, sizes[a]))
            bounds.append(sizes[a] * min(cap, sizes[a] - 1) // 2 if a == b else between)
    per_class = [np.minimum(sizes - (np.arange(num + 1) == a), cap).sum() for a in present]
    return Counts(tuple(labels), np.array(values), int(max(per_class)), np.array(bounds))


def _bound(name: str, table: Counts, noisy: np.ndarray, bound: int) -> list[Row]:
    """Restrict rows to feasible values; for non-increasing counts all intervals are combined."""
    low, high = (np.clip(noisy + sign * bound, 0, table.bounds) for sign in (-1, 1))
    estimate = np.clip(noisy, 0, table.bounds)
    if table.is_falling and len(noisy):
        from scipy.optimize import isotonic_regression

        high = np.minimum.accumulate(high)
        low = np.minimum(np.maximum.accumulate(low[::-1])[::-1], high)
        fitted = isotonic_regression(estimate.astype(np.float64), increasing=False).x
        estimate = np.clip(np.rint(fitted), low, high)
    numbers = np.stack([estimate, low, high], axis=1).astype(np.int64).tolist()
    return [Row(name, of, *row) for of, row in zip(table.of, numbers, strict=True)]
