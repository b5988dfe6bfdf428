"""Runs one case on one release: the attack, what its scores are worth, who is at risk by it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from core.audit.cases import Case, Threat
from core.context import Context
from core.errors import UnsupportedError
from core.methods import AttributeAttack, IdentityAttack, LinkAttack, Method
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
    check_support(attack.label, attack.supports(release, threats.link))
    scores = attack.score(release, threats.link, context)
    roc = ranking.compute_link_roc(scores, threats.link)
    risk = node_risk.compute_link_node_risk(scores, threats.link, release.graph.num_nodes)
    arrays = {"scores": scores.scores, "fpr": roc.fpr, "tpr": roc.tpr}
    arrays |= {"nodes": risk.nodes, "risk": risk.risk, "base": risk.base}
    measured = ranking.measure_link_scores(scores, threats.link)
    return [*measured, node_risk.measure_advantage(risk)], {}, arrays


def _attack_attribute(
    attack: Method, case: Case, release: Release, threats: Threats, context: Context
) -> Attacked:
    from core.measures import node_risk, ranking

    assert isinstance(attack, AttributeAttack)
    threat = threats.attribute
    assert threat is not None
    check_support(attack.label, attack.supports(release, threat))
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
    "attribute": _attack_attribute,
    "identity": _attack_identities,
}
"""How each threat is attacked; a new threat adds its runner here."""
