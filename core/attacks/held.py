"""An attacker who holds several releases of the same graph."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from core.context import Context
from core.graph import Graph, pair_codes
from core.methods import Defense
from core.release import Release
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


def merge_releases(releases: list[Release]) -> Release:
    """One release whose links weigh the share of the releases that have them.

    Agreement, averaging and union at once: a link of all of them weighs 1, every link of any of
    them is there. Weighted links add their weights. The nodes, defense and promise of one
    release are those of the first; `facts["releases_held"]` says how many they are.
    """
    first = releases[0]
    graphs = [release.graph for release in releases]
    n = first.graph.num_nodes
    codes = np.concatenate([pair_codes(graph.edges, n) for graph in graphs])
    weights = np.concatenate([_find_weights(graph) for graph in graphs])
    unique, places = np.unique(codes, return_inverse=True)
    shares = np.bincount(places, weights, minlength=len(unique)) / len(releases)
    edges = np.stack([unique // n, unique % n], axis=1)
    graph = replace(first.graph, edges=edges, weights=shares)
    facts = {**first.facts, "releases_held": float(len(releases))}
    return replace(first, graph=graph, facts=facts, link_scores=None)


def _find_weights(graph: Graph) -> np.ndarray:
    return np.ones(graph.num_edges) if graph.weights is None else graph.weights.astype(float)


def _publish(defense: Defense, threats: Threats, count: int, context: Context) -> list[Release]:
    made = []
    for number in range(count):
        context.progress.check()
        made.append(defense.publish(threats.visible, threats, context.child("held", number)))
    return made
