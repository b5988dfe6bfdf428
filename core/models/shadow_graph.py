"""A release and a shadow graph in one feature space, so that what is learned on one transfers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import softmax

from core.graph import MISSING, Attribute, Graph
from core.models.evidence import compute_roles, count_inferred, normalize_walk
from core.models.pooling import fit_weights, pool

MOST_SHARED = 128
"""Columns with the same name in both graphs that are read, those that vary most."""


@dataclass(frozen=True, eq=False)
class Union:
    """The disjoint union of a release and a shadow graph, the release's nodes first.

    graph     both, links unweighted, no columns
    observed  (n + k,) classes of the release's known nodes and of everybody elsewhere, MISSING
              where unknown, and where the release has no such class
    blocks    by name: (n + k, d) evidence, each column standardised within each graph
    """

    graph: Graph
    observed: np.ndarray
    blocks: dict[str, np.ndarray]


def join_graphs(release: Graph, observed: np.ndarray, other: Graph, private: Attribute) -> Union:
    """The release (n nodes, observed codes (n,)) with another graph that has the same column.

    private  the release's column: its name and classes count, its codes are not read
    """
    codes = translate_codes(other.attribute(private.name), private.classes)
    pairs = np.concatenate([release.edges, other.edges + release.num_nodes])
    both = Graph.from_pairs(pairs, release.num_nodes + other.num_nodes)
    names = [name for name in release.feature_names if name in set(other.feature_names)]
    parts = [_describe(graph, names) for graph in (release, other)]
    joined = {name: np.vstack([part[name] for part in parts]) for name in parts[0]}
    if names:
        spread = np.minimum(parts[0]["raw"].std(axis=0), parts[1]["raw"].std(axis=0))
        kept = np.sort(np.argsort(-spread, kind="stable")[:MOST_SHARED])
        kept = kept[spread[kept] > 0]
        joined = {
            name: block if name == "role" else block[:, kept]
            for name, block in joined.items()
            if name != "raw"
        }
    blocks = {name: block for name, block in joined.items() if block.shape[1]}
    return Union(both, np.concatenate([observed, codes]), blocks)


def translate_codes(column: Attribute, classes: tuple[str, ...]) -> np.ndarray:
    """(n,) the codes of a column among classes of the same names; MISSING where there is none."""
    places = {name: place for place, name in enumerate(classes)}
    table = np.array([places.get(name, MISSING) for name in column.classes] + [MISSING])
    return np.asarray(table[column.codes])


def learn_from_neighbours(
    both: Union, chances: np.ndarray, told: np.ndarray, prior: np.ndarray
) -> np.ndarray:
    """(N, C) logarithmic pool of the probabilities of a node, of its neighbours and of second
    neighbours, weighted to predict the observed classes.

    chances  (N, C) out-of-fold probabilities
    told     (N,) nodes whose value is told to their neighbours; nobody elsewhere, or what is
             learned would count on more than a release tells
    prior    (C,)

    One weight a kind of evidence, of either sign, shared by all classes: more freedom would learn
    positions of classes in one graph, which do not transfer to the other.
    """
    size, classes = chances.shape
    shown = chances.copy()
    shown[told] = np.eye(classes)[both.observed[told]]
    logs = count_inferred(both.graph, shown, prior).reshape(size, 3, classes) + np.log(prior)
    around = softmax(logs[:, 1:], axis=2).transpose(1, 0, 2)
    members = np.array([np.tile(prior, (size, 1)), chances, *around])
    judged = np.flatnonzero(both.observed != MISSING)
    weights = fit_weights(members[:, judged], both.observed[judged], evenness=1.0)
    return pool(members, weights)


def _describe(graph: Graph, names: list[str]) -> dict[str, np.ndarray]:
    """Structural role; the columns of these names as they are, and standardised: one's own, and
    averaged over the neighbours once and twice."""
    described = {"role": _standardize(compute_roles(graph))}
    if names:
        places = [graph.feature_names.index(name) for name in names]
        columns: Any = graph.features[:, places]  # type: ignore[index]
        raw = np.asarray(columns.toarray() if sparse.issparse(columns) else columns, np.float64)
        walk, own = normalize_walk(graph)[0], _standardize(raw)
        near = walk @ own
        described |= {"raw": raw, "features": own, "neighbours": _standardize(near)}
        described["surroundings"] = _standardize(own + near + walk @ near)
    return described


def _standardize(columns: np.ndarray) -> np.ndarray:
    """Mean 0 and deviation 1 of each column; constant ones 0, so that graphs keep the same."""
    spread = columns.std(axis=0)
    level = np.abs(columns).max(axis=0, initial=0.0)
    varies = spread > 1e-9 * np.maximum(level, 1e-300)
    centred = columns - columns.mean(axis=0)
    return np.asarray(np.where(varies, centred / np.where(varies, spread, 1.0), 0.0))
