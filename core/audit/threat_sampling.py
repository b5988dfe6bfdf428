"""What an audit is about, from its spec: the graph as it would leave, and each repeat's threats."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from core.audit.spec import AuditSpec
from core.data.release_columns import Rule, choose_columns, leave_out_people
from core.data.second_graph import draw_identity_threat
from core.data.shared_numbers import cut_alike
from core.data.splits import draw_threats
from core.errors import InputError
from core.graph import Attribute, Graph
from core.seeding import Seed
from core.threats import Threats


def prepare_graph(spec: AuditSpec, graph: Graph) -> Graph:
    """The graph as it would leave: without those left out, columns published or made coarser.

    The private and utility columns are attributes, not features; they stay for the evaluation.
    """
    graph = leave_out_people(graph, spec.leave_out)
    named = (spec.private, *spec.more_private, spec.utility)
    kept = [column for column in named if column is not None]
    for column in kept:
        graph = graph.with_private(column)
    if spec.publish_columns is None and not spec.generalize:
        return graph
    for column in spec.more_private:
        if column in (spec.publish_columns or ()):
            raise InputError(
                "published column", "must not be a private one", column, "leave it out"
            )
    return choose_columns(graph, spec.publish_columns, spec.generalize, kept, spec.private)


def list_published(spec: AuditSpec, graph: Graph) -> tuple[str, ...] | None:
    """The columns that leave with a prepared graph; None where the spec does not say."""
    if spec.publish_columns is not None:
        return spec.publish_columns
    if not spec.generalize:
        return None
    coarse = [Rule.parse(text).column for text in spec.generalize]
    named = [*graph.feature_names, *coarse, *([spec.utility] if spec.utility else [])]
    return tuple(dict.fromkeys(named))


def list_seen(spec: AuditSpec, graph: Graph) -> tuple[str, ...]:
    """The attributes that a spec publishes: attackers on links and columns read them too."""
    return tuple(name for name in spec.publish_columns or () if name in graph.attributes)


def draw_repeat(
    spec: AuditSpec,
    graph: Graph,
    repeat: int,
    known: Graph | None = None,
    shadow_graph: Graph | None = None,
) -> Threats:
    """The threats of one repeat: a fresh split from the audit's root seed.

    known: the second graph that the spec names, if any; elsewhere: the attacker's other graph.
    """
    seed = Seed(spec.root_seed).child("repeat", repeat)
    threats = draw_secrets(spec, graph, seed, spec.test_links)
    if shadow_graph is not None and threats.attribute is not None:
        for column in spec.taught:
            private = graph.with_private(column).attribute(column)
            shadow_graph = prepare_shadow_graph(shadow_graph, private)
        threats = replace(threats, shadow_graph=shadow_graph)
    if spec.identity is None:
        return threats
    choice = spec.identity
    identity = draw_identity_threat(
        threats.visible,
        seed.child("identity"),
        choice.overlap,
        choice.noise,
        choice.seeds_known,
        known,
    )
    shown = list_published(spec, threats.visible) or ()
    columns = tuple(name for name in shown if name in threats.visible.attributes)
    return replace(threats, identity=replace(identity, columns=columns))


def draw_secrets(spec: AuditSpec, graph: Graph, seed: Seed, test_links: float) -> Threats:
    """The links and values that a spec makes secret on a prepared graph."""
    given = spec.sensitive_links
    return draw_threats(
        graph,
        seed,
        private=spec.private,
        utility=spec.utility,
        known=spec.known,
        hide_links=spec.hide_links,
        sensitive_links=None if given is None else find_pairs(graph, given),
        test_links=test_links,
        utility_train=spec.utility_train,
        evaluation=spec.evaluation,
    )


def load_auxiliary_graph(spec: AuditSpec, load: Callable[[str], Graph]) -> Graph | None:
    """The second graph that the spec names, by the given way of loading graphs."""
    if spec.identity is None or spec.identity.auxiliary_graph is None:
        return None
    return load(spec.identity.auxiliary_graph)


def load_shadow_graph(spec: AuditSpec, load: Callable[[str], Graph]) -> Graph | None:
    """The attacker's other graph that the spec names, by the given way of loading graphs."""
    return None if spec.shadow_graph is None else load(spec.shadow_graph)


def prepare_shadow_graph(graph: Graph, private: Attribute) -> Graph:
    """The attacker's other graph with a private column as an attribute, numbers cut at the borders
    of the audited graph's; InputError where it has no such column, or nobody of at least two of
    its classes."""
    if private.name not in (*graph.attributes, *graph.feature_names):
        columns = ", ".join([*graph.attributes, *graph.feature_names[:20]]) or "none"
        raise InputError(
            "attacker's graph", "must have the private column", private.name, f"it has: {columns}"
        )
    graph = graph.with_private(private.name)
    column = cut_alike(graph.attribute(private.name), private)
    held = {column.classes[code] for code in np.unique(column.codes[column.known])}
    if len(held & set(private.classes)) < 2:
        raise InputError(
            "attacker's graph",
            f"must have people of at least two classes of '{private.name}'",
            ", ".join(sorted(held)[:10]) or "nobody's value",
            "classes are: " + ", ".join(private.classes[:10]),
        )
    return replace(graph, attributes={**graph.attributes, private.name: column})


def find_pairs(graph: Graph, pairs: tuple[tuple[str, str], ...]) -> np.ndarray:
    """(k, 2) node numbers of pairs of node ids; InputError for an id that is not in the graph."""
    ends = graph.find_nodes((node for pair in pairs for node in pair), "end of a sensitive link")
    return ends.reshape(-1, 2)
