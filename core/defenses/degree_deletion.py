"""Degree deletion: removes the links between nodes of highest degree."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from core.context import Context
from core.defenses.deletion import RankedDeletion
from core.graph import Graph
from core.methods import MethodInfo


class DegreeDeletion(RankedDeletion):
    """Removes links in descending order of the sum of both ends' degrees."""

    info: ClassVar[MethodInfo] = MethodInfo(
        key="degree_deletion",
        title="Deletion by degree",
        summary="Publishes the graph without the links between the best-connected nodes.",
        source="Bojchevski and Günnemann, ICML 2019; baseline 'Deg.' of GPS (KDD 2024, §6.3)",
        group="empirical",
    )

    def _score_links(self, graph: Graph, context: Context) -> np.ndarray:
        return np.asarray(graph.degrees[graph.edges].sum(axis=1))
