"""Readers of files for tests: each a process of its own, forked from one that has imported pandas.

A reader takes a second of a processor to import what it needs, and most tests of commands read a
file or two. Tests of the reading process itself, in `tests/data`, start it as users do.
"""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any


class ReaderServer:
    """Stands for the module `subprocess` where `core.data.sandbox` runs a reader."""

    DEVNULL, PIPE, TimeoutExpired = (subprocess.DEVNULL, subprocess.PIPE, subprocess.TimeoutExpired)

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.reader_server"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=Path(__file__).parents[1],
            text=True,
        )

    def run(self, *_: Any, input: bytes, env: dict[str, str], **__: Any) -> SimpleNamespace:
        """Exit code of a reader that answered this request."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps([input.decode(), env]) + "\n")
        self._process.stdin.flush()
        return SimpleNamespace(returncode=int(self._process.stdout.readline()), stderr=b"")

    def close(self) -> None:
        self._process.communicate()


def main() -> None:
    """Fork a reader for each line on standard input, and print its exit code."""
    from core.data import reader_process

    with tempfile.TemporaryDirectory() as folder:  # what reading imports late
        links, nodes = Path(folder, "links.csv"), Path(folder, "nodes.csv")
        links.write_text("source,target,weight\na,b,1\nb,c,2\n")
        nodes.write_text("id,age,city\na,1,x\nb,2,y\nc,,z\n")
        for verb in ("layout", "preview"):
            reader_process._VERBS[verb](links, Path(folder), {})
        reader_process._VERBS["graph"](links, Path(folder), {"nodes_path": str(nodes)})

    for line in sys.stdin:
        request, env = json.loads(line)
        child = os.fork()
        if not child:
            os.environ.clear()
            os.environ.update(env)
            sys.stdin = io.StringIO(request)
            try:
                reader_process.main()
            finally:
                os._exit(0)  # what went wrong stands in no answer, as after any crash
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
