"""Node tables: CSV, TSV (plain or .gz) and Parquet, one row per node."""

from __future__ import annotations

import io
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
    table.columns = pd.Index([str(c).strip() for c in table.columns])
    repeated = table.columns[table.columns.duplicated()]
    if len(repeated):
        raise FormatError(
            f"file '{path.name}'", "must have distinct column names", str(repeated[0]),
            "rename one of the columns",
        )
    if len(table) == 0:
        raise FormatError(f"file '{path.name}'", "must have at least one row", 0)
    return table


def _load_csv(path: Path, max_rows: int | None) -> pd.DataFrame:
    text = load_text(path)
    lines = [line for line in text[: 1 << 16].splitlines() if line.strip()][:20]
    separator = guess_separator(lines)
    try:
        table = pd.read_csv(
            io.StringIO(text), sep=r"\s+" if separator == " " else separator, dtype=str,
            keep_default_na=False, na_values=[], nrows=max_rows, skipinitialspace=True,
            index_col=False, on_bad_lines="error",
        )
    except (pd.errors.ParserError, pd.errors.EmptyDataError, ValueError) as error:
        raise FormatError(
            f"file '{path.name}'", "must have the same columns in every row",
            str(error).rpartition("C error: ")[2].strip(), "check separators and quotes",
        ) from None
    short = table.isna().any(axis=1)
    if short.any():
        raise FormatError(
            f"file '{path.name}'", "must have the same columns in every row",
            f"row {int(short.to_numpy().argmax()) + 1} is short", "complete the row",
        )
    for column in table.columns[table.apply(lambda c: c.str.startswith("'").any())]:
        table[column] = table[column].map(unescape_cell)
    return table.rename(columns=unescape_cell)


def _load_parquet(path: Path, max_rows: int | None) -> pd.DataFrame:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            metadata = file.metadata
            if metadata.num_rows * metadata.num_columns > MAX_CELLS:
                raise ResourceError(
                    f"file '{path.name}'", f"must have at most {MAX_CELLS:,} cells",
                    f"{metadata.num_rows:,} × {metadata.num_columns:,}", "load a part of it",
                )
            if max_rows is not None:
                batches = [batch for batch in [next(file.iter_batches(max_rows), None)] if batch]
                return pa.Table.from_batches(batches, file.schema_arrow).to_pandas()
            return file.read().to_pandas()
    except (pa.ArrowException, OSError, ValueError) as error:
        raise FormatError(
            f"file '{path.name}'", "must be a complete Parquet file", str(error).splitlines()[0]
        ) from None
