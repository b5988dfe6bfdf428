"""Attacks on released links: which are real, and which real links were released.

Pairs come from `core.data.splits` with the number of pairs that each represents, which weighs all
rates.
"""

from __future__ import annotations

import numpy as np

from core.arrays import pair_codes
from core.measures.intervals import make_share, share_variance
from core.measures.node_risk import NodeRisk, average_over_links, calibrate_across_folds
from core.measures.ranking import compute_roc, count_above
from core.results import Measurement, PairScores
from core.threats import ReleasedThreat

PRECISIONS = (0.9, 0.99)
LOW_RATE = 0.001


def measure_released(scores: PairScores, threat: ReleasedThreat) -> list[Measurement]:
    """released_auc, released_precision, released_precision_top_tenth,
    recovered_at_precision_0.9 and _0.99, released_tpr_at_fpr_0.001.

    auc, tpr   over all pairs of the graph: its links against the others
    precision  share of real links among those of the release; among the tenth of them that the
               attacker believes most
    recovered  largest share of the real links that the attacker can name so that nine in ten
               (99 in 100) of the pairs that it names are links
    """
    truth, n = threat.truth, len(threat.truth)
    if not truth.any() or truth.all():
        names = ["released_auc", "released_precision", "released_precision_top_tenth"]
        names += [f"recovered_at_precision_{p:g}" for p in PRECISIONS]
        names.append(f"released_tpr_at_fpr_{LOW_RATE:g}")
        return [Measurement(name, None, n=n, reason="needs cases of both kinds") for name in names]
    result = [
        _measure_auc(scores.scores, threat),
        _measure_precision("released_precision", scores.scores, threat, 1.0),
        _measure_precision("released_precision_top_tenth", scores.scores, threat, 0.1),
    ]
    result += [_measure_recovered(scores.scores, threat, p) for p in PRECISIONS]
    tpr = float(compute_roc(scores.scores, truth, threat.weights).at(LOW_RATE))
    links = int(truth.sum())
    result.append(make_share(f"released_tpr_at_fpr_{LOW_RATE:g}", tpr, links, n))
    return result


def compute_released_risk(scores: PairScores, threat: ReleasedThreat, num_nodes: int) -> NodeRisk:
    """Per non-isolated node: mean calibrated P(link | score) over its links.

    At the density of the defended graph, which is the base rate.
    """
    codes = pair_codes(threat.pairs, num_nodes)
    calibrated = calibrate_across_folds(scores.scores, threat.truth, codes, False, threat.weights)
    return average_over_links(calibrated[threat.truth], threat.targets, num_nodes, threat.prior)


def _measure_auc(scores: np.ndarray, threat: ReleasedThreat) -> Measurement:
    """Weighted AUC, ties count half; the variance is that of the links (DeLong's component)."""
    truth, weights = threat.truth, threat.weights
    values, side = scores[~truth], weights[~truth]
    order = np.argsort(values, kind="stable")
    below = np.concatenate([[0.0], np.cumsum(side[order])])
    left = below[np.searchsorted(values[order], scores[truth], "left")]
    right = below[np.searchsorted(values[order], scores[truth], "right")]
    beaten = (left + right) / 2 / below[-1]
    auc, links = float(beaten.mean()), len(beaten)
    variance = float(beaten.var(ddof=1)) / links if links > 1 else 0.0
    return Measurement(
        "released_auc", auc, variance or share_variance(auc * links, links), len(scores)
    )


def _measure_precision(
    metric: str, scores: np.ndarray, threat: ReleasedThreat, share: float
) -> Measurement:
    """Share of real links among the likeliest `share` of the release's links."""
    inside = np.flatnonzero(threat.released)
    if not len(inside):
        return Measurement(metric, None, reason="the release has no links")
    ranked = inside[np.argsort(-scores[inside], kind="stable")]
    weights, truth = threat.weights[ranked], threat.truth[ranked]
    limit = share * weights.sum()
    # links of one score are drawn by lot: each counts as its group does
    _, groups = np.unique(-scores[ranked], return_inverse=True)
    mean = np.bincount(groups, weights * truth) / np.bincount(groups, weights)
    taken = np.clip(limit - (np.cumsum(weights) - weights), 0.0, weights)
    value = float((taken * mean[groups]).sum() / taken.sum())
    count = max(round(float(taken.sum())), 1)
    return make_share(metric, value, count)


def _measure_recovered(scores: np.ndarray, threat: ReleasedThreat, precision: float) -> Measurement:
    true, false = count_above(scores, threat.truth, threat.weights)
    enough = true >= precision * (true + false)
    value = float(true[enough].max(initial=0.0) / true[-1])
    links = int(threat.truth.sum())
    return make_share(f"recovered_at_precision_{precision:g}", value, links)
