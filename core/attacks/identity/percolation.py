"""Matchers that let a mapping grow along links, and how sure they are of each person."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from pydantic import Field
from scipy.spatial import cKDTree

from core.algorithms.fingerprints import list_neighbors
from core.algorithms.matching import NOBODY, NUM_CANDIDATES, extend_by_eccentricity, weigh_witnesses
from core.algorithms.neighbourhood_features import compute_wider_neighbourhood_features
from core.algorithms.normalize import standardize
from core.context import Context
from core.graph import Graph
from core.methods import IdentityAttack, MethodInfo
from core.release import Release
from core.results import Matches
from core.threats import IdentityThreat

Neighbors = tuple[np.ndarray, np.ndarray]

MAX_ROUNDS = 60

SHARPNESS = 8.0
"""Power of the scores' ratio that their odds are taken for: neighbours share neighbours, so
that witnesses are not independent. Found on sampled pairs of Cora, NBA and Facebook pages."""


def percolate(
    known: Graph,
    published: Graph,
    image: np.ndarray,
    is_fixed: np.ndarray,
    context: Context,
) -> np.ndarray:
    """(k,) the mapping that grows from `image` (k,), NOBODY where there is none.

    Round by round, every pair is matched that both sides rank first, with at least two
    witnesses (one, as long as hardly anybody is matched). All but the fixed pairs are judged
    anew in each round, so that early mistakes are taken back.
    """
    here, there = list_neighbors(known), list_neighbors(published)
    fixed_images = image[is_fixed]
    enough = 0.001 * known.num_nodes
    for number in range(MAX_ROUNDS):
        context.progress.update(number, MAX_ROUNDS, "matching")
        top, scores, witnesses = rank(here, there, image)
        back, _, _ = rank(there, here, invert(image, published.num_nodes))
        best = top[:, 0]
        agree = (best != NOBODY) & (back[best, 0] == np.arange(len(best)))
        agree &= (scores[:, 0] > scores[:, 1]) & ~np.isin(best, fixed_images)
        grown = image
        for least in (2, 1):
            grown = np.where(agree & (witnesses >= least), best, NOBODY)
            grown[is_fixed] = fixed_images
            gain = count_matched(grown) - count_matched(image)
            if gain > enough or count_matched(grown) > 0.1 * known.num_nodes:
                break
        image = grown
        if gain <= enough:
            break
    return image


def judge(known: Graph, published: Graph, image: np.ndarray) -> Matches:
    """Candidates by their witnesses under a mapping, and the odds of the first.

    Confidence is score^SHARPNESS over its sum over the candidates, times 1 − 2^−witnesses.
    """
    top, scores, witnesses = rank(list_neighbors(known), list_neighbors(published), image)
    ratios = (scores / np.maximum(scores[:, :1], 1e-300)) ** SHARPNESS
    odds = np.where(top[:, 0] != NOBODY, 1.0 / np.maximum(ratios.sum(axis=1), 1.0), 0.0)
    return Matches(top, odds * (1.0 - 0.5**witnesses))


def place_first(matches: Matches, nodes: np.ndarray, images: np.ndarray) -> Matches:
    """The same with what is known for certain: seeds are not guessed."""
    candidates, confidence = matches.candidates.copy(), matches.confidence.copy()
    candidates[nodes] = NOBODY
    candidates[nodes, 0], confidence[nodes] = images, 1.0
    return Matches(candidates, confidence)


def rank(
    here: Neighbors, there: Neighbors, image: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Candidates (k, c) under a mapping, their scores (k, c), and the best one's witnesses (k,)."""
    size, nobody = len(here[0]) - 1, np.empty((len(here[0]) - 1, 0), np.int64)
    top, values = np.empty((size, NUM_CANDIDATES), np.int64), np.empty((size, NUM_CANDIDATES, 3))
    weigh_witnesses(
        *here, *there, image[:, None].copy(), np.ones((size, 1)), 1.0, nobody, top, values,
        np.empty(size), np.empty(len(there[0]) - 1),
    )  # fmt: skip
    return top, values[:, :, 0].copy(), values[:, 0, 2].astype(np.int64)


def invert(image: np.ndarray, size: int) -> np.ndarray:
    """(size,) the mapping the other way round."""
    inverse = np.full(size, NOBODY)
    matched = np.flatnonzero(image != NOBODY)
    inverse[image[matched]] = matched
    return inverse


def count_matched(image: np.ndarray) -> int:
    """Number of people that the mapping places."""
    return int((image != NOBODY).sum())


