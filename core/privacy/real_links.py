"""Probability that a released link is real, by the rule that made the release.

One function per rule under which false links are random pairs; `RULES` names the defenses that
follow it. They read the settings and the size of the release, and nothing of the graph.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np
from scipy.special import expit, logit

from core.privacy.mechanisms import compute_flip_probability, compute_laplace_tail
from core.privacy.top_pairs import compute_laplace_sum_tail, find_threshold
from core.release import Release

Estimate = tuple[float, np.ndarray | float]
"""Density of the defended graph, and probability that each released link is real: (m,), or one."""

Rule = Callable[[Release, np.ndarray], Estimate]
"""Given the release and the positive weights (m,) of its links."""

BOUNDS = (0.002, 0.998)
"""Bounds on the probability that a link is real."""


def has_known_noise(release: Release) -> bool:
    """Whether the share of real links among the released ones follows from the rule."""
    if release.defense in SELECTIONS and release.graph.weights is not None:
        return False
    strength = release.guarantee.epsilon or release.config.get("strength")
    return release.defense in RULES and bool(strength)


def find_flip(release: Release) -> tuple[float, int] | None:
    """Probability that a report of a pair is flipped, and reports a pair, where a pair's expected
    weight is linear in its link; None elsewhere."""
    reports = REPORTS.get(release.defense)
    if reports is None or not release.guarantee.epsilon:
        return None
    return compute_flip_probability(_compute_budget(release)), reports


def estimate_link_probabilities(release: Release) -> tuple[float, np.ndarray, np.ndarray]:
    """Density of the defended graph, (m, 2) released links, (m,) probabilities that each is real,
    of a release with known noise."""
    links, weights = release.graph.present_edges, release.graph.link_weights
    density, probabilities = RULES[release.defense](release, weights[weights > 0])
    return density, links, np.clip(np.broadcast_to(probabilities, len(links)), *BOUNDS)


def _compute_budget(release: Release) -> float:
    """ε of one report."""
    return (release.guarantee.epsilon or 0.0) * (1.0 - (release.config.get("delta") or 0.0))


def _compute_density(release: Release, num_links: float) -> float:
    pairs = max(release.graph.num_candidates, 1)
    return float(np.clip(num_links / pairs, 0.1 / pairs, 0.9))


def _judge_flips(release: Release, weights: np.ndarray) -> Estimate:
    """Bayes' rule on the flip probability q: a link is reported with probability 1 − q if it is
    real, else q. If both ends report, a weight is the share of ends that reported the link."""
    budget, reports = _compute_budget(release), REPORTS[release.defense]
    flip, pairs = compute_flip_probability(budget), max(release.graph.num_candidates, 1)
    density = _compute_density(release, (weights.sum() - flip * pairs) / (1.0 - 2.0 * flip))
    if reports == 1:
        return density, expit(logit(density) + budget)
    return density, expit(logit(density) + 2.0 * budget * (2.0 * weights - 1.0))


def _judge_thinned(release: Release, weights: np.ndarray) -> Estimate:
    """The same for reports that are dropped to preserve the density."""
    density, budget = _compute_density(release, weights.sum()), _compute_budget(release)
    flip = compute_flip_probability(budget)
    share = density / (density * (1.0 - 2.0 * flip) + flip)  # of reported links
    silence = math.log((1.0 - (1.0 - flip) * share) / (1.0 - flip * share))
    return density, expit(logit(density) + 2.0 * (budget * weights + silence * (1.0 - weights)))


def _read_posteriors(release: Release, weights: np.ndarray) -> Estimate:
    """Published as weights, or the links of posterior above ½."""
    density = _compute_density(release, weights.sum())
    return density, 0.5 if release.graph.weights is None else weights


def _judge_top_pairs(
    release: Release, weights: np.ndarray, tail: Callable[[float, float], float], gap: float
) -> Estimate:
    """Of as many links as released, those whose value passes the threshold that so many pairs
    pass: links have values higher by `gap`, with noise of this tail on every pair."""
    num_links, num_pairs = len(weights), release.graph.num_candidates
    scale = 1.0 / ((release.guarantee.epsilon or 0.0) * (1.0 - release.config["count_share"]))
    threshold = find_threshold(num_links, num_pairs, scale, tail, gap)
    return _compute_density(release, num_links), tail(threshold - gap, scale)


def _judge_replaced(release: Release, weights: np.ndarray) -> Estimate:
    """A known share of the links was replaced by random pairs."""
    return _compute_density(release, len(weights)), 1.0 - release.config["strength"]


REPORTS = {"edge_rand": 1, "sym_rr": 1, "rabv": 1, "randomized_response": 2}
"""Reports of a pair, by defense that flips each."""

SELECTIONS: dict[str, Rule] = {
    "lap_graph": partial(_judge_top_pairs, tail=compute_laplace_tail, gap=1.0),
    "tmf": partial(_judge_top_pairs, tail=compute_laplace_tail, gap=1.0),
    "l_dpgcn": partial(_judge_top_pairs, tail=compute_laplace_sum_tail, gap=2.0),
    "random_rewiring": _judge_replaced,
}
"""Of those that release about as many links as there are, where these have no weights: merged
releases, and the links of a weighted graph, have."""

RULES: dict[str, Rule] = {
    **dict.fromkeys(REPORTS, _judge_flips),
    "dprr": _judge_thinned,
    "blink": _read_posteriors,
    **SELECTIONS,
}
