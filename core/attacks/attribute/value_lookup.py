"""Value look-up: baseline attacker that counts classes among known nodes with the same value."""

from __future__ import annotations

from itertools import product
from typing import ClassVar

import numpy as np
from scipy import sparse
from scipy.special import softmax

from core.algorithms.shared_values import tabulate_shared_values
from core.context import Context
from core.methods import AttributeAttack, MethodInfo
from core.models.tuning import compute_log_loss, draw_folds, hold_out
from core.node_column import MISSING
from core.release import Release
from core.results import ClassProbabilities
from core.threats import AttributeThreat, count_shares

NUM_FOLDS = 3
PRIOR_WEIGHTS = (0.5, 2.0, 8.0)
"""Known nodes that the class shares count for in each value's shares."""


class ValueLookup(AttributeAttack):
    """Naive Bayes on exact values: P(z) Π P(z | value) / P(z) over the most telling columns.

    A number is a name here, such as the code of a clinic. P(z | value) are the shares among the
    known nodes with it, drawn towards P(z). Columns are ranked by the log-loss that they save when
    each known node is predicted from the others; how many take part, possibly none, and the weight
    of P(z) are chosen by the log-loss on held-out known nodes.
    """

    info: ClassVar[MethodInfo] = MethodInfo(
        key="value_lookup",
        title="Value look-up",
        summary="Baseline attacker: looks up the classes of known nodes with the same values.",
        source="Cestnik, Estimating probabilities, ECAI 1990 (naive Bayes with m-estimates); "
        "Holte, Very simple classification rules, Machine Learning 1993 (one column)",
        group="baseline attackers",
        is_baseline=True,
    )
    reads_links: ClassVar[bool] = False
    needs_features: ClassVar[bool] = True

    def infer(
        self, release: Release, threat: AttributeThreat, context: Context
    ) -> ClassProbabilities:
        features, observed = release.graph.features, threat.observed
        assert features is not None
        table, columns = tabulate_shared_values(features)
        told = np.flatnonzero(table[threat.known].sum(axis=0))
        table, columns = sparse.csr_array(table[:, told]), columns[told]
        sizes = (0, *(1 << k for k in range(features.shape[1].bit_length() + 1)))
        tries = list(product(PRIOR_WEIGHTS, sizes))
        losses = np.zeros(len(tries))
        folds = draw_folds(observed, NUM_FOLDS, context.rng("folds"))
        for number, (rest, fold) in enumerate(hold_out(observed, folds)):
            context.progress.update(number, NUM_FOLDS + 1, "looking up values")
            held, rows = table[fold], np.arange(len(fold))
            found = count_classes(table, rest, threat.num_classes)
            for place, (weight, size) in enumerate(tries):
                values = predict(held, found, columns, weight, size)
                losses[place] += compute_log_loss(values, observed[fold], rows) * len(fold)
        context.progress.update(NUM_FOLDS, NUM_FOLDS + 1, "looking up values")
        weight, size = tries[int(np.argmin(losses))]
        found = count_classes(table, observed, threat.num_classes)
        facts: dict[str, float | str] = {"prior_weight": weight, "columns": float(size)}
        return ClassProbabilities(predict(table, found, columns, weight, size), facts)


Counts = tuple[np.ndarray, np.ndarray]
"""(C,) class shares, and (v, C) number of known nodes of each class with each value."""


def count_classes(table: sparse.csr_array, observed: np.ndarray, num_classes: int) -> Counts:
    """What the known nodes tell of the values in `table` (n, v)."""
    known = observed != MISSING
    counts = table[known].T @ np.eye(num_classes)[observed[known]]
    return count_shares(observed, num_classes), np.asarray(counts)


def predict(
    table: sparse.csr_array, found: Counts, columns: np.ndarray, weight: float, size: int
) -> np.ndarray:
    """(k, C) probabilities of the nodes of `table` (k, v) by the `size` most telling columns."""
    prior, counts = found
    ratios = np.log(draw_towards(prior, counts, counts.sum(axis=1), weight) / prior)
    is_used = (rank_columns(found, columns, weight) < size)[columns]
    evidence = table @ np.where(is_used[:, None], ratios, 0.0)
    return np.asarray(softmax(np.log(prior) + evidence, axis=1))


def rank_columns(found: Counts, columns: np.ndarray, weight: float) -> np.ndarray:
    """Rank of each column by the log-loss it saves, each known node predicted from the others.

    columns  (v,) column of each value
    One that saves nothing has a rank that no number of columns reaches.
    """
    prior, counts = found
    others = draw_towards(prior, np.maximum(counts - 1, 0), counts.sum(axis=1) - 1, weight)
    saved = np.bincount(columns, (counts * np.log(others / prior)).sum(axis=1))
    ranks = np.empty(len(saved))
    ranks[np.argsort(-saved, kind="stable")] = np.arange(len(saved))
    return np.where(saved > 0, ranks, np.inf)


def draw_towards(
    prior: np.ndarray, counts: np.ndarray, totals: np.ndarray, weight: float
) -> np.ndarray:
    """(v, C) m-estimates (n_z + w P(z)) / (N + w) of the shares of each class."""
    totals = np.maximum(totals, 0)[:, None]
    return np.asarray((counts + weight * prior) / (totals + weight))
