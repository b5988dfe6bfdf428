"""Detects whether a text file is a table, and its layout.

Separator, decimal mark and header are detected; ambiguities become questions that pages ask and the
command line has options for.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

import pandas as pd

from core.data.columns import BLANKS, is_end_name
from core.data.text_input import MAX_LINE_BYTES
from core.errors import FormatError, InputError

_HEAD = 1 << 12
_SAMPLE = 4 << 20
csv.field_size_limit(MAX_LINE_BYTES)  # cells are limited by their line
NEO4J = "export GraphML (apoc.export.graphml.all), or a CSV with :START_ID and :END_ID"
"""Remedy for exports of Neo4j that hold nodes and relationships in rows of their own."""
_STARTS = (
    (rb"%PDF-", "a PDF document", "export the table as CSV"),
    (rb"PK\x03\x04", "a zip archive or a spreadsheet", "call it .zip or .xlsx"),
    (rb"\x89PNG|\xff\xd8\xff|GIF8", "a picture", "export the table as CSV"),
    (rb"SQLite format 3", "a database", "export the table as CSV"),
    (rb"\{\\rtf", "a text document", "save it as plain text"),
    (rb"\s*<(!doctype html|html|head|body)\b", "a web page", "download the file itself"),
    (rb"\s*(<\?xml[^>]*>\s*)?(<!--.*?-->\s*)?<graphml\b", "GraphML", "call it .graphml"),
    (rb"\s*(<\?xml[^>]*>\s*)?(<!--.*?-->\s*)?<gexf\b", "GEXF", "call it .gexf"),
    (rb"\s*<(\?xml|!doctype|svg)\b", "XML", "export the table as CSV"),
    (rb"\s*(creator[^\n]*\s+)?(version[^\n]*\s+)?graph\s*\[", "GML", "call it .gml"),
    (rb"%%MatrixMarket", "a Matrix Market file", "call it .mtx"),
    (rb"\s*\*(vertices|network)\b", "a Pajek file", "call it .net"),
    (rb'\s*"?_id"?[,;\t]"?_labels"?', "nodes and relationships of Neo4j in one table", NEO4J),
    (rb'\s*\{"type":\s*"(node|relationship)"', "JSON lines of Neo4j", NEO4J),
)
_KNOWN = [(re.compile(start, re.I | re.S), what, remedy) for start, what, remedy in _STARTS]
_JSON = re.compile(rb"\s*(\{\s*(\"|\}|$)|\[\s*([\[{\"\]\d-]|$))")


def check_is_table(data: bytes, file: str) -> None:
    """Raise FormatError for content that is clearly not rows of text.

    data  the whole content; file  its name in the message
    """
    head = data[:_HEAD]
    for pattern, what, remedy in _KNOWN:
        if pattern.match(head):
            raise FormatError(file, "must be a table of text", what, remedy)
    line, _, rest = head.lstrip().partition(b"\n")
    is_wrapped = line[:1] in b"{[" and data[-_HEAD:].rstrip()[-1:] in b"}]"
    if _JSON.match(head) and (is_wrapped or not rest.strip() or line.rstrip()[-1:] in b"{[,"):
        raise FormatError(file, "must be a table of text", "JSON", "call it .json")


_QUOTED_FIELD = re.compile(rb'(^|[,;\t| ])"[^"]*"', re.MULTILINE)
_LONE_RETURN = re.compile(rb"\r(?!\n)")


def check_line_ends(data: bytes, file: str) -> None:
    """Raise FormatError for a bare carriage return outside quotes, which readers treat
    differently."""
    if b"\r" not in data or not _LONE_RETURN.search(data):
        return
    bare = _QUOTED_FIELD.sub(rb"\1", data)
    found = _LONE_RETURN.search(bare)
    if found:
        line = bare.count(b"\n", 0, found.start()) + 1
        place = f"a return alone in line {line}"
        remedy = "save it with the line ends of Unix or Windows"
        raise FormatError(file, "must end its lines with line feeds", place, remedy)


Field = Literal["separator", "decimal", "header"]

SEPARATORS = {"comma": ",", "semicolon": ";", "tab": "\t", "bar": "|", "space": " "}
"""Option → separator; a space means any run of blanks."""
DECIMALS = {"point": ".", "comma": ","}
HEADERS = {"yes": True, "no": False}
_OPTIONS: Mapping[Field, Mapping[str, Any]] = {
    "separator": SEPARATORS,
    "decimal": DECIMALS,
    "header": HEADERS,
}
MANY_ROWS = 10
"""Number of rows above which two ids that occur once are taken for column names."""

_QUOTED = re.compile(r'"[^"]*"')
_DECIMAL_COMMA = re.compile(r"\s*[+-]?\d*,\d+\s*")
_NUMBER = (
    r"[+-]?((\d+[{mark}]?\d*|[{mark}]\d+)([eE][+-]?\d+)?"
    r"|[1-9]\d{{0,2}}([{group}]\d{{3}})+([{mark}]\d+)?)"
)
_NUMBERS = {
    mark: re.compile(_NUMBER.format(mark=mark, group=group)) for mark, group in (".,", ",.")
}
"""Decimal mark → pattern of numbers written with it, with or without thousands separators."""


@dataclass(frozen=True)
class LayoutQuestion:
    """An ambiguity of the layout.

    choices  option values, likeliest first
    reason   the ambiguous observation
    """

    field: Field
    choices: tuple[str, ...]
    reason: str

    def to_error(self, file: str, prefix: str = "") -> InputError:
        """The question as an error that names the option."""
        options = " or ".join(f"--{prefix}{self.field} {choice}" for choice in self.choices)
        return InputError(file, f"must have a clear {self.field}", self.reason, f"say {options}")


@dataclass(frozen=True)
class TableLayout:
    """Layout of a text table.

    separator  one of SEPARATORS' values
    decimal    "." or ","; the other one may separate thousands
    """

    separator: str
    decimal: str
    has_header: bool
    questions: tuple[LayoutQuestion, ...] = ()

    def describe(self) -> dict[Field, str]:
        """Field → option value."""
        values = {"separator": self.separator, "decimal": self.decimal, "header": self.has_header}
        return {
            field: next(name for name, value in known.items() if value == values[field])
            for field, known in _OPTIONS.items()
        }

    def check_certain(self, file: str, prefix: str = "") -> None:
        """Raise InputError naming the option of the first open question."""
        for question in self.questions:
            raise question.to_error(file, prefix)


def parse_layout(given: Mapping[str, str] | None) -> dict[str, Any]:
    """Field → value stated by the caller; raises InputError for an unknown word."""
    found: dict[str, Any] = {}
    for field, choice in (given or {}).items():
        known = _OPTIONS.get(cast(Field, field), {})
        value = known.get(choice, choice if choice in known.values() else None)
        if value is None:
            raise InputError(f"--{field}", f"must be one of {', '.join(known)}", choice)
        found[field] = value
    return found


class LayoutSearch:
    """The layout of one table: what the caller states, else what is detected.

    given  see `parse_layout`
    """

    def __init__(self, given: Mapping[str, str] | None) -> None:
        self._found = parse_layout(given)
        self._questions: list[LayoutQuestion] = []

    def find(
        self, field: Field, detect: Callable[[], tuple[str | bool, LayoutQuestion | None]]
    ) -> Any:
        """The value of a field; `detect` is asked for what the caller did not state."""
        if field not in self._found:
            self._found[field], question = detect()
            self._questions += [] if question is None else [question]
        return self._found[field]

    @property
    def layout(self) -> TableLayout:
        """The layout, once all fields are found."""
        separator, decimal, header = (self._found[field] for field in _OPTIONS)
        return TableLayout(separator, decimal, header, tuple(self._questions))


def take_lines(text: str, count: int) -> list[str]:
    """The first non-blank lines, never truncated."""
    lines: list[str] = []
    start = size = 0
    while start < len(text) and len(lines) < count and size < _SAMPLE:
        end = text.find("\n", start)
        line = text[start : end if end >= 0 else len(text)].rstrip("\r")
        start += len(line) + 1 if end < 0 else end + 1 - start
        if line.strip():
            lines.append(line)
            size += len(line)
    return lines


def detect_separator(lines: Sequence[str]) -> tuple[str, LayoutQuestion | None]:
    """The first of tab, comma, semicolon that most lines contain, else a bar, else blanks.

    If lines contain commas and semicolons, semicolons separate if the commas are decimal marks,
    else whichever gives a constant number of fields; ambiguous if both do.
    """
    widths = {s: [len(row) for row in csv.reader(lines, delimiter=s)] for s in "\t,;|"}
    likely = [s for s in "\t,;" if sum(c > 1 for c in widths[s]) > len(lines) / 2]
    if likely == [",", ";"]:
        bare = "".join(_QUOTED.sub("", line) for line in lines)
        likely = [s for s in likely if s in bare] or likely
    if likely == [",", ";"]:
        rows = list(csv.reader(lines, delimiter=";"))
        with_comma = [cell for row in rows for cell in row if "," in cell]
        if with_comma and all(_DECIMAL_COMMA.fullmatch(cell) for cell in with_comma):
            return ";", None
        even = [s for s in likely if len(set(widths[s])) == 1]
        if len(even) == 2:
            seen = f"commas and semicolons in '{lines[0][:40]}'"
            return ";", LayoutQuestion("separator", ("semicolon", "comma"), seen)
        likely = even or likely
    if likely[:1] == ["\t"] and 1 in widths["\t"]:
        fields = {len(line.split()) for line in lines}
        if len(fields) == 1:  # tabs in some lines, blanks in others
            return " ", None
    if likely:
        return likely[0], None
    by_blank = {len(re.sub(r"\s*\|\s*", "|", line).split()) for line in lines}
    if set(widths["|"]) in ({1}, set()) or len(set(widths["|"])) > 1:
        return " ", None
    if by_blank == {1} or len(by_blank) > 1:
        return "|", None
    seen = f"bars and blanks in '{lines[0][:40]}'"
    return "|", LayoutQuestion("separator", ("bar", "space"), seen)


def find_decimals(cells: Iterable[str]) -> set[str]:
    """Decimal marks with which all non-blank cells are numbers; empty for text."""
    filled = {cell.strip() for cell in cells} - BLANKS
    return {
        mark
        for mark, pattern in _NUMBERS.items()
        if filled and all(pattern.fullmatch(cell) for cell in filled)
    }


def detect_decimal(
    columns: Iterable[Iterable[str]], separator: str
) -> tuple[str, LayoutQuestion | None]:
    """Decimal mark of a table's numeric columns; ambiguous if all numbers look like 1,234.

    A point as thousands separator is considered only with semicolons as separators.
    """
    usual = "," if separator == ";" else "."
    votes: list[str] = []
    unclear: str | None = None
    for column in columns:
        cells = [cell for cell in column if "," in cell or "." in cell]
        marks = find_decimals(column) if cells else set()
        votes += marks if len(marks) == 1 else []
        if len(marks) == 2 and (separator == ";" or any("," in cell for cell in cells)):
            unclear = unclear or cells[0].strip()
    if votes:
        return max(sorted(set(votes)), key=votes.count), None
    if unclear is None:
        return usual, None
    seen = f"'{unclear}' may be about {unclear[0]} or thousands"
    words = ("comma", "point") if usual == "," else ("point", "comma")
    return usual, LayoutQuestion("decimal", words, seen)


def parse_numbers(cells: pd.Series, decimal: str) -> pd.Series:
    """float64 of texts with a decimal mark, the other mark between thousands; else NaN."""
    texts = cells.str.strip()
    is_number = texts.str.fullmatch(_NUMBERS[decimal])
    return pd.to_numeric(write_plain(texts, decimal).where(is_number), errors="coerce")


def write_plain(numbers: pd.Series, decimal: str) -> pd.Series:
    """Texts of numbers with a point as decimal mark and nothing between thousands."""
    group = "." if decimal == "," else ","
    return numbers.str.replace(group, "", regex=False).str.replace(decimal, ".", regex=False)


def detect_link_header(
    first: Sequence[str], rest: pd.DataFrame, occurs_again: Callable[[str], bool]
) -> tuple[bool, LayoutQuestion | None]:
    """Whether the first row of a table of links is a header.

    occurs_again  whether a text is a link end in a later row

    Nodes may be named like columns (v1, user2): cells that differ from each other or from a later
    one only by their number are nodes. Two words that never recur are ambiguous.
    """
    if len(first) < 2 or any(find_decimals([cell]) for cell in first):
        return False, None
    below = {_shape(value) for column in rest for value in rest[column]}
    if sum(map(is_end_name, first)) >= 2:
        if not below:
            return len(set(first)) > 1 and list(first) == [_shape(cell) for cell in first], None
        return not any(_shape(cell) in below for cell in first), None
    if not below or first[0] == first[1]:
        return False, None
    if any(find_decimals(rest.iloc[:, i]) for i in range(len(first))):
        return True, None
    ends = [{_shape(value) for value in rest.iloc[:, i]} for i in (0, 1)]
    if all("0" in shape for shapes in ends for shape in shapes):
        shapes = [_shape(cell) for cell in first[:2]]
        if all(shape in shapes_below for shape, shapes_below in zip(shapes, ends, strict=True)):
            return False, None
        if not any("0" in shape for shape in shapes):
            return True, None
    if any(occurs_again(cell) for cell in first[:2]):
        return False, None
    seen = f"'{first[0]}' and '{first[1]}' may be names of columns or a link"
    order = ("yes", "no") if len(rest) >= MANY_ROWS else ("no", "yes")
    return order[0] == "yes", LayoutQuestion("header", order, seen)


def detect_node_header(
    first: Sequence[str], rest: pd.DataFrame
) -> tuple[bool, LayoutQuestion | None]:
    """Whether the first row of a node table is a header; ambiguous if it is numeric."""
    numbered = [str(start + i) for start in (0, 1) for i in range(len(first))]
    if not len(rest) or list(first) in (numbered[: len(first)], numbered[len(first) :]):
        return True, None
    if not all(find_decimals([cell]) for cell in first):
        return True, None
    seen = f"'{first[0]}' in the first row may be a name of a column or a value"
    return False, LayoutQuestion("header", ("no", "yes"), seen)


def _shape(cell: str) -> str:
    return re.sub(r"\d+", "0", str(cell).strip())
