"""Graph networks as attackers: their settings, their search, and how they are run."""

from __future__ import annotations

from abc import abstractmethod
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
    from core.models.encoders import Inputs
    from core.models.stacked import StackBackbone
    from core.models.trials import Family


WEIGHT_DECAY = 5e-4
"""Of AdamW; other values hardly changed what was tried."""


class NeuralAttack(AttributeAttack):
    """A node classifier trained on the known nodes; all trials run as one pass.

    Dropout, the number of epochs and the temperature are chosen by the log-loss in a
    cross-validation among the known nodes; the choice is recorded with the result.
    """

    CHOICES: ClassVar[tuple[tuple[float, bool], ...]] = ((0.5, True), (0.8, True))
    """Dropout and use of own features that are tried, the usual ones first."""

    holds_out = True
    hidden: int = Field(64, ge=1, le=1024, description="Width of the hidden layer.")
    epochs: int = Field(100, ge=1, le=10_000, description="Training epochs at most.")
    lr: float = Field(0.01, gt=0, le=1, description="Learning rate of AdamW.")
    folds: int = Field(
        3,
        ge=0,
        le=20,
        description="Folds of the cross-validation among known nodes; 0 or 1: no tuning.",
    )

    @abstractmethod
    def make_family(
        self, graph: Graph, inputs: Inputs, sizes: tuple[int, int, int], context: Context
    ) -> Family:
        """The classifiers that are tried; sizes: input columns, hidden width, classes."""

    def infer(
        self, release: Release, threat: AttributeThreat, context: Context
    ) -> ClassProbabilities:
        from core.models.encoders import make_inputs, num_columns
        from core.models.stacked_search import StackedSearch
        from core.models.trials import Setting

        inputs = make_inputs(release.graph, context.device.torch_name, "standard")
        observed = threat.observed
        folds = draw_folds(observed, self.folds, context.rng("folds")) if self.folds > 1 else []
        settings = [Setting(dropout, WEIGHT_DECAY, root) for dropout, root in self.CHOICES]
        sizes = num_columns(inputs), self.hidden, threat.num_classes
        family = self.make_family(release.graph, inputs, sizes, context)
        search = StackedSearch(family, observed, context, epochs=self.epochs, lr=self.lr)
        fit = search.fit(folds, settings)
        counts = np.bincount(observed[threat.known], minlength=threat.num_classes)
        return ClassProbabilities(
            smooth_absent(fit.probabilities, counts),
            fit.facts,
            None if fit.held_out is None else smooth_absent(fit.held_out, counts),
        )


class EncoderAttack(NeuralAttack):
    """Two layers of one kind."""

    BACKBONE: ClassVar[StackBackbone]

    def make_family(
        self, graph: Graph, inputs: Inputs, sizes: tuple[int, int, int], context: Context
    ) -> Family:
        from core.models.stacked import EncoderFamily

        device = context.device.torch_name
        return EncoderFamily(self.BACKBONE, graph, inputs, sizes, device)
