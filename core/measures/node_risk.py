"""Per-node risk: the attacker's calibrated confidence in the truth.

Raw scores of different attacks are not comparable, so they are converted to probabilities by
isotonic regression. `calibrate_across_folds` fits it on the evaluation's truth, cross-fitted over
five folds: an upper bound on what the attacker could have known. `calibrate_on_known` fits it on
the attack's out-of-fold predictions of known values. Scores significantly below chance are inverted
first, since they reveal as much as others.
Folds come from a hash of the case and are equal for every attack and release.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.special import expit, logit

from core.arrays import pair_codes
from core.measures.intervals import measure_mean, measure_share
from core.measures.ranking import compute_margins, rank_with_ties
from core.node_column import NodeColumn
from core.results import ClassProbabilities, Measurement, PairScores
from core.seeding import mix_bits
from core.threats import AttributeThreat, LinkThreat

NUM_FOLDS = 5

ADVANTAGE_LIMIT = 0.2
"""Advantage over the base rate above which a node is exposed."""

MIN_LEAD = 3.0
"""Standard errors by which an attacker must expose more than the one with the largest advantage:
the most of many counts is partly chance."""

MIN_INVERTED = 10
"""Fewest cases on either side for scores to count as inverted, since the test is a normal one."""

SURE, BOUNDS, TINY = (0.001, 0.999), ((-10.0, 10.0), (0.0, 10.0)), 1e-9
"""Bounds of the likeliest class's probability in log odds, of level and slope of its calibration,
and of the rest of its row."""

MAX_TOLD = 20_000
"""Nodes that suffice for these."""

MIN_CLASS = 10
"""Fewest nodes at stake for a class to have its own share; rarer ones are counted together."""


@dataclass(frozen=True, eq=False)
class NodeRisk:
    """Nodes at stake; the risk of all others is undefined.

    nodes  (k,) int64 node numbers, ascending
    risk   (k,) probability that the attacker assigns to the truth
    base   (k,) base rate
    """

    nodes: np.ndarray
    risk: np.ndarray
    base: np.ndarray

    @property
    def advantage(self) -> np.ndarray:
        """(k,) risk minus base."""
        return np.asarray(self.risk - self.base)


def compute_link_node_risk(scores: PairScores, threat: LinkThreat, num_nodes: int) -> NodeRisk:
    """Per node with a withheld link: mean P(link | score) over its withheld links.

    Probabilities are those of the balanced test, so the base is 0.5. The mean is used because the
    maximum grows with the degree even for an attacker without knowledge.
    """
    codes = pair_codes(threat.pairs, num_nodes)
    calibrated = calibrate_across_folds(scores.scores, threat.truth, codes, True)
    return average_over_links(calibrated[threat.truth], threat.targets, num_nodes, 0.5)


def average_over_links(
    probabilities: np.ndarray, links: np.ndarray, num_nodes: int, base: float
) -> NodeRisk:
    """Mean probability of each node's links, from probabilities (k,) of links (k, 2)."""
    ends = links.ravel()
    total = np.bincount(ends, np.repeat(probabilities, 2), minlength=num_nodes)
    count = np.bincount(ends, minlength=num_nodes)
    nodes = np.flatnonzero(count)
    return NodeRisk(nodes, total[nodes] / count[nodes], np.full(len(nodes), base))


def compute_attribute_node_risk(
    probabilities: ClassProbabilities, threat: AttributeThreat, calibrated: np.ndarray | None = None
) -> NodeRisk:
    """Per hidden node: the calibrated probability of its true class.

    The base is the share of the node's class among all nodes with a value.
    calibrated: `calibrate_classes_across_folds` of the same, where the caller has it.
    """
    nodes = np.flatnonzero(threat.hidden)
    codes = threat.attribute.codes[nodes]
    if calibrated is None:
        calibrated = calibrate_classes_across_folds(probabilities, threat)
    risk = calibrated[np.arange(len(nodes)), codes]
    return NodeRisk(nodes, risk, threat.attribute.shares[codes])


def calibrate_classes_across_folds(
    probabilities: ClassProbabilities, threat: AttributeThreat
) -> np.ndarray:
    """(k, C) probabilities of the hidden nodes, calibrated on their own true classes.

    Each class is calibrated against the rest, then rows are scaled to sum to one; class shares if
    all entries vanish. Then the likeliest class of each row is calibrated, on the other half of the
    nodes.
    """
    nodes = np.flatnonzero(threat.hidden)
    codes, values = threat.attribute.codes[nodes], probabilities.probabilities[nodes]
    scaled = _calibrate_classes(values, codes, nodes, threat.attribute.shares)
    is_second, calibrated = mix_bits(nodes) % 2 == 1, np.empty(scaled.shape)
    for half in (is_second, ~is_second):
        calibrated[half] = _calibrate_likeliest(scaled[half], scaled[~half], codes[~half])
    return calibrated


