"""Candidate matches between the nodes of two graphs, and the features of each candidate."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np

from core.algorithms.fingerprints import list_neighbors
from core.algorithms.matching import NO_MATCH, NUM_CANDIDATES, weigh_witnesses
from core.algorithms.neighbourhood_features import compute_wider_neighbourhood_features
from core.algorithms.normalize import standardize
from core.attacks.identity.percolation import place_seeds
from core.context import Context
from core.graph import Graph
from core.methods import IdentityAttack
from core.release import Release
from core.results import Matches
from core.threats import IdentityThreat

MIN_WITNESS_PROBABILITY = 0.02
"""Probability below which a match is no witness."""
NUM_NEAREST = 8
"""Number of candidates by structure."""
NUM_WITNESSED = 8
"""Number of candidates by witnesses."""


class CandidateAttack(IdentityAttack):
    """Attack that improves the candidate matches of each node."""

    def find(self, release: Release, threat: IdentityThreat, context: Context) -> Matches:
        real = CandidateMatches(threat.known, release.graph, threat.seeds)
        targets = np.diff(real.known_neighbors[0]) > 0
        targets[threat.seeds[:, 0]] = False
        confidence = np.zeros(len(targets))
        if targets.any() and len(real.published_neighbors[1]):
            confidence[targets] = self._match(real, targets, context)[targets]
        order = np.argsort(-real.probabilities, axis=1, kind="stable")[:, :NUM_CANDIDATES]
        candidates = np.take_along_axis(real.candidates, order, axis=1)
        return place_seeds(Matches(candidates, confidence), *threat.seeds.T)

    @abstractmethod
    def _match(self, real: CandidateMatches, targets: np.ndarray, context: Context) -> np.ndarray:
        """Match the targets (k,) of the pair of graphs in place; (k,) confidence of the best."""


class CandidateMatches:
    """Two graphs, and the current candidate matches of each node of the first.

    candidates, probabilities  (k, c) nodes of the second graph or NO_MATCH, and their probabilities
    """

    def __init__(self, known: Graph, published: Graph, seeds: np.ndarray) -> None:
        self.known, self.published, self.seeds = known, published, seeds
        self.known_neighbors = list_neighbors(known)
        self.published_neighbors = list_neighbors(published)
        self.known_features = standardize(compute_wider_neighbourhood_features(known))
        self.published_features = standardize(compute_wider_neighbourhood_features(published))
        self.reset()

    def reset(self) -> None:
        """Remove all matches except the seeds."""
        unmatched = np.full((self.known.num_nodes, 1), NO_MATCH)
        self.image = unmatched[:, 0]
        self.set_candidates(unmatched, np.zeros(unmatched.shape))

    @property
    def best(self) -> tuple[np.ndarray, np.ndarray]:
        """(k,) best candidates and (k,) their probabilities."""
        every, place = np.arange(len(self.probabilities)), self.probabilities.argmax(axis=1)
        return self.candidates[every, place], self.probabilities[every, place]

    def set_candidates(self, candidates: np.ndarray, probabilities: np.ndarray) -> None:
        """Set the candidates; seeds stay."""
        candidates, probabilities = candidates.copy(), probabilities.copy()
        nodes, images = self.seeds.T
        taken = np.isin(candidates, images)
        probabilities[taken] = 0.0
        candidates[nodes], probabilities[nodes] = NO_MATCH, 0.0
        candidates[nodes, 0], probabilities[nodes, 0] = images, 1.0
        self.candidates, self.probabilities = candidates, probabilities

    def raise_probabilities(self, image: np.ndarray, probability: float) -> None:
        """Raise the probability of the nodes placed by the mapping (k,) to at least this,
        lowering others."""
        self.image, is_placed = image, image != NO_MATCH
        own = np.maximum(self._look_up(np.arange(len(image)), image), probability) * is_placed
        same = (self.candidates == image[:, None]) & is_placed[:, None]
        others = np.where(same, 0.0, self.probabilities * (1.0 - probability * is_placed)[:, None])
        candidates = np.where(same, NO_MATCH, self.candidates)
        self.set_candidates(np.column_stack([image, candidates]), np.column_stack([own, others]))

    def project(self, projection: np.ndarray) -> None:
        """Project the neighbourhood features of both graphs by a linear map (c, d)."""
        self.known_positions = (self.known_features @ projection).astype(np.float32)
        self.published_positions = (self.published_features @ projection).astype(np.float32)

    def find_nearest(self, count: int = NUM_NEAREST) -> None:
        """Structural candidates: the `count` nearest projected nodes; call `project` first."""
        from scipy.spatial import cKDTree

        width = min(count, len(self.published_positions))
        rows = cKDTree(self.published_positions).query(self.known_positions, width)[1]
        self.nearest = rows.reshape(len(self.known_positions), width).astype(np.int64)

    def compute_features(self) -> CandidateFeatures:
        """All candidates with their features."""
        k, n = self.known.num_nodes, self.published.num_nodes
        shape = (k, NUM_WITNESSED + self.nearest.shape[1])
        top, values = np.empty(shape, np.int64), np.empty((*shape, 3))
        own, possible = np.empty(k), np.empty(n)
        probabilities = np.ascontiguousarray(self.probabilities)
        weigh_witnesses(
            *self.known_neighbors, *self.published_neighbors, self.candidates, probabilities,
            MIN_WITNESS_PROBABILITY, self.nearest, top, values, own, possible,
        )  # fmt: skip
        rows, places = np.nonzero(top != NO_MATCH)
        images = top[rows, places]
        score, weighted, plain = values[rows, places].T
        degrees = tuple(
            np.log1p(np.diff(indptr))
            for indptr, _ in (self.known_neighbors, self.published_neighbors)
        )
        step = self.known_positions[rows] - self.published_positions[images]
        distance = np.sqrt((step.astype(np.float64) ** 2).sum(axis=1))
        before = self._look_up(rows, images)
        columns = [
            degrees[0][rows],
            degrees[1][images],
            degrees[0][rows] - degrees[1][images],
            distance,
            compute_lead(-distance, rows),
            compute_lead(-distance, images),
            score,
            compute_lead(score, rows),
            compute_lead(score, images),
            weighted,
            plain,
            weighted / np.maximum(own[rows], 1e-9),
            weighted / np.maximum(possible[images], 1e-9),
            own[rows],
            possible[images],
            before,
            compute_lead(before, rows),
            compute_lead(before, images),
            self.image[rows] == images,
        ]
        return CandidateFeatures(top, rows, places, np.column_stack(columns).astype(np.float32))

    def _look_up(self, rows: np.ndarray, images: np.ndarray) -> np.ndarray:
        """Current probability of each pair, 0 if it is no candidate."""
        same = self.candidates[rows] == images[:, None]
        return np.asarray((same * self.probabilities[rows]).max(axis=1))

    def list_mutual_best(self, least: float) -> np.ndarray:
        """(k,) mapping of mutual best pairs above a probability."""
        image, probability = self.best
        image = np.where(probability >= least, image, NO_MATCH)
        order = np.argsort(probability, kind="stable")
        inverse = np.full(self.published.num_nodes, NO_MATCH)
        matched = order[image[order] != NO_MATCH]
        inverse[image[matched]] = matched  # the surest comes last and stays
        return np.asarray(
            np.where(
                (image != NO_MATCH) & (inverse[image] == np.arange(len(image))), image, NO_MATCH
            )
        )


@dataclass(frozen=True, eq=False)
class CandidateFeatures:
    """Candidates (k, c) or NO_MATCH, and for each pair its row, position and features (p, f)."""

    candidates: np.ndarray
    rows: np.ndarray
    places: np.ndarray
    columns: np.ndarray

    @property
    def images(self) -> np.ndarray:
        """(p,) the candidates, one per pair."""
        return np.asarray(self.candidates[self.rows, self.places])

    def apply_exclusivity(self, probabilities: np.ndarray) -> np.ndarray:
        """(k, c) probabilities of the pairs (p,) after competition: each node is one candidate
        or none, and each candidate one node or none."""
        odds = probabilities / np.maximum(1.0 - probabilities, 1e-6)
        images = self.images
        by_row = np.bincount(self.rows, odds)[self.rows]
        by_found = np.bincount(images, odds)[images]
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
