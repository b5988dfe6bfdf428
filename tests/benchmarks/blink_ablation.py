"""Blink's parts: error of P with prior and evidence, either alone, and over the degree share δ.

    python -m tests.benchmarks.blink_ablation [--dataset cora] [--accuracy]

Prior only: all budget to the degrees, so that the rows are coins. Evidence only: all budget to
the rows and a prior of one half; its expected error has a closed form. The paper shows both as
curves (Blink, Fig. 9): the prior is better alone at small ε, the evidence from about 7 on, both
together always. --accuracy: GCN on Blink-Soft over δ at ε = 1 and 8 (Fig. 8).
"""

from __future__ import annotations

import argparse

import numpy as np

from core.context import Context
from core.data.catalogue import load_dataset
from core.graph import Graph
from core.privacy.link_local import recommend_delta
from core.privacy.mechanisms import compute_flip_probability
from core.registry import make_method
from core.seeding import Seed
from core.threats import Threats
from tests.benchmarks.blink_cora import fit
from tests.benchmarks.finite import print_finite

DELTAS = (0.1, 0.3, 0.5, 0.7, 0.9)
ALL_TO_DEGREES = 1 - 1e-9
BUDGET = 2 << 30


def publish(graph: Graph, epsilon: float, delta: float, variant: str, trial: int = 0):
    defense = make_method("blink", {"epsilon": epsilon, "delta": delta, "variant": variant})
    return defense.publish(graph, Threats(graph), Context(Seed(trial), memory_budget=BUDGET))


def measure_error(graph: Graph, epsilon: float, delta: float) -> float:
    return publish(graph, epsilon, delta, "hybrid").facts["mean_absolute_error"]


def compute_evidence_error(graph: Graph, epsilon: float) -> float:
    """Expected mean |P − A| over all entries of P = σ(2ε(c − 1)) for c received ones."""
    flip = compute_flip_probability(epsilon)
    posterior = 1 / (1 + np.exp(-2 * epsilon * (np.arange(3) - 1)))

    def spread(p: float) -> np.ndarray:
        return np.array([(1 - p) ** 2, 2 * p * (1 - p), p**2])

    on_links = float(spread(1 - flip) @ (1 - posterior))
    on_others = float(spread(flip) @ posterior)
    n, m = graph.num_nodes, graph.num_edges
    return 2 * (m * on_links + (graph.num_pairs - m) * on_others) / n**2


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--dataset", default="cora")
    parser.add_argument("--epsilons", default="1,2,3,4,5,6,7,8")
    parser.add_argument("--accuracy", action="store_true")
    options = parser.parse_args()
    graph = load_dataset(options.dataset).graph
    print("mean absolute error of P")
    print("epsilon both prior evidence |", *(f"δ={delta:g}" for delta in DELTAS))
    for epsilon in map(float, options.epsilons.split(",")):
        both = measure_error(graph, epsilon, recommend_delta(epsilon, graph.num_nodes))
        prior = measure_error(graph, epsilon, ALL_TO_DEGREES)
        study = [measure_error(graph, epsilon, delta) for delta in DELTAS]
        print(
            f"{epsilon:g} {both:.2e} {prior:.2e} {compute_evidence_error(graph, epsilon):.2e} |",
            *(f"{error:.2e}" for error in study),
            flush=True,
        )
    if not options.accuracy:
        return
    print("accuracy of a GCN on Blink-Soft")
    labels = graph.column("label").codes
    for epsilon in (1.0, 8.0):
        for delta in DELTAS:
            release = publish(graph, epsilon, delta, "soft")
            published = graph.with_edges(release.graph.edges, release.graph.weights)
            print(
                f"{epsilon:g} δ={delta:g} {fit(published, labels, Seed(0), 0.1, 0.1, 1e-5):.3f}",
                flush=True,
            )


if __name__ == "__main__":
    print_finite(main)
