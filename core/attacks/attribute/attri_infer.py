"""AttriInfer: a Markov random field on the graph, solved by loopy belief propagation."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from pydantic import Field

from core.context import Context
from core.graph import MISSING
from core.methods import AttributeAttack, MethodInfo
from core.models.tuning import draw_folds, hold_out
from core.release import Release
from core.results import ClassProbabilities
from core.threats import AttributeThreat

PULLS = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
COUPLINGS = (*PULLS, *(-pull for pull in PULLS))
"""Pulls between linked nodes that the search tries, then pushes: some links, and releases whose
defense took the links between people alike, tell by opposites."""
LOG_ODDS = float(np.log(9.0))
"""Log-odds of a known value, 0.9 as in the source."""


class AttriInfer(AttributeAttack):
    """Linked nodes tend to be alike, or unlike; which, and how much, cross-validation finds."""

    info: ClassVar[MethodInfo] = MethodInfo(
        key="attri_infer",
        title="AttriInfer",
        summary="Passes beliefs along the links of a Markov random field.",
        source="Jia, Wang, Zhang and Gong, AttriInfer, WWW 2017; MRF on the whole graph",
        group="propagation",
        cost="seconds",
        version=4,
    )
    holds_out = True
    coupling: float | None = Field(
        None,
        ge=-10,
        le=10,
        description="Pull between linked nodes, below 0 a push; empty: chosen on known nodes.",
    )
    rounds: int = Field(30, ge=1, le=1000, description="Rounds of message passing at most.")

    def infer(
        self, release: Release, threat: AttributeThreat, context: Context
    ) -> ClassProbabilities:
        from core.algorithms.beliefs import BeliefPropagation

        propagation = BeliefPropagation(release.graph)

        def run(observed: np.ndarray, coupling: float) -> np.ndarray:
            prior = make_log_prior(observed, threat.num_classes)
            beliefs = propagation.compute(prior, coupling, self.rounds, progress=context.progress)
            counts = np.bincount(observed[observed != MISSING], minlength=threat.num_classes)
            # the class shares, kept out of the messages
            weighted: np.ndarray = beliefs * (counts + 1.0)
            weighted /= weighted.sum(axis=1, keepdims=True)
            return weighted

        observed, coupling, held_out = threat.observed, self.coupling, None
        if coupling is None:
            folds = draw_folds(observed, 3, context.rng("folds"))
            losses, said = [], []
            for value in COUPLINGS:
                guessed = np.full((len(observed), threat.num_classes), np.nan)
                for rest, fold in hold_out(observed, folds):
                    guessed[fold] = run(rest, value)[fold]
                told = np.flatnonzero(~np.isnan(guessed[:, 0]))
                losses.append(-np.log(np.clip(guessed[told, observed[told]], 1e-12, None)))
                said.append(guessed)
            best = choose_coupling(np.array(losses))
            coupling, held_out = COUPLINGS[best], said[best]
        return ClassProbabilities(run(observed, coupling), {"coupling": coupling}, held_out)


def choose_coupling(losses: np.ndarray) -> int:
    """The row of the least mean, of (couplings, k) log-losses of k known nodes held out.

    A push only where it beats the best pull by more than a standard error of the difference:
    where the links tell little of forty known nodes, noise would as soon choose the wrong sign.
    """
    means = losses.mean(axis=1) if losses.size else np.zeros(len(losses))
    best, pull = int(np.argmin(means)), int(np.argmin(means[: len(PULLS)]))
    if best < len(PULLS):
        return best
    gain = losses[pull] - losses[best]
    error = gain.std(ddof=1) / np.sqrt(len(gain)) if len(gain) > 1 else np.inf
    return best if gain.mean() > error else pull


def make_log_prior(observed: np.ndarray, num_classes: int) -> np.ndarray:
    """(n, C): known nodes are 0.9 sure, in the rarest class, and less in larger ones.

    Each class pulls alike in all, and unknown nodes not at all: otherwise the beliefs would
    follow the degree, since every neighbour would repeat the class shares.
    """
    known = np.flatnonzero(observed != MISSING)
    counts = np.bincount(observed[known], minlength=num_classes)
    prior = np.zeros((len(observed), num_classes))
    codes = observed[known]
    prior[known, codes] = LOG_ODDS * counts[counts > 0].min() / counts[codes]
    return prior
