"""A user-supplied defense: any program that reads links and writes links."""

from __future__ import annotations

import csv
import hashlib
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import ClassVar

import numpy as np
from pydantic import Field, field_validator

import core
from core.context import Context
from core.data.sandbox import PASSED_ON, load_pairs_in_sandbox, make_folder, read_limits
from core.errors import InputError, ResourceError
from core.graph import Graph
from core.methods import Defense, MethodInfo
from core.release import COMMAND, Guarantee, Release
from core.threats import Threats

FOLDER = "_AUDIT_COMMANDS"
"""Variable naming the folder in which commands run; without it none does. Set by the command
line for a defense named there, so that the app's server runs no command."""

LIMITS = {"AUDIT_COMMAND_MB": 4096, "AUDIT_COMMAND_SECONDS": 600}
NOTE = "A command of the user made it: no guarantee of it is known or was tested."
OPEN = "Neither Landlock nor namespaces closed {resource} to the command on this machine."
_NO_MEMORY = ("memoryerror", "cannot allocate memory", "bad_alloc", "out of memory", "array with")


class Command(Defense):
    """Runs `line` with {in} and {out} replaced by two files, and reads its output.

    {in}     links as "source,target" with this header, nodes by their numbers from 0
    {out}    output links in the same form, without weights
    {nodes}  optional node table: node, id, features, and the private column as known

    AUDIT_SEED holds a seed of 31 bits, in publishing runs of 256; python is the interpreter of this
    program. Nodes and their columns are published unchanged.
    """

    info: ClassVar[MethodInfo] = MethodInfo(
        key=COMMAND,
        title="Command",
        summary="Runs a program that reads the links and writes those to be released.",
        source="Whoever wrote the program",
        group="empirical",
        cost="minutes",
    )
    whole_text: ClassVar[str] = "line"
    line: str = Field(
        max_length=1000,
        title="Command line",
        description="Program with its arguments; {in} and {out} stand for two files.",
    )
    program: str = Field(
        "", max_length=64, title="Program", description="SHA-256 of the files that the line names."
    )

    @field_validator("line")
    @classmethod
    def _check_line(cls, line: str) -> str:
        for place in ("{in}", "{out}"):
            if place not in line:
                raise ValueError(f"must name {place}, as in ./anonymise {{in}} {{out}}")
        try:
            shlex.split(line)
        except ValueError as error:
            raise ValueError(f"must be a command line: {error}") from None
        return line

    @property
    def label(self) -> str:
        return f"Command {self.line}"

    @property
    def phrase(self) -> str:
        return self.label

    def _write_title(self, shown: Collection[str]) -> str:
        return self.label

    def identify(self) -> Command:
        """The same with the hash of the files named in the line, so that a changed program is
        rerun."""
        digest = hashlib.sha256()
        for path in _list_files(self.line, Path.cwd()):
            if path.is_file():
                digest.update(path.read_bytes())
        return self.model_copy(update={"program": digest.hexdigest()})

    @property
    def reads_values(self) -> bool:
        return "{nodes}" in self.line

    def supports(self, graph: Graph, threats: Threats) -> str | None:
        if FOLDER not in os.environ:
            return "a command runs from the command line only, by workers on that machine"
        return super().supports(graph, threats)

    def publish(self, graph: Graph, threats: Threats, context: Context) -> Release:
        with make_folder("read") as name:
            folder = Path(name) / "work"
            folder.mkdir()
            places = {"in": folder / "in.csv", "out": folder / "out.csv"}
            write_rows(places["in"], ("source", "target"), graph.edges.tolist())
            if "{nodes}" in self.line:
                places["nodes"] = folder / "nodes.csv"
                _write_nodes(places["nodes"], graph, threats)
            line = [_fill(word, places) for word in shlex.split(self.line)]
            seed = _draw_seed(context)
            context.progress.update(0, 1, "running the command")
            opened = _run(self.line, line, folder, seed, context)
            links = self._read_links(places["out"], graph.num_nodes)
        note = " ".join([NOTE, *(OPEN.format(resource=resource) for resource in opened)])
        return self.build_release(graph.with_edges(links), Guarantee(is_known=False, note=note))

    def _read_links(self, path: Path, num_nodes: int) -> np.ndarray:
        """(k, 2) node numbers written by the command; raises InputError for invalid output."""
        subject = f"command '{self.line}'"
        remedy = "write 'source,target' and below it the numbers of two nodes in each line"
        if path.is_symlink() or not path.is_file():
            raise InputError(subject, "must write its links to {out}", "no file", remedy)
        try:
            raw = load_pairs_in_sandbox(path)
        except ResourceError:
            raise
        except InputError as error:
            raise InputError(subject, "must write links", str(error), remedy) from None
        for node in raw.node_ids:
            if not (node.isascii() and node.isdecimal()) or int(node) >= num_nodes:
                rule = f"must write node numbers from 0 to {num_nodes - 1}"
                raise InputError(subject, rule, node, remedy)
        numbers = np.array([int(node) for node in raw.node_ids], np.int64)
        pairs: np.ndarray = numbers[raw.pairs]
        return pairs


