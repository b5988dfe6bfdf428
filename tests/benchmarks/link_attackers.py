"""Is the worst case on withheld links beaten by an attacker that shares no code with it?

    python -m tests.benchmarks.link_attackers [--graphs activity,indefinite,households,customers]
        [--splits 0,1,2] [--attacks pair_classifier,ncn] [--only-own]

Graphs that no attack was made for, drawn anew for each split: `activity`, four kinds that meet
others rather than their own, degrees uneven; `indefinite`, a latent space in which half of the
directions repel; `households`, cliques of two to five, workplaces and hubs; `customers`, people
and shops, whose links close no triangle; `features`, links by an arbitrary symmetric form of eight
features; or a graph of the catalogue. 10 % of the links are hidden. Cells are AUC / TPR at 1 %
FPR / CPU seconds, means over the splits. The attacker from outside hides 12 % of what is
left in four rounds, six non-links for each, and grows trees on counts of paths up to three steps,
PageRank, products and distances of spectral embeddings of two matrices at six ranks, densities
between clusters at five sizes, steps apart, and products and differences of features.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np
import torch
from scipy import sparse
from scipy.sparse.csgraph import shortest_path
from scipy.sparse.linalg import eigsh
from sklearn.cluster import KMeans
from sklearn.ensemble import HistGradientBoostingClassifier

from core.context import Context, SharedWork
from core.data.catalogue import load_dataset
from core.data.splits import draw_threats
from core.graph import Graph
from core.measures.ranking import compute_auc, compute_roc
from core.registry import parse_method
from core.release import Release
from core.seeding import Seed
from tests.benchmarks.finite import print_finite

RANKS = (2, 4, 8, 16, 32, 48)
CLUSTERS = (2, 4, 8, 16, 32)


def make_activity(rng: np.random.Generator) -> Graph:
    kinds, activity = rng.integers(0, 4, 1000), rng.pareto(2.0, 1000) + 0.5
    meet = np.array([[0.1, 1, 0.1, 2], [1, 0.1, 2, 0.1], [0.1, 2, 0.1, 0.5], [2, 0.1, 0.5, 0.1]])
    return _draw(np.outer(activity, activity) * meet[kinds][:, kinds], 5000, rng)


def make_indefinite(rng: np.random.Generator) -> Graph:
    places = rng.normal(size=(900, 6))
    form = places @ np.diag([1, 1, 1, -1, -1, -1]) @ places.T
    return _draw(1 / (1 + np.exp(7 - 1.2 * form)), None, rng)


def make_features(rng: np.random.Generator) -> Graph:
    features = rng.normal(size=(900, 8)).astype(np.float32)
    form = rng.normal(size=(8, 8))
    logits = features @ (form + form.T) @ features.T / 4
    return _draw(1 / (1 + np.exp(6.3 - 1.3 * logits)), None, rng, features)


def make_customers(rng: np.random.Generator) -> Graph:
    is_shop = np.arange(1000) >= 700
    kinds, activity = rng.integers(0, 6, 1000), rng.pareto(np.where(is_shop, 1.5, 2.0)) + 0.4
    rate = np.outer(activity, activity) * np.where(kinds[:, None] == kinds, 6, 1)
    return _draw(rate * (is_shop[:, None] != is_shop), 4000, rng)


def make_households(rng: np.random.Generator) -> Graph:
    homes = np.repeat(np.arange(1000), rng.integers(2, 6, 1000))[:1000]
    together = np.argwhere(np.triu(homes[:, None] == homes, 1))
    works = rng.integers(0, 40, 1000)
    colleagues = []
    for work in range(40):
        staff = np.flatnonzero(works == work)
        colleagues.append(rng.choice(staff, (2 * len(staff), 2)))
    hubs = np.stack([rng.integers(0, 20, 800), rng.integers(0, 1000, 800)], axis=1)
    pairs = np.concatenate([together, *colleagues, hubs])
    return Graph.from_pairs(pairs[pairs[:, 0] != pairs[:, 1]], 1000)


MAKERS: dict[str, Callable[[np.random.Generator], Graph]] = {
    "activity": make_activity,
    "indefinite": make_indefinite,
    "households": make_households,
    "customers": make_customers,
    "features": make_features,
}


def _draw(
    rate: np.ndarray,
    total: int | None,
    rng: np.random.Generator,
    features: np.ndarray | None = None,
) -> Graph:
    """Links at these rates, scaled to a Poisson `total`; as probabilities where that is None."""
    rate = np.triu(rate, 1)
    chance = rate if total is None else 1 - np.exp(-rate * total / rate.sum())
    pairs = np.argwhere(rng.random(rate.shape) < chance)
    return Graph.from_pairs(pairs, len(rate), features=features)


def describe(
    matrix: sparse.csr_array, pairs: np.ndarray, features: np.ndarray | None
) -> np.ndarray:
    """(k, c) what the outside attacker sees of pairs; dense, for small graphs."""
    n, (i, j) = matrix.shape[0], pairs.T
    degrees = np.asarray(matrix.sum(axis=1)).ravel()
    walk = sparse.diags_array(1 / np.maximum(degrees, 1))
    root = sparse.diags_array(1 / np.sqrt(np.maximum(degrees, 1)))
    rare = sparse.diags_array(1 / np.log(np.maximum(degrees, 2)))
    middles = (matrix, matrix @ rare @ matrix, matrix @ walk @ matrix, matrix @ matrix)
    paths = [*middles[1:], middles[3] @ matrix, matrix @ root @ matrix @ root @ matrix]
    columns = [np.minimum(degrees[i], degrees[j]), np.maximum(degrees[i], degrees[j])]
    columns += [
        degrees[i] * degrees[j],
        *(np.asarray(path.tocsr()[i, j]).ravel() for path in paths),
    ]
    rank = 0.2 * np.linalg.inv(np.eye(n) - 0.8 * (walk @ matrix).toarray())
    columns += [rank[i, j] + rank[j, i], np.minimum(rank[i, j], rank[j, i])]
    for closed in (matrix, root @ matrix @ root):
        values, vectors = eigsh(closed, k=max(RANKS), which="LM", v0=np.ones(n))
        order = np.argsort(-np.abs(values))
        values, vectors = values[order], vectors[:, order]
        products = np.cumsum(vectors[i] * values * vectors[j], axis=1)
        columns += [products[:, r - 1] for r in RANKS]
        scaled = vectors[:, :16] * np.sqrt(np.abs(values[:16]))
        unit = scaled / np.maximum(np.linalg.norm(scaled, axis=1, keepdims=True), 1e-9)
        columns += [(unit[i] * unit[j]).sum(1), np.linalg.norm(scaled[i] - scaled[j], axis=1)]
        for count in CLUSTERS:
            found = KMeans(count, n_init=2, random_state=0).fit_predict(unit[:, : max(count, 4)])
            member = np.eye(count)[found]
            links, ends = member.T @ (matrix @ member), member.T @ degrees
            density = links / np.maximum(np.outer(ends, ends), 1)
            columns.append(density[found[i], found[j]] * degrees[i] * degrees[j])
    columns.append(np.minimum(shortest_path(matrix, unweighted=True)[i, j], 20))
    if features is not None:
        columns += [*(features[i] * features[j]).T, *np.abs(features[i] - features[j]).T]
    return np.stack(columns, axis=1)


def attack_from_outside(graph: Graph, pairs: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    n, features = graph.num_nodes, graph.features
    features = None if features is None else np.asarray(features, float)
    tables, truths = [], []
    for _ in range(4):
        held = rng.random(graph.num_edges) < 0.12
        drawn = rng.integers(0, n, (6 * held.sum(), 2))
        drawn = drawn[drawn[:, 0] != drawn[:, 1]]
        drawn = drawn[~graph.contains_pairs(drawn)]
        rest = Graph.from_pairs(graph.edges[~held], n).adjacency.astype(np.float64).tocsr()
        tables.append(describe(rest, np.concatenate([graph.edges[held], drawn]), features))
        truths.append(np.arange(held.sum() + len(drawn)) < held.sum())
    table, truth = np.concatenate(tables), np.concatenate(truths)
    asked = describe(graph.adjacency.astype(np.float64).tocsr(), pairs, features)
    said = np.zeros(len(pairs))
    for state in range(4):
        model = HistGradientBoostingClassifier(
            max_iter=200, learning_rate=0.05, max_leaf_nodes=15, l2_regularization=1.0,
            max_features=0.4, random_state=state,
        )  # fmt: skip
        said += model.fit(table, truth).predict_proba(asked)[:, 1]
    return said


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--graphs", default="activity,indefinite,households,customers,features")
    parser.add_argument("--splits", default="0,1,2")
    parser.add_argument("--attacks", default="pair_classifier,ncn")
    parser.add_argument("--only-own", action="store_true", help="not the one from outside")
    options = parser.parse_args()
    torch.set_num_threads(1)
    for name in options.graphs.split(","):
        rows: dict[str, list[tuple[float, float, float]]] = {}
        for split in map(int, options.splits.split(",")):
            rng, seed = np.random.default_rng(100 + split), Seed(split)
            graph = MAKERS[name](rng) if name in MAKERS else load_dataset(name).graph
            threats = draw_threats(graph, seed, hide_links=0.1)
            shown, link, shared = threats.visible, threats.link, SharedWork(limit=30)
            assert link is not None
            keys = options.attacks.split(",") + ([] if options.only_own else ["outside"])
            for key in keys:
                start, context = time.process_time(), Context(seed.child(key), seed, shared=shared)
                if key == "outside":
                    scores = attack_from_outside(shown, link.pairs, rng)
                else:
                    method = parse_method(key, "link_attack")
                    scores = method.score(Release(shown), link, context).scores
                tpr = float(compute_roc(scores, link.truth).at(0.01))
                spent = time.process_time() - start
                rows.setdefault(key, []).append((compute_auc(scores, link.truth)[0], tpr, spent))
        means = {key: np.mean(found, axis=0) for key, found in rows.items()}
        cells = [f"{k} {a:.3f} / {t:.2f} / {s:.1f}" for k, (a, t, s) in means.items()]
        print(f"{name:12s} {'   '.join(cells)}", flush=True)


if __name__ == "__main__":
    print_finite(main)
