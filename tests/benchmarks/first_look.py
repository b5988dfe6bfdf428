"""Seconds that a user waits for at the command line: help, first result, quick look, stored audit.

    python -m tests.benchmarks.first_look [--graph NAME] [--repeats N]

Each row is one command in a process of its own, the audits in a home of their own: the first
computes everything, the others find it stored. Processor seconds are those of all its processes,
the workers' too, which are asked twenty times a second.
"""

from __future__ import annotations

import argparse
import os
import re
import resource
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

import psutil

ROOT = Path(__file__).parents[2]


@dataclass
class Timed:
    """A command's seconds, and when it first said each number of finished cells."""

    wall: float = 0.0
    cpu: float = 0.0
    cells: dict[int, float] = field(default_factory=dict)

    def find_first(self, least: int) -> float:
        """When so many cells were finished."""
        return next((at for count, at in self.cells.items() if count >= least), float("nan"))


def read_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run(*words: str, home: Path) -> Timed:
    """Run a command of the core to its end."""
    timed, spent, before, began = Timed(), {}, read_children(), time.monotonic()
    process = subprocess.Popen(
        [sys.executable, "-m", "core", *words],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env={**os.environ, "AUDIT_HOME": str(home)},
    )

    def read() -> None:
        assert process.stderr is not None
        with process.stderr as lines:
            for line in lines:
                if found := re.match(r"(\d+)/\d+ cells", line):
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--graph", default="cora")
    parser.add_argument("--repeats", default="3")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="first-look-") as name:
        folder = Path(name)
        home, out = folder / "home", str(folder / "out")
        audit = ["audit", "--graph", options.graph, "--attack", "quick"]
        audit += ["--repeats", options.repeats, "--out", out]
        print("| seconds until | wall | CPU |\n|---|---|---|")
        found = run("--help", home=home)
        print(f"| help | {found.wall:.2f} | {found.cpu:.2f} |")
        found = run(*audit, home=home)
        print(f"| quick look: plan | {found.find_first(0):.1f} | |")
        print(f"| quick look: first result | {found.find_first(1):.1f} | |")
        print(f"| quick look: end | {found.wall:.1f} | {found.cpu:.1f} |")
        found = run(*audit, home=home)
        print(f"| stored audit | {found.wall:.1f} | {found.cpu:.1f} |")
        found = run(*audit, "--report", home=home)
        print(f"| stored audit, with PDF | {found.wall:.1f} | {found.cpu:.1f} |")


if __name__ == "__main__":
    main()
