"""Rounds of a matcher trained on simulated pairs of graphs, in step with the real pair."""

from __future__ import annotations

from typing import Any

import numpy as np

from core.algorithms.fingerprints import count_links_and_triangles, list_neighbors
from core.algorithms.matching import NO_MATCH
from core.attacks.identity.pair_evidence import Board, Evidence
from core.attacks.identity.percolation import percolate
from core.context import Context
from core.graph import Graph, is_among, pair_codes
from core.measures.node_risk import fit_isotonic

ENOUGH = 2000
"""Minimum number of training nodes: small graphs are simulated several times."""
MOST_REHEARSALS = 8
MOST_LEARNED = 2000
"""Nodes whose candidates train one classifier."""
LEAST_CASES = 8
"""Fewest right and wrong pairs for training."""
NUM_DIMENSIONS = 12
PERCOLATION = 3
"""Rounds between two percolations."""
STARTS = (0.5, 0.05)
"""Probabilities above which mutual best pairs may start a percolation."""

Model = Any
"""A fitted classifier, or a constant probability."""


class Course:
    """The real pair of graphs `real`, and simulated ones of assumed `overlap`, in step.

    asked  (k,) bool: targets, non-isolated and not seeds
    """

    def __init__(
        self, real: Board, asked: np.ndarray, overlap: float, trees: int, context: Context
    ) -> None:
        self._real, self._asked, self._trees, self._context = real, asked, trees, context
        self._own: list[Board] = []
        self._truths: list[np.ndarray] = []
        for number in range(min(-(-ENOUGH // int(asked.sum())), MOST_REHEARSALS)):
            context.progress.check()
            rng = context.rng("rehearsal", number)
            release, truth = rehearse(real.known, real.published, overlap, rng)
            nodes = real.seeds[:, 0]
            self._own.append(Board(real.known, release, np.stack([nodes, truth[nodes]], axis=1)))
            self._truths.append(truth)
        halves = context.rng("halves")
        self._halves = [halves.random(len(asked)) < 0.5 for _ in self._own]
        projection = learn_projection(self._own, self._truths, asked)
        for board in (real, *self._own):
            board.reset()
            board.place(projection)
            board.find_near()

    def hold(self, number: int, total: int) -> None:
        """Round `number`: rescore all candidates by classifiers trained on the simulations,
        cross-fitted over their nodes."""
        boards = [self._real, *self._own]
        given = [board.describe() for board in boards]
        models = []
        for fold in (True, False):
            self._context.progress.update(2 * number + (not fold), 2 * total, "matching")
            parts = [(half == fold) & self._asked for half in self._halves]
            models.append(self._learn(given[1:], parts, self._context.child(number, fold)))
        for board, evidence, half in zip(self._own, given[1:], self._halves, strict=True):
            by_second = half[evidence.rows]
            predicted = np.empty(len(by_second))
            for model, rows in ((models[1], by_second), (models[0], ~by_second)):
                predicted[rows] = predict(model, evidence.columns[rows])
            board.guess(evidence.candidates, evidence.spread(predicted))
        predicted = (
            predict(models[0], given[0].columns) + predict(models[1], given[0].columns)
        ) / 2
        self._real.guess(given[0].candidates, given[0].spread(predicted))
        if number % PERCOLATION == 0:
            self._percolate()

    def compare(self) -> float:
        """Log ratio of the mean probability in the real release to that in the simulated ones."""
        own = np.mean([board.best[1][self._asked].mean() for board in self._own])
        real = self._real.best[1][self._asked].mean()
        return float(np.log(max(real, 1e-9) / max(own, 1e-9)))

    def calibrate(self) -> np.ndarray:
        """(k,) accuracy of the best candidate in the simulations at this probability."""
        chances, right = [], []
        for board, truth in zip(self._own, self._truths, strict=True):
            best, chance = board.best
            chances.append(chance[self._asked])
            right.append((best == truth)[self._asked])
        places, values = np.concatenate(chances), np.concatenate(right).astype(float)
        weights = np.ones(len(places))
        return fit_isotonic(places, values, weights, self._real.best[1]).clip(0.0, 1.0)

    def _percolate(self) -> None:
        """Grow mappings from mutual best pairs; if they find more nodes of a simulation, use
        them with their accuracy there."""
        is_seed = np.zeros(len(self._asked), bool)
        is_seed[self._real.seeds[:, 0]] = True

        def grow(board: Board, least: float) -> np.ndarray:
            clear = board.list_clear(least)
            return percolate(board.known, board.published, clear, is_seed, self._context)

        own, truth = self._own[0], self._truths[0]
        images = [grow(own, least) for least in STARTS]
        right = [int((image == truth)[self._asked].sum()) for image in images]
        most = int(np.argmax(right))
        if right[most] > (own.best[0] == truth)[self._asked].sum():
            share = right[most] / int((images[most] != NO_MATCH)[self._asked].sum())
            own.believe(images[most], share)
            for board in (self._real, *self._own[1:]):
                board.believe(grow(board, STARTS[most]), share)

    def _learn(self, given: list[Evidence], parts: list[np.ndarray], context: Context) -> Model:
        from sklearn.ensemble import HistGradientBoostingClassifier

        rng = context.rng("sample")
        columns, right = [], []
        for evidence, truth, part in zip(given, self._truths, parts, strict=True):
            nodes = np.flatnonzero(part)
            most = -(-MOST_LEARNED // len(given))
            if len(nodes) > most:
                nodes = rng.choice(nodes, most, replace=False)
            is_chosen = np.zeros(len(part), bool)
            is_chosen[nodes] = True
            pairs = np.flatnonzero(is_chosen[evidence.rows])
            columns.append(evidence.columns[pairs])
            right.append(evidence.found[pairs] == truth[evidence.rows[pairs]])
        cases, truth = np.concatenate(columns), np.concatenate(right)
        if min(truth.sum(), (~truth).sum()) < LEAST_CASES:
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


def learn_projection(
    boards: list[Board], truths: list[np.ndarray], asked: np.ndarray
) -> np.ndarray:
    """(c, d) directions of the structural features with most variance between nodes relative to
    that between the two graphs (Fisher's linear discriminant)."""
    from scipy.linalg import eigh

    size = boards[0].shape_here.shape[1]
    within, between = np.zeros((size, size)), np.zeros((size, size))
    for board, truth in zip(boards, truths, strict=True):
        here, there = board.shape_here[asked], board.shape_there[truth[asked]]
        within += (here - there).T @ (here - there)
        between += (here.T @ here + there.T @ there) / 2
    count = len(boards) * asked.sum()
    _, vectors = eigh(between / count, within / count + 0.01 * np.eye(size))
    return np.asarray(vectors[:, ::-1][:, :NUM_DIMENSIONS])


def rehearse(
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
        merged = np.concatenate([found, codes])
        _, first = np.unique(merged, return_index=True)
        found = merged[np.sort(first)][:count]
        if len(found) == count:
            break
    return np.stack([found // graph.num_nodes, found % graph.num_nodes], axis=1)
