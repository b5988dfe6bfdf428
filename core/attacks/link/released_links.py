"""Which links of a release are real: by what its noise allows, and by the rest of the release."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np
from pydantic import Field

from core.algorithms.communities import find_communities
from core.algorithms.pairs import sample_non_links
from core.attacks.link.pair_classifier import fit_judge
from core.attacks.link.pair_features import describe_pairs
from core.context import Context
from core.graph import Graph, find_places, pair_codes
from core.methods import LinkAttack, MethodInfo
from core.release import Release
from core.results import PairScores
from core.threats import LinkThreat

CERTAIN = math.log(999.0)
"""Evidence of a link in a release without a promise: one in a thousand is taken as wrong."""

MAX_EVIDENCE = 100.0
PSEUDO = 10.0
"""Expected links of a pair of communities that count for independence of the communities."""

MAX_LINKS = 500_000
"""Links of a release beyond which communities are not looked for."""


class MechanismPosterior(LinkAttack):
    """Log odds that a pair is a link of the graph that was defended.

    prior     of the degrees, corrected for the noise, and of communities of the release
    evidence  of the release itself: ±ε for each time that a pair is, or is not, in it

    With a flip probability 1/(1+e^ε), a pair that is in the release is e^ε times as likely a
    link as before: exact for randomised response on pairs, and the most that any mechanism with
    that promise allows. A release without a guarantee is taken as noise-free.
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


def compute_evidence(release: Release, pairs: np.ndarray) -> np.ndarray:
    """(k,) log likelihood ratio of each pair's weight in the release.

    Several releases come as one with weights: the share of them that has the link.
    Weights of a single one are read as probabilities, and are evidence of at most ε either.
    """
    if not len(pairs):
        return np.zeros(0)
    held = round(release.facts.get("composed_releases", 1))
    epsilon = find_evidence(release)
    weights = np.asarray(
        release.graph.adjacency[pairs[:, 0], pairs[:, 1]], dtype=np.float64
    ).ravel()
    if held == 1 and release.graph.weights is not None:
        chances = np.clip(weights, 1e-9, 1 - 1e-9)
        return np.clip(np.log(chances / (1 - chances)), -epsilon, epsilon)
    return held * epsilon * (2.0 * np.clip(weights, 0.0, 1.0) - 1.0)


def find_evidence(release: Release) -> float:
    """ε of what a recipient of one release gets on one link; CERTAIN without a promise."""
    promise = release.guarantee
    if not promise.is_private or promise.epsilon is None:
        return CERTAIN
    return min(max(promise.epsilon, promise.epsilon_transcript or 0.0), MAX_EVIDENCE)


def compute_prior_logits(release: Release, pairs: np.ndarray, context: Context) -> np.ndarray:
    """(k,) log odds of a link by its ends' degrees and communities alone."""
    degrees = estimate_degrees(release)
    total = max(degrees.sum(), 1e-9)
    chances = degrees[pairs[:, 0]] * degrees[pairs[:, 1]] / total
    labels = context.share(
        ("posterior_communities", release.graph.content_hash),
        lambda shared: _find_groups(release.graph, shared),
    )
    factors = _compute_group_factors(release, degrees, labels)
    chances = chances * factors[labels[pairs[:, 0]], labels[pairs[:, 1]]]
    chances = np.clip(chances, 1e-9, 0.95)
    return np.asarray(np.log(chances / (1 - chances)))


def estimate_degrees(release: Release) -> np.ndarray:
    """(n,) expected true degrees: flips taken off, then shrunk to the mean by their variance."""
    graph, flip = release.graph, _compute_flip(release)
    n = graph.num_nodes
    seen = np.asarray(graph.adjacency.sum(axis=1), dtype=np.float64).ravel()
    found = (seen - (n - 1) * flip) / (1 - 2 * flip)
    mean = max(float(found.mean()), 1.0 / n)
    held = release.facts.get("composed_releases", 1)
    noise = (n - 1) * flip * (1 - flip) / (1 - 2 * flip) ** 2 / held
    spread = float(found.var())
    share = max(1 - noise / spread, 0.0) if spread > 0 else 0.0
    return np.asarray(np.maximum(mean + share * (found - mean), 0.05 * mean))


def _compute_flip(release: Release) -> float:
    if not release.guarantee.is_private:
        return 0.0
    return min(1.0 / (1.0 + math.exp(find_evidence(release))), 0.49)


