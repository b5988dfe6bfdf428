"""Rounds of a matcher trained on simulated pairs of graphs, in step with the real pair."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from core.algorithms.fingerprints import count_links_and_triangles, list_neighbors
from core.algorithms.matching import NO_MATCH
from core.arrays import decode_pairs, is_among, pair_codes
from core.attacks.identity.candidate_matches import CandidateFeatures, CandidateMatches
from core.attacks.identity.percolation import percolate
from core.context import Context
from core.graph import Graph
from core.measures.node_risk import fit_isotonic

MIN_TRAINING_NODES = 2000
"""Minimum number of training nodes: small graphs are simulated several times."""
MAX_SIMULATIONS = 8
MAX_NODES_PER_CLASSIFIER = 2000
"""Nodes whose candidates train one classifier."""
MIN_CASES = 8
"""Fewest right and wrong pairs for training."""
NUM_DIMENSIONS = 12
PERCOLATION_INTERVAL = 3
"""Rounds between two percolations."""
START_PROBABILITIES = (0.5, 0.05)
"""Probabilities above which mutual best pairs may start a percolation."""

Model = Any
"""A fitted classifier, or a constant probability."""


class MatcherTraining:
    """The real pair of graphs `real`, and simulated ones of assumed `overlap`, in step.

    targets  (k,) bool: nodes to match, those that are neither isolated nor seeds
    """

    def __init__(
        self,
        real: CandidateMatches,
        targets: np.ndarray,
        overlap: float,
        trees: int,
        context: Context,
    ) -> None:
        self._real, self._targets, self._trees, self._context = real, targets, trees, context
        count = min(-(-MIN_TRAINING_NODES // int(targets.sum())), MAX_SIMULATIONS)
        self._simulated, self._truths = simulate_matches(real, targets, overlap, count, context)
        halves = context.rng("halves")
        self._halves = [halves.random(len(targets)) < 0.5 for _ in self._simulated]
        for matches in (real, *self._simulated):
            matches.reset()
            matches.find_nearest()

    def run_round(self, number: int, total: int) -> None:
        """Round `number`: rescore all candidates by classifiers trained on the simulations,
        cross-fitted over their nodes."""
        graph_pairs = [self._real, *self._simulated]
        features = [matches.compute_features() for matches in graph_pairs]
        models = []
        for fold in (True, False):
            self._context.progress.update(2 * number + (not fold), 2 * total, "matching")
            parts = [(half == fold) & self._targets for half in self._halves]
            models.append(self._learn(features[1:], parts, self._context.child(number, fold)))
        for matches, table, half in zip(self._simulated, features[1:], self._halves, strict=True):
            by_second = half[table.rows]
            predicted = np.empty(len(by_second))
            for model, rows in ((models[1], by_second), (models[0], ~by_second)):
                predicted[rows] = predict(model, table.columns[rows])
            matches.set_candidates(table.candidates, table.apply_exclusivity(predicted))
        predicted = (
            predict(models[0], features[0].columns) + predict(models[1], features[0].columns)
        ) / 2
        self._real.set_candidates(features[0].candidates, features[0].apply_exclusivity(predicted))
        if number % PERCOLATION_INTERVAL == 0:
            self._percolate()

    def compare_probabilities(self) -> float:
        """Log ratio of the mean probability in the real release to that in the simulated ones."""
        simulated = np.mean([matches.best[1][self._targets].mean() for matches in self._simulated])
        real = self._real.best[1][self._targets].mean()
        return float(np.log(max(real, 1e-9) / max(simulated, 1e-9)))

    def compute_confidence(self) -> np.ndarray:
        """(k,) accuracy of the best candidate in the simulations at this probability."""
        probabilities, right = [], []
        for matches, truth in zip(self._simulated, self._truths, strict=True):
            best, probability = matches.best
            probabilities.append(probability[self._targets])
            right.append((best == truth)[self._targets])
        places, values = np.concatenate(probabilities), np.concatenate(right).astype(float)
        weights = np.ones(len(places))
        return fit_isotonic(places, values, weights, self._real.best[1]).clip(0.0, 1.0)

    def _percolate(self) -> None:
        """Grow mappings from mutual best pairs; if they find more nodes of a simulation, use
        them with their accuracy there."""
        is_seed = np.zeros(len(self._targets), bool)
        is_seed[self._real.seeds[:, 0]] = True

        def grow(matches: CandidateMatches, least: float) -> np.ndarray:
            clear = matches.list_mutual_best(least)
            return percolate(matches.known, matches.published, clear, is_seed, self._context)

        simulated, truth = self._simulated[0], self._truths[0]
        images = [grow(simulated, least) for least in START_PROBABILITIES]
        right = [int((image == truth)[self._targets].sum()) for image in images]
        most = int(np.argmax(right))
        if right[most] > (simulated.best[0] == truth)[self._targets].sum():
            share = right[most] / int((images[most] != NO_MATCH)[self._targets].sum())
            simulated.raise_probabilities(images[most], share)
            for matches in (self._real, *self._simulated[1:]):
                matches.raise_probabilities(grow(matches, START_PROBABILITIES[most]), share)

    def _learn(
        self, features: list[CandidateFeatures], parts: list[np.ndarray], context: Context
    ) -> Model:
        from sklearn.ensemble import HistGradientBoostingClassifier

        rng = context.rng("sample")
        columns, right = [], []
        for table, truth, part in zip(features, self._truths, parts, strict=True):
            nodes = np.flatnonzero(part)
            most = -(-MAX_NODES_PER_CLASSIFIER // len(features))
            if len(nodes) > most:
                nodes = rng.choice(nodes, most, replace=False)
            is_chosen = np.zeros(len(part), bool)
            is_chosen[nodes] = True
            pairs = np.flatnonzero(is_chosen[table.rows])
            columns.append(table.columns[pairs])
            right.append(table.images[pairs] == truth[table.rows[pairs]])
        cases, truth = np.concatenate(columns), np.concatenate(right)
        if min(truth.sum(), (~truth).sum()) < MIN_CASES:
            return float(truth.mean()) if len(truth) else 0.0
        model = HistGradientBoostingClassifier(
            max_iter=self._trees,
            learning_rate=0.1,
            max_leaf_nodes=12,
            min_samples_leaf=20,
            l2_regularization=1.0,
            early_stopping=False,
            random_state=int(rng.integers(2**31)),
        )
        return model.fit(cases, truth)


def predict(model: Model, columns: np.ndarray) -> np.ndarray:
    """(p,) probability of each pair, by its features (p, f), to be right."""
    if isinstance(model, float) or not len(columns):
        return np.full(len(columns), model if isinstance(model, float) else 0.0)
    return np.asarray(model.predict_proba(columns)[:, 1])


def simulate_matches(
    real: CandidateMatches, targets: np.ndarray, overlap: float, count: int, context: Context
) -> tuple[list[CandidateMatches], list[np.ndarray]]:
    """Simulated pairs of graphs and their true images; projects the features of all."""
    simulated, truths = [], []
    for number in range(count):
        context.progress.check()
        release, truth = simulate_release(
            real.known, real.published, overlap, context.rng("rehearsal", number)
        )
        nodes = real.seeds[:, 0]
        simulated.append(
            CandidateMatches(real.known, release, np.stack([nodes, truth[nodes]], axis=1))
        )
        truths.append(truth)
    projection = learn_projection(simulated, truths, targets)
    for matches in (real, *simulated):
        matches.project(projection)
    return simulated, truths


def learn_projection(
    graph_pairs: list[CandidateMatches], truths: list[np.ndarray], targets: np.ndarray
) -> np.ndarray:
    """(c, d) directions of the structural features with most variance between nodes relative to
    that between the two graphs (Fisher's linear discriminant)."""
    from scipy.linalg import eigh

    size = graph_pairs[0].known_features.shape[1]
    within, between = np.zeros((size, size)), np.zeros((size, size))
    for matches, truth in zip(graph_pairs, truths, strict=True):
        here, there = matches.known_features[targets], matches.published_features[truth[targets]]
        within += (here - there).T @ (here - there)
        between += (here.T @ here + there.T @ there) / 2
    count = len(graph_pairs) * targets.sum()
    _, vectors = eigh(between / count, within / count + 0.01 * np.eye(size))
    return np.asarray(vectors[:, ::-1][:, :NUM_DIMENSIONS])


def simulate_release(
    known: Graph, published: Graph, overlap: float, rng: np.random.Generator
) -> tuple[Graph, np.ndarray]:
    """A simulated release of `known` with the structure of `published` and `overlap` of the known
    links, and (k,) int64 its node of each known node.

    Further links, up to the release's number, end where known ones do: a share of them closes
    triangles so that their number equals the release's, the others lead three links away. Only the
    release's numbers of links and triangles are used, so that its order of nodes does not matter.
    """
    links, wanted = known.present_edges, len(published.present_edges)
    share = min(overlap, wanted / max(len(links), 1))
    kept = links[rng.random(len(links)) < share]
    missing = max(wanted - len(kept), 0)
    closing = draw_ends(known, 2, missing, rng)
    far = draw_ends(known, 3, missing, rng)
    goal = int(count_links_and_triangles(published)[1].sum())
    few, many = (
        int(count_links_and_triangles(known.with_edges(np.concatenate([kept, more])))[1].sum())
        for more in (far, closing)
    )
    local = (goal - few) / (many - few) if many > few else 0.0
    count = round(float(np.clip(local, 0.0, 1.0)) * len(closing))
    edges = np.concatenate([kept, closing[:count], far[: missing - count]])
    truth = rng.permutation(known.num_nodes)
    return Graph.from_pairs(truth[edges], known.num_nodes), truth


def draw_ends(graph: Graph, length: int, count: int, rng: np.random.Generator) -> np.ndarray:
    """At most `count` new pairs (c, 2): ends of random walks of `length` links from random ends
    of random links."""
    indptr, indices = list_neighbors(graph)
    if not len(indices):
        return np.empty((0, 2), np.int64)
    found = np.empty(0, np.int64)
    for _ in range(4):
        draws = 2 * (count - len(found)) + 16
        start = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))[
            rng.integers(0, len(indices), draws)
        ]
        place = start
        for _ in range(length):
            step = rng.random(len(place)) * (indptr[place + 1] - indptr[place])
            place = indices[indptr[place] + step.astype(np.int64)]
        pairs = np.stack([start, place], axis=1).astype(np.int64)
        codes = pair_codes(pairs[start != place], graph.num_nodes)
        codes = codes[~is_among(codes, graph.edge_codes)]
        found = pd.unique(np.concatenate([found, codes]))[:count]
        if len(found) == count:
            break
    return decode_pairs(found, graph.num_nodes)
