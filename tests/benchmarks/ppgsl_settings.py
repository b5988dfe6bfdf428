"""PPGSL's candidates k, update interval μ, protocols and course of training (Fig. 6 to 10).

    python -m tests.benchmarks.ppgsl_settings [--splits 3] [--alpha 0.015] [--only TEXT …]
        [--graph NAME] [--course] [--attacks gae_cosine,common_neighbors]

Splits 5, 6, … of Cora, on which no default was chosen: 10 % of the links are sensitive, another
10 % test link prediction. Per setting: AUC of the attacks, GAE + cosine if none is named, on the
sensitive links, link prediction AUC and node classification F1, mean and standard deviation over
the splits, and CPU seconds of the defense. --only original: the graph without a defense. --course:
the same of the graph as it stands every 50 of 500 steps, one split a row. The paper shows curves
without figures.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch

from core.context import Context
from core.data.catalogue import load_dataset
from core.data.splits import draw_threats
from core.defenses.ppgsl import Ppgsl
from core.graph import Graph
from core.measures.ranking import compute_auc
from core.measures.utility import measure_utility
from core.registry import make_method
from core.release import Release
from core.seeding import Seed
from core.threats import Threats
from tests.benchmarks.finite import print_finite

FIRST_SPLIT = 5
SETTINGS: dict[str, dict[str, Any]] = {
    "k = 0": {"k": 0},
    "k = 1, μ = 50, SITP (default)": {},
    "k = 5": {"k": 5},
    "k = 50": {"k": 50},
    "μ = 10": {"mu": 10},
    "μ = 100": {"mu": 100},
    "μ = 500, one surrogate": {"mu": 500},
    "ADV": {"protocol": "adv"},
    "μ = 1": {"mu": 1},
    "original": {},
}
METRICS = ("link_prediction_auc", "node_classification_f1")


class Watched(Ppgsl):
    """PPGSL that keeps a copy of the weights every 50 steps."""

    def _compute_distortion(
        self, weights: torch.Tensor, original: torch.Tensor, is_weighted: bool
    ) -> torch.Tensor:
        seen: list[np.ndarray] = self.__dict__.setdefault("_seen", [])
        seen.append(weights.detach().cpu().numpy().copy())
        return super()._compute_distortion(weights, original, is_weighted)

    def list_courses(
        self, graph: Graph, threats: Threats, context: Context
    ) -> Iterator[tuple[int, Release]]:
        """(steps done, release drawn from the weights at that time)."""
        final = self.publish(graph, threats, context)
        pairs, _ = self._make_pairs(graph, threats, 1.0, context)
        for step in range(0, self.steps, 50):
            keep = context.rng("course", step).random(len(pairs)) < self.__dict__["_seen"][step]
            yield step, self.build_release(graph.with_edges(pairs[keep]))
        yield self.steps, final


def judge(release: Release, threats: Threats, seed: Seed, attacks: list[str]) -> list[float]:
    """AUC of the attacks, of link prediction, and F1."""
    assert threats.link is not None
    context = Context(seed.child("attack"), shared_seed=seed)
    aucs = []
    for name in attacks:
        attack = make_method(name, None, "link_attack")
        scores = attack.score(release, threats.link, context).scores
        aucs.append(compute_auc(scores, threats.link.truth)[0])
    found = {item.metric: item.value for item in measure_utility(release, threats, context)[0]}
    return [*aucs, *(found[name] for name in METRICS)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--graph", default="cora")
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--alpha", type=float, default=0.015)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--course", action="store_true")
    parser.add_argument("--attacks", default="gae_cosine")
    options = parser.parse_args()
    torch.set_num_threads(1)
    graph = load_dataset(options.graph).graph
    attacks = options.attacks.split(",")
    print(f"setting | {' | '.join(attacks)} | link prediction | F1 | CPU s")
    rows: dict[str, list[list[float]]] = {}
    for name, settings in SETTINGS.items():
        wanted = options.only or [key for key in SETTINGS if key != "original"]
        if not any(text in name for text in wanted):
            continue
        for split in range(FIRST_SPLIT, FIRST_SPLIT + options.splits):
            seed = Seed(split)
            threats = draw_threats(graph, seed, utility="label", hide_links=0.1)
            defense = Watched(alpha=options.alpha, **settings)
            context, started = Context(seed.child("defense", name)), time.process_time()
            if options.course:
                for step, release in defense.list_courses(threats.visible, threats, context):
                    cells = [f"{value:.3f}" for value in judge(release, threats, seed, attacks)]
                    print(f"{name}, split {split}, step {step} |", " | ".join(cells), flush=True)
                continue
            release = Release(threats.visible)
            if name != "original":
                release = defense.publish(threats.visible, threats, context)
            seconds = time.process_time() - started
            rows.setdefault(name, []).append([*judge(release, threats, seed, attacks), seconds])
        if name in rows:
            means, spreads = (
                np.mean(rows[name], axis=0),
                np.std(rows[name], axis=0, ddof=len(rows[name]) > 1),
            )
            cells = [f"{m:.3f} ({s:.3f})" for m, s in zip(means[:-1], spreads[:-1], strict=True)]
            print(f"{name} | {' | '.join(cells)} | {means[-1]:.0f}", flush=True)


if __name__ == "__main__":
    print_finite(main)
