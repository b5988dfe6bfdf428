"""Plants one bug at a time in a scratch copy and reports whether the named tests notice.

    python -m tests.mutations [--only WORDS] [--from N] [--workers N] [--list]

The bugs stand in `tests/mutations.toml`: what goes wrong, the function it is planted in
(`module:qualified.name`, or the module alone), the code to find there, what takes its place, and
the tests that must fail. Code is compared token by token, so that line breaks, indentation and
comments do not matter; `$x` stands for any one name, the same one wherever it is used.
Prints killed, survived or stale for each; exit code 1 unless all were killed.
"""

from __future__ import annotations

import argparse
import ast
import compileall
import io
import multiprocessing
import os
import py_compile
import queue
import re
import shutil
import sys
import tempfile
import tokenize
import tomllib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
COPIED = ("core", "pages", "app.py", "tests", "assets", ".streamlit", "pyproject.toml")
LIMIT_S = 300
RAN = 100
"""Added to pytest's exit codes: 1 is that of a process that an exception ends, too."""
FORKS = multiprocessing.get_context("forkserver")
LIBRARIES = (
    *("pytest", "numpy", "scipy.sparse.csgraph", "scipy.stats", "pandas", "pyarrow"),
    *("pydantic", "sqlalchemy.orm", "numba", "networkx", "sklearn.linear_model", "distributed"),
    *("plotly.graph_objects", "streamlit.testing.v1", "matplotlib.figure", "torch"),
)
"""Imported once: each bug's tests run in a fork of a process that has them."""

_LAYOUT = (
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.COMMENT,
    tokenize.ENDMARKER,
)


@dataclass(frozen=True)
class Mutation:
    """A bug as the list has it; see the module's docstring for the fields."""

    bug: str
    where: str
    find: str
    replace: str
    tests: str

    @property
    def file(self) -> str:
        return self.where.partition(":")[0].replace(".", "/") + ".py"

    def plant(self, text: str) -> str:
        """The module's text with the bug in it; ValueError unless the code is there once."""
        first, last = _find_lines(text, self.where.partition(":")[2])
        tokens = [t for t in _tokenize(text) if first <= t.start[0] and t.end[0] <= last]
        pattern = [t.string for t in _tokenize(self.find.replace("$", "_ANY_"))]
        found = [
            (start, names)
            for start in range(len(tokens) - len(pattern) + 1)
            if (names := _match(tokens[start : start + len(pattern)], pattern)) is not None
        ]
        if len(found) != 1:
            raise ValueError(f"{len(found)} places in {self.where} read '{self.find}'")
        start, names = found[0]
        new = re.sub(r"\$(\w+)", lambda name: names[name[1]], self.replace)
        begin = _offset(text, tokens[start].start)
        end = _offset(text, tokens[start + len(pattern) - 1].end)
        column = tokens[start].start[1]
        return text[:begin] + new.replace("\n", "\n" + " " * column) + text[end:]


def load_mutations() -> list[Mutation]:
    """The list of planted bugs."""
    content = tomllib.loads((ROOT / "tests/mutations.toml").read_text(encoding="utf-8"))
    return [Mutation(**entry) for entry in content["mutation"]]


def run_mutation(mutation: Mutation, scratch: Path) -> str:
    """Plant the bug, run its tests, take it out again: killed, survived or stale."""
    path = scratch / mutation.file
    text = path.read_text(encoding="utf-8")
    try:
        path.write_text(mutation.plant(text), encoding="utf-8")
    except ValueError:
        return "stale"
    process = FORKS.Process(target=_run_tests, args=(mutation.tests.split(), scratch))
    try:
        process.start()
        process.join(LIMIT_S)
        if process.exitcode is None:
            process.kill()
            return f"killed after {LIMIT_S} s"
    finally:
        path.write_text(text, encoding="utf-8")
    # Other codes mean that no test ran, such as a selection without tests or of skipped ones.
    return {RAN: "survived", RAN + 1: "killed"}.get(process.exitcode, f"error {process.exitcode}")


def _run_tests(tests: list[str], scratch: Path) -> None:
    """In a process of its own, which knows libraries and none of the project's modules."""
    for name in [n for n in sys.modules if n.partition(".")[0] in ("core", "pages", "tests")]:
        del sys.modules[name]
    os.chdir(scratch)
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    sys.path[:] = [str(scratch), *(p for p in sys.path if Path(p).resolve() != ROOT)]
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in range(3):
        os.dup2(nothing, number)
    passed: list[str] = []

    class Count:
        def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
            if report.when == "call" and report.passed:
                passed.append(report.nodeid)

    # Plugins that a library has imported are not rewritten, and pytest warns of it.
    options = [
        "-q",
        "-x",
        "-p",
        "no:cacheprovider",
        "-W",
        "ignore::pytest.PytestAssertRewriteWarning",
    ]
    code = pytest.main([*options, *tests], plugins=[Count()])
    sys.exit(RAN + (code or (0 if passed else pytest.ExitCode.NO_TESTS_COLLECTED)))


