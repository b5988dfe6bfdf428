"""Plausibility: probability of a link given the rest of the release."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from pydantic import Field

from core.algorithms.pairs import count_candidates, sample_candidates
from core.arrays import find_places, pair_codes
from core.attacks.link.pair_classifier import fit_pair_classifier
from core.attacks.link.pair_features import describe_pairs
from core.attacks.link.released_links import compute_evidence
from core.context import Context
from core.methods import LinkAttack, MethodInfo
from core.release import Release
from core.results import PairScores
from core.threats import LinkThreat

MAX_EMBEDDED = 200_000
"""Maximum number of links for auto-encoders; above it a fold takes minutes."""


class Plausibility(LinkAttack):
    """Log odds that a pair is a link, by all columns of `pair_features` and the release's noise.

    The released links are split into `folds`; the columns of each fold are computed on the release
    without it. A classifier is trained on released links against other pairs. False links are
    distributed like these, so its log odds rank the released links by their probability of being
    real (Elkan and Noto, Learning classifiers from only positive and unlabeled data, KDD 2008).
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
        version=7,
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
        links = graph.present_edges
        parts = context.rng("folds").permutation(len(links)) % self.folds
        n = graph.num_nodes
        places = find_places(pair_codes(pairs, n), pair_codes(links, n))
        part_of_pair = np.where(places >= 0, np.append(parts, -1)[places], 0)
        columns, truths, described = [], [], np.zeros((len(pairs), 0))
        for fold in range(self.folds):
            inside = links[parts == fold]
            reduced = graph.without_edges(inside)
            rows = np.flatnonzero(part_of_pair == fold)
            rng = context.rng("training", fold)
            if len(inside) > self.max_links:
                inside = inside[np.sort(rng.choice(len(inside), self.max_links, replace=False))]
            max_absent = count_candidates(graph)
            absent = sample_candidates(graph, min(len(inside), max_absent), rng)
            all_pairs = np.concatenate([inside, absent, pairs[rows]])
            has_embedding = self.embedding and graph.num_edges <= MAX_EMBEDDED
            table = describe_pairs(reduced, all_pairs, context, has_embedding)
            num_training = len(inside) + len(absent)
            columns.append(table[:num_training])
            truths.append(np.arange(num_training) < len(inside))
            if not described.shape[1]:
                described = np.zeros((len(pairs), table.shape[1]))
            described[rows] = table[num_training:]
            context.progress.update(fold + 1, self.folds + 1, "links without themselves")
        classifier = fit_pair_classifier(np.concatenate(columns), np.concatenate(truths), context)
        logits = classifier.compute_logits(described)
        facts: dict[str, float | str] = {
            "classifier": classifier.name,
            "held_out_loss": classifier.loss,
        }
        return PairScores(logits + compute_evidence(release, pairs), facts)
