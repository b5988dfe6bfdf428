"""Links in Parquet partitions by range of nodes, and the shuffle that writes them.

Every link is stored at both ends, so that a partition holds the whole neighbour lists of its nodes.
Jobs run on any `concurrent.futures.Executor`, such as `engine.connect().get_executor(pure=False)`
of Dask; all processes see the folder under the same path. A job reads one partition at most.
Vectors with one value per node are held whole; links are not. Links have no weights.
"""

from __future__ import annotations

import hashlib
import shutil
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from scipy import sparse

from core.arrays import sort_distinct
from core.errors import InputError, UnsupportedError
from core.progress import Progress

Source = Callable[[], Iterator[np.ndarray]]
"""Picklable function that yields (k, 2) pairs of node numbers, the same on every call."""

PENDING = 16
"""Maximum number of jobs submitted whose results were not yet used."""

BLOCKS = 1 << 16
"""Ranges of nodes whose link ends are counted before partitions are chosen."""

ONE_PROCESS = "needs all links in one process, and this graph is kept in partitions"
"""Why a method does not run on partitioned links."""


@dataclass(frozen=True, eq=False)
class Partition:
    """Neighbour lists of the nodes `first` to `first + len(indptr) - 2`.

    indptr   (k+1,) int64
    indices  int32 numbers of the neighbours, ascending in each list
    """

    first: int
    num_nodes: int
    indptr: np.ndarray
    indices: np.ndarray

    @property
    def nodes(self) -> np.ndarray:
        """(k,) int64 numbers of its nodes."""
        return np.arange(self.first, self.first + len(self.indptr) - 1)

    @property
    def sources(self) -> np.ndarray:
        """Node of each entry of `indices`."""
        return np.repeat(self.nodes, np.diff(self.indptr))

    @property
    def owned(self) -> np.ndarray:
        """(m', 2) int64 links i < j with i in this partition, sorted."""
        sources = self.sources
        is_owned = self.indices > sources
        return np.stack([sources[is_owned], self.indices[is_owned]], axis=1)

    @property
    def matrix(self) -> sparse.csr_array:
        """(k, n) float32 rows of the adjacency matrix."""
        values = np.ones(len(self.indices), np.float32)
        shape = (len(self.indptr) - 1, self.num_nodes)
        return sparse.csr_array((values, self.indices, self.indptr), shape=shape)


@dataclass(frozen=True)
class PartitionedLinks:
    """Undirected simple links between nodes 0 … n−1, in a folder.

    bounds   p + 1 node numbers: partition k holds the nodes from bounds[k] to bounds[k + 1] − 1
    owned    number of links i < j with i in each partition
    digests  BLAKE2b of each partition, by which one that changed is found when it is read

    Stands where a graph has its array of links: code that reads that array gets the reason why it
    cannot (UnsupportedError).
    """

    folder: Path
    num_nodes: int
    bounds: tuple[int, ...]
    owned: tuple[int, ...]
    digests: tuple[str, ...] = ()

    def refuse(self, *_: object, **__: object) -> NoReturn:
        """Raise UnsupportedError: somebody asks for all links."""
        raise UnsupportedError("this computation", ONE_PROCESS)

    __len__ = __iter__ = __getitem__ = __array__ = refuse

    def __getattr__(self, name: str) -> NoReturn:
        if not name.startswith("_") and name != "nbytes" and hasattr(np.ndarray, name):
            self.refuse()
        raise AttributeError(name)

    @property
    def num_partitions(self) -> int:
        return len(self.owned)

    @property
    def num_links(self) -> int:
        return sum(self.owned)

    @property
    def num_pairs(self) -> int:
        return self.num_nodes * (self.num_nodes - 1) // 2

    @property
    def degrees(self) -> np.ndarray:
        """(n,) int64, memory-mapped."""
        return np.asarray(np.load(self.folder / "degrees.npy", mmap_mode="r"))

    def locate_nodes(self, nodes: np.ndarray) -> np.ndarray:
        """Partition of each node."""
        return np.searchsorted(self.bounds, nodes, side="right") - 1

    def check(self) -> None:
        """Raise InputError if a partition is missing or not as it was written."""
        for number in range(self.num_partitions):
            self.load_partition(number)

    def load_partition(self, number: int) -> Partition:
        """Read one partition; raises InputError if it is not as it was written."""
        from pyarrow import ArrowInvalid

        try:
            return self._read_partition(number)
        except (OSError, ArrowInvalid):
            what = f"stored links, partition {number}"
            remedy = "load the graph again, or resume the audit"
            raise InputError(what, "must be as they were written", remedy=remedy) from None

    def _read_partition(self, number: int) -> Partition:
        from pyarrow import parquet

        with parquet.ParquetFile(_find_file(self.folder, number)) as file:
            lists = file.read(use_threads=False).column("neighbors").combine_chunks()
        indptr = lists.offsets.to_numpy().astype(np.int64)
        indices = lists.values.to_numpy()
        if self.digests and _compute_digest(indptr, indices) != self.digests[number]:
            raise OSError("another content")
        return Partition(self.bounds[number], self.num_nodes, indptr, indices)


