"""An attacker made for `record_swapping`, who guesses who was moved.

    python -m tests.benchmarks.swap_attacker [cora] [--splits 1,2,3]

A place that a withheld link is likely to touch was probably given to another, who is then an end of
a sensitive link too. The attacker sums the pair classifier's probabilities over the pairs at
distance two of each place, and learns on a shadow release from these sums, their largest terms and
the degrees of both ends. AUC / TPR at 1 % FPR on the withheld links, and the AUC of the sums for
who was moved.
"""

from __future__ import annotations

import argparse

import numpy as np
import torch
from scipy.optimize import brentq
from scipy.special import expit

from core.algorithms.pairs import find_near_pairs
from core.attacks.link.pair_classifier import PairClassifier, fit_pair_classifier
from core.attacks.shadow_release import make_shadow_release
from core.context import Context
from core.data.catalogue import load_dataset
from core.data.splits import draw_threats
from core.defenses.record_swapping import RecordSwapping
from core.measures.ranking import compute_auc, compute_roc
from core.release import Release
from core.seeding import Seed
from core.threats import LinkThreat
from tests.benchmarks.finite import print_finite
from tests.benchmarks.link_floor import swap_records

SHARE = 0.1
"""Withheld links per released one, which the attacker knows."""
LIMIT = 2_000_000


def describe_places(release: Release, context: Context) -> np.ndarray:
    """(n, 4) of each place: sum of its pairs' probabilities, the largest, the sum per link and the
    log degree."""
    graph = release.graph
    pairs, _ = find_near_pairs(graph, LIMIT, context.rng("near"))
    threat = LinkThreat(pairs, np.empty((0, 2), np.int64), 0.0)
    logits = PairClassifier().score(release, threat, context).scores
    share = min(SHARE * graph.num_edges / max(len(pairs), 1), 0.5)
    offset = brentq(lambda shift: expit(logits + shift).mean() - share, -60.0, 60.0)
    twice = np.repeat(expit(logits + offset), 2)
    total, largest = np.bincount(pairs.ravel(), twice, graph.num_nodes), np.zeros(graph.num_nodes)
    np.maximum.at(largest, pairs.ravel(), twice)
    degrees = graph.degrees
    return np.column_stack([total, largest, total / (degrees + 1.0), np.log1p(degrees)])


def describe_ends(places: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    """(k, 12) columns of pairs (k, 2): the lower, the higher and their product."""
    ends = np.sort(places[pairs], axis=1)
    return np.concatenate([ends[:, 0], ends[:, 1], ends[:, 0] * ends[:, 1]], axis=1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("graph", nargs="?", default="cora")
    parser.add_argument("--splits", default="1,2,3")
    options = parser.parse_args()
    torch.set_num_threads(1)
    graph, defense = load_dataset(options.graph).graph, RecordSwapping()
    for split in map(int, options.splits.split(",")):
        threats, seed = draw_threats(graph, Seed(split), hide_links=0.1), Seed(split).child("swap")
        link = threats.link
        assert link is not None
        release, is_moved = swap_records(threats, Context(seed.child("defense")))
        shadow = make_shadow_release(defense, release, threats, Context(seed.child("shadow")))
        learned = LinkThreat(shadow.hidden, shadow.absent, link.prior)
        own, places = (
            describe_places(made, Context(seed.child(name)))
            for made, name in ((shadow.release, "own"), (release, "places"))
        )
        classifier = fit_pair_classifier(
            describe_ends(own, learned.pairs), learned.truth, Context(seed.child("judge"))
        )
        scores = classifier.compute_logits(describe_ends(places, link.pairs))
        print(
            f"split {split} {compute_auc(scores, link.truth)[0]:.3f} / "
            f"{compute_roc(scores, link.truth).at(0.01):.2f}, who was moved "
            f"{compute_auc(places[:, 0], is_moved)[0]:.3f}",
            flush=True,
        )


if __name__ == "__main__":
    print_finite(main)
