"""Imputation of private values that a defense may not use."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from core.algorithms.class_propagation import normalize_class_mass, propagate_labels
from core.context import Context
from core.graph import Graph
from core.models.pooling import choose_evenness, combine
from core.models.tuning import CrossFit, draw_folds, hold_out
from core.node_column import MISSING
from core.progress import PartProgress
from core.release import Release
from core.threats import AttributeThreat

POWERS = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0)
FOLDS = 10
LEARNED_FOLDS = 3
"""Smaller than usual, since time matters here."""
LEARNED = {"trees": 50, "rounds": 2, "folds": 3}
"""A third of the classifier's usual time with equally good predictions."""
FEWEST = 10
"""Smallest number of known nodes for training."""


def impute_values(graph: Graph, threat: AttributeThreat, context: Context) -> np.ndarray:
    """(n, C) probabilities: one-hot for known nodes, calibrated predictions for all others.

    Label propagation and the neighbourhood classifier, pooled with the weights of lowest held-out
    log-loss: a defense blind to roles and features would not protect against attacks on them. Uses
    `threat.observed` only.
    """
    observed, certain = threat.observed, np.eye(threat.num_classes)
    if threat.known.all():
        return np.asarray(certain[observed])
    if threat.known.sum() < FEWEST:
        beliefs = _propagate_values(graph, threat, context)
    else:
        beliefs = _pool_imputations(graph, threat, context)
    beliefs[threat.known] = certain[observed[threat.known]]
    return beliefs


def _pool_imputations(graph: Graph, threat: AttributeThreat, context: Context) -> np.ndarray:
    observed = threat.observed
    fits = CrossFit(observed, draw_folds(observed, LEARNED_FOLDS, context.rng("parts")))
    runs = []
    for number, codes in enumerate(fits.run_codes):
        part_progress = PartProgress(context.progress, number, len(fits.run_codes))
        inner = replace(context.child("part", number), progress=part_progress)
        part = replace(threat, known=codes != MISSING)
        runs.append([_propagate_values(graph, part, inner), _learn_values(graph, part, inner)])
    predictions = np.array(runs).swapaxes(0, 1)
    held_out = np.array([fits.hold_out(member) for member in predictions])
    evenness = choose_evenness(held_out, fits.truth)
    return combine(predictions[:, -1], held_out, fits.truth, evenness)[0]


def _choose_power(logits: np.ndarray, prior: np.ndarray, truth: np.ndarray) -> float:
    """Power for values (h, C) relative to the class shares: the sharpest one whose log-loss is
    within one standard error of the lowest, since overconfidence is the safer error for a
    defense."""
    if not len(truth):
        return 1.0
    rows = np.arange(len(truth))
    losses = np.array([-np.log(_sharpen(logits, prior, p)[rows, truth]) for p in POWERS])
    mean = losses.mean(axis=1)
    best = int(np.argmin(mean))
    error = losses[best].std(ddof=1) / np.sqrt(len(truth)) if len(truth) > 1 else 0.0
    return POWERS[int(np.flatnonzero(mean <= mean[best] + error).max())]


def _learn_values(graph: Graph, threat: AttributeThreat, context: Context) -> np.ndarray:
    from core.attacks.attribute.neighbourhood_classifier import NeighbourhoodClassifier

    classifier = NeighbourhoodClassifier.model_validate(LEARNED)
    return classifier.infer(Release(graph), threat, context).probabilities


def _propagate_values(graph: Graph, threat: AttributeThreat, context: Context) -> np.ndarray:
    """(n, C) label propagation, whose values are well ranked but close together: centred on the
    class shares (class mass normalisation, Zhu, Ghahramani and Lafferty, ICML 2003) and
    sharpened."""
    observed, prior = threat.observed, threat.observed_shares
    logits = np.zeros((0, threat.num_classes))
    truth = np.zeros(0, np.int64)
    for visible, fold in hold_out(observed, draw_folds(observed, FOLDS, context.rng("folds"))):
        logits = np.concatenate([logits, _spread(graph, visible, prior)[fold]])
        truth = np.concatenate([truth, observed[fold]])
        context.progress.check()
    power = _choose_power(logits, prior, truth)
    return _sharpen(_spread(graph, observed, prior), prior, power)


def _spread(graph: Graph, observed: np.ndarray, prior: np.ndarray) -> np.ndarray:
    """(n, C) log-values, those of unknown nodes with mean zero in each class."""
    return normalize_class_mass(propagate_labels(graph, [observed], prior)[0], observed < 0)


def _sharpen(logits: np.ndarray, prior: np.ndarray, power: float) -> np.ndarray:
    logits = np.log(prior) + power * logits
    values = np.exp(logits - logits.max(axis=1, keepdims=True))
    values = np.clip(values, 1e-6 * values.max(), None)
    return np.asarray(values / values.sum(axis=1, keepdims=True))
