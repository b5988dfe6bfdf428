"""Adaptive attacks: the attacker knows the defense and trains on shadow releases of it.

A mode of every attack. The attacker applies the defense to the release again, with secret links or
values of its choice (a shadow release), runs the attack on the result, fits a small model from the
attack's output to the truth, and applies it to the attack's output on the release.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from scipy.special import softmax

from core.algorithms.class_propagation import fit_power, sharpen
from core.algorithms.normalize import fit_scale
from core.attacks.attribute.committee import MEMBERS, select_held_out
from core.attacks.attribute.denoised_blocks import DenoisedBlocks
from core.attacks.base_predictions import keep_arrays, recall_base_prediction
from core.attacks.link.pair_classifier import LEAST, PooledClassifier, fit_pair_classifier
from core.attacks.shadow_release import ShadowRelease, hide_values, share_shadow_release
from core.context import BasePrediction, Context
from core.data.splits import draw_released_threat
from core.errors import UnsupportedError
from core.measures.ranking import compute_auc
from core.methods import AttributeAttack, Defense, LinkAttack
from core.models.pooling import fit_weights, pool
from core.models.tuning import is_gain
from core.release import Release
from core.results import ClassProbabilities, PairScores
from core.threats import AttributeThreat, LinkThreat, ReleasedThreat, Threats

FLOOR = 1e-4
"""Lower bound of probabilities in logarithms."""

PLAIN: dict[str, float | str] = {"form": "plain: found its own secrets no worse"}
"""Recorded if an adaptive attacker falls back on the standard attack."""

BOTH: dict[str, float | str] = {"form": "both: found its own secrets equally well"}
"""Recorded if it averages the standard attack's and the learned log odds."""

DENOISED: dict[str, float | str] = {"form": "pooled with values inferred from denoised links"}
"""Recorded if an attribute attack's probabilities are pooled with those of denoised blocks."""

NO_SECRETS: dict[str, float | str] = {"form": "plain: the release has too few links to hide"}
"""Recorded if a release, such as one of Blink at a low epsilon, has too few links to learn from."""

NOISY_GAIN, NOISY_ERRORS = 0.02, 2.0
"""Gain in AUC, and standard errors of it, that the learned form needs if its secrets may be noise:
their probabilities of being real are estimates."""

EVENNESS = 1.0
"""Penalty of that pool towards equal weights."""

POOL_ERRORS = 1.64
"""Standard errors of its gain that it needs: one-sided, 5 % of the pools of no use are kept."""

PULL = 1.0
"""Ridge weight towards unchanged probabilities, in units of a case."""

Form = Callable[[np.ndarray, np.ndarray], np.ndarray]  # masks (k,) told, asked → (m, C) of asked


def learn_adaptive(
    attack: LinkAttack,
    defense: Defense,
    release: Release,
    threat: LinkThreat,
    threats: Threats,
    context: Context,
) -> Callable[[LinkThreat], PairScores]:
    """Log odds that a pair is a withheld or a released link, learned on a shadow release.

    The shadow release's input is the release itself. For released links the odds refer to the pairs
    of a graph, not to the training sample. Raises UnsupportedError if the defense or the attack
    cannot run on the shadow release.

    threat  withheld or released links with their prior; the result scores pairs of any such threat
    """
    shadow = share_shadow_release(defense, release, threats, context)
    shadow_threat = LinkThreat(shadow.hidden, shadow.absent, threat.prior)
    if isinstance(threat, ReleasedThreat):
        shadow_threat = draw_released_threat(
            shadow.before, shadow.release.graph, context.rng("included")
        )
    if min(shadow_threat.truth.sum(), (~shadow_threat.truth).sum()) < LEAST:
        return lambda asked: PairScores(attack.score(release, asked, context).scores, NO_SECRETS)
    _check_support(attack, attack.supports(shadow.release, shadow_threat))
    form = _fit_form(attack, release, shadow, shadow_threat, context)
    facts = {
        **_describe_shadow_release(shadow),
        "classifier": form.classifier.name,
        "held_out_loss": form.classifier.loss,
    }
    offset = 0.0
    if isinstance(shadow_threat, ReleasedThreat):
        non_link_weights = shadow_threat.weights[~shadow_threat.truth & ~shadow_threat.released]
        offset = np.log(max(float(non_link_weights.max(initial=1.0)), 1.0))

    def score(asked: LinkThreat) -> PairScores:
        if not form.weight:
            return PairScores(attack.score(release, asked, context).scores, {**facts, **PLAIN})
        columns = attack.describe(release, asked, context)
        logits = form.classifier.compute_logits(_append_link_weights(columns, release, asked))
        if form.weight < 1:
            standard_scores = columns[:, 0]
            if not attack.describes_score:
                standard_scores = attack.score(release, asked, context).scores
            standard_logits = form.calibrate(standard_scores)
            logits = form.weight * logits + (1.0 - form.weight) * standard_logits
        if isinstance(asked, ReleasedThreat):
            logits[~asked.released] -= offset
        return PairScores(logits, {**facts, **BOTH} if form.weight < 1 else facts)

    return score


