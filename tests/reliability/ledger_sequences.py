"""Sequences of publishing runs, drawn at random, against a plain list that is kept beside them.

    python -m tests.reliability.ledger_sequences [--count N] [--seed N] [--database postgresql]

Whole graphs in another order, under new names or lightly edited, pieces of any size under ids
spelled otherwise, (ε, δ) of all units, with and without a budget, up to eight at once. Prints what
was tried; exit code 1 if a budget was exceeded, a run was missed or one refused in vain.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from core.audit.store.database import Store
from core.audit.store.ledger import enter_release, list_entries
from core.errors import InputError
from core.graph import Graph
from core.privacy.guarantees import EDGE, LINK_ONCE, LINK_TWICE, NODE
from core.privacy.ledger import Budget, compute_totals
from core.release import EMPIRICAL, Guarantee, Release

KINDS = {"edge": EDGE, "reported once": LINK_ONCE, "reported twice": LINK_TWICE, "node": NODE}
SHARES = {"edge": 0.3, "reported once": 0.2, "reported twice": 0.15, "node": 0.3, "none": 0.05}
NUM_GRAPHS, NUM_NODES, NUM_LINKS = 3, 400, 1000
SMALLEST_PIECE = 12
NUM_STEPS, AT_ONCE = 6, 8


class Run(NamedTuple):
    """One publishing run; kind "none" has no guarantee. Sums of ε and δ are exact."""

    kind: str
    epsilon: float
    delta: float

    def make_guarantee(self) -> Guarantee:
        if self.kind == "none":
            return EMPIRICAL
        return KINDS[self.kind].make_guarantee(self.epsilon, delta=self.delta)


@dataclass
class Counts:
    """What happened. missed: entered and not found by its graph, or summed wrongly; vain: refused
    within its budget."""

    runs: int = 0
    pieces: int = 0
    entered: int = 0
    refused: int = 0
    exceeded: int = 0
    missed: int = 0
    vain: int = 0


def sum_by_hand(kept: list[Run]) -> dict[str, tuple[float, float]]:
    """(ε, δ) known of one link and of one node; a link that both ends report costs twice."""
    cost = {run: 2 if run.kind == "reported twice" else 1 for run in kept}
    links = [(cost[run] * run.epsilon, cost[run] * run.delta) for run in kept]
    nodes = [(run.epsilon, run.delta) for run in kept if run.kind == "node"]
    return {
        unit: (sum(epsilon for epsilon, _ in found), sum(delta for _, delta in found))
        for unit, found in (("edge", links), ("node", nodes))
    }


def fits(kept: list[Run], run: Run, budget: Budget | None, num_nodes: int) -> bool:
    """Whether a run may be entered after those that are kept."""
    if budget is None:
        return True
    after, limit = sum_by_hand([*kept, run]), budget.delta or 1 / num_nodes
    counted = ["edge", "node"] if run.kind == "node" else ["edge"]
    bounded = {"node"} if run.kind == "node" else KINDS.keys()
    is_bounded = all(kind in bounded for kind, *_ in [*kept, run])
    return is_bounded and all(
        after[unit][0] <= budget.epsilon and after[unit][1] <= limit for unit in counted
    )


def draw_graphs(rng: np.random.Generator, name: str) -> list[Graph]:
    pairs = rng.integers(0, NUM_NODES, (NUM_GRAPHS, NUM_LINKS, 2))
    names = [tuple(f"{name}g{k}n{node}" for node in range(NUM_NODES)) for k in range(NUM_GRAPHS)]
    return [Graph.from_pairs(pairs[k], node_ids=names[k]) for k in range(NUM_GRAPHS)]


def draw_piece(graph: Graph, rng: np.random.Generator) -> Graph:
    """Some of the nodes, of every size alike, with most of their links."""
    size = round(np.exp(rng.uniform(np.log(SMALLEST_PIECE), np.log(graph.num_nodes))))
    piece = graph.subgraph(rng.permutation(graph.num_nodes)[:size])
    if rng.random() < 0.5:
        ids = tuple(f" {node.upper()}" for node in piece.node_ids)
        piece = replace(piece, node_ids=ids)
    return piece.with_edges(piece.edges[rng.random(piece.num_edges) < 0.95])


def disguise(graph: Graph, rng: np.random.Generator) -> Graph:
    """The same data in another order, with other names, or lightly edited; or all of these."""
    if rng.random() < 0.5:
        graph = graph.subgraph(rng.permutation(graph.num_nodes))
    if rng.random() < 0.3:
        graph = graph.with_edges(graph.edges[rng.permutation(graph.num_edges)[1:]])
    if rng.random() < 0.3:
        more = rng.integers(0, graph.num_nodes, (1, 2))
        graph = graph.with_edges(np.concatenate([graph.edges, more]))
    if rng.random() < 0.3:
        ids = tuple(f"{rng.integers(1 << 60):x}" for _ in graph.node_ids)
        graph = replace(graph, node_ids=ids)
    return graph


def draw_run(rng: np.random.Generator) -> Run:
    kind = str(rng.choice(list(SHARES), p=list(SHARES.values())))
    delta = float(rng.integers(1, 9)) / 2**15 if rng.random() < 0.5 else 0.0
    run = Run(kind, float(rng.integers(1, 20)) / 8, delta)
    return Run(kind, 0.0, 0.0) if kind == "none" else run


def draw_budget(rng: np.random.Generator) -> Budget | None:
    if rng.random() < 0.2:
        return None
    delta = 2.0 ** -int(rng.integers(9, 12)) if rng.random() < 0.5 else None
    return Budget(float(rng.integers(4, 60)), delta)


def run_sequence(store: Store, seed: int) -> Counts:
    """One sequence on graphs that no other one has."""
    rng, counts = np.random.default_rng(seed), Counts()
    graphs = draw_graphs(rng, f"s{seed}")
    lists: list[list[Run]] = [[] for _ in graphs]

    def enter(graph: Graph, name: str, run: Run, budget: Budget | None) -> bool:
        release = Release(graph, "edge_rand", guarantee=run.make_guarantee())
        try:
            enter_release(store, graph, f"{seed}-{name}", "2026", release, budget)
        except InputError:
            return False
        return True

    for place, graph in enumerate(graphs):  # what pieces are pieces of
        lists[place].append(Run("node", 0.125, 0.0))
        assert enter(graph, f"whole-{place}", lists[place][0], None)
    for step in range(NUM_STEPS):
        place = int(rng.integers(NUM_GRAPHS))
        kept, budget = lists[place], draw_budget(rng)
        runs = [draw_run(rng) for _ in range(AT_ONCE if rng.random() < 0.3 else 1)]
        is_piece = rng.random(len(runs)) < 0.5
        variants = [(draw_piece if part else disguise)(graphs[place], rng) for part in is_piece]
        with ThreadPoolExecutor(len(runs)) as threads:
            asked = [
                threads.submit(enter, variant, f"{step}-{number}", run, budget)
                for number, (variant, run) in enumerate(zip(variants, runs, strict=True))
            ]
            entered = [future.result() for future in asked]
        tried = list(zip(runs, variants, entered, strict=True))
        before = list(kept)
        kept += [run for run, _, was_entered in tried if was_entered]
        counts.runs += len(runs)
        counts.pieces += int(is_piece.sum())
        counts.entered += sum(entered)
        counts.refused += len(runs) - sum(entered)
        counts.exceeded += is_exceeded(before, tried, budget)
        # what was refused beside others must not fit after all of them either
        counts.vain += sum(
            fits(kept, run, budget, variant.num_nodes)
            for run, variant, was_entered in tried
            if not was_entered
        )
    counts.missed = sum(map(count_missed, [store] * NUM_GRAPHS, graphs, lists))
    return counts


def is_exceeded(
    before: list[Run], tried: list[tuple[Run, Graph, bool]], budget: Budget | None
) -> bool:
    """Whether runs that were entered, in any order, took a sum above their budget."""
    entered = [(run, graph.num_nodes) for run, graph, was_entered in tried if was_entered]
    if budget is None or not entered:
        return False
    last = (
        fits([*before, *(run for run, _ in entered[:k] + entered[k + 1 :])], run, budget, nodes)
        for k, (run, nodes) in enumerate(entered)
    )
    return not any(last)


def count_missed(store: Store, graph: Graph, kept: list[Run]) -> int:
    """Runs that the graph's ledger lacks, or 1 if its sums are not those of the list."""
    entries, sums = list_entries(store, graph), sum_by_hand(kept)
    totals = {total.unit: (total.epsilon, total.delta) for total in compute_totals(entries)}
    return len(kept) - len(entries) or int(totals != sums)


