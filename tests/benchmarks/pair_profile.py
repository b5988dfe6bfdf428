"""PPGSL Table I: how near the ends of visible, hidden and absent links are, beside the paper.

    python -m tests.benchmarks.pair_profile [cora|lastfm_asia …]

10 % of the links hidden and 10 % held back for utility, five splits. The paper's attribute
similarities are not cosines (row-normalised inner products), so they are not beside ours. How it
trains GraphSAGE is not stated: ours pushes random pairs apart, to a cosine of 0.
"""

from __future__ import annotations

import sys

from core.context import Context
from core.data.catalogue import load_dataset
from core.data.splits import draw_threats
from core.measures.intervals import combine_measurements
from core.measures.pair_profile import compute_pair_profile
from core.seeding import Seed

PAPER = {
    ("cora", "visible"): (1.000, 0.000, 0.900),
    ("cora", "hidden"): (3.206, 0.164, 0.702),
    ("cora", "absent"): (7.007, 0.254, 0.499),
    ("lastfm_asia", "visible"): (1.000, 0.000, 0.978),
    ("lastfm_asia", "hidden"): (2.480, 0.089, 0.947),
    ("lastfm_asia", "absent"): (5.560, 0.124, 0.820),
}
"""Path length, disconnected share, embedding cosine."""

METRICS = ("pair_path_length", "pair_disconnected", "pair_embedding_cosine", "pair_feature_cosine")


def main(names: list[str]) -> None:
    for name in names or ["cora"]:
        graph = load_dataset(name).graph
        runs = []
        for seed in range(5):
            threats = draw_threats(graph, Seed(seed), hide_links=0.1, test_links=0.1)
            assert threats.link is not None
            runs.append(
                compute_pair_profile(
                    threats.visible, threats.link.hidden, threats.link.absent, Context(Seed(seed))
                )
            )
        print(f"{name}: ours [95 %] | paper")
        for kind in ("visible", "hidden", "absent"):
            cells = []
            for index, metric in enumerate(METRICS):
                items = [m for run in runs for m in run[kind] if m.metric == metric]
                theirs = PAPER.get((name, kind), ())
                paper = f"{theirs[index]:.3f}" if index < len(theirs) else "—"
                cells.append(f"{metric} {combine_measurements(items):.3f} | {paper}")
            print(f"  {kind:8}", "   ".join(cells))


if __name__ == "__main__":
    main(sys.argv[1:])
