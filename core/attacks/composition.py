"""Attackers who know more, whatever their attack: several releases of a graph at once, or other
private columns, known or inferred, as evidence for the one they are after.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy.special import softmax

from core.attacks.link.released_links import find_evidence
from core.context import Context
from core.graph import Graph, pair_codes
from core.methods import AttributeAttack, Defense
from core.release import Guarantee, Release
from core.results import ClassProbabilities
from core.threats import AttributeThreat, Threats


def share_held_releases(
    defense: Defense, first: Release, threats: Threats, count: int, context: Context
) -> Release:
    """What one holds who gets `count` releases of the graph: the first one and more of its kind.

    Each has noise of its own; all have the same promise. Made once for all attacks.
    """
    held: Release = context.share(
        ("held", first.graph.content_hash, threats.visible.content_hash, count),
        lambda shared: merge_releases([first, *defense.publish_more(threats, count - 1, shared)]),
    )
    return held


def share_releases_of(
    others: list[Defense], first: Release, threats: Threats, context: Context
) -> Release:
    """What one holds who gets a release, and one of each of some other defenses of the graph.

    Those that cannot run on it are left out.
    """
    able = [other for other in others if other.supports(threats.visible, threats) is None]
    names = tuple((other.info.key, json.dumps(other.config, sort_keys=True)) for other in able)

    def make(shared: Context) -> Release:
        made = [first]
        for number, other in enumerate(able):
            context.progress.check()
            made.append(other.publish(threats.visible, threats, shared.child("other", number)))
        return join_releases(made)

    key = ("held_others", first.graph.content_hash, threats.visible.content_hash, *names)
    return context.share(key, make)


def join_releases(releases: list[Release]) -> Release:
    """Releases of different defenses as one, whose links are weighted by their joint evidence.

    A link's weight is the share of the evidence that speaks for it: each release counts by the
    ε of what it promises, so that ε̄ · k · (2w − 1) is the sum of the log likelihood ratios,
    with ε̄ the mean. Every link of any of them is there.
    """
    evidence = np.array([find_evidence(release) for release in releases])
    merged = merge_releases(releases, evidence / evidence.sum())
    if not any(release.guarantee.is_private for release in releases):
        return merged
    mean = Guarantee("edge", epsilon=float(evidence.mean()), note="mean of several releases")
    return replace(merged, guarantee=mean)


def merge_releases(releases: list[Release], counts: np.ndarray | None = None) -> Release:
    """One release whose links weigh the share of the releases that have them.

    Agreement, averaging and union at once: a link of all of them weighs 1, every link of any of
    them is there. Weighted links add their weights. The nodes, defense and promise of one
    release are those of the first; `facts["composed_releases"]` is their number.
    counts (k,): the share of each, where they do not count alike.
    """
    first = releases[0]
    graphs = [release.graph for release in releases]
    n = first.graph.num_nodes
    codes = np.concatenate([pair_codes(graph.edges, n) for graph in graphs])
    each = [_find_weights(graph) for graph in graphs]
    if counts is not None:
        each = [weight * count for weight, count in zip(each, counts, strict=True)]
    weights = np.concatenate(each)
    unique, places = np.unique(codes, return_inverse=True)
    total = 1 if counts is not None else len(releases)
    shares = np.bincount(places, weights, minlength=len(unique)) / total
    edges = np.stack([unique // n, unique % n], axis=1)
    graph = replace(first.graph, edges=edges, weights=shares)
    facts = {**first.facts, "composed_releases": float(len(releases))}
    return replace(first, graph=graph, facts=facts, link_scores=None)


def _find_weights(graph: Graph) -> np.ndarray:
    return np.ones(graph.num_edges) if graph.weights is None else graph.weights.astype(float)


FLOOR = 1e-6
"""Probabilities below this count as this in logarithms."""

STRENGTH = 10.0
"""Pseudo-count of people, for the prior that the two columns are independent."""


def infer_jointly(
    attack: AttributeAttack,
    release: Release,
    threat: AttributeThreat,
    others: Sequence[AttributeThreat],
    context: Context,
) -> ClassProbabilities:
    """p(b) ∝ p_attack(b) · Π_A Σ_a p(a) · P(a, b) / (P(a) P(b)) for the classes b of the column.

    others  further private columns: their known values count as they are, the rest is inferred
            by the same attack, where it can run. Naive Bayes: given b, the evidence of the links
            and that of column A count as independent.
    """
    found = attack.infer(release, threat, context)
    logs = np.log(np.maximum(found.probabilities, FLOOR))
    for other in others:
        guessed = _guess(attack, release, other, context.child("other", other.attribute.name))
        if guessed is not None:
            lift = compute_lift(other, threat)
            logs += np.log(np.maximum(guessed @ lift, FLOOR))
    chances = softmax(logs, axis=1)
    names = ", ".join(other.attribute.name for other in others)
    return ClassProbabilities(chances, {**(found.facts or {}), "joint_with": names})


def compute_lift(first: AttributeThreat, second: AttributeThreat) -> np.ndarray:
    """(A, B) P(a, b) / (P(a) P(b)) of two columns among the people of whom both are known, drawn
    towards 1 as if `STRENGTH` people had shown them to be independent."""
    both = first.known & second.known
    counts = np.zeros((first.num_classes, second.num_classes))
    np.add.at(counts, (first.attribute.codes[both], second.attribute.codes[both]), 1.0)
    expected = np.outer(first.observed_shares, second.observed_shares)
    joint = counts + STRENGTH * expected
    joint /= joint.sum()
    return np.asarray(joint / np.outer(joint.sum(axis=1), joint.sum(axis=0)))


def _guess(
    attack: AttributeAttack, release: Release, other: AttributeThreat, context: Context
) -> np.ndarray | None:
    """(n, A) one-hot where the value is known, the attack's prediction elsewhere; None where it
    cannot run. It is not run on a column that is known of everybody."""
    if not other.hidden.any():
        guessed = np.tile(other.observed_shares, (len(other.known), 1))
    elif attack.supports(release, other) is None:
        guessed = attack.infer(release, other, context).probabilities.copy()
    else:
        return None
    guessed[other.known] = np.eye(other.num_classes)[other.observed[other.known]]
    return guessed
