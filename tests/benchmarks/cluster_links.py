"""Partitioned jobs on the embedded cluster: seconds, memory and slope.

    python -m tests.benchmarks.cluster_links [--links 1e6,1e7,3e7] [--workers 1,2,4] [--folder F]

Draws a power-law stream of links (Chung and Lu 2002, degrees as d^−2.5, ten links a node), stores
it in partitions of a million links and runs each job on them. Prints wall seconds, CPU seconds of
all workers and of the busiest (what a machine with a core per worker cannot fall below), the
highest peak of resident memory (MB) of any worker and of the driver, and the slope: the seconds
that a link adds between the two largest graphs, and with it the seconds of 10⁸ links. "idle" is
what a worker holds before its first job, the embedded cluster's imports included. Linux only.
"""

from __future__ import annotations

import argparse
import math
import os
import re
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from core.algorithms.fingerprints import Depth, compute_class_sizes
from core.audit.jobs.engine import Engine
from core.context import Context
from core.partitioned import attacks, measures, releases
from core.partitioned.links import PartitionedLinks, choose_bounds, write_links
from core.seeding import Seed
from tests.benchmarks.finite import print_finite

CHUNK = 1_000_000
"""Links drawn at once, and links of a partition."""

OFFSET = 50.0
"""Added to the ranks of the nodes, so that hubs stay below what simple links allow."""

PAIRS, ROUNDS, FALSE_LINKS, TARGET = 200_000, 10, 0.1, 100_000_000
"""Scored pairs, rounds of label propagation, share of false links in the release, links of the
extrapolation."""

SEED = Seed(0)


def draw_links(num_nodes: int, num_links: int, seed: Seed) -> Iterator[np.ndarray]:
    """Chunks of (k, 2) links with both ends ∝ (rank + OFFSET)^(−2/3)."""
    rng = seed.rng()
    low, high = OFFSET ** (1 / 3), (num_nodes + OFFSET) ** (1 / 3)
    for start in range(0, num_links, CHUNK):
        size = (min(CHUNK, num_links - start), 2)
        ends = (low + (high - low) * rng.random(size)) ** 3 - OFFSET
        yield ends.astype(np.int64).clip(0, num_nodes - 1)


def reset_peak() -> None:
    Path("/proc/self/clear_refs").write_text("5", encoding="utf-8")


def load_peak() -> float:
    """MB of the highest resident memory since `reset_peak`."""
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return int(re.findall(r"VmHWM:\s+(\d+)", status)[0]) / 1024


Row = tuple[float, float, float, float, float]


class Clock:
    """Measures each step on a cluster.

    rows  name → seconds, CPU seconds of all workers and of the busiest, MB of the largest worker,
          MB of the driver
    """

    def __init__(self, client: Any) -> None:
        self.client = client
        self.rows: dict[str, Row] = {}

    def measure(self, name: str, compute: Callable[[], Any]) -> Any:
        self.client.run(reset_peak)
        reset_peak()
        before, start = self.client.run(time.process_time), time.perf_counter()
        result = compute()
        seconds = time.perf_counter() - start
        peak = max(self.client.run(load_peak).values())
        after = self.client.run(time.process_time)
        spent = [after[worker] - before[worker] for worker in after]
        self.rows[name] = seconds, sum(spent), max(spent), peak, load_peak()
        return result


def run(num_links: int, workers: int, folder: Path) -> dict[str, Row]:
    """Rows of all steps on a fresh cluster; compiled code comes from Numba's cache."""
    os.environ["AUDIT_WORKERS"] = str(workers)
    home = folder / "home"
    home.mkdir()
    engine = Engine(home)
    try:
        clock = Clock(engine.connect())
        clock.client.wait_for_workers(workers)
        clock.measure("idle", lambda: None)
        run_steps(clock, num_links, folder)
    finally:
        engine.close()
    return clock.rows


