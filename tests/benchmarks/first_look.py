"""Seconds that a user waits for: help, the app's first page, quick look, stored audit, PDF.

    python -m tests.benchmarks.first_look [--graphs cora,nba] [--repeats N] [--install]
    python -m tests.benchmarks.first_look --pairs N [--before CHECKOUT] [--home HOME]

Each row is one command in a process of its own, the audits in a home of their own: the first
computes everything, the others find it stored. Processor seconds are those of all its processes,
the workers' too, which are asked twenty times a second. `--install` clones this checkout, installs
it as the README says, and prints the table twice: cold, right after installation, and warm.
`--pairs` opens the first page of an empty Streamlit app, of another checkout and of this one, in
turns, and prints the median of each, of its ratio to the empty app, and of the server's processor
seconds until the page is seen; in an empty home, or in copies of one.
"""

from __future__ import annotations

import argparse
import os
import re
import resource
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from tests.benchmarks.finite import print_finite

ROOT = Path(__file__).parents[2]
PROGRESS = re.compile(r"(\d+)/\d+ parts")
"""Line of an audit's progress."""

EMPTY_APP = 'import streamlit as st\n\nst.header("Overview")\n'


@dataclass
class Timed:
    """A command's seconds, and when it first said each number of finished cells."""

    wall: float = 0.0
    cpu: float = 0.0
    cells: dict[int, float] = field(default_factory=dict)

    def find_first(self, least: int) -> float:
        """When so many cells were finished; the run ends where no line said so."""
        found = [at for count, at in self.cells.items() if count >= least]
        if not found:
            raise SystemExit(f"no progress of {least} parts was printed")
        return found[0]


def read_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@dataclass(frozen=True)
class Installation:
    """A checkout, and the Python that has its requirements."""

    root: Path = ROOT
    python: str = sys.executable


def install(folder: Path) -> Installation:
    """Clone this checkout and install its requirements."""
    root = folder / "clone"
    subprocess.run(["git", "clone", "-q", str(ROOT), str(root)], check=True)
    subprocess.run([sys.executable, "-m", "venv", str(root / ".venv")], check=True)
    python = str(root / ".venv/bin/python")
    pip = [python, "-m", "pip", "install", "-q", "-r", "requirements.txt"]
    began = time.monotonic()
    subprocess.run(pip, cwd=root, check=True)
    print(f"installed in {time.monotonic() - began:.0f} s\n")
    return Installation(root, python)


def run(*words: str, home: Path, at: Installation) -> Timed:
    """Run a command of the core to its end."""
    timed, spent, before, began = Timed(), {}, read_children(), time.monotonic()
    process = subprocess.Popen(
        [at.python, "-m", "core", *words],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        cwd=at.root,
        env={**os.environ, "AUDIT_HOME": str(home)},
    )

    def read() -> None:
        assert process.stderr is not None
        with process.stderr as lines:
            for line in lines:
                if found := PROGRESS.match(line):
                    timed.cells.setdefault(int(found[1]), time.monotonic() - began)

    reader = threading.Thread(target=read)
    reader.start()
    parent = psutil.Process(process.pid)
    while process.poll() is None:
        try:
            for child in (parent, *parent.children(recursive=True)):
                spent[child.pid] = sum(child.cpu_times()[:2])
        except psutil.Error:
            pass  # it has just ended
        time.sleep(0.05)
    timed.wall = time.monotonic() - began
    reader.join()
    if process.returncode:
        raise SystemExit(f"{words[0]} ended with {process.returncode}")
    timed.cpu = max(sum(spent.values()), read_children() - before)
    return timed


