"""Files of links between numbered nodes, as sources that jobs read one part at a time."""

from __future__ import annotations

import re
from collections.abc import Iterator
from concurrent.futures import Executor
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from core.data.sniff import detect_separator
from core.errors import InputError
from core.node_column import LEADING_ZERO, MISSING, NodeColumn
from core.partitioned.links import Source, run_jobs

BLOCK_BYTES = 1 << 24
"""Bytes of a text file that are parsed at once."""

SAMPLED_ROWS = 50
"""Rows of a text file by which its separator is found."""

MAX_CLASSES = 100
"""Label propagation keeps a number for each node and class."""

RULE = "must hold the numbers of two nodes, from 0 to 2³¹ − 2, in its first two columns"
DIGITS = re.compile(r'"?-?\d+"?')


def list_sources(path: Path) -> list[Source]:
    """A source per row group of Parquet files and per text file (compressed or not).

    path  a file, or a folder of them

    Text has two numbers in a line, separated as `core.data.sniff` finds; lines of comments (# or %)
    and a header may precede them. Raises InputError for a missing or an empty path.
    """
    if not path.exists():
        raise InputError("links", "must be a file or a folder", str(path))
    files = sorted(file for file in path.iterdir() if file.is_file()) if path.is_dir() else [path]
    sources: list[Source] = []
    for file in files:
        if file.suffix == ".parquet":
            sources += [partial(_read_group, file, group) for group in _list_groups(file)]
        else:
            sources.append(partial(_read_text, file))
    if not sources:
        raise InputError("links", "must be at least one file of links", str(path))
    return sources


def list_headers(path: Path) -> list[tuple[str, str]]:
    """Names of the first two columns of each file of `list_sources`; of text without a header, and
    of Parquet with one column, none."""
    files = sorted(file for file in path.iterdir() if file.is_file()) if path.is_dir() else [path]
    found = []
    for file in files:
        if file.suffix == ".parquet":
            names = _read_names(file)
        else:
            number, delimiter, rows = _find_layout(file)
            before = [row for n, row in rows.items() if n < number]
            names = [word.strip().strip('"') for word in "".join(before).split(delimiter)]
        found += [(names[0], names[1])] if len(names) > 1 else []
    return found


def count_sources(executor: Executor, sources: list[Source]) -> tuple[int, int]:
    """Number of nodes, the highest number plus one, and of rows."""
    found = np.array(list(run_jobs(executor, _count_source, [(source,) for source in sources])))
    if not found[:, 1].sum():
        raise InputError("links", "must hold at least one link")
    return int(found[:, 0].max()), int(found[:, 1].sum())


def read_attribute(path: Path, id_column: str, name: str, num_nodes: int) -> NodeColumn:
    """A column of a table of nodes (CSV or Parquet), by the node numbers in `id_column`.

    Nodes without a row or a value are unknown. Raises InputError for columns that are not there,
    for numbers that are none or stand twice, and for more than MAX_CLASSES values.
    """
    import pyarrow as pa
    from pyarrow import compute as pc
    from pyarrow import csv, parquet

    try:
        is_parquet = path.suffix == ".parquet"
        cells = csv.ConvertOptions(strings_can_be_null=True, null_values=[""])
        table = (
            parquet.read_table(path) if is_parquet else csv.read_csv(path, convert_options=cells)
        )
    except pa.ArrowInvalid as error:
        raise InputError(f"file '{path.name}'", "must be a table", str(error)) from None
    for column in (id_column, name):
        if column not in table.column_names:
            rule, known = "must be a column of the node table", ", ".join(table.column_names[:10])
            raise InputError(f"column '{column}'", rule, remedy=f"columns: {known}")
    nodes = np.asarray(table[id_column])
    if nodes.dtype.kind not in "iu" or len(np.unique(nodes)) < len(nodes):
        raise InputError(f"column '{id_column}'", "must hold the number of each node once")
    if not is_parquet and table[name].type in (pa.int64(), pa.float64()):  # as written: 01000
        cells.include_columns, cells.column_types = [name], {name: pa.string()}
        texts = pc.utf8_trim_whitespace(csv.read_csv(path, convert_options=cells)[name])
        if pc.any(pc.match_substring_regex(texts, f"^{LEADING_ZERO}")).as_py():
            table = table.set_column(table.column_names.index(name), name, texts)
    values = table[name].cast(pa.string()).combine_chunks().dictionary_encode()
    if len(values.dictionary) > MAX_CLASSES:
        rule = f"must have at most {MAX_CLASSES} different values"
        raise InputError(f"column '{name}'", rule, len(values.dictionary), "put numbers into bins")
    found = np.asarray(values.indices.fill_null(MISSING), np.int64)
    codes = np.full(num_nodes, MISSING)
    is_node = (nodes >= 0) & (nodes < num_nodes)
    codes[nodes[is_node]] = found[is_node]
    return NodeColumn(name, codes, tuple(values.dictionary.to_pylist()))


