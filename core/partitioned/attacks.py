"""What attacks on partitioned links compute: propagated labels, and sums over common neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from scipy import sparse

from core.algorithms.kernels import sum_common_neighbors
from core.partitioned.links import Inline, PartitionedLinks, run_on_partitions
from core.progress import Progress


def spread_labels(
    links: PartitionedLinks,
    codes: Sequence[np.ndarray],
    prior: np.ndarray,
    neighbor_share: float = 0.99,
    rounds: int = 100,
    progress: Progress | None = None,
    executor: Executor | None = None,
) -> list[np.ndarray]:
    """(n, C) rows of class shares for each set of known classes, as
    `class_propagation.propagate_labels`, whose arguments these are.

    The values of two rounds are memory-mapped files, of which a job writes its nodes' rows.
    """
    progress = progress or Progress()
    executor = executor or Inline(progress)
    width, known = len(prior), np.stack(codes, axis=1)
    values = np.tile(np.asarray(prior, np.float64), (links.num_nodes, len(codes)))
    _fix_known(values, known, width)
    with TemporaryDirectory(dir=links.folder) as name:
        scratch = Path(name)
        np.save(scratch / "codes.npy", known)
        values.tofile(scratch / "0")
        values.tofile(scratch / "1")
        del values
        for turn in range(rounds):
            settings = (scratch, turn, prior, neighbor_share, len(codes))
            list(run_on_partitions(executor, _propagate_once, links, *settings))
            progress.update(turn + 1, rounds, "label propagation")
        shape = (links.num_nodes, len(codes) * width)
        last = np.memmap(scratch / str(rounds % 2), np.float64, "r", shape=shape)
        return [np.array(last[:, k : k + width]) for k in range(0, shape[1], width)]


def sum_neighbors(executor: Executor, links: PartitionedLinks, pairs: np.ndarray) -> np.ndarray:
    """(k, 3) float64 sums over the common neighbours z of (k, 2) pairs: their number,
    Σ 1 / log d_z and Σ 1 / d_z.

    A job sums over the common neighbours of its own partition: the adjacency matrix is symmetric,
    so that its columns of the two ends hold them. Added up by partition, the scores may differ from
    those of one pass in their last digits.
    """
    sums = np.zeros((len(pairs), 3))
    with TemporaryDirectory(dir=links.folder) as name:
        path = Path(name) / "pairs.npy"
        np.save(path, np.asarray(pairs, np.int64))
        for rows, part in run_on_partitions(executor, _sum_within, links, path):
            sums[rows] += part
    return sums


def _propagate_once(
    links: PartitionedLinks,
    number: int,
    scratch: Path,
    turn: int,
    prior: np.ndarray,
    neighbor_share: float,
    sets: int,
) -> None:
    """One round of F ← a D⁻¹A F + (1−a) prior for a partition's rows, known rows fixed."""
    shape = (links.num_nodes, sets * len(prior))
    before = np.memmap(scratch / str(turn % 2), np.float64, "r", shape=shape)
    partition = links.load_partition(number)
    degrees = np.diff(partition.indptr)
    shares = np.repeat(1.0 / np.maximum(degrees, 1), degrees)
    rows = (shares, partition.indices, partition.indptr)
    values = sparse.csr_array(rows, shape=(len(degrees), links.num_nodes)) @ np.asarray(before)
    values *= neighbor_share
    base = np.tile(np.asarray(prior, np.float64), sets)
    values += np.where(degrees[:, None] > 0, (1.0 - neighbor_share) * base, base)
    codes = np.load(scratch / "codes.npy", mmap_mode="r")
    _fix_known(values, codes[partition.first : partition.first + len(degrees)], len(prior))
    with (scratch / str(1 - turn % 2)).open("r+b") as file:
        file.seek(partition.first * values.shape[1] * values.itemsize)
        values.tofile(file)


def _fix_known(values: np.ndarray, codes: np.ndarray, width: int) -> None:
    """Set the rows of known classes (k, sets), −1 unknown, in values (k, sets · width)."""
    for number, each in enumerate(codes.T):
        rows = np.flatnonzero(each >= 0)
        values[rows, number * width : (number + 1) * width] = np.eye(width)[each[rows]]


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
