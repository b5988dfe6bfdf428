"""A release and a shadow graph in one feature space, for transfer of trained models, and the
calibration of transferred predictions.

Held-out nodes of one graph are neighbours of training nodes and share their local structure; nodes
of another graph do not. The shadow graph is therefore split into two parts of whole communities,
each predicted by a model trained on the other; the temperature has the lowest log-loss on them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.special import softmax

from core.algorithms.communities import find_communities
from core.graph import Graph
from core.models.evidence import compute_roles, count_inferred, normalize_walk
from core.models.pooling import FEWEST, fit_weights, pool
from core.node_column import MISSING, NodeColumn

MAX_SHARED_COLUMNS = 128
"""Maximum number of columns common to both graphs, by variance."""


@dataclass(frozen=True, eq=False)
class Union:
    """The disjoint union of a release and a shadow graph, the release's nodes first.

    graph     both, links unweighted, no columns
    observed  (n + k,) classes of the release's known nodes and of all shadow nodes, MISSING if
              unknown or if the release lacks the class
    blocks    by name: (n + k, d) evidence, each column standardised within each graph
    """

    graph: Graph
    observed: np.ndarray
    blocks: dict[str, np.ndarray]


def join_graphs(release: Graph, observed: np.ndarray, other: Graph, private: NodeColumn) -> Union:
    """The release (n nodes, observed codes (n,)) with another graph that has the same column.

    private  the release's column: its name and classes are used, its codes are not
    """
    codes = translate_codes(other.column(private.name), private.classes)
    pairs = np.concatenate([release.edges, other.edges + release.num_nodes])
    union_graph = Graph.from_pairs(pairs, release.num_nodes + other.num_nodes)
    names = [name for name in release.feature_names if name in set(other.feature_names)]
    parts = [_describe(graph, names) for graph in (release, other)]
    joined = {name: np.vstack([part[name] for part in parts]) for name in parts[0]}
    if names:
        spread = np.minimum(parts[0]["raw"].std(axis=0), parts[1]["raw"].std(axis=0))
        kept = np.sort(np.argsort(-spread, kind="stable")[:MAX_SHARED_COLUMNS])
        kept = kept[spread[kept] > 0]
        joined = {
            name: block if name == "role" else block[:, kept]
            for name, block in joined.items()
            if name != "raw"
        }
    blocks = {name: block for name, block in joined.items() if block.shape[1]}
    return Union(union_graph, np.concatenate([observed, codes]), blocks)


def translate_codes(column: NodeColumn, classes: tuple[str, ...]) -> np.ndarray:
    """(n,) codes of a column in terms of classes with the same names; MISSING for others."""
    places = {name: place for place, name in enumerate(classes)}
    table = np.array([places.get(name, MISSING) for name in column.classes] + [MISSING])
    return np.asarray(table[column.codes])


def learn_from_neighbours(
    union: Union, chances: np.ndarray, revealed: np.ndarray, prior: np.ndarray
) -> np.ndarray:
    """(N, C) logarithmic pool of the probabilities of a node, of its neighbours and of second
    neighbours, weighted to predict the observed classes.

    chances  (N, C) out-of-fold probabilities
    revealed (N,) bool: nodes whose known value their neighbours may use; none in the shadow graph,
             or the model would rely on more than a release contains
    prior    (C,)

    Each kind of evidence has one weight, of either sign, for all classes: more parameters would
    learn class positions of one graph, which do not transfer.
    """
    size, classes = chances.shape
    values = chances.copy()
    values[revealed] = np.eye(classes)[union.observed[revealed]]
    logs = count_inferred(union.graph, values, prior).reshape(size, 3, classes) + np.log(prior)
    neighbours = softmax(logs[:, 1:], axis=2).transpose(1, 0, 2)
    members = np.array([np.tile(prior, (size, 1)), chances, *neighbours])
    known = np.flatnonzero(union.observed != MISSING)
    weights = fit_weights(members[:, known], union.observed[known], evenness=1.0)
    return pool(members, weights)


def _describe(graph: Graph, names: list[str]) -> dict[str, np.ndarray]:
    """Structural role, and the columns of these names: raw, and standardised for the node, its
    neighbours' mean, and a two-step mean."""
    described = {"role": _standardize(compute_roles(graph))}
    if names:
        columns = graph.columns.select_features(names)
        raw = np.asarray(columns.toarray() if sparse.issparse(columns) else columns, np.float64)
        walk, own = normalize_walk(graph)[0], _standardize(raw)
        near = walk @ own
        described |= {"raw": raw, "features": own, "neighbours": _standardize(near)}
        described["neighbourhood"] = _standardize(own + near + walk @ near)
    return described


