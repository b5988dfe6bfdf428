"""Every attack on a private column, on the original and on releases: who is strongest?

    python -m tests.benchmarks.attribute_attackers [--graphs nba:country,cora:label] [--splits 0,1]
        [--releases original,random,dice,edgerand,gps,netfense] [--attacks KEY[:name=value],…]
        [--known 0.1] [--others 0.1,0.3] [--own KEY]

Graphs may be planted ones: uneven (three blocks that meet unevenly), unlike (two whose links
mostly cross), noise. 10 % of the values known unless said, to defenses and attackers alike;
attackers of `--others` know such shares of people of their own. A release, as an attack, may have
settings of its own: gps:eta=15+target=0.6. Rows are AUCs (one against the rest
for several classes), those below one half in brackets inverted; CPU seconds behind. Attacks
of the standard preset unless named; `neighbourhood_classifier`, or `--own`, beside the strongest
of the others, and how far it is ahead.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace

import numpy as np
import torch

from core.audit.asked.presets import PRESETS, Asked
from core.context import Context, SharedWork
from core.data.catalogue import load_dataset
from core.data.splits import draw_attribute_threat, draw_threats
from core.data.synthetic import generate_social
from core.graph import Graph
from core.measures.ranking import measure_class_probabilities
from core.registry import make_method
from core.release import Release
from core.seeding import Seed
from core.threats import Threats
from tests.benchmarks.finite import print_finite
from tests.oracles.graphs import plant_blocks

GRAPHS = "nba:country,social:seniority,social:affiliation,cora:label,lastfm_asia:target"
RELEASES: dict[str, tuple[str, dict] | None] = {
    "original": None,
    "random": ("random_deletion", {"strength": 0.5}),
    "dice": ("dice", {"strength": 0.3}),
    "edgerand": ("edge_rand", {"epsilon": 6.0}),
    "gps": ("gps_sampling", {}),
    "netfense": ("netfense", {}),
}
PLANTED = {
    "uneven": ((0.45, 0.33, 0.22), [[6, 2, 3], [2, 7, 1], [3, 1, 3]], 2.5),
    "unlike": ((0.5, 0.5), [[2, 8], [8, 2]], 1.5),
    "noise": ((0.45, 0.33, 0.22), np.ones((3, 3)), 8.0),
}
"""Shares, how often blocks meet, and links a person that 1 stands for; on 900 people."""


def load(name: str, split: int) -> tuple[Graph, str]:
    """A graph by name, and its private column; planted ones are drawn anew for each split."""
    name, _, column = name.partition(":")
    if name not in PLANTED:
        return generate_social(1000) if name == "social" else load_dataset(name).graph, column
    shares, rates, links = PLANTED[name]
    ordered = np.searchsorted(np.round(np.cumsum(shares) * 900), np.arange(900), side="right")
    codes = np.random.default_rng(split).permutation(ordered)
    return plant_blocks(codes, np.array(rates) * links / 900, split), "private"


def parse(text: str) -> tuple[str, dict[str, str]]:
    """Key and settings of KEY:name=value+name=value."""
    key, _, settings = text.partition(":")
    fields = (part.partition("=") for part in settings.split("+") if part)
    return key, {name: value for name, _, value in fields}


def publish(text: str, threats: Threats, seed: Seed) -> Graph:
    name, fields = parse(text)
    choice = RELEASES[name]
    if choice is None:
        return threats.visible
    method = make_method(choice[0], {**choice[1], **fields}, "defense")
    return method.publish(threats.visible, threats, Context(seed.child("release", name))).graph


def draw_attackers(threats: Threats, column: str, others: str, seed: Seed) -> dict[str, Threats]:
    """By name: who knows what the defense does, and those who know people of their own."""
    drawn = {
        f"others {share:.0%}": draw_attribute_threat(
            threats.visible, column, share, seed.child("others", share)
        )
        for share in map(float, filter(None, others.split(",")))
    }
    return {"assumed": threats} | {
        who: replace(threats, attribute=threat) for who, threat in drawn.items()
    }


def attack(text: str, graph: Graph, threats: Threats, context: Context) -> float | None:
    """AUC of an attack by key and settings; None where it declines."""
    key, fields = parse(text)
    method = make_method(key, fields, "attribute_attack")
    if method.supports(Release(graph), threats.attribute):
        return None
    found = method.infer(Release(graph), threats.attribute, context)
    rows = measure_class_probabilities(found, threats.attribute)
    return next(row.value for row in rows if row.metric == "auc")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--graphs", default=GRAPHS)
    parser.add_argument("--splits", default="0,1,2")
    parser.add_argument("--releases", default="original,random,edgerand")
    parser.add_argument("--attacks", default="")
    parser.add_argument("--known", type=float, default=0.1)
    parser.add_argument("--others", default="")
    parser.add_argument("--own", default="neighbourhood_classifier")
    options = parser.parse_args()
    torch.set_num_threads(1)
    standard = next(preset for preset in PRESETS if preset.key == "standard")
    keys = (
        options.attacks.split(",")
        if options.attacks
        else [choice.key for choice in standard.list_attacks(Asked(column=True))]
    )
    for text in options.graphs.split(","):
        for split in map(int, options.splits.split(",")):
            seed, known, own = Seed(split), options.known, options.own
            graph, column = load(text, split)
            threats = draw_threats(graph, seed, column, known=known, hide_links=0.01, test_links=0)
            for release in options.releases.split(","):
                shown = publish(release, threats, seed)
                kept = shown.num_edges / threats.visible.num_edges
                context = Context(seed.child("attack"), seed.child("shared"), shared=SharedWork())
                for who, told in draw_attackers(threats, column, options.others, seed).items():
                    cells = attack_all(keys, own, shown, told, context.child(who))
                    print(f"{text} split {split} {release} {kept:.2f} {who}  {cells}", flush=True)


def attack_all(keys: list[str], own: str, shown: Graph, threats: Threats, context: Context) -> str:
    """A row: how far `own` is ahead, AUC and CPU seconds of each attack."""
    values, cells = {}, []
    for key in keys:
        start = time.process_time()
        value = attack(key, shown, threats, context.child(key))
        if value is not None:
            values[key] = max(value, 1 - value)
            shape = f"{value:.3f}" if value >= 0.5 else f"({1 - value:.3f})"
            cells.append(f"{key} {shape} {time.process_time() - start:.1f}s")
    others = max((v for k, v in values.items() if k != own), default=0.5)
    ahead = f"ahead {values[own] - others:+.3f} " if own in values else ""
    return f"worst {max(values.values(), default=0.5):.3f}  {ahead}{'  '.join(cells)}"


if __name__ == "__main__":
    print_finite(main)
