"""Are as many nodes counted as exposed as are? `python -m tests.benchmarks.exposed_counts`.

On blocks whose posterior is known (`tests.oracles.blocks.draw_exact_blocks`): nodes whose exact
posterior of the true class is more than the limit above the base rate, beside the counts of the
product. By the ideal attacker, who reports the exact posterior, and by ones who report it too
surely (its cube) and too timidly (its cube root): calibrated as the product does, and as reported.
By the product's own attacks, by their headline and by the upper bound in hindsight. Options:
--classes, --people, --degree, --splits, --attacks.
"""

from __future__ import annotations

import argparse

import numpy as np

from core.audit.asked.attack import parse_attack
from core.audit.asked.release_info import parse_release
from core.audit.results.node_risks import AttackRisk, NodeRisks
from core.context import Context, SharedWork
from core.findings.exposure import count_exposed
from core.measures.node_risk import NodeRisk, compute_attribute_node_risk
from core.registry import make_method
from core.release import ORIGINAL, Release
from core.results import ClassProbabilities
from core.seeding import Seed
from core.threats import AttributeThreat
from tests.benchmarks.finite import print_finite
from tests.oracles.blocks import draw_exact_blocks

POWERS = {"ideal": 1.0, "too sure": 3.0, "too timid": 1 / 3}
ATTACKS = "label_propagation,com_infer,adjacency_regression,block_model"


def _count(advantage: np.ndarray) -> int:
    """Exposed nodes as one repeat counts them, without intervals."""
    return count_exposed(advantage, np.full(len(advantage), np.nan)).likely


def count_ideal(
    num_classes: int, num_people: int, degree: float, seed: int
) -> tuple[AttributeThreat, Release, dict[str, int]]:
    """Number at stake, exposed in truth, and counted by attackers who know the posterior."""
    graph, known, posterior = draw_exact_blocks(num_classes, num_people, degree, seed)
    threat = AttributeThreat(graph.column("private"), known, ~known)
    hidden = np.flatnonzero(~known)
    codes = threat.attribute.codes[hidden]
    base = threat.attribute.shares[codes]
    truth = posterior[hidden, codes] - base
    counts = {"at stake": len(hidden), "truth": _count(truth)}
    for name, power in POWERS.items():
        reported = posterior**power / (posterior**power).sum(axis=1, keepdims=True)
        risk = compute_attribute_node_risk(ClassProbabilities(reported), threat)
        counts[name] = _count(risk.risk - risk.base)
        counts[f"{name}, as reported"] = _count(reported[hidden, codes] - base)
    return threat, Release(graph), counts


def count_attacks(
    threat: AttributeThreat, release: Release, keys: list[str], seed: int
) -> dict[str, int]:
    """Nodes exposed by each attack, by their headline and by their upper bound."""
    shared, counts, parts = SharedWork(), {}, {}
    for key in keys:
        found = make_method(key).infer(release, threat, Context(Seed(seed), shared=shared))
        risk = compute_attribute_node_risk(found, threat)
        counts[key] = _count(risk.risk - risk.base)
        parts[ORIGINAL, parse_attack(key)] = _as_part(risk)
    nodes = NodeRisks.build(release.graph.node_ids, parts, [parse_release(ORIGINAL)])
    counts["headline"] = int(nodes.exposed.exposed.sum())
    counts["upper bound"] = int(nodes.bound.exposed.sum())
    return counts


def _as_part(risk: NodeRisk) -> AttackRisk:
    unknown = np.full(len(risk.nodes), np.nan)
    once = np.ones(len(risk.nodes), np.int64)
    gain = risk.risk - risk.base
    return AttackRisk(risk.nodes.astype(np.int32), risk.risk, gain, unknown, unknown, once)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--classes", default="6,42")
    parser.add_argument("--people", type=int, default=2000)
    parser.add_argument("--degree", default="2,5")
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--attacks", default=ATTACKS)
    options = parser.parse_args()
    for num_classes in map(int, options.classes.split(",")):
        for degree in map(float, options.degree.split(",")):
            rows = []
            for seed in range(options.splits):
                threat, release, row = count_ideal(num_classes, options.people, degree, seed)
                row |= count_attacks(threat, release, options.attacks.split(","), seed)
                rows.append(row)
            for name in rows[0]:
                values = np.array([row[name] for row in rows], float)
                spread = values.std(ddof=1) if len(values) > 1 else 0.0
                print(
                    f"{num_classes} classes, degree {degree:g}: {name:24} "
                    f"{values.mean():7.1f} ± {spread:.1f}",
                    flush=True,
                )


if __name__ == "__main__":
    print_finite(main)
