"""Can people be found? `python -m tests.benchmarks.identity [--graphs cora,…] [--tables …]`.

Prints, for Cora, LastFM Asia and Facebook pages: the share of unique people at five depths
before and after each of ten defenses, with what they keep; and seeded matching over seeds and
overlap, on two samples of the links (`--matchers`, `--overlaps`, `--seeds` choose rows).

`--tables adaptive` prints the share found on defended releases by attackers who know a
neighbourhood or hold a second graph (75 % of the links, 20 seeds), and who know the defense too.
`--tables limit` prints the hits of an attacker who knows the image of everybody else,
`--tables cost` sets k-degree anonymity beside the original algorithm (tests/oracles/liu_terzi.py),
and `--tables nauty --graphs FILE` prints the share unique of a graph in ANO-NET's format.

`unique` is the share whom exact knowledge of the original finds for sure; `found` the share of
people a second graph finds (90 % of the links, 20 seeds); `kept` the share of links kept.
"""

from __future__ import annotations

import argparse
import re
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from core.algorithms.fingerprints import (
    DEPTHS,
    compute_class_sizes,
    compute_fingerprints,
    list_neighbors,
)
from core.attacks.identity.adaptive import PLAIN, find_adaptive
from core.attacks.identity.percolation import rank
from core.context import Context
from core.data.catalogue import load_dataset
from core.data.second_graph import draw_identity_threat
from core.defenses.k_degree_anonymity import KDegreeAnonymity, compute_group_degrees
from core.graph import Graph
from core.measures.identity import measure_anonymity, measure_matches
from core.registry import make_method, parse_method
from core.release import Release
from core.results import AnonymitySets, Matches
from core.seeding import Seed
from core.threats import IdentityThreat, Threats
from tests.benchmarks.finite import print_finite
from tests.oracles.liu_terzi import anonymize

GRAPHS = ("cora", "lastfm_asia", "facebook_pages")

DEFENSES = (
    "pseudonyms",
    "random_deletion:strength=0.1",
    "random_rewiring:strength=0.1",
    "degree_deletion:strength=0.1",
    "k_degree_anonymity:k=5",
    "k_degree_anonymity:k=25",
    "uniqueness_aware:strength=0.1",
    "uniqueness_aware:strength=0.1,additions=0.5",
    "edge_rand:epsilon=6",
    "dprr:epsilon=6",
)

ADAPTED = (
    "random_deletion:strength=0.1",
    "random_deletion:strength=0.3",
    "degree_deletion:strength=0.3",
    "k_degree_anonymity:k=5",
    "edge_rand:epsilon=3",
)

MATCHERS = (
    "seeded_percolation",
    "narayanan_shmatikov",
    "structural_alignment",
    "supervised_matcher",
    "transport_matcher",
)

SEEDS = (0, 5, 20, 100)
OVERLAPS = (0.5, 0.7, 0.9)


def measure(
    key: str, graph: Graph, threat: IdentityThreat, seed: int, config: dict[str, Any] | None = None
) -> dict[str, float | None]:
    attack = make_method(key, config or {}, "identity_attack")
    found = attack.find(Release(graph), threat, Context(Seed(seed)))  # type: ignore[attr-defined]
    rows = measure_anonymity if isinstance(found, AnonymitySets) else measure_matches
    return {item.metric: item.value for item in rows(found, threat)}


def print_uniqueness(graph: Graph) -> None:
    """Share unique at five depths, per release, and what a second graph finds."""
    threat = draw_identity_threat(graph, Seed(0), 0.9, 0.0, 20)
    head = " ".join(f"{depth[:10]:>10}" for depth in DEPTHS)
    print(f"\n{graph.name}: share unique\n{'release':44} {head}      found   kept  added")
    for text in ("original", *DEFENSES):
        release = graph
        if text != "original":
            defense = parse_method(text, "defense")
            context = Context(Seed(0))
            try:
                release = defense.publish(graph, Threats(graph), context).graph  # type: ignore[attr-defined]
            except Exception as error:
                print(f"{text:44} {error}")
                continue
        shares = [measure(depth, release, threat, 0)["share_unique"] for depth in DEPTHS]
        found = measure("seeded_percolation", release, threat, 0)["hits_at_1"]
        kept = np.isin(release.edge_codes, graph.edge_codes).sum()
        row = " ".join(f"{share:10.3f}" for share in shares)
        print(
            f"{text:44} {row} {found:10.3f} {kept / graph.num_edges:6.2f} "
            f"{(release.num_edges - kept) / graph.num_edges:6.2f}",
            flush=True,
        )


