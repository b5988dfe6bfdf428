"""Label propagation: a strong and nearly free attacker that every audit should include."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from pydantic import Field

from core.algorithms.class_propagation import (
    SETTLED,
    normalize_class_mass,
    propagate_labels,
    sharpen,
)
from core.context import Context
from core.methods import AttributeAttack, MethodInfo, UnitInterval
from core.models.tuning import compute_log_loss, draw_folds, hold_out
from core.node_column import MISSING
from core.partitioned.attacks import spread_labels
from core.partitioned.graph import PartitionedGraph
from core.progress import PartProgress
from core.release import Release
from core.results import ClassProbabilities
from core.threats import AttributeThreat

POWERS = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0)
"""By which log-values are multiplied; the search takes the best on known nodes held out."""

HELD_OUT = 20_000
"""Known nodes held out that suffice to choose among seven powers; further parts are not run."""

COLUMNS = 16
"""Columns that are spread at once: wider rows save little time and take more memory."""


class LabelPropagation(AttributeAttack):
    """F ← share · D⁻¹ A F + (1 − share) · prior, the known rows clamped to the truth.

    The limits rank people well but are poorly calibrated: they stay close to the class shares. So
    they are set against the mass of their class and sharpened as far as known nodes held out are
    predicted best; of two classes that leaves the ranking as it is.
    """

    info: ClassVar[MethodInfo] = MethodInfo(
        key="label_propagation",
        title="Label propagation",
        summary="Spreads the known values along the links until they settle.",
        source=(
            "Zhu, Ghahramani and Lafferty, Semi-supervised learning using Gaussian fields and "
            "harmonic functions, ICML 2003"
        ),
        group="propagation",
        version=4,
    )
    holds_out = True
    partitioned: ClassVar[bool] = True
    neighbor_share: UnitInterval = Field(
        0.99, description="Weight of the neighbours' values; the rest is the class prior."
    )
    rounds: int = Field(
        100,
        ge=1,
        le=10_000,
        description="Propagation rounds at most; fewer once the values settle.",
    )
    folds: int = Field(
        5,
        ge=0,
        le=20,
        description="Parts of the known nodes held out to choose how sure to be; 0 or 1: the "
        "values as they settle.",
    )

    def infer(
        self, release: Release, threat: AttributeThreat, context: Context
    ) -> ClassProbabilities:
        observed, prior = threat.observed, threat.observed_shares
        folds = draw_folds(observed, self.folds, context.rng("folds")) if self.folds > 1 else []
        folds = folds[: -(-HELD_OUT // len(folds[0]))] if folds else []
        parts = list(hold_out(observed, folds))
        codes = [*(training for training, _ in parts), observed]
        *held_out_values, values = self._spread(codes, prior, release, context)
        held_out = [
            (normalize_class_mass(spread, training == MISSING)[fold], observed[fold])
            for spread, (training, fold) in zip(held_out_values, parts, strict=True)
        ]
        if not folds:
            return ClassProbabilities(values)
        power = choose_power(held_out, prior)
        sharpened = sharpen(normalize_class_mass(values, ~threat.known), prior, power)
        sharpened[threat.known] = values[threat.known]
        predicted = np.full_like(sharpened, np.nan)
        for fold, (logits, _) in zip(folds, held_out, strict=False):
            predicted[fold] = sharpen(logits, prior, power)
        return ClassProbabilities(sharpened, {"power": power}, predicted)

    def _spread(
        self, codes: list[np.ndarray], prior: np.ndarray, release: Release, context: Context
    ) -> list[np.ndarray]:
        """(n, C) of each set of known values, some of them side by side."""
        count = max(COLUMNS // len(prior), 1)
        parts = [codes[start : start + count] for start in range(0, len(codes), count)]
        spread = []
        for number, part in enumerate(parts):
            progress = PartProgress(context.progress, number, len(parts))
            share, rounds, graph = self.neighbor_share, self.rounds, release.graph
            if isinstance(graph, PartitionedGraph):
                spread += spread_labels(graph.links, part, prior, share, rounds, progress)
            else:
                spread += propagate_labels(graph, part, prior, share, rounds, SETTLED, progress)
        return spread


def choose_power(held_out: list[tuple[np.ndarray, np.ndarray]], prior: np.ndarray) -> float:
    """The power with the lowest log-loss over parts of (h, C) logits and their (h,) classes; 1
    without any."""
    if not held_out:
        return 1.0
    logits = np.concatenate([part for part, _ in held_out])
    truth = np.concatenate([part for _, part in held_out])
    losses = [
        compute_log_loss(sharpen(logits, prior, power), truth, np.arange(len(truth)))
        for power in POWERS
    ]
    return POWERS[int(np.argmin(losses))]
