"""A heavy-tailed graph as an edge list, and what loading and profiling it costs.

    python -m tests.benchmarks.million FILE [--nodes 1000000] [--links 10000000] [--seed 0]
    python -m tests.benchmarks.million FILE --measure

Links are drawn with both ends in proportion to weights of a power law (Chung, Lu, PNAS 2002:
expected degrees given), degrees falling as d^−2.5 and no larger than the square root of the sum.
`--measure` loads FILE, profiles the graph and prints CPU seconds and the peak of memory.
"""

from __future__ import annotations

import argparse
import resource
import time
from pathlib import Path

import numpy as np

EXPONENT = 2.5


def draw_links(num_nodes: int, num_links: int, seed: int = 0) -> np.ndarray:
    """(num_links, 2) int64 distinct links i < j in random order, ends in random order."""
    rng = np.random.default_rng(seed)
    weights = (np.arange(num_nodes) + 10.0) ** (-1 / (EXPONENT - 1))
    # An expected degree above √(2m) would ask for links that are there already.
    share = weights / weights.sum()
    share = np.minimum(share, (2 * num_links) ** -0.5)
    places = np.cumsum(share / share.sum())
    codes = np.zeros(0, np.int64)
    while len(codes) < num_links:
        wanted = int((num_links - len(codes)) * 1.2) + 1000
        ends = np.searchsorted(places, rng.random((wanted, 2))).clip(max=num_nodes - 1)
        ends = ends[ends[:, 0] != ends[:, 1]]
        drawn = ends.min(axis=1) * num_nodes + ends.max(axis=1)
        codes = np.unique(np.concatenate([codes, drawn]))
    codes = rng.permutation(codes)[:num_links]
    links = np.stack([codes // num_nodes, codes % num_nodes], axis=1)
    return rng.permuted(links, axis=1)


def write_links(path: Path, links: np.ndarray) -> None:
    import pyarrow as pa
    from pyarrow import csv

    table = pa.table({"source": links[:, 0], "target": links[:, 1]})
    csv.write_csv(table, path)


def measure(path: Path) -> None:
    from core.data.profile import compute_profile
    from core.data.readers import load_graph

    start = time.process_time()
    loaded = load_graph(path)
    read = time.process_time()
    profile = compute_profile(loaded.graph, loaded.report)
    end = time.process_time()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{profile.num_nodes:,} nodes, {profile.num_edges:,} links")
    print(f"load {read - start:.1f} CPU s, profile {end - read:.1f} CPU s, peak {peak:,.0f} MB")
    print(f"hash {loaded.graph.content_hash[:16]}, triangles {profile.num_triangles:,}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--nodes", type=int, default=1_000_000)
    parser.add_argument("--links", type=int, default=10_000_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--measure", action="store_true")
    options = parser.parse_args()
    if options.measure:
        measure(options.file)
    else:
        write_links(options.file, draw_links(options.nodes, options.links, options.seed))


if __name__ == "__main__":
    main()
