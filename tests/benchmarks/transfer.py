"""What another labelled graph of such people teaches an attacker.

    python -m tests.benchmarks.transfer [--known 0,0.1] [--splits 0,1]

Two draws of the generated network, of links between unlike people, and of noise; halves of NBA.
AUC on the release (one against the rest for several classes) of `neighbourhood_classifier` taught
by the other graph, beside itself without it; log-loss of the taught one, and of the class shares.
"""

from __future__ import annotations

import argparse

import numpy as np

from core.attacks.attribute.neighbourhood_classifier import NeighbourhoodClassifier
from core.context import Context
from core.data.catalogue import load_dataset
from core.data.splits import draw_attribute_threat
from core.data.synthetic import generate_social
from core.graph import Graph
from core.measures.ranking import measure_class_probabilities
from core.release import Release
from core.results import ClassProbabilities
from core.seeding import Seed
from core.threats import AttributeThreat
from tests.benchmarks.attribute_attackers import load
from tests.benchmarks.finite import print_finite

GRAPHS = "social:seniority,social:affiliation,social:label,unlike:private,noise:private,nba:country"


def draw(text: str, split: int) -> tuple[Graph, Graph]:
    """The shadow graph and the one that is released."""
    name, _, column = text.partition(":")
    if name == "social":
        return generate_social(600, 2 * split), generate_social(600, 2 * split + 1)
    if name != "nba":
        return load(text, 2 * split)[0], load(text, 2 * split + 1)[0]
    graph = load_dataset(name).graph.with_private(column)
    order = np.random.default_rng(split).permutation(graph.num_nodes)
    first, second = (np.sort(part) for part in np.array_split(order, 2))
    return graph.subgraph(first), graph.subgraph(second)


def measure(found: ClassProbabilities, threat: AttributeThreat) -> tuple[float, float]:
    """AUC, and log-loss on the hidden people."""
    rows = measure_class_probabilities(found, threat)
    hidden = threat.hidden
    said = found.probabilities[hidden, threat.attribute.codes[hidden]]
    auc = next(row.value for row in rows if row.metric == "auc")
    assert auc is not None
    return auc, float(-np.log(np.maximum(said, 1e-12)).mean())


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--graphs", default=GRAPHS)
    parser.add_argument("--known", default="0,0.1")
    parser.add_argument("--splits", default="0,1")
    options = parser.parse_args()
    attack = NeighbourhoodClassifier()
    for text in options.graphs.split(","):
        column = text.partition(":")[2]
        for known in map(float, options.known.split(",")):
            taught, alone, losses = [], [], []
            for split in map(int, options.splits.split(",")):
                other, graph = draw(text, split)
                attribute, nobody = graph.column(column), np.zeros(graph.num_nodes, bool)
                threat = AttributeThreat(attribute, nobody, attribute.known)
                if known:
                    threat = draw_attribute_threat(graph, column, known, Seed(split))
                context = Context(Seed(split))
                found = attack.infer_from(other, Release(graph), threat, context)
                auc, loss = measure(found, threat)
                taught.append(auc)
                shares = attribute.shares[attribute.shares > 0]
                losses.append([loss, -(shares * np.log(shares)).sum()])
                if known:
                    plain = attack.infer(Release(graph), threat, context)
                    alone.append(measure(plain, threat)[0])
            loss, prior = np.mean(losses, axis=0)
            without = f"{np.mean(alone):.3f}" if alone else ".500"
            print(
                f"| {text} | {known:.0%} | {np.mean(taught):.3f} | {without} | {loss:.3f} | "
                f"{prior:.3f} |",
                flush=True,
            )


if __name__ == "__main__":
    print_finite(main)
