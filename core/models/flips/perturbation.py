"""Greedy flips at single nodes against classifiers of the private attribute."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import softmax

from core.arrays import pair_codes
from core.context import Context
from core.graph import Graph
from core.models.flips.fitting import fit_gcns, fit_linear_gcn
from core.models.flips.selection import FlippedGcn, FlippedGraph, GcnWeights
from core.models.flips.unnoticed import PageRankEffect, passes_degree_test
from core.models.tuning import scale_features
from core.threats import AttributeThreat, Threats

Loss = Callable[[np.ndarray], np.ndarray]
"""Loss (r,) of class scores (r, k) to be minimised by flips."""


@dataclass(frozen=True, eq=False)
class Surrogates:
    """Classifiers of the private attribute and of the label.

    weights       W (d, k) of linear ones, or those of several GCNs of either kind
    num_classes   C of the private attribute and L of the label, 0 without one
    num_members   classifiers of each kind
    """

    features: np.ndarray | sparse.csr_array
    weights: np.ndarray | GcnWeights
    num_classes: tuple[int, int]
    num_members: int = 1

    @property
    def num_private(self) -> int:
        """Score columns of the private attribute."""
        return self.num_members * self.num_classes[0]

    def split(self, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Mean probabilities (r, C) of the private attribute and (r, L) of the label."""
        end = self.num_private
        return self._average(scores[:, :end], 0), self._average(scores[:, end:], 1)

    def open_graph(self, graph: Graph) -> FlippedGraph:
        """Graph with class scores that are updated incrementally after flips."""
        if isinstance(self.weights, GcnWeights):
            return FlippedGcn(graph, self.features, self.weights)
        return FlippedGraph(graph, self.features, self.weights)

    def _average(self, scores: np.ndarray, kind: int) -> np.ndarray:
        shape = (len(scores), self.num_members, self.num_classes[kind])
        if not shape[2]:
            return scores
        return np.asarray(softmax(scores.reshape(shape), axis=2).mean(axis=1))


def has_binary_features(graph: Graph) -> bool:
    """Whether there are features and all are 0 or 1."""
    if graph.features is None:
        return False
    values = graph.features.data if sparse.issparse(graph.features) else graph.features
    return bool(np.isin(values, (0.0, 1.0)).all())


def fit_surrogates(
    graph: Graph, threats: Threats, context: Context, num_gcns: int = 0
) -> Surrogates:
    """Surrogates trained on the known nodes: one linear classifier of each kind, or `num_gcns`
    GCNs. The label's are omitted without a label."""
    assert threats.attribute is not None
    features = _prepare_features(graph)
    chosen = [("private", threats.attribute)]
    if threats.utility is not None and threats.utility.known.any():
        chosen.append(("label", threats.utility))
    sizes = [threat.num_classes for _, threat in chosen] + [0]
    parts: list[Any] = []
    for name, threat in chosen:
        task = graph, features, threat.observed, threat.num_classes
        inner, message = context.child(name), f"training the {name} classifier"
        if num_gcns:
            parts += fit_gcns(*task, num_gcns, inner, message)
        else:
            parts.append(fit_linear_gcn(*task, inner, message))
    weights = GcnWeights.join(parts) if num_gcns else np.concatenate(parts, axis=1)
    return Surrogates(features, weights, (sizes[0], sizes[1]), max(num_gcns, 1))


def _prepare_features(graph: Graph) -> np.ndarray | sparse.csr_array:
    """Binary features unchanged, others standardised; the identity without any."""
    if graph.features is None:
        return sparse.csr_array(sparse.eye_array(graph.num_nodes, dtype=np.float32))
    return graph.features if has_binary_features(graph) else scale_features(graph)


