"""Node tables: CSV, TSV (plain or .gz) and Parquet, one row per node."""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from core.data.columns import check_distinct_names, plain_names
from core.data.sniff import (
    LayoutSearch,
    TableLayout,
    check_is_table,
    check_line_ends,
    detect_decimal,
    detect_node_header,
    detect_separator,
    find_decimals,
    take_lines,
    write_plain,
)
from core.data.text_input import (
    MAX_CELLS,
    MAX_TEXT_BYTES,
    check_cells,
    check_file,
    load_text,
    unescape_cell,
)
from core.errors import FormatError, ResourceError


def load_node_table(
    path: str | Path,
    max_rows: int | None = None,
    layout: Mapping[str, str] | None = None,
    asks: bool = True,
) -> pd.DataFrame:
    """The table as given: text cells from CSV, typed columns from Parquet.

    layout  given separator, decimal mark and header (`sniff.parse_layout`)
    asks    raise InputError for an ambiguous layout; else the likeliest is used
    """
    path = check_file(path)
    file = f"file '{path.name}'"
    if is_parquet(path):
        table = _load_parquet(path, max_rows)
        table.columns = pd.Index([str(c).strip() for c in table.columns])
        check_distinct_names(list(table.columns), file)
    else:
        table, found = _load_csv(path, max_rows, layout)
        if asks:
            found.check_certain(file, "nodes-")
    if len(table) == 0:
        raise FormatError(file, "must have at least one row", 0)
    return table


def sniff_nodes(path: str | Path, layout: Mapping[str, str] | None = None) -> TableLayout:
    """Likeliest layout of a text node table, and its ambiguities."""
    return _load_csv(check_file(path), 1, layout)[1]


def is_parquet(path: Path) -> bool:
    """Whether a file begins as Parquet does."""
    with path.open("rb") as file:
        return file.read(4) == b"PAR1"


def _load_csv(
    path: Path, max_rows: int | None, given: Mapping[str, str] | None
) -> tuple[pd.DataFrame, TableLayout]:
    """All cells as text, by Arrow, which detects short rows where pandas fills them."""
    import pyarrow as pa
    import pyarrow.compute as pc
    from pyarrow import csv as arrow_csv

    file = f"file '{path.name}'"
    text = load_text(path).lstrip("\r\n")
    check_is_table(text[: 1 << 13].encode() + text[-(1 << 13) :].encode(), file)
    check_line_ends(text.encode(), file)
    lines = take_lines(text, 20)
    search = LayoutSearch(given)
    chosen = separator = search.find("separator", lambda: detect_separator(lines))
    check_cells(
        file, text.count("\n"), len(lines[0].split(None if separator == " " else separator))
    )
    if separator == " ":
        text = "\n".join("\t".join(line.split()) for line in text.splitlines())
        separator = "\t"
    rows = list(csv.reader(take_lines(text, 20), delimiter=separator))
    first = [unescape_cell(cell.strip()) for cell in rows[0]]
    below = pd.DataFrame([row for row in rows[1:] if len(row) == len(first)])
    has_header = search.find("header", lambda: detect_node_header(first, below))
    header = plain_names(first) if has_header else [""] * len(first)
    names = [name or f"column {i}" for i, name in enumerate(header, 1)]
    check_distinct_names(names, file)
    data = text.encode()
    try:
        table = arrow_csv.read_csv(
            pa.BufferReader(data),
            read_options=arrow_csv.ReadOptions(
                use_threads=False,
                column_names=names,
                skip_rows=int(has_header),
                block_size=len(data) + 1,
            ),
            parse_options=arrow_csv.ParseOptions(delimiter=separator, newlines_in_values=True),
            convert_options=arrow_csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()),
                strings_can_be_null=False,
                quoted_strings_can_be_null=False,
            ),
        )
    except pa.ArrowException as error:
        found = re.search(r"(Row #\d+: )?Expected \d+ columns, got \d+", str(error))
        raise FormatError(
            file,
            "must have the same columns in every row",
            found[0] if found else str(error).splitlines()[0],
            "check separators and quotes",
        ) from None
    marks = {
        name: pc.unique(table[name]).to_pylist()
        for name in names
        if _contains(table[name], ",") or (chosen == ";" and _contains(table[name], "."))
    }
    decimal = search.find("decimal", lambda: detect_decimal(marks.values(), chosen))
    frame = table.slice(0, max_rows).to_pandas()
    for name in names:
        if frame[name].str.startswith("'").any():
            frame[name] = frame[name].map(unescape_cell)
        if name in marks and decimal in find_decimals(marks[name]):
            frame[name] = write_plain(frame[name], decimal)
    return frame, search.layout


