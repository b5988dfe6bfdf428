"""Attackers written apart from `core`, their settings fixed beforehand, beside ours: who is ahead?

    python -m tests.benchmarks.fresh_attackers [--graphs blocks,nba,lastfm_asia,facebook_pages]
        [--classes 42] [--inside 0.5] [--splits 0,1,2]
        [--releases original,random_deletion:strength=0.3,edge_rand:epsilon=2,…]
        [--attacks quick,adjacency_regression,label_propagation,…] [--plain] [--reliability]
        [--identity 0.3,0.6 [--seeds 0,20] [--matchers faq_matcher,…]]

Blocks are degree-corrected block models of a thousand people, drawn anew for each split; of larger
graphs of the catalogue a thousand nodes are taken, rings around a random one; a tenth of the values
is known. On attributes a fresh attacker averages a logistic model of the rows of A + I
and one of their propagation; where links were flipped with a public rate it subtracts the rate and
takes the spectrum. Ours, each also adaptive (`@adaptive`): AUC, accuracy and share of exposed, and
how far each is ahead of the fresh attacker, with the standard error over the splits. With
`--identity` both match a second copy of the graph of which a share of the links was deleted, from
so many people known beforehand: share found. `--reliability` prints forecast against truth of our
attacks' likeliest classes instead.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from scipy.optimize import quadratic_assignment
from scipy.spatial.distance import cdist
from scipy.stats import rankdata
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import normalize

from core.attacks.adaptive import infer_adaptive
from core.audit.asked.presets import PRESETS, Asked
from core.context import Context, SharedWork
from core.data.catalogue import load_dataset
from core.data.second_graph import draw_identity_threat
from core.data.splits import draw_attribute_threat
from core.graph import Graph
from core.measures.identity import measure_matches
from core.measures.node_risk import (
    calibrate_classes_across_folds,
    calibrate_on_known,
    compute_attribute_node_risk,
    measure_advantage,
)
from core.measures.ranking import measure_class_probabilities
from core.registry import make_method, parse_method
from core.release import Release
from core.results import ClassProbabilities, Matches
from core.seeding import Seed
from core.threats import AttributeThreat, Threats
from tests.benchmarks.finite import print_finite
from tests.oracles.blocks import INSIDE, PEOPLE, generate_blocks

RELEASES = "original,random_deletion:strength=0.3," + ",".join(
    f"edge_rand:epsilon={epsilon}" for epsilon in (1, 1.5, 2, 3)
)
ATTACKS = "adjacency_regression,denoised_blocks,label_propagation"
METRICS = ("auc", "accuracy", "advantage_share")
PENALTY = 10.0
"""Inverse penalty of the fresh logistic models."""
STEPS = 30
"""Steps of FAQ."""
CALIBRATIONS = calibrate_classes_across_folds, calibrate_on_known


def infer_afresh(links: np.ndarray, codes: np.ndarray, num_classes: int, flip: float) -> np.ndarray:
    """(n, C) probabilities from a dense adjacency (n, n) and codes (n,), −1 where unknown.

    flip  public probability that a pair was flipped, 0 without
    """
    if flip:
        unbiased = (links - flip) / (1 - 2 * flip)
        np.fill_diagonal(unbiased, 0.0)
        values, vectors = np.linalg.eigh(unbiased)
        edge = 2 * np.sqrt(flip * (1 - flip) * len(links)) / (1 - 2 * flip)
        kept = np.argsort(-np.abs(values))[: max(int((np.abs(values) > edge).sum()), num_classes)]
        places = vectors[:, kept] * values[kept]
        return learn(places / np.sqrt((places**2).sum(axis=1).mean()), codes, num_classes)
    looped = links + np.eye(len(links))
    rows = normalize(TfidfTransformer().fit_transform(looped).toarray())
    mixed = normalize(looped @ rows)
    return (learn(rows, codes, num_classes) + learn(mixed, codes, num_classes)) / 2


def learn(table: np.ndarray, codes: np.ndarray, num_classes: int) -> np.ndarray:
    """(n, C) of a logistic regression on the rows (n, d) of known codes."""
    known = codes >= 0
    model = LogisticRegression(C=PENALTY, max_iter=1000).fit(table[known], codes[known])
    found = np.zeros((len(table), num_classes))
    found[:, model.classes_] = model.predict_proba(table)
    return found


def match_afresh(known: np.ndarray, published: np.ndarray, seeds: np.ndarray) -> np.ndarray:
    """(n,) mapping between dense adjacencies (n, n) by FAQ, from nodes that rank alike, with fixed
    pairs `seeds` (s, 2)."""
    start = np.exp(-20 * cdist(_rank_nodes(known), _rank_nodes(published), "sqeuclidean")) + 0.01
    for axis, fixed in enumerate(seeds.T):
        start = np.delete(start, fixed, axis)
    while np.abs(start.sum(axis=0) - 1).max() > 1e-6:
        start /= start.sum(axis=0)
        start /= start.sum(axis=1, keepdims=True)
    options = {"maximize": True, "P0": start, "maxiter": STEPS, "rng": np.random.default_rng(0)}
    options["partial_match"] = seeds
    return np.asarray(quadratic_assignment(known, published, "faq", options).col_ind)


def _rank_nodes(links: np.ndarray) -> np.ndarray:
    """(n, 5) ranks of degree, triangles and the neighbours' mean, spread and largest degree."""
    degrees = links.sum(axis=1)
    safe = np.maximum(degrees, 1)
    mean = links @ degrees / safe
    spread = np.sqrt(np.maximum(links @ degrees**2 / safe - mean**2, 0))
    triangles = ((links @ links) * links).sum(axis=1)
    columns = [degrees, triangles, mean, spread, (links * degrees).max(axis=1)]
    return np.stack([rankdata(column) / len(links) for column in columns], axis=1)


