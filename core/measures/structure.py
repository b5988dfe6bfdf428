"""Structural change by a release (PrivDPR §6; GPS Table 3; NetFense Fig. 10).

A weighted release of an unweighted graph gives link probabilities; its statistics are those of its
heaviest links, as many as the weights sum to (Blink's Hybrid rule). If the original has weights
too, every link with positive weight counts on both sides.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import csgraph

from core.algorithms.ghratio import GHRatios
from core.algorithms.kernels import search_breadth_first
from core.algorithms.triangles import compute_triangles
from core.arrays import divide_or_zero, is_among
from core.context import Context
from core.graph import Graph
from core.measures.intervals import add_variances, measure_mean
from core.measures.link_values import measure_link_values
from core.measures.metrics import STATISTICS
from core.results import Measurement

EXACT_STEPS = 500_000_000
"""Maximum number of links followed in all searches, about two seconds; beyond it sources are
sampled."""

TILE_STEPS = 20_000_000
"""Links followed between two progress reports."""

MAX_SEARCHES = 200
"""Maximum number of searches to close the bounds on the diameter."""

CLUSTERING_SIGMA = 0.1
"""Width of the MMD kernel on clustering coefficients, as in GraphRNN's evaluation."""


@dataclass(frozen=True, eq=False)
class Shape:
    """degrees, clustering (n,); statistics: key → Measurement, the keys of STATISTICS."""

    degrees: np.ndarray
    clustering: np.ndarray
    statistics: dict[str, Measurement]


def measure_structure(original: Graph, released: Graph, context: Context) -> list[Measurement]:
    """links_kept, links_added, link_f1, link_error, degree_ks, mmd_degree, mmd_clustering, and of
    each statistic its value on the release, `<key>`, and its relative error |x̂ − x| / x,
    `mre_<key>`; and those of `measure_link_values`.

    MMD² of two graphs with GraphRNN's kernel exp(−W₁² / 2σ²), W₁ the earth mover's distance of
    the distributions over nodes: 2 − 2·kernel, from 0 (equal) to 2. Degrees are measured in
    units of the original's mean degree, because σ = 1 link would saturate on any dense graph;
    clustering has σ = 0.1. GPS's Table 3 does not state its kernel and exceeds 2, so that its
    figures compare within that table only.
    """
    before = prepare_links(original, released.weights is not None)
    after = prepare_links(released, original.weights is not None)
    old = share_shape(before, context)
    new = share_shape(after, context)
    kept = int(is_among(after.edge_codes, before.edge_codes).sum())
    total, scale = before.num_edges, max(float(old.degrees.mean()), 1e-12)
    result = [
        measure_ratio("links_kept", kept, total),
        measure_ratio("links_added", after.num_edges - kept, total),
        measure_ratio("link_f1", 2 * kept, total + after.num_edges),
        measure_exact("link_error", compute_link_error(original, released)),
        measure_exact("degree_ks", compute_ks(old.degrees, new.degrees)),
        measure_exact("mmd_degree", compute_mmd(old.degrees / scale, new.degrees / scale, 1.0)),
        measure_exact(
            "mmd_clustering", compute_mmd(old.clustering, new.clustering, CLUSTERING_SIGMA)
        ),
    ]
    for key in STATISTICS:
        result.append(new.statistics[key])
        result.append(compute_relative_error(key, old.statistics[key], new.statistics[key]))
    return [*result, *measure_link_values(original, released)]


def compute_link_error(original: Graph, released: Graph) -> float:
    """Mean |w' − w| over all pairs, a missing link having weight 0 and an unweighted one 1.

    For a release of link probabilities, Blink's mean absolute error (its Fig. 4).
    """
    difference = released.adjacency - original.adjacency
    return float(abs(difference).sum(dtype=np.float64)) / 2 / max(original.num_pairs, 1)


def compute_ks(left: np.ndarray, right: np.ndarray) -> float:
    """Kolmogorov–Smirnov distance of two distributions."""
    from scipy import stats

    return float(stats.ks_2samp(left, right, method="asymp").statistic)


