"""FAQ matcher: one assignment of all people at once that preserves as many links as it can."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from pydantic import Field
from scipy import sparse

from core.algorithms.matching import NUM_CANDIDATES
from core.algorithms.neighbourhood_features import compute_wider_neighbourhood_features
from core.algorithms.quadratic_matching import compare_ranks, match_by_frank_wolfe
from core.attacks.identity.matcher_training import simulate_release
from core.attacks.identity.percolation import place_seeds
from core.context import Context
from core.graph import Graph
from core.measures.node_risk import fit_isotonic
from core.methods import THIS_SIZE, IdentityAttack, MethodInfo
from core.progress import PartProgress
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
