"""Neighbourhood classifier: trees and linear models on all that a release shows of a node."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, ClassVar

import numpy as np
from pydantic import Field

from core.context import Context
from core.graph import MISSING
from core.methods import AttributeAttack, MethodInfo
from core.models.pooling import combine
from core.models.tuning import (
    compute_log_loss,
    draw_folds,
    hold_out,
    learn_logistic,
    smooth_absent,
)
from core.release import Release
from core.results import ClassProbabilities
from core.threats import AttributeThreat

PENALTIES = (0.01, 0.1, 1.0)
"""Inverse penalties of the linear models that are tried."""

Learn = Callable[[np.ndarray], Callable[[np.ndarray], np.ndarray]]
"""From observed codes (n,) to a function from nodes (k,) to probabilities (k, C)."""


class NeighbourhoodClassifier(AttributeAttack):
    """One linear model a kind of evidence, trees on all of it, and a signed pool of them.

    Evidence: own features, those of the surroundings, structural role, an embedding of random
    walks, and how the known values lie up to three steps away. The last is cross-fitted: a known
    node's row is made without its own value. What each model says of known nodes held out
    decides how far it is trusted, as in `ensemble`; one that is wrong counts turned round.
    """

    info: ClassVar[MethodInfo] = MethodInfo(
        key="neighbourhood_classifier",
        title="Neighbourhood classifier",
        summary="Learns from features, roles, embeddings and the known values around each node.",
        source=(
            "Neville and Jensen, Iterative classification in relational data, AAAI workshop 2000; "
            "extremely randomised trees by Geurts et al., 2006; pooled as the ensemble"
        ),
        group="combined",
        cost="seconds",
    )
    trees: int = Field(200, ge=1, le=10_000, description="Extremely randomised trees.")
    width: int = Field(
        64, ge=1, le=1024, description="Main directions that many features are reduced to."
    )
    folds: int = Field(5, ge=2, le=20, description="Parts of the known nodes held out in turn.")
    evenness: float = Field(
        10.0,
        ge=0,
        le=1000,
        description="Penalty on a model's squared distance to an even share of the trust.",
    )

    def infer(
        self, release: Release, threat: AttributeThreat, context: Context
    ) -> ClassProbabilities:
        from core.models.evidence import count_labels, describe_nodes
        from core.models.node2vec import share_node2vec

        graph, observed, prior = release.graph, threat.observed, threat.observed_shares
        folds = draw_folds(observed, self.folds, context.rng("folds"))
        parts = list(hold_out(observed, folds))
        context.progress.update(0, 8, "describing the nodes")
        blocks = describe_nodes(graph, self.width, int(context.rng("svd").integers(2**31)))
        vectors = np.asarray(share_node2vec(graph, context), np.float64)
        blocks["embedding"] = vectors / (vectors.std() or 1.0)
        context.progress.update(1, 8, "known values around each node")
        seen = count_labels(graph, observed, prior)
        learned = seen.copy()
        for rest, fold in parts:
            learned[fold] = count_labels(graph, rest, prior)[fold]
            context.progress.check()
        scale = learned.std() or 1.0
        known = observed != MISSING
        # Rows of known nodes are only ever learned from, or judged on, without their own value.
        blocks["labels"] = np.where(known[:, None], learned, seen) / scale
        models: dict[str, Learn] = {}
        for number, (name, block) in enumerate(blocks.items()):
            context.progress.update(2 + number, 8, f"a linear model of the {name}")
            models[name] = self._choose_linear(block, observed, parts, threat.num_classes)
        everything = np.column_stack([*blocks.values()]).astype(np.float32)
        state = int(context.rng("trees").integers(2**31))
        models["trees"] = self._make_trees(everything, threat.num_classes, state)
        held_out, truth = _hold_out([*models.values()], observed, parts, threat.num_classes)
        context.progress.update(7, 8, "pooling")
        everybody = np.arange(graph.num_nodes)
        values = np.array([learn(observed)(everybody) for learn in models.values()])
        probabilities, weights = combine(values, held_out, truth, self.evenness)
        return ClassProbabilities(
            probabilities,
            {
                f"weight of {name}": round(float(w), 3)
                for name, w in zip(models, weights, strict=True)
            },
        )

    def _choose_linear(
        self,
        block: np.ndarray,
        observed: np.ndarray,
        parts: list[tuple[np.ndarray, Any]],
        num_classes: int,
    ) -> Learn:
        """A logistic regression with the penalty of the lowest log-loss on nodes held out."""
        choices = [
            partial(learn_logistic, block, num_classes=num_classes, penalty=penalty)
            for penalty in PENALTIES
        ]
        if not parts:
            return choices[0]
        losses = []
        for learn in choices:
            said, truth = _hold_out([learn], observed, parts, num_classes)
            losses.append(compute_log_loss(said[0], truth, np.arange(len(truth))))
        return choices[int(np.argmin(losses))]

    def _make_trees(self, table: np.ndarray, num_classes: int, state: int) -> Learn:
        from sklearn.ensemble import ExtraTreesClassifier

        def learn(codes: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
            known = codes != MISSING
            counts = np.bincount(codes[known], minlength=num_classes)
            model = ExtraTreesClassifier(self.trees, min_samples_leaf=2, random_state=state)
            model.fit(table[known], codes[known])

            def predict(nodes: np.ndarray) -> np.ndarray:
                values = np.zeros((len(nodes), num_classes))
                values[:, np.flatnonzero(counts)] = model.predict_proba(table[nodes])
                return smooth_absent(values, counts)

            return predict

        return learn


def _hold_out(
    models: Sequence[Learn],
    observed: np.ndarray,
    parts: list[tuple[np.ndarray, Any]],
    num_classes: int,
) -> tuple[np.ndarray, np.ndarray]:
    """(K, h, C) what each model says of h known nodes that it had not seen, and (h,) classes."""
    nodes = np.concatenate([fold for _, fold in parts]) if parts else np.zeros(0, np.int64)
    said = np.zeros((len(models), len(nodes), num_classes))
    for row, learn in enumerate(models):
        if parts:
            said[row] = np.concatenate([learn(rest)(fold) for rest, fold in parts])
    return said, observed[nodes]
