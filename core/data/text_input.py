"""Bytes and text of untrusted files, within limits that hold before memory is taken."""

from __future__ import annotations

import codecs
import gzip
import zlib
from pathlib import Path

import numpy as np

from core.errors import FormatError, InputError, ResourceError

MAX_FILE_BYTES = 2 << 30
MAX_LINE_BYTES = 1 << 20
MAX_RATIO = 100
"""Times that a gzip file may unpack to its size; tables of links reach about 30."""
_SMALL = 32 << 20
_CHUNK = 1 << 20


def check_file(path: str | Path) -> Path:
    """The path of a readable, non-empty file, or InputError."""
    path = Path(path)
    try:
        if not path.exists():
            raise InputError("file", "must exist", str(path), "check the path")
        if not path.is_file():
            raise InputError("file", "must be a file, not a folder", str(path))
        if path.stat().st_size == 0:
            raise FormatError(f"file '{path.name}'", "must not be empty", "0 bytes")
    except (OSError, ValueError) as error:
        raise InputError("file", "must be readable", str(path), str(error)) from None
    return path


def load_bytes(path: str | Path, max_line: int | None = None) -> bytes:
    """Content of a plain or gzip file; stops at the first line longer than `max_line` bytes."""
    path = check_file(path)
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
                        f"file '{path.name}'",
                        f"must not hold over {MAX_FILE_BYTES >> 30} GiB",
                        remedy="load a part of it",
                    )
                if size > most:
                    raise ResourceError(
                        f"file '{path.name}'",
                        f"must unpack to at most {MAX_RATIO} times its size",
                        f"over {size / 1e6:,.0f} MB",
                        "unpack it yourself and look at it",
                    )
                if max_line is not None:
                    line, number = _check_lines(path, chunk, line, number, max_line)
                chunks.append(chunk)
    except (gzip.BadGzipFile, EOFError, zlib.error):
        raise FormatError(
            f"file '{path.name}'", "must be a complete gzip file", remedy="compress it again"
        ) from None
    except OSError as error:
        raise InputError(f"file '{path.name}'", "must be readable", str(error)) from None
    return b"".join(chunks)


def load_text(path: str | Path, max_line: int | None = MAX_LINE_BYTES) -> str:
    """UTF-8 text of a plain or gzip file, a byte order mark removed."""
    return load_utf8(path, max_line).decode()


def load_utf8(path: str | Path, max_line: int | None = MAX_LINE_BYTES) -> bytes:
    """The same as bytes, which are known to be UTF-8 without zero bytes."""
    data = load_bytes(path, max_line)
    name = Path(path).name
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise FormatError(f"file '{name}'", "must be UTF-8 text", "UTF-16", "save it as UTF-8")
    if b"\0" in data:
        raise FormatError(
            f"file '{name}'",
            "must be text",
            f"a zero byte at position {data.index(0)}",
            "check that the format is one of those supported",
        )
    if not data.isascii():
        try:
            codecs.utf_8_decode(data)
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, error.start) + 1
            raise FormatError(
                f"file '{name}'",
                "must be UTF-8 text",
                f"byte 0x{data[error.start]:02x} in line {line}",
                "save it as UTF-8",
            ) from None
    data = data.removeprefix(codecs.BOM_UTF8)
    if not data or data.isspace():
        raise FormatError(f"file '{name}'", "must not be empty", "blank lines only")
    return data


def _check_lines(path: Path, chunk: bytes, line: int, number: int, limit: int) -> tuple[int, int]:
    """Length of the open line and number of closed lines after `chunk`, or FormatError."""
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
