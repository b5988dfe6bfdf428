"""Samples the threats of each repeat: secrets and the attackers' knowledge of them.

A release is made once from the publisher's knowledge and attacked by several attackers. Their known
values are drawn from streams that depend on column and share only, so that they are equal for all
attacks and releases.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from core.audit.asked.knowledge import STANDARD, Auxiliary, Joint, PublisherKnows, Shadow, Standard
from core.audit.asked.publish_spec import PublishSpec
from core.audit.asked.scenarios import Scenario
from core.audit.asked.spec import AuditSpec
from core.audit.asked.spec_parts import DisclosureSpec, ThreatSpec
from core.audit.computing.partitions import check_options, draw_identities, observe
from core.audit.computing.prepared import PreparedAudit, list_published
from core.data.control import (
    draw_control,
    renumber_attribute_threat,
    renumber_links,
    renumber_threats,
)
from core.data.generalized_cells import list_incomparable
from core.data.link_release import choose_link_columns, list_link_columns
from core.data.release_columns import Rule
from core.data.second_graph import draw_identity_threat
from core.data.splits import Spread, draw_attribute_threat, draw_threats, withhold_links
from core.errors import UnsupportedError
from core.graph import Graph
from core.partitioned.graph import PartitionedGraph
from core.partitioned.links import ONE_PROCESS
from core.seeding import Seed
from core.threats import AttributeThreat, Control, Threats

IdPairs = tuple[tuple[str, str], ...]
"""Links as pairs of node ids."""


def draw_repeat(audit: PreparedAudit, repeat: int) -> Threats:
    """Threats of one repeat: a fresh split from the audit's root seed."""
    spec, graph = audit.spec, audit.graph
    seed = Seed(spec.root_seed).child("repeat", repeat)
    if isinstance(graph, PartitionedGraph):
        return _draw_partitioned(spec, graph, seed)
    control, own, members = _set_control_apart(spec, graph, seed)
    threats = draw_secrets(own, members, seed, own.test_links, own.held_back_links)
    if control is not None:
        threats = renumber_threats(threats, graph, control)
    threats = replace(threats, external=audit.external)
    if audit.shadow is not None and threats.attribute is not None:
        threats = replace(threats, shadow_graph=audit.encoded_shadow)
    choice = spec.threats.identity
    if choice is None:
        return threats
    identity = draw_identity_threat(
        threats.visible,
        seed.child("identity"),
        choice.overlap,
        choice.noise,
        choice.seeds_known,
        audit.auxiliary and know_coarser(audit.auxiliary, spec.disclosure),
    )
    if audit.external:
        released = audit.external[0]
        shown: Sequence[str] = tuple(released.attributes)
        identity = replace(identity, unread=tuple(list_incomparable(threats.visible, released)))
    else:
        published = list_published(spec, threats.visible.feature_names)
        shown = [name for name in published if name in threats.visible.attributes]
    return replace(threats, identity=replace(identity, columns=tuple(shown)))


def _draw_partitioned(spec: AuditSpec, graph: PartitionedGraph, seed: Seed) -> Threats:
    check_options(spec)
    visible, link = observe(graph, spec.threats, seed)
    threats = draw_threats(
        visible,
        seed,
        spec.threats.private,
        spec.disclosure.utility,
        spec.threats.known,
        utility_train=spec.disclosure.utility_train,
        known_nodes=find_known(spec, visible, spec.threats.private, seed.child("known")),
    )
    threats = replace(threats, link=link)
    if spec.threats.identity is not None:
        threats = replace(threats, identity=draw_identities(visible))
    return threats


def know_coarser(second: Graph, disclosure: DisclosureSpec) -> Graph:
    """A given second graph with the columns of links that it shares with what leaves, as coarse:
    who knows a time knows its day."""
    names = set(list_link_columns(second)) & set(disclosure.publish_columns or ())
    rules = [text for text in disclosure.generalize if Rule.parse(text).column in names]
    return choose_link_columns(second, tuple(names), rules) if rules else second


