"""Arrays on disk: graphs, releases and cell results, as npz without pickle.

AUDIT_HOME/graphs/<hash>.npz           loaded graphs
AUDIT_HOME/graphs/<hash>/              links of a graph that keeps them in partitions, and what its
                                       audits withhold of them
AUDIT_HOME/cells/<key[:2]>/<key>/      arrays.npz of a finished cell or job; links/ of a release in
                                       partitions
AUDIT_HOME/flags/<key>                 exists while an audit or job is to be cancelled
AUDIT_HOME/shared/<audit>/             work that cells of a running audit share
"""

from __future__ import annotations

import errno
import hashlib
import io
import os
import shutil
import tempfile
import time
import zipfile
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import ParamSpec, TypeVar

import numpy as np

from core.data.packing import Arrays as Arrays
from core.data.packing import pack_graph, pack_links, pack_nodes, unpack_graph, unpack_link_table
from core.errors import DamagedError, InputError
from core.graph import Graph
from core.partitioned.graph import (
    PartitionedGraph,
    copy_links,
    holds_partitions,
    pack_division,
    pack_partitions,
    unpack_division,
    unpack_partitions,
)

FOLDERS = ("graphs", "cells", "flags", "shared", "damaged")
"""Folders of AUDIT_HOME; the last holds damaged files that were set aside."""

LINKS = "links"
"""Folder of the partitions of a graph or of a cell's release."""

ARRAYS, CHECKSUM = "arrays.npz", "blake2b"
"""Files of a finished cell. The second has the hash of the first and, on a second line, where its
directory begins and the hash of that: the directory holds a checksum of each array, so that one
array is verified without reading the others. Cells of earlier versions have the first line until
they are read."""


REOPENINGS = 3
"""Attempts to reopen a file that was replaced while read over a network."""

BinaryFile = io.BufferedReader | io.BytesIO

P = ParamSpec("P")
T = TypeVar("T")


def graph_path(home: Path, graph_hash: str) -> Path:
    """Path of the graph with this content hash."""
    return home / "graphs" / f"{graph_hash}.npz"


def links_folder(home: Path, graph_hash: str) -> Path:
    """Folder of the partitions of the graph with this content hash."""
    return home / "graphs" / graph_hash / LINKS


def cell_folder(home: Path, key: str) -> Path:
    """Folder of a cell's arrays."""
    return home / "cells" / key[:2] / key


def flag_path(home: Path, key: str) -> Path:
    """File whose existence cancels an audit with all its cells, or another job."""
    return home / "flags" / key


def shared_folder(home: Path, audit_id: str) -> Path:
    """Folder of the work that cells of an audit share."""
    return home / "shared" / audit_id


def delete_shared(home: Path, audit_id: str) -> None:
    """Remove that work, if any."""
    shutil.rmtree(shared_folder(home, audit_id), ignore_errors=True)


def raise_flag(home: Path, key: str) -> None:
    """Request cancellation, in whatever process it runs."""
    path = flag_path(home, key)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()


def clear_flag(home: Path, key: str) -> None:
    """Withdraw the request."""
    flag_path(home, key).unlink(missing_ok=True)


def save_graph(home: Path, graph: Graph) -> str:
    """Store a graph under its content hash, which is returned; never rewritten."""
    path = graph_path(home, graph.content_hash)
    if not _is_sound_zip(path):  # a damaged one is written again
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(graph, PartitionedGraph):
            folder, arrays = links_folder(home, graph.content_hash), pack_partitions(graph)
            shutil.rmtree(folder, ignore_errors=True)
            copy_links(graph.links.folder, folder)
        else:
            arrays = pack_graph(graph)
        with _replacing(path) as temporary:
            write_npz(temporary, arrays)
    return graph.content_hash


def load_graph(home: Path, graph_hash: str) -> Graph:
    """A stored graph; raises InputError if it is missing or its content does not match its hash."""
    path = graph_path(home, graph_hash)
    if not path.exists():
        raise InputError("graph", "must be stored", graph_hash[:12], "load the file again")
    try:
        arrays = read_npz(path)
        for array in arrays.values():
            array.flags.writeable = False  # nobody else holds it, so that the graph copies nothing
        graph = (
            unpack_partitions(arrays, links_folder(home, graph_hash))
            if holds_partitions(arrays)
            else unpack_graph(arrays)
        )
        is_same = graph.content_hash == graph_hash
    except (OSError, ValueError, KeyError, IndexError, TypeError, EOFError, zipfile.BadZipFile):
        is_same = False
    if not is_same:
        raise DamagedError(
            "stored graph", "must match its hash", graph_hash[:12], "load its file again"
        )
    return graph


