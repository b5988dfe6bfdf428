"""What attacks on partitioned links compute: propagated labels, and sums over common neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

import numba
import numpy as np

from core.algorithms.class_propagation import SETTLED, complete_classes, follow_series, start_values
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
    `class_propagation.propagate_labels`, whose arguments these are, within some SETTLED.

    The values of two rounds are memory-mapped files, of which a job writes its nodes' rows; they
    are float32, and rounds end as in `class_propagation.follow_series`.
    """
    progress = progress or Progress()
    executor = executor or Inline(progress)
    free = max(len(prior) - 1, 1)
    values, _ = start_values(codes, prior, free, np.float32)
    shares = np.asarray(prior, np.float64)[:free]
    factors = left = np.zeros(values.shape[1])
    with TemporaryDirectory(dir=links.folder) as name:
        scratch, turn = Path(name), 0
        np.save(scratch / "codes.npy", np.stack(codes, axis=1))
        values.tofile(scratch / "0")
        values.tofile(scratch / "1")
        list(run_on_partitions(executor, _unpack, links, scratch))
        while turn < rounds:
            settings = (scratch, turn, shares, neighbor_share, factors)
            found = np.stack(list(run_on_partitions(executor, _propagate_once, links, *settings)))
            turn += 1
            progress.update(turn, rounds, "label propagation")
            is_settled, factors, left = follow_series(
                found.sum(axis=0), factors, links.num_nodes, rounds - turn, SETTLED
            )
            if is_settled:
                break
        last, before = (_open_values(scratch, k, values.shape) for k in (turn, turn - 1))
        values = last + (last - before) * left
    return complete_classes(values, len(prior))


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


def _unpack(links: PartitionedLinks, number: int, scratch: Path) -> None:
    """Check and decompress a partition once for all rounds."""
    partition = links.load_partition(number)
    np.save(scratch / f"{number}-indptr.npy", partition.indptr)
    np.save(scratch / f"{number}-indices.npy", partition.indices)


def _open_values(
    scratch: Path, turn: int, shape: tuple[int, ...], mode: Literal["r", "r+"] = "r"
) -> np.ndarray:
    """The values after so many rounds, or after two fewer until that round is done."""
    return np.asarray(np.memmap(scratch / str(turn % 2), np.float32, mode, shape=shape))


def _propagate_once(
    links: PartitionedLinks,
    number: int,
    scratch: Path,
    turn: int,
    shares: np.ndarray,
    neighbor_share: float,
    factors: np.ndarray,
) -> np.ndarray:
    """One round of F ← a D⁻¹A F + (1−a) prior for a partition's rows, known rows as they are;
    what `_average_rows` finds."""
    names = ("codes.npy", f"{number}-indptr.npy", f"{number}-indices.npy")
    codes, indptr, indices = (np.asarray(np.load(scratch / n, mmap_mode="r")) for n in names)
    shape = (links.num_nodes, len(factors))
    before = _open_values(scratch, turn, shape)
    after = _open_values(scratch, turn + 1, shape, "r+")
    rows = slice(links.bounds[number], links.bounds[number + 1])
    found = np.zeros((3, len(factors)))
    settings = (shares, neighbor_share, factors)
    _average_rows(indptr, indices, before, before[rows], after[rows], codes[rows], *settings, found)
    return found


@numba.njit(nogil=True, cache=True)
def _average_rows(
    indptr: np.ndarray,
    indices: np.ndarray,
    values: np.ndarray,
    before: np.ndarray,
    after: np.ndarray,
    codes: np.ndarray,
    shares: np.ndarray,
    neighbor_share: float,
    factors: np.ndarray,
    found: np.ndarray,
) -> None:
    """Set the rows `after` to a · mean over neighbours + (1−a) prior.

    after   (k, c) of two rounds ago, where rows of known classes have their value
    values  (n, c) of the last round, of which `before` are the rows
    codes   (k, sets) known class or −1
    found   (3, c) per column Σ change · last change, Σ (last change)² and
            Σ (change − factor · last change)²
    """
    for row in range(len(after)):
        start, stop = indptr[row], indptr[row + 1]
        weight = neighbor_share / (stop - start) if stop > start else 0.0
        rest = 1.0 - neighbor_share if stop > start else 1.0
        for column in range(values.shape[1]):
            if codes[row, column // len(shares)] >= 0:
                continue
            total = 0.0
            for k in range(start, stop):
                total += values[np.uint32(indices[k]), column]
            last = np.float64(before[row, column]) - np.float64(after[row, column])
            after[row, column] = weight * total + rest * shares[column % len(shares)]
            change = np.float64(after[row, column]) - np.float64(before[row, column])
            found[0, column] += change * last
            found[1, column] += last * last
            found[2, column] += (change - factors[column] * last) ** 2


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