def _find_groups(graph: Graph, context: Context) -> np.ndarray:
    """(n,) communities of the release, the smallest ones taken together."""
    context.progress.check()
    if graph.num_edges > MAX_LINKS or not graph.num_edges:
        return np.zeros(graph.num_nodes, np.int64)
    return np.asarray(np.minimum(find_communities(graph, context.rng("communities")), 63))


def _compute_group_factors(release: Release, degrees: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """(g, g) links between two communities over those that the degrees alone would have."""
    graph, flip = release.graph, _compute_flip(release)
    count = int(labels.max(initial=0)) + 1
    i, j = graph.edges.T
    weights = np.ones(graph.num_edges) if graph.weights is None else graph.weights
    seen = np.zeros((count, count))
    np.add.at(seen, (labels[i], labels[j]), weights)
    seen = seen + seen.T  # both directions
    sizes = np.bincount(labels, minlength=count).astype(float)
    pairs = np.outer(sizes, sizes) - np.diag(sizes)
    real = np.maximum((seen - flip * pairs) / (1 - 2 * flip), 0.0)
    mass = np.bincount(labels, degrees, minlength=count)
    expected = np.outer(mass, mass) / max(degrees.sum(), 1e-9)
    return np.asarray((real + PSEUDO) / (expected + PSEUDO))


MAX_EMBEDDED = 200_000
"""Links of a release up to which auto-encoders are trained: beyond, minutes a part."""


class Plausibility(LinkAttack):
    """Log odds that a pair is a link, by all columns of `pair_features`, and by the release.

    Links of the release are judged without themselves: they are dealt into `folds`, and each
    fold is described on the release without it. The judge learns to tell links of the release
    from pairs that it does not link. A false link looks like any such pair, so that the judge's
    odds rank the links of the release by their chance to be real (Elkan and Noto, Learning
    classifiers from only positive and unlabeled data, KDD 2008).
    """

    info: ClassVar[MethodInfo] = MethodInfo(
        key="plausibility",
        title="Structural plausibility",
        summary="Takes each link out of the release and asks whether the rest speaks for it.",
        source="Kipf and Welling, Variational graph auto-encoders, 2016, and Adamic and Adar, "
        "2003, on the release without the link; Elkan and Noto, KDD 2008",
        group="released links",
        cost="seconds",
        uses_gpu=True,
        version=4,
    )
    threats: ClassVar[tuple[str, ...]] = ("included",)

    folds: int = Field(3, ge=2, le=20, description="Parts that take turns in being left out.")
    max_links: int = Field(
        20_000, ge=10, le=10_000_000, description="Links of a part to learn from at most."
    )
    embedding: bool = Field(
        True, description="Look at an auto-encoder's embedding too; takes a few seconds more."
    )

    def score(self, release: Release, threat: LinkThreat, context: Context) -> PairScores:
        graph, pairs = release.graph, threat.pairs
        real = graph.present_edges
        parts = context.rng("folds").permutation(len(real)) % self.folds
        n = graph.num_nodes
        places = find_places(pair_codes(pairs, n), pair_codes(real, n))
        part_of_pair = np.where(places >= 0, np.append(parts, -1)[places], 0)
        columns, truths, described = [], [], np.zeros((len(pairs), 0))
        for part in range(self.folds):
            inside = real[parts == part]
            rest = graph.without_edges(inside)
            own = np.flatnonzero(part_of_pair == part)
            rng = context.rng("training", part)
            if len(inside) > self.max_links:
                inside = inside[np.sort(rng.choice(len(inside), self.max_links, replace=False))]
            room = graph.num_pairs - graph.num_edges
            absent = sample_non_links(graph, min(len(inside), room), rng)
            asked = np.concatenate([inside, absent, pairs[own]])
            embeds = self.embedding and graph.num_edges <= MAX_EMBEDDED
            table = describe_pairs(rest, asked, context, embeds)
            learned = len(inside) + len(absent)
            columns.append(table[:learned])
            truths.append(np.arange(learned) < len(inside))
            if not described.shape[1]:
                described = np.zeros((len(pairs), table.shape[1]))
            described[own] = table[learned:]
            context.progress.update(part + 1, self.folds + 1, "links without themselves")
        judge = fit_judge(np.concatenate(columns), np.concatenate(truths), context)
        odds = judge.compute_logits(described)
        facts: dict[str, float | str] = {"classifier": judge.name, "held_out_loss": judge.loss}
        return PairScores(odds + compute_evidence(release, pairs), facts)
