"""Expected processor seconds of a cell from the size of its graph, and this machine's speed.

`costs.toml` holds what one script fitted on one machine (`python -m tests.benchmarks.costs`): of
each method the seconds s of the smallest graphs and how they grow with nodes, links and values in
columns, s · (1 + n/100)^a · (1 + m/1,000)^b · (1 + v/10,000)^c. A short probe, whose seconds there
are in the same file, tells how fast another machine is.
"""

from __future__ import annotations

import json
import platform
import threading
import time
import tomllib
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from core.graph import Graph
from core.home import open_private

TABLE = Path(__file__).with_name("costs.toml")
UNITS = (100, 1_000, 10_000)
"""Nodes, links and values up to which a size hardly matters."""

PROBES = 9
"""Runs of each part of the probe, of which the fastest counts."""

_lock = threading.Lock()


class Shape(NamedTuple):
    """Nodes, links, and stored values in the columns of a graph."""

    nodes: float
    links: float
    values: float = 0

    @staticmethod
    def of(graph: Graph) -> Shape:
        """The shape of a graph."""
        x: Any = graph.features
        count = 0 if x is None else x.nnz if sparse.issparse(x) else x.size
        return Shape(graph.num_nodes, graph.num_edges, int(count))


@cache
def load_costs(path: Path = TABLE) -> dict[str, Any]:
    """The table: "cost" has four coefficients by kind and name, "probe" the recorder's seconds."""
    return tomllib.loads(path.read_text(encoding="utf-8"))


def find_cost(kind: str, name: str, shape: Shape) -> float | None:
    """Seconds of a cell on the machine of the table; None for a method that was not recorded.

    What is not recorded with its knowledge counts as with less: it runs the same, more often.
    """
    known, method = load_costs()["cost"].get(kind, {}), name.partition("@")[0]
    names = [name, name.partition("+")[0], method]
    names += [each for each in known if each.startswith(f"{method}@")]
    found = next((known[each] for each in names if each in known), None)
    if found is None:
        return None
    return float(found[0] * np.prod((1 + np.divide(shape, UNITS)) ** found[1:]))


def find_speed(home: Path) -> float:
    """Seconds on this machine for each one of the table's, measured once and kept in the home.

    A home that several machines share keeps one for each.
    """
    path, host = home / "machine.json", platform.node()
    with _lock:
        known: dict[str, float] = {}
        with suppress(OSError, ValueError):
            known = json.loads(path.read_text(encoding="utf-8"))
        if host not in known:
            known[host] = round(measure_speed(), 3)
            with open_private(path, "w") as file:
                json.dump(known, file)
        return float(known[host])


@cache
def measure_speed() -> float:
    """Seconds of the probe here over those of the table: the geometric mean over its parts."""
    ratios = np.divide(time_probe(), load_costs()["probe"])
    return float(np.exp(np.log(ratios).mean()))


def time_probe() -> list[float]:
    """Processor seconds of a loop of Python, of small matrix products, of a sparse product and of
    sorting, which threads of others do not count to; a third of a second in all."""
    rng = np.random.default_rng(0)
    ends = rng.integers(0, 5_000, (2, 50_000))
    links = sparse.csr_array((np.ones(50_000, np.float32), tuple(ends)), shape=(5_000, 5_000))
    columns, block = rng.random((5_000, 32), np.float32), rng.random((64, 64), np.float32)
    numbers = rng.random(200_000)

    def count() -> object:
        seen: dict[int, int] = {}
        for number in range(100_000):
            seen[number % 977] = seen.get(number % 977, 0) + 1
        return seen

    parts: list[Callable[[], object]] = [
        count,
        lambda: [block @ block for _ in range(400)],
        lambda: [links @ columns for _ in range(5)],
        lambda: np.sort(numbers),
    ]
    return [min(map(_time, [part] * PROBES)) for part in parts]


def _time(part: Callable[[], object]) -> float:
    began = time.thread_time()
    part()
    return time.thread_time() - began