def delete_graph(home: Path, graph_hash: str) -> None:
    """Remove a graph and what is kept beside it."""
    graph_path(home, graph_hash).unlink(missing_ok=True)
    shutil.rmtree(links_folder(home, graph_hash).parent, ignore_errors=True)


def pack_release(graph: Graph, visible: Graph, link_scores: np.ndarray | None = None) -> Arrays:
    """Links of a released graph, and its node data only if a defense changed them.

    link_scores  (m,) learned score of each link of `visible`, if any
    """
    if isinstance(graph, PartitionedGraph):
        return pack_division(graph.links)
    nodes, before = pack_nodes(graph), pack_nodes(visible)
    same = nodes.keys() == before.keys() and all(
        np.array_equal(nodes[name], before[name]) for name in nodes
    )
    learned = {} if link_scores is None else {"link_scores": link_scores}
    return {**pack_links(graph), **learned, **({} if same else nodes)}


def load_release(home: Path, key: str, visible: Graph) -> Graph:
    """Released graph of a cell or job."""
    return unpack_release(load_cell(home, key), visible, cell_folder(home, key) / LINKS)


def unpack_release(arrays: Arrays, visible: Graph, links: Path | None = None) -> Graph:
    """Released graph: the visible graph's nodes with the stored links, which are in the folder
    `links` if those of the visible graph are in partitions."""
    if isinstance(visible, PartitionedGraph):
        assert links is not None
        return visible.with_links(unpack_division(arrays, links))
    if "node_ids" in arrays:
        return unpack_graph(arrays)
    return replace(
        visible,
        edges=arrays["edges"],
        weights=arrays.get("weights"),
        link_table=unpack_link_table(arrays),
    )


def save_cell(home: Path, key: str, arrays: Arrays, links: Path | None = None) -> None:
    """Write a cell's arrays, and its links in partitions if it has any, atomically and durably."""

    def write(folder: Path) -> None:
        if links is not None:
            copy_links(links, folder / LINKS)
        write_npz(folder / ARRAYS, arrays)
        with (folder / ARRAYS).open("rb") as file:
            _write(folder / CHECKSUM, _describe_arrays(file))

    _place_cell(home, key, write, True)


def save_packed_cell(home: Path, key: str, content: bytes) -> None:
    """Write a cell's arrays from what `format_npz` gave: atomically, not durably, since the packed
    file is still there if a power cut takes them."""

    def write(folder: Path) -> None:
        (folder / ARRAYS).write_bytes(content)
        (folder / CHECKSUM).write_bytes(_describe_arrays(io.BytesIO(content)))

    _place_cell(home, key, write, False)


def _place_cell(home: Path, key: str, write: Callable[[Path], None], is_durable: bool) -> None:
    """Let a cell's folder be written beside its place, then move it there."""
    folder = cell_folder(home, key)
    folder.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(prefix=".", dir=folder.parent))
    try:
        write(temporary)
        shutil.rmtree(folder, ignore_errors=True)  # left by a run that died before its row
        temporary.rename(folder)
        if is_durable:
            _sync_folder(folder.parent)
    except OSError:
        shutil.rmtree(temporary, ignore_errors=True)
        # Else another run finished the same cell first, or a network's file system asked for the
        # rename again because the answer had been lost, and found nothing to rename.
        if not is_whole(home, key):
            raise


def load_cell(home: Path, key: str, names: Collection[str] | None = None) -> Arrays:
    """Arrays of a cell, or those of them with these names; raises DamagedError if what is read
    differs from what was written."""
    path = cell_folder(home, key) / ARRAYS
    if names is None:
        _require(is_whole(home, key), key)
        return read_npz(path)
    check_complete(home, key)
    try:
        return read_npz(path, names)
    except (OSError, ValueError, zipfile.BadZipFile):
        _require(is_whole(home, key), key)
        raise


def check_complete(home: Path, key: str) -> None:
    """Raise DamagedError if a cell's arrays are not there in full; their values are checked as
    they are read."""
    folder = cell_folder(home, key)
    try:
        _, *directory = _read_checksum(folder)
        if directory:
            is_there = directory == [_read_directory(folder, directory[0])]
        else:
            is_there = _is_as_written(folder)
            if is_there:  # checked in full for the last time
                with (
                    suppress(OSError),
                    (folder / ARRAYS).open("rb") as file,
                    _replacing(folder / CHECKSUM) as temporary,
                ):
                    _write(temporary, _describe_arrays(file))
    except (OSError, ValueError, OverflowError):
        is_there = False
    _require(is_there, key)