def run_steps(clock: Clock, num_links: int, folder: Path) -> None:
    executor = clock.client.get_executor(pure=False)
    num_nodes, parts = num_links // 10, max(num_links // CHUNK, 4)
    share = -(-num_links // parts)
    sources = [partial(draw_links, num_nodes, share, SEED.child(k)) for k in range(parts)]
    bounds = clock.measure("bounds", lambda: choose_bounds(executor, sources, num_nodes, parts))
    store = partial(write_links, executor, folder / "links", sources, num_nodes, bounds)
    links = clock.measure("store", store)
    rng, classes = SEED.rng("codes"), 4
    codes = rng.integers(-classes, classes, num_nodes).clip(min=-1)
    prior = np.full(classes, 1 / classes)
    pairs = next(draw_links(num_nodes, PAIRS, SEED.child("pairs")))
    flip = FALSE_LINKS * links.num_links / links.num_pairs
    epsilon, context = math.log((1 - flip) / flip), Context(SEED)
    steps: dict[str, Callable[[], Any]] = {
        "degree sets": lambda: find_sizes(executor, links, "degree"),
        "neighbour degrees": lambda: find_sizes(executor, links, "neighbor_degrees"),
        "label propagation": lambda: attacks.spread_labels(
            links, [codes], prior, rounds=ROUNDS, executor=executor
        ),
        "heuristics": lambda: attacks.sum_neighbors(executor, links, pairs),
        "clustering": lambda: measures.estimate_clustering(executor, links, SEED, measures.WEDGES),
        "random deletion": lambda: releases.delete_at_random(
            executor, links, folder / "deletion", 0.3, SEED
        ),
        "EdgeRand": lambda: releases.publish_edge_rand(
            executor, links, folder / "edge_rand", epsilon, context
        ),
    }
    found = {name: clock.measure(name, compute) for name, compute in steps.items()}
    degrees, clustering = found["degree sets"], found["clustering"]
    print(
        f"{links.num_links:,} distinct links, {num_nodes:,} nodes, {links.num_partitions} "
        f"partitions; unique by degree {(degrees == 1).mean():.5f}, by neighbours' degrees "
        f"{(found['neighbour degrees'] == 1).mean():.4f}, clustering "
        f"{clustering:.4f}, EdgeRand at ε = {epsilon:.1f}",
        flush=True,
    )


def find_sizes(executor: Any, links: PartitionedLinks, depth: Depth) -> np.ndarray:
    """Number of nodes that each node is like."""
    return compute_class_sizes(measures.compute_fingerprints(executor, links, depth))


def print_rows(num_links: int, workers: int, rows: dict[str, Row]) -> None:
    print(f"\n{num_links:,} links, {workers} workers\n")
    print("| step | s | CPU s | busiest, CPU s | largest worker, MB | driver, MB |")
    print("|---|---|---|---|---|---|")
    table = np.array(list(rows.values()))
    total = *table[:, :3].sum(axis=0), *table[:, 3:].max(axis=0)
    for name, (seconds, spent, busiest, peak, driver) in {**rows, "all": total}.items():
        print(f"| {name} | {seconds:.1f} | {spent:.1f} | {busiest:.1f} ", end="")
        print(f"| {peak:,.0f} | {driver:,.0f} |", flush=True)


def print_slopes(totals: dict[tuple[int, int], np.ndarray]) -> None:
    """Slope between the two largest graphs per number of workers; totals are wall and CPU s."""
    for workers in sorted({workers for _, workers in totals}):
        sizes = sorted(links for links, each in totals if each == workers)
        if len(sizes) < 2:
            continue
        small, large = sizes[-2:]
        slope = (totals[large, workers] - totals[small, workers]) / (large - small)
        wall, spent = totals[large, workers] + slope * (TARGET - large)
        print(
            f"{workers} workers: {1e6 * slope[0]:.3f} s ({1e6 * slope[1]:.3f} CPU s) per million "
            f"links from {small:,} to {large:,}; {TARGET:,} links in {wall:,.0f} s "
            f"({spent:,.0f} CPU s)"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--links", default="1e6,1e7,3e7")
    parser.add_argument("--workers", default="1,2,4")
    parser.add_argument("--folder", type=Path, help="where temporary files go")
    options = parser.parse_args()
    totals: dict[tuple[int, int], np.ndarray] = {}
    for num_links in (int(float(text)) for text in options.links.split(",")):
        for workers in map(int, options.workers.split(",")):
            with tempfile.TemporaryDirectory(dir=options.folder) as name:
                rows = run(num_links, workers, Path(name))
            print_rows(num_links, workers, rows)
            totals[num_links, workers] = np.array(list(rows.values()))[:, :2].sum(axis=0)
    print()
    print_slopes(totals)


if __name__ == "__main__":
    print_finite(main)
