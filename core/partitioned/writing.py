"""Writes a release of partitioned links as an edge list, one partition at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np

from core.data import writers
from core.data.keyed_pseudonyms import KeyedPseudonyms
from core.data.text_input import escape_cell
from core.data.writers import (
    DEFAULT_FORMATS,
    describe_written,
    list_release_files,
    write_provenance,
)
from core.errors import UnsupportedError
from core.partitioned.graph import PartitionedGraph
from core.partitioned.links import ONE_PROCESS, Inline, write_links
from core.release import Release
from core.seeding import Seed

if TYPE_CHECKING:
    import pyarrow as pa

FORMATS = ("csv", "parquet")

ROW_GROUP = 1 << 20
"""Rows of a row group of Parquet, where partitions would tell of the original's degrees."""


def write_release(
    release: Release,
    folder: str | Path,
    stem: str,
    provenance: Mapping[str, Any],
    formats: Sequence[str] = DEFAULT_FORMATS,
    **options: Any,
) -> list[Path]:
    """`core.data.writers.write_release`, which writes graphs in one process; of links in partitions
    the same tables and provenance, in those of the formats that are FORMATS.

    options  `attributes`, `columns` and `pseudonyms`, as there

    Raises UnsupportedError if none of the formats is, and for keyed pseudonyms.
    """
    if not isinstance(release.graph, PartitionedGraph):
        return writers.write_release(release, folder, stem, provenance, formats, **options)
    pseudonyms = options.get("pseudonyms")
    written = [name for name in formats if name in FORMATS]
    if not written:
        rule = "is for graphs in one process; links in partitions are .csv or .parquet"
        raise UnsupportedError(f"format '{formats[0]}'", rule)
    if isinstance(pseudonyms, KeyedPseudonyms):
        raise UnsupportedError("keyed pseudonyms", ONE_PROCESS)
    named = options.get("columns")
    names = options.get("attributes", ()) if named is None else named
    return _write_partitions(release, Path(folder), stem, provenance, written, names, pseudonyms)


def _write_partitions(
    release: Release,
    folder: Path,
    stem: str,
    provenance: Mapping[str, Any],
    formats: Sequence[str],
    attributes: Sequence[str],
    pseudonyms: Seed | None,
) -> list[Path]:
    graph = release.graph
    assert isinstance(graph, PartitionedGraph)
    folder.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=folder, prefix=".") as scratch:
        if pseudonyms is not None:
            graph = shuffle_partitions(graph, pseudonyms, Path(scratch) / "links")
        for name in formats:
            open_table = _open_csv if name == "csv" else _open_parquet
            links, nodes = list_release_files(folder, stem, (name,))
            _write_tables(_tabulate_links(graph, pseudonyms is not None), links, open_table)
            table = _tabulate_nodes(graph, attributes, pseudonyms is not None)
            _write_tables(iter([table]), nodes, open_table)
    paths = list_release_files(folder, stem, formats)
    told = describe_written(release, graph, list(attributes), pseudonyms is not None)
    return [*paths, write_provenance(folder, stem, {**provenance, "release": told}, paths)]


def shuffle_partitions(graph: PartitionedGraph, seed: Seed, folder: Path) -> PartitionedGraph:
    """The same graph with its nodes in a random order, so that no row tells of the numbers."""
    order = seed.rng("pseudonyms").permutation(graph.num_nodes)
    place = np.empty(graph.num_nodes, np.int64)
    place[order] = np.arange(graph.num_nodes)
    parts = range(graph.links.num_partitions)
    bounds = np.unique(np.linspace(0, graph.num_nodes, len(parts) + 1).astype(int)).tolist()
    sources = [partial(_rename, graph, number, place) for number in parts]
    links = write_links(Inline(), folder, sources, graph.num_nodes, tuple(bounds))
    columns = {name: column.take(order) for name, column in graph.attributes.items()}
    return PartitionedGraph.of(links, columns, graph.name)


def _rename(graph: PartitionedGraph, number: int, place: np.ndarray) -> Iterator[np.ndarray]:
    yield place[graph.links.load_partition(number).owned]


def _format_ids(numbers: np.ndarray, is_renamed: bool) -> pa.Array:
    """Ids as `core.data.writers` has them: the numbers, or n1 … nN."""
    import pyarrow as pa
    from pyarrow import compute

    names = pa.array(numbers + is_renamed).cast(pa.string())
    return compute.binary_join_element_wise("n", names, "") if is_renamed else names


def _tabulate_links(graph: PartitionedGraph, is_renamed: bool) -> Iterator[pa.Table]:
    import pyarrow as pa

    for number in range(graph.links.num_partitions):
        ends = graph.links.load_partition(number).owned
        source, target = (_format_ids(each, is_renamed) for each in ends.T)
        yield pa.table({"source": source, "target": target})


def _tabulate_nodes(
    graph: PartitionedGraph, attributes: Sequence[str], is_renamed: bool
) -> pa.Table:
    import pyarrow as pa

    columns = {"id": _format_ids(np.arange(graph.num_nodes), is_renamed)}
    for name in attributes:
        attribute = graph.column(name)
        classes = pa.array([*map(escape_cell, attribute.classes), ""])
        codes = pa.array(np.where(attribute.known, attribute.codes, attribute.num_classes))
        key = escape_cell(name) if name != "id" else "id_attribute"
        columns[key] = classes.take(codes)
    return pa.table(columns)


def _write_tables(
    tables: Iterator[pa.Table], path: Path, open_table: Callable[[Path, pa.Schema], Any]
) -> None:
    grouped = _regroup(tables)
    first = next(grouped)
    with open_table(path, first.schema) as file:
        for table in chain([first], grouped):
            file.write_table(table)


def _regroup(tables: Iterator[pa.Table]) -> Iterator[pa.Table]:
    """The same rows, ROW_GROUP a table but in the last: a file's layout depends on them alone."""
    import pyarrow as pa

    held = next(tables)
    for table in chain([held.slice(0, 0)], tables):
        held = pa.concat_tables([held, table])
        while len(held) > ROW_GROUP:
            yield held.slice(0, ROW_GROUP).combine_chunks()
            held = held.slice(ROW_GROUP)
    yield held.combine_chunks()


def _open_csv(path: Path, schema: pa.Schema) -> Any:
    from pyarrow import csv

    return csv.CSVWriter(path, schema, write_options=csv.WriteOptions(quoting_style="all_valid"))


def _open_parquet(path: Path, schema: pa.Schema) -> Any:
    from pyarrow import parquet

    return parquet.ParquetWriter(path, schema)