def start_from_seeds(seeds: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
    """The mapping (size,) that holds the seeds (s, 2) only, and which nodes they are."""
    image, is_seed = np.full(size, NOBODY), np.zeros(size, bool)
    image[seeds[:, 0]] = seeds[:, 1]
    is_seed[seeds[:, 0]] = True
    return image, is_seed


class SeededPercolation(IdentityAttack):
    """Pairs that enough matched neighbours bear witness to are matched, round by round."""

    info: ClassVar[MethodInfo] = MethodInfo(
        key="seeded_percolation",
        title="Seeded percolation",
        summary="Grows a mapping from known people to their neighbours by common witnesses.",
        source="Yartseva and Grossglauser, On the performance of percolation graph matching, "
        "COSN 2013; mutual best pairs as in Korula and Lattanzi, VLDB 2014",
        group="second graph",
        cost="seconds",
    )

    def supports(self, release: Release, threat: IdentityThreat) -> str | None:
        return None if len(threat.seeds) else "it needs people who are known already (seeds)"

    def find(self, release: Release, threat: IdentityThreat, context: Context) -> Matches:
        known, published = threat.known, release.graph
        image, is_seed = start_from_seeds(threat.seeds, known.num_nodes)
        image = percolate(known, published, image, is_seed, context)
        return place_first(judge(known, published, image), *threat.seeds.T)


MAX_PASSES = 20


class NarayananShmatikov(IdentityAttack):
    """Maps a person where the best score is eccentric both ways; passes until nothing changes."""

    info: ClassVar[MethodInfo] = MethodInfo(
        key="narayanan_shmatikov",
        title="Narayanan–Shmatikov",
        summary="Grows a mapping from known people; takes only candidates that stand out.",
        source="Narayanan and Shmatikov, De-anonymizing social networks, IEEE S&P 2009, §5",
        group="second graph",
        cost="seconds",
    )

    eccentricity: float = Field(
        0.5,
        ge=0,
        le=10,
        description="How far the best must stand above the next, in standard deviations.",
    )

    def supports(self, release: Release, threat: IdentityThreat) -> str | None:
        return None if len(threat.seeds) else "it needs people who are known already (seeds)"

    def find(self, release: Release, threat: IdentityThreat, context: Context) -> Matches:
        known, published = threat.known, release.graph
        image, is_seed = start_from_seeds(threat.seeds, known.num_nodes)
        inverse = invert(image, published.num_nodes)
        outcome = np.empty((known.num_nodes, 4))
        order = np.flatnonzero(~is_seed)
        neighbors = (*list_neighbors(known), *list_neighbors(published))
        for number in range(MAX_PASSES):
            context.progress.update(number, MAX_PASSES, "propagation")
            changed = extend_by_eccentricity(
                *neighbors, image, inverse, order, self.eccentricity, outcome
            )
            image[threat.seeds[:, 0]] = threat.seeds[:, 1]
            inverse = invert(image, published.num_nodes)
            if changed <= 0.001 * known.num_nodes:
                break
        return place_first(judge(known, published, image), *threat.seeds.T)


class StructuralAlignment(IdentityAttack):
    """Nearest neighbours in structural features; mutual ones start a percolation."""

    info: ClassVar[MethodInfo] = MethodInfo(
        key="structural_alignment",
        title="Structural alignment",
        summary="Knows nobody beforehand: compares the shape of everybody's surroundings.",
        source="In the way of Heimann et al., REGAL: representation learning-based graph "
        "alignment, CIKM 2018; features as in Henderson et al., KDD 2011",
        group="second graph",
        cost="seconds",
    )

    def find(self, release: Release, threat: IdentityThreat, context: Context) -> Matches:
        context.progress.update(0, 3, "surroundings")
        here = compute_wider_neighbourhood_features(threat.known)
        there = compute_wider_neighbourhood_features(release.graph)
        # Each graph by its own mean and spread: the other may be sparser throughout.
        here, there = standardize(here), standardize(there)
        context.progress.update(1, 3, "nearest")
        distances, nearest = find_nearest(here, there)
        back = find_nearest(there, here)[1][:, 0]
        mutual = back[nearest[:, 0]] == np.arange(len(here))
        clear = mutual & (distances[:, 0] < 0.8 * distances[:, 1])
        image = np.where(clear, nearest[:, 0], NOBODY)
        nobody = np.zeros(len(here), bool)
        image = percolate(threat.known, release.graph, image, nobody, context)
        found = judge(threat.known, release.graph, image)
        # Those without a matched neighbour are left with the nearest by shape, without claim.
        lonely = found.candidates[:, 0] == NOBODY
        candidates = found.candidates.copy()
        candidates[lonely, : nearest.shape[1]] = nearest[lonely]
        return Matches(candidates, found.confidence)


def find_nearest(wanted: np.ndarray, present: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(k, c) distances and rows of the c nearest of `present`, at least two columns."""
    width = min(NUM_CANDIDATES, len(present))
    distances, rows = cKDTree(present).query(wanted, width)
    distances, rows = distances.reshape(len(wanted), -1), rows.reshape(len(wanted), -1)
    if width == 1:
        return np.repeat(distances, 2, axis=1), rows
    return distances, rows
