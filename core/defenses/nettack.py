"""Nettack's structure attack on the private attribute, as a baseline defense."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from core.context import Context
from core.defenses.netfense import FlipDefense, check_flips
from core.errors import check_support
from core.graph import Graph
from core.methods import MethodInfo
from core.release import Release
from core.threats import Threats

if TYPE_CHECKING:
    from core.models.flips.perturbation import Flipper


class Nettack(FlipDefense):
    """Per target, greedy flips that lower the score of its predicted private class.

    It drives the margin below zero, where inversion reveals the truth: for comparison with
    NetFense.
    """

    info: ClassVar[MethodInfo] = MethodInfo(
        key="nettack",
        title="Nettack",
        summary="Flips links at each target so that its private class is misjudged.",
        source="Zügner, Akbarnejad and Günnemann, KDD 2018; baseline NT of NetFense (TKDE 2021)",
        group="empirical",
        cost="minutes",
    )

    def supports(self, graph: Graph, threats: Threats) -> str | None:
        return check_flips(graph, threats, with_features=False)

    def publish(self, graph: Graph, threats: Threats, context: Context) -> Release:
        check_support(self.info.title, self.supports(graph, threats))
        from core.models.flips.perturbation import fit_surrogates

        surrogates = fit_surrogates(graph, threats, context)
        return self.flip_around_targets(graph, threats, surrogates, self.flip_once, context)

    def flip_once(self, flipper: Flipper, v: int) -> bool:
        """One flip at v; False if none is allowed or none helps."""
        count = flipper.surrogates.num_private
        predicted = int(flipper.original_scores[v, :count].argmax())

        def loss(scores: np.ndarray) -> np.ndarray:
            others = np.delete(scores[:, :count], predicted, axis=1)
            return np.asarray(scores[:, predicted] - others.max(axis=1, initial=-1e9))

        return flipper.flip_best(v, flipper.find_degree_preserving(v), loss)
