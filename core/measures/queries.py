"""The 15 queries of PGB on a release against the original (Liu et al., PGB, 2024, Table 3).

Two of them, the relative errors of the number of triangles and of the average clustering, are
`mre_triangle_count` and `mre_average_clustering` of `core.measures.structure`; here are the others.
As in PGB, isolated nodes count, and distances are those of all connected pairs, in whatever
component. Weighted releases are read as `core.measures.structure` does.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from core.algorithms.communities import find_communities
from core.algorithms.kernels import count_distances
from core.context import Context
from core.graph import Graph
from core.measures.structure import EXACT_STEPS, TILE_STEPS, prepare_links, share_shape
from core.results import Measurement

LEAST = float(np.finfo(np.float64).eps)
"""Added to both shares in PGB's Kullback–Leibler divergence."""

TOP_SHARE = 0.01
"""Share of most central nodes whose centralities PGB compares."""

BLOCKS = 20
"""Groups of sampled sources for the jackknife variance."""


@dataclass(frozen=True, eq=False)
class Answers:
    """Answers of one graph.

    degrees     (n,) int64
    distances   (b, d) int64 ordered pairs of nodes at 0, 1, … steps, by block of sources; one
                block where every node is a source
    communities (n,) int64
    centrality  (n,) float64 descending eigenvector centralities of unit length; None where there
                is no link
    values      of the queries that are one number: name → value, NaN where undefined
    """

    degrees: np.ndarray
    distances: np.ndarray
    communities: np.ndarray
    centrality: np.ndarray | None
    values: dict[str, float]


def measure_queries(
    original: Graph, released: Graph, context: Context, has_same_nodes: bool = True
) -> list[Measurement]:
    """|x̂ − x| / |x| as `mre_<query>` of num_nodes, num_links, mean_degree, degree_variance,
    longest_distance, mean_distance, global_clustering, modularity and assortativity; degree_kl and
    distance_kl in nats; community_nmi; eigenvector_mae.

    has_same_nodes  whether node i of the release is node i of the original: communities are
                    compared only then

    Above EXACT_STEPS steps distances are counted from sampled sources, with the variance of the
    jackknife over blocks of them, for distance_kl wide enough that distances which the release
    seems to lack may be there; the longest is then that from sampled ends, a lower bound.
    """
    before = _share_answers(prepare_links(original, released.weights is not None), context)
    after = _share_answers(prepare_links(released, original.weights is not None), context)
    n = original.num_nodes
    result = [
        _measure_error(name, before.values[name], after.values[name], n) for name in before.values
    ]
    result += _measure_distances(before.distances, after.distances)
    degrees = (np.bincount(answers.degrees) for answers in (before, after))
    result.append(Measurement("degree_kl", compute_kl(*degrees), n=n))
    result.append(_measure_communities(before, after, has_same_nodes))
    result.append(_measure_centrality(before, after))
    return result


def compute_kl(original: np.ndarray, released: np.ndarray) -> float:
    """Σ p ln((p + ε) / (q + ε)) of two histograms (k,), (l,) from 0 on, ε = 2.2e−16 as in PGB:
    bins that the release lacks are as dear as 36 nats. NaN where either is empty."""
    size = max(len(original), len(released))
    p, q = (np.pad(h.astype(np.float64), (0, size - len(h))) for h in (original, released))
    if not p.sum() or not q.sum():
        return float("nan")
    p, q = p / p.sum(), q / q.sum()
    return float((p * np.log((p + LEAST) / (q + LEAST))).sum())


def compute_modularity(graph: Graph, communities: np.ndarray) -> float:
    """Newman's modularity Σ_c (m_c / m − (D_c / 2m)²) of a partition (n,); NaN without links."""
    m = graph.num_edges
    if not m:
        return float("nan")
    a, b = communities[graph.edges].T
    inside = np.bincount(a[a == b], minlength=communities.max() + 1)
    strength = np.bincount(communities, weights=graph.degrees, minlength=len(inside))
    return float((inside / m - (strength / (2 * m)) ** 2).sum())


def compute_assortativity(graph: Graph) -> float:
    """Pearson correlation of the degrees at both ends of the links (Newman 2002)."""
    degrees = graph.degrees.astype(np.float64)
    linked = degrees[degrees > 0]
    if not len(linked) or (linked == linked[0]).all():
        return float("nan")
    # over the 2m ends of links, of which a node has as many as its degree
    mean = (linked**2).sum() / linked.sum()
    gaps = degrees - mean
    a, b = graph.edges.T
    return float(2 * (gaps[a] @ gaps[b]) / (linked * (linked - mean) ** 2).sum())


def compute_centralities(graph: Graph) -> np.ndarray | None:
    """(n,) eigenvector centralities of unit length, descending, by power iteration from equal
    values as in NetworkX. None without links."""
    from scipy.sparse.linalg import eigsh

    n = graph.num_nodes
    if not graph.num_edges:
        return None
    matrix = sparse.csr_array(graph.adjacency, dtype=np.float64)
    if n <= 64:
        values, vectors = np.linalg.eigh(matrix.toarray())
        top = vectors[:, values > values[-1] - 1e-9 * max(values[-1], 1.0)]
        vector = top @ top.sum(axis=0)
    else:
        vector = eigsh(matrix, 1, which="LA", v0=np.ones(n))[1][:, 0]
    found = np.sort(np.abs(vector))[::-1]
    return np.asarray(found / np.linalg.norm(found))


