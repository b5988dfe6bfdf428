"""An attacker who holds several releases of the same graph."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np

from core.attacks.link.released_links import find_evidence
from core.context import Context
from core.graph import Graph, pair_codes
from core.methods import Defense
from core.release import Guarantee, Release
from core.threats import Threats


def share_held_releases(
    defense: Defense, first: Release, threats: Threats, count: int, context: Context
) -> Release:
    """What one holds who gets `count` releases of the graph: the first one and more of its kind.

    Each has noise of its own; all have the same promise. Made once for all attacks.
    """
    held: Release = context.share(
        ("held", first.graph.content_hash, threats.visible.content_hash, count),
        lambda shared: merge_releases([first, *_publish(defense, threats, count - 1, shared)]),
    )
    return held


def share_releases_of(
    others: list[Defense], first: Release, threats: Threats, context: Context
) -> Release:
    """What one holds who gets a release, and one of each of some other defenses of the graph.

    Those that cannot run on it are left out.
    """
    able = [other for other in others if other.supports(threats.visible, threats) is None]
    names = tuple((other.info.key, json.dumps(other.config, sort_keys=True)) for other in able)

    def make(shared: Context) -> Release:
        made = [first]
        for number, other in enumerate(able):
            context.progress.check()
            made.append(other.publish(threats.visible, threats, shared.child("other", number)))
        return join_releases(made)

    key = ("held_others", first.graph.content_hash, threats.visible.content_hash, *names)
    return context.share(key, make)


def join_releases(releases: list[Release]) -> Release:
    """Releases of different defenses as one, whose links are weighted by their joint evidence.

    A link's weight is the share of the evidence that speaks for it: each release counts by the
    ε of what it promises, so that ε̄ · k · (2w − 1) is the sum of the log likelihood ratios,
    with ε̄ the mean. Every link of any of them is there.
    """
    evidence = np.array([find_evidence(release) for release in releases])
    merged = merge_releases(releases, evidence / evidence.sum())
    if not any(release.guarantee.is_private for release in releases):
        return merged
    mean = Guarantee("edge", epsilon=float(evidence.mean()), note="mean of several releases")
    return replace(merged, guarantee=mean)


def merge_releases(releases: list[Release], counts: np.ndarray | None = None) -> Release:
    """One release whose links weigh the share of the releases that have them.

    Agreement, averaging and union at once: a link of all of them weighs 1, every link of any of
    them is there. Weighted links add their weights. The nodes, defense and promise of one
    release are those of the first; `facts["composed_releases"]` is their number.
    counts (k,): the share of each, where they do not count alike.
    """
    first = releases[0]
    graphs = [release.graph for release in releases]
    n = first.graph.num_nodes
    codes = np.concatenate([pair_codes(graph.edges, n) for graph in graphs])
    each = [_find_weights(graph) for graph in graphs]
    if counts is not None:
        each = [weight * count for weight, count in zip(each, counts, strict=True)]
    weights = np.concatenate(each)
    unique, places = np.unique(codes, return_inverse=True)
    total = 1 if counts is not None else len(releases)
    shares = np.bincount(places, weights, minlength=len(unique)) / total
    edges = np.stack([unique // n, unique % n], axis=1)
    graph = replace(first.graph, edges=edges, weights=shares)
    facts = {**first.facts, "composed_releases": float(len(releases))}
    return replace(first, graph=graph, facts=facts, link_scores=None)


def _find_weights(graph: Graph) -> np.ndarray:
    return np.ones(graph.num_edges) if graph.weights is None else graph.weights.astype(float)


def _publish(defense: Defense, threats: Threats, count: int, context: Context) -> list[Release]:
    made = []
    for number in range(count):
        context.progress.check()
        made.append(defense.publish(threats.visible, threats, context.child("held", number)))
    return made
