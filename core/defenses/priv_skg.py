"""PrivSKG: a stochastic Kronecker graph fitted to noisy subgraph counts; (ε, δ)-edge DP."""

from __future__ import annotations

from itertools import product
from typing import ClassVar

import numpy as np
import pandas as pd
from pydantic import Field

from core.algorithms.triangles import compute_triangles
from core.arrays import decode_pairs, pair_codes
from core.context import Context
from core.defenses.budgeted import DataFree, Delta, EdgePrivateDefense
from core.defenses.dp_1k import estimate_degrees
from core.graph import Graph
from core.methods import MethodInfo
from core.privacy.budget import Account
from core.privacy.guarantees import EDGE, describe_data_use, draw_uniform_graph
from core.privacy.mechanisms import check_release_fits
from core.release import Release
from core.threats import Threats

TILE_ENTRIES = 5_000_000
"""Pairs with a common neighbour per chunk."""


class PrivSkg(EdgePrivateDefense):
    """Four noisy counts, three parameters fitted to them, and a graph of these.

    Links, wedges and claws follow from noisy degrees (those of DP-1K, half of ε); the number of
    triangles gets noise of its smooth sensitivity (the other half, and δ). The initiator [[a, b],
    [b, c]] minimises the sum of squared relative errors of the expected counts; the number of links
    published is that of the fit, on Cora 16 % below the noisy one at ε = 10. Its graph has 2^k ≥ n
    nodes, of which the n with most links are kept, in random order. PGB's implementation adds noise
    of sensitivity 1 to degrees of which a link changes two, takes one factor of the claws without
    noise, and e^(−β) times the most triangles of a node for a smooth sensitivity.
    """

    info: ClassVar[MethodInfo] = MethodInfo(
        key="priv_skg",
        title="PrivSKG",
        summary="Publishes a stochastic Kronecker graph with the noisy counts of small shapes.",
        source="Mir and Wright, A differentially private estimator for the stochastic Kronecker "
        "graph model, PAIS 2012; moments: Gleich and Owen, Internet Mathematics 8, 2012",
        group="edge DP",
        cost="seconds",
        version=3,
    )
    delta: Delta = Field(
        1e-6, description="Of the count of triangles; should be far below 1 / number of links."
    )
    data_free: DataFree = False

    @property
    def keeps_nodes(self) -> bool:
        return False

    def publish(self, graph: Graph, threats: Threats, context: Context) -> Release:
        n = graph.num_nodes
        data = draw_uniform_graph(graph, context) if self.data_free else graph
        account = Account(EDGE, self.epsilon, context, self.delta)
        counts = self._estimate_counts(data, account, context)
        context.progress.update(1, 3, "fitting the initiator")
        power = max((n - 1).bit_length(), 1)
        initiator = fit_initiator(counts, power)
        context.progress.update(2, 3, "drawing links")
        wanted = min(round(expect_counts(*initiator, power)[0]), graph.num_pairs)
        check_release_fits("PrivSKG", wanted, context, "raise epsilon")
        links = draw_kronecker(initiator, power, wanted, context.rng("links"))
        kept = keep_busiest(links, 1 << power, n, context.rng("nodes"))
        context.progress.update(3, 3, "drawing links")
        guarantee = account.make_guarantee(note=describe_data_use(self.data_free, False))
        return self.build_release(graph.with_edges(kept), guarantee)

    def _estimate_counts(self, graph: Graph, account: Account, context: Context) -> np.ndarray:
        """(4,) noisy numbers of links, wedges, claws and triangles, each ≥ 1."""
        n = graph.num_nodes
        degrees = estimate_degrees(graph.degrees, account, 0.5, context).astype(np.float64)
        triangles = compute_triangles(graph.edges, n, context.progress).sum() / 3
        shared = find_most_shared(graph, context)
        triangles = account.add_smooth_noise(triangles, shared, max(n - 2, 0), 0.5, "triangles")
        return np.array([*count_stars(degrees), max(triangles, 1.0)])


def count_stars(degrees: np.ndarray) -> tuple[float, float, float]:
    """Numbers of links, wedges and claws, each ≥ 1."""
    d = degrees
    counts = d.sum() / 2, (d * (d - 1)).sum() / 2, (d * (d - 1) * (d - 2)).sum() / 6
    links, pairs, triples = (max(float(count), 1.0) for count in counts)
    return links, pairs, triples