def draw_graph(name: str, num_classes: int, split: int, inside: float) -> Graph:
    """Generated blocks, or a graph of the catalogue with its first class column as `private`."""
    if name == "blocks":
        return generate_blocks(num_classes, split, inside)
    graph = load_dataset(name).graph
    if graph.num_nodes > PEOPLE:
        graph = graph.subgraph(_draw_rings(graph, np.random.default_rng(split)))
    column = graph.attributes.get("country") or next(iter(graph.attributes.values()))
    private = replace(column, name="private")
    return graph.update_columns(attributes={"private": private}, features=None, feature_names=())


def _draw_rings(graph: Graph, rng: np.random.Generator) -> np.ndarray:
    """(PEOPLE,) nodes nearest to a random one, of the last ring at random."""
    inside, front = np.zeros(graph.num_nodes, bool), rng.integers(graph.num_nodes, size=1)
    while len(front) and inside.sum() < PEOPLE:
        inside[rng.permutation(front)[: PEOPLE - inside.sum()]] = True
        front = np.setdiff1d(np.unique(graph.adjacency[front].indices), np.flatnonzero(inside))
    return np.flatnonzero(inside)


def publish(name: str, graph: Graph, threat: AttributeThreat, split: int) -> tuple[Release, float]:
    """A release by the id of its method, and its public flip probability."""
    if name == "original":
        return Release(graph), 0.0
    defense = parse_method(name, "defense")
    release = defense.publish(graph, Threats(graph, None, threat), Context(Seed(split)))
    epsilon = release.guarantee.epsilon
    return release, 1 / (1 + np.exp(epsilon)) if epsilon else 0.0


def measure(found: ClassProbabilities, threat: AttributeThreat) -> np.ndarray:
    """`METRICS` of a result."""
    rows = measure_class_probabilities(found, threat)
    rows.append(measure_advantage(compute_attribute_node_risk(found, threat)))
    values = {row.metric: row.value for row in rows}
    return np.array([values[metric] for metric in METRICS], float)


