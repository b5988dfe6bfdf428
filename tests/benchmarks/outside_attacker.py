"""An adaptive attacker on links that shares no code with the attacks it is compared with.

It learns on a shadow release from columns of its own and grows trees on them; for graphs with
sparse features that fit dense n × n tables.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import shortest_path
from scipy.sparse.linalg import svds
from sklearn.cluster import KMeans
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, normalize

from core.graph import Graph

WIDTH = 96
"""Dimensions of the latent semantic analysis."""
CLUSTERS = (8, 40)
HOPS = 3
UNLIKELY = 0.9
"""A neighbour is implausible if it is less alike than this share of random pairs is."""


def describe(graph: Graph, pairs: np.ndarray) -> dict[str, np.ndarray]:
    """(k, c) columns of the pairs (k, 2) by group; those of a single end as minimum and maximum."""
    matrix = (graph.adjacency != 0).astype(np.float64).tocsr()
    degrees = np.asarray(matrix.sum(axis=1)).ravel()
    words = sparse.csr_array(graph.features, dtype=np.float64)
    tfidf = TfidfTransformer(sublinear_tf=True).fit_transform(words)
    left, values, _ = svds(tfidf, k=min(WIDTH, *(size - 1 for size in words.shape)), random_state=0)
    latent = left * values
    unit = normalize(latent)
    alike = {"TF-IDF": (tfidf @ tfidf.T).toarray(), "LSA": unit @ unit.T}
    i, j = pairs.T
    linked = np.asarray(matrix[i, j]).ravel()
    per_end, across, own = [], [], []
    for likeness in alike.values():
        per_end += _compare_neighbours(matrix, likeness)
        own.append(likeness[i, j])
        across += _compare_with_other(matrix, likeness, pairs, linked)
    ends = np.concatenate([_order(values[i], values[j]) for values in per_end], axis=1)
    present = (words != 0).astype(np.float64)
    shared = np.asarray(present[i].multiply(present[j]).sum(axis=1)).ravel()
    return {
        "ends": ends,
        "features": np.column_stack([*own, shared, *across]),
        "smoothed": _smooth(matrix, latent, pairs),
        "feature clusters": _find_densities(matrix, unit, pairs),
        "blocks": _find_densities(matrix, _embed(matrix, degrees), pairs),
        "structure": np.column_stack([_describe_structure(matrix, degrees, pairs), linked]),
    }


def _order(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """(k, 2) minimum and maximum of the ends' values."""
    return np.column_stack([np.minimum(one, other), np.maximum(one, other)])


def _compare_neighbours(matrix: sparse.csr_array, likeness: np.ndarray) -> list[np.ndarray]:
    """Sum and mean over each node's neighbours, number and share of implausible ones, (n,) each."""
    links = matrix.tocoo()
    values = likeness[links.row, links.col]
    n, rng = len(likeness), np.random.default_rng(0)
    drawn = rng.integers(0, n, (2, 100_000))
    unlikely = values <= np.quantile(likeness[drawn[0], drawn[1]], UNLIKELY)
    degrees, found = np.maximum(np.bincount(links.row, minlength=n), 1), []
    for weights in (values, unlikely.astype(float)):
        total = np.bincount(links.row, weights, minlength=n)
        found += [total, total / degrees]
    return found


def _compare_with_other(
    matrix: sparse.csr_array, likeness: np.ndarray, pairs: np.ndarray, linked: np.ndarray
) -> list[np.ndarray]:
    """(k, 2) each: sum, mean and maximum of an end's likeness to the other's neighbours."""
    sides = []
    for i, j in (pairs.T, pairs.T[::-1]):
        near = matrix[j].tocoo()
        kept = near.col != i[near.row]
        rows, values = near.row[kept], likeness[i[near.row[kept]], near.col[kept]]
        total, largest = np.bincount(rows, values, minlength=len(i)), np.zeros(len(i))
        np.maximum.at(largest, rows, values)
        count = np.maximum(np.bincount(rows, minlength=len(i)), 1)
        sides.append((total, total / count, largest))
    return [_order(one, other) for one, other in zip(*sides, strict=True)]


