"""Text of untrusted files, with size limits checked before memory is allocated.

Compressed files are limited by their ratio, large ones by the sandbox's limits. The limits allow
for graphs of a million nodes and ten million links.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import json
import re
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from core.errors import FormatError, InputError, ResourceError

MAX_NODES = 10_000_000
NODES_WITHOUT_DATA = 100_000
NODES_PER_ENTRY = 100
"""Nodes a file may declare per stored link or row, above the fixed number."""
MAX_ID_LENGTH = 1000
MAX_COLUMNS = 10_000
MAX_FEATURES = 100_000
MAX_CELLS = 100_000_000
MAX_TEXT_CELLS = 20_000_000
MAX_TEXT_BYTES = 1 << 30


def check_num_nodes(what: str, num_nodes: int, num_entries: int) -> None:
    """Raise ResourceError if node numbers or a shape declare far more nodes than stored data.

    num_entries  links and rows that the file stores
    """
    most = min(MAX_NODES, NODES_WITHOUT_DATA + NODES_PER_ENTRY * num_entries)
    if num_nodes > most:
        raise ResourceError(
            what,
            f"must declare at most {most:,} nodes (for {num_entries:,} links and rows)",
            f"{num_nodes:,}",
            "number the nodes from 0 without gaps",
        )


def check_ids(what: str, ids: Sequence[str]) -> None:
    """Raise ResourceError for an overlong id."""
    longest = max(map(len, ids), default=0)
    if longest > MAX_ID_LENGTH:
        raise ResourceError(
            what,
            f"must have node ids of at most {MAX_ID_LENGTH:,} characters",
            f"{longest:,}",
            "check which column holds the ids",
        )


def split_row(line: str, separator: str) -> list[str]:
    """Cells of a line; a blank as separator stands for any white space."""
    return line.split() if separator == " " else next(csv.reader([line], delimiter=separator))


def strip_namespace(element: Any) -> str:
    """Tag of an XML element without its namespace; "" for a comment."""
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def check_num_features(what: str, num_features: int) -> None:
    """Raise ResourceError for too many features."""
    if num_features > MAX_FEATURES:
        raise ResourceError(
            what, f"must have at most {MAX_FEATURES:,} features", f"{num_features:,}", "use fewer"
        )


def check_num_columns(what: str, num_columns: int) -> None:
    """Raise ResourceError for a table with too many columns."""
    if num_columns > MAX_COLUMNS:
        raise ResourceError(
            what,
            f"must have at most {MAX_COLUMNS:,} columns",
            f"{num_columns:,}",
            "leave out columns, or store features as a sparse matrix (NPZ)",
        )


def check_cells(what: str, num_rows: int, num_columns: int, most: int = MAX_TEXT_CELLS) -> None:
    """Raise ResourceError for a table with too many columns or cells."""
    check_num_columns(what, num_columns)
    if num_rows * num_columns > most:
        raise ResourceError(
            what,
            f"must have at most {most:,} cells",
            f"{num_rows:,} × {num_columns:,}",
            "leave out columns or load a part of it",
        )


MAX_FILE_BYTES = 2 << 30
MAX_JSON_BYTES = 512 << 20
MAX_LINE_BYTES = 1 << 20
MAX_RATIO = 100
"""Maximum ratio of unpacked to packed size; tables of links reach about 30."""
_SMALL = 32 << 20
_CHUNK = 1 << 20


def check_file(path: str | Path) -> Path:
    """The path of a readable, non-empty file, or InputError."""
    path = Path(path)
    file = f"file '{path.name}'"
    try:
        if not path.exists():
            raise InputError("file", "must exist", str(path), "check the path")
        if not path.is_file():
            raise InputError("file", "must be a file, not a folder", str(path))
        if path.stat().st_size == 0:
            raise FormatError(file, "must not be empty", "0 bytes")
    except (OSError, ValueError) as error:
        raise InputError("file", "must be readable", str(path), str(error)) from None
    return path


def load_bytes(path: str | Path, max_line: int | None = None) -> bytes:
    """Content of a plain or gzip file; stops at the first line longer than `max_line` bytes."""
    path = check_file(path)
    file = f"file '{path.name}'"
    chunks: list[bytes] = []
    size = line = number = 0
    try:
        with path.open("rb") as raw:
            is_gzip = raw.read(2) == b"\x1f\x8b"
            raw.seek(0)
            stream = gzip.GzipFile(fileobj=raw) if is_gzip else raw
            most = max(_SMALL, MAX_RATIO * path.stat().st_size) if is_gzip else MAX_FILE_BYTES
            while chunk := stream.read(_CHUNK):
                size += len(chunk)
                if size > MAX_FILE_BYTES:
                    raise ResourceError(
                        file,
                        f"must not hold over {MAX_FILE_BYTES >> 30} GiB",
                        remedy="load a part of it",
                    )
                if size > most:
                    raise ResourceError(
                        file,
                        f"must unpack to at most {MAX_RATIO} times its size",
                        f"over {size / 1e6:,.0f} MB",
                        "unpack it yourself and look at it",
                    )
                if max_line is not None:
                    line, number = _check_lines(path, chunk, line, number, max_line)
                chunks.append(chunk)
    except (gzip.BadGzipFile, EOFError, zlib.error):
        raise FormatError(
            file, "must be a complete gzip file", remedy="compress it again"
        ) from None
    except OSError as error:
        raise InputError(file, "must be readable", str(error)) from None
    return b"".join(chunks)


def load_text(path: str | Path, max_line: int | None = MAX_LINE_BYTES) -> str:
    """UTF-8 text of a plain or gzip file, a byte order mark removed."""
    return load_utf8(path, max_line).decode()


def load_utf8(path: str | Path, max_line: int | None = MAX_LINE_BYTES) -> bytes:
    """`load_text` as bytes, known to be UTF-8 without zero bytes."""
    data = load_bytes(path, max_line)
    file = f"file '{Path(path).name}'"
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise FormatError(file, "must be UTF-8 text", "UTF-16", "save it as UTF-8")
    if b"\0" in data:
        raise FormatError(
            file,
            "must be text",
            f"a zero byte at position {data.index(0)}",
            "call it .zip or .xlsx if it is one"
            if data.startswith(b"PK")
            else "check that the format is one of those supported",
        )
    if not data.isascii():
        try:
            codecs.utf_8_decode(data, "strict", True)
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, error.start) + 1
            raise FormatError(
                file,
                "must be UTF-8 text",
                f"byte 0x{data[error.start]:02x} in line {line}",
                "save it as UTF-8",
            ) from None
    data = data.removeprefix(codecs.BOM_UTF8)
    if b"\n" not in data:  # the line ends of old spreadsheets on a Mac
        data = data.replace(b"\r", b"\n")
    if not data or data.isspace():
        raise FormatError(file, "must not be empty", "blank lines only")
    return data


def load_json(path: str | Path, remedy: str) -> Any:
    """Content of a JSON file of at most MAX_JSON_BYTES; raises FormatError, also for duplicate
    keys."""
    path = Path(path)
    file = f"file '{path.name}'"
    if path.exists() and path.stat().st_size > MAX_JSON_BYTES:
        raise ResourceError(
            file, f"must be at most {MAX_JSON_BYTES >> 20} MiB", f"{path.stat().st_size >> 20} MiB"
        )
    try:
        return json.loads(load_text(path, max_line=None), object_pairs_hook=_check_distinct)
    except (ValueError, RecursionError) as error:  # a number of 5,000 digits is a ValueError
        shown = "too deeply nested" if isinstance(error, RecursionError) else str(error)
        raise FormatError(file, "must be JSON", shown, remedy) from None


def _check_distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Reject duplicate keys, whose first value would be lost."""
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for number, name in enumerate(names) if name in names[:number])
        raise ValueError(f"'{twice}' is named twice")
    return found


def _check_lines(path: Path, chunk: bytes, line: int, number: int, limit: int) -> tuple[int, int]:
    """Length of the open line and number of complete lines after `chunk`; raises FormatError."""
    ends = np.flatnonzero(np.frombuffer(chunk, np.uint8) == ord("\n"))
    lengths = np.diff(ends, prepend=-1, append=len(chunk)) - 1
    lengths[0] += line
    long = np.flatnonzero(lengths > limit)
    if not len(long):
        return int(lengths[-1]), number + len(ends)
    raise FormatError(
        f"file '{path.name}'",
        f"must have lines of at most {limit:,} bytes",
        f"a longer one in line {number + int(long[0]) + 1}",
        "check that it has one row per line",
    )


_FORMULA = re.compile(r"'*[=+\-@\t\r]")
_ESCAPED = re.compile(r"'+[=+\-@\t\r]")


def escape_cell(text: str) -> str:
    """The text with an apostrophe before a leading =, +, −, @, tab or return."""
    return f"'{text}" if _FORMULA.match(text) else text


def unescape_cell(text: str) -> str:
    """Inverse of `escape_cell`."""
    return text[1:] if _ESCAPED.match(text) else text
