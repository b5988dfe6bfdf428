"""Records of written files: JSON that lists the SHA-256 of the files beside it, and its own.

By a record a file is told to be as this program wrote it, or another's.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

OWN = "record_sha256"
"""Key of the record's own SHA-256, taken with zeros in its place."""

FILES = "files"
"""Key of the files: path from the record's folder → SHA-256."""

_ZEROS = "0" * 64
_OWN = re.compile(rf'("{OWN}": ")[0-9a-f]{{64}}"')


def format_record(content: Mapping[str, Any], files: Mapping[str, str], **options: Any) -> str:
    """The record as JSON.

    files    path from the record's folder → SHA-256
    options  of `json.dumps`
    """
    text = json.dumps({**content, FILES: files, OWN: _ZEROS}, ensure_ascii=False, **options)
    return _set_own(text + "\n", _hash_text(text + "\n"))


def write_record(path: Path, content: Mapping[str, Any]) -> None:
    """Write a record that lists no other file."""
    path.write_text(format_record(content, {}, indent=1), encoding="utf-8")


def hash_files(folder: Path, files: Iterable[Path]) -> dict[str, str]:
    """Path from the folder → SHA-256 of each file."""
    return {path.relative_to(folder).as_posix(): hash_file(path) for path in sorted(files)}


def hash_file(path: Path) -> str:
    """SHA-256 of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def load_recorded(record: Path) -> dict[Path, str]:
    """File → SHA-256 by a record, itself included; empty without one, and where it was edited."""
    try:
        with record.open("rb") as file:
            data = file.read(1)
            data += file.read() if data == b"{" else b""  # a backup may be of any size
        text = data.decode("utf-8")
        content = json.loads(text) if data else {}
    except (OSError, ValueError, RecursionError):
        return {}
    if not isinstance(content, dict):
        return {}
    files = content.get(FILES, {})
    if content.get(OWN) != _hash_text(_set_own(text, _ZEROS)) or not isinstance(files, dict):
        return {}
    listed = {record.parent / name: str(digest) for name, digest in files.items()}
    return {**listed, record: hashlib.sha256(data).hexdigest()}


def list_unchanged(record: Path) -> dict[str, str]:
    """`files` of an unedited record, less those that are gone or were changed since."""
    return {
        path.relative_to(record.parent).as_posix(): digest
        for path, digest in load_recorded(record).items()
        if path != record and path.is_file() and hash_file(path) == digest
    }


def _set_own(text: str, digest: str) -> str:
    return _OWN.sub(rf'\g<1>{digest}"', text, count=1)


def _hash_text(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()
