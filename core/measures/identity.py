"""Success and confidence of re-identification."""

from __future__ import annotations

import numpy as np

from core.measures.intervals import measure_share
from core.measures.node_risk import NodeRisk, calibrate_across_folds
from core.results import AnonymitySets, Matches, Measurement
from core.threats import IdentityThreat

SURE = 0.9
"""Confidence above which an attacker would act."""

SMALL = 5
"""Size of anonymity sets usually required for publication."""


def measure_anonymity(
    sets: AnonymitySets, threat: IdentityThreat, by_links: bool = True
) -> list[Measurement]:
    """share_unique, share_below_5, expected_found and k_anonymity, over the nodes at stake.

    by_links: whether people are found by their links, so that those without any are not at stake;
    columns find them as well.

    k_anonymity is the size of the smallest set that contains its node.

    A node whose changed neighbourhood no longer matches the background knowledge is not found,
    whatever the size of the set. Exact counts of the given graph: no sampling variance.
    """
    at_stake = _is_at_stake(threat, by_links)
    sizes, contains = sets.sizes[at_stake], sets.contains[at_stake]
    count = len(sizes)
    found = compute_chances(sets)[at_stake]
    shares = {
        "share_unique": contains & (sizes == 1),
        "share_below_5": contains & (sizes < SMALL),
        "expected_found": found,
    }
    measured = [
        Measurement(name, float(np.mean(values)) if count else None, 0.0, count, _nobody(count))
        for name, values in shares.items()
    ]
    if not contains.any():
        return [*measured, Measurement("k_anonymity", None, 0.0, count, "nobody is as known")]
    smallest = float(sizes[contains].min())
    return [*measured, Measurement("k_anonymity", smallest, 0.0, count)]


def measure_matches(matches: Matches, threat: IdentityThreat) -> list[Measurement]:
    """hits_at_1, hits_at_10, mrr, precision_at_0.9_confidence and the share matched at it.

    expected_found equals hits_at_1, the name shared by all re-identification attacks. Over the
    nodes of the auxiliary graph that are in the release, have links in both and are no seeds. The
    reciprocal rank of a node that is not among the ten candidates is 0.
    """
    wanted = threat.wanted
    count = int(wanted.sum())
    is_right = (matches.candidates == threat.people[:, None])[wanted]
    first = is_right[:, 0] if count else np.zeros(0, bool)
    ranks = is_right.argmax(axis=1) + 1.0
    sure = matches.confidence[wanted] >= SURE
    rows = {
        "expected_found": first,
        "hits_at_1": first,
        "hits_at_10": is_right.any(axis=1),
        "mrr": np.where(is_right.any(axis=1), 1.0 / ranks, 0.0),
        "named_at_0.9_confidence": sure,
    }
    measured = [measure_share(name, values, _nobody(count)) for name, values in rows.items()]
    reason = "nobody is named with a confidence of 0.9"
    return [*measured, measure_share("precision_at_0.9_confidence", first[sure], reason)]


def compute_anonymity_risk(
    sets: AnonymitySets, threat: IdentityThreat, by_links: bool = True
) -> NodeRisk:
    """Per node at stake, as in `measure_anonymity`: one over the size of its anonymity set, 0 if
    the set lacks it; times the calibrated confidence of an attacker who knows that it may lack it.
    """
    nodes = np.flatnonzero(_is_at_stake(threat, by_links))
    base = np.full(len(nodes), 1.0 / len(sets.sizes))
    risk = compute_chances(sets)[nodes]
    if sets.confidence is not None:
        contains = sets.contains[nodes]
        risk = risk * calibrate_across_folds(sets.confidence[nodes], contains, nodes, False)
    return NodeRisk(nodes, risk, base)


def compute_match_risk(matches: Matches, threat: IdentityThreat, num_nodes: int) -> NodeRisk:
    """Per target: calibrated confidence if the first candidate is right, else 0."""
    wanted = np.flatnonzero(threat.wanted)
    people = threat.people[wanted]
    is_right = matches.candidates[wanted, 0] == people
    chance = calibrate_across_folds(matches.confidence[wanted], is_right, people, False)
    order = np.argsort(people)
    base = np.full(len(people), 1.0 / num_nodes)
    return NodeRisk(people[order], np.where(is_right, chance, 0.0)[order], base)


def compute_chances(sets: AnonymitySets) -> np.ndarray:
    """(n,) probability that a guess within the set is right."""
    return np.asarray(np.where(sets.contains, 1.0 / np.maximum(sets.sizes, 1), 0.0))


def _is_at_stake(threat: IdentityThreat, by_links: bool) -> np.ndarray:
    return np.asarray((threat.original.degrees > 0) | (not by_links))


def _nobody(count: int) -> str:
    return "" if count else "nobody has links to be found by"