def _share_answers(graph: Graph, context: Context) -> Answers:
    """One computation per graph: the original serves all releases."""
    return context.share(
        ("queries", graph.content_hash), lambda shared: _compute_answers(graph, shared)
    )


def _compute_answers(graph: Graph, context: Context) -> Answers:
    degrees = graph.degrees
    distances = _count_distances(graph, context)
    communities = find_communities(graph, context.rng("communities"))
    counts = distances.sum(axis=0)
    shape = share_shape(graph, context).statistics
    triangles, wedges = (shape[k].value or 0.0 for k in ("triangle_count", "wedge_count"))
    values = {
        "num_nodes": graph.num_nodes,
        "num_links": graph.num_edges,
        "mean_degree": degrees.mean(),
        "degree_variance": degrees.var(ddof=1) if len(degrees) > 1 else np.nan,
        "longest_distance": np.flatnonzero(counts).max(initial=0),
        "global_clustering": 3 * triangles / wedges if wedges else 0.0,
        "modularity": compute_modularity(graph, communities),
        "assortativity": compute_assortativity(graph),
    }
    numbers = {name: float(value) for name, value in values.items()}
    return Answers(degrees, distances, communities, compute_centralities(graph), numbers)


def _count_distances(graph: Graph, context: Context) -> np.ndarray:
    """(b, d) as in `Answers`."""
    n = graph.num_nodes
    indptr, indices = graph.adjacency.indptr, graph.adjacency.indices
    steps = len(indices) + n
    count = min(n, max(EXACT_STEPS // steps, 4 * BLOCKS))
    sources, blocks = np.arange(n), np.zeros(n, np.int64)
    if count < n:
        sources = context.rng("sources").choice(n, count, replace=False)
        blocks = np.arange(count) % BLOCKS
    counts = np.zeros((blocks.max() + 1, n), np.int64)
    tile = max(TILE_STEPS // steps, 1)
    for start in range(0, count, tile):
        part = slice(start, start + tile)
        count_distances(indptr, indices, sources[part], blocks[part], counts)
        context.progress.update(min(start + tile, count), count, "distances")
    return counts[:, : np.flatnonzero(counts.any(axis=0)).max() + 1]


def _measure_error(name: str, old: float, new: float, n: int) -> Measurement:
    metric = f"mre_{name}"
    if np.isnan(old) or np.isnan(new):
        return Measurement(metric, None, n=n, reason="not defined: no links, or all degrees alike")
    if old == 0:
        return Measurement(metric, None, n=n, reason="the original's value is 0")
    return Measurement(metric, abs(new - old) / abs(old), n=n)


def _measure_distances(before: np.ndarray, after: np.ndarray) -> list[Measurement]:
    """distance_kl and mre_mean_distance with the variance of sampled sources."""
    n = int(before.sum())

    def find_error(left: np.ndarray, right: np.ndarray) -> float:
        error = _measure_error("mean_distance", _find_mean(left), _find_mean(right), n).value
        return float("nan") if error is None else error

    left, right = before.sum(axis=0), after.sum(axis=0)
    error = _measure_error("mean_distance", _find_mean(left), _find_mean(right), n)
    variance = _jackknife(compute_kl, before, after)
    if len(after) > 1:  # a distance that the sample of the release lacks may yet be there
        lost = left[len(right) :] / left.sum()
        unseen = float((lost * np.log((lost + LEAST) / LEAST)).sum())
        variance += (unseen / 1.96) ** 2
    return [
        replace(error, variance=_jackknife(find_error, before, after)),
        Measurement("distance_kl", compute_kl(left, right), variance, n),
    ]


def _find_mean(counts: np.ndarray) -> float:
    """Mean distance of the connected pairs; NaN where there are none."""
    pairs = counts[1:].sum()
    return float(counts @ np.arange(len(counts)) / pairs) if pairs else float("nan")


def _jackknife(
    compute: Callable[[np.ndarray, np.ndarray], float], before: np.ndarray, after: np.ndarray
) -> float:
    """Variance of compute(Σ before, Σ after) over blocks of sources (b, d), sampled separately
    on either side; 0 if nothing was sampled or defined."""
    left, right = before.sum(axis=0), after.sum(axis=0)
    parts = [
        [compute(left - block, right) for block in before] if len(before) > 1 else [],
        [compute(left, right - block) for block in after] if len(after) > 1 else [],
    ]
    variance = sum((len(part) - 1) * float(np.var(part)) for part in parts if part)
    return variance if np.isfinite(variance) else 0.0


def _measure_communities(before: Answers, after: Answers, has_same_nodes: bool) -> Measurement:
    from sklearn.metrics import normalized_mutual_info_score

    n = len(before.communities)
    if not has_same_nodes:
        reason = "the nodes of the release are nobody's: which one is whose is drawn at random"
        return Measurement("community_nmi", None, n=n, reason=reason)
    found = normalized_mutual_info_score(before.communities, after.communities)
    return Measurement("community_nmi", float(found), n=n)


def _measure_centrality(before: Answers, after: Answers) -> Measurement:
    """Mean |c − ĉ| over the ranks of the most central nodes, whichever nodes have them."""
    if before.centrality is None or after.centrality is None:
        return Measurement(
            "eigenvector_mae", None, reason="a graph without links has no centrality"
        )
    count = max(int(TOP_SHARE * len(before.centrality)), 1)
    gaps = np.abs(before.centrality[:count] - after.centrality[:count])
    return Measurement("eigenvector_mae", float(gaps.mean()), n=count)
