"""AUC and CPU seconds of every link attack on Cora, 10 % of the links hidden, 10 % held back.

    python -m tests.benchmarks.link_attacks_cora [--graph cora] [--splits 5] [--only KEY …]

Goal: GAE + cosine at least 0.89 on the original graph (a plain prototype: 0.899).
"""

from __future__ import annotations

import argparse
import os
import time

import numpy as np
import torch

from core.attacks.link import LINK_ATTACKS
from core.context import Context
from core.data.catalogue import load_dataset
from core.data.splits import draw_threats
from core.measures.ranking import compute_auc
from core.release import Release
from core.seeding import Seed
from tests.benchmarks.finite import print_finite
from tests.conftest import find_data_root


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--graph", default="cora")
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--only", nargs="*")
    options = parser.parse_args()
    torch.set_num_threads(1)
    root = find_data_root()
    if root is not None:
        os.environ.setdefault("AUDIT_DATA", str(root))
    graph = load_dataset(options.graph).graph
    print(f"{graph}, {options.splits} splits")
    print(f"{'attack':26}{'AUC':>8}{'sd':>8}{'CPU s':>9}")
    for method in LINK_ATTACKS:
        if options.only and method.info.key not in options.only:
            continue
        aucs, seconds = [], []
        for split in range(options.splits):
            threats = draw_threats(graph, Seed(split), hide_links=0.1)
            assert threats.link is not None
            release = Release(threats.visible)
            reason = method().supports(release, threats.link)
            if reason:
                print(f"{method.info.key:26}{reason}")
                break
            began = time.process_time()
            scores = method().score(release, threats.link, Context(Seed(split))).scores
            seconds.append(time.process_time() - began)
            aucs.append(compute_auc(scores, threats.link.truth)[0])
        if aucs:
            print(
                f"{method.info.key:26}{np.mean(aucs):8.4f}{np.std(aucs):8.4f}"
                f"{np.mean(seconds):9.2f}",
                flush=True,
            )


if __name__ == "__main__":
    print_finite(main)
