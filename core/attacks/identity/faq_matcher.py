"""FAQ matcher: one assignment of all people at once that preserves as many links as it can."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from pydantic import Field
from scipy import sparse

from core.algorithms.matching import NUM_CANDIDATES
from core.algorithms.neighbourhood_features import compute_wider_neighbourhood_features
from core.attacks.identity.matcher_training import simulate_release
from core.attacks.identity.percolation import place_seeds
from core.context import Context
from core.graph import Graph
from core.measures.node_risk import fit_isotonic
from core.methods import THIS_SIZE, IdentityAttack, MethodInfo
from core.progress import PartProgress, Progress
from core.release import Release
from core.results import Matches
from core.threats import IdentityThreat

MAX_NODES = 1500
"""Largest number of nodes: a round takes its cube in time, and the tables its square in memory."""

Found = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Mapping (k,), gradient (k, n) and preserved share of links (k,)."""


class FaqMatcher(IdentityAttack):
    """Maximises the links that both graphs share under one assignment, tr(A P B Pᵀ).

    Starts from nodes whose neighbourhoods rank alike in either graph. Confidence is the accuracy
    at the same preserved share of a node's links in a simulated release of the known graph, with
    the overlap that the mapping found.
    """

    info: ClassVar[MethodInfo] = MethodInfo(
        key="faq_matcher",
        title="FAQ matcher",
        summary="Searches the assignment of all people under which most links agree.",
        source="Vogelstein et al., Fast approximate quadratic programming for graph matching, "
        "PLoS ONE 2015; seeds: Fishkind et al., Pattern Recognition 2019",
        group="second graph",
        cost="seconds",
    )
    rounds: int = Field(30, ge=1, le=500, description="Rounds of the search at most.")

    def supports(self, release: Release, threat: IdentityThreat) -> str | None:
        size = max(threat.known.num_nodes, release.graph.num_nodes)
        if size <= MAX_NODES:
            return None
        tables = f"tables of all pairs of nodes, at most {MAX_NODES:,} nodes, here {size:,}"
        return f"does not run {THIS_SIZE}: it takes {tables}"

    def find(self, release: Release, threat: IdentityThreat, context: Context) -> Matches:
        known, seeds = threat.known, threat.seeds
        # Ties of an assignment follow the numbers of the nodes, which must tell nothing.
        order = context.rng("order").permutation(release.graph.num_nodes)
        shuffled = release.graph.subgraph(order)
        places = np.argsort(order)
        moved = np.stack([seeds[:, 0], places[seeds[:, 1]]], axis=1)
        image, gradient, kept = self._match(known, shuffled, moved, context, 0)
        candidates = np.argsort(-gradient, axis=1, kind="stable")[:, : NUM_CANDIDATES - 1]
        candidates = np.where(candidates == image[:, None], -1, candidates)
        candidates = np.concatenate([image[:, None], candidates], axis=1)
        candidates = np.where(candidates >= 0, order[candidates], -1)
        degrees = known.degrees
        overlap = float((kept * degrees).sum() / max(degrees.sum(), 1))
        simulated, truth = simulate_release(known, release.graph, overlap, context.rng("rehearsal"))
        own_seeds = np.stack([seeds[:, 0], truth[seeds[:, 0]]], axis=1)
        found, _, shares = self._match(known, simulated, own_seeds, context, 1)
        targets = degrees > 0
        targets[seeds[:, 0]] = False
        # One wrong match beyond all others: few right ones are not enough for certainty.
        x, y = np.append(shares[targets], 1.0), np.append((found == truth)[targets], False)
        confidence = fit_isotonic(x, y.astype(float), np.ones(len(x)), kept)
        confidence = np.where(targets & (image >= 0), confidence.clip(0.0, 1.0), 0.0)
        return place_seeds(Matches(candidates, confidence), *seeds.T)

    def _match(
        self, known: Graph, published: Graph, seeds: np.ndarray, context: Context, part: int
    ) -> Found:
        here, there = (
            sparse.csr_array(graph.adjacency != 0, dtype=np.float64) for graph in (known, published)
        )
        start = compare_ranks(
            compute_wider_neighbourhood_features(known),
            compute_wider_neighbourhood_features(published),
        )
        progress = PartProgress(context.progress, part, 2)
        image, gradient = match_by_frank_wolfe(here, there, start, seeds, self.rounds, progress)
        return image, gradient, compute_kept_shares(here, there, image)


