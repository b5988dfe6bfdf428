"""Proximity of the ends of visible links, withheld links and non-links (PPGSL Table I).

Withheld links as far apart as non-links are indistinguishable from them; the profile shows by which
kind of proximity they can be told apart, before and after a defense.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from core.algorithms.kernels import find_pair_distances
from core.arrays import divide_or_zero
from core.context import Context
from core.graph import Graph
from core.measures.intervals import measure_mean, measure_share
from core.results import Measurement
from core.threats import LinkThreat

MAX_PAIRS, MIN_PAIRS = 2000, 100
"""Maximum number of pairs per kind; more are sampled."""

MAX_STEPS = 100_000_000
"""Links followed for the paths of one kind, about three seconds; large graphs sample pairs."""

TILE = 20
"""Pairs between two progress reports."""


def measure_pair_profile(
    graph: Graph, threat: LinkThreat, context: Context, vectors: np.ndarray | None = None
) -> list[Measurement]:
    """pair_path_length, pair_disconnected, pair_feature_cosine and pair_embedding_cosine of visible
    links, withheld links and non-links: `pair_path_length_visible` and so on.

    graph    the attacker's graph: the visible graph or a release
    vectors  (n, d) node embeddings of the release. Similarities of features and embeddings are
    omitted if missing.

    Path lengths are means over connected pairs; links of weight 0 are ignored. The paper's
    attribute similarities (0.011 for links of Cora) are inner products of row-normalised features;
    here they are cosines.
    """
    rows = {"feature": graph.features, "embedding": vectors}
    kinds = {"visible": graph.edges, "hidden": threat.hidden, "absent": threat.absent}
    rng, count = context.rng("pair_profile"), _count_pairs(graph)
    found: list[Measurement] = []
    for kind, pairs in kinds.items():
        pairs = np.asarray(pairs, dtype=np.int64).reshape(-1, 2)
        if len(pairs) > count:
            pairs = pairs[np.sort(rng.choice(len(pairs), count, replace=False))]
        measured = _measure_paths(compute_path_lengths(graph, pairs, context))
        for name, values in rows.items():
            if values is not None:
                measured.append(_measure_cosine(f"pair_{name}_cosine", values, pairs))
        found += [replace(item, metric=f"{item.metric}_{kind}") for item in measured]
    return found


def compute_path_lengths(graph: Graph, pairs: np.ndarray, context: Context) -> np.ndarray:
    """(k,) distance between the ends of each pair, −1 if unconnected."""
    adjacency = graph.adjacency
    if graph.weights is not None:
        adjacency = adjacency.copy()
        adjacency.eliminate_zeros()
    pairs = np.array(pairs)  # writeable: the loop is compiled for one kind of arrays
    found = np.empty(len(pairs), np.int64)
    steps = np.full((2, graph.num_nodes), -1, np.int32)
    queues = np.empty_like(steps)
    for start in range(0, len(pairs), TILE):
        part = slice(start, start + TILE)
        find_pair_distances(
            adjacency.indptr, adjacency.indices, pairs[part], steps, queues, found[part]
        )
        context.progress.update(min(start + TILE, len(pairs)), len(pairs), "paths between pairs")
    return found


def _count_pairs(graph: Graph) -> int:
    steps = graph.adjacency.nnz + graph.num_nodes
    count: int = min(max(MAX_STEPS // max(steps, 1), MIN_PAIRS), MAX_PAIRS)
    return count


def _measure_paths(lengths: np.ndarray) -> list[Measurement]:
    metrics = ("pair_path_length", "pair_disconnected")
    if not len(lengths):
        return [Measurement(metric, None, reason="no such pairs") for metric in metrics]
    connected = lengths >= 0
    return [
        measure_mean(metrics[0], lengths[connected], "no path connects any of the pairs"),
        measure_share(metrics[1], ~connected),
    ]


def _measure_cosine(
    metric: str, rows: np.ndarray | sparse.csr_array, pairs: np.ndarray
) -> Measurement:
    left, right = rows[pairs[:, 0]], rows[pairs[:, 1]]

    def dot(a: Any, b: Any) -> np.ndarray:
        return np.asarray((a * b).sum(axis=1), dtype=np.float64).ravel()

    norms = np.sqrt(dot(left, left) * dot(right, right))
    # an end without any feature resembles nobody
    cosines = divide_or_zero(dot(left, right), norms)
    return measure_mean(metric, cosines, "no such pairs")
