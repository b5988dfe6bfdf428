"""Attacks with further evidence: several releases of one graph, or other private columns, known or
inferred, for the prediction of one column.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy.special import softmax

from core.arrays import decode_pairs, pair_codes
from core.attacks.link.released_links import find_evidence
from core.context import Context
from core.methods import AttributeAttack, Defense
from core.release import Guarantee, Release
from core.results import ClassProbabilities
from core.threats import AttributeThreat, Threats


def share_held_releases(
    defense: Defense, first: Release, threats: Threats, count: int, context: Context
) -> Release:
    """`count` releases of the graph merged into one: the first and further ones of its defense.

    They have independent noise and the same guarantee. Computed once for all attacks.
    """
    held: Release = context.share(
        ("held", first.graph.content_hash, threats.visible.content_hash, count, *defense.work_key),
        lambda shared: merge_releases([first, *defense.publish_more(threats, count - 1, shared)]),
    )
    return held


def share_releases_of(
    others: list[Defense], first: Release, threats: Threats, context: Context
) -> Release:
    """A release joined with one release by each other defense that supports the graph."""
    applicable = [other for other in others if other.supports(threats.visible, threats) is None]
    names = tuple(other.work_key for other in applicable)

    def make(shared: Context) -> Release:
        releases = [first]
        for number, other in enumerate(applicable):
            context.progress.check()
            releases.append(other.publish(threats.visible, threats, shared.child("other", number)))
        return join_releases(releases)

    key = ("held_others", first.graph.content_hash, threats.visible.content_hash, *names)
    return context.share(key, make)


def join_releases(releases: list[Release]) -> Release:
    """Union of releases by different defenses, links weighted by their joint evidence.

    A link's weight w is the share of the k releases that have it, each weighted by the ε of its
    guarantee, so that ε̄ · k · (2w − 1), with the mean ε̄, is the sum of the log likelihood ratios.
    """
    evidence = np.array([find_evidence(release) for release in releases])
    merged = merge_releases(releases, evidence / evidence.sum())
    if not any(release.guarantee.is_private for release in releases):
        return merged
    mean = Guarantee("edge", epsilon=float(evidence.mean()), note="mean of several releases")
    return replace(merged, guarantee=mean)


def merge_releases(releases: list[Release], counts: np.ndarray | None = None) -> Release:
    """Union of releases; a link's weight is the share of the releases that have it.

    Weighted links add their weights. Nodes, defense and guarantee are those of the first release;
    `facts["composed_releases"]` is the number of releases.
    counts (k,): weight of each release, summing to 1; None: equal.
    """
    first = releases[0]
    graphs = [release.graph for release in releases]
    n = first.graph.num_nodes
    codes = np.concatenate([pair_codes(graph.edges, n) for graph in graphs])
    weights = np.concatenate([graph.link_weights for graph in graphs])
    if counts is not None:
        weights *= np.repeat(counts, [graph.num_edges for graph in graphs])
    unique, places = np.unique(codes, return_inverse=True)
    total = 1 if counts is not None else len(releases)
    shares = np.bincount(places, weights, minlength=len(unique)) / total
    edges = decode_pairs(unique, n)
    graph = replace(first.graph, edges=edges, weights=shares, link_table=None)
    facts = {**first.facts, "composed_releases": float(len(releases))}
    return replace(first, graph=graph, facts=facts, link_scores=None)


FLOOR = 1e-6
"""Probabilities below this count as this in logarithms."""

STRENGTH = 10.0
"""Pseudo-count of nodes for the prior that the two columns are independent."""


def infer_jointly(
    attack: AttributeAttack,
    release: Release,
    threat: AttributeThreat,
    others: Sequence[AttributeThreat],
    context: Context,
) -> ClassProbabilities:
    """p(b) ∝ p_attack(b) · Π_A Σ_a p(a) · P(a, b) / (P(a) P(b)) for the classes b of the column.

    others  further private columns A: known values are used as they are, unknown ones inferred by
            the same attack if it supports the column. Naive Bayes: given b, the evidence of the
            links and that of each column A are taken as independent.
    """
    result = attack.infer(release, threat, context)
    log_probabilities = np.log(np.maximum(result.probabilities, FLOOR))
    for other in others:
        predicted = _predict_other(
            attack, release, other, context.child("other", other.attribute.name)
        )
        if predicted is not None:
            lift = compute_lift(other, threat)
            log_probabilities += np.log(np.maximum(predicted @ lift, FLOOR))
    probabilities = softmax(log_probabilities, axis=1)
    names = ", ".join(other.attribute.name for other in others)
    return ClassProbabilities(probabilities, {**(result.facts or {}), "joint_with": names})


def compute_lift(first: AttributeThreat, second: AttributeThreat) -> np.ndarray:
    """(A, B) P(a, b) / (P(a) P(b)) of two columns on the nodes with both values known, shrunk
    towards independence by `STRENGTH` pseudo-counts."""
    known_in_both = first.known & second.known
    counts = np.zeros((first.num_classes, second.num_classes))
    np.add.at(
        counts, (first.attribute.codes[known_in_both], second.attribute.codes[known_in_both]), 1.0
    )
    expected = np.outer(first.observed_shares, second.observed_shares)
    joint = counts + STRENGTH * expected
    joint /= joint.sum()
    return np.asarray(joint / np.outer(joint.sum(axis=1), joint.sum(axis=0)))


def _predict_other(
    attack: AttributeAttack, release: Release, other: AttributeThreat, context: Context
) -> np.ndarray | None:
    """(n, A) one-hot known values, and the attack's predictions of the others; None if it does not
    support the column. The attack is not run on a column without unknown values."""
    if not other.hidden.any():
        predicted = np.tile(other.observed_shares, (len(other.known), 1))
    elif attack.supports(release, other) is None:
        predicted = attack.infer(release, other, context).probabilities.copy()
    else:
        return None
    predicted[other.known] = np.eye(other.num_classes)[other.observed[other.known]]
    return predicted
