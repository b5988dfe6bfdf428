"""A disk that loses what was not synced: file system calls of a traced process, replayed.

What is simulated. `strace` records every call by which a process changes files below one folder.
A power cut after call k leaves: of each file, what it held when it was last synced
(fsync, fdatasync), and of each later write or truncation nothing, all, or some of its sectors of
512 bytes; of creations, renames and deletions, a prefix in their order that holds at least what a
synced folder or an earlier sync of a folder forced, as on a journaling file system (ext4, XFS,
btrfs). Not simulated: disks that lie about a sync or damage what was synced, and file systems that
reorder renames. Paths must be absolute. A kill after call k leaves everything that was written.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

SECTOR = 512
CALLS = (
    "openat,open,creat,write,pwrite64,writev,pwritev,pwritev2,lseek,fsync,fdatasync,ftruncate,"
    "truncate,rename,renameat,renameat2,unlink,unlinkat,mkdir,mkdirat,rmdir,fallocate,"
    "copy_file_range,sendfile,link,linkat,symlink,symlinkat"
)
_UNKNOWN = {"writev", "pwritev", "pwritev2", "fallocate", "copy_file_range", "sendfile"} | {
    *("truncate", "link", "linkat", "symlink", "symlinkat")
}
_LINE = re.compile(rb"^(\d+) +(\w+)\((.*)\) += (-?\d+|\?)(.*)$", re.DOTALL)
_FD = re.compile(rb"(\d+|AT_FDCWD)<((?:\\x[0-9a-f]{2})*)>(\(deleted\))?")
_TEXT = re.compile(rb'"((?:\\x[0-9a-f]{2})*)"')

Event = tuple[Any, ...]
"""("create" | "sync" | "unlink" | "mkdir" | "rmdir" | "syncdir", path), ("rename", from, to),
("write", path, offset, content), ("truncate", path, size) or ("said", content)."""


def trace(command: Sequence[str], folder: Path, log: Path, **options: Any) -> list[Event]:
    """Run a command; what it did below `folder`, and what it wrote to the file `folder`.said."""
    prefix = ["strace", "-f", "-qq", "-y", "-xx", "-s", str(1 << 28), "-e", "signal=none"]
    subprocess.run(
        [*prefix, "--seccomp-bpf", "-e", f"trace={CALLS}", "-o", str(log), *command],
        check=True,
        **options,
    )
    return list(read_log(log, folder))


def read_log(log: Path, folder: Path) -> Iterator[Event]:
    """The events of a log of strace, in their order."""
    top, said = str(folder), f"{folder}.said"
    offsets: dict[tuple[bytes, bytes], int] = {}
    started: dict[bytes, bytes] = {}
    sizes: dict[str, int] = {}

    def is_ours(path: str) -> bool:
        return (path.startswith(f"{top}/") or path == said) and not path.endswith("-shm")

    for line in log.read_bytes().split(b"\n"):
        pid = line.partition(b" ")[0]
        if line.endswith(b"<unfinished ...>"):
            started[pid] = line.removesuffix(b"<unfinished ...>").rstrip()
            continue
        if b" resumed>" in line[:60]:
            line = started.pop(pid) + line.partition(b" resumed>")[2]
        match = _LINE.match(line)
        if match is None or match[4].startswith((b"-", b"?")):
            continue
        _, name, rest, answer, after = match.groups()
        call = name.decode()
        fds = [(number, _decode(path)) for number, path, gone in _FD.findall(rest) if not gone]
        texts = [_decode_bytes(text) for text in _TEXT.findall(rest)]
        if call in ("openat", "open", "creat"):
            found = _FD.search(answer + after)
            path = _decode(found[2]) if found else ""
            if not is_ours(path) or b"O_DIRECTORY" in rest:
                continue
            if path not in sizes:
                if call != "creat" and b"O_CREAT" not in rest:
                    continue  # a folder
                sizes[path] = 0
                if path != said:
                    yield "create", path
            elif b"O_TRUNC" in rest:
                sizes[path] = 0
                yield "truncate", path, 0
            offsets[pid, answer] = sizes[path] if b"O_APPEND" in rest else 0
            continue
        if call in ("rename", "renameat", "renameat2", "unlink", "unlinkat", "mkdir", "rmdir") or (
            call == "mkdirat"
        ):
            roots = iter(fds)
            paths = [
                os.path.normpath(os.path.join(next(roots)[1] if call.endswith("at") else "", p))
                for p in (text.decode("utf-8", "surrogateescape") for text in texts)
            ]
            if not is_ours(paths[0]):
                continue
            if call.startswith("rename"):
                for path in [p for p in sizes if p == paths[0] or p.startswith(f"{paths[0]}/")]:
                    sizes[paths[1] + path[len(paths[0]) :]] = sizes.pop(path)
                yield "rename", *paths
            elif call.startswith("mkdir"):
                yield "mkdir", paths[0]
            elif call == "rmdir" or b"AT_REMOVEDIR" in rest:
                yield "rmdir", paths[0]
            else:
                sizes.pop(paths[0], None)
                yield "unlink", paths[0]
            continue
        if not fds:
            continue
        number, path = fds[0]
        if path == top or (is_ours(path) and path not in sizes):
            if "sync" in call:
                yield "syncdir", path
            continue
        if not is_ours(path):
            continue
        assert call not in _UNKNOWN, f"{call} is not replayed"
        size = int(answer)
        if call == "lseek":
            offsets[pid, number] = size
        elif "sync" in call:
            yield "sync", path
        elif call == "ftruncate":
            sizes[path] = int(rest.rpartition(b",")[2])
            yield "truncate", path, sizes[path]
        else:
            offset = int(rest.rpartition(b",")[2]) if call == "pwrite64" else offsets[pid, number]
            content = texts[-1][:size] if texts else b""
            if path == said:
                yield "said", content
            else:
                sizes[path] = max(sizes[path], offset + size)
                yield "write", path, offset, content
            if call == "write":
                offsets[pid, number] = offset + size


def _decode_bytes(text: bytes) -> bytes:
    return bytes.fromhex(text.replace(rb"\x", b"").decode())


def _decode(text: bytes) -> str:
    return _decode_bytes(text).decode("utf-8", "surrogateescape")


@dataclass(eq=False)
class _File:
    """What a file holds, what of it is safe, and the changes since."""

    content: bytearray = field(default_factory=bytearray)
    safe: bytes = b""
    pending: list[tuple[int, bytes | None]] = field(default_factory=list)
    """(offset, content), or (size, None) for a truncation."""


class Disk:
    """Files and folders after a number of events."""

    def __init__(self) -> None:
        self._names: dict[str, _File | None] = {}
        """Path → file, None for a folder."""
        self._safe_names: dict[str, _File | None] = {}
        self._pending: list[Event] = []
        """Changes of names that a cut may undo, last ones first."""

    def apply(self, event: Event) -> None:
        """One more call."""
        kind, path = event[0], event[1]
        if kind == "said":
            return
        if kind in ("write", "truncate", "sync"):
            file = self._names[path]
            assert file is not None
            if kind == "sync":
                file.safe, file.pending = bytes(file.content), []
                return
            change = (event[2], event[3] if kind == "write" else None)
            file.pending.append(change)
            _change(file.content, *change)
        elif kind == "syncdir":
            _rename_all(self._safe_names, self._pending)
            self._pending = []
        else:
            made = (kind, path, _File()) if kind == "create" else event
            self._pending.append(made)
            _rename_all(self._names, [made])

    def write_all(self, top: Path, folder: Path) -> None:
        """What a kill leaves: the files below `top`, written below `folder`."""
        _write(self._names, {f: bytes(f.content) for f in _files(self._names)}, top, folder)

    def write_survivors(self, top: Path, folder: Path, rng: np.random.Generator) -> None:
        """What a power cut leaves."""
        names = dict(self._safe_names)
        _rename_all(names, self._pending[: int(rng.integers(len(self._pending) + 1))])
        share = rng.choice([0.0, 0.5, 1.0])  # of the sectors that were not synced
        _write(names, {f: _survive(f, share, rng) for f in _files(names)}, top, folder)


def _files(names: dict[str, _File | None]) -> list[_File]:
    return [file for file in names.values() if file is not None]


def _rename_all(names: dict[str, _File | None], events: Sequence[Event]) -> None:
    for kind, path, *rest in events:
        if kind == "create":
            names[path] = rest[0]
        elif kind == "mkdir":
            names[path] = None
        elif kind == "rename":
            moved = [p for p in names if p == path or p.startswith(f"{path}/")]
            for old in moved:
                names[rest[0] + old[len(path) :]] = names.pop(old)
        else:
            names.pop(path, None)


def _change(content: bytearray, position: int, written: bytes | None) -> None:
    if len(content) < position:
        content.extend(bytes(position - len(content)))
    if written is None:
        del content[position:]
    else:
        content[position : position + len(written)] = written


def _survive(file: _File, share: float, rng: np.random.Generator) -> bytes:
    content = bytearray(file.safe)
    for position, written in file.pending:
        if written is None:
            if rng.random() < share:
                _change(content, position, None)
            continue
        for start in range(0, len(written), SECTOR):
            if rng.random() < share:
                _change(content, position + start, written[start : start + SECTOR])
    return bytes(content)


def _write(
    names: dict[str, _File | None], contents: dict[_File, bytes], top: Path, folder: Path
) -> None:
    for path, file in sorted(names.items()):
        target = folder / Path(path).relative_to(top)
        if file is None:
            target.mkdir(parents=True, exist_ok=True)
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(contents[file])
