"""Attackers who do and who do not know the defense, beside what the release is good for.

    python -m tests.benchmarks.adaptive_attacks cora [--graph NAME|FILE] [--nodes FILE --id COLUMN]
        [--label COLUMN] [--unknown VALUE] [--splits 5] [--only TEXT …]
        [--attacks KEY …] [--outside] [--out FILE]

10 % of the links are sensitive and hidden, another 10 % are held back for testing; each split
draws both anew. Per release: the strongest of the attackers who do not know the defense, and of
the same attackers who run it once more on the release, each by AUC with the TPR at 1 % FPR of
that attacker; link prediction, F1 and CPU seconds. Means over the splits, with the standard
deviation of the AUC. Rows are printed as they come and kept in --out (JSON lines). --outside also
runs the attacker of `outside_attacker` on the same shadow release, beside the strongest adaptive
one.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from core.attacks.adaptive import learn_adaptive
from core.attacks.shadow_release import share_shadow_release
from core.cli.arguments import load_input
from core.context import Context, SharedWork
from core.data.splits import draw_threats
from core.errors import AuditError
from core.graph import Graph
from core.measures.ranking import compute_auc, compute_roc
from core.measures.utility import measure_utility
from core.registry import make_method, parse_method
from core.release import Release
from core.results import PairScores
from core.seeding import Seed
from core.threats import Threats
from tests.benchmarks.finite import print_finite
from tests.benchmarks.outside_attacker import attack_from_outside

ATTACKS = (
    "ncn",
    "pair_classifier",
    "feature_neighbourhood",
    "feature_cosine",
    "gae_cosine",
    "denoising",
    "adamic_adar",
    "preferential_attachment",
    "personalized_pagerank",
)
ALPHAS = (0.04, 0.025, 0.02, 0.015, 0.0125)
DEFAULT = 0.015
COMMITTEE_ALPHAS = (0.04, 0.06, 0.025)
"""Those of PPGSL against a committee, features withheld; the same α removes more links there."""
RANDOMISED = ("edge_rand", "randomized_response", "blink")
EPSILONS = (2.0, 3.0, 4.0, 6.0)
OTHERS: tuple[tuple[str, dict[str, Any]], ...] = (
    *((key, {"epsilon": epsilon}) for epsilon in EPSILONS for key in RANDOMISED),
    ("lap_graph", {"epsilon": 6.0}),
    ("dice", {"strength": 0.2}),
    ("ppne", {"strength": 0.2}),
    ("rw_lp", {"strength": 0.6}),
    ("random_rewiring", {"strength": 0.4}),
    ("record_swapping", {}),
    ("record_swapping", {"near": 0.4}),
)


def list_releases() -> Iterator[tuple[str, dict[str, Any]]]:
    """(defense, settings), what a cut run must have first: PPGSL's default α, other defenses."""
    yield "original", {}
    for alpha in sorted(ALPHAS, key=lambda value: value != DEFAULT):
        for withheld in (False, True):
            yield "ppgsl", {"alpha": alpha, **({"withhold_features": True} if withheld else {})}
        if alpha == DEFAULT:
            yield from OTHERS
            for price in COMMITTEE_ALPHAS:
                yield "ppgsl", {"alpha": price, "withhold_features": True, "committee": True}


def measure(
    graph: Graph,
    threats: Threats,
    key: str,
    config: dict[str, Any],
    split: int,
    attacks: Sequence[str] = ATTACKS,
    is_outside: bool = False,
) -> dict:
    """One row: AUC and TPR of every attack, standard and adaptive, utilities and CPU seconds."""
    seed, link = Seed(split).child(key, json.dumps(config)), threats.link
    assert link is not None
    started = time.process_time()
    release, defense = Release(graph), None
    if key != "original":
        defense: Any = make_method(key, config, "defense")
        release = defense.publish(graph, threats, Context(seed.child("defense")))
    row: dict[str, Any] = {"seconds": time.process_time() - started}
    shared = SharedWork(limit=30)
    truth, influences = link.truth, {}

    def keep(name: str, scores: PairScores, plain: np.ndarray | float = 0.0) -> np.ndarray:
        auc, influence = compute_auc(scores.scores, truth)
        error = float(np.linalg.norm(influence - plain))
        row[name] = [auc, float(compute_roc(scores.scores, truth).at(0.01)), error]
        return influence

    for name in attacks:
        attack: Any = parse_method(name, "link_attack")
        if attack.supports(release, link) is not None:
            continue
        context = Context(seed.child(name), shared_seed=seed, shared=shared)
        plain = keep(name, attack.score(release, link, context))
        if defense is not None:
            found = learn_adaptive(attack, defense, release, link, threats, context)(link)
            influences[name] = keep(f"{name}@adaptive", found, plain)
            row["note"] = (found.facts or {}).get("shadow_release", "")
    if is_outside and influences and release.graph.features is not None:
        name, auc, _ = find_worst(row, is_adaptive=True)
        context = Context(seed, shared_seed=seed, shared=shared)
        shadow = share_shadow_release(defense, release, threats, context)
        known = np.concatenate([shadow.hidden, shadow.absent])
        scores = attack_from_outside(
            (shadow.release.graph, known), np.arange(len(known)) < len(shadow.hidden),
            (release.graph, link.pairs),
        )  # fmt: skip
        outside, influence = compute_auc(scores, truth)
        row["outside"] = {
            "auc": outside,
            "tpr": float(compute_roc(scores, truth).at(0.01)),
            "ahead": outside - auc,
            "error": float(np.linalg.norm(influence - influences[name])),
        }
    row["all_seconds"] = time.process_time() - started
    for item in measure_utility(release, threats, Context(seed, shared=shared))[0]:
        if item.value is not None:
            row[item.metric] = item.value
    return row


