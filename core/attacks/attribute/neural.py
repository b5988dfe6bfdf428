"""What the neural attacks share: their settings, their search, and how they are run."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from pydantic import Field

from core.context import Context
from core.graph import Graph
from core.methods import AttributeAttack
from core.models.tuning import draw_folds, smooth_absent
from core.release import Release
from core.results import ClassProbabilities
from core.threats import AttributeThreat

if TYPE_CHECKING:
    from core.models.classifiers import Fit, MakeModel, Setting
    from core.models.encoders import Inputs
    from core.models.stacked import StackBackbone


WEIGHT_DECAY = 5e-4
"""Of AdamW; other values hardly changed what was tried."""


@dataclass(frozen=True, eq=False)
class Task:
    """What a classifier learns from, and what is tried.

    observed  (n,) codes of known nodes, else MISSING
    folds     nodes that are held out in turn; none: the first setting is taken
    """

    graph: Graph
    inputs: Inputs
    observed: np.ndarray
    num_classes: int
    folds: Sequence[np.ndarray]
    settings: Sequence[Setting]


class NeuralAttack(AttributeAttack):
    """A node classifier trained on the known nodes.

    Dropout, the number of epochs and the temperature are chosen by the log-loss in a
    cross-validation among the known nodes; the choice is recorded with the result.
    """

    CHOICES: ClassVar[tuple[tuple[float, bool], ...]] = ((0.5, True), (0.1, True), (0.8, True))
    """Dropout and use of own features that are tried, the usual ones first."""

    holds_out = True
    hidden: int = Field(64, ge=1, le=1024, description="Width of the hidden layer.")
    epochs: int = Field(200, ge=1, le=10_000, description="Training epochs at most.")
    lr: float = Field(0.01, gt=0, le=1, description="Learning rate of AdamW.")
    folds: int = Field(
        3,
        ge=0,
        le=20,
        description="Folds of the cross-validation among known nodes; 0 or 1: no tuning.",
    )

    @abstractmethod
    def fit(self, task: Task, context: Context) -> Fit:
        """Tries the settings on the folds, if there are any, and trains the best."""

    def infer(
        self, release: Release, threat: AttributeThreat, context: Context
    ) -> ClassProbabilities:
        from core.models.classifiers import Setting
        from core.models.encoders import make_inputs

        inputs = make_inputs(release.graph, context.device.torch_name, "standard")
        observed = threat.observed
        folds = draw_folds(observed, self.folds, context.rng("folds")) if self.folds > 1 else []
        settings = [Setting(dropout, WEIGHT_DECAY, root) for dropout, root in self.CHOICES]
        tried = settings if folds else settings[:1]
        task = Task(release.graph, inputs, observed, threat.num_classes, folds, tried)
        fit = self.fit(task, context)
        counts = np.bincount(observed[threat.known], minlength=threat.num_classes)
        return ClassProbabilities(
            smooth_absent(fit.probabilities, counts),
            fit.facts,
            None if fit.held_out is None else smooth_absent(fit.held_out, counts),
        )


class EncoderAttack(NeuralAttack):
    """Two layers of one kind; all trials run as one stacked pass."""

    BACKBONE: ClassVar[StackBackbone]

    def fit(self, task: Task, context: Context) -> Fit:
        from core.models.stacked_search import StackedSearch

        search = StackedSearch(
            self.BACKBONE,
            task.graph,
            task.inputs,
            task.observed,
            (self.hidden, task.num_classes),
            context,
            epochs=self.epochs,
            lr=self.lr,
        )
        return search.fit(task.folds, task.settings)


class ModuleAttack(NeuralAttack):
    """A network of its own; its trials run one after the other."""

    @abstractmethod
    def make_model(
        self, graph: Graph, inputs: Inputs, num_classes: int, context: Context
    ) -> MakeModel:
        """A function from a setting and a seed to a module that yields logits (n, C)."""

    def fit(self, task: Task, context: Context) -> Fit:
        from core.models.classifiers import fit_classifier

        return fit_classifier(
            self.make_model(task.graph, task.inputs, task.num_classes, context),
            task.observed,
            task.folds,
            task.settings,
            context,
            epochs=self.epochs,
            lr=self.lr,
        )
