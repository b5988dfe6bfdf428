"""Audits of graphs whose links are kept in partitions: what they refuse, draw and leave out."""

from __future__ import annotations

from typing import Any

import numpy as np

from core.audit.asked.knowledge import STANDARD, Auxiliary
from core.audit.asked.scenarios import Scenario
from core.audit.asked.spec import AuditSpec
from core.audit.asked.spec_parts import ThreatSpec
from core.errors import InputError, UnsupportedError
from core.graph import Graph
from core.methods import Method
from core.partitioned.graph import PartitionedGraph
from core.partitioned.links import ONE_PROCESS, Inline
from core.seeding import Seed
from core.threats import IdentityThreat, LinkThreat

VERSION = 2
"""Increase when cells of partitioned graphs change results, which renews them."""

MEASURED = ("structure",)
"""Parts of a release's measures that partitions give."""


def explain_method(method: Method, graph: Graph, scenario: Scenario | None = None) -> str:
    """Why a method, as an attack in its scenario, does not run on the graph; "" if it may."""
    if not isinstance(graph, PartitionedGraph):
        return ""
    known = STANDARD if scenario is None else scenario.knowledge
    is_plain = known == STANDARD or (isinstance(known, Auxiliary) and known.spread != "community")
    if method.reads_partitions and is_plain and (scenario is None or scenario.threat != "included"):
        return ""
    return ONE_PROCESS if is_plain else f"this form of it {ONE_PROCESS}"


def explain_part(part: str, graph: Graph) -> str:
    """Why a part of a release's measures is not computed on the graph; "" if it is."""
    is_free = part in MEASURED or not isinstance(graph, PartitionedGraph)
    return "" if is_free else ONE_PROCESS


def check_options(spec: AuditSpec) -> None:
    """Raise UnsupportedError for options that need all links in one process."""
    threats, knowledge, disclosure = spec.threats, spec.knowledge, spec.disclosure
    identity = threats.identity
    refused: dict[str, Any] = {
        "--sensitive-links": threats.sensitive_links,
        "--held-back-links": spec.held_back_links,
        "--evaluation": threats.evaluation != "uniform",
        "--control": spec.control,
        "--leave-out": disclosure.leave_out,
        "--publish-columns": disclosure.publish_columns,
        "--generalize": disclosure.generalize,
        "--shadow-graph": knowledge.shadow_graph,
        "--auxiliary-graph": identity is not None and identity.auxiliary_graph,
        "a release made elsewhere": spec.external_releases,
    }
    for name, value in refused.items():
        if value:
            raise UnsupportedError(name, ONE_PROCESS, remedy="leave it out")


def observe(
    graph: PartitionedGraph, threats: ThreatSpec, seed: Seed
) -> tuple[PartitionedGraph, LinkThreat | None]:
    """The graph that is defended in a repeat, and its withheld links if any are secret.

    No links are held back to test usefulness, which is not measured on partitions.
    """
    if not threats.has_links:
        return graph, None
    if threats.hide_links is None:
        raise InputError("withheld links", "must be a share", remedy="use --hide-links")
    from core.partitioned.threat import observe_graph

    return observe_graph(Inline(), graph, threats.hide_links, seed.child("withheld"))


def draw_identities(visible: PartitionedGraph) -> IdentityThreat:
    """Attackers who know a person's neighbourhood; no second graph is sampled."""
    none = np.empty((0, 2), np.int64)
    return IdentityThreat(visible, visible, np.arange(visible.num_nodes), none, "sampled")