def list_falls(row: dict[str, Any]) -> list[tuple[str, float]]:
    """(attack, fall in AUC) where the adaptive form is below the plain one beyond noise.

    Noise: twice the standard error of the difference on the same pairs.
    """
    falls = []
    for name, value in row.items():
        if isinstance(value, list) and (other := row.get(f"{name}@adaptive")):
            fall = value[0] - other[0]
            if fall > 2 * other[2]:
                falls.append((name, fall))
    return falls


def find_worst(row: dict[str, Any], is_adaptive: bool) -> tuple[str, float, float]:
    """The strongest attack of a row, its AUC and its TPR at 1 % FPR."""
    found = [
        (name.partition("@")[0], *value[:2])
        for name, value in row.items()
        if isinstance(value, list) and name.endswith("@adaptive") == is_adaptive
    ]
    return max(found, key=lambda item: item[1]) if found else ("-", float("nan"), float("nan"))


def describe_row(row: dict[str, Any]) -> str:
    """One line with all that the table averages, so that a run that is cut still tells it."""
    said = []
    for is_adaptive, word in ((False, "standard"), (True, "adaptive")):
        attack, auc, tpr = find_worst(row, is_adaptive)
        said.append(f"{word} {auc:.3f} / {tpr:.2f} ({attack})")
    for metric, word in (("link_prediction_auc", "LP"), ("node_classification_f1", "F1")):
        said.append(f"{word} {row.get(metric, float('nan')):.3f}")
    if found := row.get("outside"):
        ahead = f"ahead by {found['ahead']:.3f} ± {found['error']:.3f}"
        said.append(f"outside {found['auc']:.3f} / {found['tpr']:.2f}, {ahead}")
    said += [f"{name} falls by {fall:.3f}" for name, fall in list_falls(row)]
    return ", ".join(said) + f", CPU {row['all_seconds']:.0f} s"


def print_table(rows: dict[str, list[dict]]) -> None:
    print(
        f"{'release':38}{'standard':>9}{'sd':>7}{'TPR':>7}{'adaptive':>9}{'sd':>7}{'TPR':>7}"
        f"{'LP':>8}{'F1':>8}{'CPU s':>8}  splits, strongest standard, adaptive"
    )
    for name, items in rows.items():
        cells, names = "", []
        for is_adaptive in (False, True):
            worst = [find_worst(row, is_adaptive) for row in items]
            aucs = [auc for _, auc, _ in worst]
            spread = np.std(aucs, ddof=len(aucs) > 1)
            cells += f"{np.mean(aucs):9.3f}{spread:7.3f}{np.mean([t for *_, t in worst]):7.2f}"
            names.append("/".join(sorted({attack for attack, *_ in worst})))
        utility = [
            np.mean([row.get(metric, np.nan) for row in items])
            for metric in ("link_prediction_auc", "node_classification_f1", "seconds")
        ]
        print(
            f"{name:38}{cells}{utility[0]:8.3f}{utility[1]:8.3f}{utility[2]:8.1f}  "
            f"{len(items)} {', '.join(names)}"
        )
    pairs = sum(
        name.endswith("@adaptive") for items in rows.values() for row in items for name in row
    )
    falls = sum(len(list_falls(row)) for items in rows.values() for row in items)
    print(f"adaptive below plain beyond noise: {falls} of {pairs}")
    for note in {row["note"] for items in rows.values() for row in items if row.get("note")}:
        print("note:", note)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name", nargs="?", default="cora", help="graph of the catalogue, or file")
    parser.add_argument("--graph", help="the same")
    parser.add_argument("--nodes", type=Path)
    parser.add_argument("--id")
    parser.add_argument("--private")
    parser.add_argument("--label", "--utility", dest="utility")
    parser.add_argument("--unknown", action="append", default=[])
    parser.add_argument("--ignore", action="append", default=[])
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--only", nargs="*", default=[], help="releases whose name is, or starts")
    parser.add_argument("--attacks", nargs="*", default=ATTACKS)
    parser.add_argument("--outside", action="store_true", help="and the attacker from outside")
    parser.add_argument("--out", type=Path, help="JSON lines of finished rows")
    options = parser.parse_args()
    options.graph = options.graph or options.name
    torch.set_num_threads(1)
    try:
        graph = load_input(options, lambda text: print(text, file=sys.stderr)).graph
    except AuditError as error:
        sys.exit(f"error: {error}")
    label = options.utility or next(
        (name for name in ("label", *graph.attributes) if name in graph.attributes), None
    )
    known: dict[tuple[str, int], dict] = {}
    if options.out and options.out.exists():
        for line in options.out.read_text(encoding="utf-8").splitlines():
            entry = json.loads(line)
            known[entry["release"], entry["split"]] = entry["row"]
    rows: dict[str, list[dict]] = {}
    for split in range(options.splits):
        threats = draw_threats(
            graph, Seed(split), private=options.private, utility=label, hide_links=0.1
        )
        for key, config in list_releases():
            name = ", ".join([key, *(f"{k}={v:g}" for k, v in config.items())])
            if options.only and not any(name.startswith(text) for text in options.only):
                continue
            row = known.get((name, split))
            if row is None:
                try:
                    row = measure(
                        threats.visible, threats, key, config, split, options.attacks,
                        options.outside,
                    )  # fmt: skip
                except AuditError as error:
                    print(f"{name}: {error}", file=sys.stderr)
                    continue
                if options.out:
                    with options.out.open("a", encoding="utf-8") as file:
                        entry = {"release": name, "split": split, "row": row}
                        file.write(json.dumps(entry) + "\n")
            rows.setdefault(name, []).append(row)
            print(f"split {split}: {name}: {describe_row(row)}", flush=True)
    print_table(rows)


if __name__ == "__main__":
    print_finite(main)