def find_most_shared(graph: Graph, context: Context) -> int:
    """Largest number of common neighbours of any two nodes: the local sensitivity of the
    triangle count."""
    pattern = graph.adjacency.copy()
    pattern.data[:] = 1.0
    steps = np.cumsum(pattern @ graph.degrees)
    largest, start = 0, 0
    while start < graph.num_nodes:
        followed = steps[start - 1] if start else 0
        stop = max(int(np.searchsorted(steps, followed + TILE_ENTRIES)), start + 1)
        shared = (pattern[start:stop] @ pattern).tocoo()
        others = shared.data[shared.coords[0] + start != shared.coords[1]]
        largest = max(largest, int(others.max(initial=0)))
        context.progress.check()
        start = stop
    return largest


def expect_counts(a: float, b: float, c: float, power: int) -> np.ndarray:
    """(4,) expected links, wedges, claws and triangles of the k-th Kronecker power of [[a, b],
    [b, c]], without loops (after Gleich and Owen, 2012, §3)."""
    k = power
    plain, loops = (a + 2 * b + c) ** k, (a + c) ** k
    squares, loop_squares = (a * a + 2 * b * b + c * c) ** k, (a * a + c * c) ** k
    row = ((a + b) ** 2 + (b + c) ** 2) ** k
    row_loop = (a * (a + b) + c * (b + c)) ** k
    pairs = row - 2 * row_loop - squares + 2 * loop_squares
    # With r, s, t the sums of a row's chances, of their squares and cubes, and d that of the loop:
    # Σ r³ − 3r²d + 6rd² − 3rs + 3ds + 2t − 6d³, each of which is a k-th power.
    triples = (
        ((a + b) ** 3 + (b + c) ** 3) ** k
        - 3 * (a * (a + b) ** 2 + c * (b + c) ** 2) ** k
        + 6 * (a * a * (a + b) + c * c * (b + c)) ** k
        - 3 * ((a + b) * (a * a + b * b) + (b + c) * (b * b + c * c)) ** k
        + 3 * (a * (a * a + b * b) + c * (b * b + c * c)) ** k
        + 2 * (a**3 + 2 * b**3 + c**3) ** k
        - 6 * (a**3 + c**3) ** k
    )
    triangles = (
        (a**3 + 3 * b * b * (a + c) + c**3) ** k
        - 3 * (a * (a * a + b * b) + c * (b * b + c * c)) ** k
        + 2 * (a**3 + c**3) ** k
    )
    return np.array([(plain - loops) / 2, pairs / 2, triples / 6, triangles / 6])


def fit_initiator(counts: np.ndarray, power: int) -> tuple[float, float, float]:
    """(a, b, c) in [0, 1], a ≥ c, with the smallest sum of squared relative errors of the
    counts."""
    from scipy.optimize import minimize

    def compute_error(parameters: np.ndarray) -> float:
        a, b, c = map(float, parameters)
        expected = expect_counts(a, b, c, power)
        return float((((counts - expected) / counts) ** 2).sum())

    starts = product((0.5, 0.8, 0.99), (0.2, 0.5, 0.8), (0.05, 0.3, 0.6))
    found = [
        minimize(compute_error, start, method="L-BFGS-B", bounds=[(0, 1)] * 3) for start in starts
    ]
    a, b, c = map(float, min(found, key=lambda result: float(result.fun)).x)
    return max(a, c), b, min(a, c)


def draw_kronecker(
    initiator: tuple[float, float, float], power: int, wanted: int, rng: np.random.Generator
) -> np.ndarray:
    """(k, 2) distinct pairs of 2^power nodes, up to `wanted`; each drawn by `power` choices of a
    quadrant, in proportion to the initiator's entries."""
    a, b, c = initiator
    size, total = 1 << power, a + 2 * b + c
    codes = np.empty(0, np.int64)
    for _ in range(50):
        missing = wanted - len(codes)
        if missing <= 0 or total <= 0:
            break
        u = rng.random((power, missing + missing // 4 + 8))
        row = u >= (a + b) / total
        column = ((u >= a / total) & ~row) | (u >= (a + 2 * b) / total)
        bits = 1 << np.arange(power)[:, None]
        ends = np.stack([(row * bits).sum(axis=0), (column * bits).sum(axis=0)], axis=1)
        fresh = pair_codes(ends[ends[:, 0] != ends[:, 1]], size)
        codes = pd.unique(np.concatenate([codes, fresh]))[:wanted]
    return decode_pairs(codes, size)


def keep_busiest(
    links: np.ndarray, size: int, num_nodes: int, rng: np.random.Generator
) -> np.ndarray:
    """Links (k, 2) among the `num_nodes` of `size` nodes with highest degree, renumbered at
    random."""
    degrees = np.bincount(links.ravel(), minlength=size)
    kept = np.argsort(-degrees, kind="stable")[:num_nodes]
    place = np.full(size, -1)
    place[kept] = rng.permutation(num_nodes)
    ends = place[links]
    return np.asarray(ends[(ends >= 0).all(axis=1)])
