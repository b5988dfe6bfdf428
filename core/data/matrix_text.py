"""Adjacency and incidence matrices as text, with and without names of rows and columns."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from core.data.assembly import RawGraph
from core.data.columns import is_link_name
from core.data.loaded import ColumnUse
from core.data.sniff import find_decimals
from core.data.text_input import MAX_TEXT_CELLS, split_row
from core.errors import FormatError
from core.node_column import NodeColumn

_FEWEST = 3
"""Nodes from which numbers without names are taken for a matrix; fewer are links with weights."""

_SAMPLED = 50
"""Rows by which a long table is told from a matrix."""

_BINARY = {"", "0", "1"}
"""Cells of a matrix of two modes."""


@dataclass(frozen=True, eq=False)
class MatrixText:
    """A matrix of links: names of rows and columns, and its cells (r, c) as texts.

    is_two_mode  rows and columns name different nodes
    """

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    cells: np.ndarray
    has_header: bool
    is_two_mode: bool

    def to_raw(self, decimal: str, file: str) -> RawGraph:
        """Every filled cell but 0 as a link; a symmetric matrix names each link once."""
        group = "." if decimal == "," else ","
        texts = np.char.replace(np.char.replace(self.cells.astype(str), group, ""), decimal, ".")
        try:
            values = np.where(texts == "", "0", texts).astype(float)
        except ValueError as error:
            raise FormatError(file, "must hold numbers in a matrix", str(error)) from None
        note = "read as an adjacency matrix: its cells are weights, 0 and blank are no links"
        if not self.is_two_mode:
            if (values == values.T).all():
                values = np.triu(values)
            pairs, names, modes = np.argwhere(values != 0), self.rows, None
        else:
            note = "read as a matrix of two modes, rows and columns: " + note.partition(": ")[2]
            pairs = np.argwhere(values != 0) + np.array([0, len(self.rows)])
            names = (*self.rows, *self.columns)
            codes = np.repeat([0, 1], [len(self.rows), len(self.columns)])
            modes = NodeColumn("mode", codes, ("rows", "columns"))
        weights = values[values != 0]
        found = (
            ("rows", "source", "id"),
            ("columns", "target", "id"),
            ("cells", "weight", "number"),
        )
        return RawGraph(
            pairs,
            names,
            weights,
            format="matrix",
            notes=[note],
            modes=modes,
            columns=[ColumnUse("links", *use, "of the matrix") for use in found],
        )


def find_matrix(text: str, separator: str) -> MatrixText | None:
    """The matrix that a text holds, or None for other tables.

    Square numbers are one if rows and columns have the same names, or all are 0 or 1, or they are
    symmetric around zeros. Other names of rows and columns around 0 and 1 are two modes.
    """
    filled = (line[0] for line in re.finditer(r"[^\n]+", text) if line[0].strip())
    lines = list(islice(filled, _SAMPLED))
    if len(lines) < _FEWEST:
        return None
    first, *rows = ([cell.strip() for cell in split_row(line, separator)] for line in lines)
    width = len(rows[0])
    is_marked = not first[0] or len(first) == width - 1  # a corner, or none as R writes it
    is_binary = is_marked and all(set(row[1:]) <= _BINARY for row in rows)
    # Only two modes have many more rows than columns: other long tables are not read any further.
    most = MAX_TEXT_CELLS // max(width - 1, 1)
    most = most if is_binary else min(most, width + 1)
    lines += islice(filled, max(most + 1 - len(lines), 0))
    if len(lines) > most or (len(lines) < width - 1 and not is_marked):
        return None
    table = [[cell.strip() for cell in split_row(line, separator)] for line in lines]
    if len(table[0]) == width - 1:
        table[0].insert(0, "")
    if any(len(row) != width for row in table):
        return None
    grid = np.array(table, object)
    names, heads = grid[1:, 0], grid[0, 1:]
    body = grid[1:, 1:]
    if names.tolist() == heads.tolist() and len(set(names)) == len(names) > 1:
        return _make(names, names, body, True) if _are_numbers(body) else None
    if is_marked and _are_distinct(names) and _are_distinct(heads):
        is_named = any(map(is_link_name, heads)) or bool(set(names) & set(heads))
        if not is_named and len(heads) > 1 and set(body.ravel()) <= _BINARY:
            return MatrixText(tuple(names), tuple(heads), body, True, is_two_mode=True)
    numbered = np.array([str(i) for i in range(1, len(lines) + 1)], object)
    for found, labels, has_header in (
        (grid, numbered, False),
        (grid[1:], grid[0], True),
        (grid[:, 1:], grid[:, 0], False),
    ):
        is_text = labels is numbered or not any(find_decimals([name]) for name in labels)
        if found.shape[0] == found.shape[1] >= _FEWEST and is_text and _are_distinct(labels):
            is_symmetric = (found == found.T).all() and set(np.diag(found)) <= {"", "0"}
            is_like = is_symmetric or set(found.ravel()) <= {"0", "1"}
            if is_like and _are_numbers(found) and not any(map(is_link_name, labels)):
                return _make(labels, labels, found, has_header)
    return None


def _make(rows: np.ndarray, columns: np.ndarray, body: np.ndarray, has_header: bool) -> MatrixText:
    return MatrixText(tuple(rows), tuple(columns), body, has_header, is_two_mode=False)


def _are_distinct(names: Sequence[str] | np.ndarray) -> bool:
    return all(names) and len(set(names)) == len(names)


def _are_numbers(body: np.ndarray) -> bool:
    return bool(find_decimals(set(body.ravel())))