def print_matching(
    graph: Graph,
    repeats: int,
    keys: Sequence[str] = MATCHERS,
    overlaps: Sequence[float] = OVERLAPS,
    seeds: Sequence[int] = SEEDS,
) -> None:
    """Hits at 1 and precision at 0.9 confidence, both graphs being samples of one."""
    print(f"\n{graph.name}: matching two samples, {repeats} repeats (mean)")
    print("matcher               overlap seeds   hits@1  prec@.9 named@.9   CPU s")
    for overlap in overlaps:
        for num_seeds in seeds:
            for key in keys:
                if num_seeds == 0 and key in ("seeded_percolation", "narayanan_shmatikov"):
                    continue
                if num_seeds and key == "structural_alignment":  # it does not use them
                    continue
                started = time.process_time()
                rows = [match_samples(graph, key, overlap, num_seeds, r) for r in range(repeats)]
                seconds = (time.process_time() - started) / repeats
                names = ("hits_at_1", "precision_at_0.9_confidence", "named_at_0.9_confidence")
                shown = [mean([row[name] for row in rows]) for name in names]
                print(
                    f"{key:21} {overlap:7} {num_seeds:5} " + " ".join(shown) + f" {seconds:7.1f}",
                    flush=True,
                )


def print_adaptive(graph: Graph, repeats: int, keys: Sequence[str]) -> None:
    """Share found by standard and by adaptive attackers, and how often these took another form."""
    print(f"\n{graph.name}: {repeats} repeats (mean)\nrelease and attack  plain adaptive forms")
    for text in ADAPTED:
        defense = parse_method(text, "defense")
        for key in keys:
            attack, rows, forms = parse_method(key, "identity_attack"), [], 0
            for repeat in range(repeats):
                context = Context(Seed(repeat))
                release = defense.publish(graph, Threats(graph), context.child("release"))
                threat = draw_identity_threat(graph, Seed(repeat), 0.75, 0.0, 20)
                plain = attack.find(release, threat, context)
                found, facts = find_adaptive(
                    attack, defense, release, threat, Threats(graph), context
                )
                forms += facts != PLAIN
                rows.append([read_found(result, threat) for result in (plain, found)])
            shown = " ".join(f"{value:.3f}" for value in np.mean(rows, axis=0))
            print(f"{text:32} {key:22} {shown} {forms}/{repeats}", flush=True)


def read_found(found: AnonymitySets | Matches, threat: IdentityThreat) -> float:
    rows = measure_anonymity if isinstance(found, AnonymitySets) else measure_matches
    return next(item.value for item in rows(found, threat) if item.metric == "expected_found")


def print_limit(graph: Graph, repeats: int, overlaps: Sequence[float]) -> None:
    """Hits at 1 by shared neighbours if the true image of everybody else is known."""
    print(
        f"\n{graph.name}: all others known, {repeats} repeats (mean)\noverlap  hits@1  none shared"
    )
    for overlap in overlaps:
        found = []
        for repeat in range(repeats):
            release, threat = draw_samples(graph, overlap, 0, repeat)
            here, there = list_neighbors(threat.known), list_neighbors(release)
            top, _, witnesses = rank(here, there, threat.people)
            wanted = threat.wanted
            is_right = (top[:, 0] == threat.people)[wanted]
            found.append((is_right.mean(), (witnesses == 0)[wanted].mean()))
        hits, alone = np.mean(found, axis=0)
        print(f"{overlap:7} {hits:7.3f} {alone:12.3f}", flush=True)


