"""Several tables in one file: a zip of tables or of one graph file, and an Excel workbook.

One table is of links and at most one other of nodes; each becomes a file in a private folder, which
the readers read as any other.
"""

from __future__ import annotations

import csv
import re
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path, PurePosixPath
from typing import Any
from xml.etree.ElementTree import ParseError

from core.data.archive import check_contents, open_archive
from core.data.text_input import MAX_COLUMNS, MAX_TEXT_CELLS, check_cells, strip_namespace
from core.errors import FormatError, ResourceError
from core.words import count_noun

MAX_TABLES = 50
MAX_INFLATED = 1 << 30
"""Bytes of all tables of a zip; their ratio is limited as that of any archive."""
_REMEDY = "keep one table of links and at most one of nodes, or give them as two files"
_NAME_ENDS = "say --source COLUMN --target COLUMN, or give them as two files"
_LINKS = re.compile(r"(?<![a-z])(edge|link|relation|tie|arc)s?(?![a-z])", re.IGNORECASE)
_SHEET_LAYOUT = {"separator": "comma", "decimal": "point"}


@dataclass(frozen=True)
class Tables:
    """Files of the links and of the nodes, the layout they are written in, and remarks."""

    links: Path
    nodes: Path | None
    layout: dict[str, str]
    notes: tuple[str, ...] = ()


def unpack_tables(
    path: Path,
    folder: Path,
    suffixes: Sequence[str],
    holds_links: Callable[[Path, dict[str, str]], bool],
    find_referring: Callable[[Sequence[Path], dict[str, str]], int | None],
) -> Tables:
    """Write the tables of a zip or workbook to a folder and tell links from nodes.

    suffixes     of files that are read, with their points
    holds_links  whether a written table looks like links
    find_referring  place of the table that names ids of another, where neither columns nor names
                 of tables tell
    Raises FormatError if it is not one table of links and at most one of nodes.
    """
    file = f"file '{path.name}'"
    notes: list[str] = []
    with open_archive(path) as archive:
        check_contents(archive)
        names = set(archive.namelist())
        layout = dict(_SHEET_LAYOUT) if "xl/workbook.xml" in names else {}
        if layout:
            found = _write_sheets(archive, folder, file)
        elif "mimetype" in names:
            remedy = "save it as .xlsx or CSV"
            raise FormatError(file, "must be a zip of tables or .xlsx", "OpenDocument", remedy)
        else:
            found = _write_members(archive, folder, file, suffixes, notes)
    if len(found) == 1:
        return Tables(found[0], None, layout, tuple(notes))
    links = [table for table in found if holds_links(table, layout)]
    if len(links) != 1:
        links = [table for table in found if _LINKS.search(table.name)]
    if len(links) != 1 and len(found) == 2:
        place = find_referring(found, layout)
        links = links if place is None else [found[place]]
    if len(links) == 1 and len(found) == 2:
        (nodes,) = (table for table in found if table not in links)
        notes.append(f"links were read from '{links[0].name}', nodes from '{nodes.name}'")
        return Tables(links[0], nodes, layout, tuple(notes))
    shown = ", ".join(f"'{table.name}'" for table in found[:5])
    seen = f"{count_noun(len(found), 'table')}, {len(links)} like links: {shown}"
    remedy = _NAME_ENDS if len(found) == 2 else _REMEDY
    raise FormatError(file, "must hold one table of links", seen if found else "none", remedy)


def _write_sheets(archive: zipfile.ZipFile, folder: Path, file: str) -> list[Path]:
    written = []
    for title, rows in load_sheets(archive, file).items():
        path = _make_path(folder, f"{title}.csv")
        with path.open("w", encoding="utf-8", newline="") as out:
            csv.writer(out, lineterminator="\n").writerows(rows)
        written.append(path)
    return written


def _write_members(
    archive: zipfile.ZipFile, folder: Path, file: str, suffixes: Sequence[str], notes: list[str]
) -> list[Path]:
    members = [m for m in archive.infolist() if not m.is_dir()]
    hidden = [m for m in members if re.search(r"(^|/)(__MACOSX/|\.)", m.filename)]
    tables = [m for m in members if m not in hidden and _find_suffix(m.filename) in suffixes]
    is_note = re.compile(r"readme|licen[cs]e|about|note", re.IGNORECASE)
    if len(tables) > 1:
        tables = [m for m in tables if not is_note.match(PurePosixPath(m.filename).name)]
    if len(tables) > MAX_TABLES:
        raise ResourceError(file, f"must hold at most {MAX_TABLES} tables", len(tables), _REMEDY)
    total = sum(member.file_size for member in tables)
    if total > MAX_INFLATED:
        rule = f"must hold tables of at most {MAX_INFLATED >> 30} GiB"
        raise ResourceError(file, rule, f"{total / 1e6:,.0f} MB", "load a part of it")
    others = [m.filename for m in members if m not in tables and m not in hidden]
    if others:
        shown = ", ".join(others[:5])
        notes.append(f"{count_noun(len(others), 'file')} of the zip not used: {shown}")
    written = []
    for member in tables:
        path = _make_path(folder, PurePosixPath(member.filename).name)
        path.write_bytes(archive.read(member))
        written.append(path)
    return written


