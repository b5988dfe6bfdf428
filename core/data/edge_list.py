"""Edge lists as text: comma, semicolon, tab or spaces; with or without header; plain or .gz."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from core.data.assembly import RawGraph, normalize_ids
from core.data.columns import guess_link_roles
from core.data.link_text import LinkText, encode_columns, load_link_text, read_columns
from core.data.node_table import is_parquet
from core.data.sniff import parse_numbers
from core.data.text_input import MAX_CELLS, check_cells, check_file, unescape_cell
from core.errors import FormatError, InputError


def load_edge_list(
    path: str | Path,
    roles: Mapping[str, str] | None = None,
    ignore_weights: bool = False,
    layout: Mapping[str, str] | None = None,
) -> RawGraph:
    """Links of a text file; nodes are the ids it contains, in order of appearance.

    layout  given separator, decimal mark and header (`sniff.parse_layout`); raises InputError if
    the rows leave the rest ambiguous

    Lines that begin with # or % are comments. Columns named (or assigned the roles) source, target
    and weight are used, else the first two, and the third as weight if numeric.
    """
    text = load_link_text(path, layout)
    text.layout.check_certain(text.file)
    columns, notes = _choose_columns(text.names, roles, ignore_weights, text.file)
    codes, ids, weights = read_columns(text, columns) or _parse_columns(text, columns)
    raw = RawGraph(
        pairs=codes.reshape(-1, 2),
        node_ids=ids,
        weights=weights,
        num_rows_skipped=text.num_comments,
        format="edge list",
        notes=notes,
    )
    return raw if text.data.isascii() else normalize_ids(raw)


def load_edge_table(
    path: str | Path, roles: Mapping[str, str] | None = None, ignore_weights: bool = False
) -> RawGraph:
    """Links of a Parquet or Arrow file, by the same column names."""
    import pyarrow as pa
    from pyarrow import feather, parquet

    path = check_file(path)
    file = f"file '{path.name}'"
    try:
        if is_parquet(path):
            metadata = parquet.read_metadata(path)
            check_cells(file, metadata.num_rows, metadata.num_columns, most=MAX_CELLS)
            schema = metadata.schema.to_arrow_schema()
        else:
            with pa.OSFile(str(path)) as source:
                schema = pa.ipc.open_file(source).schema
        columns, notes = _choose_columns(schema.names, roles, ignore_weights, file)
        if is_parquet(path):
            table = parquet.read_table(path, columns=columns, use_threads=False)
        else:
            table = feather.read_table(path, columns, use_threads=False, memory_map=False)
        table.validate(full=True)  # texts and codes that lead out of its memory
    except InputError:
        raise
    except (pa.ArrowException, OSError, ValueError) as error:
        shown = str(error).partition("\n")[0]
        raise FormatError(file, "must be a complete Parquet or Arrow file", shown) from None
    for column in columns:
        count = table[column].null_count
        if count:
            raise InputError(f"{file}: column '{column}'", "must have no empty cells", count)
    as_numbers = all(pa.types.is_integer(table.schema.field(end).type) for end in columns[:2])
    end = pa.int64() if as_numbers else pa.string()
    try:
        for column, wanted in zip(columns, (end, end, pa.float64()), strict=False):
            cast = table[column].cast(wanted)
            table = table.set_column(table.column_names.index(column), column, cast)
    except pa.ArrowException as error:
        raise FormatError(file, "must hold single values", str(error)) from None
    encoded = encode_columns(table, columns, as_numbers)
    if encoded is None:
        raise FormatError(file, "must have ids that are not blank and weights of at least 0")
    codes, ids, weights = encoded
    raw = RawGraph(codes.reshape(-1, 2), ids, weights, format="table", notes=notes)
    return raw if as_numbers else normalize_ids(raw)


def _choose_columns(
    names: Sequence[str], roles: Mapping[str, str] | None, ignore_weights: bool, file: str
) -> tuple[list[str], list[str]]:
    """Columns of source, target and optionally weight; remarks on unused ones."""
    columns = guess_link_roles(pd.DataFrame(columns=list(names)), roles or {})
    by_role = {role: column for column, role in columns.items()}
    if "source" not in by_role or "target" not in by_role:
        raise FormatError(
            file,
            "must have two columns of node ids",
            f"{len(names)} column(s)",
            "name the columns source and target",
        )
    notes = [
        f"column '{column}' of the links was not used"
        for column, role in columns.items()
        if role == "ignore"
    ]
    used = [by_role["source"], by_role["target"]]
    if "weight" in by_role and ignore_weights:
        notes.append(f"weights in column '{by_role['weight']}' were ignored")
    elif "weight" in by_role:
        used.append(by_role["weight"])
        notes.append(f"link weights were read from column '{by_role['weight']}'")
    return used, notes


def _parse_columns(
    text: LinkText, columns: list[str]
) -> tuple[np.ndarray, tuple[str, ...], np.ndarray | None]:
    """Codes (2 k,), ids and weights, row by row: slower than `read_columns`, with row numbers in
    errors."""
    table = text.parse(columns=columns)
    ends = [table[end].str.strip().map(unescape_cell) for end in columns[:2]]
    for end in ends:
        blank = np.flatnonzero(end == "")
        if len(blank):
            raise FormatError(
                text.file,
                "must have two node ids in every row",
                f"line {text.line_number(blank[0])}",
                "complete or remove the row",
            )
    codes, ids = pd.factorize(np.stack([e.to_numpy(object) for e in ends], axis=1).ravel())
    weights = _parse_weights(table[columns[2]], text) if len(columns) > 2 else None
    return codes.astype(np.int64), tuple(map(str, ids)), weights


def _parse_weights(column: pd.Series, text: LinkText) -> np.ndarray:
    values: np.ndarray = parse_numbers(column, text.layout.decimal).to_numpy(dtype=float)
    for bad, rule in ((~np.isfinite(values), "must be numbers"), (values < 0, "must be ≥ 0")):
        if bad.any():
            row = int(np.flatnonzero(bad)[0])
            raise InputError(
                f"{text.file}: weights in column '{column.name}'",
                rule,
                f"'{column.iloc[row]}' in line {text.line_number(row)}",
                f"correct it, say --decimal, or ignore the weights (role ignore for column "
                f"'{column.name}')",
            )
    return values