class Flipper:
    """Flips links at nodes, and features of nodes, one greedy step at a time.

    withheld            codes of pairs that must not become links
    structure, features whether links and features may be flipped
    original_scores     (n, k) class scores on the graph as given
    """

    def __init__(
        self,
        graph: Graph,
        surrogates: Surrogates,
        withheld: np.ndarray,
        structure: bool = True,
        features: bool = False,
    ) -> None:
        self.graph, self.surrogates = graph, surrogates
        self.state = surrogates.open_graph(graph)
        self.original_scores = self.state.compute_all_scores()
        self._withheld, self._structure, self._features = withheld, structure, features

    def find_partners(self, v: int) -> np.ndarray:
        """(n,) bool: the u for which (v, u) may be flipped; each link at v only once.

        Nodes of degree 1 are excluded, so that none becomes isolated (NetFense §4.1).
        """
        state, n = self.state, self.graph.num_nodes
        allowed = state.degrees > 1
        if not self._structure or not allowed[v]:
            return np.zeros(n, bool)
        allowed[v] = False
        if len(self._withheld):
            others = np.arange(n)
            codes = np.minimum(v, others) * n + np.maximum(v, others)
            allowed &= ~np.isin(codes, self._withheld)
        allowed[list(state.partners[v])] = False
        return allowed

    def find_unnoticed(self, v: int, ranks: PageRankEffect, quantile: float) -> np.ndarray:
        """(n,) bool: partners whose effect on PageRank is below the quantile over all u."""
        allowed = self.find_partners(v)
        if not allowed.any():
            return allowed
        effect = ranks.compute(self.state.adjacency, v)
        others = np.arange(len(effect)) != v
        return np.asarray(allowed & (effect <= np.quantile(effect[others], quantile)))

    def find_degree_preserving(self, v: int) -> np.ndarray:
        """(n,) bool: partners whose flip passes Nettack's degree test."""
        allowed = self.find_partners(v)
        change = np.ones(len(allowed), np.int64)
        change[self.state.neighbors[v]] = -1
        return np.asarray(
            allowed & passes_degree_test(self.graph.degrees, self.state.degrees, v, change)
        )

    def flip_best(self, v: int, partners: np.ndarray, loss: Loss) -> bool:
        """Make the flip of lowest loss; False if none lowers it."""
        state = self.state
        best = float(loss(state.compute_scores(v)[None])[0])
        link = feature = None
        if partners.any():
            losses = np.where(partners, loss(state.score_link_flips(v)), np.inf)
            link = int(np.argmin(losses))
            best, link = (losses[link], link) if losses[link] < best else (best, None)
        if self._features:
            losses = loss(state.score_feature_flips(v))
            losses[[column for node, column in state.flipped_features if node == v]] = np.inf
            feature = int(np.argmin(losses))
            feature = feature if losses[feature] < best else None
        if feature is not None:
            state.flip_feature(v, feature)
        elif link is not None:
            state.flip_link(v, link)
        return feature is not None or link is not None

    def to_graph(self) -> Graph:
        """Graph with the current links and features."""
        graph = self.state.to_graph()
        if not self.state.flipped_features:
            return graph
        rows, columns = np.array(sorted(self.state.flipped_features)).T
        features: Any = graph.features
        if sparse.issparse(features):
            matrix: Any = features.tolil()
            matrix[rows, columns] = 1.0 - np.asarray(features[rows, columns]).ravel()
            return graph.update_columns(features=sparse.csr_array(matrix))
        matrix = np.array(features)
        matrix[rows, columns] = 1.0 - matrix[rows, columns]
        return graph.update_columns(features=matrix)


def find_withheld(graph: Graph, threats: Threats) -> np.ndarray:
    """Codes of the sensitive links, which must not be added."""
    if threats.link is None:
        return np.zeros(0, np.int64)
    return pair_codes(threats.link.hidden, graph.num_nodes)


def draw_targets(threat: AttributeThreat, count: int, rng: np.random.Generator) -> np.ndarray:
    """(t,) nodes to protect in random order: `count` of them, or all for 0.

    Nodes with a value unknown to the publisher or, if it knows all, any node with a value.
    """
    unknown = threat.hidden if threat.hidden.any() else threat.known
    order = rng.permutation(np.flatnonzero(unknown))
    return order[:count] if count else order


def compute_gap(probabilities: np.ndarray) -> np.ndarray:
    """(r,) difference of the two largest probabilities of each row."""
    if probabilities.shape[1] < 2:
        return np.ones(len(probabilities))
    top_two = np.partition(probabilities, -2, axis=1)[:, -2:]
    return top_two[:, 1] - top_two[:, 0]
