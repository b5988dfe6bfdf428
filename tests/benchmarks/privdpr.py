"""PrivDPR and its baselines on Cora and p2p-Gnutella08, each beside its data-independent baseline.

    python -m tests.benchmarks.privdpr [--datasets cora] [--methods privdpr,dpr] [--trials 1]

MRE of the seven statistics and KS of the degrees against the graph that was defended, link
prediction AUC (graph auto-encoder on the release; a fifth of the links held out before it) and
Micro-F1 (GCN on the release's links alone, 90 % of the labels known). The number of links is
taken as public for all, as the paper does. "ratio" is clean gradient norm over noise norm.
Figures in brackets are the paper's, Tables 2 and 4–6 (ε = 3.2 where they name one ε only).
"""

from __future__ import annotations

import argparse
import os
import time

import numpy as np

from core.algorithms.pairs import sample_non_links
from core.context import Context
from core.data.catalogue import load_dataset
from core.data.splits import draw_attribute_threat
from core.graph import Graph
from core.measures.structure import measure_structure
from core.measures.utility import measure_labels, measure_link_prediction
from core.registry import make_method
from core.seeding import Seed
from core.threats import Threats
from tests.benchmarks.finite import print_finite
from tests.conftest import find_data_root

STRUCTURE = {
    "TC": "mre_triangle_count",
    "WC": "mre_wedge_count",
    "CC": "mre_claw_count",
    "REDE": "mre_edge_entropy",
    "CPL": "mre_path_length",
    "Diam": "mre_diameter",
    "LCC": "mre_largest_component",
    "KS": "degree_ks",
}
PAPER = {
    ("cora", "privdpr", 3.2): {
        "TC": 0.9893,
        "REDE": 0.0245,
        "CPL": 0.1162,
        "KS": 0.5356,
        "AUC": 0.5535,
        "F1": 0.3188,
    },
    ("cora", "privdpr", 0.1): {"AUC": 0.5066, "F1": 0.3185},
    ("p2p_gnutella", "privdpr", 3.2): {
        "TC": 0.9557,
        "REDE": 0.0382,
        "CPL": 0.0227,
        "KS": 0.1177,
        "AUC": 0.5986,
    },
    ("p2p_gnutella", "privdpr", 0.1): {"AUC": 0.5084},
    ("cora", "gap", 0.1): {"AUC": 0.4873, "F1": 0.3097},
    ("cora", "gap", 3.2): {"AUC": 0.4978, "F1": 0.3151},
    ("cora", "dpggan", 0.1): {"AUC": 0.4914, "F1": 0.2690},
    ("cora", "dpggan", 3.2): {"AUC": 0.5189, "F1": 0.2849},
    ("cora", "dpgvae", 0.1): {"AUC": 0.4893, "F1": 0.2915},
    ("cora", "dpgvae", 3.2): {"AUC": 0.5068, "F1": 0.3026},
    ("p2p_gnutella", "gap", 0.1): {"AUC": 0.4859},
    ("p2p_gnutella", "gap", 3.2): {"AUC": 0.4973},
    ("p2p_gnutella", "dpggan", 0.1): {"AUC": 0.5005},
    ("p2p_gnutella", "dpggan", 3.2): {"AUC": 0.5079},
    ("p2p_gnutella", "dpgvae", 0.1): {"AUC": 0.4982},
    ("p2p_gnutella", "dpgvae", 3.2): {"AUC": 0.5045},
}
METHODS = ("privdpr", "gap", "dpggan", "dpgvae", "dpr")


def split(graph: Graph, seed: Seed) -> Threats:
    """A fifth of the links and as many non-links held out; 90 % of the labels known."""
    order = seed.rng("links").permutation(graph.num_edges)
    test = graph.edges[np.sort(order[: graph.num_edges // 5])]
    absent = sample_non_links(graph, len(test), seed.rng("non_links"))
    utility = None
    if "label" in graph.attributes:
        utility = draw_attribute_threat(graph, "label", 0.9, seed.child("labels"))
    visible = graph.without_edges(test).update_columns(features=None)
    return Threats(visible, test_links=test, test_non_links=absent, utility=utility)


def run(graph: Graph, key: str, epsilon: float | None, data_free: bool, trial: int) -> dict:
    seed = Seed(trial)
    threats = split(graph, seed)
    visible = threats.visible
    config = {"data_free": data_free, "num_links": visible.num_edges}
    if epsilon is not None:
        config["epsilon"] = epsilon
    start = time.process_time()
    context = Context(seed, memory_budget=1 << 30)
    release = make_method(key, config, "defense").publish(visible, threats, context)
    result = {"s": time.process_time() - start}
    found = {m.metric: m.value for m in measure_structure(visible, release.graph, context)}
    result |= {name: found[metric] for name, metric in STRUCTURE.items()}
    result["kept"] = found["links_kept"]
    result["AUC"] = measure_link_prediction(release.graph, threats, context).value
    result["F1"] = measure_labels(release.graph, threats.utility, context)[0][0].value
    noise = release.facts.get("noise_norm", 0.0)
    if noise:
        result["ratio"] = release.facts["gradient_norm"] / noise
    return result


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--trials", type=int, default=1)
    parser.add_argument("--datasets", default="cora,p2p_gnutella")
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--epsilons", default="0.1,3.2")
    options = parser.parse_args()
    if find_data_root() is not None:
        os.environ["AUDIT_DATA"] = str(find_data_root())
    columns = [*STRUCTURE, "AUC", "F1", "kept", "ratio", "s"]
    print("dataset method epsilon input |", " ".join(columns))
    for dataset in options.datasets.split(","):
        graph = load_dataset(dataset).graph
        for key in options.methods.split(","):
            budgets = [None] if key == "dpr" else map(float, options.epsilons.split(","))
            for epsilon in budgets:
                paper = PAPER.get((dataset, key, epsilon), {})
                for data_free in (False, True):
                    rows = [run(graph, key, epsilon, data_free, t) for t in range(options.trials)]
                    cells = []
                    for name in columns:
                        if name not in rows[0]:
                            cells.append("–")
                            continue
                        value = np.mean([row[name] for row in rows])
                        cell = f"{value:.1e}" if name == "ratio" else f"{value:.4f}"
                        theirs = f" ({paper[name]:.4f})" if name in paper else ""
                        cells.append(cell + (theirs if not data_free else ""))
                    shown = "-" if epsilon is None else f"{epsilon:g}"
                    given = "none" if data_free else "graph"
                    print(dataset, key, shown, given, "|", "  ".join(cells), flush=True)


if __name__ == "__main__":
    print_finite(main)