def _find_suffix(name: str) -> str:
    path = PurePosixPath(name)
    suffix = path.suffix.lower()
    return PurePosixPath(path.stem).suffix.lower() if suffix == ".gz" else suffix


def _make_path(folder: Path, name: str) -> Path:
    """A new file in the folder, called by the name without signs that mean something there."""
    path = folder / re.sub(r"[^\w. -]", "_", name)[-80:].strip()
    while path.exists():
        path = path.with_name(f"_{path.name}")
    return path


# A workbook is a zip of XML documents (ECMA-376, part 1, section 18): cells hold numbers, texts,
# or places in a list of shared texts; a number is a date by the format of its cell.

_DATE_FORMATS = frozenset((*range(14, 23), 27, 30, 36, *range(45, 48), 50, 57))
"""Built-in formats of dates and times; others are told by their letters."""
_DATE_CODE = re.compile(r"[ymdhs]", re.IGNORECASE)
_NOT_CODE = re.compile(r'"[^"]*"|\\.|\[(?![hms]+\])[^\]]*\]|general', re.IGNORECASE)
_CELL = re.compile(r"([A-Z]{1,3})\d+")
_EXACT = 10**15
"""Whole numbers below this are exact: a spreadsheet keeps 15 digits."""
_DAYS = 2_958_466
"""Days from 1900 to the year 9999."""


def load_sheets(archive: zipfile.ZipFile, file: str) -> dict[str, list[list[str]]]:
    """Name → rows of equal width of each sheet with cells; raises FormatError."""
    book = _parse(archive, "xl/workbook.xml", file)
    targets = {}
    for link in _parse(archive, "xl/_rels/workbook.xml.rels", file):
        if link.attrib.get("TargetMode") != "External":
            path = link.attrib.get("Target", "").lstrip("/")
            path = path if path.startswith("xl/") else f"xl/{path}"
            if path not in archive.namelist():  # without its styles a date would be a number
                raise _broken(file, path, KeyError("it is not there"))
            targets[link.attrib.get("Id")] = path
    is_1904 = any(
        element.attrib.get("date1904") in ("1", "true")
        for element in book.iter()
        if strip_namespace(element) == "workbookPr"
    )
    shared = _load_shared(archive, file)
    is_date = _load_date_styles(archive, file)
    sheets: dict[str, list[list[str]]] = {}
    for element in book.iter():
        if strip_namespace(element) != "sheet":
            continue
        key = next((v for k, v in element.attrib.items() if k.endswith("}id")), "")
        rows = _load_rows(archive, targets.get(key, "a sheet"), shared, is_date, is_1904, file)
        if rows:
            sheets[element.attrib.get("name", path)] = rows
    return sheets


def _load_shared(archive: zipfile.ZipFile, file: str) -> list[str]:
    if "xl/sharedStrings.xml" not in archive.namelist():
        return []
    found = _parse(archive, "xl/sharedStrings.xml", file)
    return [_read_text(item) for item in found if strip_namespace(item) == "si"]


def _load_date_styles(archive: zipfile.ZipFile, file: str) -> list[bool]:
    """Whether each style of cells is that of a date."""
    if "xl/styles.xml" not in archive.namelist():
        return []
    styles = _parse(archive, "xl/styles.xml", file)
    own = {
        element.attrib.get("numFmtId"): element.attrib.get("formatCode", "")
        for element in styles.iter()
        if strip_namespace(element) == "numFmt"
    }
    dated = {str(number) for number in _DATE_FORMATS}
    dated = {number for number in dated if number not in own}
    dated |= {str(n) for n, code in own.items() if _DATE_CODE.search(_NOT_CODE.sub("", code))}
    cells = next((part for part in styles if strip_namespace(part) == "cellXfs"), ())
    return [style.attrib.get("numFmtId") in dated for style in cells]


