"""Measures of a release: homophily, structure, usefulness, pair proximity."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from core.algorithms import ghratio
from core.audit.asked.method_choice import MethodChoice
from core.audit.computing.partitions import explain_part
from core.context import Context
from core.errors import check_support
from core.graph import Graph
from core.measures.pair_profile import measure_pair_profile
from core.measures.queries import measure_queries
from core.measures.structure import measure_ghratios, measure_structure
from core.measures.utility import describe_excess, measure_utility
from core.partitioned import structure
from core.partitioned.graph import PartitionedGraph
from core.release import ORIGINAL, Release
from core.results import Measurement
from core.threats import Threats

Measured = tuple[list[Measurement], dict[str, np.ndarray]]
"""Measurements, and named arrays (n,) for the pages."""

Measure = Callable[[Release, Threats, Context], Measured]


def measure_release(part: str, release: Release, threats: Threats, context: Context) -> Measured:
    """Compute one of `MEASURES`, separately so that a slow one delays no other."""
    check_support(part, explain_part(part, release.graph) or None)
    return MEASURES[part](release, threats, context)


def _measure_homophily(release: Release, threats: Threats, context: Context) -> Measured:
    """GHRatios, and the degrees for pages."""
    graph, measurements = release.graph, []
    arrays = {"degree": graph.degrees}
    if threats.attribute is not None:
        attribute = threats.attribute.attribute
        ratios = ghratio.compute_ghratios(
            graph, attribute.codes, attribute.num_classes, ghratio.choose_tolerance(threats.visible)
        )
        measurements += measure_ghratios(ratios, attribute.codes, attribute.shares)
        for name in ("proximity", "role", "combined"):
            arrays[f"ghratio_{name}"] = getattr(ratios, name)
    return measurements, arrays


def _measure_structure(release: Release, threats: Threats, context: Context) -> Measured:
    before, after = threats.visible, release.graph
    if isinstance(before, PartitionedGraph) and isinstance(after, PartitionedGraph):
        return structure.measure_structure(before.links, after.links, context), {}
    return measure_structure(before, after, context), {}


def _measure_queries(release: Release, threats: Threats, context: Context) -> Measured:
    has_same_nodes = True
    if release.defense != ORIGINAL:
        choice = MethodChoice(key=release.defense, config=release.config)
        has_same_nodes = choice.make_defense().keeps_nodes
    return measure_queries(threats.visible, release.graph, context, has_same_nodes), {}


def _measure_utility(release: Release, threats: Threats, context: Context) -> Measured:
    """Usefulness, with the margins of the label if there is one."""
    measurements, margins = measure_utility(release, threats, context)
    return measurements, {} if margins is None else {"label_margin": margins}


def _measure_pairs(release: Release, threats: Threats, context: Context) -> Measured:
    assert threats.link is not None
    vectors = _find_vectors(release.graph, threats, context)
    return measure_pair_profile(release.graph, threats.link, context, vectors), {}


def _find_vectors(graph: Graph, threats: Threats, context: Context) -> np.ndarray | None:
    """(n, d) embeddings of the auto-encoder that measured usefulness, if trained."""
    if threats.test_links is None or not len(threats.test_links) or describe_excess(graph):
        return None
    from core.models.gae import share_gae

    return share_gae(graph, context).vectors


MEASURES: dict[str, Measure] = {
    "homophily": _measure_homophily,
    "structure": _measure_structure,
    "utility": _measure_utility,
    "pairs": _measure_pairs,
    "queries": _measure_queries,
}
"""Function of each part in `core.audit.asked.parts.PARTS`."""
