"""Control nodes, whose links and private values are in no release.

As in Anonymeter (Giomi et al., A unified framework for quantifying privacy risk in synthetic data,
PoPETs 2023): success on them needs no release. Their links and private values are
removed before anything is withheld or defended. Node membership is public here: a control node is
an isolated node that noise affects like any other, and its columns are auxiliary knowledge. For a
release independent of the links, control and other nodes are exchangeable, so that no attack does
better on either.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

import numpy as np

from core.arrays import pair_codes
from core.graph import Graph
from core.seeding import Seed
from core.threats import AttributeThreat, Control, LinkThreat, ReleasedThreat, Threats

AnyLinkThreat = TypeVar("AnyLinkThreat", bound=LinkThreat)

MAX_PAIRS = 1000
"""Links of control nodes, and non-links, on which attacks are evaluated."""


def draw_control(graph: Graph, share: float, seed: Seed) -> Control:
    """Uniform sample of at least one node; their links, or a sample of them.

    Evaluated against as many uniform non-links that touch a control node.
    """
    rng = seed.rng("people")
    people, count = np.zeros(graph.num_nodes, bool), max(round(share * graph.num_nodes), 1)
    people[rng.choice(graph.num_nodes, count, replace=False)] = True
    links = graph.edges[people[graph.edges].any(axis=1)]
    sample = links
    if len(links) > MAX_PAIRS:
        sample = links[np.sort(rng.choice(len(links), MAX_PAIRS, replace=False))]
    absent = _draw_non_links(graph, people, len(sample), rng)
    num_others, num_control = int((~people).sum()), int(people.sum())
    total = num_control * num_others + num_control * (num_control - 1) // 2
    if graph.modes is not None:
        inside = [int((graph.modes.codes[~people] == code).sum()) for code in (0, 1)]
        total = graph.num_candidates - inside[0] * inside[1]
    return Control(people, links, LinkThreat(sample, absent, len(links) / max(total, 1)), total)


def _draw_non_links(
    graph: Graph, people: np.ndarray, count: int, rng: np.random.Generator
) -> np.ndarray:
    """At most `count` distinct non-links, uniformly among those that touch one of `people`."""
    draws = 8 * count + 64
    ends = np.stack(
        [rng.choice(np.flatnonzero(people), draws), rng.integers(0, graph.num_nodes, draws)], axis=1
    )
    # a pair of two control people can be drawn from either end
    is_valid = (ends[:, 0] != ends[:, 1]) & (~people[ends[:, 1]] | (rng.random(draws) < 0.5))
    ends = ends[is_valid & ~graph.contains_pairs(ends) & graph.may_link(ends)]
    _, first = np.unique(pair_codes(ends, graph.num_nodes), return_index=True)
    return np.sort(ends[np.sort(first)[:count]], axis=1)


def renumber_threats(threats: Threats, graph: Graph, control: Control) -> Threats:
    """Convert threats on `graph.subgraph(control.members)` to the node numbers of `graph`.

    Control nodes have no link in the visible graph, and their values are neither known nor
    evaluated.
    """
    members, link = control.members, threats.link
    attribute, utility = threats.attribute, threats.utility
    return replace(
        threats,
        visible=renumber_links(threats.visible, graph, control),
        link=link and renumber_link_threat(link, control),
        attribute=attribute and renumber_attribute_threat(attribute, graph, control),
        utility=utility and renumber_attribute_threat(utility, graph, control),
        test_links=None if threats.test_links is None else members[threats.test_links],
        test_non_links=None if threats.test_non_links is None else members[threats.test_non_links],
        control=control,
    )


def renumber_links(visible: Graph, graph: Graph, control: Control) -> Graph:
    """The whole graph with the links of a graph of `control.members` and no others."""
    return graph.with_edges(control.members[visible.edges], visible.weights)


def renumber_link_threat(threat: AnyLinkThreat, control: Control) -> AnyLinkThreat:
    """A threat on links among `control.members`, in the node numbers of the whole graph."""
    members, more = control.members, threat.more_absent
    return replace(
        threat,
        hidden=members[threat.hidden],
        absent=members[threat.absent],
        more_absent=None if more is None else members[more],
    )


def renumber_attribute_threat(
    threat: AttributeThreat, graph: Graph, control: Control
) -> AttributeThreat:
    """A threat on values of `control.members`, in the node numbers of the whole graph."""
    known, hidden = np.zeros((2, graph.num_nodes), bool)
    known[control.members], hidden[control.members] = threat.known, threat.hidden
    return AttributeThreat(graph.column(threat.attribute.name), known, hidden)


def make_control_attribute_threat(threat: AttributeThreat, control: Control) -> AttributeThreat:
    """The same attacker, evaluated on control nodes with a value."""
    return replace(threat, hidden=control.people & threat.attribute.known)


def make_control_released_threat(
    released: Graph, density: float, control: Control
) -> ReleasedThreat:
    """The question which links of control nodes are real, on a release without any of them.

    density: of the defended graph; its links and non-links are treated alike.
    """
    link = control.link
    counts = np.array([len(link.hidden), len(link.absent)])
    class_weights = np.array([density, 1 - density]) * control.num_pairs
    weights = np.repeat(class_weights / np.maximum(counts, 1), counts)
    is_released = released.contains_pairs(link.pairs)
    return ReleasedThreat(link.hidden, link.absent, density, weights=weights, released=is_released)
