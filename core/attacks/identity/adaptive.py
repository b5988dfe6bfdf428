"""Adaptive re-identification: the attacker knows the rule by which a release was made.

It rehearses the defense on the graph that it knows, learns there what becomes of a person, and
looks for that in the release instead of for the person's own links. It does so only if it finds
more people of the rehearsal that way than by the standard attack.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from scipy.special import logsumexp

from core.algorithms.neighbourhood_features import compute_neighbourhood_features
from core.attacks.identity.fingerprint import FingerprintAttack
from core.attacks.identity.matcher_training import simulate_release
from core.attacks.link.denoising import describe_obstacle, share_denoised
from core.attacks.shadow_release import make_shadow_release, share_shadow_release
from core.context import Context
from core.errors import UnsupportedError
from core.graph import Graph
from core.measures.identity import compute_chances
from core.methods import THIS_SIZE, Defense, IdentityAttack
from core.models.tuning import is_gain
from core.release import Release
from core.results import AnonymitySets, Matches
from core.threats import IdentityThreat, Threats

Facts = dict[str, float | str]

PLAIN: Facts = {"form": "plain: found no more people of a rehearsal"}
"""Recorded if the attacker falls back on the standard attack."""

RULE: Facts = {"form": "looked for what the rule makes of each neighbourhood"}
DENOISED: Facts = {"form": "matched the links that are most likely real"}
REHEARSED: Facts = {"form": "matched what the defense makes of the second graph"}

OVERLAP = 0.75
"""Share of the second graph's links that its simulated original has."""

MIN_AGREEMENT = 1.05
"""Ratio of links in common to that of the standard attack, below which no form is tried."""

TILE = 1 << 22
"""Pairs of people and neighbourhoods that are scored together."""

MAX_OTHERS = 2000
"""People by whom the chance of a neighbourhood is estimated."""

FREEDOM = 4.0
"""Degrees of freedom of a neighbourhood's density: a rule may treat a few people otherwise."""

MIN_VARIANCE = 1e-4
"""Variance of a square root of a count that the rule does not change."""


def find_adaptive(
    attack: IdentityAttack,
    defense: Defense,
    release: Release,
    threat: IdentityThreat,
    threats: Threats,
    context: Context,
) -> tuple[AnonymitySets | Matches, Facts]:
    """The attack's result by one who knows the defense, and which form it took.

    Raises UnsupportedError if the defense cannot run on what the attacker knows.
    """
    if isinstance(attack, FingerprintAttack):
        return _find_sets(attack, defense, release, threat, threats, context)
    return _find_matches(attack, defense, release, threat, threats, context)


def _find_sets(
    attack: FingerprintAttack,
    defense: Defense,
    release: Release,
    threat: IdentityThreat,
    threats: Threats,
    context: Context,
) -> tuple[AnonymitySets, Facts]:
    """Sets of the neighbourhood that each person most likely has after the rule.

    Fitted and compared with the standard attack across halves of the people of the rehearsal.
    """
    known = release.graph.with_edges(threat.original.edges, threat.original.weights)
    shadow = share_shadow_release(defense, Release(known), threats, context)
    before = shadow.before
    plain = attack.find(shadow.release, replace(threat, original=before), context.child("plain"))
    asked = attack.describe_known(before, context.child("own"))
    published = compute_neighbourhood_features(shadow.release.graph, attack.depth)
    half = context.rng("halves").permutation(len(asked)) % 2 == 0
    gains = -compute_chances(plain)
    for fold in (half, ~half):
        model = NeighbourhoodModel(asked[~fold], published[~fold])
        gains[fold] += compute_chances(model.find_sets(asked, published, context))[fold]
    if not is_gain(gains[before.degrees > 0]):
        return attack.find(release, threat, context), PLAIN
    model = NeighbourhoodModel(asked, published)
    known_counts = attack.describe_known(threat.original, context)
    released = compute_neighbourhood_features(release.graph, attack.depth)
    return model.find_sets(known_counts, released, context), RULE


class NeighbourhoodModel:
    """What a rule makes of a neighbourhood: the square roots of its counts, as Student's t.

    Fitted to the same people's neighbourhoods before and after, (k, c) log(1 + count) each. The
    mean is linear in the counts before and in their square roots.
    """

    def __init__(self, before: np.ndarray, after: np.ndarray) -> None:
        design, roots = _build_design(before), _take_roots(after)
        self._weights = np.linalg.lstsq(design, roots, rcond=1e-6)[0]
        residuals = roots - design @ self._weights
        covariance = residuals.T @ residuals / len(roots)
        covariance += MIN_VARIANCE * np.eye(len(covariance))
        self._whiten = np.linalg.inv(np.linalg.cholesky(covariance)).T

    def find_sets(
        self, known: np.ndarray, published: np.ndarray, context: Context
    ) -> AnonymitySets:
        """The nodes of one neighbourhood for each person: of the one whose density for the person,
        over that for everybody, is largest.

        known, published  (n, c) of the same people before and after
        """
        cells, own, sizes = np.unique(published, axis=0, return_inverse=True, return_counts=True)
        means = _build_design(known) @ self._weights @ self._whiten
        places = _take_roots(cells) @ self._whiten
        sample = context.rng("others").permutation(len(means))[:MAX_OTHERS]
        usual = [logsumexp(scores, axis=1) for scores in _score(places, means[sample])]
        total = np.concatenate(usual) + np.log(len(means) / len(sample))
        chosen, confidence = [], []
        for scores in _score(means, places):
            context.progress.check()
            ratios = scores - total
            best = ratios.argmax(axis=1)
            chosen.append(best)
            confidence.append(np.exp(ratios[np.arange(len(best)), best] + np.log(sizes[best])))
        cell = np.concatenate(chosen)
        sure = np.concatenate(confidence).clip(0.0, 1.0)
        return AnonymitySets(sizes[cell], cell == own.ravel(), sure)


