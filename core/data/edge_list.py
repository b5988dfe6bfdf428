"""Edge lists as text: comma, semicolon, tab or spaces; with or without header; plain or .gz."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from core.data.assembly import RawGraph, normalize_ids
from core.data.columns import list_known
from core.data.id_checks import NULL_WORDS
from core.data.link_columns import guess_link_roles
from core.data.link_text import (
    SAMPLED_ROWS,
    LinkText,
    encode_columns,
    load_link_text,
    read_columns,
    warn_of_blanks,
)
from core.data.link_values import ReadColumn, choose_column, parse_columns
from core.data.loaded import LEFT_OUT, ColumnUse
from core.data.modes import list_modes, separate_modes
from core.data.node_table import is_parquet
from core.data.sniff import parse_numbers
from core.data.text_input import MAX_CELLS, check_cells, check_file, unescape_cell
from core.errors import FormatError, InputError

_BIPARTITE = re.compile(rb"%\s*bip\b")
"""How KONECT begins a file whose rows link a node of the left to one of the right."""
TWO_ENDS = "must have two node ids in every row"

Given = Mapping[str, str]
"""Column → one of `link_columns.LINK_ROLES` or ignore, as the caller states."""


def load_edge_list(
    path: str | Path,
    given: Given | None = None,
    has_weights: bool = True,
    layout: Mapping[str, str] | None = None,
    node_ids: Collection[str] = (),
) -> RawGraph:
    """Links of a text file; nodes are the ids it contains, in order of appearance.

    has_weights  False leaves out the weights
    layout    given separator, decimal mark and header (`sniff.parse_layout`); raises InputError if
    the rows leave the rest, or the ends, ambiguous
    node_ids  ids of the node table, by which ends are recognised

    Lines that begin with # or % are comments. Ends: see `link_columns`. Without a header, the first
    number beyond them is the weight, unless it is a time.
    """
    text = load_link_text(path, layout)
    text.layout.check_certain(text.file)
    if text.matrix is not None:
        raw = text.matrix.to_raw(text.layout.decimal, text.file)
        raw = replace(raw, num_rows_skipped=text.num_comments)
        return normalize_ids(raw if has_weights else replace(raw, weights=None))
    sample = text.parse(SAMPLED_ROWS)
    given = dict(given or {})
    if not text.has_header:  # a column may be named by its number, from 1
        numbers = {str(number): name for number, name in enumerate(text.names, 1)}
        given = {numbers.get(column, column): role for column, role in given.items()}
    columns, notes, uses, further = _choose_columns(
        sample, given, has_weights, text.file, node_ids, len(sample) >= SAMPLED_ROWS
    )
    warnings: list[str] = []
    more = [column.name for column in further]
    found = read_columns(text, columns, warnings, more)
    codes, ids, weights, cells = found or _parse_columns(text, columns, warnings, more)
    _check_null_ends(text, columns, ids, node_ids)
    read, their_uses = parse_columns(further, cells, text.file, text.layout.decimal)
    raw = RawGraph(
        pairs=codes.reshape(-1, 2),
        node_ids=ids,
        weights=weights,
        num_rows_skipped=text.num_comments,
        format="edge list",
        notes=notes,
        columns=[*uses, *their_uses],
        id_warnings=warnings,
        link_columns=read,
    )
    if _BIPARTITE.match(text.first_comment):
        raw = separate_modes(raw, "left", "right", always=True)
    else:
        raw = separate_modes(raw, *list_modes(*columns[:2]))
    return raw if text.data.isascii() else normalize_ids(raw)


def load_edge_table(
    path: str | Path,
    given: Given | None = None,
    has_weights: bool = True,
    node_ids: Collection[str] = (),
) -> RawGraph:
    """Links of a Parquet or Arrow file, by the same rules."""
    import pyarrow as pa
    from pyarrow import feather, parquet

    path = check_file(path)
    file = f"file '{path.name}'"
    try:
        if is_parquet(path):
            stored = parquet.ParquetFile(path)
            metadata = stored.metadata
            check_cells(file, metadata.num_rows, metadata.num_columns, most=MAX_CELLS)
            batches = stored.iter_batches(SAMPLED_ROWS, use_threads=False)
            head, schema = next(batches, None), stored.schema_arrow
            is_part = head is not None and head.num_rows < metadata.num_rows
        else:
            with pa.OSFile(str(path)) as source:
                opened = pa.ipc.open_file(source)
                schema, most = opened.schema, opened.num_record_batches
                head = opened.get_batch(0).slice(0, SAMPLED_ROWS) if most else None
                is_part = most > 1 or (head is not None and head.num_rows == SAMPLED_ROWS)
        if head is not None:
            head.validate(full=True)
        sample = pd.DataFrame(
            {
                name: [] if head is None else [*map(_show, head.column(number).to_pylist())]
                for number, name in enumerate(schema.names)
            },
            columns=schema.names,
            dtype=object,
        )
        columns, notes, uses, further = _choose_columns(
            sample, given or {}, has_weights, file, node_ids, is_part
        )
        nested = [c.name for c in further if pa.types.is_nested(schema.field(c.name).type)]
        further = [column for column in further if column.name not in nested]
        why = "holds lists or objects"
        uses += [ColumnUse("links", name, LEFT_OUT, "text", why) for name in nested]
        wanted = [*columns, *(column.name for column in further)]
        if is_parquet(path):
            table = parquet.read_table(path, columns=wanted, use_threads=False)
        else:
            table = feather.read_table(path, wanted, use_threads=False, memory_map=False)
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
        for column, kind in zip(columns, (end, end, pa.float64()), strict=False):
            cast = table[column].cast(kind)
            table = table.set_column(table.column_names.index(column), column, cast)
        cells = {column.name: table[column.name] for column in further}
        read, their_uses = parse_columns(further, cells, file)
    except pa.ArrowException as error:
        raise FormatError(file, "must hold single values", str(error)) from None
    warnings: list[str] = []
    encoded = encode_columns(table, columns, as_numbers, warnings)
    if encoded is None:
        raise FormatError(file, "must have ids that are not blank and weights of at least 0")
    codes, ids, weights = encoded
    words = NULL_WORDS.intersection(ids) - set(node_ids)
    if words:
        remedy = "complete or remove these rows, or declare the node in a node table"
        raise FormatError(file, TWO_ENDS, f"'{min(words)}'", remedy)
    raw = RawGraph(
        codes.reshape(-1, 2),
        ids,
        weights,
        format="table",
        notes=notes,
        columns=[*uses, *their_uses],
        id_warnings=warnings,
        link_columns=read,
    )
    return raw if as_numbers else normalize_ids(raw)


def _show(value: Any) -> str:
    return "" if value is None else str(value)


def _choose_columns(
    sample: pd.DataFrame,
    given: Given,
    has_weights: bool,
    file: str,
    node_ids: Collection[str],
    is_part: bool,
) -> tuple[list[str], list[str], list[ColumnUse], list[ReadColumn]]:
    """Columns of source, target and optionally weight; remarks; the use of each of them and of
    columns that are left out; the columns that links keep.

    is_part  whether there may be more rows than the sample
    """
    names = [str(column) for column in sample.columns]
    missing = next((c for c, role in given.items() if role != "ignore" and c not in names), None)
    if missing is not None:
        known = list_known(names)
        raise InputError(f"{file}: {given[missing]}", "must be a column", missing, known)
    chosen = guess_link_roles(sample, given, node_ids)
    by_role = {role: column for column, role in chosen.roles.items()}
    if "source" not in by_role or "target" not in by_role:
        raise FormatError(
            file,
            "must have two columns of node ids",
            f"{len(names)} column(s)",
            "name the columns source and target, or say --source and --target",
        )
    chosen.check_certain(file)
    used, notes = [by_role["source"], by_role["target"]], []
    uses: list[ColumnUse] = []
    further: list[ReadColumn] = []
    if "weight" in by_role and has_weights:
        used.append(by_role["weight"])
        notes.append(f"link weights were read from column '{by_role['weight']}'")
    for column, role in chosen.roles.items():
        if column in used:
            why = "chosen" if column in given else "by its name and values"
            kind = "number" if role == "weight" else "id"
            uses.append(ColumnUse("links", column, role, kind, why))
            continue
        stated = {**given, column: "ignore"} if role == "weight" else given
        found = choose_column(column, sample[column], stated, is_part)
        if isinstance(found, ReadColumn):
            further.append(found)
        else:
            uses.append(found)
    return used, notes, uses, further


def _check_null_ends(
    text: LinkText, columns: list[str], ids: Sequence[str], node_ids: Collection[str]
) -> None:
    """Raise FormatError for an end that is the word for no value, as for an empty one.

    In quotes it is a name, as R and others write it, and so is one that the node table declares.
    """
    words = NULL_WORDS.intersection(ids) - set(node_ids)
    if not words:
        return
    table, lines = text.parse(columns=columns[:2]), text.data.split(b"\n")
    places = [text.names.index(column) for column in columns[:2]]
    for row in np.flatnonzero(table.isin(words).any(axis=1)).tolist():
        number = text.line_number(row)
        line = lines[number - 1].decode().strip()
        gap = r"\s+" if text.separator == " " else re.escape(text.separator)
        cells = re.split(rf'\s*{gap}\s*(?=(?:[^"]*"[^"]*")*[^"]*$)', line)
        bare = next((cells[place] for place in places if cells[place] in words), None)
        if bare is not None:
            remedy = "complete or remove the row; put it in quotes if somebody is called so"
            raise FormatError(text.file, TWO_ENDS, f"'{bare}' in line {number}", remedy)


def _parse_columns(
    text: LinkText, columns: list[str], warnings: list[str], more: Sequence[str] = ()
) -> tuple[np.ndarray, tuple[str, ...], np.ndarray | None, dict[str, Any]]:
    """Codes (2 k,), ids, weights and cells of `more`, row by row: slower than `read_columns`, with
    row numbers in errors."""
    table = text.parse(columns=[*columns, *more])
    ends = [table[end].str.strip().map(unescape_cell) for end in columns[:2]]
    warnings += warn_of_blanks([*table[columns[0]], *table[columns[1]]])
    for end in ends:
        blank = np.flatnonzero(end == "")
        if len(blank):
            raise FormatError(
                text.file,
                TWO_ENDS,
                f"line {text.line_number(blank[0])}",
                "complete or remove the row",
            )
    codes, ids = pd.factorize(np.stack([e.to_numpy(object) for e in ends], axis=1).ravel())
    weights = _parse_weights(table[columns[2]], text) if len(columns) > 2 else None
    cells = {name: table[name].map(unescape_cell).to_list() for name in more}
    return codes.astype(np.int64), tuple(map(str, ids)), weights, cells


def _parse_weights(column: pd.Series, text: LinkText) -> np.ndarray:
    values: np.ndarray = parse_numbers(column, text.layout.decimal).to_numpy(dtype=float)
    for bad, rule in ((~np.isfinite(values), "must be numbers"), (values < 0, "must be ≥ 0")):
        if bad.any():
            row = int(np.flatnonzero(bad)[0])
            raise InputError(
                f"{text.file}: weights in column '{column.name}'",
                rule,
                f"'{column.iloc[row]}' in line {text.line_number(row)}",
                "correct it, say --decimal, or leave the weights out: --weight none",
            )
    return values