def _standardize(columns: np.ndarray) -> np.ndarray:
    """Mean 0 and deviation 1 of each column; constant ones are kept as 0, so that
    all graphs have the same columns."""
    spread = columns.std(axis=0)
    level = np.abs(columns).max(axis=0, initial=0.0)
    varies = spread > 1e-9 * np.maximum(level, 1e-300)
    centred = columns - columns.mean(axis=0)
    return np.asarray(np.where(varies, centred / np.where(varies, spread, 1.0), 0.0))


EXPONENTS = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
"""Candidate exponents (inverse temperatures), positive so that ranks are kept."""

MAX_SPLITS = 3
"""Random splits tried: with few communities a single one may be easy by chance."""
MAX_SPLIT_NODES = 20_000
"""Total number of nodes in splits above which no further split is made."""

Infer = Callable[[Graph, np.ndarray, Graph], tuple[np.ndarray, np.ndarray]]
"""From a graph, its observed codes (n,) and the shadow graph: (n, C), and the prior (C,)."""
HeldOut = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Predictions (h, C), the prior (C,) and the truth (h,)."""


def find_exponent(
    other: Graph, private: NodeColumn, share: float, infer: Infer, rng: np.random.Generator
) -> float:
    """Exponent for predictions of `infer`, by log-loss on each part of the shadow graph; 1 if its
    parts are too small.

    private  the release's column: its name and classes are used, its codes are not
    share    of the nodes with a known value in the release, and hence in the predicted part
    """
    codes = translate_codes(other.column(private.name), private.classes)
    splits: list[HeldOut] = []
    for _ in range(count_splits(other)):
        side, is_revealed = split_communities(other, rng), rng.random(other.num_nodes) < share
        for part in (side, ~side):
            is_evaluated = ~is_revealed[part] & (codes[part] != MISSING)
            training_classes = np.unique(codes[~part & (codes != MISSING)])
            if is_evaluated.sum() < FEWEST or len(training_classes) < 2:
                continue
            observed = np.where(is_revealed[part], codes[part], MISSING)
            predicted, prior = infer(other.subgraph(part), observed, other.subgraph(~part))
            splits.append((predicted[is_evaluated], prior, codes[part][is_evaluated]))
    return choose_exponent(splits)


def count_splits(other: Graph) -> int:
    """Number of splits for a graph of this size."""
    return int(np.clip(MAX_SPLIT_NODES // other.num_nodes, 1, MAX_SPLITS))


def split_communities(graph: Graph, rng: np.random.Generator) -> np.ndarray:
    """(n,) bool: one of two parts of similar size, each of whole communities."""
    labels = find_communities(graph, rng)
    sizes = np.bincount(labels)
    # Largest first, so that the parts are even; with noise, so that splits differ.
    order = np.argsort(-sizes * rng.uniform(0.5, 1.0, len(sizes)))
    is_first, surplus = np.zeros(len(sizes), bool), 0
    for place in order:
        is_first[place] = surplus <= 0
        surplus += sizes[place] if surplus <= 0 else -sizes[place]
    return np.asarray(is_first[labels])


def choose_exponent(splits: Sequence[HeldOut]) -> float:
    """Exponent with the lowest log-loss over all splits; 1 without any."""
    if not splits:
        return 1.0
    losses = []
    for exponent in EXPONENTS:
        tempered = [temper(predicted, prior, exponent) for predicted, prior, _ in splits]
        chosen = [
            table[np.arange(len(truth)), truth]
            for table, (_, _, truth) in zip(tempered, splits, strict=True)
        ]
        losses.append(-np.log(np.maximum(np.concatenate(chosen), 1e-12)).mean())
    return EXPONENTS[int(np.argmin(losses))]


def temper(chances: np.ndarray, prior: np.ndarray, exponent: float) -> np.ndarray:
    """(n, C) ∝ chances^s · prior^(1 − s) for probabilities (n, C), a prior (C,) and s."""
    logs = exponent * np.log(np.maximum(chances, 1e-12)) + (1.0 - exponent) * np.log(prior)
    return np.asarray(softmax(logs, axis=1))
