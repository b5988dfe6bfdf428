"""Node private: degree distribution of its releases beside the data-independent baseline's, and
whether its claim stands.

    AUDIT_DATA=… python -m tests.benchmarks.node_private [--repeats 20] [--mechanisms dp_1k,dgg]
    python -m tests.benchmarks.node_private --trials 10000

KS is the largest difference of the two degree distributions; intervals are 95 % t-intervals over
repeats. The graph that is generated has degrees by a Pareto law of exponent 1.6, up to 2,000.
With --trials the distinguishing game is played for each mechanism on two graphs of 300 nodes
that differ in one node and on which degrees are clipped.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from scipy import stats

from core.algorithms.pairs import draw_by_degrees
from core.context import Context
from core.data.catalogue import load_dataset
from core.defenses.node_private import NodePrivate
from core.errors import AuditError
from core.graph import Graph
from core.privacy.claim_check import check_claim, make_neighbors
from core.seeding import Seed
from core.threats import Threats
from tests.benchmarks.finite import print_finite

MEMORY = 4 << 30


def generate_heavy_tailed(num_nodes: int = 30_000, seed: int = 0) -> Graph:
    rng = np.random.default_rng(seed)
    degrees = np.minimum(3 * (rng.pareto(1.6, num_nodes) + 1), 2000).astype(np.int64)
    return Graph.from_pairs(draw_by_degrees(degrees, rng), num_nodes, name="heavy-tailed")


def measure(graph: Graph, defense: NodePrivate, repeats: int) -> tuple[str, str]:
    found, clipped, start = [], 0, time.process_time()
    for seed in range(repeats):
        context = Context(Seed(seed), memory_budget=MEMORY)
        try:
            release = defense.publish(graph, Threats(graph), context)
        except AuditError as error:
            return f"not possible: {str(error)[:60]}…", "–"
        clipped += "Nothing was clipped" not in release.guarantee.note
        found.append(stats.ks_2samp(release.graph.degrees, graph.degrees).statistic)
    mean, half = np.mean(found), 0.0
    if repeats > 1:
        half = stats.t.ppf(0.975, repeats - 1) * stats.sem(found)
    spent = (time.process_time() - start) / repeats
    note = "" if defense.data_free else f", clipped {clipped} of {repeats}"
    return f"{mean:.3f} [{mean - half:.3f}, {mean + half:.3f}]{note}", f"{spent:.1f}"


def compare(options: argparse.Namespace) -> None:
    print("| graph | mechanism | ε | KS | KS of the data-independent baseline | CPU s a release |")
    print("|---|---|---|---|---|---|")
    for graph in (load_dataset("facebook_pages").graph, generate_heavy_tailed()):
        for mechanism in options.mechanisms.split(","):
            for epsilon in map(float, options.epsilons.split(",")):
                settings = {"mechanism": mechanism, "epsilon": epsilon}
                own, spent = measure(graph, NodePrivate(**settings), options.repeats)
                base = NodePrivate(**settings, data_free=True)
                other, _ = measure(graph, base, options.repeats)
                cells = (graph.name, mechanism, f"{epsilon:g}", own, other, spent)
                print("| " + " | ".join(cells) + " |", flush=True)


def play(options: argparse.Namespace) -> None:
    print("| mechanism | ε | lower bound | trials | outcome | CPU s |\n|---|---|---|---|---|---|")
    for mechanism in options.mechanisms.split(","):
        defense = NodePrivate(mechanism=mechanism, epsilon=options.epsilon, delta=0.01)
        start = time.process_time()
        neighbors = make_neighbors("node", 300)
        found = check_claim(defense, Context(Seed(0)), trials=options.trials, neighbors=neighbors)
        cells = (mechanism, f"{found.claimed:g}", f"{found.lower_bound:.2f}", f"{found.trials:,}")
        spent = f"{time.process_time() - start:.0f}"
        print("| " + " | ".join((*cells, found.outcome, spent)) + " |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--mechanisms", default="dp_1k,dgg,tmf")
    parser.add_argument("--epsilons", default="1,3.2")
    parser.add_argument("--trials", type=int)
    parser.add_argument("--epsilon", type=float, default=4.0)
    options = parser.parse_args()
    if options.trials:
        play(options)
    else:
        compare(options)


if __name__ == "__main__":
    print_finite(main)
