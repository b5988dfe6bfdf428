"""Features of candidate pairs, one row per pair."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.algorithms.fingerprints import list_neighbors
from core.algorithms.matching import NO_MATCH, weigh_witnesses
from core.algorithms.neighbourhood_features import compute_wider_neighbourhood_features
from core.algorithms.normalize import standardize
from core.graph import Graph

LEAST = 0.02
"""Probability below which a match is no witness."""
NUM_NEAR = 8
"""Number of candidates by structure, and by witnesses."""
NUM_WITNESSED = 8


class Board:
    """Two graphs, and the current candidate matches of each node of the first.

    guesses, chances  (k, c) nodes of the second graph or NO_MATCH, and their probabilities
    """

    def __init__(self, known: Graph, published: Graph, seeds: np.ndarray) -> None:
        self.known, self.published, self.seeds = known, published, seeds
        self.here, self.there = list_neighbors(known), list_neighbors(published)
        self.shape_here = standardize(compute_wider_neighbourhood_features(known))
        self.shape_there = standardize(compute_wider_neighbourhood_features(published))
        self.reset()

    def reset(self) -> None:
        """Remove all matches except the seeds."""
        nobody = np.full((self.known.num_nodes, 1), NO_MATCH)
        self.image = nobody[:, 0]
        self.guess(nobody, np.zeros(nobody.shape))

    @property
    def best(self) -> tuple[np.ndarray, np.ndarray]:
        """(k,) best candidates and (k,) their probabilities."""
        every, place = np.arange(len(self.chances)), self.chances.argmax(axis=1)
        return self.guesses[every, place], self.chances[every, place]

    def guess(self, guesses: np.ndarray, chances: np.ndarray) -> None:
        """Set the candidates; seeds stay."""
        guesses, chances = guesses.copy(), chances.copy()
        nodes, images = self.seeds.T
        taken = np.isin(guesses, images)
        chances[taken] = 0.0
        guesses[nodes], chances[nodes] = NO_MATCH, 0.0
        guesses[nodes, 0], chances[nodes, 0] = images, 1.0
        self.guesses, self.chances = guesses, chances

    def believe(self, image: np.ndarray, chance: float) -> None:
        """Raise the probability of the nodes placed by the mapping (k,) to at least this,
        lowering others."""
        self.image, is_placed = image, image != NO_MATCH
        own = np.maximum(self._look_up(np.arange(len(image)), image), chance) * is_placed
        same = (self.guesses == image[:, None]) & is_placed[:, None]
        others = np.where(same, 0.0, self.chances * (1.0 - chance * is_placed)[:, None])
        guesses = np.where(same, NO_MATCH, self.guesses)
        self.guess(np.column_stack([image, guesses]), np.column_stack([own, others]))

    def place(self, projection: np.ndarray) -> None:
        """Project the neighbourhood features of both graphs by a linear map (c, d)."""
        self.place_here = (self.shape_here @ projection).astype(np.float32)
        self.place_there = (self.shape_there @ projection).astype(np.float32)

    def find_near(self, count: int = NUM_NEAR) -> None:
        """Structural candidates: the `count` nearest projected nodes; call `place` first."""
        from scipy.spatial import cKDTree

        width = min(count, len(self.place_there))
        rows = cKDTree(self.place_there).query(self.place_here, width)[1]
        self.near = rows.reshape(len(self.place_here), width).astype(np.int64)

    def describe(self) -> Evidence:
        """All candidates with their features."""
        k, n = self.known.num_nodes, self.published.num_nodes
        shape = (k, NUM_WITNESSED + self.near.shape[1])
        top, values = np.empty(shape, np.int64), np.empty((*shape, 3))
        own, possible = np.empty(k), np.empty(n)
        chances = np.ascontiguousarray(self.chances)
        weigh_witnesses(
            *self.here, *self.there, self.guesses, chances, LEAST, self.near, top, values,
            own, possible,
        )  # fmt: skip
        rows, places = np.nonzero(top != NO_MATCH)
        found = top[rows, places]
        score, weighted, plain = values[rows, places].T
        degrees = np.log1p(np.diff(self.here[0])), np.log1p(np.diff(self.there[0]))
        step = self.place_here[rows] - self.place_there[found]
        distance = np.sqrt((step.astype(np.float64) ** 2).sum(axis=1))
        before = self._look_up(rows, found)
        columns = [
            degrees[0][rows],
            degrees[1][found],
            degrees[0][rows] - degrees[1][found],
            distance,
            compute_lead(-distance, rows),
            compute_lead(-distance, found),
            score,
            compute_lead(score, rows),
            compute_lead(score, found),
            weighted,
            plain,
            weighted / np.maximum(own[rows], 1e-9),
            weighted / np.maximum(possible[found], 1e-9),
            own[rows],
            possible[found],
            before,
            compute_lead(before, rows),
            compute_lead(before, found),
            self.image[rows] == found,
        ]
        return Evidence(top, rows, places, np.column_stack(columns).astype(np.float32))

    def _look_up(self, rows: np.ndarray, found: np.ndarray) -> np.ndarray:
        """Current probability of each pair, 0 if it is no candidate."""
        same = self.guesses[rows] == found[:, None]
        return np.asarray((same * self.chances[rows]).max(axis=1))

    def list_clear(self, least: float) -> np.ndarray:
        """(k,) mapping of mutual best pairs above a probability."""
        image, chance = self.best
        image = np.where(chance >= least, image, NO_MATCH)
        order = np.argsort(chance, kind="stable")
        inverse = np.full(self.published.num_nodes, NO_MATCH)
        matched = order[image[order] != NO_MATCH]
        inverse[image[matched]] = matched  # the surest comes last and stays
        return np.asarray(
            np.where(
                (image != NO_MATCH) & (inverse[image] == np.arange(len(image))), image, NO_MATCH
            )
        )


@dataclass(frozen=True, eq=False)
class Evidence:
    """Candidates (k, c) or NO_MATCH, and for each pair its row, position and features (p, f)."""

    candidates: np.ndarray
    rows: np.ndarray
    places: np.ndarray
    columns: np.ndarray

    @property
    def found(self) -> np.ndarray:
        """(p,) the candidates, one per pair."""
        return np.asarray(self.candidates[self.rows, self.places])

    def spread(self, chances: np.ndarray) -> np.ndarray:
        """(k, c) probabilities of the pairs (p,) after competition: each node is one candidate
        or none, and each candidate one node or none."""
        odds = chances / np.maximum(1.0 - chances, 1e-6)
        found = self.found
        by_row = np.bincount(self.rows, odds)[self.rows]
        by_found = np.bincount(found, odds)[found]
        table = np.zeros(self.candidates.shape)
        table[self.rows, self.places] = odds / (1.0 + by_row + by_found - odds)
        return table


def compute_lead(values: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """(p,) excess of each value over the largest other one of its group; NaN if alone."""
    order = np.lexsort((-values, groups))
    ordered, group = values[order], groups[order]
    is_first = np.ones(len(order), bool)
    is_first[1:] = group[1:] != group[:-1]
    starts = np.flatnonzero(is_first)
    number = np.cumsum(is_first) - 1
    second = np.full(len(starts), np.nan)
    has_second = starts + 1 < len(order)
    has_second[has_second] = group[starts[has_second] + 1] == group[starts[has_second]]
    second[has_second] = ordered[starts[has_second] + 1]
    result = np.empty(len(order))
    result[order] = ordered - np.where(is_first, second[number], ordered[starts][number])
    return result
