"""Measures of partitioned links: anonymity by degrees, clustering, membership of pairs."""

from __future__ import annotations

from concurrent.futures import Executor

import numpy as np

from core.algorithms.fingerprints import compute_class_sizes, mix_neighbor_degrees
from core.arrays import is_among
from core.measures.intervals import wilson_interval
from core.partitioned.links import PartitionedLinks, run_jobs, run_on_partitions
from core.results import AnonymitySets, Estimate
from core.seeding import Seed

WEDGES = 100_000
"""Default number of sampled wedges: an interval of at most ± 0.0031."""


def find_degree_sets(links: PartitionedLinks) -> AnonymitySets:
    """Anonymity set of each node whose degree is known."""
    degrees = links.degrees
    return AnonymitySets(np.bincount(degrees)[degrees], np.ones(links.num_nodes, bool))


def find_neighbor_degree_sets(executor: Executor, links: PartitionedLinks) -> AnonymitySets:
    """Anonymity set of each node whose degree and neighbours' degrees are known (Hay et al.)."""
    fingerprints = np.concatenate(list(run_on_partitions(executor, _mix_partition, links)))
    return AnonymitySets(compute_class_sizes(fingerprints), np.ones(links.num_nodes, bool))


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