def print_cost(graph: Graph, repeats: int) -> None:
    """Links that k-degree anonymity changes, beside those that the original algorithm adds."""
    print(f"\n{graph.name}: links changed for k-degree anonymity")
    print("  k   least    ours   CPU s   original  raised   CPU s")
    for k in (5, 10):
        least = (compute_group_degrees(graph.degrees, k) - graph.degrees).sum() / 2
        started = time.process_time()
        changed = []
        for seed in range(repeats):
            facts = KDegreeAnonymity(k=k).publish(graph, Threats(graph), Context(Seed(seed))).facts
            changed.append(float(facts["links_added"]) + float(facts["links_removed"]))
        middle = time.process_time()
        row = f"{k:3} {least:7.0f} {np.mean(changed):7.0f} {(middle - started) / repeats:7.1f}"
        found = anonymize(graph, k, np.random.default_rng(0))
        added, raised = ("–", "–") if found is None else (len(found[0]), found[1])
        print(f"{row} {added:>10} {raised:>7} {time.process_time() - middle:7.1f}", flush=True)


def read_nauty(path: str) -> Graph:
    """A graph as ANO-NET has them: a line a node, `0: 1 4;`, after `!n=NODES`."""
    text = Path(path).read_text()
    found = re.search(r"n=(\d+)", text)
    rows = re.findall(r"^\s*(\d+)\s*:([\d ]*)", text, re.MULTILINE)
    pairs = [(int(node), int(other)) for node, others in rows for other in others.split()]
    return Graph.from_pairs(np.array(pairs), int(found.group(1)), name=path)  # type: ignore[union-attr]


def print_shares(graph: Graph) -> None:
    """Share unique at five depths, among all people as ANO-NET counts them."""
    print(f"\n{graph.name}: {graph.num_nodes} people, {graph.num_edges} links")
    for depth in DEPTHS:
        sizes = compute_class_sizes(compute_fingerprints(graph, depth))
        print(f"{depth:18} {(sizes == 1).mean():.7f}")


def match_samples(
    graph: Graph, key: str, overlap: float, num_seeds: int, repeat: int
) -> dict[str, float | None]:
    release, threat = draw_samples(graph, overlap, num_seeds, repeat)
    return measure(key, release, threat, repeat)


def draw_samples(
    graph: Graph, overlap: float, num_seeds: int, repeat: int
) -> tuple[Graph, IdentityThreat]:
    """Two samples of the links: the release, and the threat with the attacker's graph."""
    keep = np.random.default_rng(repeat).random(graph.num_edges) < overlap
    threat = draw_identity_threat(graph, Seed(repeat), overlap, 0.0, num_seeds)
    return graph.with_edges(graph.edges[keep]), threat


def mean(values: list[float | None]) -> str:
    known = [value for value in values if value is not None]
    return f"{np.mean(known):8.3f}" if known else "       –"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--graphs", default=",".join(GRAPHS))
    parser.add_argument("--tables", default="uniqueness,matching")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--matchers", default=",".join(MATCHERS))
    parser.add_argument("--overlaps", type=float, nargs="+", default=OVERLAPS)
    parser.add_argument("--seeds", type=int, nargs="+", default=SEEDS)
    options = parser.parse_args()
    for name in options.graphs.split(","):
        if "nauty" in options.tables:
            print_shares(read_nauty(name))
            continue
        graph = load_dataset(name).graph
        if "uniqueness" in options.tables:
            print_uniqueness(graph)
        if "matching" in options.tables:
            print_matching(
                graph, options.repeats, options.matchers.split(","), options.overlaps, options.seeds
            )
        if "adaptive" in options.tables:
            print_adaptive(graph, options.repeats, options.matchers.split(","))
        if "limit" in options.tables:
            print_limit(graph, options.repeats, options.overlaps)
        if "cost" in options.tables:
            print_cost(graph, options.repeats)


if __name__ == "__main__":
    print_finite(main)