def _calibrate_classes(
    values: np.ndarray, codes: np.ndarray, cases: np.ndarray, shares: np.ndarray
) -> np.ndarray:
    """(k, C) values, each class calibrated across folds against the rest, in rows of sum one."""
    calibrated = np.zeros(values.shape)
    for c in np.unique(codes):
        calibrated[:, c] = calibrate_across_folds(values[:, c], codes == c, cases, False)
    return _scale_rows(calibrated, shares)


def _calibrate_likeliest(values: np.ndarray, told: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """(m, C) rows whose largest probability p is the chance that it is right: a + b · logit p by
    maximum likelihood on other rows `told` (k, C) with classes (k,), with a ridge towards p itself
    (Platt, 1999). The other entries share the rest in proportion.

    Scaling many classes that were calibrated one by one leaves the likeliest too unlikely, and the
    choice of the largest of many noisy ones too likely. Two classes, each the other's rest, stay.
    """
    from scipy.optimize import minimize

    if values.shape[1] < 3 or not len(codes):
        return values
    every = slice(None, None, -(-len(codes) // MAX_TOLD))
    told, is_right = told[every], told[every].argmax(axis=1) == codes[every]
    odds = logit(np.clip(told.max(axis=1), *SURE))

    def compute_loss(line: np.ndarray) -> float:
        logits = line[0] + line[1] * odds
        change = line - [0.0, 1.0]
        return float((np.logaddexp(0.0, logits) - is_right * logits).sum() + change @ change)

    level, slope = minimize(compute_loss, [0.0, 1.0], method="L-BFGS-B", bounds=BOUNDS).x
    rows, place, top = np.arange(len(values)), values.argmax(axis=1), values.max(axis=1)
    chances = expit(level + slope * logit(np.clip(top, *SURE)))
    calibrated = values * ((1.0 - chances) / np.maximum(1.0 - top, TINY))[:, None]
    calibrated[rows, place] = chances
    return np.asarray(calibrated / calibrated.sum(axis=1, keepdims=True))


def calibrate_on_known(
    probabilities: ClassProbabilities, threat: AttributeThreat
) -> np.ndarray | None:
    """(k, C) the attacker's own forecast for the hidden nodes; None without `held_out`.

    Calibrated on predictions for known nodes whose values the attack had held out; no hidden value
    is used.
    """
    if probabilities.held_out is None:
        return None
    nodes = np.flatnonzero(threat.known & ~np.isnan(probabilities.held_out[:, 0]))
    codes, values = threat.observed[nodes], probabilities.held_out[nodes]
    hidden_scores = probabilities.probabilities[threat.hidden]
    calibrated = np.zeros(hidden_scores.shape)
    for c in np.unique(codes):
        ranks = rank_with_ties(np.concatenate([values[:, c], hidden_scores[:, c]]))
        calibrated[:, c] = _calibrate(
            ranks[: len(nodes)], codes == c, np.ones(len(nodes)), ranks[len(nodes) :], len(ranks)
        )
    shares = threat.observed_shares
    told = _calibrate_classes(values, codes, nodes, shares)
    return _calibrate_likeliest(_scale_rows(calibrated, shares), told, codes)


def _scale_rows(values: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """(k, C) rows summing to one; `shares` (C,) for rows of zeros."""
    total = values.sum(axis=1, keepdims=True)
    return np.asarray(
        np.divide(values, total, out=np.tile(shares, (len(values), 1)), where=total > 0)
    )


def measure_margin_gain(calibrated: np.ndarray, threat: AttributeThreat) -> list[Measurement]:
    """margin_gain: mean over the hidden nodes of the calibrated margin of the true class (NetFense
    §5) minus the margin by the class shares alone; 0 for guessing.

    calibrated: of `calibrate_classes_across_folds`.
    """
    codes = threat.attribute.codes[threat.hidden]
    if not len(codes) or threat.num_classes < 2:
        return []
    blind = np.tile(threat.attribute.shares, (len(codes), 1))
    margins = compute_margins(calibrated, codes)
    return [measure_mean("margin_gain", margins - compute_margins(blind, codes))]


def find_worst_attacker(found: Sequence[tuple[np.ndarray, np.ndarray]]) -> int:
    """Place of the attacker that exposes most: of those who expose more nodes than the one with the
    largest mean advantage, by McNemar's test on the nodes that both attack, the one furthest ahead;
    without any, that one itself.

    found  (k,) nodes, ascending, and (k,) advantages of each attacker
    """
    first = int(np.argmax([gains.mean() for _, gains in found]))
    nodes, gains = found[first]
    best, most = first, 0.0
    for number, (other_nodes, other_gains) in enumerate(found):
        by_first, by_other = gains > ADVANTAGE_LIMIT, other_gains > ADVANTAGE_LIMIT
        if not np.array_equal(nodes, other_nodes):
            _, here, there = np.intersect1d(nodes, other_nodes, True, return_indices=True)
            by_first, by_other = by_first[here], by_other[there]
        lead = int(by_other.sum()) - int(by_first.sum())
        error = np.sqrt((by_first ^ by_other).sum())
        if lead > MIN_LEAD * error and lead / len(by_first) > most:
            best, most = number, lead / len(by_first)
    return best


def measure_advantage(risk: NodeRisk) -> Measurement:
    """advantage_share: share of the nodes at stake with an advantage above ADVANTAGE_LIMIT."""
    if not len(risk.nodes):
        return Measurement("advantage_share", None, reason="nobody is at stake")
    return measure_share("advantage_share", risk.advantage > ADVANTAGE_LIMIT)


def measure_class_advantage(risk: NodeRisk, codes: np.ndarray) -> Measurement:
    """class_advantage_share: largest share of exposed nodes over the classes.

    codes (n,) class of each node. In a class with a base rate of 91 % no advantage can exceed
    0.09; the overall share would hide that all other nodes are exposed. Classes as in
    `group_classes`.
    """
    exposed, groups = risk.advantage > ADVANTAGE_LIMIT, group_classes(codes[risk.nodes])
    if not groups:
        reason = f"fewer than {MIN_CLASS} people are at stake"
        return Measurement("class_advantage_share", None, n=len(exposed), reason=reason)
    worst = max(groups, key=lambda members: float(exposed[members].mean()))
    return measure_share("class_advantage_share", exposed[worst])


def group_classes(codes: np.ndarray) -> list[np.ndarray]:
    """Masks (k,) of the classes with at least MIN_CLASS of the nodes (k,), and of all rarer ones
    together; with the smallest of the others if these are still too few. Empty below MIN_CLASS
    nodes."""
    found, counts = np.unique(codes, return_counts=True)
    if len(codes) < MIN_CLASS:
        return []
    groups = [codes == c for c in found[counts >= MIN_CLASS]]
    rare = np.isin(codes, found[counts < MIN_CLASS])
    if rare.any():
        is_enough = rare.sum() >= MIN_CLASS
        groups.append(rare if is_enough else rare | min(groups, key=np.count_nonzero))
    return groups


def measure_forecast_advantage(
    probabilities: ClassProbabilities, threat: AttributeThreat
) -> list[Measurement]:
    """forecast_advantage_share: `advantage_share` by the attacker's own forecast, if available."""
    forecast = calibrate_on_known(probabilities, threat)
    if forecast is None or not len(forecast):
        return []
    codes = threat.attribute.codes[threat.hidden]
    gain = forecast[np.arange(len(codes)), codes] - threat.observed_shares[codes]
    return [measure_share("forecast_advantage_share", gain > ADVANTAGE_LIMIT)]


def compute_guessing_advantage(
    counts: Sequence[int], num_attacks: int, repeats: int = 1
) -> np.ndarray:
    """(num_attacks, n) advantage of attackers with random scores, mean over `repeats`.

    counts  nodes in each class, n in all; calibrated as in `compute_attribute_node_risk`
    """
    codes = np.repeat(np.arange(len(counts)), counts)
    all_nodes = np.ones(len(codes), bool)
    attribute = NodeColumn("noise", codes, tuple(map(str, range(len(counts)))))
    threat = AttributeThreat(attribute, ~all_nodes, all_nodes)
    rng = np.random.default_rng(0)
    total = np.zeros((num_attacks, len(codes)))
    for row in total:
        for _ in range(repeats):
            drawn = rng.dirichlet(np.ones(len(counts)), len(codes))
            row += compute_attribute_node_risk(ClassProbabilities(drawn), threat).advantage
    return total / repeats


def estimate_guessing_share(
    bases: Sequence[float] | np.ndarray, num_attacks: int, repeats: int, limit: float
) -> float:
    """Share of nodes that the best of `num_attacks` guessing attackers per node exposes by chance.

    bases  (n,) base rate of each node; above 400 nodes a sample with the same shares, since more
    only reduce the noise of the calibration
    """
    _, counts = np.unique(np.round(np.asarray(bases, float), 6), return_counts=True)
    max_nodes = 400
    scaled = np.maximum(counts * min(1.0, max_nodes / counts.sum()), 2).round().astype(int)
    if len(scaled) == 1:  # links: withheld ones against as many that are not there
        scaled = np.repeat(scaled, 2)
    return _simulate_guessing(tuple(scaled.tolist()), num_attacks, max(repeats, 1), limit)


@lru_cache(maxsize=64)
def _simulate_guessing(
    counts: tuple[int, ...], num_attacks: int, repeats: int, limit: float
) -> float:
    advantages = compute_guessing_advantage(counts, num_attacks, repeats)
    return float((advantages.max(axis=0) > limit).mean())


def calibrate_across_folds(
    scores: np.ndarray,
    truth: np.ndarray,
    cases: np.ndarray,
    balanced: bool,
    weights: np.ndarray | None = None,
) -> np.ndarray:
    """(k,) P(truth | score), each fold fitted on the truth of the others.

    cases     (k,) integers that identify the cases, for the folds
    balanced  weigh both sides equally
    weights   (k,) number of cases that each represents

    Scores clearly below chance on the other folds are inverted.
    """
    folds = assign_folds(truth, cases)
    ranks = rank_with_ties(scores)  # only the order counts: no scale of scores can overflow
    weights = np.ones(len(scores)) if weights is None else weights.copy()
    if balanced and truth.any() and not truth.all():
        weights[~truth] = truth.sum() / (~truth).sum()
    order = np.argsort(ranks)  # once for all folds, whose sorting and interpolating it speeds up
    folds, ranks, truth, weights = folds[order], ranks[order], truth[order], weights[order]
    result = np.empty(len(scores))
    for fold in range(NUM_FOLDS):
        inside = folds == fold
        outside = ~inside
        result[order[inside]] = _calibrate(
            ranks[outside], truth[outside], weights[outside], ranks[inside], len(ranks)
        )
    return result


def _calibrate(
    ranks: np.ndarray, truth: np.ndarray, weights: np.ndarray, queries: np.ndarray, count: int
) -> np.ndarray:
    """P(truth) at the ranks `queries`, fitted on ranks (k,) of `count` in all.

    One pseudo-case of the opposite class beyond either end prevents probabilities of 0 or 1.
    """
    if is_wrong_way(ranks, truth):
        ranks, queries = count + 1.0 - ranks, count + 1.0 - queries
    return fit_isotonic(
        np.concatenate([[0.0], ranks, [count + 1.0]]),
        np.concatenate([[1.0], truth, [0.0]]),
        np.concatenate([[1.0], weights, [1.0]]),
        queries,
    )


def is_wrong_way(ranks: np.ndarray, truth: np.ndarray) -> bool:
    """Whether the true cases rank significantly below the others: Welch's z below −1.96.

    On ranks, a one-sided test, at 2.5 %, of an AUC below 0.5.
    """
    sides = ranks[truth], ranks[~truth]
    if min(map(len, sides)) < MIN_INVERTED:
        return False
    gap = sides[0].mean() - sides[1].mean()
    is_lower: bool = gap < -1.96 * np.sqrt(sum(side.var(ddof=1) / len(side) for side in sides))
    return is_lower


def assign_folds(truth: np.ndarray, cases: np.ndarray) -> np.ndarray:
    """(k,) fold of each case, dealt in the order of a hash within each side.

    Dealing keeps the share of positives equal in all folds; independent folds would bias the
    calibration.
    """
    order = np.lexsort((mix_bits(cases), truth))
    folds = np.empty(len(cases), np.int64)
    positives = int(truth.sum())
    negatives = len(cases) - positives
    folds[order] = np.concatenate([np.arange(negatives), np.arange(positives)]) % NUM_FOLDS
    return folds


def fit_isotonic(
    x: np.ndarray, y: np.ndarray, weights: np.ndarray, queries: np.ndarray
) -> np.ndarray:
    """(m,) weighted isotonic regression of y on x, both (k,), evaluated at `queries` (m,) by linear
    interpolation, constant beyond the ends.

    Equals scikit-learn's IsotonicRegression, whose input checks would dominate: an audit has
    thousands of fits on few points.
    """
    from scipy.optimize import isotonic_regression

    order = np.argsort(x, kind="stable")  # linear where x is sorted
    x, weights, weighted = x[order], weights[order], (weights * y)[order]
    starts = np.flatnonzero(np.append(True, x[1:] != x[:-1]))
    total = np.add.reduceat(weights, starts)
    means = np.add.reduceat(weighted, starts) / total
    return np.asarray(np.interp(queries, x[starts], isotonic_regression(means, weights=total).x))