def _smooth(matrix: sparse.csr_array, latent: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    """(k, HOPS + 1) cosines of the features averaged over 0 to HOPS steps."""
    looped = matrix + sparse.eye_array(matrix.shape[0])
    root = sparse.diags_array(1 / np.sqrt(np.asarray(looped.sum(axis=1)).ravel()))
    columns = []
    for hop in range(HOPS + 1):
        latent = root @ looped @ root @ latent if hop else latent
        unit = normalize(latent)
        columns.append((unit[pairs[:, 0]] * unit[pairs[:, 1]]).sum(axis=1))
    return np.stack(columns, axis=1)


def _embed(matrix: sparse.csr_array, degrees: np.ndarray) -> np.ndarray:
    root = sparse.diags_array(1 / np.sqrt(degrees + degrees.mean()))
    left, values, _ = svds(root @ matrix @ root, k=32, random_state=0)
    return normalize(left * values)


def _find_densities(matrix: sparse.csr_array, places: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    """(k, c) log of links between the ends' clusters, and these relative to the degrees'."""
    columns = []
    for count in CLUSTERS:
        labels = KMeans(count, n_init=4, random_state=0).fit_predict(places)
        member = np.eye(count)[labels]
        links, size = member.T @ (matrix @ member), member.sum(axis=0)
        mass = links.sum(axis=1)
        for expected in (np.outer(size, size), np.outer(mass, mass)):
            scaled = expected * links.sum() / max(expected.sum(), 1)
            density = np.log((links + 1) / (scaled + 1))
            columns.append(density[labels[pairs[:, 0]], labels[pairs[:, 1]]])
    return np.stack(columns, axis=1)


def _describe_structure(
    matrix: sparse.csr_array, degrees: np.ndarray, pairs: np.ndarray
) -> np.ndarray:
    n, (i, j) = len(degrees), pairs.T
    safe = np.maximum(degrees, 1)
    walk, root = sparse.diags_array(1 / safe), sparse.diags_array(1 / np.sqrt(safe))
    rare = sparse.diags_array(1 / np.log(np.maximum(degrees, 2)))
    paths = [
        matrix @ matrix,
        matrix @ rare @ matrix,
        matrix @ walk @ matrix,
        matrix @ root @ matrix @ root @ matrix,
        root @ matrix @ walk @ matrix @ walk @ matrix @ root,
    ]
    columns = [np.log1p(np.asarray(path.tocsr()[i, j]).ravel()) for path in paths]
    rank = 0.15 * np.linalg.inv(np.eye(n) - 0.85 * (walk @ matrix).toarray())
    columns += [*np.log(_order(rank[i, j], rank[j, i]) + 1e-7).T]
    kin = (root @ matrix @ matrix @ root).tolil()
    kin.setdiag(0)
    items = (kin.tocsr() @ matrix).tocsr()
    both = (np.asarray(items[ends]).ravel() for ends in ((i, j), (j, i)))
    columns += [*np.log1p(_order(*both)).T]
    columns.append(np.minimum(shortest_path(matrix, unweighted=True)[i, j], 10))
    columns += [*np.log1p(_order(degrees[i], degrees[j])).T]
    mean = np.log1p(np.asarray(walk @ matrix @ degrees))
    columns += [*_order(mean[i], mean[j]).T]
    return np.stack(columns, axis=1)


def learn(table: np.ndarray, truth: np.ndarray, asked: np.ndarray) -> np.ndarray:
    """(k,) mean log odds of three boosted trees and a logistic regression on `asked` (k, c)."""
    logits = np.zeros(len(asked))
    for state in range(3):
        trees = HistGradientBoostingClassifier(
            max_iter=200, learning_rate=0.05, max_leaf_nodes=12, min_samples_leaf=10,
            l2_regularization=1.0, max_features=0.5, random_state=state,
        )  # fmt: skip
        logits += trees.fit(table, truth).decision_function(asked) / 4
    linear = make_pipeline(StandardScaler(), LogisticRegression(C=0.3, max_iter=1000))
    return logits + linear.fit(table, truth).decision_function(asked) / 4


def attack_from_outside(
    shadow: tuple[Graph, np.ndarray], truth: np.ndarray, release: tuple[Graph, np.ndarray]
) -> np.ndarray:
    """(k,) log odds of the pairs of a release, learned from pairs of known truth of a shadow
    release; each a graph and its pairs (k, 2)."""
    table, asked = (
        np.concatenate([*describe(*side).values()], axis=1) for side in (shadow, release)
    )
    return learn(table, truth, asked)
