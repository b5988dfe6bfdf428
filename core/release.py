"""Releases and their guarantees."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from core.errors import InputError
from core.graph import Graph
from core.node_column import NodeColumn
from core.words import format_value

ORIGINAL = "original"
"""Id of the undefended graph among the releases of an audit."""
COMMAND = "command"
"""Key of the defense that runs a user's program."""

Unit = Literal["none", "edge", "link", "node"]


@dataclass(frozen=True)
class Guarantee:
    """A differential-privacy guarantee, or none ("empirical only").

    unit        none: empirical only; edge: one link under a trusted curator; link: one link under
                link-local DP; node: one node with all its links
    relation    the neighbouring relation in words ("graphs that differ in one link")
    epsilon     total budget of the release under `accountant`
    epsilon_transcript  if both ends report the same link: budget of that link for an observer of
                all reports (2ε), else None
    trust       central (a curator sees the graph) or local (nobody does)
    not_covered what the guarantee excludes: features, node set, labels …
    is_known    False if an external release may have an unknown guarantee

    >>> from core.release import Guarantee
    >>> Guarantee("edge", epsilon=2.0, delta=1e-6).label
    'edge-DP, ε = 2, δ = 10⁻⁶'
    """

    unit: Unit = "none"
    relation: str = ""
    epsilon: float | None = None
    delta: float = 0.0
    accountant: str = ""
    trust: Literal["", "central", "local"] = ""
    epsilon_transcript: float | None = None
    epsilon_naive: float | None = None
    not_covered: tuple[str, ...] = ()
    note: str = ""
    is_known: bool = True

    @property
    def is_private(self) -> bool:
        return self.unit != "none"

    @property
    def epsilon_received(self) -> float | None:
        """ε for the recipient of the release: 2ε if both ends report a link."""
        return self.epsilon if self.epsilon_transcript is None else self.epsilon_transcript

    @property
    def delta_received(self) -> float:
        """δ for the recipient of the release: 2δ if both ends report a link (Dwork et al., 2006,
        Theorem 1, for two reports)."""
        return self.delta if self.epsilon_transcript is None else 2.0 * self.delta

    def promises_nothing(self, num_nodes: int) -> bool:
        """Whether δ exceeds `find_largest_delta` of a graph of that size."""
        return self.delta_received > find_largest_delta(num_nodes)

    @property
    def label(self) -> str:
        """Table entry: "edge-DP, ε = 6", "empirical only" or "not known"; ε is the recipient's."""
        if not self.is_private:
            return "empirical only" if self.is_known else "not known"
        names = {"edge": "edge-DP", "link": "link-local DP", "node": "node-DP"}
        delta = f", δ = {format_value(self.delta_received)}" if self.delta else ""
        return f"{names[self.unit]}, ε = {self.epsilon_received:g}{delta}"


def find_largest_delta(num_nodes: int) -> float:
    """One in the number of nodes. A larger δ promises nothing, since whoever publishes one node at
    random, with all that is known of it, keeps to δ = 1/n (Dwork and Roth, 2014, §2.3)."""
    return 1 / max(num_nodes, 1)


EMPIRICAL = Guarantee()


@dataclass(frozen=True, eq=False)
class Release:
    """A graph to be published.

    graph      same nodes as the original; weights in [0, 1] for methods that weigh links
    defense    key of the defense, ORIGINAL for the undefended graph
    config     settings of the defense
    curves     named training curves, [(step, value), …] each
    facts      single figures: links removed, links added, …
    link_scores (m,) float64 for the links of the defended graph, in its order: the learned
                probability of publishing each; None without
    """

    graph: Graph
    defense: str = ORIGINAL
    config: dict[str, Any] = field(default_factory=dict)
    guarantee: Guarantee = EMPIRICAL
    curves: dict[str, list[tuple[float, float]]] = field(default_factory=dict)
    facts: dict[str, float] = field(default_factory=dict)
    link_scores: np.ndarray | None = None

    @property
    def work_key(self) -> tuple[str, str]:
        """`Method.work_key` of the defense."""
        return self.defense, json.dumps(self.config, sort_keys=True)

    @property
    def public_config(self) -> dict[str, Any]:
        """Settings as handed out: a command line may hold the publisher's paths and passwords."""
        return {} if self.defense == COMMAND else self.config

    def strip(self) -> Release:
        """Remove everything not covered by the budget: true counts, curves and scores."""
        return replace(self, curves={}, facts={}, link_scores=None)


def check_release(release: object, graph: Graph, label: str) -> Release:
    """The release of `graph` by a defense; raises InputError if it is invalid."""
    what, remedy = f"defense '{label}'", "see tests/examples/own_defense"
    if not isinstance(release, Release):
        raise InputError(what, "must return a Release", type(release).__name__, remedy)
    if release.graph.num_nodes != graph.num_nodes:
        rule = f"must keep the {graph.num_nodes} nodes of the graph"
        raise InputError(what, rule, release.graph.num_nodes, remedy)
    return release


def keep_to_modes(release: Release, modes: NodeColumn | None) -> Release:
    """The release with the modes of the graph that was defended, and without links within one.

    Whoever reads the ids knows the modes, and such links to be false. Leaving them out reads
    nothing but the release, so that a guarantee stays (Dwork and Roth, 2014, §2.3).
    """
    if modes is None:
        return release
    graph, facts = replace(release.graph, modes=modes), release.facts
    is_candidate = graph.may_link(graph.edges)
    if not is_candidate.all():
        graph = graph.select_edges(is_candidate)
        # The defense's own count has the links that are left out; the engine counts anew.
        facts = {name: value for name, value in facts.items() if name != "links_added"}
    return replace(release, graph=graph, facts=facts)
