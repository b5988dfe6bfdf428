"""Random deletion: publishes a random share of the links."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from core.context import Context
from core.defenses.deletion import Deletion
from core.graph import Graph
from core.methods import MethodInfo, Suggestion


class RandomDeletion(Deletion):
    """Links chosen uniformly without replacement."""

    info: ClassVar[MethodInfo] = MethodInfo(
        key="random_deletion",
        title="Random deletion",
        summary="Publishes the graph without a random share of its links.",
        source="Baseline 'Rand.' of GPS (Yuan et al., KDD 2024, §6)",
        group="empirical",
    )
    suggestion: ClassVar[Suggestion | None] = Suggestion(
        10,
        ("links", "attribute"),
        ("links", "column", "statistics"),
        "removes a share of the links and adds none",
        recipients=("partner", "internal"),
    )

    def _choose(self, graph: Graph, count: int, context: Context) -> np.ndarray:
        return context.rng("links").choice(graph.num_edges, count, replace=False)
