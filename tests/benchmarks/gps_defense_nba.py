"""GPS sampling on NBA: attack by the worst case, salary AUC, links kept and MMD, per strength.

    python -m tests.benchmarks.gps_defense_nba [--seeds 0,1,2,3,4] [--defenses full,random]
        [--strengths 5] [--attacks gps,label_propagation,gcn,attri_infer]

A new split per seed: 10 % of the players' countries known, 10 % of the salaries. The paper's
figures: MMD of degree and clustering 2.498 and 0.998 (best baseline 6.442 and 1.356). The
authors' code in three seeds: attack 53.4, 55.6 and 80.0 with 24, 5 and 99.7 % of the links,
salary 63.0 → 60.7, 67.9 → 63.4 and 70.6 → 66.6.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
import torch

from core.context import Context
from core.data.catalogue import load_dataset
from core.data.splits import draw_threats
from core.graph import Graph
from core.measures.ranking import compute_auc
from core.measures.structure import measure_structure
from core.measures.utility import measure_node_classification
from core.registry import make_method
from core.release import Release
from core.seeding import Seed
from core.threats import Threats

SHARES = (0.5, 0.3, 0.7, 0.9, 0.95)
BUDGETS = (5.0, 4.0, 6.0, 3.0, 7.0)
# The first of each list is the default; `--strengths` takes so many from the left.
STRENGTHS: dict[str, tuple[str, list[dict]]] = {
    "full": (
        "gps_sampling",
        [
            {"variant": "full", "eta": eta, "gamma": gamma, "target": target}
            for eta, gamma, target in (
                (40, 15, 0.55),
                (20, 10, 0.65),
                (60, 15, 0.55),
                (80, 30, 0.55),
                (15, 15, 0.6),
            )
        ],
    ),
    "adv": (
        "gps_sampling",
        [
            {"variant": "adv", "gamma": gamma, "target": target}
            for gamma, target in ((15, 0.55), (10, 0.65), (30, 0.55), (20, 0.55), (5, 0.65))
        ],
    ),
    "dis": (
        "gps_sampling",
        [
            {"variant": "dis", "eta": eta, "target": target}
            for eta, target in ((40, 0.55), (20, 0.65), (60, 0.55), (80, 0.55), (15, 0.6))
        ],
    ),
    "random": ("random_deletion", [{"strength": share} for share in SHARES]),
    "degree": ("degree_deletion", [{"strength": share} for share in SHARES]),
    "betweenness": ("betweenness_deletion", [{"strength": share} for share in SHARES]),
    "rabv": ("rabv", [{"epsilon": epsilon} for epsilon in BUDGETS]),
    "netfense": ("netfense", [{"budget": budget} for budget in (10, 5, 20, 30, 40)]),
}


def attack(graph: Graph, threats: Threats, keys: list[str], seed: Seed) -> dict[str, float]:
    """AUC over the hidden nodes per attack; below 0.5 counts as it is."""
    threat = threats.attribute
    values = {}
    for key in keys:
        found = make_method(key, {}, "attribute_attack").infer(
            Release(graph), threat, Context(seed.child(key))
        )
        truth = threat.attribute.codes[threat.hidden] == 1
        values[key] = compute_auc(found.probabilities[threat.hidden, 1], truth)[0]
    return values


def evaluate(graph: Graph, threats: Threats, keys: list[str], seed: Seed) -> dict[str, float]:
    values = attack(graph, threats, keys, seed)
    found = {m.metric: m.value for m in measure_structure(threats.visible, graph, Context(seed))}
    utility = {
        m.metric: m.value
        for m in measure_node_classification(graph, threats.utility, Context(seed))
    }
    return {
        **values,
        "worst": max(values.values()),
        "salary": utility["node_classification_auc"],
        "kept": float(graph.contains_pairs(threats.visible.edges).mean()),
        "mmd_degree": found.get("mmd_degree"),
        "mmd_clustering": found.get("mmd_clustering"),
    }


def show(name: str, row: dict[str, float]) -> None:
    cells = " ".join(
        f"{key} {'-' if value is None else format(value, '.3f')}" for key, value in row.items()
    )
    print(f"{name:70s} {cells}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", default="0,1,2,3,4")
    parser.add_argument("--defenses", default=",".join(STRENGTHS))
    parser.add_argument("--strengths", type=int, default=5)
    parser.add_argument("--attacks", default="gps,label_propagation,gcn,attri_infer")
    parser.add_argument("--restarts", type=int, default=2)
    options = parser.parse_args()
    torch.set_num_threads(1)
    graph, keys = load_dataset("nba").graph, options.attacks.split(",")
    rows: dict[str, list[dict[str, float]]] = {}
    for number in map(int, options.seeds.split(",")):
        seed = Seed(number)
        threats = draw_threats(graph, seed, "country", "SALARY", known=0.1, utility_train=0.1)
        clean = evaluate(threats.visible, threats, keys, seed)
        show(f"seed {number} original", clean)
        rows.setdefault("original", []).append(clean)
        for name in options.defenses.split(","):
            key, settings = STRENGTHS[name]
            for config in settings[: options.strengths]:
                extra = {"restarts": options.restarts} if key == "gps_sampling" else {}
                start = time.process_time()
                release = make_method(key, {**config, **extra}, "defense").publish(
                    threats.visible, threats, Context(seed)
                )
                seconds = time.process_time() - start
                row = evaluate(release.graph, threats, keys, seed)
                row["salary_change"] = row["salary"] - clean["salary"]
                row["cpu_s"] = seconds
                label = f"{name} {config}"
                show(f"seed {number} {label}", row)
                rows.setdefault(label, []).append(row)
    print(
        "means over the seeds (standard deviation of the worst case); * on the Pareto front of "
        "worst case and salary; seeds with GPS at most 0.60 and salary at most 0.03 lost"
    )
    means = {
        label: {
            key: float(np.mean([row[key] for row in values]))
            for key in values[0]
            if values[0][key] is not None
        }
        for label, values in rows.items()
    }
    for label, values in rows.items():
        mark = "*" if is_on_front(label, means) else " "
        met = sum(row["gps"] <= 0.6 and row.get("salary_change", -1) >= -0.03 for row in values)
        show(
            f"{mark} {label} ({np.std([row['worst'] for row in values]):.3f}) {met}/{len(values)}",
            means[label],
        )


def is_on_front(label: str, means: dict[str, dict[str, float]]) -> bool:
    """No other release is at least as safe and as useful, and better in one of the two."""
    own = means[label]
    return not any(
        other["worst"] <= own["worst"]
        and other["salary"] >= own["salary"]
        and (other["worst"], other["salary"]) != (own["worst"], own["salary"])
        for other in means.values()
    )


if __name__ == "__main__":
    main()
