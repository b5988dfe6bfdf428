"""GPS at Pokec's size: seconds an epoch and memory at 7k, 22k and 67k nodes.

    python -m tests.benchmarks.gps_scale [--nodes 7000 22000 67000] [--epochs 20]

Generated graphs with 730/67 links a node, mostly inside communities, with heavy-tailed degrees
and 59 features; 10 % of the nodes known. Goal: within 8 GB, near linear. Processor seconds.
"""

from __future__ import annotations

import argparse
import resource
import time
import warnings

import numpy as np

from core.attacks.attribute.gps import Gps
from core.context import Context
from core.data.splits import draw_attribute_threat
from core.graph import Graph
from core.models.gps.attacker import GpsAttacker, GpsSettings
from core.node_column import NodeColumn
from core.seeding import Seed
from tests.benchmarks.finite import print_finite
from tests.conftest import find_data_root  # noqa: F401  limits the threads before torch loads


def make_graph(num_nodes: int, rng: np.random.Generator, features: int = 59) -> Graph:
    """Communities of 200; ends drawn in proportion to a Pareto weight."""
    num_links = round(num_nodes * 730 / 67)
    weight = rng.pareto(2.5, num_nodes) + 1.0
    group = rng.integers(0, max(num_nodes // 200, 1), num_nodes)
    first = rng.choice(num_nodes, 2 * num_links, p=weight / weight.sum())
    second = rng.choice(num_nodes, 2 * num_links, p=weight / weight.sum())
    order, starts = np.argsort(group, kind="stable"), np.searchsorted(np.sort(group), group)
    sizes = np.bincount(group)[group]
    inside = order[starts[first] + (rng.random(len(first)) * sizes[first]).astype(int)]
    second = np.where(rng.random(len(first)) < 0.7, inside, second)
    pairs = np.stack([first, second], axis=1)
    graph = Graph.from_pairs(pairs, num_nodes)
    keep = rng.permutation(graph.num_edges)[:num_links]
    attribute = NodeColumn("region", group % 2, ("a", "b"))
    return Graph.from_pairs(
        graph.edges[keep],
        num_nodes,
        attributes={"region": attribute},
        features=rng.normal(size=(num_nodes, features)).astype(np.float32),
        name="generated",
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, nargs="+", default=[7000, 22000, 67000])
    parser.add_argument("--epochs", type=int, default=20)
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    print(
        f"{'nodes':>8}{'links':>10}{'ego rows':>10}{'ego links':>11}{'prepare s':>11}"
        f"{'s an epoch':>12}{'s all nodes':>13}{'peak MB':>9}"
    )
    for number, num_nodes in enumerate([1000, *options.nodes]):
        graph = make_graph(num_nodes, np.random.default_rng(0))
        threat = draw_attribute_threat(graph, "region", 0.1, Seed(0))
        config = Gps(hidden=128, epochs=options.epochs, routing="equal").config
        context = Context(Seed(0), memory_budget=2 << 30)
        start = time.process_time()
        attacker = GpsAttacker(graph, threat.observed, 2, GpsSettings(**config), context)
        prepared = time.process_time()
        attacker.fit()
        trained = time.process_time()
        attacker.compute_probabilities()
        inferred = time.process_time()
        if number == 0:  # compiles the kernels
            continue
        rows = int((graph.degrees + 1).sum())
        links = sum(egos.later.aggregate.matrix.values().numel() for egos in attacker.all_egos)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(
            f"{num_nodes:>8}{graph.num_edges:>10}{rows:>10}{links or '-':>11}"
            f"{prepared - start:>11.2f}{(trained - prepared) / options.epochs:>12.3f}"
            f"{inferred - trained:>13.2f}{peak:>9.0f}",
            flush=True,
        )


if __name__ == "__main__":
    print_finite(main)
