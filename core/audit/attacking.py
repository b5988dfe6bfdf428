"""Runs one case on one release: the attack, what its scores are worth, who is at risk by it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from core.audit.cases import Case, Threat
from core.context import Context
from core.errors import UnsupportedError
from core.methods import AttributeAttack, Defense, IdentityAttack, LinkAttack, Method
from core.release import Release
from core.results import AnonymitySets, Measurement
from core.threats import Threats

Attacked = tuple[list[Measurement], dict[str, Any], dict[str, np.ndarray]]
"""Measurements, facts worth recording, and the arrays that are stored with the cell: `scores`,
`fpr`, `tpr`, and `nodes`, `risk`, `base` of the people at stake."""


def attack_release(
    attack: Method, case: Case, release: Release, threats: Threats, context: Context
) -> Attacked:
    """Raises UnsupportedError where the attack declines the release or the threat."""
    return _RUNNERS[case.threat](attack, case, release, threats, context)


def check_support(label: str, reason: str | None) -> None:
    """UnsupportedError with the reason, if there is one."""
    if reason:
        raise UnsupportedError(label, f"cannot run here: {reason}")


def _attack_links(
    attack: Method, case: Case, release: Release, threats: Threats, context: Context
) -> Attacked:
    from core.measures import node_risk, ranking

    assert isinstance(attack, LinkAttack)
    assert threats.link is not None
    if case.knowledge == "aware":
        from core.attacks.aware import score_links_aware

        defense = _make_defense(release)
        scores = score_links_aware(attack, defense, release, threats.link, threats, context)
    else:
        check_support(attack.label, attack.supports(release, threats.link))
        scores = attack.score(release, threats.link, context)
    roc = ranking.compute_link_roc(scores, threats.link)
    risk = node_risk.compute_link_node_risk(scores, threats.link, release.graph.num_nodes)
    arrays = {"scores": scores.scores, "fpr": roc.fpr, "tpr": roc.tpr}
    arrays |= {"nodes": risk.nodes, "risk": risk.risk, "base": risk.base}
    measured = [*ranking.measure_link_scores(scores, threats.link)]
    measured.append(node_risk.measure_advantage(risk))
    return measured, dict(scores.facts or {}), arrays


def _attack_included(
    attack: Method, case: Case, release: Release, threats: Threats, context: Context
) -> Attacked:
    from core.data.included import draw_included_threat
    from core.measures import included
    from core.measures.node_risk import measure_advantage

    assert isinstance(attack, LinkAttack)
    name, _, value = case.knowledge.partition(":")
    if name == "held":
        from core.attacks.held import share_held_releases

        release = share_held_releases(_make_defense(release), release, threats, int(value), context)
    threat = draw_included_threat(threats.visible, release.graph, context.rng("included"))
    check_support(attack.label, attack.supports(release, threat))
    if name == "aware":
        from core.attacks.aware import score_included_aware

        scores = score_included_aware(
            attack, _make_defense(release), release, threat, threats, context
        )
    else:
        scores = attack.score(release, threat, context)
    roc = included.compute_included_roc(scores, threat)
    risk = included.compute_included_risk(scores, threat, release.graph.num_nodes)
    arrays = {"scores": scores.scores, "fpr": roc.fpr, "tpr": roc.tpr}
    arrays |= {"nodes": risk.nodes, "risk": risk.risk, "base": risk.base}
    measured = [*included.measure_included(scores, threat), measure_advantage(risk)]
    return measured, dict(scores.facts or {}), arrays


def _make_defense(release: Release) -> Defense:
    """The defense that made a release, with its settings, as one who knows it would run it."""
    from core.registry import make_method

    defense = make_method(release.defense, release.config, "defense")
    assert isinstance(defense, Defense)
    return defense


def _attack_attribute(
    attack: Method, case: Case, release: Release, threats: Threats, context: Context
) -> Attacked:
    from core.measures import node_risk, ranking

    assert isinstance(attack, AttributeAttack)
    threat = threats.attribute
    assert threat is not None
    check_support(attack.label, attack.supports(release, threat))
    if case.knowledge == "aware":
        from core.attacks.aware import infer_aware

        defense = _make_defense(release)
        found = infer_aware(attack, defense, release, threat, threats, context)
    else:
        found = attack.infer(release, threat, context)
    roc = ranking.compute_attribute_roc(found, threat)
    risk = node_risk.compute_attribute_node_risk(found, threat)
    arrays = {"scores": found.probabilities, "fpr": roc.fpr, "tpr": roc.tpr}
    arrays |= {"nodes": risk.nodes, "risk": risk.risk, "base": risk.base}
    arrays["margin"] = ranking.compute_node_margins(found.probabilities, threat)
    measured = ranking.measure_class_probabilities(found, threat)
    facts = dict(found.facts or {})
    return [*measured, node_risk.measure_advantage(risk)], facts, arrays


def _attack_identities(
    attack: Method, case: Case, release: Release, threats: Threats, context: Context
) -> Attacked:
    from core.measures import identity

    assert isinstance(attack, IdentityAttack)
    threat = threats.identity
    assert threat is not None
    check_support(attack.label, attack.supports(release, threat))
    found = attack.find(release, threat, context)
    if isinstance(found, AnonymitySets):
        measurements = identity.measure_anonymity(found, threat)
        risk = identity.compute_anonymity_risk(found, threat)
        scores = found.sizes
    else:
        measurements = identity.measure_matches(found, threat)
        risk = identity.compute_match_risk(found, threat, release.graph.num_nodes)
        scores = found.confidence
    arrays = {"scores": scores, "nodes": risk.nodes, "risk": risk.risk, "base": risk.base}
    return measurements, {}, arrays


Runner = Callable[[Method, Case, Release, Threats, Context], Attacked]

_RUNNERS: dict[Threat, Runner] = {
    "link": _attack_links,
    "included": _attack_included,
    "attribute": _attack_attribute,
    "identity": _attack_identities,
}
"""How each threat is attacked; a new threat adds its runner here."""
