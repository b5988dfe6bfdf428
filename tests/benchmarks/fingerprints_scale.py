"""Fingerprints at scale: `python -m tests.benchmarks.fingerprints_scale [NODES LINKS]`.

Prints CPU seconds of degree, triangles and neighbour degrees, and the peak of memory. The graph
has expected degrees of a power law with exponent 2.5 (Chung and Lu 2002), as social networks do.
"""

from __future__ import annotations

import resource
import sys
import time

import numpy as np

from core.algorithms.fingerprints import compute_class_sizes, compute_fingerprints
from core.graph import Graph
from tests.benchmarks.finite import print_finite

MEASURED = ("degree", "degree_triangles", "neighbor_degrees")


def draw_heavy_tailed(num_nodes: int, num_links: int, seed: int = 0) -> Graph:
    """About `num_links` links; ends drawn by weights ~ rank^(−2/3), hubs held to √(2m)."""
    rng = np.random.default_rng(seed)
    weights = np.arange(1, num_nodes + 1, dtype=float) ** (-1 / 1.5)
    weights *= 2 * num_links / weights.sum()
    cumulative = np.cumsum(np.minimum(weights, np.sqrt(2 * num_links)))
    draws = rng.random(2 * int(1.03 * num_links)) * cumulative[-1]
    ends = np.searchsorted(cumulative, draws).astype(np.int64).reshape(-1, 2)
    codes = np.unique(ends.min(axis=1) * num_nodes + ends.max(axis=1))
    pairs = np.stack([codes // num_nodes, codes % num_nodes], axis=1)
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    ids = tuple(map(str, range(num_nodes)))
    keep = np.sort(rng.choice(len(pairs), min(num_links, len(pairs)), replace=False))
    return Graph(edges=pairs[keep], node_ids=ids)


def main(num_nodes: int = 1_000_000, num_links: int = 10_000_000) -> None:
    compute_fingerprints(draw_heavy_tailed(100, 300), "degree_triangles")  # compiles
    compute_fingerprints(draw_heavy_tailed(100, 300), "neighbor_degrees")
    graph = draw_heavy_tailed(num_nodes, num_links)
    print(f"{graph.num_nodes:,} nodes, {graph.num_edges:,} links, hub {graph.degrees.max():,}")
    total = 0.0
    for depth in MEASURED:
        started = time.process_time()
        sizes = compute_class_sizes(compute_fingerprints(graph, depth))
        seconds = time.process_time() - started
        total += seconds
        print(f"{depth:18} {seconds:6.1f} s   unique {(sizes == 1).mean():.4f}")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"{'all':18} {total:6.1f} s   peak {peak:.2f} GB")


if __name__ == "__main__":
    print_finite(main, *map(int, sys.argv[1:]))