def _check_support(attack: LinkAttack | AttributeAttack, reason: str | None) -> None:
    if reason:
        raise UnsupportedError(attack.label, f"cannot run on the shadow release: {reason}")


@dataclass(frozen=True, eq=False)
class AdaptiveForm:
    """What an adaptive attacker learned from a shadow release.

    classifier  log odds of a pair by the attack's output
    weight      of these log odds; the rest falls to the standard attack's
    calibrate   log odds by the standard attack's scores
    """

    classifier: PooledClassifier
    weight: float
    calibrate: Callable[[np.ndarray], np.ndarray]


def _fit_form(
    attack: LinkAttack,
    release: Release,
    shadow: ShadowRelease,
    shadow_threat: LinkThreat,
    context: Context,
) -> AdaptiveForm:
    """Fit a classifier to the attack's output on a shadow release, and weigh it by the AUC.

    1 if its AUC exceeds the standard attack's by more than a standard error of the difference, 0
    if it falls below it by more, else ½: each form then finds pairs that the other one misses.

    Withheld links that may be noise of the release are weighted by their probability of being real.
    Both forms are then compared on the release without these links too, since a shadow release of
    denoised links may differ from it, and the learned one must be better on both.
    """
    inner = context.child("replay")
    columns, standard_scores = _describe_pairs(attack, shadow.release, shadow_threat, inner)
    classifier = fit_pair_classifier(columns, shadow_threat.truth, context)
    calibrate = fit_calibration(standard_scores, shadow_threat.truth)
    if isinstance(shadow_threat, ReleasedThreat) or bool((shadow.probabilities == 1).all()):
        learned_auc, standard_auc = (
            compute_auc(classifier.held_out, shadow_threat.truth),
            compute_auc(standard_scores, shadow_threat.truth),
        )
        is_better = _is_better(learned_auc, standard_auc, 0.0, 1.0)
        is_worse = _is_better(standard_auc, learned_auc, 0.0, 1.0)
        return AdaptiveForm(classifier, (1.0 + is_better - is_worse) / 2.0, calibrate)
    probabilities = np.concatenate([shadow.probabilities, np.zeros(len(shadow_threat.absent))])

    def compare(learned: np.ndarray, scores: np.ndarray) -> bool:
        learned_auc, standard_auc = (
            compute_expected_auc(learned, probabilities),
            compute_expected_auc(scores, probabilities),
        )
        return _is_better(learned_auc, standard_auc, NOISY_GAIN, NOISY_ERRORS)

    is_better = compare(classifier.held_out, standard_scores)
    if is_better:
        hidden, absent = shadow.nodes[shadow_threat.hidden], shadow.nodes[shadow_threat.absent]
        reduced = replace(release, graph=release.graph.without_edges(hidden), link_scores=None)
        own = LinkThreat(hidden, absent, shadow_threat.prior)
        columns, standard_scores = _describe_pairs(attack, reduced, own, inner)
        is_better = compare(classifier.compute_logits(columns), standard_scores)
    return AdaptiveForm(classifier, float(is_better), calibrate)


