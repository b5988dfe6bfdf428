"""Edge lists as text: comma, semicolon, tab or spaces; with or without header; plain or .gz."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from core.data.assembly import RawGraph
from core.data.columns import guess_link_roles, is_link_header
from core.data.spreadsheet import unescape_cell
from core.data.text_input import load_text
from core.errors import FormatError, InputError

_COMMENT = re.compile(r"^[ \t]*[#%].*$", re.MULTILINE)
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


def load_edge_list(path: str | Path, roles: Mapping[str, str] | None = None) -> RawGraph:
    """Links of a text file; nodes are the ids that it mentions, in order of appearance.

    Lines that begin with # or % are comments. Columns named (or assigned the roles) source,
    target and weight are used, else the first two, and the third as weight where it is a number.
    """
    name = Path(path).name
    table, num_comments, line_numbers = load_link_table(path)
    columns = guess_link_roles(table, roles or {})
    by_role = {role: column for column, role in columns.items()}
    if "source" not in by_role or "target" not in by_role:
        raise FormatError(
            f"file '{name}'",
            "must have two columns of node ids",
            f"{table.shape[1]} column(s)",
            "name the columns source and target",
        )
    ends = [table[by_role[end]].str.strip().map(unescape_cell) for end in ("source", "target")]
    for end in ends:
        blank = np.flatnonzero(end == "")
        if len(blank):
            raise FormatError(
                f"file '{name}'",
                "must have two node ids in every row",
                f"line {line_numbers(blank[0])}",
                "complete or remove the row",
            )
    codes, ids = pd.factorize(np.stack([e.to_numpy(object) for e in ends], axis=1).ravel())
    notes = [
        f"column '{column}' of the links was not used"
        for column, role in columns.items()
        if role == "ignore"
    ]
    weights = None
    if "weight" in by_role:
        weights = _parse_weights(table[by_role["weight"]], name, line_numbers)
        notes.append(f"link weights were read from column '{by_role['weight']}'")
    return RawGraph(
        pairs=codes.reshape(-1, 2).astype(np.int64),
        node_ids=tuple(map(str, ids)),
        weights=weights,
        num_rows_skipped=num_comments,
        format="edge list",
        notes=notes,
    )


def load_link_table(
    path: str | Path, max_rows: int | None = None
) -> tuple[pd.DataFrame, int, Callable[[int], int]]:
    """(table of texts, number of comment lines, row → line number) of an edge list."""
    name = Path(path).name
    text = load_text(path)
    num_comments = 0
    if "#" in text or "%" in text:  # a comment becomes a blank line: line numbers still hold
        text, num_comments = _COMMENT.subn("", text)
    sample = [line for line in text[: 1 << 16].splitlines() if line.strip()][:50]
    if not sample:
        raise FormatError(f"file '{name}'", "must have at least one link", "comments only")
    separator = guess_separator(sample)
    try:
        table = pd.read_csv(
            io.StringIO(text),
            sep=r"\s+" if separator == " " else separator,
            header=None,
            dtype=str,
            na_filter=False,
            skipinitialspace=True,
            nrows=max_rows,
            index_col=False,
        )
    except (pd.errors.ParserError, pd.errors.EmptyDataError, ValueError) as error:
        raise FormatError(
            f"file '{name}'",
            "must have the same columns in every row",
            str(error).rpartition("C error: ")[2].strip(),
            "check separators and quotes",
        ) from None
    first_row = 0
    if is_link_header([str(v).strip() for v in table.iloc[0]], table.iloc[1:20]):
        table.columns = pd.Index(_distinct([str(v).strip() for v in table.iloc[0]]))
        table, first_row = table.iloc[1:].reset_index(drop=True), 1
    else:
        names = ["source", "target", *(f"column {i}" for i in range(3, table.shape[1] + 1))]
        if table.shape[1] > 2 and is_number(table.iloc[0, 2].strip()):
            names[2] = "weight"
        table.columns = pd.Index(names[: table.shape[1]])

    def line_number(row: int) -> int:
        filled = [i for i, line in enumerate(text.split("\n"), 1) if line.strip()]
        return filled[min(row + first_row, len(filled) - 1)]

    return table.fillna(""), num_comments, line_number


def guess_separator(lines: list[str]) -> str:
    """The first of tab, comma, semicolon that most lines contain, else space."""
    for separator in "\t,;":
        fields = [len(row) for row in csv.reader(lines, delimiter=separator)]
        if sum(count > 1 for count in fields) > len(fields) / 2:
            return separator
    return " "


def is_number(text: str) -> bool:
    """Whether the text is a decimal number."""
    return _NUMBER.fullmatch(text) is not None


def _parse_weights(column: pd.Series, name: str, line_numbers: Callable[[int], int]) -> np.ndarray:
    values: np.ndarray = pd.to_numeric(column, errors="coerce").to_numpy(dtype=float)
    for bad, rule in ((~np.isfinite(values), "must be numbers"), (values < 0, "must be ≥ 0")):
        if bad.any():
            row = int(np.flatnonzero(bad)[0])
            raise InputError(
                f"file '{name}': weights in column '{column.name}'",
                rule,
                f"'{column.iloc[row]}' in line {line_numbers(row)}",
                f"correct it or give column '{column.name}' the role ignore",
            )
    return values


def _distinct(names: list[str]) -> list[str]:
    seen: dict[str, int] = {}
    result = []
    for position, name in enumerate(names, 1):
        name = name or f"column {position}"
        seen[name] = seen.get(name, 0) + 1
        result.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return result
