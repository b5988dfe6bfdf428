"""What groups of the columns of pairs add for an adaptive attacker: an ablation.

    python -m tests.benchmarks.pair_columns [--graph cora] [--defense ppgsl] [--splits 0,1]
        [--groups "with neighbours;clusters"]

10 % of the links are withheld. The attacker learns on one shadow release from all columns, from all
but those whose names contain none of the groups' words (`before`), and from these and one group
each. AUC / TPR at 1 % FPR on the withheld links, and the AUC on its own secrets, by which
an attacker can choose.
"""

from __future__ import annotations

import argparse

import numpy as np
import torch

from core.attacks.link.pair_classifier import fit_pair_classifier
from core.attacks.link.pair_features import describe_pairs, list_columns
from core.attacks.shadow_release import make_shadow_release
from core.context import Context
from core.data.catalogue import load_dataset
from core.data.splits import draw_threats
from core.measures.ranking import compute_auc, compute_roc
from core.methods import Defense
from core.registry import parse_method
from core.seeding import Seed
from core.threats import LinkThreat
from tests.benchmarks.finite import print_finite


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--graph", default="cora")
    parser.add_argument("--defense", default="ppgsl")
    parser.add_argument("--splits", default="0,1")
    parser.add_argument("--groups", default="with neighbours;clusters")
    options = parser.parse_args()
    torch.set_num_threads(1)
    graph = load_dataset(options.graph).graph
    defense = parse_method(options.defense, "defense")
    assert isinstance(defense, Defense)
    for split in map(int, options.splits.split(",")):
        seed, threats = Seed(split), draw_threats(graph, Seed(split), hide_links=0.1)
        link = threats.link
        assert link is not None
        release = defense.publish(threats.visible, threats, Context(seed.child("defense")))
        shadow = make_shadow_release(defense, release, threats, Context(seed.child("shadow")))
        shadow_threat = LinkThreat(shadow.hidden, shadow.absent, link.prior)
        tables = [
            describe_pairs(shown, pairs, Context(seed.child("columns")), False)
            for shown, pairs in (
                (shadow.release.graph, shadow_threat.pairs),
                (release.graph, link.pairs),
            )
        ]
        names = list_columns(release.graph, False)
        groups = {text: np.array([text in n for n in names]) for text in options.groups.split(";")}
        base_columns = ~np.any([*groups.values()], axis=0)
        masks = {"before": base_columns, **{g: base_columns | mask for g, mask in groups.items()}}
        for name, mask in {**masks, "all": np.ones(len(names), bool)}.items():
            learned, columns = (table[:, mask] for table in tables)
            classifier = fit_pair_classifier(
                learned, shadow_threat.truth, Context(seed.child("judge"))
            )
            scores = classifier.compute_logits(columns)
            result = compute_auc(scores, link.truth)[0], compute_roc(scores, link.truth).at(0.01)
            shadow_auc = compute_auc(classifier.held_out, shadow_threat.truth)[0]
            print(
                f"split {split} {name:20s} {result[0]:.4f} / {result[1]:.3f}  own {shadow_auc:.4f}"
            )


if __name__ == "__main__":
    print_finite(main)
