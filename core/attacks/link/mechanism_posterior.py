"""Mechanism posterior: Bayes' rule with the noise model and a degree prior."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from core.algorithms.communities import find_communities
from core.algorithms.pairs import list_sides
from core.attacks.link.released_links import compute_evidence, find_evidence
from core.context import Context
from core.graph import Graph
from core.methods import LinkAttack, MethodInfo
from core.release import Release
from core.results import PairScores
from core.threats import LinkThreat

PSEUDO = 10.0
"""Pseudo-count of expected links per pair of communities, for independence."""


MAX_LINKS = 500_000
"""Largest number of links for which communities are computed."""


class MechanismPosterior(LinkAttack):
    """Log odds that a pair is a link of the graph that was defended.

    prior     of the degrees, corrected for the noise, and of communities of the release
    evidence  of the release: +ε if it has the pair, −ε if not; summed over merged releases

    With a flip probability 1/(1+e^ε), a released pair has e^ε times its prior odds of a link:
    exact for randomised response on pairs, an upper bound for other mechanisms with this guarantee.
    A release without a guarantee is taken as noise-free.
    """

    info: ClassVar[MethodInfo] = MethodInfo(
        key="mechanism_posterior",
        title="Posterior of the mechanism",
        summary="Weighs each link of the release by the noise it came with and by its ends.",
        source="Bayes on Warner's randomised response, JASA 1965; prior: Newman, Networks, 2010, "
        "§13.2, and Karrer and Newman, Phys. Rev. E 83, 2011",
        group="released links",
    )
    threats: ClassVar[tuple[str, ...]] = ("included",)
    reads_several: ClassVar[bool] = True

    def score(self, release: Release, threat: LinkThreat, context: Context) -> PairScores:
        prior = compute_prior_logits(release, threat.pairs, context)
        return PairScores(prior + compute_evidence(release, threat.pairs))


def compute_prior_logits(release: Release, pairs: np.ndarray, context: Context) -> np.ndarray:
    """(k,) log odds of a link by its ends' degrees and communities alone."""
    degrees = estimate_degrees(release)
    ends = degrees[list_sides(release.graph)[0]]  # all ends of links, or those in one mode
    probabilities = degrees[pairs[:, 0]] * degrees[pairs[:, 1]] / max(ends.sum(), 1e-9)
    labels = context.share(
        ("posterior_communities", release.graph.content_hash),
        lambda shared: _find_groups(release.graph, shared),
    )
    factors = _compute_group_factors(release, degrees, labels)
    probabilities = probabilities * factors[labels[pairs[:, 0]], labels[pairs[:, 1]]]
    probabilities = np.clip(probabilities, 1e-9, 0.95)
    return np.asarray(np.log(probabilities / (1 - probabilities)))


def estimate_degrees(release: Release) -> np.ndarray:
    """(n,) expected true degrees: noise subtracted, then shrunk to the mean of the node's mode."""
    observed = np.asarray(release.graph.adjacency.sum(axis=1), dtype=np.float64).ravel()
    degrees = np.zeros(len(observed))
    for side in filter(len, list_sides(release.graph)):
        candidates = int(release.graph.node_candidates[side[0]])
        degrees[side] = _shrink_degrees(release, observed[side], candidates)
    return degrees


def _shrink_degrees(release: Release, observed: np.ndarray, candidates: int) -> np.ndarray:
    """Degrees without the noise of so many pairs each, shrunk by the variance of that noise."""
    flip = _compute_flip(release)
    estimates = (observed - candidates * flip) / (1 - 2 * flip)
    mean = max(float(estimates.mean()), 1.0 / release.graph.num_nodes)
    num_releases = release.facts.get("composed_releases", 1)
    noise = candidates * flip * (1 - flip) / (1 - 2 * flip) ** 2 / num_releases
    spread = float(estimates.var())
    share = max(1 - noise / spread, 0.0) if spread > 0 else 0.0
    return np.asarray(np.maximum(mean + share * (estimates - mean), 0.05 * mean))


def _compute_flip(release: Release) -> float:
    if not release.guarantee.is_private:
        return 0.0
    return min(1.0 / (1.0 + math.exp(find_evidence(release))), 0.49)


def _find_groups(graph: Graph, context: Context) -> np.ndarray:
    """(n,) communities of the release, the smallest ones merged."""
    context.progress.check()
    if graph.num_edges > MAX_LINKS or not graph.num_edges:
        return np.zeros(graph.num_nodes, np.int64)
    return np.asarray(np.minimum(find_communities(graph, context.rng("communities")), 63))


def _compute_group_factors(release: Release, degrees: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """(g, g) links between two communities relative to those expected from the degrees."""
    graph, flip = release.graph, _compute_flip(release)
    count = int(labels.max(initial=0)) + 1
    i, j = graph.edges.T
    observed = np.zeros((count, count))
    np.add.at(observed, (labels[i], labels[j]), graph.link_weights)
    observed = observed + observed.T  # both directions
    sides = list_sides(graph)
    sizes = [np.bincount(labels[side], minlength=count).astype(float) for side in sides]
    mass = [np.bincount(labels[side], degrees[side], minlength=count) for side in sides]
    pairs = np.outer(sizes[0], sizes[-1])
    expected = np.outer(mass[0], mass[-1]) / max(mass[0].sum(), 1e-9)
    if len(sides) == 1:
        pairs -= np.diag(sizes[0])
    else:
        pairs, expected = pairs + pairs.T, expected + expected.T
    estimated = np.maximum((observed - flip * pairs) / (1 - 2 * flip), 0.0)
    return np.asarray((estimated + PSEUDO) / (expected + PSEUDO))
