"""Matching by percolation along links, with confidences."""

from __future__ import annotations

import numpy as np

from core.algorithms.fingerprints import list_neighbors
from core.algorithms.matching import NO_MATCH, NUM_CANDIDATES, weigh_witnesses
from core.context import Context
from core.graph import Graph
from core.results import Matches

Neighbors = tuple[np.ndarray, np.ndarray]

MAX_ROUNDS = 60

SHARPNESS = 8.0
"""Exponent of the ratio of scores used as odds: witnesses are not independent. Chosen on sampled
pairs of Cora, NBA and Facebook pages."""


def percolate(
    known: Graph, published: Graph, image: np.ndarray, is_fixed: np.ndarray, context: Context
) -> np.ndarray:
    """(k,) mapping grown from `image` (k,), NO_MATCH if unmatched.

    In each round every mutual best pair with at least two witnesses is matched (one while few nodes
    are matched). All but the fixed pairs are reconsidered in each round, so that early errors are
    corrected.
    """
    known_neighbors, published_neighbors = list_neighbors(known), list_neighbors(published)
    fixed_images = image[is_fixed]
    min_gain = 0.001 * known.num_nodes
    for number in range(MAX_ROUNDS):
        context.progress.update(number, MAX_ROUNDS, "matching")
        top, scores, witnesses = rank(known_neighbors, published_neighbors, image)
        reverse, _, _ = rank(
            published_neighbors, known_neighbors, invert(image, published.num_nodes)
        )
        best = top[:, 0]
        agree = (best != NO_MATCH) & (reverse[best, 0] == np.arange(len(best)))
        agree &= (scores[:, 0] > scores[:, 1]) & ~np.isin(best, fixed_images)
        grown = image
        for least in (2, 1):
            grown = np.where(agree & (witnesses >= least), best, NO_MATCH)
            grown[is_fixed] = fixed_images
            gain = count_matched(grown) - count_matched(image)
            if gain > min_gain or count_matched(grown) > 0.1 * known.num_nodes:
                break
        image = grown
        if gain <= min_gain:
            break
    return image


def compute_matches(known: Graph, published: Graph, image: np.ndarray) -> Matches:
    """Candidates by witnesses under a mapping, and the odds of the first.

    Confidence is score^SHARPNESS over its sum over the candidates, times 1 − 2^−witnesses.
    """
    top, scores, witnesses = rank(list_neighbors(known), list_neighbors(published), image)
    ratios = (scores / np.maximum(scores[:, :1], 1e-300)) ** SHARPNESS
    odds = np.where(top[:, 0] != NO_MATCH, 1.0 / np.maximum(ratios.sum(axis=1), 1.0), 0.0)
    return Matches(top, odds * (1.0 - 0.5**witnesses))


def place_seeds(matches: Matches, nodes: np.ndarray, images: np.ndarray) -> Matches:
    """The same with the seeds as certain."""
    candidates, confidence = matches.candidates.copy(), matches.confidence.copy()
    candidates[nodes] = NO_MATCH
    candidates[nodes, 0], confidence[nodes] = images, 1.0
    return Matches(candidates, confidence)


def rank(
    here: Neighbors, there: Neighbors, image: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Candidates (k, c) under a mapping, their scores (k, c), and the best one's witnesses (k,)."""
    size, no_candidates = len(here[0]) - 1, np.empty((len(here[0]) - 1, 0), np.int64)
    top, values = np.empty((size, NUM_CANDIDATES), np.int64), np.empty((size, NUM_CANDIDATES, 3))
    weigh_witnesses(
        *here, *there, image[:, None].copy(), np.ones((size, 1)), 1.0, no_candidates, top, values,
        np.empty(size), np.empty(len(there[0]) - 1),
    )  # fmt: skip
    return top, values[:, :, 0].copy(), values[:, 0, 2].astype(np.int64)


def invert(image: np.ndarray, size: int) -> np.ndarray:
    """(size,) the inverse mapping."""
    inverse = np.full(size, NO_MATCH)
    matched = np.flatnonzero(image != NO_MATCH)
    inverse[image[matched]] = matched
    return inverse


def count_matched(image: np.ndarray) -> int:
    """Number of matched nodes."""
    return int((image != NO_MATCH).sum())


def start_from_seeds(seeds: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
    """The mapping (size,) of the seeds (s, 2), and a mask of them."""
    image, is_seed = np.full(size, NO_MATCH), np.zeros(size, bool)
    image[seeds[:, 0]] = seeds[:, 1]
    is_seed[seeds[:, 0]] = True
    return image, is_seed