def main() -> int:
    """Run all entries, or those whose description holds the given words."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--only", default="", metavar="WORDS", help="part of a description")
    parser.add_argument("--workers", type=int, default=1, metavar="N", help="at a time (1)")
    parser.add_argument(
        "--from", dest="first", type=int, default=0, metavar="N", help="leave N out"
    )
    parser.add_argument("--list", action="store_true", help="only print the entries")
    options = parser.parse_args()
    # As tests have it, and before the libraries that read it are there: threads of two processes
    # wait for each other on the same cores.
    os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    FORKS.set_forkserver_preload([*LIBRARIES])
    chosen = [m for m in load_mutations() if options.only in f"{m.bug} {m.where}"][options.first :]
    if options.list:
        print(*(f"{mutation.where}: {mutation.bug}" for mutation in chosen), sep="\n")
        return 0
    outcomes, free = [], queue.SimpleQueue[Path]()

    def run(mutation: Mutation) -> str:
        scratch = free.get()
        try:
            return run_mutation(mutation, scratch)
        finally:
            free.put(scratch)

    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(options.workers) as threads:
        if (shared := ROOT.parent / "shared").is_dir():  # beside the copies as beside the project
            (Path(folder) / "shared").symlink_to(shared)
        for number in range(options.workers):
            free.put(_copy(Path(folder) / str(number), is_compiled=len(chosen) > 1))
        for mutation, outcome in zip(chosen, threads.map(run, chosen), strict=True):
            outcomes.append(outcome)
            print(f"{outcome:9} {mutation.where}: {mutation.bug}", flush=True)
    killed = sum(outcome.startswith("killed") for outcome in outcomes)
    print(f"{killed} of {len(outcomes)} killed")
    return 0 if killed == len(outcomes) else 1


@lru_cache(maxsize=512)
def _tokenize(text: str) -> tuple[tokenize.TokenInfo, ...]:
    """Tokens without layout and without commas before a closing bracket."""
    readable = io.StringIO(text).readline
    tokens: list[tokenize.TokenInfo] = []
    try:
        for token in tokenize.generate_tokens(readable):
            if token.type in _LAYOUT:
                continue
            if token.string in (")", "]", "}") and tokens and tokens[-1].string == ",":
                tokens.pop()
            tokens.append(token)
    except tokenize.TokenError:  # a fragment may leave a bracket open
        pass
    return tuple(tokens)


@lru_cache(maxsize=512)
def _parse(text: str) -> ast.Module:
    return ast.parse(text)


def _find_lines(text: str, name: str) -> tuple[int, int]:
    """First and last line of a function or class, such as `Store.save`; of all without a name."""
    node: ast.AST = _parse(text)
    for part in filter(None, name.split(".")):
        inner = [n for n in ast.walk(node) if getattr(n, "name", None) == part and n is not node]
        if not inner:
            raise ValueError(f"there is no '{name}'")
        node = inner[0]
    if isinstance(node, ast.Module):
        return 1, text.count("\n") + 1
    assert isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
    return node.lineno, node.end_lineno or node.lineno


def _match(tokens: Sequence[tokenize.TokenInfo], pattern: list[str]) -> dict[str, str] | None:
    """The names that `$x` stood for, or None where the code is another."""
    names: dict[str, str] = {}
    for token, wanted in zip(tokens, pattern, strict=True):
        if wanted.startswith("_ANY_"):
            if token.type != tokenize.NAME:
                return None
            if names.setdefault(wanted.removeprefix("_ANY_"), token.string) != token.string:
                return None
        elif token.string != wanted:
            return None
    return names


def _offset(text: str, place: tuple[int, int]) -> int:
    lines = text.splitlines(keepends=True)
    return sum(map(len, lines[: place[0] - 1])) + place[1]


def _copy(folder: Path, is_compiled: bool) -> Path:
    """A scratch copy. Compiled modules are known by a hash of their text: a bug may be planted and
    taken out within the second that times of files tell apart."""
    folder.mkdir()
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            ignored = shutil.ignore_patterns("__pycache__", "screenshots")
            shutil.copytree(source, folder / name, ignore=ignored)
        else:
            shutil.copy(source, folder / name)
    if is_compiled:
        mode = py_compile.PycInvalidationMode.CHECKED_HASH
        for name in ("core", "pages"):
            compileall.compile_dir(folder / name, quiet=1, invalidation_mode=mode)
    return folder


if __name__ == "__main__":
    sys.exit(main())