def list_attacks(names: str) -> list[str]:
    """Keys of attacks, those of presets without their baselines."""
    presets = {preset.key: preset for preset in PRESETS}
    found = []
    for name in names.split(","):
        choices = presets[name].list_attacks(Asked(column=True)) if name in presets else ()
        keys = [choice.key for choice in choices if not make_method(choice.key).info.is_baseline]
        found += keys if name in presets else [name]
    return list(dict.fromkeys(found))


def compare_attributes(
    graph: Graph, name: str, attacks: list[str], split: int, plain: bool = False
) -> dict[str, np.ndarray]:
    """`METRICS` and CPU seconds of the fresh attacker, and of ours that can run, on one release of
    one graph; plain: without adaptive forms."""
    threat = draw_attribute_threat(graph, "private", 0.1, Seed(split))
    threats = Threats(graph, None, threat)
    release, flip = publish(name, graph, threat, split)
    shared, links = SharedWork(), np.asarray(release.graph.adjacency.todense(), float)

    def run_fresh() -> ClassProbabilities:
        return ClassProbabilities(infer_afresh(links, threat.observed, threat.num_classes, flip))

    runs: dict[str, Callable[[], ClassProbabilities]] = {"fresh": run_fresh}
    for key in attacks:
        attack, context = make_method(key), Context(Seed(split), shared=shared)
        if attack.supports(release, threat):
            continue
        runs[key] = lambda a=attack, c=context: a.infer(release, threat, c)
        if name != "original" and not plain:
            defense = parse_method(name, "defense")
            runs[f"{key}@adaptive"] = lambda a=attack, c=context, d=defense: infer_adaptive(
                a, d, release, threat, threats, c
            )
    rows = {}
    for who, run in runs.items():
        started = time.process_time()
        found = run()
        rows[who] = np.append(measure(found, threat), time.process_time() - started)
    return rows


def compare_matchers(
    graph: Graph, strength: float, num_seeds: int, matchers: list[str], split: int
) -> dict[str, np.ndarray]:
    """Share found and CPU seconds of FAQ, fresh, and of ours, on a second copy of one graph."""
    threat = draw_identity_threat(graph, Seed(split), 1.0 - strength, 0.0, num_seeds)
    release = Release(graph)
    order = np.random.default_rng(split).permutation(graph.num_nodes)
    seeds = np.stack([threat.seeds[:, 0], np.argsort(order)[threat.seeds[:, 1]]], axis=1)

    def run_fresh() -> Matches:
        both = [(g.adjacency != 0).toarray().astype(float) for g in (threat.known, release.graph)]
        image = order[match_afresh(both[0], both[1][np.ix_(order, order)], seeds)]
        return Matches(image[:, None], np.ones(len(image)))

    runs: dict[str, Callable[[], object]] = {"fresh": run_fresh}
    for key in matchers:
        ours = make_method(key, None, "identity_attack")
        if not ours.supports(release, threat):
            runs[key] = lambda a=ours: a.find(release, threat, Context(Seed(0)))
    rows = {}
    for who, run in runs.items():
        started = time.process_time()
        found = {row.metric: row.value for row in measure_matches(run(), threat)}
        rows[who] = np.array([found["hits_at_1"], time.process_time() - started])
    return rows


