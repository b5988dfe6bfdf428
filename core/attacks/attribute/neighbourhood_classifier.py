"""Neighbourhood classifier: trees and linear models on all that a release shows of a node."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

import numpy as np
from pydantic import Field

from core.context import Context
from core.graph import Graph
from core.methods import AttributeAttack, MethodInfo
from core.models.pooling import choose_evenness, fit_weights, pool
from core.models.tuning import (
    CrossFit,
    Learn,
    Predict,
    Runs,
    draw_folds,
    learn_softmax,
    smooth_absent,
)
from core.node_column import MISSING, NodeColumn
from core.release import Release
from core.results import ClassProbabilities
from core.threats import AttributeThreat, count_shares

PENALTIES = (0.01, 0.1, 1.0)
"""Inverse penalties of the linear models that are tried."""
MAX_SHADOW_ROUNDS = 2
"""Rounds at most that the neighbours teach where another graph does."""


class NeighbourhoodClassifier(AttributeAttack):
    """One linear model a kind of evidence, trees on all of it, and a signed pool of them.

    Evidence: own features, those of the neighbourhood, structural role, the main directions of
    the links, an embedding of random walks, and how the known values lie up to three steps away.
    All is cross-fitted: a known node's row is made without its own value. The
    predictions for known nodes held out decide each model's weight, as in `ensemble`; one that is
    wrong gets a negative weight. Further rounds learn from the pooled predictions for the
    neighbours: where few values are known, most of the evidence of the links lies there.
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
        version=5,
    )
    reads_all_evidence: ClassVar[bool] = True
    reads_weights: ClassVar[bool] = True
    transfers = True
    transfer_version = 3
    trees: int = Field(200, ge=1, le=10_000, description="Extremely randomised trees.")
    width: int = Field(
        64, ge=1, le=1024, description="Main directions that many features are reduced to."
    )
    folds: int = Field(5, ge=2, le=20, description="Parts of the known nodes held out in turn.")
    evenness: float | None = Field(
        None,
        ge=0,
        le=1000,
        description="Penalty on a model's squared distance to an even share of the trust; empty: "
        "chosen on known nodes.",
    )
    rounds: int = Field(
        4, ge=0, le=20, description="Rounds of training on the neighbours' predicted values."
    )

    def infer(
        self, release: Release, threat: AttributeThreat, context: Context
    ) -> ClassProbabilities:
        from core.models.evidence import count_labels, describe_nodes
        from core.models.node2vec import share_node2vec

        graph, num_classes = release.graph, threat.num_classes
        steps = 13 + self.rounds
        folds = draw_folds(threat.observed, self.folds, context.rng("folds"))
        fits = CrossFit(threat.observed, folds)
        context.progress.update(0, steps, "describing the nodes")
        blocks = describe_nodes(graph, self.width, int(context.rng("svd").integers(2**31)))
        vectors = np.asarray(share_node2vec(graph, context), np.float64)
        blocks["embedding"] = vectors / (vectors.std() or 1.0)
        context.progress.update(1, steps, "known values around each node")
        # Against the shares of those given in the run: who is left out would else be one fewer of
        # a class by definition, and with few known values that would teach the opposite.
        priors = [count_shares(codes, num_classes) for codes in fits.run_codes]
        labels = fits.mix(
            [count_labels(graph, *run) for run in zip(fits.run_codes, priors, strict=True)]
        )
        scale = labels[-1].std() or 1.0
        tables: dict[str, Runs] = {name: [block] * len(labels) for name, block in blocks.items()}
        tables["labels"] = [table / scale for table in labels]
        predicted = {}
        for number, (name, runs) in enumerate(tables.items()):
            context.progress.update(2 + number, steps, f"a linear model of the {name}")
            predicted[name] = self._learn_linear(fits, runs, num_classes)
        context.progress.update(11, steps, "trees on everything")
        node_columns = np.column_stack([*blocks.values()])
        everything = [
            np.column_stack([node_columns, t]).astype(np.float32) for t in tables["labels"]
        ]
        predicted["trees"] = fits.run(self._make_trees(num_classes, context), everything)
        context.progress.update(12, steps, "pooling")
        pooled, weights = self._pool(fits, np.array([*predicted.values()]))
        for number in range(self.rounds if fits.parts else 0):
            context.progress.update(13 + number, steps, "learning from the neighbours' values")
            refined = self._learn_again(fits, graph, pooled, priors)
            pooled, _ = self._pool(fits, np.array([pooled, refined]))
        facts = zip(predicted, weights, strict=True)
        return ClassProbabilities(
            pooled[-1], {f"weight of {name}": round(float(w), 3) for name, w in facts}
        )

    def infer_from(
        self, other: Graph, release: Release, threat: AttributeThreat, context: Context
    ) -> ClassProbabilities:
        """Learns from roles and columns of the same name in both graphs, then from the predictions
        for the neighbours, with no value of the other graph given. Confidence is calibrated between
        two parts of the other graph."""
        from core.models.shadow_graph import count_splits, find_exponent, temper

        times = 1 + 2 * count_splits(other)
        numbers = iter(range(times))

        def learn(
            graph: Graph, observed: np.ndarray, teacher: Graph
        ) -> tuple[np.ndarray, np.ndarray]:
            at = (next(numbers), times)
            return self._learn_from(graph, observed, teacher, threat.attribute, context, at)

        probabilities, prior = learn(release.graph, threat.observed, other)
        share = float(threat.known.mean())
        exponent = find_exponent(other, threat.attribute, share, learn, context.rng("rehearsal"))
        facts: dict[str, float | str] = {"people elsewhere": other.num_nodes, "sureness": exponent}
        return ClassProbabilities(temper(probabilities, prior, exponent), facts)

    def _learn_from(
        self,
        graph: Graph,
        observed: np.ndarray,
        other: Graph,
        private: NodeColumn,
        context: Context,
        at: tuple[int, int],
    ) -> tuple[np.ndarray, np.ndarray]:
        """(n, C) of a graph with observed codes (n,) by another one, and the prior (C,); at: which
        of how many times this is."""
        from core.models.shadow_graph import join_graphs, learn_from_neighbours

        classes = private.num_classes
        joined = join_graphs(graph, observed, other, private)
        fits = CrossFit(
            joined.observed, draw_folds(joined.observed, self.folds, context.rng("folds"))
        )
        rounds = min(self.rounds, MAX_SHADOW_ROUNDS) if fits.parts else 0
        runs, steps = len(fits.run_codes), len(joined.blocks) + 1 + rounds
        predicted: list[np.ndarray] = []

        def report(step: int, doing: str) -> None:
            context.progress.update(at[0] * steps + step, at[1] * steps, doing)

        for name, block in joined.blocks.items():
            report(len(predicted), f"a linear model of the {name}")
            predicted.append(self._learn_linear(fits, [block] * runs, classes))
        report(len(predicted), "trees on everything")
        everything = np.column_stack([*joined.blocks.values()]).astype(np.float32)
        predicted.append(fits.run(self._make_trees(classes, context), [everything] * runs))
        pooled, _ = self._pool(fits, np.array(predicted))
        prior, probabilities = count_shares(joined.observed, classes), fits.merge_held_out(pooled)
        is_known = np.arange(len(probabilities)) < graph.num_nodes
        is_known &= joined.observed != MISSING
        # Further rounds would amplify what one of the graphs alone has.
        for step in range(rounds):
            report(len(predicted) + step, "learning from the neighbours")
            probabilities = learn_from_neighbours(joined, probabilities, is_known, prior)
        return probabilities[: graph.num_nodes], prior

    def _learn_linear(self, fits: CrossFit, tables: Runs, num_classes: int) -> np.ndarray:
        """(R, n, C) of the logistic regression whose penalty does best on nodes held out."""
        return fits.choose(
            [
                partial(learn_softmax, num_classes=num_classes, penalty=penalty)
                for penalty in PENALTIES
            ],
            tables,
        )

    def _make_trees(self, num_classes: int, context: Context) -> Learn:
        from sklearn.ensemble import ExtraTreesClassifier

        state = int(context.rng("trees").integers(2**31))

        def learn(table: np.ndarray, codes: np.ndarray) -> Predict:
            known = codes != MISSING
            counts = np.bincount(codes[known], minlength=num_classes)
            model = ExtraTreesClassifier(self.trees, min_samples_leaf=2, random_state=state)
            model.fit(table[known], codes[known])
            context.progress.check()

            def predict(nodes: Any) -> np.ndarray:
                found = model.predict_proba(table[nodes])
                values = np.zeros((len(found), num_classes))
                values[:, np.flatnonzero(counts)] = found
                return smooth_absent(values, counts)

            return predict

        return learn

    def _pool(self, fits: CrossFit, predicted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(R, n, C) and (K,) trust of (K, R, n, C), by the predictions for nodes held out."""
        held_out = np.array([fits.hold_out(member) for member in predicted])
        evenness = self.evenness
        if evenness is None:
            evenness = choose_evenness(held_out, fits.truth)
        weights = fit_weights(held_out, fits.truth, evenness)
        return np.array([pool(run, weights) for run in predicted.swapaxes(0, 1)]), weights

    def _learn_again(
        self, fits: CrossFit, graph: Graph, pooled: np.ndarray, priors: list[np.ndarray]
    ) -> np.ndarray:
        """(R, n, C) learned from the predictions for a node and for its neighbours."""
        from core.models.evidence import count_inferred

        tables = []
        for codes, probabilities, prior in zip(fits.run_codes, pooled, priors, strict=True):
            known = np.flatnonzero(codes != MISSING)
            inputs = probabilities.copy()
            inputs[known] = np.eye(len(prior))[codes[known]]
            tables.append(count_inferred(graph, inputs, prior))
        return self._learn_linear(fits, fits.mix(tables), len(priors[-1]))
