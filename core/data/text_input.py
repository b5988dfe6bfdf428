"""Bytes and text of untrusted files, within limits that hold before memory is taken."""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path

from core.errors import FormatError, InputError, ResourceError

MAX_FILE_BYTES = 2 << 30
MAX_LINE_BYTES = 1 << 20
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
            while chunk := stream.read(_CHUNK):
                size += len(chunk)
                if size > MAX_FILE_BYTES:
                    raise ResourceError(
                        f"file '{path.name}'",
                        f"must not hold over {MAX_FILE_BYTES >> 30} GiB",
                        remedy="load a part of it",
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
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise FormatError(
            f"file '{name}'",
            "must be UTF-8 text",
            f"byte 0x{data[error.start]:02x} in line {line}",
            "save it as UTF-8",
        ) from None
    if not text.strip():
        raise FormatError(f"file '{name}'", "must not be empty", "blank lines only")
    return text


def _check_lines(path: Path, chunk: bytes, line: int, number: int, limit: int) -> tuple[int, int]:
    """Length of the open line and number of closed lines after `chunk`, or FormatError."""
    start = 0
    while (end := chunk.find(b"\n", start)) >= 0:
        if line + end - start > limit:
            break
        line, number, start = 0, number + 1, end + 1
    else:
        line += len(chunk) - start
        if line <= limit:
            return line, number
    raise FormatError(
        f"file '{path.name}'",
        f"must have lines of at most {limit:,} bytes",
        f"a longer one in line {number + 1}",
        "check that it has one row per line",
    )