def print_reliability(key: str, num_classes: int, splits: list[int], inside: float) -> None:
    """Expected calibration error on the original over ten bins, and mean forecast / share of right
    ones in each: as the risk is calibrated, and by the attacker's own forecast."""
    found: dict[str, list[np.ndarray]] = {"risk": [], "forecast": []}
    for split in splits:
        graph = generate_blocks(num_classes, split, inside)
        threat = draw_attribute_threat(graph, "private", 0.1, Seed(split))
        result = make_method(key).infer(Release(graph), threat, Context(Seed(split)))
        for how, calibrate in zip(found, CALIBRATIONS, strict=True):
            values = calibrate(result, threat)
            if values is not None:
                is_right = values.argmax(axis=1) == threat.attribute.codes[threat.hidden]
                found[how].append(np.stack([values.max(axis=1), is_right]))
    for how, parts in found.items():
        if not parts:
            continue
        told, right = np.concatenate(parts, axis=1)
        bins = np.minimum((10 * told).astype(int), 9)
        inside_bins = [bins == each for each in np.unique(bins)]
        error = sum(abs(told[b].mean() - right[b].mean()) * b.mean() for b in inside_bins)
        table = " ".join(f"{told[b].mean():.2f}/{right[b].mean():.2f}" for b in inside_bins)
        print(f"{num_classes} classes, {key}, {how}: ECE {error:.3f}; {table}", flush=True)


def print_rows(name: str, splits: list[dict[str, np.ndarray]]) -> None:
    """Means over the splits, and the lead over the fresh attacker with its standard error; below an
    adaptive attacker its lead over the plain one."""
    for who in splits[0]:
        values = np.array([rows[who] for rows in splits])
        seconds = f"{values[:, -1].mean():6.1f} s"
        if who == "fresh":
            told = [f"{value:.3f}{'':17}" for value in values[:, :-1].mean(axis=0)]
        else:
            told = _format_leads(values, np.array([rows["fresh"] for rows in splits]))
        print(f"{name:38} {who:32} {' '.join(told)} {seconds}", flush=True)
        plain, _, form = who.partition("@")
        if form:
            told = _format_leads(values, np.array([rows[plain] for rows in splits]))
            print(f"{name:38} {'… over its plain form':32} {' '.join(told)}", flush=True)


def _format_leads(values: np.ndarray, others: np.ndarray) -> list[str]:
    """Mean, mean lead and its standard error of each column but the last of (s, c) and (s, c)."""
    leads = (values - others)[:, :-1]
    many = len(leads) > 1
    errors = leads.std(axis=0, ddof=1) / np.sqrt(len(leads)) if many else leads[0] * np.nan
    rows = zip(values.mean(axis=0), leads.mean(axis=0), errors, strict=False)
    return [f"{mean:.3f} ({lead:+.3f} ± {error:.3f})" for mean, lead, error in rows]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--graphs", default="blocks")
    parser.add_argument("--classes", type=int, default=42)
    parser.add_argument("--inside", type=float, default=INSIDE, help="of the links, within a class")
    parser.add_argument("--splits", default="0,1,2")
    parser.add_argument("--releases", default=RELEASES)
    parser.add_argument("--attacks", default=ATTACKS, help="keys, or presets")
    parser.add_argument("--plain", action="store_true", help="no adaptive attackers")
    parser.add_argument("--identity", default="", help="shares of the links deleted: 0.3,0.6")
    parser.add_argument("--seeds", default="0,20", help="people known beforehand")
    parser.add_argument("--matchers", default="faq_matcher")
    parser.add_argument("--reliability", action="store_true")
    options = parser.parse_args()
    splits = [int(split) for split in options.splits.split(",")]
    attacks = list_attacks(options.attacks)
    if options.reliability:
        for key in attacks:
            print_reliability(key, options.classes, splits, options.inside)
        return
    for name in options.graphs.split(","):
        graphs = {
            split: draw_graph(name, options.classes, split, options.inside) for split in splits
        }
        for release in filter(None, options.releases.split(",")):
            found = [
                compare_attributes(g, release, attacks, split, options.plain)
                for split, g in graphs.items()
            ]
            print_rows(f"{name}, {release}", found)
        for strength in map(float, filter(None, options.identity.split(","))):
            for count in map(int, options.seeds.split(",")):
                keys = options.matchers.split(",")
                matched = [
                    compare_matchers(g, strength, count, keys, split) for split, g in graphs.items()
                ]
                print_rows(f"{name}, {strength:g} deleted, {count} seeds", matched)


if __name__ == "__main__":
    print_finite(main)
