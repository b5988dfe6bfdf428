"""How often the pairs that an attacker would name first are withheld links.

Over all pairs that the release does not link. Withheld links are all scored; of the others those
at distance two are, and a uniform sample stands for the rest.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.algorithms.pairs import find_near_pairs, sample_non_links
from core.graph import Graph, is_among, pair_codes
from core.measures.intervals import share_variance
from core.results import Measurement
from core.threats import LinkThreat

TOP = (50, 100, 500)
"""Numbers of named pairs at which precision is told."""

MAX_PAIRS = 2_000_000
"""Pairs scored where the attack takes no time; a tenth, or a hundredth, where it does."""

NUM_OTHERS = 20_000


@dataclass(frozen=True, eq=False)
class Candidates:
    """Pairs that could be named: (k, 2) `pairs`, `weights` (k,) what each stands for, `truth`."""

    pairs: np.ndarray
    weights: np.ndarray
    truth: np.ndarray
    total: int


def draw_candidates(
    graph: Graph, threat: LinkThreat, limit: int, is_local: bool, rng: np.random.Generator
) -> Candidates:
    """The pairs that `graph` does not link: all up to `limit`, else nearer ones more densely.

    is_local: the attack ranks pairs without a common neighbour last and alike, so that nothing
    need be drawn of them.
    """
    n, total = graph.num_nodes, graph.num_pairs - graph.num_edges
    hidden = threat.hidden[~graph.contains_pairs(threat.hidden)]
    codes = np.sort(pair_codes(hidden, n))
    if total <= limit and not is_local:
        others = sample_non_links(graph, total, rng)
        others = others[~is_among(pair_codes(others, n), codes)]
        return _join(hidden, [(others, 1.0)], total)
    near, weight = find_near_pairs(graph, limit, rng)
    found = round(weight * len(near))
    if len(near) > limit:
        near, weight = near[rng.choice(len(near), limit, replace=False)], found / limit
    near = near[~is_among(pair_codes(near, n), codes)]
    rest = max(total - len(hidden) - found, 0)
    far = np.empty((0, 2), np.int64)
    if not is_local:
        far = sample_non_links(graph, min(NUM_OTHERS, limit, total), rng)
        apart = _count_shared(graph, far) == 0
        far = far[apart & ~is_among(pair_codes(far, n), codes)]
    return _join(hidden, [(near, weight), (far, max(rest / max(len(far), 1), 1.0))], total)


def measure_top_pairs(scores: np.ndarray, candidates: Candidates) -> list[Measurement]:
    """precision_at_50, _100, _500: share of withheld links among the pairs named first.

    Pairs of one score are named by lot. Where a pair stands for several, the variance holds what
    the sample of the others may have missed.
    """
    order = np.argsort(-scores, kind="stable")
    ordered, weights = scores[order], candidates.weights[order]
    hits = weights * candidates.truth[order]
    groups = np.cumsum(np.concatenate([[0], np.diff(ordered) != 0])) if len(ordered) else order
    size = np.bincount(groups, weights) if len(ordered) else np.zeros(0)
    mean = np.bincount(groups, hits) / size if len(ordered) else size
    before = np.cumsum(size) - size
    squares = np.bincount(groups, np.where(weights > 1, weights**2, 0.0)) if len(ordered) else size
    result = []
    for count in TOP:
        metric = f"precision_at_{count}"
        if candidates.total < count:
            reason = f"the release leaves only {candidates.total} pairs unlinked"
            result.append(Measurement(metric, None, n=candidates.total, reason=reason))
            continue
        taken = np.clip(count - before, 0.0, size)
        value = float((taken * mean).sum() / count)
        missed = float((squares * (taken > 0)).sum()) * value**2 / count**2
        variance = share_variance(value * count, count) + missed
        result.append(Measurement(metric, value, min(variance, 0.25), count))
    return result


def choose_limit(cost: str) -> int:
    """Pairs that an attack of that cost ranks."""
    return {"instant": MAX_PAIRS, "seconds": MAX_PAIRS // 10}.get(cost, MAX_PAIRS // 100)


def _join(hidden: np.ndarray, parts: list[tuple[np.ndarray, float]], total: int) -> Candidates:
    pairs = np.concatenate([hidden, *(pairs for pairs, _ in parts)])
    weights = np.concatenate(
        [np.ones(len(hidden)), *(np.full(len(pairs), weight) for pairs, weight in parts)]
    )
    return Candidates(pairs, weights, np.arange(len(pairs)) < len(hidden), total)


def _count_shared(graph: Graph, pairs: np.ndarray) -> np.ndarray:
    """(k,) common neighbours of each pair."""
    links = graph.adjacency != 0
    shared = links[pairs[:, 0]].multiply(links[pairs[:, 1]])
    return np.asarray(shared.sum(axis=1)).ravel()