def run_sequences(seeds: range, server: str | None = None) -> Counts:
    """Sequences in a new database each: SQLite's, or one on the PostgreSQL at this URL."""
    from tests.postgres import create_database

    total = Counts()
    with tempfile.TemporaryDirectory() as folder:
        empty, home = Path(folder) / "empty", Path(folder) / "home"
        Store(empty, f"sqlite:///{empty / 'audit.db'}").close()
        for seed in seeds:
            shutil.copytree(empty, home)
            url = f"sqlite:///{home / 'audit.db'}" if server is None else create_database(server)
            with closing(Store(home, url)) as store:
                found = asdict(run_sequence(store, seed))
            shutil.rmtree(home)
            total = Counts(*(count + found[name] for name, count in asdict(total).items()))
    return total


def main() -> int:
    """Run and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--count", type=int, default=1000, metavar="N", help="sequences (1000)")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="the first one's (0)")
    parser.add_argument("--database", choices=("sqlite", "postgresql"), default="sqlite")
    options = parser.parse_args()
    with ExitStack() as stack:
        url = None
        if options.database == "postgresql":
            from tests.postgres import run_server

            url = stack.enter_context(run_server()).url
        counts = run_sequences(range(options.seed, options.seed + options.count), url)
    sys.stdout.write(f"{options.count} sequences, {options.database}: {asdict(counts)}\n")
    return 1 if counts.exceeded or counts.missed or counts.vain else 0


if __name__ == "__main__":
    raise SystemExit(main())
