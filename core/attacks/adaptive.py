"""Adaptive attacks: attackers who know the defense and train on shadow releases of it.

One mode for every attack. The attacker defends the release once more with links or values of its
own choice as secrets (a shadow release), runs the attack on the result, fits a small model from the
attack's output to the truth, and applies it to the attack's output on the release itself.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from scipy.special import softmax

from core.attacks.base_predictions import keep_arrays, recall_base_prediction
from core.attacks.link.pair_classifier import Judge, fit_judge
from core.attacks.shadow_release import ShadowRelease, share_shadow_release
from core.context import BasePrediction, Context
from core.data.splits import draw_released_threat
from core.errors import UnsupportedError
from core.measures.ranking import compute_auc
from core.methods import AttributeAttack, Defense, LinkAttack
from core.release import Release
from core.results import ClassProbabilities, PairScores
from core.threats import AttributeThreat, LinkThreat, ReleasedThreat, Threats

FLOOR = 1e-4
"""Lower bound of probabilities in logarithms."""

PLAIN: dict[str, float | str] = {"form": "plain: found its own secrets no worse"}
"""Recorded if an adaptive attacker falls back on the standard attack."""

NOISY_GAIN, NOISY_ERRORS = 0.02, 2.0
"""Gain in AUC, and standard errors of it, that the learned form needs if its secrets may be noise:
their probabilities of being real are estimates."""

PULL = 1.0
"""Ridge weight towards unchanged probabilities, in units of a case."""


def score_adaptive(
    attack: LinkAttack,
    defense: Defense,
    release: Release,
    threat: LinkThreat,
    threats: Threats,
    context: Context,
) -> PairScores:
    """Log odds that a pair is a withheld or a released link, learned on a shadow release.

    The shadow release's input is the release itself. For released links the odds refer to the pairs
    of a graph, not to the training sample. Raises UnsupportedError if the defense or the attack
    cannot run on the shadow release.
    """
    played = share_shadow_release(defense, release, threats, context)
    own = LinkThreat(played.hidden, played.absent, threat.prior)
    if isinstance(threat, ReleasedThreat):
        own = draw_released_threat(played.before, played.release.graph, context.rng("included"))
    _check_support(attack, attack.supports(played.release, own))
    judge, is_better = _learn(attack, release, played, own, context)
    facts = {
        **_describe_shadow_release(played),
        "classifier": judge.name,
        "held_out_loss": judge.loss,
    }
    if not is_better:
        return PairScores(attack.score(release, threat, context).scores, {**facts, **PLAIN})
    seen = attack.describe(release, threat, context)
    odds = judge.compute_logits(_add_linked(seen, release, threat))
    if isinstance(threat, ReleasedThreat) and isinstance(own, ReleasedThreat):
        others = own.weights[~own.truth & ~own.released]
        odds[~threat.released] -= np.log(max(float(others.max(initial=1.0)), 1.0))
    return PairScores(odds, facts)


def _check_support(attack: LinkAttack | AttributeAttack, reason: str | None) -> None:
    if reason:
        raise UnsupportedError(attack.label, f"cannot run on the shadow release: {reason}")


def _learn(
    attack: LinkAttack, release: Release, played: ShadowRelease, own: LinkThreat, context: Context
) -> tuple[Judge, bool]:
    """A classifier of the attack's output on the attacker's own secrets, and whether it beats
    the standard attack by more than a standard error of the difference.

    Withheld links that may be noise of the release count by their probability of being real. Both
    forms are then tried on the release without them as well, since a shadow release of denoised
    links need not look like it.
    """
    inner = context.child("replay")
    columns, plain = _describe(attack, played.release, own, inner)
    judge = fit_judge(columns, own.truth, context)
    if isinstance(own, ReleasedThreat) or bool((played.chances == 1).all()):
        first, second = compute_auc(judge.held_out, own.truth), compute_auc(plain, own.truth)
        return judge, _is_better(first, second, 0.0, 1.0)
    chances = np.concatenate([played.chances, np.zeros(len(own.absent))])

    def compare(learned: np.ndarray, scores: np.ndarray) -> bool:
        first, second = (
            compute_expected_auc(learned, chances),
            compute_expected_auc(scores, chances),
        )
        return _is_better(first, second, NOISY_GAIN, NOISY_ERRORS)

    is_better = compare(judge.held_out, plain)
    if is_better and not played.note:
        graph = release.graph.without_edges(own.hidden)
        rest = replace(release, graph=graph, link_scores=None)
        columns, plain = _describe(attack, rest, own, inner)
        is_better = compare(judge.compute_logits(columns), plain)
    return judge, is_better


def _describe(
    attack: LinkAttack, release: Release, threat: LinkThreat, context: Context
) -> tuple[np.ndarray, np.ndarray]:
    """Columns (k, c) of the pairs for a classifier, and (k,) scores of the standard attack."""
    columns = attack.describe(release, threat, context)
    plain = columns[:, 0]
    if not attack.describes_score:
        plain = attack.score(release, threat, context).scores
    return _add_linked(columns, release, threat), plain


def _is_better(
    learned: tuple[float, np.ndarray], plain: tuple[float, np.ndarray], gain: float, errors: float
) -> bool:
    """Whether the first AUC, given with its influences, is ahead by `gain` and so many standard
    errors."""
    error = float(np.sqrt(((learned[1] - plain[1]) ** 2).sum()))
    return learned[0] - plain[0] > max(gain, errors * error) or bool(np.isnan(plain[0]))


def compute_expected_auc(scores: np.ndarray, chances: np.ndarray) -> tuple[float, np.ndarray]:
    """AUC and each case's influence (k,) on it if case i is a link with probability chances[i].

    Each case counts as a link by its probability and as a non-link by the rest; ties count half.
    """
    order = np.unique(scores, return_inverse=True)[1]
    links, others = (np.bincount(order, w) for w in (chances, 1.0 - chances))
    below = (np.cumsum(others) - others / 2)[order] / others.sum()
    above = 1.0 - (np.cumsum(links) - links / 2)[order] / links.sum()
    auc = float(np.average(below, weights=chances))
    influence = chances * (below - auc) / links.sum()
    return auc, influence + (1.0 - chances) * (above - auc) / others.sum()


def infer_adaptive(
    attack: AttributeAttack,
    defense: Defense,
    release: Release,
    threat: AttributeThreat,
    threats: Threats,
    context: Context,
) -> ClassProbabilities:
    """Probabilities of the attack, corrected by its errors on known values.

    Half of the known values are the secrets of a shadow release; a linear map of the attack's log
    probabilities is fitted to them, with a ridge towards the identity.
    """
    played = share_shadow_release(defense, release, replace(threats, attribute=threat), context)
    own = played.attribute
    assert own is not None
    _check_support(attack, attack.supports(played.release, own))
    guessed = _share_guess(attack, played.release, own, context).probabilities
    nodes = np.flatnonzero(own.hidden)
    correct = fit_correction(guessed[nodes], own.attribute.codes[nodes])
    found = recall_base_prediction(attack, threat, context) or attack.infer(
        release, threat, context
    )
    facts = {**(found.facts or {}), **_describe_shadow_release(played)}
    return ClassProbabilities(correct(found.probabilities), facts)


def _share_guess(
    attack: AttributeAttack, release: Release, threat: AttributeThreat, context: Context
) -> ClassProbabilities:
    """An attack's predictions on a shadow release, shared with attacks that use it as a base
    model."""

    def run(shared: Context) -> ClassProbabilities:
        base_predictions = {}
        for member in attack.list_members():
            if member.supports(release, threat) is None:
                found = _share_guess(member, release, threat, context)
                base_predictions[member.info.key] = BasePrediction(
                    shared.seed, keep_arrays(found, threat)
                )
        return attack.infer(release, threat, replace(shared, base_predictions=base_predictions))

    config = json.dumps(attack.config, sort_keys=True)
    given = (release.graph.content_hash, threat.attribute.name, threat.observed.tobytes())
    return context.share(("guess", attack.info.key, config, *given), run)


def fit_correction(
    probabilities: np.ndarray, codes: np.ndarray
) -> Callable[[np.ndarray], np.ndarray]:
    """p ↦ softmax(W log p + b), by maximum likelihood with a ridge towards W = I, b = 0.

    probabilities (k, C), codes (k,); vector scaling (Guo et al., On calibration of modern neural
    networks, ICML 2017) with a full matrix, which can undo a swap of classes by a defense.
    """
    from scipy.optimize import minimize

    logs = _take_logs(probabilities)
    count = logs.shape[1]
    start = np.concatenate([np.eye(count), np.zeros((1, count))])
    truth = np.eye(count)[codes]

    def compute_loss(flat: np.ndarray) -> tuple[float, np.ndarray]:
        matrix = flat.reshape(count + 1, count)
        logits = logs @ matrix[:-1] + matrix[-1]
        top = logits.max(axis=1, keepdims=True)
        sums = np.log(np.exp(logits - top).sum(axis=1, keepdims=True)) + top
        error = np.exp(logits - sums) - truth
        gradient = np.concatenate([logs.T @ error, error.sum(axis=0)[None]])
        change = matrix - start
        loss = -((logits - sums) * truth).sum() + PULL * (change**2).sum()
        return float(loss), (gradient + 2 * PULL * change).ravel()

    fitted = minimize(compute_loss, start.ravel(), jac=True, method="L-BFGS-B").x
    matrix = fitted.reshape(count + 1, count)

    def correct(values: np.ndarray) -> np.ndarray:
        logits = _take_logs(values) @ matrix[:-1] + matrix[-1]
        return np.asarray(softmax(logits, axis=1))

    return correct


def _take_logs(probabilities: np.ndarray) -> np.ndarray:
    """Log probabilities, each row with mean 0."""
    logs: np.ndarray = np.log(np.maximum(probabilities, FLOOR))
    logs -= logs.mean(axis=1, keepdims=True)
    return logs


def _add_linked(columns: np.ndarray, release: Release, threat: LinkThreat) -> np.ndarray:
    """The attack's columns of each pair, and the weight of its link in the release, or 0."""
    i, j = threat.pairs.T
    weights = np.asarray(release.graph.adjacency[i, j], dtype=np.float64).ravel()
    return np.column_stack([columns, weights])


def _describe_shadow_release(played: ShadowRelease) -> dict[str, float | str]:
    facts: dict[str, float | str] = {"shadow_links": float(played.before.num_edges)}
    return {**facts, "shadow_release": played.note} if played.note else facts
