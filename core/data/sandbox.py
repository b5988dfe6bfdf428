"""Reads untrusted files in a separate process under limits.

The child (`python -m core.data.reader_process`) reads under AUDIT_READ_MB of memory (2048) and
AUDIT_READ_SECONDS of CPU time (60) and writes arrays without pickle to a private folder; its errors
are returned on one line. It inherits neither the caller's memory nor its environment.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import core
from core.data.assembly import RawGraph
from core.data.loaded import ColumnUse, LoadedGraph, LoadReport
from core.data.packing import unpack_graph, unpack_texts
from core.data.sniff import LayoutQuestion, TableLayout
from core.data.text_input import check_file
from core.errors import FormatError, InputError, ResourceError, UnsupportedError
from core.home import is_running

MEMORY_MB, CPU_SECONDS = 2048, 60
PASSED_ON = ("PATH", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "VIRTUAL_ENV", "SYSTEMROOT", "TMPDIR")
_ERRORS = {e.__name__: e for e in (InputError, FormatError, ResourceError, UnsupportedError)}


def load_in_sandbox(path: str | Path, **options: Any) -> LoadedGraph:
    """`readers.load_graph` in a child process, with the same arguments and errors.

    Raises ResourceError if reading exceeds its limits.
    """
    arrays, answer = _read("graph", path, options)
    columns = [ColumnUse(**column) for column in answer["report"].pop("columns")]
    return LoadedGraph(unpack_graph(arrays), LoadReport(**answer["report"], columns=columns))


def preview_in_sandbox(
    path: str | Path, rows: int = 8, is_nodes: bool = False, layout: Mapping[str, str] | None = None
) -> pd.DataFrame:
    """`readers.read_preview` in a child process; every cell is a text."""
    arrays, _ = _read("preview", path, {"rows": rows, "is_nodes": is_nodes, "layout": layout})
    columns = unpack_texts(arrays["columns"])
    cells = [unpack_texts(arrays[f"column_{i}"]) for i in range(len(columns))]
    frame = pd.DataFrame(dict(enumerate(cells)), dtype=object)
    frame.columns = pd.Index(columns, dtype=object)
    return frame


def sniff_in_sandbox(
    path: str | Path, is_nodes: bool = False, layout: Mapping[str, str] | None = None
) -> TableLayout | None:
    """`readers.sniff_table` in a child process."""
    _, answer = _read("layout", path, {"is_nodes": is_nodes, "layout": layout})
    found = answer["layout"]
    if found is None:
        return None
    questions = [
        LayoutQuestion(q["field"], tuple(q["choices"]), q["reason"]) for q in found["questions"]
    ]
    return TableLayout(**{**found, "questions": tuple(questions)})


def load_pairs_in_sandbox(path: str | Path) -> RawGraph:
    """`edge_list.load_edge_list` in a child process: pairs and ids only."""
    arrays, _ = _read("pairs", path, {})
    return RawGraph(arrays["pairs"], unpack_texts(arrays["node_ids"]))


def find_limits() -> tuple[int, int]:
    """(memory in MB, CPU seconds) for reading; raises InputError for an invalid setting."""
    return read_limits({"AUDIT_READ_MB": MEMORY_MB, "AUDIT_READ_SECONDS": CPU_SECONDS})


def read_limits(usual: Mapping[str, int]) -> tuple[int, int]:
    """Values of two variables, or their defaults; raises InputError for invalid ones."""
    found = []
    for name, value in usual.items():
        text = os.environ.get(name) or str(value)
        if not text.isdecimal() or not 0 < int(text) < 1 << 31:
            raise InputError(name, "must be a whole number above 0", text, f"usual: {value}")
        found.append(int(text))
    return found[0], found[1]


def _read(
    verb: str, path: str | Path, options: Mapping[str, Any]
) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """The child's result: arrays and a JSON answer."""
    path = (Path(path) if _is_folder(path) else check_file(path)).absolute()
    memory, seconds = find_limits()
    with make_folder("read") as folder:
        request = {
            "verb": verb,
            "path": str(path),
            "options": {k: _plain(v) for k, v in options.items()},
            "folder": folder,
            "memory_mb": memory,
            "seconds": seconds,
        }
        environment = {k: os.environ[k] for k in PASSED_ON if k in os.environ}
        environment |= {"OMP_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "2", "PYTHONUTF8": "1"}
        # Arrow's own allocator sets a gigabyte aside, which would count as used.
        environment["ARROW_DEFAULT_MEMORY_POOL"] = "system"
        try:
            child = subprocess.run(
                [sys.executable, "-m", "core.data.reader_process"],
                input=json.dumps(request).encode(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                cwd=Path(core.__path__[0]).parent,
                env=environment,
                timeout=60 + 10 * seconds,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise _took_too_long(path, seconds) from None
        try:
            answer = json.loads((Path(folder) / "answer.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            answer = None
        if answer is None:
            if child.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
                raise _took_too_long(path, seconds)
            if child.returncode and b"No module named" in child.stderr:
                raise RuntimeError(child.stderr.decode("utf-8", "replace")[-2000:])
            raise ResourceError(
                f"file '{path.name}'",
                f"must be read within {memory} MB",
                remedy="load a part of it, set AUDIT_READ_MB, or number the nodes from 0 for audit "
                "to keep its links in partitions (AUDIT_MAX_LINKS)",
            )
        if "error" in answer:
            kind, *fields = answer["error"]
            raise _ERRORS.get(kind, InputError)(*fields)
        return _load_arrays(Path(folder) / "arrays.npz"), answer


def _is_folder(path: str | Path) -> bool:
    """Whether the path is a dataset folder, which the child validates."""
    try:
        return Path(path).is_dir()
    except ValueError:  # a zero byte
        return False


def _load_arrays(path: Path) -> dict[str, np.ndarray]:
    if not path.exists():
        return {}
    with np.load(path, allow_pickle=False) as stored:
        return {name: stored[name] for name in stored.files}


def _plain(value: Any) -> Any:
    if isinstance(value, Path):
        return str(value.absolute())
    if isinstance(value, Mapping):
        return dict(value)
    return list(value) if isinstance(value, tuple | set | frozenset) else value


def _took_too_long(path: Path, seconds: int) -> ResourceError:
    return ResourceError(
        f"file '{path.name}'",
        f"must be read within {seconds} CPU seconds",
        remedy="load a part of it, or set AUDIT_READ_SECONDS",
    )


_NAME = re.compile(r"audit-(?:upload|read)-(\d+)-\w+")


def make_folder(kind: str) -> tempfile.TemporaryDirectory[str]:
    """A private temporary folder, removed with the object; kind: upload or read."""
    return tempfile.TemporaryDirectory(
        prefix=f"audit-{kind}-{os.getpid()}-", ignore_cleanup_errors=True
    )


def remove_stale_folders() -> int:
    """Remove folders of this user's ended processes; returns their number."""
    count = 0
    for path in Path(tempfile.gettempdir()).glob("audit-*"):
        found = _NAME.fullmatch(path.name)
        try:
            is_mine = not path.is_symlink() and path.is_dir() and path.stat().st_uid == os.getuid()
        except OSError:
            continue
        if found and is_mine and not is_running(int(found[1])):
            shutil.rmtree(path, ignore_errors=True)
            count += 1
    return count
