"""A release as JSON and back; what a defense changed."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np

from core.graph import Graph
from core.release import Guarantee, Release


def describe_release(release: Release) -> dict[str, Any]:
    """Everything of a release but the graph, as JSON holds it."""
    return {
        "defense": release.defense,
        "config": release.config,
        "guarantee": asdict(release.guarantee),
        "facts": dict(release.facts),
        "content_hash": release.graph.content_hash,
    }


def restore_release(description: dict[str, Any], graph: Graph) -> Release:
    """The release that `describe_release` described, on its graph."""
    return Release(
        graph,
        description["defense"],
        description["config"],
        restore_guarantee(description["guarantee"]),
        facts=description["facts"],
    )


def restore_guarantee(fields: dict[str, Any]) -> Guarantee:
    """The guarantee from its JSON fields."""
    return Guarantee(**{**fields, "not_covered": tuple(fields["not_covered"])})


def count_changes(before: Graph, after: Graph) -> dict[str, float]:
    """links_kept, links_removed, links_added: counted on the graphs, whatever a defense says."""
    kept = int(np.isin(after.edge_codes, before.edge_codes).sum())
    return {
        "links_kept": float(kept),
        "links_removed": float(before.num_edges - kept),
        "links_added": float(after.num_edges - kept),
    }
