"""Values of the columns of links: numbers as given, times with their resolution, kinds, directions.

A column is a time or a number only if all its filled cells are; else its cells are texts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from core.data.columns import BLANKS
from core.data.link_columns import EARLIEST, LATEST, USES, WAYS, find_use
from core.data.loaded import LEFT_OUT, ColumnUse
from core.errors import InputError
from core.graph import Graph
from core.link_table import NO_TIME, LinkColumn, LinkTable
from core.node_column import MISSING

_EXACT = 1 << 53
"""Integers below this are exact as float64."""
KINDS = {"category": "class", "direction": "class", "time": "time", "number": "number"}


@dataclass(frozen=True)
class ReadColumn:
    """A column of the links that is to be read.

    role       time or kind, which decide how numbers are read; or ""
    use, why   as in `ColumnUse`; all its values may prove the use another one
    is_stated  whether the caller states the role
    """

    name: str
    role: str
    use: str
    why: str
    is_stated: bool = False


def choose_column(
    name: str, sample: Any, given: Mapping[str, str], is_part: bool = False
) -> ReadColumn | ColumnUse:
    """A column that is neither end nor weight: to be read, or left out with the reason.

    sample  its first values; given: column → role as the caller states; is_part: whether there may
    be more values
    """
    use, kind, why = find_use(name, pd.Series(sample, dtype=object), is_part)
    stated = given.get(name, "")
    if stated in ("time", "kind"):
        return ReadColumn(name, stated, f"{stated} of a link", "chosen", is_stated=True)
    if use == LEFT_OUT or stated:
        return ColumnUse("links", name, LEFT_OUT, kind, "chosen" if stated else why)
    return ReadColumn(name, "time" if use == USES["time"] else "", use, why)


def parse_columns(
    chosen: Sequence[ReadColumn], cells: Mapping[str, Any], file: str, decimal: str = "."
) -> tuple[dict[str, LinkColumn], list[ColumnUse]]:
    """Columns and their uses; cells: name → an Arrow array or texts, one a row."""
    columns = {
        column.name: parse_values(cells[column.name], column, file, decimal) for column in chosen
    }
    uses = []
    for column in chosen:
        kind = columns[column.name].kind
        why = column.why if USES[kind] == column.use else "by all its values"
        uses.append(ColumnUse("links", column.name, USES[kind], KINDS[kind], why))
    return columns, uses


def parse_values(cells: Any, chosen: ReadColumn, file: str, decimal: str = ".") -> LinkColumn:
    """The values of all cells; raises InputError if the caller states a time and they are none."""
    import pyarrow as pa
    from pyarrow import compute as pc

    array = cells if isinstance(cells, pa.ChunkedArray | pa.Array) else pa.array(cells, pa.string())
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    if pa.types.is_temporal(array.type) and not pa.types.is_time(array.type):
        column = _take_times(array)
    elif pa.types.is_integer(array.type) or pa.types.is_floating(array.type):
        column = _take_numbers(array)
    else:
        texts = pc.utf8_trim_whitespace(array.cast(pa.string()))
        blank = pc.is_in(texts, pa.array(sorted(BLANKS)))
        texts = pc.if_else(blank, pa.scalar(None, pa.string()), texts)
        column = _parse_texts(texts, chosen.role == "kind", decimal)
    if chosen.role == "kind" and column.kind != "category":
        texts = pc.fill_null(array.cast(pa.string()), "")
        return LinkColumn.of_texts(texts.to_pylist())
    if column.kind == "number":
        column = _find_times(column, is_named=chosen.role == "time")
    if chosen.is_stated and chosen.role == "time" and column.kind != "time":
        raise InputError(
            f"{file}: --time",
            "must hold dates such as 2024-01-31, or whole numbers of seconds",
            chosen.name,
            "correct it, or read it as it is: leave out --time",
        )
    return column


def _take_numbers(array: Any) -> LinkColumn:
    import pyarrow as pa
    from pyarrow import compute as pc

    if pa.types.is_floating(array.type):
        values = array.to_numpy(zero_copy_only=False).astype(np.float64)
        return LinkColumn("number", np.where(np.isinf(values), np.nan, values))
    if not array.null_count:
        return LinkColumn("number", array.cast(pa.int64()).to_numpy())
    bounds = pc.min_max(array)
    if max(abs(bounds["min"].as_py() or 0), abs(bounds["max"].as_py() or 0)) < _EXACT:
        return LinkColumn("number", array.cast(pa.float64()).to_numpy(zero_copy_only=False))
    return LinkColumn.of_texts(pc.fill_null(array.cast(pa.string()), "").to_pylist())


def _take_times(array: Any) -> LinkColumn:
    """Dates of Arrow, in the coarsest of seconds to nanoseconds that is exact for all."""
    import pyarrow as pa

    if pa.types.is_date(array.type):
        days = array.cast(pa.date32()).cast(pa.int32()).cast(pa.int64())
        return LinkColumn("time", _fill_times(days), unit="D")
    unit = array.type.unit
    values = _fill_times(array.cast(pa.int64()))
    known = values != NO_TIME
    for coarser, finer in (("us", "ns"), ("ms", "us"), ("s", "ms")):
        if unit == finer and not (values[known] % 1000).any():
            values, unit = np.where(known, values // 1000, NO_TIME), coarser
    return LinkColumn("time", values, unit=unit)


def _fill_times(array: Any) -> np.ndarray:
    from pyarrow import compute as pc

    return np.asarray(pc.fill_null(array, NO_TIME).to_numpy(zero_copy_only=False), np.int64)


def _parse_texts(texts: Any, is_kind: bool, decimal: str) -> LinkColumn:
    """Directions, integers, numbers, dates, or a category; null is unknown."""
    import pyarrow as pa
    from pyarrow import compute as pc

    if not is_kind and texts.null_count < len(texts):
        column = None
        words = pc.utf8_lower(texts)
        if pc.all(pc.is_in(words, pa.array([*WAYS, None]))).as_py():
            codes = [WAYS.get(word, MISSING) for word in words.to_pylist()]
            return LinkColumn("direction", np.array(codes))
        if not pc.any(pc.match_substring_regex(texts, r"^[+-]?0\d")).as_py():  # 007 is a name
            column = _parse_numbers(texts, decimal)
        column = column or _parse_dates(texts)
        if column is not None:
            return column
    encoded = texts.dictionary_encode()
    codes = pc.fill_null(encoded.indices, MISSING).to_numpy(zero_copy_only=False)
    return LinkColumn("category", codes, tuple(encoded.dictionary.to_pylist()))


def _parse_numbers(texts: Any, decimal: str) -> LinkColumn | None:
    import pyarrow as pa
    from pyarrow import compute as pc

    try:
        return _take_numbers(texts.cast(pa.int64()))
    except pa.ArrowInvalid:
        pass
    if pc.all(pc.match_substring_regex(texts, r"^[+-]?\d+$")).as_py():
        return None  # too large to be exact
    try:
        column = _take_numbers(pc.replace_substring(texts, decimal, ".").cast(pa.float64()))
    except pa.ArrowInvalid:
        return None
    return column if int(column.known.sum()) == len(texts) - texts.null_count else None


def _find_times(column: LinkColumn, is_named: bool) -> LinkColumn:
    """Whole numbers as Unix times, if all are of `EARLIEST` to `LATEST`, or as times of a unit that
    is not known."""
    known = column.known
    filled = column.values[known]
    if not len(filled) or (filled % 1).any():
        return column
    values = np.full(len(known), NO_TIME)
    values[known] = filled
    for unit, scale in (("unix s", 1), ("unix ms", 1000)):
        if EARLIEST * scale <= filled.min() and filled.max() <= LATEST * scale:
            return LinkColumn("time", values, unit=unit)
    return LinkColumn("time", values) if is_named else column


def _parse_dates(texts: Any) -> LinkColumn | None:
    """ISO dates, and those with points (day first) or strokes where day and month are clear."""
    from pyarrow import compute as pc

    if pc.all(pc.match_substring_regex(texts, r"^\d{1,2}[./]\d{1,2}[./]\d{4}")).as_py():
        texts = pc.replace_substring_regex(texts, r"^(\d[./])", r"0\1")
        texts = pc.replace_substring_regex(texts, r"^(\d\d[./])(\d[./])", r"\10\2")
        order = _find_order(texts)
        if order is None:
            return None
        texts = pc.replace_substring_regex(texts, r"^(\d\d)[./](\d\d)[./](\d{4})", order)
    is_month = pc.all(pc.match_substring_regex(texts, r"^\d{4}-\d\d$")).as_py()
    if not is_month and not pc.all(pc.match_substring_regex(texts, r"^\d{4}-\d\d-\d\d")).as_py():
        return None
    bare = pc.replace_substring_regex(texts, r"(Z|[+-]\d\d:?\d\d)$", "")
    size = pc.max(pc.utf8_length(bare)).as_py()
    sizes = ((7, "M"), (10, "D"), (16, "m"), (19, "s"), (23, "ms"), (26, "us"), (29, "ns"))
    unit = next((unit for most, unit in sizes if size <= most), None)
    if unit is None:
        return None
    given = texts.to_pandas()
    times = pd.to_datetime(given, format="ISO8601", utc=True, errors="coerce")
    if (times.isna() & given.notna()).any():
        return None
    values = times.dt.tz_localize(None).to_numpy().astype(f"M8[{unit}]").astype(np.int64)
    return LinkColumn("time", values, unit=unit)


def _find_order(texts: Any) -> str | None:
    """Replacement of two numbers and a year by an ISO date: day first with points, or by a number
    above 12; None if unclear."""
    from pyarrow import compute as pc

    if pc.all(pc.match_substring_regex(texts, r"^\d\d\.")).as_py():
        return r"\3-\2-\1"
    parts = [
        int(pc.max(pc.utf8_slice_codeunits(texts, start, start + 2)).as_py()) for start in (0, 3)
    ]
    if max(parts) <= 12 or min(parts) > 12:
        return None
    return r"\3-\2-\1" if parts[0] > 12 else r"\3-\1-\2"


def build_link_table(
    pairs: np.ndarray, graph: Graph, columns: Mapping[str, LinkColumn]
) -> LinkTable | None:
    """The table of rows (k, 2) as given in which a cell is filled, or None without any.

    A file without directions that gives each row once each way has each event once.
    """
    columns = {name: column for name, column in columns.items() if column.known.any()}
    if not columns:
        return None
    rows = np.flatnonzero(np.any([column.known for column in columns.values()], axis=0))
    if all(column.kind != "direction" for column in columns.values()):
        first, second = pairs[rows].T
        ways = [rows[first < second], rows[first > second]]
        if len(ways[0]) == len(ways[1]):
            forward, backward = (_take_rows(pairs, graph, columns, way) for way in ways)
            if forward.equals(backward):
                return forward
    return _take_rows(pairs, graph, columns, rows)


def _take_rows(
    pairs: np.ndarray, graph: Graph, columns: Mapping[str, LinkColumn], rows: np.ndarray
) -> LinkTable:
    some = {name: column.take(rows) for name, column in columns.items()}
    return LinkTable.of_pairs(pairs[rows], graph.edges, graph.num_nodes, some)