def _load_rows(
    archive: zipfile.ZipFile,
    path: str,
    shared: list[str],
    is_date: list[bool],
    is_1904: bool,
    file: str,
) -> list[list[str]]:
    """Cells of a sheet by row; rows without a filled cell are left out."""
    rows: list[dict[int, str]] = []
    width = 0
    for element in _iterate_rows(archive, path, file):
        row: dict[int, str] = {}
        place = -1
        for cell in element:
            found = _CELL.fullmatch(cell.attrib.get("r", ""))
            place = place + 1 if found is None else _read_column(found[1])
            text = _read_cell(cell, shared, is_date, is_1904, file)
            if text.strip():
                row[place] = text
        if row:
            rows.append(row)
            width = max(width, max(row) + 1)
            if not len(rows) % 1000 or width > MAX_COLUMNS:
                check_cells(file, len(rows), width, MAX_TEXT_CELLS)
    check_cells(file, len(rows), width, MAX_TEXT_CELLS)
    first = min((min(row) for row in rows), default=0)
    return [[row.get(place, "") for place in range(first, width)] for row in rows]


def _read_cell(cell: Any, shared: list[str], is_date: list[bool], is_1904: bool, file: str) -> str:
    kind, place = cell.attrib.get("t", "n"), cell.attrib.get("r", "a cell")
    parts = {strip_namespace(part): part for part in cell}
    if kind == "inlineStr":
        return _read_text(parts["is"]) if "is" in parts else ""
    text = (parts["v"].text or "") if "v" in parts else ""
    if "f" in parts and not text and kind != "str":
        remedy = "open it in a spreadsheet and save it again, or export CSV"
        raise FormatError(file, "must hold the values of its formulas", place, remedy)
    if kind == "s" and text:
        if not text.isdecimal() or int(text[:9]) >= len(shared):
            raise FormatError(file, "must be a complete workbook", f"shared text '{text[:20]}'")
        return shared[int(text)]
    if kind == "b":
        return {"1": "true", "0": "false"}.get(text, text)
    if kind != "n" or not text:
        return text
    style = cell.attrib.get("s", "0")
    style_number = int(style) if style.isdecimal() and len(style) < 9 else 0
    return _format_number(
        text, style_number < len(is_date) and is_date[style_number], is_1904, place, file
    )


def _format_number(text: str, is_date: bool, is_1904: bool, place: str, file: str) -> str:
    """A number without exponent where that is exact; a date as ISO 8601."""
    try:
        value = float(text)
    except ValueError:
        shown = f"{place}: {text[:40]}"
        raise FormatError(file, "must hold numbers in its number cells", shown) from None
    if is_date and 0 <= value < _DAYS:
        days = value + 1462 if is_1904 else value
        start = datetime(1899, 12, 30) if days >= 61 else datetime(1899, 12, 31)
        moment = start + timedelta(seconds=round(days * 86_400))
        return moment.date().isoformat() if days == int(days) else moment.isoformat(" ")
    if abs(value) < _EXACT and value == int(value):
        return str(int(value))
    return text


def _read_column(letters: str) -> int:
    """A is 0, Z 25, AA 26."""
    number = 0
    for letter in letters:
        number = 26 * number + ord(letter) - 64
    return number - 1


def _read_text(element: Any) -> str:
    """Text of a cell or shared text, its runs joined, without the reading of characters."""
    if strip_namespace(element) == "rPh":
        return ""
    own = (element.text or "") if strip_namespace(element) == "t" else ""
    return own + "".join(map(_read_text, element))


def _iterate_rows(archive: zipfile.ZipFile, path: str, file: str) -> Iterator[Any]:
    """Rows of a sheet, each freed once it is read."""
    from defusedxml import DefusedXmlException
    from defusedxml.ElementTree import iterparse

    try:
        with archive.open(path) as stream:
            parent = None
            for event, element in iterparse(
                stream, events=("start", "end"), forbid_dtd=True, forbid_external=True
            ):
                if event == "start":
                    parent = element if strip_namespace(element) == "sheetData" else parent
                elif strip_namespace(element) == "row" and parent is not None:
                    yield element
                    parent.clear()
    except (DefusedXmlException, ParseError, KeyError, LookupError) as error:
        raise _broken(file, path, error) from None


def _parse(archive: zipfile.ZipFile, path: str, file: str) -> Any:
    from defusedxml import DefusedXmlException
    from defusedxml.ElementTree import parse

    try:
        with archive.open(path) as stream:
            return parse(stream, forbid_dtd=True).getroot()
    except (DefusedXmlException, ParseError, KeyError, LookupError) as error:
        raise _broken(file, path, error) from None


def _broken(file: str, path: str, error: Exception) -> FormatError:
    shown = f"{path}: {str(error)[:60] or type(error).__name__}"
    return FormatError(file, "must be a complete Excel workbook", shown, "save it again, or as CSV")