def compute_mmd(left: np.ndarray, right: np.ndarray, sigma: float) -> float:
    """MMD² of two distributions under a Gaussian kernel of their earth mover's distance."""
    from scipy import stats

    distance = stats.wasserstein_distance(left, right)
    return float(2 - 2 * np.exp(-(distance**2) / (2 * sigma**2)))


def compute_statistics(graph: Graph, context: Context) -> Shape:
    """All statistics of the links of `graph`, unweighted.

    triangle_count, wedge_count Σ C(d,2), claw_count Σ C(d,3), edge_entropy −Σ (d/2m) ln(d/2m) / ln
    n, average_clustering (degree below two: 0), largest_component; path_length and diameter within
    the largest component: exact if searching from every node follows at most EXACT_STEPS links,
    else the path length is a mean over sampled sources with its variance, and the diameter the
    middle of proven bounds.
    """
    degrees = graph.degrees.astype(np.float64)
    adjacency = graph.adjacency
    triangles = compute_triangles(graph.edges, graph.num_nodes, context.progress)
    wedges = degrees * (degrees - 1) / 2
    clustering = divide_or_zero(triangles, wedges)
    exact = {
        "triangle_count": triangles.sum() / 3,
        "wedge_count": wedges.sum(),
        "claw_count": (wedges * (degrees - 2) / 3).sum(),
        "average_clustering": clustering.mean(),
    }
    statistics = {key: measure_exact(key, value) for key, value in exact.items()}
    statistics["edge_entropy"] = measure_entropy(degrees)
    _, component = csgraph.connected_components(adjacency, directed=False)
    sizes = np.bincount(component)
    statistics["largest_component"] = measure_exact("largest_component", sizes.max())
    members = np.flatnonzero(component == sizes.argmax())
    part = adjacency[members][:, members]
    for item in _measure_distances(part.indptr, part.indices, context):
        statistics[item.metric] = item
    return Shape(
        graph.degrees,
        clustering,
        {key: replace(item, n=item.n or graph.num_nodes) for key, item in statistics.items()},
    )


def prepare_links(graph: Graph, other_is_weighted: bool) -> Graph:
    """The same nodes with the links that count, unweighted and without attributes."""
    if graph.weights is None or other_is_weighted:
        edges = graph.present_edges
    else:
        count = round(float(graph.weights.sum(dtype=np.float64)))
        order = np.argsort(-graph.weights, kind="stable")
        chosen = np.sort(order[: min(count, int((graph.weights > 0).sum()))])
        edges = graph.edges[chosen]
    bare = graph.with_columns(())
    return replace(bare, edges=edges, weights=None, link_table=None)


def share_shape(graph: Graph, context: Context) -> Shape:
    """One computation per graph: the original serves all releases."""
    return context.share(
        ("structure", graph.content_hash), lambda shared: compute_statistics(graph, shared)
    )


def measure_entropy(degrees: np.ndarray) -> Measurement:
    """edge_entropy by the degrees (n,)."""
    shares = degrees[degrees > 0] / max(degrees.sum(), 1)
    if len(degrees) < 2 or not len(shares):
        return Measurement("edge_entropy", None, reason="needs two nodes and a link")
    return measure_exact("edge_entropy", -(shares * np.log(shares)).sum() / np.log(len(degrees)))


