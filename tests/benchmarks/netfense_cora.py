"""NetFense on Cora: margins and accuracies of single targets, beside the paper's Table IV.

    python -m tests.benchmarks.netfense_cora [--splits 5] [--targets 40]

Per split 10 % of the nodes are known for either label and 10 % serve validation; the private
label is the most balanced feature column. Targets as Nettack chooses them, among hidden nodes
rightly classified for the label: a quarter with the highest margin, a quarter with the lowest,
the rest at random. Each target is flipped on the clean graph with a budget of 20; both GCNs are
then trained anew on the flipped graph, to their lowest validation loss, and asked about it.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
import torch

from core.context import Context
from core.data.catalogue import load_dataset
from core.data.splits import draw_threats
from core.defenses.netfense import NetFense
from core.graph import Graph
from core.models.encoders import Block, Gcn, make_inputs, num_columns
from core.models.perturbation import Flipper, fit_surrogates
from core.models.training import train
from core.models.unnoticed import PageRankEffect
from core.seeding import Seed
from core.threats import AttributeThreat

BUDGET, EPOCHS, CHECK_EVERY = 20, 100, 5
METHODS = {
    "clean": None,
    "netfense": NetFense(budget=BUDGET),
    "random": NetFense(budget=BUDGET, choice="random"),
}
AUTHORS = {  # label margin, label accuracy, private margin, private accuracy
    "clean": (.735, .960, .278, .685), "netfense": (.596, .915, .045, .540),
    "random": (.545, np.nan, .130, np.nan),
}


def find_private_column(graph: Graph) -> str:
    means = np.asarray(graph.features.mean(axis=0)).ravel()
    return graph.feature_names[int(np.abs(means - 0.5).argmin())]


def infer(
    graph: Graph, threat: AttributeThreat, validation: np.ndarray, seed: Seed
) -> np.ndarray:
    """(n, C) probabilities of a 2-layer GCN with 16 hidden units at its lowest validation loss."""
    inputs, block = make_inputs(graph), Block.of_graph(graph, "gcn")
    model = Gcn([num_columns(inputs), 16, threat.num_classes], seed, 0.5)
    known = torch.from_numpy(np.flatnonzero(threat.known))
    truth = torch.from_numpy(threat.observed[threat.known])
    codes = threat.attribute.codes[validation]
    best: list = [np.inf, None]

    def look(epoch: int) -> None:
        if epoch % CHECK_EVERY:
            return
        model.eval()
        with torch.no_grad():
            values = torch.softmax(model(inputs, block).double(), dim=1).numpy()
        model.train()
        loss = -np.log(values[validation, codes]).mean()
        if loss < best[0]:
            best[:] = loss, values

    train(
        model.parameters(),
        lambda _epoch: torch.nn.functional.cross_entropy(model(inputs, block)[known], truth),
        epochs=EPOCHS, lr=0.01, weight_decay=5e-4, after_epoch=look,
    )
    return best[1]


def compute_margin(probabilities: np.ndarray, code: int) -> float:
    return float(probabilities[code] - np.delete(probabilities, code).max())


def choose_targets(
    margins: np.ndarray, hidden: np.ndarray, count: int, rng: np.random.Generator
) -> np.ndarray:
    right = np.flatnonzero(hidden & (margins > 0))
    order = right[np.argsort(-margins[right])]
    quarter = count // 4
    chosen = np.concatenate([order[:quarter], order[len(order) - quarter :]])
    rest = np.setdiff1d(np.flatnonzero(hidden), chosen)
    return np.concatenate([chosen, rng.choice(rest, count - 2 * quarter, replace=False)])


def run_split(graph: Graph, private: str, split: int, count: int) -> dict[str, np.ndarray]:
    """(t, 2) private and label margins per method, and the seconds of all flips."""
    seed = Seed(split)
    threats = draw_threats(graph, seed, private, "label", known=0.1, utility_train=0.1)
    visible, secret, label = threats.visible, threats.attribute, threats.utility
    hidden = np.flatnonzero(secret.hidden & label.hidden)
    validation = seed.rng("validation").choice(hidden, graph.num_nodes // 10, replace=False)
    free = np.zeros(graph.num_nodes, bool)
    free[np.setdiff1d(hidden, validation)] = True
    clean = infer(visible, label, validation, seed.child("clean"))
    codes = label.attribute.codes
    margins = np.array([compute_margin(clean[v], codes[v]) for v in range(len(codes))])
    targets = choose_targets(margins, free, count, seed.rng("targets"))
    surrogates = fit_surrogates(visible, threats, Context(seed))
    rows: dict[str, list] = {name: [] for name in METHODS}
    flips, seconds = 0, 0.0
    for v in targets.tolist():
        for name, method in METHODS.items():
            flipper = Flipper(visible, surrogates, np.zeros(0, np.int64))
            start = time.process_time()
            ranks, rng = PageRankEffect(), seed.rng(name, v)
            for _ in range(BUDGET if method else 0):
                if not method.flip_once(flipper, v, ranks, rng):
                    break
                flips += name == "netfense"
            seconds += (time.process_time() - start) if name == "netfense" else 0.0
            flipped = flipper.to_graph()
            rows[name].append([
                compute_margin(
                    infer(flipped, threat, validation, seed.child("after", v))[v],
                    threat.attribute.codes[v],
                )
                for threat in (secret, label)
            ])
    print(f"split {split}: {flips} flips, {seconds / max(flips, 1):.4f} s of processor time each",
          flush=True)
    return {name: np.array(values) for name, values in rows.items()}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--targets", type=int, default=40)
    options = parser.parse_args()
    torch.set_num_threads(1)
    graph = load_dataset("cora").graph
    private = find_private_column(graph)
    print(f"private column {private}")
    splits = [run_split(graph, private, split, options.targets) for split in range(options.splits)]
    print("method    label: margin |margin| accuracy   private: margin |margin| accuracy "
          "below -0.1   (paper: label margin, accuracy, private margin, accuracy)")
    for name in METHODS:
        values = np.concatenate([split[name] for split in splits])
        secret, label = values.T
        print(f"{name:9s} {label.mean():6.3f} {np.abs(label).mean():6.3f} {(label > 0).mean():6.3f}"
              f"   {secret.mean():6.3f} {np.abs(secret).mean():6.3f} {(secret > 0).mean():6.3f} "
              f"{(secret < -0.1).mean():6.3f}   {AUTHORS[name]}", flush=True)


if __name__ == "__main__":
    main()
