"""AttriInfer: a Markov random field on the graph, solved by loopy belief propagation."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from pydantic import Field
from scipy import sparse
from scipy.special import softmax

from core.context import Context
from core.graph import Graph
from core.methods import AttributeAttack, MethodInfo
from core.models.tuning import draw_folds, hold_out, is_gain
from core.node_column import MISSING
from core.progress import Progress
from core.release import Release
from core.results import ClassProbabilities
from core.threats import AttributeThreat

PULLS = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
COUPLINGS = (*PULLS, *(-pull for pull in PULLS))
"""Couplings tried, positive ones first: some links join unlike nodes, and some defenses remove
links between like ones."""
LOG_ODDS = float(np.log(9.0))
"""Log-odds of a known value, 0.9 as in the source."""


class AttriInfer(AttributeAttack):
    """Linked nodes tend to be alike or unlike; sign and strength are cross-validated."""

    info: ClassVar[MethodInfo] = MethodInfo(
        key="attri_infer",
        title="AttriInfer",
        summary="Passes beliefs along the links of a Markov random field.",
        source="Jia, Wang, Zhang and Gong, AttriInfer, WWW 2017; MRF on the whole graph",
        group="propagation",
        cost="seconds",
        version=5,
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
            predicted = np.full((len(COUPLINGS), len(observed), threat.num_classes), np.nan)
            kept, losses = np.arange(len(COUPLINGS)), np.zeros((len(COUPLINGS), 0))
            for training, fold in hold_out(observed, folds):
                found = np.full((len(COUPLINGS), len(fold)), np.inf)
                for index in kept:
                    predicted[index, fold] = run(training, COUPLINGS[index])[fold]
                    chances = predicted[index, fold, observed[fold]]
                    found[index] = -np.log(np.clip(chances, 1e-12, None))
                losses = np.hstack([losses, found])
                kept = list_close(losses)
            best = choose_coupling(losses)
            coupling, held_out = COUPLINGS[best], predicted[best]
        return ClassProbabilities(run(observed, coupling), {"coupling": coupling}, held_out)


def list_close(losses: np.ndarray) -> np.ndarray:
    """Rows of (couplings, k) log-losses whose mean is within two standard errors of the best one of
    the same sign; the others need not be tried on further folds.

    A row that was left out on an earlier fold is infinite there, and stays out.
    """
    close = []
    for rows in (slice(0, len(PULLS)), slice(len(PULLS), len(losses))):
        if not len(losses[rows]):
            continue
        best = losses[rows][np.argmin(losses[rows].mean(axis=1))]
        is_close = [np.isfinite(row).all() and not is_gain(row - best, 2.0) for row in losses[rows]]
        close.append(rows.start + np.flatnonzero(is_close))
    return np.concatenate(close)


def choose_coupling(losses: np.ndarray) -> int:
    """Row with the smallest mean, of (couplings, k) log-losses of k held-out known nodes.

    A negative coupling only if it beats the best positive one by more than a standard error of the
    difference, since with few known nodes noise would determine the sign.
    """
    means = losses.mean(axis=1) if losses.size else np.zeros(len(losses))
    best, pull = int(np.argmin(means)), int(np.argmin(means[: len(PULLS)]))
    if best < len(PULLS):
        return best
    return best if is_gain(losses[pull] - losses[best]) else pull


def make_log_prior(observed: np.ndarray, num_classes: int) -> np.ndarray:
    """(n, C): 0.9 for known nodes of the rarest class, less in larger classes.

    Evidence of all classes is balanced and unknown nodes contribute none: otherwise beliefs would
    follow the degree, since every neighbour would repeat the class shares.
    """
    known = np.flatnonzero(observed != MISSING)
    counts = np.bincount(observed[known], minlength=num_classes)
    prior = np.zeros((len(observed), num_classes))
    codes = observed[known]
    prior[known, codes] = LOG_ODDS * counts[counts > 0].min() / counts[codes]
    return prior


class BeliefPropagation:
    """Belief propagation on one graph, whose links are sorted once for any number of runs.

    Arrays have one row per class, so that the work per link is contiguous in memory.
    """

    def __init__(self, graph: Graph) -> None:
        adjacency = graph.adjacency
        self._n, self._source = graph.num_nodes, adjacency.indices
        num_links = len(self._source)
        target = np.repeat(np.arange(self._n), np.diff(adjacency.indptr))
        self._reverse = np.lexsort((target, self._source))
        self._gather = sparse.csr_array(
            (np.ones(num_links), np.arange(num_links), adjacency.indptr), shape=(self._n, num_links)
        )
        self._weights = adjacency.data.astype(np.float64)

    def compute(
        self,
        log_prior: np.ndarray,
        coupling: float,
        rounds: int = 30,
        damping: float = 0.3,
        tolerance: float = 1e-4,
        progress: Progress | None = None,
    ) -> np.ndarray:
        """(n, C) marginals of p(z) ∝ Π_i φ_i(z_i) Π_(i,j) exp(J w_ij [z_i = z_j]).

        log_prior  (n, C) log φ;  coupling J > 0: linked nodes tend to be alike; J < 0: unlike
        damping    share of the old message kept in each round

        Exact on a forest once the messages have crossed it. O(m C) a round.
        """
        progress = progress or Progress()
        prior = np.ascontiguousarray(log_prior.T, np.float64)
        pull = np.expm1(coupling * self._weights)
        messages = np.zeros((len(prior), len(self._source)))
        total, beliefs = prior, softmax(prior, axis=0)
        for index in range(rounds):
            cavity = np.take(total, self._source, axis=1)
            cavity -= np.take(messages, self._reverse, axis=1)  # eight times faster than by []
            sent = softmax(cavity, axis=0)
            sent *= pull
            messages *= damping
            messages += (1.0 - damping) * np.log1p(sent, out=sent)
            total = prior + np.array([self._gather @ row for row in messages])
            previous, beliefs = beliefs, softmax(total, axis=0)
            progress.update(index + 1, rounds, "belief propagation")
            if np.abs(beliefs - previous).max(initial=0.0) < tolerance:
                break
        return np.asarray(np.ascontiguousarray(beliefs.T))
