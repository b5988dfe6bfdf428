"""Claimed ε, shown lower bound and trials for every kind of DP defense, sound and broken.

    python -m tests.benchmarks.claim_checks [--trials 2000] [--methods edge_rand,blink]

"half the noise" runs the same mechanism at twice its ε and keeps the claim; for DGG it is the noise
of PGB's implementation. Blink and PrivDPR publish little of what their guarantee covers, so that
less noise need not show in a release; of PrivSKG the counts are published that its graph is
fitted to.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from core.context import Context
from core.graph import Graph
from core.methods import Defense
from core.privacy.claim_check import check_claim
from core.registry import make_method
from core.release import Release
from core.seeding import Seed
from tests.benchmarks.finite import print_finite
from tests.oracles.broken import CountsOfPrivSkg, FreeCountPrivDpr, PgbPrivSkg, make_half_noise

QUICK = {"epochs": 1, "dimensions": 8, "hidden": 8, "walk_length": 4, "batch": 24}
"""PrivDPR small enough for hundreds of runs; its accounting is the same."""

DELTA_OF_PGB = 0.01

CASES = {
    "edge_rand": ("edge_rand", {}, (1.0, 2.0), 2000),
    "sym_rr": ("sym_rr", {}, (1.0, 2.0), 2000),
    "randomized_response": ("randomized_response", {}, (0.5, 1.0), 2000),
    "lap_graph": ("lap_graph", {}, (1.0, 2.0), 2000),
    "blink": ("blink", {"delta": 0.1}, (1.0, 2.0), 2000),
    "blink soft": ("blink", {"delta": 0.1, "variant": "soft"}, (1.0, 2.0), 1000),
    "privdpr": ("privdpr", QUICK, (0.1, 1.0), 500),
    "dgg": ("dgg", {}, (1.0, 2.0), 10_000),
    "priv_skg": ("priv_skg", {"delta": DELTA_OF_PGB}, (1.0, 2.0), 10_000),
}


def make_game(name: str) -> dict:
    """Neighbouring graphs and statistics where those of `check_claim` see little."""
    if name == "dgg":
        nodes = np.arange(40)
        ring = np.concatenate([np.stack([nodes, np.roll(nodes, step)], 1) for step in (1, 2)])
        return {
            "neighbors": _add_link(ring, (0, 20)),
            "describe": lambda release: {"degrees": _sort_degrees(release)},
        }
    if name == "priv_skg":  # the link closes as many triangles as its ends share neighbours
        triangle = np.array([[0, 1], [0, 2], [1, 2]])
        shared = np.array([[end, node] for node in range(5, 15) for end in (3, 4)])
        return {
            "neighbors": _add_link(np.concatenate([triangle, shared]), (3, 4)),
            "describe": lambda release: {"counts": _read_counts(release)},
        }
    return {}


def _add_link(pairs: np.ndarray, link: tuple[int, int]) -> tuple[Graph, Graph]:
    num_nodes = int(pairs.max()) + 1
    return Graph.from_pairs(np.append(pairs, [link], axis=0), num_nodes), Graph.from_pairs(
        pairs, num_nodes
    )


def _sort_degrees(release: Release) -> dict[str, int]:
    return dict(
        zip(("lower", "higher"), sorted(release.graph.degrees[[0, 20]].tolist()), strict=True)
    )


def _read_counts(release: Release) -> dict[str, float]:
    counts = release.graph.adjacency[[0] * 4, [1, 2, 3, 4]].tolist()
    return dict(zip(("links", "wedges", "claws", "triangles"), counts, strict=True))


def list_variants(key: str, config: dict, epsilon: float) -> dict[str, Defense]:
    """The defense as it is, and with less noise than it claims."""
    if key == "priv_skg":
        sound, of_pgb = (kind(epsilon=epsilon, **config) for kind in (CountsOfPrivSkg, PgbPrivSkg))
        return {"sound": sound, "half the noise": make_half_noise(sound), "PGB's noise": of_pgb}
    sound = make_method(key, {"epsilon": epsilon, **config})
    rows = {"sound": sound, "half the noise": make_half_noise(sound)}
    if key == "privdpr":
        rows["true number of links"] = FreeCountPrivDpr(epsilon=epsilon, **QUICK)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--trials", type=int, default=2000)
    parser.add_argument("--methods", default=",".join(CASES))
    options = parser.parse_args()
    print("mechanism | variant | claimed ε | lower bound (95 %) | trials | statistic | verdict | s")
    for name in options.methods.split(","):
        key, config, epsilons, most = CASES[name]
        for epsilon in epsilons:
            for variant, defense in list_variants(key, config, epsilon).items():
                start = time.process_time()
                trials = min(options.trials, most)
                result = check_claim(defense, Context(Seed(0)), trials=trials, **make_game(name))
                verdict = "refuted" if result.is_refuted else "not refuted"
                print(
                    f"{name} | {variant} | {result.claimed:g} | {result.lower_bound:.2f} | "
                    f"{result.trials} | {result.statistic} | {verdict} | "
                    f"{time.process_time() - start:.0f}",
                    flush=True,
                )


if __name__ == "__main__":
    print_finite(main)