class Inline(Executor):
    """Runs each job at once, in this process: what a cell of an audit computes partitions with.

    progress  is asked before each job, and may end the run
    """

    def __init__(self, progress: Progress | None = None) -> None:
        self._progress = progress or Progress()

    def submit(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """The function's result; raises what it raises."""
        self._progress.check()
        future: Future[Any] = Future()
        future.set_result(function(*args, **kwargs))
        return future


def run_jobs(
    executor: Executor, function: Callable[..., Any], tasks: Iterable[tuple[Any, ...]]
) -> Iterator[Any]:
    """Results of function(*task) in the order of the tasks; few are in flight at a time."""
    pending: deque[Future[Any]] = deque()
    try:
        for task in tasks:
            pending.append(executor.submit(function, *task))
            if len(pending) == PENDING:
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()
    finally:
        for future in pending:
            future.cancel()


def run_on_partitions(
    executor: Executor, function: Callable[..., Any], links: PartitionedLinks, *settings: Any
) -> Iterator[Any]:
    """Results of function(links, number, *settings) in the order of the partitions."""
    tasks = ((links, number, *settings) for number in range(links.num_partitions))
    return run_jobs(executor, function, tasks)


def choose_bounds(
    executor: Executor, sources: Sequence[Source], num_nodes: int, num_partitions: int
) -> tuple[int, ...]:
    """Bounds of at most `num_partitions` ranges of nodes with about as many link ends each.

    Passes through the sources once. Duplicates count; a node's list is never divided.
    """
    width = -(-num_nodes // BLOCKS)
    tasks = [(source, num_nodes, width) for source in sources]
    total = np.cumsum(sum(run_jobs(executor, _count_ends, tasks)))
    wanted = total[-1] * np.arange(1, num_partitions) / num_partitions
    ends = (np.searchsorted(total, wanted) + 1) * width
    return tuple(np.unique([0, *ends.clip(max=num_nodes), num_nodes]).tolist())


def write_links(
    executor: Executor,
    folder: Path,
    sources: Sequence[Source],
    num_nodes: int,
    bounds: tuple[int, ...],
) -> PartitionedLinks:
    """Store the pairs of all sources; direction, self-loops and duplicates are dropped.

    One job per source sorts each of its chunks by node, one per partition merges its part of every
    chunk: memory is that of the largest chunk or partition.
    """
    if not 0 < num_nodes < 2**31:
        raise InputError("graph", "must have 1 to 2³¹ − 1 nodes", num_nodes)
    chunks = folder / "chunks"
    chunks.mkdir(parents=True)
    tasks = [(source, chunks / str(number), num_nodes) for number, source in enumerate(sources)]
    list(run_jobs(executor, _sort_chunks, tasks))
    ranges = zip(range(len(bounds)), bounds[:-1], bounds[1:], strict=False)
    built = run_jobs(executor, _merge_chunks, ((folder, num_nodes, *each) for each in ranges))
    degrees, owned, digests = zip(*built, strict=True)
    shutil.rmtree(chunks)
    np.save(folder / "degrees.npy", np.concatenate(degrees))
    return PartitionedLinks(folder, num_nodes, bounds, owned, digests)


def _count_ends(source: Source, num_nodes: int, width: int) -> np.ndarray:
    counts = np.zeros(-(-num_nodes // width), np.int64)
    for pairs in source():
        _check_nodes(pairs, num_nodes)
        counts += np.bincount(pairs.ravel() // width, minlength=len(counts))
    return counts


def _sort_chunks(source: Source, folder: Path, num_nodes: int) -> None:
    """Save the sorted codes i·n + j of both directions of each chunk."""
    folder.mkdir()
    for number, pairs in enumerate(source()):
        _check_nodes(pairs, num_nodes)
        first, second = pairs[pairs[:, 0] != pairs[:, 1]].astype(np.int64).T
        codes = np.concatenate([first * num_nodes + second, second * num_nodes + first])
        np.save(folder / f"{number}.npy", sort_distinct(codes))


def _merge_chunks(
    folder: Path, num_nodes: int, number: int, first: int, stop: int
) -> tuple[np.ndarray, int, str]:
    """Write a partition; returns its nodes' degrees, the number of links it owns, its digest."""
    import pyarrow as pa
    from pyarrow import parquet

    found = [np.empty(0, np.int64)]
    for path in sorted(folder.glob("chunks/*/*.npy")):
        chunk = np.load(path, mmap_mode="r")
        low, high = np.searchsorted(chunk, [first * num_nodes, stop * num_nodes])
        found.append(np.array(chunk[low:high]))
    codes = sort_distinct(np.concatenate(found))
    del found
    indptr = np.searchsorted(codes, np.arange(first, stop + 1) * num_nodes)
    sources, targets = np.divmod(codes, num_nodes)
    lists = pa.ListArray.from_arrays(
        pa.array(indptr.astype(np.int32)), pa.array(targets.astype(np.int32))
    )
    parquet.write_table(
        pa.table({"neighbors": lists}),
        _find_file(folder, number),
        row_group_size=len(lists),
        compression="lz4",
        use_dictionary=False,
    )
    owned = int((sources < targets).sum())
    return np.diff(indptr), owned, _compute_digest(indptr, targets.astype(np.int32))


def _compute_digest(indptr: np.ndarray, indices: np.ndarray) -> str:
    digest = hashlib.blake2b(digest_size=16)
    for array in (indptr.astype("<i8"), indices.astype("<i4")):
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()


def _check_nodes(pairs: np.ndarray, num_nodes: int) -> None:
    if pairs.size and (pairs.min() < 0 or pairs.max() >= num_nodes):
        raise InputError("link ends", f"must be node numbers from 0 to {num_nodes - 1}")


def _find_file(folder: Path, number: int) -> Path:
    return folder / f"links-{number:05}.parquet"


def reach_nodes(links: PartitionedLinks, start: int, count: int) -> np.ndarray:
    """Up to `count` nodes around one, breadth first; ascending. A partition is read at a time."""
    reached, last = {start: None}, np.array([start])
    while len(last) and len(reached) < count:
        found = [near for _, near in _list_neighbors(links, last)]
        last = np.array(
            [n for n in dict.fromkeys(np.concatenate(found).tolist()) if n not in reached]
        )
        last = last[: count - len(reached)]
        reached |= dict.fromkeys(last.tolist())
    return np.sort(list(reached))


def select_links(links: PartitionedLinks, nodes: np.ndarray) -> np.ndarray:
    """(k, 2) links i < j among a few nodes, sorted."""
    pairs = [np.empty((0, 2), np.int64)]
    for node, near in _list_neighbors(links, nodes):
        others = near[(near > node) & np.isin(near, nodes)]
        pairs.append(np.stack([np.full_like(others, node), others], axis=1))
    found = np.concatenate(pairs)
    return found[np.lexsort(found.T[::-1])]


def _list_neighbors(links: PartitionedLinks, nodes: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
    """Each node with its neighbours (int64), partition by partition."""
    places = links.locate_nodes(nodes)
    for number in np.unique(places).tolist():
        partition = links.load_partition(number)
        for node in nodes[places == number].tolist():
            first, stop = partition.indptr[node - partition.first : node - partition.first + 2]
            yield node, partition.indices[first:stop].astype(np.int64)