def _set_control_apart(
    spec: AuditSpec, graph: Graph, seed: Seed
) -> tuple[Control | None, AuditSpec, Graph]:
    """Control nodes of a repeat, if requested; spec and graph without them."""
    if spec.control is None:
        return None, spec, graph
    control = draw_control(graph, spec.control, seed.child("control"))
    return control, *_leave_out_control(spec, graph, control)


def _leave_out_control(spec: AuditSpec, graph: Graph, control: Control) -> tuple[AuditSpec, Graph]:
    """The spec without links and known values of control nodes, and the graph without them."""
    left_out = {graph.node_ids[node] for node in np.flatnonzero(control.people)}

    def keep(pairs: IdPairs | None) -> IdPairs | None:
        return pairs and tuple(pair for pair in pairs if left_out.isdisjoint(pair))

    people = spec.threats.known_people
    own = spec.update(
        sensitive_links=keep(spec.threats.sensitive_links),
        held_back_links=keep(spec.held_back_links),
        known_people=people and tuple(person for person in people if person not in left_out),
    )
    return own, graph.subgraph(control.members)


def draw_secrets(
    spec: AuditSpec | PublishSpec,
    graph: Graph,
    seed: Seed,
    test_links: float,
    held_back: IdPairs | None = None,
) -> Threats:
    """Links and values that a spec makes secret on a prepared graph."""
    threats = spec.threats
    given, kept = _find_given(threats, graph, held_back)
    return draw_threats(
        graph,
        seed,
        private=threats.private,
        utility=spec.disclosure.utility,
        known=threats.known,
        hide_links=threats.hide_links,
        sensitive_links=given,
        test_links=test_links,
        utility_train=spec.disclosure.utility_train,
        evaluation=threats.evaluation,
        held_back=kept,
        known_nodes=find_known(spec, graph, threats.private, seed.child("known")),
    )


def draw_visible(audit: PreparedAudit, repeat: int) -> Graph:
    """`visible` of `draw_repeat`, without drawing the rest."""
    seed = Seed(audit.spec.root_seed).child("repeat", repeat)
    if isinstance(audit.graph, PartitionedGraph):
        return observe(audit.graph, audit.spec.threats, seed)[0]
    control, spec, visible = _set_control_apart(audit.spec, audit.graph, seed)
    threats = spec.threats
    if threats.has_links:
        given, kept = _find_given(threats, visible, spec.held_back_links)
        share = threats.hide_links
        visible = withhold_links(visible, seed, share, given, spec.test_links, kept)[2]
    return visible if control is None else renumber_links(visible, audit.graph, control)


def _find_given(
    threats: ThreatSpec, graph: Graph, held_back: IdPairs | None
) -> tuple[np.ndarray | None, np.ndarray | None]:
    """Node numbers of named sensitive and held-back links."""
    given = threats.sensitive_links
    return (
        None if given is None else find_pairs(graph, given),
        None if held_back is None else find_pairs(graph, held_back, "held-back link"),
    )


def find_pairs(graph: Graph, pairs: IdPairs, what: str = "sensitive link") -> np.ndarray:
    """(k, 2) node numbers of pairs of node ids; raises InputError for an unknown id."""
    ends = graph.find_nodes([node for pair in pairs for node in pair], what)
    return ends.reshape(-1, 2)


def find_known(
    spec: AuditSpec | PublishSpec, graph: Graph, column: str | None, seed: Seed
) -> np.ndarray | None:
    """(k,) nodes whose value of a private column is known, if the spec says more of them than their
    share; else None."""
    people, spread = spec.threats.known_people, spec.threats.known_spread
    if people is not None:
        return graph.find_nodes(people, "person whose value is known")
    if column is None or spread == "stratified":
        return None
    if spread == "community" and isinstance(graph, PartitionedGraph):
        raise UnsupportedError("--known-spread community", ONE_PROCESS, remedy="leave it out")
    drawn = draw_attribute_threat(graph, column, spec.threats.known, seed, spread)
    return np.flatnonzero(drawn.known)