def _require(is_sound: bool, key: str) -> None:
    if not is_sound:
        raise DamagedError(
            "stored arrays", "must be as they were written", key[:12], "resume the audit"
        )


def is_whole(home: Path, key: str) -> bool:
    """Whether a cell's arrays exist and are intact."""
    try:
        return _is_as_written(cell_folder(home, key))
    except (OSError, UnicodeDecodeError):
        return False


def quarantine(home: Path, key: str) -> None:
    """Move the remains of a damaged cell to AUDIT_HOME/damaged."""
    folder = cell_folder(home, key)
    if folder.exists():
        place = home / "damaged" / f"{key}-{time.time_ns()}"
        place.parent.mkdir(exist_ok=True)
        folder.rename(place)


def delete_cell(home: Path, key: str) -> None:
    """Remove a cell's arrays, if any."""
    shutil.rmtree(cell_folder(home, key), ignore_errors=True)


def _reopened(read: Callable[P, T]) -> Callable[P, T]:
    """Retry reading after a stale file handle."""

    @wraps(read)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        for _ in range(REOPENINGS):
            try:
                return read(*args, **kwargs)
            except OSError as error:
                if error.errno != errno.ESTALE:
                    raise
        return read(*args, **kwargs)

    return call


@_reopened
def read_npz(path: Path, names: Collection[str] | None = None) -> Arrays:
    """Arrays by name, all or those of them with these names; never unpickled."""
    with path.open("rb") as file, np.load(file, allow_pickle=False) as stored:
        return {name: stored[name] for name in stored.files if names is None or name in names}


@_reopened
def list_arrays(path: Path) -> list[str]:
    """Names of a file's arrays, without reading them; raises DamagedError if it is not whole."""
    try:
        with zipfile.ZipFile(path) as archive:
            return [name.removesuffix(".npy") for name in archive.namelist()]
    except (FileNotFoundError, zipfile.BadZipFile):
        raise DamagedError(
            "stored arrays", "must be as they were written", path.name, "resume the audit"
        ) from None


def write_npz(path: Path, arrays: Arrays) -> None:
    """Write uncompressed and durably."""
    with path.open("wb") as file:
        np.savez(file, **arrays)  # type: ignore[arg-type]
        file.flush()
        os.fsync(file.fileno())


def format_npz(arrays: Arrays) -> bytes:
    """The same as bytes, never pickled."""
    with io.BytesIO() as file:
        np.savez(file, allow_pickle=False, **arrays)
        return file.getvalue()


def _write(path: Path, content: bytes) -> None:
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _sync_folder(folder: Path) -> None:
    """Make the creation of a file durable."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@_reopened
def _is_as_written(folder: Path) -> bool:
    with (folder / ARRAYS).open("rb") as file:
        return [_compute_digest(file)] == _read_checksum(folder)[:1]


@_reopened
def _read_directory(folder: Path, recorded: str) -> str:
    """`_describe_directory` of a cell's arrays, from where it was recorded to begin."""
    with (folder / ARRAYS).open("rb") as file:
        return _describe_directory(file, int(recorded.partition(" ")[0]))


@_reopened
def _read_checksum(folder: Path) -> list[str]:
    """Lines of a cell's `CHECKSUM`."""
    return (folder / CHECKSUM).read_text().splitlines()


def _describe_arrays(file: BinaryFile) -> bytes:
    """Content of a cell's `CHECKSUM`, from its arrays."""
    with zipfile.ZipFile(file) as archive:
        start = archive.start_dir
    file.seek(0)
    return f"{_compute_digest(file)}\n{_describe_directory(file, start)}".encode()


def _compute_digest(file: BinaryFile) -> str:
    return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()


def _describe_directory(file: BinaryFile, start: int) -> str:
    """Where the directory of a cell's archive begins, in bytes, and its hash to the end."""
    file.seek(start)
    return f"{start} {hashlib.blake2b(file.read(), digest_size=16).hexdigest()}"


def _is_sound_zip(path: Path) -> bool:
    try:
        with zipfile.ZipFile(path) as archive:
            return archive.testzip() is None
    except (OSError, zipfile.BadZipFile, EOFError, ValueError, NotImplementedError):
        return False


@contextmanager
def _replacing(path: Path) -> Iterator[Path]:
    """Temporary path that atomically replaces `path` on success."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.{os.urandom(4).hex()}")
    try:
        yield temporary
        try:
            temporary.replace(path)
        except FileNotFoundError:  # asked again, as in `save_cell`
            if not path.exists():
                raise
    finally:
        temporary.unlink(missing_ok=True)
