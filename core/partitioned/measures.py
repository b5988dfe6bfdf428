"""Measures of partitioned links: fingerprints by degrees, clustering, membership of pairs."""

from __future__ import annotations

from concurrent.futures import Executor

import numpy as np

from core.algorithms.fingerprints import Depth, mix_neighbor_degrees
from core.arrays import is_among
from core.errors import UnsupportedError
from core.measures.intervals import wilson_interval
from core.partitioned.links import ONE_PROCESS, PartitionedLinks, run_jobs, run_on_partitions
from core.results import Estimate
from core.seeding import Seed

WEDGES = 100_000
"""Default number of sampled wedges: an interval of at most ± 0.0031."""


def compute_fingerprints(executor: Executor, links: PartitionedLinks, depth: Depth) -> np.ndarray:
    """(n, 2) uint64 by which nodes are known who are known by their number of links (`degree`), or
    by it and those of their neighbours (`neighbor_degrees`); comparable between graphs."""
    if depth == "degree":
        return np.stack([links.degrees, links.degrees], axis=1).astype(np.uint64)
    if depth != "neighbor_degrees":
        raise UnsupportedError(f"fingerprints '{depth}'", ONE_PROCESS)
    return np.concatenate(list(run_on_partitions(executor, _mix_partition, links)))


def estimate_clustering(
    executor: Executor, links: PartitionedLinks, seed: Seed, count: int
) -> Estimate:
    """Share of closed wedges among `count` drawn uniformly with replacement; Wilson interval."""
    degrees = np.asarray(links.degrees, np.float64)
    wedges = np.add.reduceat(degrees * (degrees - 1) / 2, links.bounds[:-1])
    if not wedges.any():
        return Estimate(0.0, 0.0, 0.0, 0, how="no node has two links")
    counts = seed.rng("partitions").multinomial(count, wedges / wedges.sum()).tolist()
    tasks = [(links, k, counts[k], seed.child("wedges", k)) for k in range(len(counts))]
    pairs = np.concatenate(list(run_jobs(executor, _draw_wedges, tasks)))
    closed = int(contains_pairs(executor, links, pairs).sum())
    return Estimate(closed / count, *wilson_interval(closed, count), count, how="sampled wedges")


def contains_pairs(executor: Executor, links: PartitionedLinks, pairs: np.ndarray) -> np.ndarray:
    """(k,) bool: which of the (k, 2) pairs are links."""
    places = links.locate_nodes(pairs[:, 0])
    order = np.argsort(places, kind="stable")
    parts = np.split(pairs[order], np.searchsorted(places[order], range(1, links.num_partitions)))
    tasks = ((links, number, part) for number, part in enumerate(parts) if len(part))
    result = np.zeros(len(pairs), bool)
    result[order] = np.concatenate([result[:0], *run_jobs(executor, _find_linked, tasks)])
    return result


def _mix_partition(links: PartitionedLinks, number: int) -> np.ndarray:
    partition = links.load_partition(number)
    return mix_neighbor_degrees(links.degrees, partition.indptr, partition.indices, partition.first)


def _draw_wedges(links: PartitionedLinks, number: int, count: int, seed: Seed) -> np.ndarray:
    """(count, 2) pairs of distinct neighbours of a node of the partition."""
    if not count:
        return np.empty((0, 2), np.int64)
    partition, rng = links.load_partition(number), seed.rng()
    degrees = np.diff(partition.indptr)
    total = np.cumsum(degrees * (degrees - 1) // 2)
    centres = np.searchsorted(total, rng.integers(total[-1], size=count), side="right")
    first = rng.integers(degrees[centres])
    second = rng.integers(degrees[centres] - 1)
    second += second >= first
    places = partition.indptr[centres][:, None] + np.stack([first, second], axis=1)
    return np.asarray(partition.indices[places], np.int64)


def _find_linked(links: PartitionedLinks, number: int, pairs: np.ndarray) -> np.ndarray:
    partition = links.load_partition(number)
    codes = partition.sources * links.num_nodes + partition.indices
    return is_among(pairs[:, 0] * links.num_nodes + pairs[:, 1], codes)
