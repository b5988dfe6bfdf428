"""GHRatios of all nodes of a generated graph of 1M nodes and 10M links, on one core.

python -m tests.benchmarks.ghratio_scale [nodes] [links] [classes]
"""

from __future__ import annotations

import resource
import sys
import time

import numpy as np

from core.algorithms.ghratio import choose_tolerance, compute_ghratios
from core.graph import Graph
from tests.benchmarks.finite import print_finite


def main(nodes: int = 1_000_000, links: int = 10_000_000, classes: int = 4) -> None:
    rng = np.random.default_rng(0)
    # heavy-tailed ends: many distinct degrees, as in social networks
    tail = (nodes * rng.random(int(links * 1.12)) ** 3).astype(np.int64)
    pairs = np.stack([tail, rng.integers(0, nodes, len(tail))], axis=1)
    graph = Graph.from_pairs(pairs, nodes)
    codes = rng.integers(-1, classes, nodes)
    del pairs, tail
    wall, start = time.perf_counter(), time.process_time()
    tolerance = choose_tolerance(graph)
    ratios = compute_ghratios(graph, codes, classes, tolerance)
    seconds = time.process_time() - start
    print(
        f"{graph.num_nodes:,} nodes, {graph.num_edges:,} links, {classes} classes, "
        f"{len(np.unique(graph.degrees))} distinct degrees, tolerance {tolerance}: "
        f"{seconds:.2f} s of processor time, {time.perf_counter() - wall:.2f} s on the clock; "
        f"peak {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.2f} GiB; "
        f"mean combined ratio {np.nanmean(ratios.combined):.4f} (chance {1 / classes:.4f})"
    )


if __name__ == "__main__":
    print_finite(main, *(int(arg) for arg in sys.argv[1:]))