def limit_publisher_knowledge(threats: Threats, knows: PublisherKnows) -> Threats:
    """Threats as given to a defense.

    none    no private values: defenses that need them decline
    public  values known to the assumed attacker
    column  all values
    """
    if threats.attribute is None or knows == "public":
        return threats
    if knows == "none":
        return replace(threats, attribute=None)
    everybody = threats.attribute.known | threats.attribute.hidden
    attribute = replace(threats.attribute, known=everybody, hidden=np.zeros_like(everybody))
    return replace(threats, attribute=attribute)


def select_attacker(spec: AuditSpec, scenario: Scenario, repeat: int, threats: Threats) -> Threats:
    """Threats as seen by the attacker of a scenario: its column and known values."""
    selected = _select_column(spec, scenario, repeat, threats)
    threat, share = selected.attribute, spec.threats.wrong_values
    if scenario.threat != "attribute" or threat is None or not share:
        return selected
    seed = Seed(spec.root_seed).child("repeat", repeat, "wrong_values")
    own, *others = (_mislead(each, share, seed) for each in (threat, *selected.others))
    return replace(selected, attribute=own, others=tuple(others))


def _mislead(threat: AttributeThreat, share: float, seed: Seed) -> AttributeThreat:
    """The threat with a share of the known values in another class.

    Drawn for all nodes by column: attackers who know the same node are told the same of it.
    """
    attribute, rng = threat.attribute, seed.rng(threat.attribute.name)
    size, number = len(attribute.codes), attribute.num_classes
    is_wrong = (rng.random(size) < share) & threat.known
    others = (attribute.codes + rng.integers(1, number, size)) % number
    codes = np.where(is_wrong, others, attribute.codes)
    return replace(threat, attribute=replace(attribute, codes=codes))


def _select_column(spec: AuditSpec, scenario: Scenario, repeat: int, threats: Threats) -> Threats:
    known = scenario.knowledge
    if scenario.threat != "attribute" or spec.threats.private is None:
        return threats
    if isinstance(known, Joint):
        return _select_joint(spec, replace(scenario, knowledge=STANDARD), repeat, threats, known)
    column = scenario.target or spec.threats.private
    if isinstance(known, Auxiliary):
        drawn = _draw_attacker(spec, threats, column, repeat, known)
    # Who is taught by another graph knows the same people here as who is not.
    elif scenario.target and isinstance(known, Standard | Shadow):
        drawn = _draw_attacker(spec, threats, column, repeat)
    else:
        return threats
    return replace(threats, attribute=drawn)


def _select_joint(
    spec: AuditSpec, plain: Scenario, repeat: int, threats: Threats, joint: Joint
) -> Threats:
    """Attacker of several columns: knows every column of its known nodes and, with `known`, the
    other columns of all nodes."""
    selected = _select_column(spec, plain, repeat, threats)
    threat = selected.attribute
    assert threat is not None
    others = []
    for column in spec.threats.columns:
        if column != threat.attribute.name:
            attribute = threats.visible.column(column)
            known = attribute.known & (threat.known | (joint.how == "known"))
            others.append(AttributeThreat(attribute, known, attribute.known & ~known))
    return replace(selected, others=tuple(others))


def check_columns(spec: AuditSpec, graph: Graph) -> None:
    """Raise InputError for an unusable private column or group."""
    for column in spec.threats.more_private:
        _draw_attacker(spec, Threats(graph), column, 0)
    graph.columns.check(spec.groups)


def _draw_attacker(
    spec: AuditSpec, threats: Threats, column: str, repeat: int, known: Auxiliary | None = None
) -> AttributeThreat:
    """Known nodes of an attacker of a column; as many as assumed without auxiliary knowledge."""
    graph, control = threats.visible, threats.control
    if control is not None:
        spec, graph = _leave_out_control(spec, graph, control)
    share = spec.threats.known if known is None else known.share
    stream = "column" if known is None else known.source
    seed = Seed(spec.root_seed).child("repeat", repeat, stream, column, share)
    spread: Spread = "stratified" if known is None else known.spread
    given = find_known(spec, graph, column, seed) if known is None else None
    drawn = draw_attribute_threat(graph, column, share, seed, spread, given)
    return drawn if control is None else renumber_attribute_threat(drawn, threats.visible, control)