def fit_calibration(scores: np.ndarray, truth: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """Log odds of a link as a linear function of an attack's score (Platt, 1999).

    scores (k,), truth (k,) bool with both values.
    """
    from sklearn.linear_model import LogisticRegression

    centre, spread = fit_scale(scores[:, None])
    model = LogisticRegression().fit((scores[:, None] - centre) / spread, truth)

    def calibrate(values: np.ndarray) -> np.ndarray:
        return np.asarray(model.decision_function((values[:, None] - centre) / spread))

    return calibrate


def _describe_pairs(
    attack: LinkAttack, release: Release, threat: LinkThreat, context: Context
) -> tuple[np.ndarray, np.ndarray]:
    """Columns (k, c) of the pairs for a classifier, and (k,) scores of the standard attack."""
    columns = attack.describe(release, threat, context)
    scores = columns[:, 0]
    if not attack.describes_score:
        scores = attack.score(release, threat, context).scores
    return _append_link_weights(columns, release, threat), scores


def _is_better(
    learned: tuple[float, np.ndarray],
    standard: tuple[float, np.ndarray],
    gain: float,
    errors: float,
) -> bool:
    """Whether the learned AUC exceeds the standard one by `gain` and by `errors` standard errors;
    each is given as (AUC, influence of each case)."""
    error = float(np.sqrt(((learned[1] - standard[1]) ** 2).sum()))
    return learned[0] - standard[0] > max(gain, errors * error)


def compute_expected_auc(scores: np.ndarray, probabilities: np.ndarray) -> tuple[float, np.ndarray]:
    """Expected AUC and each case's influence (k,) on it, given (k,) link probabilities.

    Each case is a link with its probability as weight and a non-link with the complement; ties
    count half.
    """
    order = np.unique(scores, return_inverse=True)[1]
    links, non_links = (np.bincount(order, w) for w in (probabilities, 1.0 - probabilities))
    below = (np.cumsum(non_links) - non_links / 2)[order] / non_links.sum()
    above = 1.0 - (np.cumsum(links) - links / 2)[order] / links.sum()
    auc = float(np.average(below, weights=probabilities))
    influence = probabilities * (below - auc) / links.sum()
    return auc, influence + (1.0 - probabilities) * (above - auc) / non_links.sum()


def infer_adaptive(
    attack: AttributeAttack,
    defense: Defense,
    release: Release,
    threat: AttributeThreat,
    threats: Threats,
    context: Context,
) -> ClassProbabilities:
    """Probabilities of the attack by what else the attacker knows of the release.

    Where links were flipped at a public rate, they are pooled with those of `denoised_blocks`. Else
    half of the known values are the secrets of a shadow release, and a linear map of the attack's
    log probabilities is fitted to them, with a ridge towards the identity. The standard attack's
    stay if neither predicts values that the attacker hid itself better.
    """
    shadow = share_shadow_release(defense, release, replace(threats, attribute=threat), context)
    shadow_threat = shadow.attribute
    assert shadow_threat is not None
    _check_support(attack, attack.supports(shadow.release, shadow_threat))
    result = recall_base_prediction(attack, threat, context) or attack.infer(
        release, threat, context
    )
    facts = {**(result.facts or {}), **_describe_shadow_release(shadow)}
    pooled = _pool_with_denoised(attack, result, release, threat, context)
    if pooled is not None:
        return ClassProbabilities(pooled, {**facts, **DENOISED})
    predicted = _share_prediction(attack, shadow.release, shadow_threat, context).probabilities
    nodes = np.flatnonzero(shadow_threat.hidden)
    codes = shadow_threat.attribute.codes[nodes]
    if not is_corrected_better(predicted[nodes], codes, context.rng("halves")):
        return ClassProbabilities(result.probabilities, {**facts, **PLAIN}, result.held_out)
    correct = fit_correction(predicted[nodes], codes)
    return ClassProbabilities(correct(result.probabilities), facts)


def _pool_with_denoised(
    attack: AttributeAttack,
    result: ClassProbabilities,
    release: Release,
    threat: AttributeThreat,
    context: Context,
) -> np.ndarray | None:
    """(n, C) of the attack's result and `denoised_blocks`, weighted by their predictions of known
    values held out; None if no rate is known or the class shares would serve the pool as well."""
    denoising = MEMBERS[DenoisedBlocks.info.key]()
    has_no_use = attack.info.key == denoising.info.key or not attack.reads_links
    if has_no_use or denoising.supports(release, threat):
        return None
    denoised, own = _share_prediction(denoising, release, threat, context), result.held_out
    assert denoised.held_out is not None
    if own is None:
        half = hide_values(threat, np.arange(len(threat.known)), context.child("own values"))
        assert half is not None
        own = _share_prediction(attack, release, half, context).probabilities.copy()
        own[~half.hidden] = np.nan
    held_out, truth = select_held_out([own, denoised.held_out], threat.observed)
    fit = partial(fit_weights, evenness=EVENNESS, least=0.0)

    def pool_with(other: np.ndarray) -> Form:
        pair = np.array([held_out[0], other])
        return lambda told, asked: pool(pair[:, asked], fit(pair[:, told], truth[told]))

    usual = pool_with(np.tile(threat.observed_shares, (len(truth), 1)))
    if not _is_form_better(pool_with(held_out[1]), usual, truth, POOL_ERRORS, context.rng("pool")):
        return None
    return pool(np.array([result.probabilities, denoised.probabilities]), fit(held_out, truth))


def is_corrected_better(
    probabilities: np.ndarray, codes: np.ndarray, rng: np.random.Generator
) -> bool:
    """Whether `fit_correction` predicts classes (k,) better than probabilities (k, C) that are only
    sharpened, by more than a standard error."""
    prior = np.full(probabilities.shape[1], 1.0 / probabilities.shape[1])
    logits = _compute_log_probabilities(probabilities)

    def correct(told: np.ndarray, asked: np.ndarray) -> np.ndarray:
        return fit_correction(probabilities[told], codes[told])(probabilities[asked])

    def only_sharpen(told: np.ndarray, asked: np.ndarray) -> np.ndarray:
        return sharpen(logits[asked], prior, fit_power(logits[told], prior, codes[told]))

    return _is_form_better(correct, only_sharpen, codes, 1.0, rng)


def _is_form_better(
    predict: Form, usual: Form, codes: np.ndarray, errors: float, rng: np.random.Generator
) -> bool:
    """Whether a form predicts classes (k,) better than the usual one, by `is_gain` in log-loss:
    each is fitted on one half and judged on the other."""
    if len(codes) < 2 * LEAST:
        return False
    half, gains = rng.permutation(len(codes)) % 2 == 0, np.zeros(len(codes))
    for inside in (half, ~half):
        right = np.arange(int(inside.sum())), codes[inside]
        gains[inside] = np.log(np.maximum(predict(~inside, inside)[right], FLOOR))
        gains[inside] -= np.log(np.maximum(usual(~inside, inside)[right], FLOOR))
    return is_gain(gains, errors)


def _share_prediction(
    attack: AttributeAttack, release: Release, threat: AttributeThreat, context: Context
) -> ClassProbabilities:
    """Predictions of an attack on a shadow release, shared with attacks built on it."""

    def run(shared: Context) -> ClassProbabilities:
        base_predictions = {}
        for member in attack.list_members():
            if member.supports(release, threat) is None:
                prediction = _share_prediction(member, release, threat, context)
                base_predictions[member.info.key] = BasePrediction(
                    shared.seed, keep_arrays(prediction, threat)
                )
        return attack.infer(release, threat, replace(shared, base_predictions=base_predictions))

    inputs = (release.graph.content_hash, threat.attribute.name, threat.observed.tobytes())
    return context.share(("guess", *attack.work_key, *inputs), run)


def fit_correction(
    probabilities: np.ndarray, codes: np.ndarray
) -> Callable[[np.ndarray], np.ndarray]:
    """p ↦ softmax(W log p + b), by maximum likelihood with a ridge towards W = I, b = 0.

    probabilities (k, C), codes (k,); vector scaling (Guo et al., On calibration of modern neural
    networks, ICML 2017) with a full matrix, which can undo a swap of classes by a defense.
    """
    from scipy.optimize import minimize

    log_probabilities = _compute_log_probabilities(probabilities)
    count = log_probabilities.shape[1]
    start = np.concatenate([np.eye(count), np.zeros((1, count))])
    one_hot = np.eye(count)[codes]

    def compute_loss(flat: np.ndarray) -> tuple[float, np.ndarray]:
        matrix = flat.reshape(count + 1, count)
        logits = log_probabilities @ matrix[:-1] + matrix[-1]
        row_max = logits.max(axis=1, keepdims=True)
        log_sums = np.log(np.exp(logits - row_max).sum(axis=1, keepdims=True)) + row_max
        error = np.exp(logits - log_sums) - one_hot
        gradient = np.concatenate([log_probabilities.T @ error, error.sum(axis=0)[None]])
        change = matrix - start
        loss = -((logits - log_sums) * one_hot).sum() + PULL * (change**2).sum()
        return float(loss), (gradient + 2 * PULL * change).ravel()

    fitted = minimize(compute_loss, start.ravel(), jac=True, method="L-BFGS-B").x
    matrix = fitted.reshape(count + 1, count)

    def correct(values: np.ndarray) -> np.ndarray:
        logits = _compute_log_probabilities(values) @ matrix[:-1] + matrix[-1]
        return np.asarray(softmax(logits, axis=1))

    return correct


def _compute_log_probabilities(probabilities: np.ndarray) -> np.ndarray:
    """Log probabilities, each row with mean 0."""
    log_probabilities: np.ndarray = np.log(np.maximum(probabilities, FLOOR))
    log_probabilities -= log_probabilities.mean(axis=1, keepdims=True)
    return log_probabilities


def _append_link_weights(columns: np.ndarray, release: Release, threat: LinkThreat) -> np.ndarray:
    """Append the weight of each pair's link in the release, 0 without a link."""
    i, j = threat.pairs.T
    weights = np.asarray(release.graph.adjacency[i, j], dtype=np.float64).ravel()
    return np.column_stack([columns, weights])


def _describe_shadow_release(shadow: ShadowRelease) -> dict[str, float | str]:
    facts: dict[str, float | str] = {"shadow_links": float(shadow.before.num_edges)}
    return {**facts, "shadow_release": shadow.note} if shadow.note else facts