def compute_kept_shares(
    known: sparse.csr_array, published: sparse.csr_array, image: np.ndarray
) -> np.ndarray:
    """(k,) share of each node's links that the other graph has under the mapping (k,); 0 without
    links."""
    i, j = known.nonzero()
    is_mapped = (image[i] >= 0) & (image[j] >= 0)
    kept = is_mapped & (np.asarray(published[image[i], image[j]]).ravel() > 0)
    degrees = np.bincount(i, minlength=len(image))
    return np.asarray(np.bincount(i, kept, minlength=len(image)) / np.maximum(degrees, 1))


TOLERANCE = 1e-4
"""Gain relative to the objective below which the search ends."""


def match_by_frank_wolfe(
    known: sparse.csr_array,
    published: sparse.csr_array,
    start: np.ndarray,
    seeds: np.ndarray,
    rounds: int,
    progress: Progress,
) -> tuple[np.ndarray, np.ndarray]:
    """(k,) mapping that makes tr(A P B Pᵀ) large, −1 if unmatched, and (k, n) the gradient A P B.

    known, published  (k, k) A and (n, n) B, symmetric
    start   (k, n) table to start from; its rows and columns of seeds are replaced
    seeds   (s, 2) fixed matches

    Each round moves towards the assignment that fits the gradient best, as far as the objective
    along the line grows; the last table is rounded to an assignment. O(n³) time per round.
    """
    rows = np.setdiff1d(np.arange(start.shape[0]), seeds[:, 0])
    columns = np.setdiff1d(np.arange(start.shape[1]), seeds[:, 1])
    table = np.zeros(start.shape)
    table[np.ix_(rows, columns)] = start[np.ix_(rows, columns)]
    table[seeds[:, 0], seeds[:, 1]] = 1.0

    def multiply(values: np.ndarray) -> np.ndarray:
        return np.asarray((published @ (known @ values).T).T)

    gradient = multiply(table)
    for number in range(rounds):
        progress.update(number, rounds, "matching")
        step = _assign(gradient, rows, columns) - table
        step[seeds[:, 0]] = 0.0
        curved = multiply(step)
        linear, square = 2.0 * float((gradient * step).sum()), float((curved * step).sum())
        # Rounding may leave `linear` below 0 where the table is an assignment already.
        linear = max(linear, 0.0)
        # A convex objective along the line is largest at its end.
        length = 1.0 if 2.0 * square + linear >= 0 else -linear / (2.0 * square)
        table += length * step
        gain = length * linear + length**2 * square
        gradient = gradient + length * curved
        if gain <= TOLERANCE * float((gradient * table).sum()):
            break
    image = np.full(len(table), -1)
    image[seeds[:, 0]] = seeds[:, 1]
    found = _assign(table, rows, columns)
    image[rows] = np.where(found[rows].any(axis=1), found[rows].argmax(axis=1), -1)
    return image, gradient


def _assign(values: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """(k, n) 0/1 table of the best assignment of `rows` to `columns`."""
    from scipy.optimize import linear_sum_assignment  # half a second of every start

    assigned = np.zeros(values.shape)
    left, right = linear_sum_assignment(values[np.ix_(rows, columns)], maximize=True)
    assigned[rows[left], columns[right]] = 1.0
    return assigned


def compare_ranks(known: np.ndarray, published: np.ndarray, rounds: int = 50) -> np.ndarray:
    """(k, n) table with rows that sum to one: nodes alike in the ranks of their columns (k, c) and
    (n, c) within their graph.

    exp(−squared distance), relative to the mean distance of the fifth nearest, scaled by turns to
    equal row and column sums (Sinkhorn).
    """
    from scipy.spatial.distance import cdist
    from scipy.stats import rankdata

    here, there = (rankdata(values, axis=0) / len(values) for values in (known, published))
    distances = cdist(here, there, "sqeuclidean")
    place = min(5, distances.shape[1] - 1)
    scale = float(np.partition(distances, place, axis=1)[:, place].mean())
    table: np.ndarray = np.exp(-distances / max(scale, 1e-9)) + 1e-12
    for _ in range(rounds):
        table /= table.sum(axis=0)
        table /= table.sum(axis=1, keepdims=True)
    return table
