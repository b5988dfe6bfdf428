"""Runs one scenario on one release: scores, their measures, and per-node risk."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from core.attacks.base_predictions import keep_arrays
from core.audit.asked.knowledge import ADAPTIVE, Composition, Joint, Shadow
from core.audit.asked.method_choice import MethodChoice
from core.audit.asked.scenarios import Scenario, Threat
from core.audit.computing.partitions import explain_method
from core.context import Context
from core.data.control import (
    make_control_attribute_threat,
    make_control_released_threat,
    renumber_link_threat,
)
from core.errors import check_support
from core.graph import Graph
from core.methods import AttributeAttack, Defense, IdentityAttack, LinkAttack, Method
from core.partitioned.graph import PartitionedGraph
from core.partitioned.links import ONE_PROCESS
from core.release import Release, keep_to_modes
from core.results import ONE_SCORE, AnonymitySets, Measurement, PairScores
from core.threats import LinkThreat, ReleasedThreat, Threats

Attacked = tuple[list[Measurement], dict[str, Any], dict[str, np.ndarray]]
"""Measurements, recorded facts, and the arrays stored with the cell: `scores`, `fpr`, `tpr`, and
`nodes`, `risk`, `base` of the nodes at stake."""


SLOW_PAIRS = 2000
"""Further pairs per kind for attacks that are slow per pair."""


def attack_release(
    attack: Method, scenario: Scenario, release: Release, threats: Threats, context: Context
) -> Attacked:
    """Run the scenario; raises UnsupportedError if the attack does not apply."""
    check_support(attack.label, explain_method(attack, release.graph, scenario) or None)
    release = keep_to_modes(release, release.graph.modes)  # one made elsewhere has others
    return _RUNNERS[scenario.threat](attack, scenario, release, threats, context)


def _attack_links(
    attack: Method, scenario: Scenario, release: Release, threats: Threats, context: Context
) -> Attacked:
    from core.measures import node_risk, ranking

    assert isinstance(attack, LinkAttack)
    assert threats.link is not None
    threat, graph = threats.link, release.graph
    check_support(attack.label, attack.supports(release, threat))

    score = _choose_score(attack, scenario, release, threat, threats, context)
    scores, rare, named, control = _score_with_more(score, attack, graph, threats, context)
    low = ranking.LOW_RATES[0]  # the rate that is named beside the curve
    roc = ranking.compute_grid_roc(*ranking.join_more(scores, threat, rare, low))
    risk = node_risk.compute_link_node_risk(scores, threat, graph.num_nodes)
    arrays = {"scores": scores.scores, "fpr": roc.fpr, "tpr": roc.tpr}
    arrays |= {"nodes": risk.nodes, "risk": risk.risk, "base": risk.base}
    measured = [*ranking.measure_link_scores(scores, threat, rare), *named]
    measured.append(node_risk.measure_advantage(risk))
    if threats.control is not None:
        asked = threats.control.link
        measured += _of_control(ranking.measure_link_scores(PairScores(control), asked))
    facts: dict[str, Any] = dict(scores.facts or {})
    judged = np.concatenate([scores.scores, rare])
    if not attack.info.is_baseline and len(np.unique(judged)) == 1:
        facts[ONE_SCORE] = True
    return measured, facts, arrays


def _choose_score(
    attack: LinkAttack,
    scenario: Scenario,
    release: Release,
    threat: LinkThreat,
    threats: Threats,
    context: Context,
) -> Callable[[LinkThreat], PairScores]:
    """The attack on pairs of a release, in its standard or its adaptive form."""
    if scenario.knowledge != ADAPTIVE:
        return lambda asked: attack.score(release, asked, context)
    from core.attacks.adaptive import learn_adaptive

    return learn_adaptive(attack, _make_defense(release), release, threat, threats, context)


def _of_control(measured: Iterable[Measurement]) -> list[Measurement]:
    """The same measurements, marked as those of control nodes."""
    return [replace(item, population="control") for item in measured]


def _score_with_more(
    score: Callable[[LinkThreat], PairScores],
    attack: LinkAttack,
    graph: Graph,
    threats: Threats,
    context: Context,
) -> tuple[PairScores, np.ndarray, list[Measurement], np.ndarray]:
    """Scores of the threat's pairs and further non-links, precisions at the top, and scores of the
    control nodes' pairs.

    Attacks that train are called once for all pairs; instant ones twice, so that scores of the
    threat's own pairs stay bit-identical.
    """
    from core.measures.top_pairs import Candidates, choose_limit, draw_candidates, measure_top_pairs

    threat, none = threats.link, np.empty((0, 2), np.int64)
    assert threat is not None
    control, held_back = none, none if threats.test_links is None else threats.test_links
    if threats.control is not None:  # to name one of their links is neither a hit nor a mistake
        control = threats.control.link.pairs
        held_back = np.concatenate([held_back, threats.control.links])
    more = none if threat.more_absent is None else threat.more_absent
    limit, rng = choose_limit(attack.info.cost), context.rng("top_pairs")
    if attack.is_slow:
        more, limit = more[:SLOW_PAIRS], SLOW_PAIRS
    candidates = Candidates.none(ONE_PROCESS)
    if not isinstance(graph, PartitionedGraph):  # near pairs are found in the whole graph
        candidates = draw_candidates(graph, threat, limit, attack.is_local, rng, held_back)
    asked = np.concatenate([more, candidates.pairs, control])
    if attack.info.cost != "instant":
        whole = score(replace(threat, absent=np.concatenate([threat.absent, asked])))
        own, further = np.split(whole.scores, [len(threat.pairs)])
        scores = PairScores(own, whole.facts)
    else:
        scores = score(threat)
        further = score(LinkThreat(none, asked, threat.prior)).scores
    rare, top, apart = np.split(further, [len(more), len(more) + len(candidates.pairs)])
    return scores, rare, measure_top_pairs(top, candidates), apart


def _attack_released(
    attack: Method, scenario: Scenario, release: Release, threats: Threats, context: Context
) -> Attacked:
    from core.measures import ranking, released_links
    from core.measures.node_risk import measure_advantage

    assert isinstance(attack, LinkAttack)
    if isinstance(scenario.knowledge, Composition):
        several = _compose_releases(scenario.knowledge, release, threats, context)
        release = keep_to_modes(several, release.graph.modes)
    threat = _draw_released(threats, release, context)
    check_support(attack.label, attack.supports(release, threat))

    score = _choose_score(attack, scenario, release, threat, threats, context)
    scores = score(threat)
    roc = ranking.compute_grid_roc(scores.scores, threat.truth, threat.weights)
    risk = released_links.compute_released_risk(scores, threat, release.graph.num_nodes)
    arrays = {"scores": scores.scores, "fpr": roc.fpr, "tpr": roc.tpr}
    arrays |= {"nodes": risk.nodes, "risk": risk.risk, "base": risk.base}
    measured = [*released_links.measure_released(scores, threat), measure_advantage(risk)]
    if threats.control is not None:
        apart = make_control_released_threat(release.graph, threat.prior, threats.control)
        measured += _of_control(released_links.measure_released(score(apart), apart))
    return measured, dict(scores.facts or {}), arrays


def _draw_released(threats: Threats, release: Release, context: Context) -> ReleasedThreat:
    """The released links among pairs without control nodes."""
    from core.data.splits import draw_released_threat

    rng, control = context.rng("included"), threats.control
    if control is None:
        return draw_released_threat(threats.visible, release.graph, rng)
    before, after = (g.subgraph(control.members) for g in (threats.visible, release.graph))
    return renumber_link_threat(draw_released_threat(before, after, rng), control)


def _compose_releases(
    known: Composition, first: Release, threats: Threats, context: Context
) -> Release:
    """Releases of a composition attack: several of one defense, or one of each of several."""
    from core.attacks.composition import share_held_releases, share_releases_of

    if known.releases is not None:
        return share_held_releases(_make_defense(first), first, threats, known.releases, context)
    own = MethodChoice(key=first.defense, config=first.config).id
    others = [
        MethodChoice.parse(text, "defense").make_defense() for text in known.defenses if text != own
    ]
    return share_releases_of(others, first, threats, context)


def _make_defense(release: Release) -> Defense:
    """The configured defense of a release, as an adaptive attacker runs it."""
    return MethodChoice(key=release.defense, config=release.config).make_defense()


def _attack_attribute(
    attack: Method, scenario: Scenario, release: Release, threats: Threats, context: Context
) -> Attacked:
    from core.measures import node_risk, ranking
    from core.measures.quantities import measure_quantities

    assert isinstance(attack, AttributeAttack)
    threat = threats.attribute
    assert threat is not None
    check_support(attack.label, attack.supports(release, threat))
    if scenario.knowledge == ADAPTIVE:
        from core.attacks.adaptive import infer_adaptive

        defense = _make_defense(release)
        found = infer_adaptive(attack, defense, release, threat, threats, context)
    elif isinstance(scenario.knowledge, Joint):
        from core.attacks.composition import infer_jointly

        found = infer_jointly(attack, release, threat, threats.others, context)
    elif isinstance(scenario.knowledge, Shadow):
        assert threats.shadow_graph is not None
        found = attack.infer_from(threats.shadow_graph, release, threat, context)
    else:
        found = attack.infer(release, threat, context)
    roc = ranking.compute_attribute_roc(found, threat)
    calibrated = node_risk.calibrate_classes_across_folds(found, threat)
    risk = node_risk.compute_attribute_node_risk(found, threat, calibrated)
    arrays = {**keep_arrays(found, threat), "fpr": roc.fpr, "tpr": roc.tpr}
    arrays |= {"nodes": risk.nodes, "risk": risk.risk, "base": risk.base}
    arrays["margin"] = ranking.compute_node_margins(found.probabilities, threat)
    measured = [
        *ranking.measure_class_probabilities(found, threat),
        *node_risk.measure_margin_gain(calibrated, threat),
        *measure_quantities(found, threat),
    ]
    measured.append(node_risk.measure_advantage(risk))
    measured.append(node_risk.measure_class_advantage(risk, threat.attribute.codes))
    measured += node_risk.measure_forecast_advantage(found, threat)
    if threats.control is not None:  # raw scores only: calibration is worse on fewer people
        apart = make_control_attribute_threat(threat, threats.control)
        measured += _of_control(ranking.measure_class_probabilities(found, apart))
        measured += _of_control(measure_quantities(found, apart))
    return measured, dict(found.facts or {}), arrays


def _attack_identities(
    attack: Method, scenario: Scenario, release: Release, threats: Threats, context: Context
) -> Attacked:
    from core.measures import identity

    assert isinstance(attack, IdentityAttack)
    threat = threats.identity
    assert threat is not None
    check_support(attack.label, attack.supports(release, threat))
    facts: dict[str, Any] = {}
    if scenario.knowledge == ADAPTIVE:
        from core.attacks.identity.adaptive import find_adaptive

        defense = _make_defense(release)
        found, facts = find_adaptive(attack, defense, release, threat, threats, context)
    else:
        found = attack.find(release, threat, context)
    if isinstance(found, AnonymitySets):
        by_links = attack.finds_by == "links"
        measurements = identity.measure_anonymity(found, threat, by_links)
        risk = identity.compute_anonymity_risk(found, threat, by_links)
        scores = found.sizes
    else:
        measurements = identity.measure_matches(found, threat)
        risk = identity.compute_match_risk(found, threat, release.graph.num_nodes)
        scores = found.confidence
    arrays = {"scores": scores, "nodes": risk.nodes, "risk": risk.risk, "base": risk.base}
    return measurements, facts, arrays


Runner = Callable[[Method, Scenario, Release, Threats, Context], Attacked]

_RUNNERS: dict[Threat, Runner] = {
    "link": _attack_links,
    "included": _attack_released,
    "attribute": _attack_attribute,
    "identity": _attack_identities,
}
"""Runner of each threat."""
