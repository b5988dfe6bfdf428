"""Precision at k: the share of withheld links among the pairs that an attacker ranks first.

Over all pairs that the release does not link, except links held back to test utility, which are
neither hits nor errors. All withheld links are scored; of the other pairs those at distance two,
and a uniform sample of the rest.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.algorithms.pairs import (
    count_candidates,
    count_shared_neighbors,
    find_near_pairs,
    sample_candidates,
)
from core.arrays import is_among, pair_codes
from core.graph import Graph
from core.measures.intervals import make_share
from core.results import Measurement
from core.threats import LinkThreat

TOP = (50, 100, 500)
"""Numbers k of ranked pairs at which precision is reported."""

MAX_PAIRS = 2_000_000
"""Pairs scored by an instant attack; a tenth or a hundredth by slower ones."""

NUM_OTHERS, NUM_LAST = 20_000, 200
"""Sampled pairs without a common neighbour; fewer if all of them rank equally."""


@dataclass(frozen=True, eq=False)
class Candidates:
    """All pairs that an attacker could name, or a weighted sample.

    pairs    (k, 2) node numbers
    weights  (k,) number of pairs that each represents
    truth    (k,) bool: withheld links
    total    number of candidate pairs
    reason   why there are none
    """

    pairs: np.ndarray
    weights: np.ndarray
    truth: np.ndarray
    total: int
    reason: str = ""

    @staticmethod
    def none(reason: str) -> Candidates:
        """No candidates, for a reason that stands in place of the figures."""
        empty = np.zeros(0)
        return Candidates(np.empty((0, 2), np.int64), empty, empty.astype(bool), 0, reason)


def draw_candidates(
    graph: Graph,
    threat: LinkThreat,
    limit: int,
    is_local: bool,
    rng: np.random.Generator,
    test_links: np.ndarray | None = None,
) -> Candidates:
    """Pairs that `graph` does not link: all up to `limit`, else near ones with higher density.

    is_local    the attack ranks all pairs without a common neighbour last and equally, so that few
    represent all of them
    test_links  (t, 2) links held back to test utility, excluded
    """
    n = graph.num_nodes
    hidden, held_back = (
        pairs[~graph.contains_pairs(pairs)]
        for pairs in (
            threat.hidden,
            np.empty((0, 2), np.int64) if test_links is None else test_links,
        )
    )
    available = count_candidates(graph)
    total = available - len(held_back)
    excluded = np.sort(pair_codes(np.concatenate([hidden, held_back]), n))

    def drop_excluded(pairs: np.ndarray) -> np.ndarray:
        return np.asarray(pairs[~is_among(pair_codes(pairs, n), excluded)])

    if available <= limit and not is_local:
        return _join(
            hidden, [(drop_excluded(sample_candidates(graph, available, rng)), 1.0)], total
        )
    near, weight = find_near_pairs(graph, limit, rng)
    near = drop_excluded(near[graph.may_link(near)])
    num_near = round(weight * len(near))
    if len(near) > limit:
        near, weight = near[rng.choice(len(near), limit, replace=False)], num_near / limit
    num_remaining = max(total - len(hidden) - num_near, 0)
    num_sampled = NUM_LAST if is_local else NUM_OTHERS
    far = drop_excluded(sample_candidates(graph, min(num_sampled, limit, available), rng))
    far = far[count_shared_neighbors(graph, far) == 0]
    return _join(hidden, [(near, weight), (far, max(num_remaining / max(len(far), 1), 1.0))], total)


def measure_top_pairs(scores: np.ndarray, candidates: Candidates) -> list[Measurement]:
    """precision_at_50, _100, _500: share of withheld links among the pairs of highest score.

    scores (k,) of `candidates.pairs`. Ties are broken at random, in expectation. If pairs represent
    several, the variance includes that of the sample.
    """
    order = np.argsort(-scores, kind="stable")
    ordered, weights = scores[order], candidates.weights[order]
    hits = weights * candidates.truth[order]
    groups = np.cumsum(np.concatenate([[0], np.diff(ordered) != 0])) if len(ordered) else order
    size = np.bincount(groups, weights) if len(ordered) else np.zeros(0)
    mean = np.bincount(groups, hits) / size if len(ordered) else size
    num_above = np.cumsum(size) - size
    squares = np.bincount(groups, np.where(weights > 1, weights**2, 0.0)) if len(ordered) else size
    result = []
    for count in TOP:
        metric = f"precision_at_{count}"
        if candidates.total < count:
            few = f"the release leaves only {candidates.total} pairs unlinked"
            reason = candidates.reason or few
            result.append(Measurement(metric, None, n=candidates.total, reason=reason))
            continue
        num_taken = np.clip(count - num_above, 0.0, size)
        value = float((num_taken * mean).sum() / count)
        sampling_variance = float((squares * (num_taken > 0)).sum()) * value**2 / count**2
        result.append(make_share(metric, value, count, more=sampling_variance))
    return result


def choose_limit(cost: str) -> int:
    """Number of pairs ranked by an attack of that cost."""
    return {"instant": MAX_PAIRS, "seconds": MAX_PAIRS // 10}.get(cost, MAX_PAIRS // 100)


def _join(hidden: np.ndarray, parts: list[tuple[np.ndarray, float]], total: int) -> Candidates:
    pairs = np.concatenate([hidden, *(pairs for pairs, _ in parts)])
    weights = np.concatenate(
        [np.ones(len(hidden)), *(np.full(len(pairs), weight) for pairs, weight in parts)]
    )
    return Candidates(pairs, weights, np.arange(len(pairs)) < len(hidden), total)
