"""What is measured on a release itself: homophily, structure, usefulness, nearness of pairs."""

from __future__ import annotations

import numpy as np

from core.algorithms import ghratio
from core.context import Context
from core.graph import Graph
from core.measures.ghratio import measure_ghratios
from core.measures.pair_profile import measure_pair_profile
from core.measures.structure import find_communities, measure_structure
from core.measures.utility import measure_utility
from core.release import Release
from core.results import Measurement
from core.threats import Threats

NUM_STEPS = 4


def measure_release(
    release: Release, threats: Threats, context: Context
) -> tuple[list[Measurement], dict[str, np.ndarray]]:
    """Measurements, and arrays (n,) by name: degree, community, GHRatios, margin of the label."""
    visible, graph = threats.visible, release.graph
    measurements: list[Measurement] = []
    arrays = {"degree": graph.degrees}
    if threats.attribute is not None:
        attribute = threats.attribute.attribute
        ratios = ghratio.compute_ghratios(
            graph, attribute.codes, attribute.num_classes, ghratio.choose_tolerance(visible)
        )
        measurements += measure_ghratios(ratios, attribute.codes, attribute.shares)
        for name in ("proximity", "role", "combined"):
            arrays[f"ghratio_{name}"] = getattr(ratios, name)
    context.progress.update(1, NUM_STEPS, "GHRatio")
    measurements += measure_structure(visible, graph, context)
    arrays["community"] = find_communities(graph, context.rng("communities"))
    context.progress.update(2, NUM_STEPS, "structure")
    useful, margins = measure_utility(release, threats, context)
    measurements += useful
    if margins is not None:
        arrays["label_margin"] = margins
    if threats.link is not None:
        context.progress.update(3, NUM_STEPS, "pair profile")
        vectors = _find_vectors(graph, threats, context)
        measurements += measure_pair_profile(graph, threats.link, context, vectors)
    return measurements, arrays


def _find_vectors(graph: Graph, threats: Threats, context: Context) -> np.ndarray | None:
    """(n, d) embeddings of the auto-encoder that measured usefulness, where one was trained."""
    if threats.test_links is None or not len(threats.test_links):
        return None
    from core.models.gae import share_gae

    return share_gae(graph, context).vectors
