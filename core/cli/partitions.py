"""Reads links that do not fit one process: into partitions, one part of a file at a time."""

from __future__ import annotations

import argparse
import atexit
import multiprocessing
import os
import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from core.errors import InputError

if TYPE_CHECKING:
    from core.data.loaded import LoadedGraph
    from core.node_column import NodeColumn
    from core.partitioned.links import Source

MAX_LINKS, PARTS = 15_000_000, 15
"""Rows of links that one process holds (AUDIT_MAX_LINKS), and partitions of as many rows."""

LEAST_ROW, PACKED_ROW = 4, 1
"""Fewest bytes of a row, as text and compressed: smaller files are not counted."""

MAX_GAP = 20
"""Node numbers for each row of links, at most."""

NOT_READ = ("source", "target", "weight", "time", "kind", "merge", "graph_id")
"""Options of files of links that partitions do not have."""


def find_large(path: Path) -> tuple[list[Source], int, int] | None:
    """Sources of links to be kept in partitions, with the numbers of nodes and rows; else None.

    Links have two node numbers in a row, and are more than AUDIT_MAX_LINKS, or in a folder of such
    files that is no dataset.
    """
    from core.data.dataset_folders import find_dataset
    from core.partitioned.reading import count_sources, list_sources

    try:
        is_folder = path.is_dir()
        if _succeeds(lambda: find_dataset(path)) if is_folder else not _may_exceed(path):
            return None
        sources = list_sources(path.absolute())
        with open_pool(_count_bytes(path)) as executor:
            num_nodes, num_rows = count_sources(executor, sources)
    except (InputError, OSError):
        return None  # no such links: whoever reads other files says what they lack
    return (sources, num_nodes, num_rows) if is_folder or num_rows > find_limit() else None


def find_limit() -> int:
    """Rows of links that one process holds."""
    text = os.environ.get("AUDIT_MAX_LINKS") or str(MAX_LINKS)
    if not text.isdecimal() or int(text) < 1:
        raise InputError("AUDIT_MAX_LINKS", "must be a whole number above 0", text)
    return int(text)


def load_partitions(
    options: argparse.Namespace,
    path: Path,
    found: tuple[list[Source], int, int],
    notify: Callable[[str], object],
) -> LoadedGraph:
    """The graph of `find_large`'s sources; its links lie in AUDIT_HOME until this process ends,
    where saving the graph keeps them.

    Raises InputError for options that partitions do not have, and for links of two modes.
    """
    from core.data.loaded import ColumnUse, LoadedGraph, LoadReport
    from core.home import find_home
    from core.partitioned.graph import PartitionedGraph
    from core.partitioned.links import choose_bounds, write_links

    for name in NOT_READ:
        if getattr(options, name, None) is not None:
            rule = "is for links that one process holds"
            remedy = "write the two node numbers in the first two columns"
            raise InputError(f"--{name.replace('_', '-')}", rule, None, remedy)
    sources, num_nodes, num_rows = found
    _check_one_mode(path, num_rows)
    if num_nodes > MAX_GAP * num_rows:
        rule = f"must be below {MAX_GAP} times the number of links: a value is kept for each"
        raise InputError(
            "node numbers", rule, num_nodes - 1, "number the nodes from 0 without gaps"
        )
    notify(f"storing {num_rows:,} rows of links in partitions")
    folder = find_home() / "graphs" / f".read-{os.getpid()}-{os.urandom(4).hex()}"
    folder.mkdir(parents=True)
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    parts = max(num_rows * PARTS // find_limit(), 1)
    with open_pool(_count_bytes(path)) as executor:
        bounds = choose_bounds(executor, sources, num_nodes, parts)
        links = write_links(executor, folder / "links", sources, num_nodes, bounds)
    columns = _read_columns(options, num_nodes)
    graph = PartitionedGraph.of(links, columns, path.name.partition(".")[0])
    notify(
        f"{int((graph.degrees > 0).sum())} nodes with links, {links.num_links} links in "
        f"{links.num_partitions} partitions; directions, duplicates and self-loops dropped"
    )
    notify(
        "not read, and in no release: further columns of the links, such as weights and times, and "
        "columns of the nodes but the private and utility ones. AUDIT_MAX_LINKS above "
        f"{num_rows:,} holds the links in one process, which reads them and runs every attack"
    )
    uses = [ColumnUse("links", "first column", "source", "id")]
    uses.append(ColumnUse("links", "second column", "target", "id"))
    uses += [ColumnUse("nodes", name, "attribute", "class") for name in columns]
    return LoadedGraph(graph, LoadReport(str(path), "partitions", columns=uses))


@contextmanager
def open_pool(num_bytes: int) -> Iterator[Executor]:
    """Processes for large files, this one for small ones."""
    from core.audit.jobs.cluster import count_workers
    from core.partitioned.links import Inline

    if num_bytes < 1 << 26 or count_workers() < 2:
        yield Inline()
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(count_workers(), context) as pool:
        yield pool


def _read_columns(options: argparse.Namespace, num_nodes: int) -> dict[str, NodeColumn]:
    """The named columns of the node table; others are not read."""
    from core.partitioned.reading import read_attribute

    named = [options.private, *options.more_private, options.utility]
    wanted = list(dict.fromkeys(filter(None, named)))
    if wanted and options.nodes is None:
        raise InputError("--private", "needs a node table", wanted[0], "use --nodes FILE")
    key = options.id or "id"
    return {name: read_attribute(options.nodes, key, name, num_nodes) for name in wanted}


def _check_one_mode(path: Path, num_rows: int) -> None:
    """Raise InputError if the columns of a file are named as two modes: user 5 is not item 5."""
    from core.data.modes import list_modes
    from core.partitioned.reading import list_headers

    for source, target in list_headers(path):
        if all(list_modes(source, target)):
            raise InputError(
                "links in partitions",
                "must join nodes of one kind: a number is one node in both columns",
                f"columns '{source}' and '{target}'",
                f"set AUDIT_MAX_LINKS above {num_rows:,}: one process then holds the links and "
                "keeps the two kinds apart",
            )


def _may_exceed(path: Path) -> bool:
    least = LEAST_ROW if path.suffix in (".txt", ".csv", ".tsv", ".edges") else PACKED_ROW
    return path.stat().st_size >= find_limit() * least


def _count_bytes(path: Path) -> int:
    files = path.iterdir() if path.is_dir() else [path]
    return sum(file.stat().st_size for file in files)


def _succeeds(check: Callable[[], object]) -> bool:
    try:
        check()
    except InputError:
        return False
    return True
