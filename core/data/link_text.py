"""Text edge lists: comments, separator, header, names and columns.

Plain columns are read by Arrow, ten million links in seconds; `None` leaves the rest, with error
messages, to the row-wise reader of `edge_list`.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from core.data.columns import check_distinct_names, is_link_name, plain_names
from core.data.link_columns import find_kind, guess_link_roles
from core.data.matrix_text import MatrixText, find_matrix
from core.data.sniff import (
    LayoutSearch,
    TableLayout,
    check_is_table,
    check_line_ends,
    detect_decimal,
    detect_link_header,
    detect_separator,
    find_decimals,
    take_lines,
)
from core.data.text_input import MAX_CELLS, check_cells, load_utf8, split_row, unescape_cell
from core.errors import FormatError
from core.words import count_noun

_COMMENT = re.compile(rb"^[ \t]*[#%].*$", re.MULTILINE)
_MAX_HEADERS = 1000
MAX_BLANK_LINES = 20
_BLANKS = re.compile(rb"\s*+")
_ESCAPED = r"^'('*[=+\-@\t\r])"
"""As `text_input.unescape_cell`, in the syntax of Arrow."""
SAMPLED_ROWS = 1000
_SAMPLE = 4 << 20


@dataclass(frozen=True, eq=False)
class LinkText:
    """Rows of links as UTF-8 text; comments are blanked, so that line numbers are unchanged."""

    file: str
    data: bytes
    num_comments: int
    layout: TableLayout
    names: tuple[str, ...]
    matrix: MatrixText | None = None
    first_comment: bytes = b""

    @property
    def separator(self) -> str:
        return self.layout.separator

    @property
    def has_header(self) -> bool:
        return self.layout.has_header

    def parse(self, max_rows: int | None = None, columns: list[str] | None = None) -> pd.DataFrame:
        """Cells of the rows after the header; missing cells are empty."""
        header = 1 if self.has_header else 0
        table = _parse(self.file, self.data, self.separator, max_rows and max_rows + header)
        table = table.iloc[header:].reset_index(drop=True)
        table.columns = pd.Index(self.names)
        return table if columns is None else table[columns]

    def line_number(self, row: int) -> int:
        """Number in the file of a row of `parse`."""
        row += self.has_header
        return self._filled_lines[min(row, len(self._filled_lines) - 1)]

    @cached_property
    def _filled_lines(self) -> list[int]:
        return [i for i, line in enumerate(self.data.split(b"\n"), 1) if line.strip()]


def load_link_text(path: str | Path, given: Mapping[str, str] | None = None) -> LinkText:
    """Text of a plain or gzip file and its detected layout.

    given  layout stated by the caller: see `sniff.parse_layout`

    Raises FormatError for content that is no table, lines that may be comments or links (#a,b), and
    duplicate column names.
    """
    file = f"file '{Path(path).name}'"
    data = load_utf8(path)
    check_is_table(data, file)
    check_line_ends(data, file)
    comments: list[bytes] = []
    if b"#" in data or b"%" in data:
        comments = _COMMENT.findall(data)
        data = _COMMENT.sub(b"", data)  # line numbers are unchanged
    start = find_content(data)
    sample = take_lines(data[start : start + _SAMPLE].decode("utf-8", "ignore"), 50)
    if not sample:
        raise FormatError(file, "must have at least one link", "comments only")
    search = LayoutSearch(given)
    separator = search.find("separator", lambda: detect_separator(sample))
    end = data.find(b"\n", start)
    first_line = data[start : end if end >= 0 else None].decode()
    width = len(split_row(first_line, separator))
    check_cells(file, data.count(b"\n"), width, most=MAX_CELLS)
    _check_comments(b"\n".join(comments), separator, width, file)
    if data.count(b"\n") <= width + MAX_BLANK_LINES or _has_corner(first_line, separator):
        matrix = find_matrix(data.decode(), separator)
        if matrix is not None:
            search.find("header", lambda: (matrix.has_header, None))
            search.find("decimal", lambda: detect_decimal(matrix.cells, separator))
            heads = tuple(map(str, matrix.columns))
            return LinkText(file, data, len(comments), search.layout, heads, matrix)
    head = _parse(file, data, separator, SAMPLED_ROWS)
    first = [str(value).strip() for value in head.iloc[0]]
    has_header = search.find(
        "header",
        lambda: detect_link_header(
            first, head.iloc[1:21], lambda cell: _occurs_again(cell, data, start, separator)
        ),
    )
    if has_header:
        check_distinct_names([name for name in first if name], file)
        names = [name or f"column {i}" for i, name in enumerate(plain_names(first), 1)]
        names = [f"{n} ({i})" if n in names[:i] else n for i, n in enumerate(names)]
    else:
        names = _find_headers(head)
    roles = guess_link_roles(pd.DataFrame(columns=names)).roles
    rows = head.iloc[int(has_header) :]
    numbers = [rows.iloc[:, i] for i, name in enumerate(names) if roles[name] == "weight"]
    search.find("decimal", lambda: detect_decimal(numbers, separator))
    begin = comments[0].lstrip() if comments else b""
    return LinkText(file, data, len(comments), search.layout, tuple(names), first_comment=begin)


def _has_corner(first_line: str, separator: str) -> bool:
    return separator != " " and first_line.lstrip(" ")[:1] in (separator, '"')


def _find_headers(head: pd.DataFrame) -> list[str]:
    """Names of columns without a header: both ends, times, and the first other number beyond the
    ends as weight."""
    table = head.set_axis([f"column {i}" for i in range(1, head.shape[1] + 1)], axis=1)
    roles = guess_link_roles(table, has_header=False).roles
    names = [roles[name] if roles[name] != "ignore" else name for name in table]
    kinds = [find_kind(set(table[name])) for name in table]
    for number, name in enumerate(names):
        if name.startswith("column") and kinds[number] == "time":
            names[number] = "time" if "time" not in names else name
    following = names.index("target") + 1 if "target" in names else len(names)
    if following < len(names) and kinds[following] != "time":
        first = head.iloc[0, following]  # a later cell that is no number is an error to be told
        names[following] = "weight" if find_decimals([first]) else names[following]
    return names


def _occurs_again(cell: str, data: bytes, start: int, separator: str) -> bool:
    """Whether a text is in one of the first two columns of any row after the first."""
    gap = rb"[ \t]+" if separator == " " else rb"[ \t]*" + re.escape(separator.encode())
    text = rb'[ \t]*"?' + re.escape(cell.encode()) + rb'"?'
    other = rb'[ \t]*(?:"[^"\n]*"|[^\n"' + re.escape(separator.encode()) + rb"]*?)"
    row = rb"^(?:" + other + gap + rb")?" + text + rb"[ \t]*(?:$|\r|" + gap + rb")"
    return re.compile(row, re.MULTILINE).search(data, data.find(b"\n", start)) is not None


def find_content(data: bytes) -> int:
    """Position of the first byte that is not blank."""
    return _BLANKS.match(data).end()  # type: ignore[union-attr]


def _parse(file: str, data: bytes, separator: str, max_rows: int | None) -> pd.DataFrame:
    try:
        table = pd.read_csv(
            io.BytesIO(data),
            sep=r"\s+" if separator == " " else separator,
            header=None,
            dtype=str,
            na_filter=False,
            skipinitialspace=True,
            nrows=max_rows,
            index_col=False,
            encoding="utf-8",
        )
    except (pd.errors.ParserError, pd.errors.EmptyDataError, ValueError) as error:
        raise FormatError(
            file,
            "must have the same columns in every row",
            str(error).rpartition("C error: ")[2].strip(),
            "check separators and quotes",
        ) from None
    return table.fillna("")


def _check_comments(comments: bytes, separator: str, width: int, file: str) -> None:
    """Raise FormatError for a comment that could be a link between nodes named #…."""
    if width < 2:
        return
    gap = b"[ \\t]+" if separator == " " else re.escape(separator.encode())
    cell = b"[^\\s" + re.escape(separator.encode()) + b"]+"
    line = b"^[ \\t]*[#%]" + cell + b"(?:" + gap + cell + b"){%d}[ \\t]*\\r?$" % (width - 1)
    for number, match in enumerate(re.finditer(line, comments, re.MULTILINE)):
        text = match[0].strip().decode("utf-8", "replace")
        cells = split_row(text.lstrip("#%"), separator)
        if number > _MAX_HEADERS or not all(is_link_name(name) for name in cells if name):
            raise FormatError(
                file,
                "must not begin a row with # or %, which mark comments",
                text,
                "put the id in quotes, or a blank after the mark of a comment",
            )


_WHOLE = re.compile(r"-?(0|[1-9]\d{0,17})")


def read_columns(
    text: LinkText, columns: list[str], warnings: list[str] | None = None, more: Sequence[str] = ()
) -> tuple[np.ndarray, tuple[str, ...], np.ndarray | None, dict[str, Any]] | None:
    """(codes (2 k,) int64, ids in order of appearance, weights (k,) or None, further columns as
    texts of Arrow), or None.

    columns   source, target and, if wanted, weight
    warnings  takes what is to be said about ids
    more      names of the further columns
    """
    import pyarrow as pa

    data, separator = text.data, text.separator
    if b'"' in data and (separator == " " or re.search(rb'[,;\t][ \t]+"|^[ \t]+"', data, re.M)):
        return None
    if separator == " ":
        data, separator = _single_spaces(data), " "
    first = text.parse(max_rows=50, columns=columns)
    is_whole = all(_WHOLE.fullmatch(v.strip()) for end in columns[:2] for v in first[end])
    for as_numbers in [True, False] if is_whole and _are_plain(data) else [False]:
        try:
            table = _read(text, data, separator, [*columns, *more], len(columns), as_numbers)
        except (pa.ArrowException, UnicodeDecodeError):
            continue
        found = encode_columns(table, columns, as_numbers, warnings)
        return found and (*found, {name: _unescape_cells(table[name]) for name in more})
    return None


def _unescape_cells(cells: Any) -> Any:
    """Texts of Arrow without the marks against formulas."""
    from pyarrow import compute as pc

    return pc.replace_substring_regex(cells, _ESCAPED, r"\1")


def _read(
    text: LinkText,
    data: bytes,
    separator: str,
    columns: list[str],
    num_typed: int,
    as_numbers: bool,
) -> Any:
    """Columns of the text as an Arrow table: the first `num_typed` are ends and weight, others
    texts."""
    import pyarrow as pa
    from pyarrow import csv

    start = 0
    if text.has_header:
        start = data.find(b"\n", find_content(data)) + 1 or len(data)
    has_quotes = b'"' in data
    ends = pa.int64() if as_numbers else pa.string()
    return csv.read_csv(
        pa.BufferReader(pa.py_buffer(data)[start:]),
        read_options=csv.ReadOptions(
            use_threads=False,
            column_names=list(text.names),
            block_size=len(data) + 1 if has_quotes else 4 << 20,
        ),
        parse_options=csv.ParseOptions(delimiter=separator, newlines_in_values=has_quotes),
        convert_options=csv.ConvertOptions(
            include_columns=columns,
            column_types=dict.fromkeys(columns, pa.string())
            | dict(zip(columns[:num_typed], (ends, ends, pa.float64()), strict=False)),
            null_values=[],
            strings_can_be_null=False,
            quoted_strings_can_be_null=False,
            decimal_point=text.layout.decimal,
        ),
    )


def encode_columns(
    table: Any, columns: list[str], as_numbers: bool, warnings: list[str] | None = None
) -> tuple[np.ndarray, tuple[str, ...], np.ndarray | None] | None:
    """Codes, ids and weights as `read_columns` gives them, of an Arrow table.

    as_numbers  whether source and target are int64, else texts; weights are float64
    """
    weights = None
    if len(columns) > 2:
        weights = table[columns[2]].to_numpy()
        if not (np.isfinite(weights) & (weights >= 0)).all():
            return None
    ends = np.empty((table.num_rows, 2), np.int64)
    if as_numbers:
        for side, column in enumerate(columns[:2]):
            ends[:, side] = table[column].to_numpy()
        codes, ids = pd.factorize(ends.ravel())
        return codes, tuple(map(str, ids.tolist())), weights
    names: list[str] = []
    for side, column in enumerate(columns[:2]):
        encoded = table[column].combine_chunks().dictionary_encode()
        ends[:, side] = encoded.indices.to_numpy() + len(names)
        names += encoded.dictionary.to_pylist()
    cleaned = [unescape_cell(name.strip()) for name in names]
    if "" in cleaned:
        return None
    if warnings is not None:
        warnings += warn_of_blanks(names)
    same, texts = pd.factorize(np.array(cleaned, object))
    codes, order = pd.factorize(same[ends.ravel()])
    return codes, tuple(map(str, texts[order])), weights


def warn_of_blanks(names: Iterable[str]) -> list[str]:
    """Warning on ids that are one without the blanks around them, with an example."""
    distinct = set(names)
    united = sorted(name for name in distinct if name != name.strip() and name.strip() in distinct)
    if not united:
        return []
    count = count_noun(len(united), "id")
    return [f"{count} with blanks around were read without, such as '{united[0]}', and made one."]


def _are_plain(data: bytes) -> bool:
    """Whether integers have a unique spelling: 7, but not 07, 0x7 or −0."""
    is_odd = b"-0" in data or b"0x" in data or b"0X" in data
    return not is_odd and re.search(rb"0[0-9](?<![0-9]0[0-9])", data) is None


def _single_spaces(data: bytes) -> bytes:
    """One space between the cells of a row, none around it."""
    data = data.replace(b"\t", b" ")
    while b"  " in data:
        data = data.replace(b"  ", b" ")
    data = data.replace(b" \n", b"\n").replace(b" \r", b"\r")
    return data.replace(b"\n ", b"\n").strip(b" ")
