"""Tiny named graphs on which every method must work, and threats drawn on them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from core.data.second_graph import draw_identity_threat
from core.data.splits import draw_threats
from core.graph import Graph
from core.node_column import NodeColumn
from core.seeding import Seed
from core.threats import Threats


def _labels(n: int, classes: int = 2, missing: int = 0) -> dict[str, NodeColumn]:
    codes = np.arange(n) % classes
    codes[:missing] = -1
    names = tuple("abcdefgh"[:classes])
    return {key: NodeColumn(key, codes, names) for key in ("private", "label")}


def two_communities(n: int = 40, seed: int = 0) -> Graph:
    """Two dense halves, few links between; the private class is the half; 8 noisy features."""
    rng = np.random.default_rng(seed)
    side = np.arange(n) >= n // 2
    i, j = np.triu_indices(n, 1)
    keep = rng.random(len(i)) < np.where(side[i] == side[j], 0.3, 0.03)
    features = rng.normal(size=(n, 8)) + side[:, None]
    attributes = {
        "private": NodeColumn("private", side.astype(int), ("left", "right")),
        "label": NodeColumn("label", side.astype(int), ("left", "right")),
    }
    return Graph.from_pairs(
        np.stack([i[keep], j[keep]], 1),
        n,
        features=features,
        attributes=attributes,
        name="two_communities",
    )


def plant_blocks(
    codes: np.ndarray, rates: np.ndarray, seed: int = 0, theta: np.ndarray | None = None
) -> Graph:
    """Nodes with the private codes (n,), each pair linked with chance θ_i θ_j rates[z_i, z_j]."""
    rng = np.random.default_rng(seed)
    i, j = np.triu_indices(len(codes), 1)
    chances = np.asarray(rates)[codes[i], codes[j]]
    if theta is not None:
        chances = chances * theta[i] * theta[j]
    linked = rng.random(len(i)) < chances
    names = tuple("abcdefgh"[: len(rates)])
    private = NodeColumn("private", codes, names)
    pairs = np.stack([i, j], 1)[linked]
    return Graph.from_pairs(pairs, len(codes), attributes={"private": private})


def two_components() -> Graph:
    """Two disjoint rings of ten and twelve nodes; no features."""
    a, b = np.arange(10), np.arange(12) + 10
    pairs = np.concatenate([np.stack([a, np.roll(a, 1)], 1), np.stack([b, np.roll(b, 1)], 1)])
    return Graph.from_pairs(pairs, 22, attributes=_labels(22), name="two_components")


def isolated_node() -> Graph:
    """A ring of fifteen with chords and a node without links."""
    a = np.arange(15)
    pairs = np.concatenate([np.stack([a, np.roll(a, 1)], 1), np.stack([a, np.roll(a, 3)], 1)])
    return Graph.from_pairs(pairs, 16, attributes=_labels(16), name="isolated_node")


def star() -> Graph:
    pairs = np.stack([np.zeros(20, int), np.arange(1, 21)], 1)
    return Graph.from_pairs(pairs, 21, attributes=_labels(21), name="star")


def clique() -> Graph:
    """A clique of twelve with a tail of ten, so that non-links exist."""
    i, j = np.triu_indices(12, 1)
    tail = np.arange(11, 21)
    pairs = np.concatenate([np.stack([i, j], 1), np.stack([tail, tail + 1], 1)])
    return Graph.from_pairs(pairs, 22, attributes=_labels(22), name="clique")


def weighted() -> Graph:
    graph = two_communities(30, seed=3)
    weights = np.random.default_rng(1).random(graph.num_edges)
    return Graph.from_pairs(
        graph.edges,
        30,
        weights=weights,
        features=graph.features,
        attributes=graph.attributes,
        name="weighted",
    )


def three_classes_with_missing() -> Graph:
    graph = two_communities(36, seed=5)
    return Graph.from_pairs(
        graph.edges,
        36,
        features=graph.features,
        attributes=_labels(36, 3, missing=5),
        name="three_classes_with_missing",
    )


def class_without_nodes() -> Graph:
    """Three classes declared, the last one without a node."""
    graph = two_communities(30, seed=7)
    codes = np.arange(30) % 2
    attributes = {k: NodeColumn(k, codes, ("a", "b", "c")) for k in ("private", "label")}
    return Graph.from_pairs(graph.edges, 30, attributes=attributes, name="class_without_nodes")


GRAPHS = {
    make.__name__: make
    for make in (
        two_communities,
        two_components,
        isolated_node,
        star,
        clique,
        weighted,
        three_classes_with_missing,
        class_without_nodes,
    )
}


def make_threats(graph: Graph, seed: int = 0) -> Threats:
    """All threats with generous shares, as tiny graphs need."""
    threats = draw_threats(
        graph,
        Seed(seed),
        private="private",
        utility="label",
        known=0.4,
        hide_links=0.15,
        test_links=0.1,
    )
    identity = draw_identity_threat(threats.visible, Seed(seed).child("identity"), num_seeds=2)
    return replace(threats, identity=identity)


def compute_stress(places: np.ndarray, distances: np.ndarray) -> float:
    """Mean of ((|x_i − x_j| − d_ij) / d_ij)² over pairs, at the scale that makes it smallest.

    distances  (n, n) or any (n, k) steps to the first k nodes
    """
    k = distances.shape[1]
    lengths = np.linalg.norm(places[:, None] - places[None, :k], axis=2)
    pairs = distances > 0
    ratio = lengths[pairs] / distances[pairs]
    scale = ratio.sum() / max(float((ratio**2).sum()), 1e-12)
    return float(((scale * ratio - 1) ** 2).mean())