def _contains(column: Any, mark: str) -> bool:
    import pyarrow.compute as pc

    return bool(pc.any(pc.match_substring(column, mark)).as_py())


def _load_parquet(path: Path, max_rows: int | None) -> pd.DataFrame:
    import pyarrow as pa
    import pyarrow.parquet as pq

    what = f"file '{path.name}'"
    try:
        with pq.ParquetFile(path) as file:
            fields = list(file.schema_arrow)
            num_rows = file.metadata.num_rows if max_rows is None else max_rows
            check_cells(what, num_rows, len(fields), most=MAX_CELLS)
            for field in fields:
                if pa.types.is_nested(field.type) or pa.types.is_binary(field.type):
                    raise FormatError(
                        f"{what}: column '{field.name}'",
                        "must hold single values",
                        str(field.type),
                        "write one column a value, or leave it out",
                    )
        # Texts stay in dictionaries, as they are stored: one of a megabyte may fill every row.
        texts = [f.name for f in fields if _is_text(f.type)]
        with pq.ParquetFile(path, read_dictionary=texts) as file:
            if max_rows is not None:
                batches = [batch for batch in [next(file.iter_batches(max_rows), None)] if batch]
                table = pa.Table.from_batches(batches, file.schema_arrow)
            else:
                table = file.read(use_threads=False)
        table.validate(full=True)
        # What pandas noted beside the columns is not needed, and a broken note would mislead.
        unnamed = [n for n in table.column_names if re.fullmatch(r"__index_level_\d+__", n)]
        table = table.drop_columns(unnamed)
        columns = [_column_values(column, what) for column in table.columns]
    except (pa.ArrowException, OSError, ValueError, OverflowError) as error:
        raise FormatError(
            what, "must be a complete Parquet file", str(error).partition("\n")[0]
        ) from None
    frame = pd.DataFrame(dict(enumerate(columns)))
    frame.columns = pd.Index(table.column_names)
    return frame


def _column_values(column: Any, what: str) -> Any:
    """Values as pandas objects; equal texts share one object."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not (pa.types.is_dictionary(column.type) and _is_text(column.type.value_type)):
        return column.to_pandas()
    column = column.unify_dictionaries().combine_chunks()
    chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
    values = []
    for chunk in chunks:
        words = chunk.dictionary
        codes = chunk.indices.fill_null(-1).to_numpy(zero_copy_only=False)
        lengths = pc.binary_length(words.cast(pa.large_string())).to_numpy(zero_copy_only=False)
        total = int(np.append(lengths, 0)[codes].sum())
        if total > MAX_TEXT_BYTES:
            raise ResourceError(
                what,
                f"must hold at most {MAX_TEXT_BYTES >> 20} MiB of text a column",
                f"{total / 1e6:,.0f} MB",
                "leave out columns of long text",
            )
        texts = np.empty(len(words) + 1, object)  # the last stands for a missing cell
        texts[:-1] = words.to_pylist()
        values.append(texts[codes])
    return pd.Series(np.concatenate(values) if values else [], dtype=object)


def _is_text(kind: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))