def _count_source(source: Source) -> tuple[int, int]:
    highest, rows = -1, 0
    for pairs in source():
        highest, rows = max(highest, int(pairs.max(initial=-1))), rows + len(pairs)
    return highest + 1, rows


def _list_groups(file: Path) -> range:
    from pyarrow import ArrowInvalid, parquet

    try:
        return range(parquet.read_metadata(file).num_row_groups)
    except ArrowInvalid as error:
        raise InputError(f"file '{file.name}'", "must be Parquet", str(error)) from None


def _read_names(file: Path) -> list[str]:
    from pyarrow import parquet

    return [str(name) for name in parquet.read_schema(file).names]


def _read_group(file: Path, group: int) -> Iterator[np.ndarray]:
    from pyarrow import parquet

    with parquet.ParquetFile(file) as table:
        columns = table.schema_arrow.names[:2]
        yield _check_pairs(file, table.read_row_group(group, columns, use_threads=False))


def _read_text(file: Path) -> Iterator[np.ndarray]:
    import pyarrow as pa
    from pyarrow import csv

    skipped, delimiter, _ = _find_layout(file)
    layout = csv.ReadOptions(
        use_threads=False, block_size=BLOCK_BYTES, skip_rows=skipped, autogenerate_column_names=True
    )
    parsing = csv.ParseOptions(delimiter=delimiter)
    wanted = csv.ConvertOptions(
        include_columns=["f0", "f1"], column_types={"f0": pa.int64(), "f1": pa.int64()}
    )
    try:
        with pa.input_stream(str(file), "detect") as stream:
            for batch in csv.open_csv(stream, layout, parsing, wanted):
                yield _check_pairs(file, batch)
    except (pa.ArrowInvalid, pa.ArrowKeyError) as error:
        raise InputError(f"file '{file.name}'", RULE, str(error).splitlines()[0]) from None


def _find_layout(file: Path) -> tuple[int, str, dict[int, str]]:
    """Number of lines before the first link, what stands between its two numbers, and the first
    rows by the number of their line."""
    import pyarrow as pa

    with pa.input_stream(str(file), "detect") as stream:
        lines = stream.read(1 << 16).decode("utf-8", "replace").splitlines()
    rows = {n: row for n, row in enumerate(lines) if row.strip() and row[0] not in "#%"}
    delimiter, _ = detect_separator(list(rows.values())[:SAMPLED_ROWS])
    for number, row in islice(rows.items(), 2):  # the first may be a header
        if all(DIGITS.fullmatch(word.strip()) for word in row.split(delimiter)[:2]):
            return number, delimiter, rows
    raise InputError(f"file '{file.name}'", RULE, next(iter(rows.values()), "")[:80])


def _check_pairs(file: Path, table: Any) -> np.ndarray:
    """(k, 2) int64 of a table's first two columns."""
    columns = [np.asarray(column) for column in table.columns]
    kinds = [column.dtype.kind for column in columns]
    if len(columns) < 2 or not set(kinds) <= {"i", "u"}:
        raise InputError(f"file '{file.name}'", RULE)
    pairs = np.stack([column.astype(np.int64) for column in columns], axis=1)
    if pairs.size and not 0 <= pairs.min() <= pairs.max() < 2**31 - 1:
        raise InputError(f"file '{file.name}'", RULE, int(np.abs(pairs).max()))
    return pairs
