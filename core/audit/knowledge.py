"""Who knows what: the publisher apart from the attackers, and the attackers apart.

A release is made once, from the publisher's knowledge, and attacked by several attackers with
knowledge of their own. Two attackers who know different people's values are drawn from streams
that depend on column and share alone, so that all attacks and releases meet the same ones.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from core.audit.cases import Case
from core.audit.spec import AuditSpec, PublisherKnows
from core.data.splits import draw_attribute_threat
from core.graph import Graph
from core.seeding import Seed
from core.threats import AttributeThreat, Threats


def tell_publisher(threats: Threats, knows: PublisherKnows) -> Threats:
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


def select_attacker(spec: AuditSpec, case: Case, repeat: int, threats: Threats) -> Threats:
    """The threats as the attacker of a case meets them: its column, and whom it knows."""
    if case.threat != "attribute" or spec.private is None:
        return threats
    name, _, value = case.knowledge.partition(":")
    if not case.target and name != "others":
        return threats
    column = case.target or spec.private
    share = float(value) if name == "others" else spec.known
    drawn = _draw_attacker(spec, threats.visible, column, share, repeat, name)
    return replace(threats, attribute=drawn)


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
    return draw_attribute_threat(graph, column, share, seed)
