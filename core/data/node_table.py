"""Node tables: CSV, TSV (plain or .gz) and Parquet, one row per node."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from core.data.edge_list import guess_separator
from core.data.spreadsheet import unescape_cell
from core.data.text_input import check_file, load_text
from core.errors import FormatError, ResourceError

MAX_CELLS = 500_000_000


def load_node_table(path: str | Path, max_rows: int | None = None) -> pd.DataFrame:
    """The table as given: texts from CSV (nothing is read as missing), typed from Parquet."""
    path = check_file(path)
    with path.open("rb") as file:
        is_parquet = file.read(4) == b"PAR1"
    table = _load_parquet(path, max_rows) if is_parquet else _load_csv(path, max_rows)
    if is_parquet:
        table.columns = pd.Index([str(c).strip() for c in table.columns])
        _check_distinct(list(table.columns), path)
    if len(table) == 0:
        raise FormatError(f"file '{path.name}'", "must have at least one row", 0)
    return table


def _load_csv(path: Path, max_rows: int | None) -> pd.DataFrame:
    """All cells as texts. Read by Arrow, which notices short rows where pandas fills them."""
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    text = load_text(path).lstrip("\r\n")
    lines = [line for line in text[: 1 << 16].splitlines() if line.strip()][:20]
    separator = guess_separator(lines)
    if separator == " ":
        text = "\n".join("\t".join(line.split()) for line in text.splitlines())
        separator = "\t"
    header = next(
        csv.reader([text[: text.find("\n") if "\n" in text else None]], delimiter=separator)
    )
    names = [unescape_cell(name.strip()) or f"column {i + 1}" for i, name in enumerate(header)]
    _check_distinct(names, path)
    data = text.encode()
    try:
        table = arrow_csv.read_csv(
            pa.BufferReader(data),
            read_options=arrow_csv.ReadOptions(
                use_threads=False, column_names=names, skip_rows=1, block_size=len(data) + 1
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
            f"file '{path.name}'",
            "must have the same columns in every row",
            found[0] if found else str(error).splitlines()[0],
            "check separators and quotes",
        ) from None
    frame = table.slice(0, max_rows).to_pandas()
    for column in names:
        if frame[column].str.startswith("'").any():
            frame[column] = frame[column].map(unescape_cell)
    return frame


def _check_distinct(names: Sequence[str], path: Path) -> None:
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise FormatError(
            f"file '{path.name}'",
            "must have distinct column names",
            repeated[0],
            "rename one of the columns",
        )


def _load_parquet(path: Path, max_rows: int | None) -> pd.DataFrame:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            metadata = file.metadata
            if metadata.num_rows * metadata.num_columns > MAX_CELLS:
                raise ResourceError(
                    f"file '{path.name}'",
                    f"must have at most {MAX_CELLS:,} cells",
                    f"{metadata.num_rows:,} × {metadata.num_columns:,}",
                    "load a part of it",
                )
            for field in file.schema_arrow:
                if pa.types.is_nested(field.type) or pa.types.is_binary(field.type):
                    raise FormatError(
                        f"file '{path.name}': column '{field.name}'",
                        "must hold single values",
                        str(field.type),
                        "write one column a value, or leave it out",
                    )
            if max_rows is not None:
                batches = [batch for batch in [next(file.iter_batches(max_rows), None)] if batch]
                table = pa.Table.from_batches(batches, file.schema_arrow)
            else:
                table = file.read()
            # What pandas noted beside the columns is not needed, and a broken note would mislead.
            unnamed = [n for n in table.column_names if re.fullmatch(r"__index_level_\d+__", n)]
            return table.drop_columns(unnamed).to_pandas(ignore_metadata=True)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise FormatError(
            f"file '{path.name}'", "must be a complete Parquet file", str(error).partition("\n")[0]
        ) from None
