"""Pair classifier: learns from links that it hides itself what a hidden link looks like."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from pydantic import Field

from core.algorithms.pairs import hide_links
from core.attacks.link.pair_features import describe_pairs
from core.attacks.link.pair_judge import fit_judge
from core.context import Context
from core.methods import LinkAttack, MethodInfo
from core.release import Release
from core.results import PairScores
from core.threats import LinkThreat


class PairClassifier(LinkAttack):
    """Log odds of a logistic regression and boosted trees on all columns of `pair_features`.

    The columns of the training pairs are computed on the release without the links that were
    hidden for training, so that what is learned there holds for links that the owner hid.
    """

    info: ClassVar[MethodInfo] = MethodInfo(
        key="pair_classifier",
        title="Pair classifier",
        summary="Hides links of the release from itself and learns how to find such links again.",
        source="Liben-Nowell and Kleinberg, 2007, and Al Hasan et al., Link prediction using "
        "supervised learning, SDM Workshop 2006",
        group="learned structure",
        cost="seconds",
        uses_gpu=True,
        version=2,
    )

    share: float = Field(0.1, gt=0, lt=1, description="Share of the release's links to hide.")
    max_links: int = Field(
        5000, ge=10, le=1_000_000, description="Links to hide at most; as many non-links beside."
    )

    embedding: bool = Field(
        True, description="Look at an auto-encoder's embedding too; takes a few seconds more."
    )

    def score(self, release: Release, threat: LinkThreat, context: Context) -> PairScores:
        rest, hidden, absent = hide_links(
            release.graph, self.share, self.max_links, context.rng("hidden"), ratio=2.0
        )
        columns = describe_pairs(rest, np.concatenate([hidden, absent]), context, self.embedding)
        truth = np.arange(len(columns)) < len(hidden)
        judge = fit_judge(columns, truth, context)
        facts: dict[str, float | str] = {"classifier": judge.name, "held_out_loss": judge.loss}
        return PairScores(judge.compute_logits(self.describe(release, threat, context)), facts)

    def describe(self, release: Release, threat: LinkThreat, context: Context) -> np.ndarray:
        return describe_pairs(release.graph, threat.pairs, context, self.embedding)
