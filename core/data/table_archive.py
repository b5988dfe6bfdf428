"""Several tables in one file: a zip of tables or of one graph file, and an Excel workbook.

One table is of links and at most one other of nodes; each becomes a file in a private folder, which
the readers read as any other.
"""

from __future__ import annotations

import csv
import re
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from core.data.archive import check_contents, open_archive
from core.data.spreadsheet import load_sheets
from core.errors import FormatError, ResourceError
from core.words import count_noun

MAX_TABLES = 50
MAX_INFLATED = 1 << 30
"""Bytes of all tables of a zip; their ratio is limited as that of any archive."""
_REMEDY = "keep one table of links and at most one of nodes, or give them as two files"
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
) -> Tables:
    """Write the tables of a zip or workbook to a folder and tell links from nodes.

    suffixes     of files that are read, with their points
    holds_links  whether a written table looks like links
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
    if len(links) == 1 and len(found) == 2:
        (nodes,) = (table for table in found if table not in links)
        notes.append(f"links were read from '{links[0].name}', nodes from '{nodes.name}'")
        return Tables(links[0], nodes, layout, tuple(notes))
    shown = ", ".join(f"'{table.name}'" for table in found[:5])
    seen = f"{count_noun(len(found), 'table')}, {len(links)} like links: {shown}"
    raise FormatError(file, "must hold one table of links", seen if found else "none", _REMEDY)


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
