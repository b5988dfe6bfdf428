"""Who knows what: the publisher apart from the attackers, and the attackers apart.

A release is made once, from the publisher's knowledge, and attacked by several attackers with
knowledge of their own. Two attackers who know different people's values are drawn from streams
that depend on column and share alone, so that all attacks and releases meet the same ones.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from core.audit.scenarios import Scenario, list_private
from core.audit.spec import AuditSpec, PublisherKnows
from core.data.splits import Spread, draw_attribute_threat
from core.graph import Graph
from core.seeding import Seed
from core.threats import AttributeThreat, Threats

SPREADS: dict[str, Spread] = {"others_degree": "degree", "others_community": "community"}
"""Whom further attackers know, by the name of their knowledge; the others know a part of each
class."""


def limit_publisher_knowledge(threats: Threats, knows: PublisherKnows) -> Threats:
    """The threats as a defense gets them.

    none    nothing of the private attribute: a defense that needs it declines
    public  the values that the assumed attacker knows
    column  every value
    """
    if threats.attribute is None or knows == "public":
        return threats
    if knows == "none":
        return replace(threats, attribute=None)
    everybody = threats.attribute.attribute.known
    told = replace(threats.attribute, known=everybody, hidden=np.zeros_like(everybody))
    return replace(threats, attribute=told)


def select_attacker(spec: AuditSpec, scenario: Scenario, repeat: int, threats: Threats) -> Threats:
    """The threats as the attacker of a case meets them: its column, and whom it knows."""
    if scenario.threat != "attribute" or spec.private is None:
        return threats
    name, _, value = scenario.knowledge.partition(":")
    if name == "joint":
        return _select_joint(spec, scenario, repeat, threats, value)
    if not scenario.target and not name.startswith("others"):
        return threats
    column = scenario.target or spec.private
    share = float(value) if name.startswith("others") else spec.known
    # Who is taught by another graph knows the same people here as who is not.
    spread = "" if name == "transfer" else name
    drawn = _draw_attacker(spec, threats.visible, column, share, repeat, spread)
    return replace(threats, attribute=drawn)


def _select_joint(
    spec: AuditSpec, scenario: Scenario, repeat: int, threats: Threats, how: str
) -> Threats:
    """The attacker of a column and of the others at once: of the people whom it knows it knows
    every column, and with `known` the other columns of everybody."""
    plain = select_attacker(spec, replace(scenario, knowledge=""), repeat, threats)
    threat = plain.attribute
    assert threat is not None
    others = []
    for column in list_private(spec):
        if column != threat.attribute.name:
            attribute = threats.visible.attribute(column)
            known = attribute.known & (threat.known | (how == "known"))
            others.append(AttributeThreat(attribute, known, attribute.known & ~known))
    return replace(plain, others=tuple(others))


def check_columns(spec: AuditSpec, graph: Graph) -> None:
    """InputError where a further private column or a group cannot be used."""
    for column in spec.more_private:
        _draw_attacker(spec, graph, column, spec.known, 0, "")
    for column in spec.groups:
        graph.with_private(column)


def _draw_attacker(
    spec: AuditSpec, graph: Graph, column: str, share: float, repeat: int, name: str
) -> AttributeThreat:
    seed = Seed(spec.root_seed).child("repeat", repeat, name or "column", column, share)
    return draw_attribute_threat(graph, column, share, seed, SPREADS.get(name, "stratified"))
