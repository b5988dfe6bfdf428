"""How many people a join on the values of their links finds, before and after each rule.

    python -m tests.benchmarks.link_values [FILE.csv …] [--people 10000] [--links 1000000]

Of each file, and of a generated network of calls with a time and a duration an event: people found
by `value_join` on the released links, who knows all of them as coarsely as they leave, beside what
the rule costs: error of the sums a person as a share of them, Spearman correlation of the sums, and
of the times of the links. Values drawn anew without the data are chance. Last, CPU seconds of
loading a file of links with two columns and of joining it with itself.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from core.attacks.identity.value_join import ValueJoin
from core.context import Context
from core.data.link_release import WEIGHT, choose_link_columns, shift_link_times
from core.data.readers import load_graph
from core.data.second_graph import draw_identity_threat
from core.graph import Graph
from core.link_table import LinkColumn, LinkTable
from core.measures.link_values import compute_strength_rank, compute_sum_error, compute_time_rank
from core.release import Release
from core.seeding import Seed
from tests.benchmarks.finite import print_finite

START, DAYS = 1_700_000_000, 90
TIME, DURATION = "link.at", "link.seconds"
RULES: tuple[tuple[str, tuple[str, ...], tuple[str, ...]], ...] = (
    ("as they are", (TIME, DURATION), ()),
    ("times alone", (TIME,), ()),
    ("times, moved", (TIME,), (f"{TIME}:shift",)),
    ("times, day", (TIME,), (f"{TIME}:day",)),
    ("times, month", (TIME,), (f"{TIME}:month",)),
    ("durations alone", (DURATION,), ()),
    ("durations, 1 digit", (DURATION,), (f"{DURATION}:digits=1",)),
    ("durations, in steps of 60", (DURATION,), (f"{DURATION}:bin=60",)),
    ("durations, in steps of 600", (DURATION,), (f"{DURATION}:bin=600",)),
    ("day and steps of 600", (TIME, DURATION), (f"{TIME}:day", f"{DURATION}:bin=600")),
    ("month and steps of 600", (TIME, DURATION), (f"{TIME}:month", f"{DURATION}:bin=600")),
)
"""What leaves, the columns that do, and their rules."""
WEIGHT_RULES = ((), ("digits=1",), ("digits=2",), ("bin=100000",), ("bin=1000000",))


def generate_calls(num_people: int, seed: int = 0) -> Graph:
    """About four links a person and three calls a link, by day and of a few minutes."""
    rng = np.random.default_rng(seed)
    activity = rng.lognormal(0.0, 0.8, num_people)
    ends = rng.choice(num_people, (4 * num_people, 2), p=activity / activity.sum())
    graph = Graph.from_pairs(ends, num_people)
    links = np.repeat(np.arange(graph.num_edges), rng.geometric(1 / 3, graph.num_edges))
    day, hour = rng.integers(DAYS, size=len(links)), rng.normal(15, 4, len(links)) % 24
    at = START + day * 86_400 + (hour * 3600).astype(np.int64)
    seconds = np.ceil(rng.lognormal(4.5, 1.0, len(links))).astype(np.int64)
    times = LinkColumn("time", at, unit="unix s")
    columns = {"at": times, "seconds": LinkColumn("number", seconds)}
    return replace(graph, link_table=LinkTable(links, columns))


def count_found(known: Graph, released: Graph) -> float:
    """Share of the people with links whom the join puts first."""
    threat = draw_identity_threat(released, Seed(0), num_seeds=0, known=known)
    found = ValueJoin().find(Release(released), threat, Context(Seed(0)))
    return float((found.candidates[:, 0] == threat.people)[threat.wanted].mean())


def report(graph: Graph, named: str, publish: Sequence[str], rules: Sequence[str]) -> None:
    """Print a row of the table."""
    coarse = choose_link_columns(graph, publish, rules)
    released = shift_link_times(coarse, rules, np.random.default_rng(1))
    found = count_found(coarse, released)
    number = DURATION if DURATION in publish else WEIGHT if WEIGHT in publish else ""
    costs = [
        compute_sum_error(graph, released, number) if number else None,
        compute_strength_rank(graph, released, number) if number else None,
        compute_time_rank(graph, released, TIME) if TIME in publish else None,
    ]
    cells = " | ".join("–" if cost is None else f"{cost:.3f}" for cost in costs)
    print(f"| {named} | {found:.3f} | {cells} |", flush=True)


def redraw(graph: Graph) -> Graph:
    """The graph with values of other links, in random order."""
    rng = np.random.default_rng(2)
    table, weights = graph.link_table, graph.weights
    if weights is not None:
        weights = rng.integers(1, 10**6, len(weights)).astype(np.float64)
    if table is not None:
        order = rng.permutation(len(table.links))
        columns = {name: column.take(order) for name, column in table.columns.items()}
        table = LinkTable(table.links, columns)
    return replace(graph, weights=weights, link_table=table)


def measure_time(num_links: int) -> None:
    """Print the CPU seconds of loading links with two columns, and of the join."""
    rng = np.random.default_rng(0)
    ends = rng.integers(num_links // 5, size=(num_links, 2))
    at, amount = START + rng.integers(10**7, size=num_links), rng.integers(10**6, size=num_links)
    rows = zip(*ends.T.tolist(), at.tolist(), amount.tolist(), strict=True)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "links.csv"
        lines = (f"{i},{j},{t},{a}" for i, j, t, a in rows)
        path.write_text("\n".join(["source,target,at,amount", *lines]))
        start = time.process_time()
        graph = load_graph(path).graph
        loaded = time.process_time()
    found = count_found(graph, graph)
    joined = time.process_time()
    print(
        f"{graph.num_edges:,} links, {graph.num_nodes:,} people: loaded in {loaded - start:.1f} "
        f"CPU s, joined in {joined - loaded:.1f}; {found:.3f} found"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*")
    parser.add_argument("--people", type=int, default=10_000)
    parser.add_argument("--links", type=int, default=1_000_000)
    options = parser.parse_args()
    print("| what leaves | found | error of sums | rank of sums | rank of times |")
    for file in options.files:
        graph = load_graph(file).graph
        for rule in WEIGHT_RULES:
            rules = [f"{WEIGHT}:{text}" for text in rule]
            report(graph, " ".join([Path(file).stem, *rule]), [WEIGHT], rules)
        print(f"| {Path(file).stem}, drawn anew | {count_found(graph, redraw(graph)):.3f} |")
    calls = generate_calls(options.people)
    for named, publish, rules in RULES:
        report(calls, named, publish, rules)
    print(f"| drawn anew | {count_found(calls, redraw(calls)):.4f} |")
    measure_time(options.links)


if __name__ == "__main__":
    print_finite(main)