def _draw_seed(context: Context) -> int:
    """What AUDIT_SEED holds. Of 31 bits, whoever has the program could try all and take off the
    noise of what was published; in an audit every library takes as many."""
    rng = context.rng("command")
    if context.is_publishing:
        return int.from_bytes(rng.bytes(32), "little")
    return int(rng.integers(1 << 31))


def write_rows(path: Path, head: tuple[str, ...], rows: list[list[object]]) -> None:
    """A table as CSV."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(head)
        writer.writerows(rows)


def _write_nodes(path: Path, graph: Graph, threats: Threats) -> None:
    """Features, and the private values known to the publisher; no other attribute."""
    features, threat = graph.dense_features(), threats.attribute
    private = () if threat is None else (threat.attribute.name,)
    rows: list[list[object]] = []
    for node, name in enumerate(graph.node_ids):
        row: list[object] = [node, name, *(() if features is None else features[node].tolist())]
        if threat is not None:
            code = int(threat.observed[node])
            row.append("" if code < 0 else threat.attribute.classes[code])
        rows.append(row)
    write_rows(path, ("node", "id", *graph.feature_names, *private), rows)


def _fill(word: str, places: dict[str, Path]) -> str:
    for name, path in places.items():
        word = word.replace(f"{{{name}}}", str(path))
    return word


def _list_files(line: str, folder: Path) -> Iterator[Path]:
    """Readable paths of the command: the program, its installation if found on the PATH, and
    other files or folders among the arguments."""
    first, *words = shlex.split(line)
    found = shutil.which(first, path=None if os.sep not in first else str(folder))
    if os.sep not in first and found is not None:
        for path in (Path(found), Path(found).resolve()):
            yield path
            if path.parent.name == "bin" and path.parent.parent != Path("/"):
                yield path.parent.parent
    for word in (first, *words):
        path = folder / word
        if "{" not in word and path.exists():
            yield path.resolve()


def _run(text: str, line: list[str], folder: Path, seed: int, context: Context) -> list[str]:
    """Wait for the command within its limits; returns the restrictions that could not be applied.

    Raises InputError or ResourceError on one line if it fails or exceeds a limit.
    """
    memory, seconds = read_limits(LIMITS)
    subject, base = f"command '{text}'", Path(os.environ[FOLDER])
    readable = [str(path) for path in _list_files(text, base)]
    program = line[0] if os.sep not in line[0] else str(base / line[0])
    program = sys.executable if program in ("python", "python3") else program
    environment = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    environment |= {"AUDIT_SEED": str(seed), "HOME": str(folder), "TMPDIR": str(folder)}
    start = [sys.executable, "-m", "core.data.command_process", str(memory), str(seconds)]
    # Outside the folder that the command may write to.
    stdout_path, stderr_path = folder.parent / "stdout", folder.parent / "stderr"
    with stdout_path.open("wb") as stdout, stderr_path.open("wb") as stderr:
        child = subprocess.Popen(
            [*start, str(base), str(folder), *readable, "--", program, *line[1:]],
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            cwd=Path(core.__path__[0]).parent,
            env=environment,
            start_new_session=True,
        )
        try:
            code = _wait(child, seconds, subject, context)
        finally:
            if child.poll() is None:
                os.killpg(child.pid, signal.SIGKILL)
                child.wait()
    if code:
        last_line = _read_last_line(stderr_path)
        if any(words in last_line.lower() for words in _NO_MEMORY) or code == 128 + signal.SIGKILL:
            remedy = "use less, or set AUDIT_COMMAND_MB"
            raise ResourceError(
                subject, f"must run within {memory} MB", last_line or "killed", remedy
            )
        found = f"status {code}" + (f": {last_line}" if last_line else "")
        raise InputError(subject, "must end with status 0", found, "run it by hand on a small file")
    closed = stdout_path.read_text(encoding="utf-8")
    return [name for name in ("files", "network") if f"{name}=1" not in closed]


def _wait(child: subprocess.Popen[bytes], seconds: int, subject: str, context: Context) -> int:
    """Exit status, 128 plus its number for a signal; ResourceError on time-out. Cancelling ends
    the wait."""
    end = time.monotonic() + seconds
    while True:
        try:
            code = child.wait(0.1)
            return code if code >= 0 else 128 - code
        except subprocess.TimeoutExpired:
            context.progress.check()
        if time.monotonic() > end:
            remedy = "make it faster, or set AUDIT_COMMAND_SECONDS"
            raise ResourceError(subject, f"must end within {seconds} s", "still running", remedy)


def _read_last_line(path: Path) -> str:
    """Last line written by a command, printable, at most 200 characters."""
    with path.open("rb") as file:
        file.seek(max(path.stat().st_size - 4096, 0))
        lines = file.read().decode("utf-8", "replace").split("\n")
    written = [line.strip() for line in lines if line.strip()]
    return "".join(c for c in written[-1] if c.isprintable())[:200] if written else ""
