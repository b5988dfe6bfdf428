"""What a defense believes about private values that it may not see."""

from __future__ import annotations

import numpy as np

from core.algorithms.spreading import normalize_class_mass, spread_labels
from core.context import Context
from core.graph import Graph
from core.models.tuning import draw_folds, hold_out
from core.threats import AttributeThreat

POWERS = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0)
FOLDS = 10


def guess_values(graph: Graph, threat: AttributeThreat, context: Context) -> np.ndarray:
    """(n, C) beliefs: one-hot for the known nodes, calibrated guesses for all others.

    Label propagation says who is likelier than others to be of a class, but its values huddle
    around one number. They are centred on the class shares (class mass normalisation, Zhu,
    Ghahramani and Lafferty, ICML 2003) and sharpened. The sharpest power whose log-loss on
    known nodes held out is within one standard error of the lowest is taken: a defense does
    better to believe too much than too little. Reads `threat.observed` only.
    """
    observed, prior = threat.observed, threat.observed_shares
    parts = list(hold_out(observed, draw_folds(observed, FOLDS, context.rng("folds"))))
    losses: list[np.ndarray] = []
    for index, (rest, fold) in enumerate(parts):
        logits = _spread(graph, rest, prior)
        losses.append(
            np.stack(
                [-np.log(_sharpen(logits, prior, power)[fold, observed[fold]]) for power in POWERS]
            )
        )
        context.progress.update(index + 1, len(parts) + 1, "guessing hidden values")
    power = _choose_power(np.concatenate(losses, axis=1)) if losses else 1.0
    beliefs = _sharpen(_spread(graph, observed, prior), prior, power)
    beliefs[threat.known] = np.eye(threat.num_classes)[observed[threat.known]]
    return beliefs


def _spread(graph: Graph, observed: np.ndarray, prior: np.ndarray) -> np.ndarray:
    """(n, C) log-values, those of unknown nodes with mean zero in each class."""
    return normalize_class_mass(spread_labels(graph, observed, prior), observed < 0)


def _sharpen(logits: np.ndarray, prior: np.ndarray, power: float) -> np.ndarray:
    logits = np.log(prior) + power * logits
    values = np.exp(logits - logits.max(axis=1, keepdims=True))
    values = np.clip(values, 1e-6 * values.max(), None)
    shares: np.ndarray = values / values.sum(axis=1, keepdims=True)
    return shares


def _choose_power(losses: np.ndarray) -> float:
    """Of losses (P, h) per power and node, by the one-standard-error rule."""
    mean = losses.mean(axis=1)
    best = int(np.argmin(mean))
    error = losses[best].std(ddof=1) / np.sqrt(losses.shape[1]) if losses.shape[1] > 1 else 0.0
    return POWERS[int(np.flatnonzero(mean <= mean[best] + error).max())]
