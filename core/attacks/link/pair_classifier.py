"""Pair classifier: learns from links that it hides itself what a withheld link looks like."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import numpy as np
from pydantic import Field

from core.algorithms.pairs import hide_in_turn
from core.attacks.link.pair_features import describe_pairs
from core.attacks.link.pair_judge import fit_judge
from core.context import Context, SharedWork
from core.methods import LinkAttack, MethodInfo
from core.release import Release
from core.results import PairScores
from core.threats import LinkThreat

ENOUGH = 4000
"""Links beyond which no further round is begun."""


class PairClassifier(LinkAttack):
    """Log odds of a logistic regression and boosted trees on all columns of `pair_features`.

    The columns of the training pairs are computed on the release without the links that were
    hidden for training, so that what is learned there holds for links that the owner hid. Where
    there are few to learn from, others are hidden in further rounds.
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
        version=4,
    )

    describes_score: ClassVar[bool] = False

    share: float = Field(0.1, gt=0, lt=1, description="Share of the release's links to hide.")
    max_links: int = Field(
        5000, ge=10, le=1_000_000, description="Links to hide at once; twice as many non-links."
    )
    rounds: int = Field(
        8, ge=1, le=100, description="Times at most that other links are hidden, to learn from."
    )
    embedding: bool = Field(
        False, description="Look at an auto-encoder's embedding too; seconds more in each round."
    )

    def score(self, release: Release, threat: LinkThreat, context: Context) -> PairScores:
        columns, truths, learned = [], [], 0
        for rest, hidden, absent in hide_in_turn(
            release.graph,
            self.share,
            self.max_links,
            self.rounds,
            context.rng("hidden"),
            ratio=2.0,
        ):
            pairs = np.concatenate([hidden, absent])
            # what is worked out without these links is of no use to others
            own = replace(context, shared=SharedWork())
            columns.append(describe_pairs(rest, pairs, own, self.embedding))
            truths.append(np.arange(len(pairs)) < len(hidden))
            learned += len(hidden)
            if learned >= ENOUGH:
                break
        judge = fit_judge(np.concatenate(columns), np.concatenate(truths), context)
        facts: dict[str, float | str] = {"classifier": judge.name, "held_out_loss": judge.loss}
        return PairScores(judge.compute_logits(self.describe(release, threat, context)), facts)

    def describe(self, release: Release, threat: LinkThreat, context: Context) -> np.ndarray:
        return describe_pairs(release.graph, threat.pairs, context, self.embedding)