def time_first_page(home: Path, at: Installation) -> Timed:
    """From the start of the app until a browser shows its first page; the server's processor
    seconds."""
    from playwright.sync_api import sync_playwright

    # Modules are compiled once, as where nobody forbids it, and beside the checkout.
    environment = {**os.environ, "AUDIT_HOME": str(home)}
    environment["PYTHONPYCACHEPREFIX"] = str(home.parent / "compiled")
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with sync_playwright() as player:
        browser = player.chromium.launch(
            executable_path=shutil.which("chromium"),
            args=["--no-sandbox", "--disable-dev-shm-usage"],
        )
        page = browser.new_page()
        began = time.monotonic()
        server = subprocess.Popen(
            [at.python, "-m", "streamlit", "run", "app.py", "--server.port", str(port)],
            cwd=at.root,
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            while not _is_listening(port):
                time.sleep(0.05)
            page.goto(f"http://127.0.0.1:{port}")
            page.get_by_role("heading", name="Overview").wait_for(timeout=120_000)
            wall = time.monotonic() - began
            return Timed(wall, sum(psutil.Process(server.pid).cpu_times()[:2]))
        finally:
            browser.close()
            server.terminate()
            server.wait()


def compare_first_pages(folder: Path, pairs: int, before: Path | None, stored: Path | None) -> None:
    """First pages in turns beside an empty app: a row each."""
    empty = folder / "empty"
    (empty / ".streamlit").mkdir(parents=True)
    (empty / "app.py").write_text(EMPTY_APP)
    shutil.copy(ROOT / ".streamlit" / "config.toml", empty / ".streamlit")
    roots = {"empty app": empty, "before": before, "this app": ROOT}
    times: dict[str, list[Timed]] = {}
    for number in range(pairs + 1):
        for name, root in roots.items():
            if root is not None:
                home = folder / f"home-{number}-{name}"
                if stored is not None:
                    shutil.copytree(stored, home)
                timed = time_first_page(home, Installation(root))
                if number:  # the first start compiles modules
                    times.setdefault(name, []).append(timed)
    print("| first page of, medians | seconds | ratio to the empty app | CPU s of the server |")
    print("|---|---|---|---|")
    for name, found in times.items():
        ratios = [f.wall / e.wall for f, e in zip(found, times["empty app"], strict=True)]
        figures = ([f.wall for f in found], ratios, [f.cpu for f in found])
        print(f"| {name} | {' | '.join(f'{statistics.median(f):.2f}' for f in figures)} |")


def _is_listening(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def print_table(folder: Path, graphs: list[str], repeats: str, at: Installation) -> None:
    """One row a command, in homes below the folder."""
    print("| seconds until | wall | CPU |\n|---|---|---|")
    found = run("--help", home=folder, at=at)
    print(f"| help | {found.wall:.2f} | {found.cpu:.2f} |")
    if shutil.which("chromium"):
        print(f"| first page | {time_first_page(folder / 'app', at).wall:.1f} | |", flush=True)
    for graph in graphs:
        home, out = folder / graph, str(folder / f"{graph}-out")
        audit = ["audit", "--graph", graph, "--attack", "quick", "--hide-links"]
        audit += ["--repeats", repeats, "--out", out]
        found = run(*audit, home=home, at=at)
        print(f"| {graph}, quick look: plan | {found.find_first(0):.1f} | |")
        print(f"| {graph}, quick look: first result | {found.find_first(1):.1f} | |")
        print(f"| {graph}, quick look: end | {found.wall:.1f} | {found.cpu:.1f} |")
        found = run(*audit, home=home, at=at)
        print(f"| {graph}, stored audit | {found.wall:.1f} | {found.cpu:.1f} |")
        found = run(*audit, "--report", home=home, at=at)
        print(
            f"| {graph}, stored audit, with PDF | {found.wall:.1f} | {found.cpu:.1f} |", flush=True
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--graphs", default="cora")
    parser.add_argument("--repeats", default="3")
    parser.add_argument("--install", action="store_true")
    parser.add_argument("--pairs", type=int)
    parser.add_argument("--before", type=Path)
    parser.add_argument("--home", type=Path)
    options = parser.parse_args()
    if options.pairs:
        with tempfile.TemporaryDirectory(prefix="first-look-") as name:
            compare_first_pages(Path(name), options.pairs, options.before, options.home)
        return
    with tempfile.TemporaryDirectory(prefix="first-look-") as name:
        folder, graphs = Path(name), options.graphs.split(",")
        at = install(folder) if options.install else Installation()
        for state in ("cold", "warm") if options.install else ("warm",):
            print(f"\n{state}\n")
            (folder / state).mkdir()
            print_table(folder / state, graphs, options.repeats, at)


if __name__ == "__main__":
    print_finite(main)
