"""A heavy-tailed graph as an edge list, and what loading, profiling and auditing it costs.

    python -m tests.benchmarks.million FILE [--nodes 1000000] [--links 10000000] [--seed 0]
        [--likeness 0.5]
    python -m tests.benchmarks.million FILE --measure
    python -m tests.benchmarks.million FILE --audit [--more ATTACK,…] [--home FOLDER]

Links are drawn with both ends in proportion to weights of a power law (Chung, Lu, PNAS 2002:
expected degrees given), degrees falling as d^−2.5 and no larger than the square root of the sum.
`--likeness` is the share of links that stay inside a community, and FILE's node table, beside it,
gives each node the class of its community.
`--measure` loads FILE, profiles the graph and prints CPU seconds and the peak of memory.
`--audit` runs a whole audit by the command line, one repeat: label propagation, the neighbour
scores and attacks given by `--more`, random deletion, all measures; prints the seconds of each
cell, and over all processes the CPU seconds and the peak of memory, beside their goals. What the
pages of its home cost then: `page_switch`.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from tests.benchmarks.finite import print_finite

EXPONENT = 2.5

CLASSES = np.array(list("AAAABBBCCD"))
"""Class of each community; a node's community is its number's last digit."""

GOAL_CPU_S, GOAL_MB = 250, 4_000
"""Of a whole audit without learned attacks, all processes together."""

ATTACKS = (
    "label_propagation",
    "common_neighbors",
    "adamic_adar",
    "resource_allocation",
    "jaccard",
    "preferential_attachment",
)


def draw_links(num_nodes: int, num_links: int, seed: int = 0, likeness: float = 0.0) -> np.ndarray:
    """(num_links, 2) int64 distinct links i < j in random order, ends in random order.

    likeness  share of the links whose second end is moved to the community of the first
    """
    rng = np.random.default_rng(seed)
    weights = (np.arange(num_nodes) + 10.0) ** (-1 / (EXPONENT - 1))
    # An expected degree above √(2m) would ask for links that are there already.
    share = weights / weights.sum()
    share = np.minimum(share, (2 * num_links) ** -0.5)
    places = np.cumsum(share / share.sum())
    codes = np.zeros(0, np.int64)
    while len(codes) < num_links:
        wanted = int((num_links - len(codes)) * 1.2) + 1000
        ends = np.searchsorted(places, rng.random((wanted, 2))).clip(max=num_nodes - 1)
        if likeness:
            first, second = ends.T
            moved = second - second % len(CLASSES) + first % len(CLASSES)
            is_moved = (rng.random(wanted) < likeness) & (moved < num_nodes)
            ends[:, 1] = np.where(is_moved, moved, second)
        ends = ends[ends[:, 0] != ends[:, 1]]
        drawn = ends.min(axis=1) * num_nodes + ends.max(axis=1)
        codes = np.unique(np.concatenate([codes, drawn]))
    codes = rng.permutation(codes)[:num_links]
    links = np.stack([codes // num_nodes, codes % num_nodes], axis=1)
    return rng.permuted(links, axis=1)


def write_links(path: Path, links: np.ndarray) -> None:
    import pyarrow as pa
    from pyarrow import csv

    table = pa.table({"source": links[:, 0], "target": links[:, 1]})
    csv.write_csv(table, path)


def write_nodes(path: Path, num_nodes: int) -> None:
    """The node table: id and class."""
    import pyarrow as pa
    from pyarrow import csv

    nodes = np.arange(num_nodes)
    table = pa.table({"id": nodes, "class": CLASSES[nodes % len(CLASSES)]})
    csv.write_csv(table, path)


def find_node_table(path: Path) -> Path:
    return path.with_name(f"{path.stem}-nodes.csv")


def measure(path: Path) -> None:
    from core.data.profile import compute_profile
    from core.data.readers import load_graph

    start = time.process_time()
    loaded = load_graph(path)
    read = time.process_time()
    profile = compute_profile(loaded.graph, loaded.report)
    end = time.process_time()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{profile.num_nodes:,} nodes, {profile.num_edges:,} links")
    print(f"load {read - start:.1f} CPU s, profile {end - read:.1f} CPU s, peak {peak:,.0f} MB")
    print(f"hash {loaded.graph.content_hash[:16]}, triangles {profile.counts.num_triangles:,}")


def audit(path: Path, home: Path, more: list[str]) -> None:
    """The whole audit, by the command line in a home of its own."""
    given = ["--graph", path, "--nodes", find_node_table(path), "--id", "id"]
    chosen = ["--private", "class", "--hide-links", "--defense", "random_deletion"]
    attacks = [option for key in (*ATTACKS, *more) for option in ("--attack", key)]
    ending = ["--repeats", "1", "--out", str(home / "out")]
    process = subprocess.Popen(
        [sys.executable, "-m", "core", "audit", *map(str, given), *chosen, *attacks, *ending],
        env={**os.environ, "AUDIT_HOME": str(home)},
        stderr=subprocess.DEVNULL,
    )
    start = time.monotonic()
    spent, held = watch(process)
    print(f"ended with {process.returncode} after {time.monotonic() - start:.0f} s", flush=True)
    print_cells(home)
    for what, value, goal in (
        ("CPU seconds", sum(spent.values()), GOAL_CPU_S),
        ("MB of all processes together", sum(held) / 1e6, GOAL_MB),
    ):
        print(f"{what} {value:,.0f}, goal {goal:,}: {'missed' if value > goal else 'met'}")
    print(
        f"CPU seconds {sum(spent.values()):.0f}: the command {spent.pop(process.pid):.0f}, ", end=""
    )
    print("its processes " + ", ".join(f"{value:.0f}" for value in sorted(spent.values())[::-1]))
    parts = ", ".join(f"{value / 2**20:,.0f}" for value in held)
    print(f"peak of all processes together {sum(held) / 2**20:,.0f} MB: {parts}")


def watch(process: subprocess.Popen[bytes]) -> tuple[dict[int, float], list[int]]:
    """CPU seconds by process, and what each held when all together held most, the command first.

    Bytes of memory; a page that k processes share counts a k-th in each.
    """
    import psutil

    from tests.benchmarks.audit_speed import count_memory

    root = psutil.Process(process.pid)
    spent: dict[int, float] = {process.pid: 0.0}
    most: list[int] = []
    while process.poll() is None:
        held = []
        try:
            family = [root, *root.children(recursive=True)]
        except psutil.Error:
            family = []
        for member in family:
            try:
                spent[member.pid] = sum(member.cpu_times()[:2])
                held.append(count_memory([member]))
            except psutil.Error:
                continue
        most = max(most, held, key=sum)
        time.sleep(0.25)
    return spent, most


def print_cells(home: Path) -> None:
    """What each cell took of its worker, longest first."""
    from core.audit.store.database import Store

    store = Store(home)
    for row in store.list_audits():
        cells = store.list_cells(row.id)
        for cell in sorted(cells, key=lambda cell: -cell.seconds):
            what = f"{cell.kind} {cell.method} on {cell.release}"
            print(f"{cell.seconds:8.1f} s  {what}: {cell.state} {cell.reason or cell.note}")
        print(f"{sum(cell.seconds for cell in cells):8.1f} s  all cells")
    store.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--nodes", type=int, default=1_000_000)
    parser.add_argument("--links", type=int, default=10_000_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--likeness", type=float, default=0.0)
    parser.add_argument("--measure", action="store_true")
    parser.add_argument("--audit", action="store_true")
    parser.add_argument("--more", type=lambda text: text.split(","), default=[])
    parser.add_argument("--home", type=Path, help="kept; a temporary one without")
    options = parser.parse_args()
    if options.measure:
        measure(options.file)
    elif options.audit and options.home:
        audit(options.file, options.home, options.more)
    elif options.audit:
        with tempfile.TemporaryDirectory() as home:
            audit(options.file, Path(home), options.more)
    else:
        links = draw_links(options.nodes, options.links, options.seed, options.likeness)
        write_links(options.file, links)
        write_nodes(find_node_table(options.file), options.nodes)
        print(f"{options.nodes:,} nodes, {len(links):,} links written")


if __name__ == "__main__":
    print_finite(main)