def _build_design(known: np.ndarray) -> np.ndarray:
    roots = _take_roots(known)
    return np.column_stack([np.ones(len(roots)), roots, roots**2])


def _take_roots(logs: np.ndarray) -> np.ndarray:
    """Square roots of the counts, whose noise then hardly depends on their size."""
    return np.asarray(np.sqrt(np.expm1(logs).clip(min=0.0)))


def _score(first: np.ndarray, second: np.ndarray) -> Iterator[np.ndarray]:
    """(t, k) log densities of rows (n, c) and (k, c), up to a constant, in tiles of rows."""
    width = first.shape[1]
    for rows in np.array_split(first, len(first) * len(second) // TILE + 1):
        squares = (rows**2).sum(axis=1)[:, None] + (second**2).sum(axis=1) - 2 * rows @ second.T
        yield -0.5 * (FREEDOM + width) * np.log1p(squares.clip(min=0.0) / FREEDOM)


def _find_matches(
    attack: IdentityAttack,
    defense: Defense,
    release: Release,
    threat: IdentityThreat,
    threats: Threats,
    context: Context,
) -> tuple[Matches, Facts]:
    """Matches of graphs that the rule makes more alike: the released links that are likely real, or
    what the defense makes of the second graph.

    The attack is tried on a rehearsal: a simulated original of the second graph, defended.
    """
    known = threat.known
    original, truth = simulate_release(known, known, OVERLAP, context.rng("original"))
    after = _rehearse(defense, original, threats, context.child("rehearsal"))
    seeds = threat.seeds[:, 0]
    own = replace(threat, people=truth, seeds=np.stack([seeds, truth[seeds]], axis=1))
    best, most = None, MIN_AGREEMENT * _compute_agreement(after, own)
    for form in (_keep_likely_real, _defend_known):
        moved = form(after, own, defense, threats, context.child("form"))
        if moved is not None and (agreement := _compute_agreement(*moved)) > most:
            best, most, trial = form, agreement, moved
    if best is None:
        return _match(attack, release, threat, context), PLAIN
    hits = [
        _match(attack, *each, context.child("trial")).candidates[:, 0] == truth
        for each in ((after, own), trial)
    ]
    at_stake = known.degrees > 0
    at_stake[seeds] = False
    if not is_gain((hits[1].astype(float) - hits[0])[at_stake]):
        return _match(attack, release, threat, context), PLAIN
    moved = best(release, threat, defense, threats, context.child("form"))
    assert moved is not None
    return _match(attack, *moved, context), FORMS[best.__name__]


def _match(
    attack: IdentityAttack, release: Release, threat: IdentityThreat, context: Context
) -> Matches:
    found = attack.find(release, threat, context)
    assert isinstance(found, Matches)
    return found


def _rehearse(defense: Defense, graph: Graph, threats: Threats, context: Context) -> Release:
    """The defense's release of a graph that the attacker holds."""
    own = Threats(graph, link=threats.link)
    shadow = make_shadow_release(defense, Release(graph), own, context)
    if shadow.note:
        raise UnsupportedError(defense.label, f"cannot be rehearsed {THIS_SIZE}")
    return shadow.release


def _keep_likely_real(
    release: Release, threat: IdentityThreat, defense: Defense, threats: Threats, context: Context
) -> tuple[Release, IdentityThreat] | None:
    """As many links of the release as are expected to be real, those likeliest to be."""
    if describe_obstacle(release):
        return None
    denoised = share_denoised(release, context)
    order = np.lexsort((context.rng("ties").random(len(denoised.links)), -denoised.probabilities))
    kept = order[: round(denoised.probabilities.sum())]
    graph = release.graph.with_edges(denoised.links[kept])
    return replace(release, graph=graph, link_scores=None), threat


def _defend_known(
    release: Release, threat: IdentityThreat, defense: Defense, threats: Threats, context: Context
) -> tuple[Release, IdentityThreat] | None:
    """The second graph as the defense would release it."""
    defended = _rehearse(defense, threat.known, threats, context).graph
    return release, replace(threat, known=threat.known.with_edges(defended.present_edges))


FORMS = {_keep_likely_real.__name__: DENOISED, _defend_known.__name__: REHEARSED}


def _compute_agreement(release: Release, threat: IdentityThreat) -> float:
    """Share of the links of both graphs that they have in common (Jaccard)."""
    published, known = release.graph.present_edges, threat.known.present_edges
    moved = threat.people[known]
    moved = moved[(moved >= 0).all(axis=1)]
    common = int(Graph.from_pairs(published, release.graph.num_nodes).contains_pairs(moved).sum())
    return common / max(len(published) + len(known) - common, 1)
