"""How much the values of a published node speak for a known person."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from core.algorithms.matching import NO_MATCH
from core.attacks.identity.value_bags import Bags, Ends, count_met_values

MAX_PAIRS = 20_000_000
"""Pairs of people and nodes that are compared by plain values, and as many again by values at
people found already. Values that most of them have in common are left out first: they tell least
and cost most."""

MAX_FOUND = 0.99
"""Largest assumed share of the released values that an attacker knows: one unknown value of a
node must not rule it out."""


@dataclass(frozen=True)
class Evidence:
    """Logarithms of how much likelier the values of a published node are if it is a known person
    than if it is anybody: those of `ours` @ `theirs`.T, plus `lacking` of the node.

    ours     (k, v) which person has which value
    theirs   (n, v) what each value of a node tells if the person has it too
    lacking  (n,) if the person has none of the node's values
    is_cut   whether common values were left out
    """

    ours: sparse.csr_array
    theirs: sparse.csr_array
    lacking: np.ndarray
    is_cut: bool


def weigh_values(ends: Sequence[Ends], bags: Bags, share: float, image: np.ndarray) -> Evidence:
    """Evidence of all values, and of those at people found already.

    A value v that both have tells log(a / q_v), one that the person lacks log(1 − a). Of a link of
    the node to somebody found, s, whose v the person has, (v, s) tells log(b q_v / q_vs) more
    if the person has that too, else log(1 − b). q: share of people who have it; a, b: shares of
    the published values that are known.

    share  a
    image  (k,) published node of each known person, or NO_MATCH
    """
    size, share = bags.ours.shape[0], min(share, MAX_FOUND)
    kept = _list_telling(bags)
    plain, place = bags.select(kept), np.full(len(bags.names), NO_MATCH)
    place[kept] = np.arange(len(kept))
    holders = plain.ours.sum(axis=0)
    met, parents = count_met_values(ends, bags, image)
    share_met = _estimate_share(met, image, share)
    kept_met = _list_telling(met)
    met, parents = met.select(kept_met), place[parents[kept_met]]
    is_nested = parents != NO_MATCH
    # Where the plain value is left out, everybody is taken to have it.
    above = np.full(len(parents), float(size))
    above[is_nested] = holders[parents[is_nested]]
    lack, lack_met = np.log1p(-share), np.log1p(-share_met)
    gains = np.log(share * size / holders) - lack
    more = np.log(share_met * above / met.ours.sum(axis=0).clip(min=1.0)) - lack_met
    nested = met.theirs[:, is_nested].tocoo()
    rows, columns = nested.coords
    missed = sparse.csr_array(
        (np.full(len(rows), lack_met), (rows, parents[is_nested][columns])), plain.theirs.shape
    )
    told = [plain.theirs.multiply(gains[None, :]) + missed, met.theirs.multiply(more[None, :])]
    left_out = bags.theirs.sum(axis=1) - plain.theirs.sum(axis=1)
    counts = np.bincount(ends[1].nodes, minlength=bags.theirs.shape[0]) - left_out
    lacking = lack * counts + lack_met * met.theirs[:, ~is_nested].sum(axis=1)
    return Evidence(
        sparse.hstack([plain.ours, met.ours], format="csr"),
        sparse.hstack(told, format="csr"),
        lacking,
        len(kept) < len(bags.names),
    )


def _estimate_share(met: Bags, image: np.ndarray, share: float) -> float:
    """Share of the published values between people found that are known, all values together
    counting as one more of them."""
    found = np.flatnonzero(image != NO_MATCH)
    here, there = met.ours[found], met.theirs[image[found]]
    known = float(here.multiply(there).sum())
    return min((known + share) / (float(there.sum()) + 1.0), MAX_FOUND)


def _list_telling(bags: Bags) -> np.ndarray:
    """(c,) places, ascending, of the rarest values, as many as `MAX_PAIRS` pairs of nodes have in
    common."""
    pairs = bags.ours.sum(axis=0) * bags.theirs.sum(axis=0)
    order = np.argsort(pairs, kind="stable")
    return np.asarray(np.sort(order[np.cumsum(pairs[order]) <= MAX_PAIRS]))
