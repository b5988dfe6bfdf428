"""Columns of an edge list read by Arrow: ten million links in seconds.

Reads what is plain and leaves the rest, with its messages, to the row by row reader: `None` says
that a row is odd, never what is wrong with it.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd

from core.data.link_text import LinkText, find_content
from core.data.spreadsheet import unescape_cell

_WHOLE = re.compile(r"-?(0|[1-9]\d{0,17})")
_BLOCK = 16 << 20
_SPACE, _TAB, _ZERO, _NINE = b" \t09"


def read_columns(
    text: LinkText, columns: list[str]
) -> tuple[np.ndarray, tuple[str, ...], np.ndarray | None] | None:
    """(codes (2 k,) int64, ids in order of appearance, weights (k,) or None), or None.

    columns  source, target and, if wanted, weight
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
            table = _read(text, data, separator, columns, as_numbers)
        except (pa.ArrowException, UnicodeDecodeError):
            continue
        return _encode(table, columns, as_numbers)
    return None


def _read(text: LinkText, data: bytes, separator: str, columns: list[str], as_numbers: bool) -> Any:
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
            column_types=dict(zip(columns, (ends, ends, pa.float64()), strict=False)),
            null_values=[],
            strings_can_be_null=False,
            quoted_strings_can_be_null=False,
            decimal_point=text.layout.decimal,
        ),
    )


def _encode(
    table: Any, columns: list[str], as_numbers: bool
) -> tuple[np.ndarray, tuple[str, ...], np.ndarray | None] | None:
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
    same, texts = pd.factorize(np.array(cleaned, object))
    codes, order = pd.factorize(same[ends.ravel()])
    return codes, tuple(map(str, texts[order])), weights


def _are_plain(data: bytes) -> bool:
    """Whether whole numbers are written in one way only: 7, and never 07, 0x7 or −0."""
    if b"-0" in data or b"0x" in data or b"0X" in data:
        return False
    for start in range(0, len(data), _BLOCK):
        block = np.frombuffer(data, np.uint8)[max(start - 1, 0) : start + _BLOCK + 1]
        digit = (block >= _ZERO) & (block <= _NINE)
        after = digit[1:].copy()
        after &= block[:-1] == _ZERO  # a zero before a digit …
        after[1:] &= ~digit[:-2]  # … and not after one
        if start:
            after = after[1:]
        if after.any():
            return False
    return True


def _single_spaces(data: bytes) -> bytes:
    """One space between the cells of a row, none around it."""
    if (
        not any(run in data for run in (b"  ", b"\t", b" \n", b"\n ", b" \r"))
        and data[:1] != b" "
        and data[-1:] != b" "
    ):
        return data
    blocks = []
    position = 0
    while position < len(data):
        end = data.find(b"\n", position + _BLOCK) + 1 or len(data)
        block = np.frombuffer(data, np.uint8, end - position, position)
        position = end
        blank = (block == _SPACE) | (block == _TAB)
        following = np.append(block[1:], ord("\n"))
        blank_or_end = np.isin(following, (_SPACE, _TAB, ord("\n"), ord("\r")))
        block = block[~(blank & blank_or_end)]
        blank = (block == _SPACE) | (block == _TAB)
        before = np.concatenate([[ord("\n")], block[:-1]])
        leading = blank & (before == ord("\n"))
        blocks.append(np.where(blank, np.uint8(_SPACE), block)[~leading].tobytes())
    return b"".join(blocks)
