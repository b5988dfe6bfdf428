"""Value join: people are found by the values of their links, such as amounts or times."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numba
import numpy as np
from scipy import sparse

from core.algorithms.matching import NO_MATCH, NUM_CANDIDATES
from core.attacks.identity.percolation import place_seeds, start_from_seeds
from core.attacks.identity.value_alignment import align_values
from core.attacks.identity.value_bags import count_values, list_ends
from core.attacks.identity.value_equality import put_equal_first
from core.attacks.identity.value_evidence import Evidence, weigh_values
from core.context import Context
from core.data.link_release import list_link_columns
from core.methods import IdentityAttack, MethodInfo
from core.release import Release
from core.results import Matches
from core.threats import IdentityThreat

CONFIDENT = 0.5
"""Confidence above which somebody counts as found in the next round: more likely than not. Chosen,
as the number of rounds, on random graphs with 3 and 12 values."""

MAX_ROUNDS = 8

MIN_CHANGE = 0.001
"""Share of the people who must be in doubt, and whose match must change, for another round."""

MAX_EXPONENT = 700.0
"""Logarithm of the largest odds that are kept."""

_TILE = 1 << 20
"""Pairs scored together."""


class ValueJoin(IdentityAttack):
    """Joins both graphs on all values of a node, each counted as often as it occurs there: the
    weights of its links, and every column of links that both graphs have, a value an event.
    A direction is that of an event as its node sees it. Known values are first made as coarse as
    the published ones, and moved as far.

    The evidence for person u behind node i is the log of how much likelier i's values are if i is
    u than if i is anybody: log(a / q_v) for each value v that both have, and log(1 − a) for each
    value of i that u lacks. q_v is the share of people who have v; a is the share of the released
    values that occur in the known graph at all. Values at people found already count beside it
    (`weigh_values`): whoever has as many allies as others has them among other people. The
    confidence is the posterior over all nodes, one of which is u. Where common values had to be
    left out, nodes with all values of u and no others come first.

    Whoever is more likely than not found in one round is found already in the next. People whom
    the attacker knows stay what they are; all others are joined anew in each round.
    """

    info: ClassVar[MethodInfo] = MethodInfo(
        key="value_join",
        title="Value join",
        summary="Knows the values of people's links, such as amounts or times, and joins on them "
        "and on who is at the other end.",
        source="Fellegi and Sunter, A theory for record linkage, JASA 1969, §2; de Montjoye et "
        "al., Unique in the crowd, Scientific Reports 2013",
        group="second graph",
        version=4,
    )
    links_networks: ClassVar[bool] = True
    finds_by: ClassVar[Literal["links", "columns", "values"]] = "values"
    rehearses: ClassVar[bool] = False

    def supports(self, release: Release, threat: IdentityThreat) -> str | None:
        published = list_link_columns(release.graph)
        if not published:
            return "the links of the release have no values"
        if not set(published) & set(list_link_columns(threat.known)):
            return "no values of people's links are known; name a second graph that has them"
        return None

    def find(self, release: Release, threat: IdentityThreat, context: Context) -> Matches:
        published = release.graph
        known = align_values(threat.known, published)
        ends, sizes = list_ends(known, published), (known.num_nodes, published.num_nodes)
        bags, share = count_values(ends, sizes)
        rng = context.rng("ties")
        image, is_seed = start_from_seeds(threat.seeds, known.num_nodes)
        taken = threat.seeds[:, 1]
        for number in range(MAX_ROUNDS):
            context.progress.update(number, MAX_ROUNDS, "joining")
            evidence = weigh_values(ends, bags, share, image)
            found, strength = _rank(evidence, taken, rng, context)
            if evidence.is_cut:
                found, strength = put_equal_first(found, strength, ends, bags, taken, rng)
            grown = np.where(is_seed, image, _accept(found, strength))
            is_compared = ~is_seed & (found.candidates[:, 0] != NO_MATCH)
            doubts = (1.0 - found.confidence)[is_compared].sum()
            if min(doubts, (grown != image).sum()) <= MIN_CHANGE * known.num_nodes:
                break
            image = grown
        return place_seeds(found, *threat.seeds.T)


def _rank(
    evidence: Evidence, taken: np.ndarray, rng: np.random.Generator, context: Context
) -> tuple[Matches, np.ndarray]:
    """Matches by evidence, ties in random order, and (k,) the evidence of each first one.

    taken  published nodes that are nobody else's
    """
    ours, weighted = evidence.ours, evidence.theirs.T.tocsr()
    size, lacking = ours.shape[0], evidence.lacking.copy()
    lacking[taken] = -np.inf
    candidates = np.full((size, NUM_CANDIDATES), NO_MATCH)
    strength = np.full(size, -np.inf)
    named, total = np.zeros(size), np.zeros(size)
    for start, stop in _split_rows(evidence):
        context.progress.check()
        scores = sparse.csr_array(ours[start:stop] @ weighted)
        told, draws = scores.data + lacking[scores.indices], rng.random(scores.nnz)
        tile = (array[start:stop] for array in (candidates, strength, total, named))
        _rank_tile(scores.indptr, scores.indices, told, draws, lacking, *tile)
    # Of the other nodes, each in proportion to how likely its values are for somebody else.
    with np.errstate(divide="ignore"):  # nobody else is left
        rest = np.log((np.exp(lacking).sum() - named).clip(min=0.0)) - strength
    confidence = 1.0 / (total + np.exp(np.minimum(rest, MAX_EXPONENT)))
    confidence[candidates[:, 0] == NO_MATCH] = 0.0
    return Matches(candidates, confidence), strength


@numba.njit(nogil=True, cache=True)
def _rank_tile(
    indptr: np.ndarray,
    nodes: np.ndarray,
    told: np.ndarray,
    draws: np.ndarray,
    lacking: np.ndarray,
    candidates: np.ndarray,
    strength: np.ndarray,
    total: np.ndarray,
    named: np.ndarray,
) -> None:
    """Best nodes of each row of a sparse matrix with evidence `told`, ties by `draws`.

    candidates (k, c) receives the best nodes, NO_MATCH where there are fewer
    strength   (k,) receives the evidence of the first
    total      (k,) receives the odds of all nodes of the row against the first
    named      (k,) receives the odds of somebody else behind the nodes of the row
    """
    num_candidates = candidates.shape[1]
    best = np.empty(num_candidates, np.int64)
    for row in range(len(indptr) - 1):
        count = 0
        for e in range(indptr[row], indptr[row + 1]):
            if told[e] == -np.inf:
                continue
            place = count
            while place > 0:
                other = best[place - 1]
                if told[e] < told[other] or (told[e] == told[other] and draws[e] < draws[other]):
                    break
                if place < num_candidates:
                    best[place] = other
                place -= 1
            if place < num_candidates:
                best[place] = e
                count = min(count + 1, num_candidates)
        if count == 0:
            continue
        strength[row] = told[best[0]]
        for place in range(count):
            candidates[row, place] = nodes[best[place]]
        for e in range(indptr[row], indptr[row + 1]):
            total[row] += np.exp(told[e] - strength[row])
            named[row] += np.exp(lacking[nodes[e]])


def _accept(found: Matches, strength: np.ndarray) -> np.ndarray:
    """(k,) nodes of the people who are surely found, NO_MATCH for others: of several people with
    one first candidate, the one with the most evidence, and none if two have it."""
    first = found.candidates[:, 0]
    order = np.lexsort((-strength, first))
    order = order[first[order] != NO_MATCH]
    nodes, told = first[order], strength[order]
    is_first = np.diff(nodes, prepend=NO_MATCH) != 0
    is_tied = np.zeros(len(nodes), bool)
    is_tied[:-1] = (nodes[1:] == nodes[:-1]) & (told[1:] == told[:-1])
    image = np.full(len(first), NO_MATCH)
    winners = order[is_first & ~is_tied]
    winners = winners[found.confidence[winners] > CONFIDENT]
    image[winners] = first[winners]
    return image


def _split_rows(evidence: Evidence) -> list[tuple[int, int]]:
    """Runs of rows of about `_TILE` pairs each."""
    ours, theirs = evidence.ours, evidence.theirs
    costs: Any = ours @ np.bincount(theirs.indices, minlength=theirs.shape[1]).astype(float)
    marks = (np.cumsum(costs) // _TILE).astype(np.int64)
    starts = np.flatnonzero(np.diff(marks, prepend=-1))
    return list(zip(starts.tolist(), [*starts[1:].tolist(), len(costs)], strict=True))
