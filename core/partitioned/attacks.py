"""Attacks on partitioned links: label propagation, and link heuristics for candidate pairs."""

from __future__ import annotations

from concurrent.futures import Executor
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from scipy import sparse

from core.algorithms.kernels import sum_common_neighbors
from core.arrays import divide_or_zero
from core.partitioned.links import PartitionedLinks, run_on_partitions


def propagate_labels(
    executor: Executor,
    links: PartitionedLinks,
    codes: np.ndarray,
    prior: np.ndarray,
    neighbor_share: float = 0.99,
    rounds: int = 100,
) -> np.ndarray:
    """(n, C) rows of class shares, as `class_propagation.propagate_labels`.

    codes  (n,) known class or −1
    prior  (C,) class shares

    The values of two rounds are memory-mapped files, of which a job writes its nodes' rows.
    """
    values = np.tile(np.asarray(prior, np.float64), (links.num_nodes, 1))
    known = np.flatnonzero(codes >= 0)
    values[known] = np.eye(len(prior))[codes[known]]
    with TemporaryDirectory(dir=links.folder) as name:
        scratch = Path(name)
        np.save(scratch / "codes.npy", codes)
        values.tofile(scratch / "0")
        values.tofile(scratch / "1")
        del values
        for turn in range(rounds):
            settings = (scratch, turn, prior, neighbor_share)
            list(run_on_partitions(executor, _propagate_once, links, *settings))
        return np.fromfile(scratch / str(rounds % 2)).reshape(links.num_nodes, len(prior))


def score_pairs(
    executor: Executor, links: PartitionedLinks, pairs: np.ndarray
) -> dict[str, np.ndarray]:
    """Method key → (k,) float64 scores of the (k, 2) pairs.

    A job sums over the common neighbours of its own partition: the adjacency matrix is symmetric,
    so that its columns of the two ends hold them. Added up by partition, the scores may differ from
    those of one pass in their last digits.
    """
    ends = np.asarray(links.degrees[pairs], np.float64)
    sums = np.zeros((len(pairs), 3))
    with TemporaryDirectory(dir=links.folder) as name:
        path = Path(name) / "pairs.npy"
        np.save(path, np.asarray(pairs, np.int64))
        for rows, part in run_on_partitions(executor, _sum_within, links, path):
            sums[rows] += part
    common, log, inverse = sums.T
    union = ends.sum(axis=1) - common
    return {
        "common_neighbors": common,
        "adamic_adar": log,
        "resource_allocation": inverse,
        "jaccard": divide_or_zero(common, union),
        "preferential_attachment": ends.prod(axis=1),
    }


def _propagate_once(
    links: PartitionedLinks,
    number: int,
    scratch: Path,
    turn: int,
    prior: np.ndarray,
    neighbor_share: float,
) -> None:
    """One round of F ← a D⁻¹A F + (1−a) prior for a partition's rows, known rows fixed."""
    shape = (links.num_nodes, len(prior))
    before = np.memmap(scratch / str(turn % 2), np.float64, "r", shape=shape)
    partition = links.load_partition(number)
    degrees = np.diff(partition.indptr)
    shares = np.repeat(1.0 / np.maximum(degrees, 1), degrees)
    rows = (shares, partition.indices, partition.indptr)
    values = sparse.csr_array(rows, shape=(len(degrees), links.num_nodes)) @ np.asarray(before)
    values *= neighbor_share
    values += np.where(degrees[:, None] > 0, (1.0 - neighbor_share) * prior, prior)
    codes = np.load(scratch / "codes.npy", mmap_mode="r")[partition.nodes]
    known = np.flatnonzero(codes >= 0)
    values[known] = np.eye(len(prior))[codes[known]]
    with (scratch / str(1 - turn % 2)).open("r+b") as file:
        file.seek(partition.first * len(prior) * values.itemsize)
        values.tofile(file)


def _sum_within(links: PartitionedLinks, number: int, path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Pairs with common neighbours in a partition, and their count, Σ 1 / log d_z and Σ 1 / d_z."""
    pairs = np.load(path)
    partition = links.load_partition(number)
    wanted, places = np.unique(pairs, return_inverse=True)
    columns = partition.matrix[:, wanted].T.tocsr()
    degrees = np.maximum(np.diff(partition.indptr), 2.0)
    factors = np.stack([np.ones_like(degrees), 1 / np.log(degrees), 1 / degrees], axis=1)
    sums = np.zeros((len(pairs), 4))
    sum_common_neighbors(
        columns.indptr, columns.indices, columns.data, places.reshape(-1, 2), factors, sums
    )
    rows = np.flatnonzero(sums[:, 0])
    return rows, sums[rows, :3]
