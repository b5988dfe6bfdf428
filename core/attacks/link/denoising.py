"""Denoising: estimates which links of a randomised release are real, and learns from them."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

import numpy as np
from pydantic import Field
from scipy.special import expit, logit

from core.algorithms.pairs import count_candidates, sample_candidates
from core.arrays import find_places, pair_codes
from core.attacks.link.pair_classifier import PooledClassifier, fit_pair_classifier
from core.attacks.link.pair_features import describe_pairs
from core.attacks.link.released_links import compute_evidence
from core.context import Context, SharedWork, StoredForm
from core.graph import Graph
from core.methods import THIS_SIZE, LinkAttack, MethodInfo
from core.privacy.real_links import BOUNDS, estimate_link_probabilities, has_known_noise
from core.release import Release
from core.results import PairScores
from core.threats import LinkThreat, ReleasedThreat

MAX_LINKS = 250_000
"""Largest number of links of a release, since each is described."""

MAX_LEARNED = 1500
"""Maximum number of training links per fold; as many other pairs are added."""


class Denoising(LinkAttack):
    """Log odds of a link by expectation–maximisation over which released links are real.

    The share of real links among the released ones follows from the numbers of nodes and links and
    the defense's rule (`core.privacy.real_links`). The links are split into `folds`; the columns of
    each fold are computed on the release without it. A classifier of released links against other
    pairs gives likelihood ratios L, and each link the probability 1 − (1 − share) / L of being
    real. In each further round the links are sampled with these probabilities as positive labels,
    the columns are computed on the graph weighted by them, and the classifier is refitted.
    """

    info: ClassVar[MethodInfo] = MethodInfo(
        key="denoising",
        title="Denoising",
        summary="Estimates which links of a randomised release are real and learns from those.",
        source="Newman, Network structure from rich but noisy data, Nature Physics 14, 2018; "
        "mixture of real links and noise: Elkan and Noto, KDD 2008",
        group="learned structure",
        cost="seconds",
        version=4,
    )
    threats: ClassVar[tuple[str, ...]] = ("link", "included")

    folds: int = Field(3, ge=2, le=20, description="Parts of the links that are left out in turn.")
    rounds: int = Field(2, ge=0, le=20, description="Times that the probabilities are revised.")

    def supports(self, release: Release, threat: LinkThreat) -> str | None:
        return describe_obstacle(release)

    def score(self, release: Release, threat: LinkThreat, context: Context) -> PairScores:
        denoised = share_denoised(release, context, self.folds, self.rounds)
        logits = denoised.compute_logits(threat.pairs, context)
        if isinstance(threat, ReleasedThreat):
            logits += float(logit(denoised.density)) + compute_evidence(release, threat.pairs)
        return PairScores(
            logits, {"classifier": denoised.classifier.name, "real_share": denoised.real_share}
        )


@dataclass(frozen=True, eq=False)
class Denoised:
    """Links of a release with their probabilities of being real, and the trained model.

    links, probabilities  (m, 2) and (m,): released links of positive weight
    parts                 (m,) fold in which each link is held out
    graph                 links weighted by the probabilities used to train `classifier`
    balance               log odds of a link in the training sample of `classifier`
    density               share of linked pairs in the defended graph
    columns, truth        (t, c) and (t,) that sample
    """

    graph: Graph
    links: np.ndarray
    probabilities: np.ndarray
    parts: np.ndarray
    classifier: PooledClassifier
    balance: float
    density: float
    columns: np.ndarray
    truth: np.ndarray

    @property
    def real_share(self) -> float:
        return float(self.probabilities.mean()) if len(self.probabilities) else 0.0

    def compute_logits(self, pairs: np.ndarray, context: Context) -> np.ndarray:
        """(k,) log likelihood ratios of (k, 2) pairs, each described without its link."""
        n, count = self.graph.num_nodes, int(self.parts.max(initial=0)) + 1
        codes = pair_codes(pairs, n)
        places = find_places(codes, pair_codes(self.links, n))
        parts = np.where(places >= 0, np.append(self.parts, 0)[places], codes % count)
        logits = np.zeros(len(pairs))
        for fold in range(count):
            rows = np.flatnonzero(parts == fold)
            reduced = self.graph.without_edges(self.links[self.parts == fold])
            columns = describe_pairs(reduced, pairs[rows], context, False)
            logits[rows] = self.classifier.compute_logits(columns) - self.balance
        return logits


def describe_obstacle(release: Release) -> str | None:
    """Reason why a release cannot be denoised, or None."""
    if not has_known_noise(release):
        return "needs a release with a known share of real links"
    if release.graph.num_edges > MAX_LINKS:
        most = f"at most {MAX_LINKS:,} released links, here {release.graph.num_edges:,}"
        return f"does not run {THIS_SIZE}: {most}"
    return None


def share_denoised(release: Release, context: Context, folds: int = 3, rounds: int = 2) -> Denoised:
    """`denoise`, computed once for all attacks on the same release."""
    key = ("denoised", release.graph.content_hash, *release.work_key, folds, rounds)
    form = StoredForm(
        Denoising.info.version, pack_denoised, partial(unpack_denoised, release, folds, rounds)
    )
    return context.share(key, lambda shared: denoise(release, shared, folds, rounds), form)


def pack_denoised(denoised: Denoised) -> dict[str, np.ndarray]:
    """Arrays of what takes long."""
    return {
        "weights": denoised.graph.link_weights,
        "probabilities": denoised.probabilities,
        "columns": denoised.columns,
        "truth": denoised.truth,
    }


def unpack_denoised(
    release: Release, folds: int, rounds: int, arrays: dict[str, np.ndarray], context: Context
) -> Denoised:
    """The same `Denoised` as packed; its classifier is fitted again."""
    density, links, _ = estimate_link_probabilities(release)
    parts, columns, truth = _draw_parts(links, folds, context), arrays["columns"], arrays["truth"]
    classifier, balance = _fit_judge(columns, truth, rounds, context)
    graph = release.graph.with_edges(links, arrays["weights"])
    known = links, arrays["probabilities"], parts
    return Denoised(graph, *known, classifier, balance, density, columns, truth)


def _draw_parts(links: np.ndarray, folds: int, context: Context) -> np.ndarray:
    """(m,) fold of each link."""
    return context.rng("folds").permutation(len(links)) % folds


def _fit_judge(
    columns: np.ndarray, truth: np.ndarray, number: int, context: Context
) -> tuple[PooledClassifier, float]:
    """Classifier of a round, and log odds of a link in its training sample."""
    classifier = fit_pair_classifier(columns, truth, context.child("judge", number))
    return classifier, math.log(max(int(truth.sum()), 1) / max(int((~truth).sum()), 1))


def denoise(release: Release, context: Context, folds: int, rounds: int) -> Denoised:
    """`Denoised` of a release; see `Denoising`."""
    density, links, prior = estimate_link_probabilities(release)
    graph = release.graph
    parts = _draw_parts(links, folds, context)
    probabilities, max_absent = prior, count_candidates(graph)
    for number in range(rounds + 1):
        rng, weights = context.rng("round", number), probabilities / probabilities.max(initial=1e-9)
        weighted = graph.with_edges(links, weights if number == 0 else probabilities)
        is_real = (
            np.ones(len(links), bool) if number == 0 else rng.random(len(links)) < probabilities
        )
        tables, truths, columns = [], [], np.zeros(0)
        for fold in range(folds):
            context.progress.update(number * folds + fold, (rounds + 1) * folds, "denoising")
            rows = np.flatnonzero(parts == fold)
            training = rng.permutation(len(rows))[:MAX_LEARNED]
            absent = sample_candidates(graph, min(len(training), max_absent), rng)
            reduced = weighted.without_edges(links[rows])
            own_context = replace(context, shared=SharedWork())
            table = describe_pairs(
                reduced, np.concatenate([links[rows], absent]), own_context, False
            )
            if not columns.size:
                columns = np.zeros((len(links), table.shape[1]))
            columns[rows] = table[: len(rows)]
            tables += [table[training], table[len(rows) :]]
            truths += [is_real[rows[training]], np.zeros(len(absent), bool)]
        table, truth = np.concatenate(tables), np.concatenate(truths)
        classifier, balance = _fit_judge(table, truth, number, context)
        ratio = classifier.compute_logits(columns) - balance if len(links) else np.zeros(0)
        if number == rounds:
            break
        if number == 0:  # ratio of a mixture of real links and noise
            share = float(prior.mean()) if len(prior) else 0.5
            mixed = np.clip(1.0 - (1.0 - share) * np.exp(-ratio), *BOUNDS)
            revised = logit(mixed) - logit(share) + logit(prior)
        else:
            revised = ratio + logit(prior)
        probabilities = np.clip(expit(revised), *BOUNDS)
    posterior = np.clip(expit(ratio + logit(prior)), *BOUNDS)
    return Denoised(weighted, links, posterior, parts, classifier, balance, density, table, truth)
