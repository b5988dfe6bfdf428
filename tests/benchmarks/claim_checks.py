"""Claimed ε, shown lower bound and trials for every kind of DP defense, sound and broken.

    python -m tests.benchmarks.claim_checks [--trials 2000] [--methods edge_rand,blink]

"half the noise" runs the same mechanism at twice its ε and keeps the claim. Blink and PrivDPR
publish little of what their guarantee covers, so that less noise need not show in a release.
"""

from __future__ import annotations

import argparse
import time

from core.context import Context
from core.privacy.claim_check import check_claim
from core.registry import make_method
from core.seeding import Seed
from tests.oracles.broken import FreeCountPrivDpr, make_half_noise

QUICK = {"epochs": 1, "dimensions": 8, "hidden": 8, "walk_length": 4, "batch": 24}
"""PrivDPR small enough for hundreds of runs; its accounting is the same."""

CASES = {
    "edge_rand": ("edge_rand", {}, (1.0, 2.0), 2000),
    "sym_rr": ("sym_rr", {}, (1.0, 2.0), 2000),
    "randomized_response": ("randomized_response", {}, (0.5, 1.0), 2000),
    "lap_graph": ("lap_graph", {}, (1.0, 2.0), 2000),
    "blink": ("blink", {"delta": 0.1}, (1.0, 2.0), 2000),
    "blink soft": ("blink", {"delta": 0.1, "variant": "soft"}, (1.0, 2.0), 1000),
    "privdpr": ("privdpr", QUICK, (0.1, 1.0), 500),
}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--trials", type=int, default=2000)
    parser.add_argument("--methods", default=",".join(CASES))
    options = parser.parse_args()
    print("mechanism | variant | claimed ε | lower bound (95 %) | trials | statistic | verdict | s")
    for name in options.methods.split(","):
        key, config, epsilons, most = CASES[name]
        for epsilon in epsilons:
            sound = make_method(key, {"epsilon": epsilon, **config})
            rows = {"sound": sound, "half the noise": make_half_noise(sound)}
            if key == "privdpr":
                rows["true number of links"] = FreeCountPrivDpr(epsilon=epsilon, **QUICK)
            for variant, defense in rows.items():
                start = time.process_time()
                result = check_claim(defense, Context(Seed(0)), trials=min(options.trials, most))
                verdict = "refuted" if result.is_refuted else "not refuted"
                print(
                    f"{name} | {variant} | {result.claimed:g} | {result.lower_bound:.2f} | "
                    f"{result.trials} | {result.statistic} | {verdict} | "
                    f"{time.process_time() - start:.0f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