def _measure_distances(
    indptr: np.ndarray, indices: np.ndarray, context: Context
) -> list[Measurement]:
    """path_length and diameter of a connected graph."""
    n, steps = len(indptr) - 1, max(len(indices), 1)
    if n < 2:
        reason = "no two nodes are connected"
        return [Measurement(key, None, reason=reason) for key in ("path_length", "diameter")]
    count = min(n, max(EXACT_STEPS // (steps + n), 64))
    sources = np.arange(n)
    if count < n:
        sources = np.sort(context.rng("sources").choice(n, count, replace=False))
    totals, farthest = np.empty(count, np.int64), np.empty(count, np.int64)
    distances, queue = np.empty(n, np.int32), np.empty(n, np.int32)
    tile = max(TILE_STEPS // (steps + n), 1)
    for start in range(0, count, tile):
        part = slice(start, start + tile)
        search_breadth_first(
            indptr, indices, sources[part], distances, queue, totals[part], farthest[part]
        )
        context.progress.update(min(start + tile, count), count, "path lengths")
    means = totals / (n - 1)
    if count == n:
        return [
            measure_exact("path_length", means.mean()),
            measure_exact("diameter", farthest.max()),
        ]
    variance = float(means.var(ddof=1)) / count * (1 - count / n)
    limit = min(MAX_SEARCHES, max(EXACT_STEPS // (steps + n), 20))
    low, high = _bound_diameter(indptr, indices, int(farthest.max()), context, limit)
    return [
        Measurement("path_length", float(means.mean()), variance, count),
        # the interval of ± 1.96 standard errors is the range between the bounds
        Measurement("diameter", (low + high) / 2, ((high - low) / 2 / 1.96) ** 2, n),
    ]


def _bound_diameter(
    indptr: np.ndarray, indices: np.ndarray, low: int, context: Context, limit: int
) -> tuple[int, int]:
    """Lower and upper bound after at most `limit` searches; a few dozen mostly make them meet.

    Bounds on every node's eccentricity (Takes & Kosters 2011): a search from v with
    eccentricity e gives max(d, e − d) ≤ ecc(w) ≤ e + d for a node w at distance d.
    """
    n = len(indptr) - 1
    distances, queue = np.empty(n, np.int32), np.empty(n, np.int32)
    total, farthest = np.empty(1, np.int64), np.empty(1, np.int64)
    lower, upper = np.zeros(n, np.int64), np.full(n, n, np.int64)
    degrees = np.diff(indptr)
    for step in range(limit):
        open_nodes = np.flatnonzero(upper > low)
        if not len(open_nodes):
            break
        # by turns: the node that may be farthest out, and one of the most central
        key = -upper[open_nodes] if step % 2 else lower[open_nodes]
        best = np.lexsort((-degrees[open_nodes], key))[0]
        source = open_nodes[best : best + 1]
        search_breadth_first(indptr, indices, source, distances, queue, total, farthest)
        far = int(farthest[0])
        low = max(low, far)
        lower = np.maximum(lower, np.maximum(distances, far - distances))
        upper = np.minimum(upper, far + distances)
        context.progress.update(step + 1, limit, "diameter")
    return low, max(low, int(upper.max()))


def compute_relative_error(key: str, old: Measurement, new: Measurement) -> Measurement:
    """mre_<key> of a statistic's values on the original and on the release."""
    metric = f"mre_{key}"
    if old.value is None or new.value is None:
        return Measurement(metric, None, reason=old.reason or new.reason)
    if old.value == 0:
        return Measurement(metric, None, n=old.n, reason="the original's value is 0")
    error = abs(new.value - old.value) / abs(old.value)
    variance = add_variances(new.variance, old.variance) if error else 0.0
    scaled = None if variance is None else variance / old.value**2
    return Measurement(metric, error, scaled, new.n)


def measure_exact(metric: str, value: float) -> Measurement:
    """A value without sampling error."""
    return Measurement(metric, float(value))


def measure_ratio(metric: str, count: int, total: int) -> Measurement:
    """count / total, counted exactly; unknown where the original has no links."""
    if not total:
        return Measurement(metric, None, reason="the original has no links")
    return Measurement(metric, count / total, n=total)


def measure_ghratios(
    ghratios: GHRatios, codes: np.ndarray, shares: np.ndarray
) -> list[Measurement]:
    """Mean of each ratio over nodes where it is defined, and of its difference to the class share.

    `shares` (C,) is P̂(Z = c), the ratio without homophily.
    """
    result = []
    for name in ("proximity", "role", "combined"):
        ratios = getattr(ghratios, name)
        defined = np.isfinite(ratios)
        values = ratios[defined]
        gaps = values - np.asarray(shares)[codes[defined]]
        reason = "no node with a known value has anyone to compare with"
        result.append(measure_mean(f"ghratio_{name}", values, reason))
        result.append(measure_mean(f"ghratio_{name}_gap", gaps, reason))
    return result
