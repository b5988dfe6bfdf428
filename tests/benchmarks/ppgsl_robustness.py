"""PPGSL when the attacker compares embeddings otherwise than its surrogate (paper, App. D).

    python -m tests.benchmarks.ppgsl_robustness [--splits 3] [--alpha 0.015]

Rows: the surrogate's head that the release was learned against; columns: the head of the graph
auto-encoder that attacks it, and SEAL. AUC on the sensitive links of Cora, mean and standard
deviation over the splits. The paper: protection holds whatever the attacker's head.
"""

from __future__ import annotations

import argparse

import numpy as np

from core.context import Context
from core.data.catalogue import load_dataset
from core.data.splits import draw_threats
from core.measures.ranking import compute_auc
from core.registry import make_method
from core.release import Release
from core.seeding import Seed
from core.threats import Threats
from tests.benchmarks.finite import print_finite

HEADS = ("cosine", "inner", "mlp")
ATTACKS = (*(("gae_cosine", {"head": head}) for head in HEADS), ("seal", {}))


def attack(release: Release, threats: Threats, seed: Seed) -> list[float]:
    assert threats.link is not None
    values = []
    for key, config in ATTACKS:
        scores = (
            make_method(key, config, "link_attack")
            .score(release, threats.link, Context(seed.child(key, str(config))))
            .scores
        )
        values.append(compute_auc(scores, threats.link.truth)[0])
    return values


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--alpha", type=float, default=0.015)
    options = parser.parse_args()
    graph = load_dataset("cora").graph
    print(f"{'learned against':16}" + "".join(f"{h:>16}" for h in (*HEADS, "SEAL")))
    for defense_head in (None, *HEADS):
        rows = []
        for split in range(options.splits):
            seed = Seed(split)
            threats = draw_threats(graph, seed, hide_links=0.1)
            release = Release(threats.visible)
            if defense_head is not None:
                config = {"head": defense_head, "alpha": options.alpha}
                release = make_method("ppgsl", config, "defense").publish(
                    threats.visible, threats, Context(seed.child("defense"))
                )
            rows.append(attack(release, threats, seed))
        cells = zip(np.mean(rows, axis=0), np.std(rows, axis=0, ddof=1), strict=True)
        print(
            f"{defense_head or 'original':16}"
            + "".join(f"{mean:9.3f} ({spread:.3f})" for mean, spread in cells),
            flush=True,
        )


if __name__ == "__main__":
    print_finite(main)
