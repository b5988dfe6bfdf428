"""Ensemble of attacks: the attacker who trusts each as far as it proved right before."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import numpy as np
from pydantic import Field, field_validator

from core.attacks.attribute.tuning import draw_folds, hold_out
from core.context import Context
from core.graph import MISSING
from core.methods import AttributeAttack, MethodInfo, find_method, make_method
from core.progress import PartProgress
from core.release import Release
from core.results import ClassProbabilities
from core.threats import AttributeThreat

SHARPNESS = (0.1, 0.2, 0.35, 0.5, 0.7, 1.0, 1.4)
"""Exponents tried on a member's probabilities; below 1 they become less certain."""


class Ensemble(AttributeAttack):
    """Σ_k w_k p_k of calibrated members.

    Each member is run on parts of the known nodes; how well it predicts the rest decides its
    sharpness and its weight. Weights are the mixture's maximum a posteriori estimate.
    """

    info: ClassVar[MethodInfo] = MethodInfo(
        key="ensemble",
        title="Ensemble",
        summary="Weighs several attacks by how well they predict known values held out.",
        source="Wolpert, Stacked generalization, Neural Networks 1992",
        group="combined",
        cost="minutes",
        uses_gpu=True,
    )
    members: str = Field(
        "label_propagation+attri_infer+gcn+gps+ai_deepwalk",
        description="Keys of the attacks that take part, joined by +.",
    )
    folds: int = Field(3, ge=2, le=20, description="Parts of the known nodes held out in turn.")
    evenness: float = Field(
        3.0, ge=0, le=1000,
        description="Pseudo-count a member: the larger, the more even the weights.",
    )

    @field_validator("members")
    @classmethod
    def check_members(cls, value: str) -> str:
        keys = value.split("+")
        if len(set(keys)) != len(keys) or "ensemble" in keys:
            raise ValueError("must name distinct attacks other than the ensemble itself")
        for key in keys:
            try:
                find_method(key, "attribute_attack")
            except Exception as error:
                raise ValueError(str(error)) from None
        return value

    def infer(
        self, release: Release, threat: AttributeThreat, context: Context
    ) -> ClassProbabilities:
        members = self._make_members(release, threat)
        observed = threat.observed
        folds = draw_folds(observed, self.folds, context.rng("folds"))
        parts = list(hold_out(observed, folds))
        total, step = len(members) * (len(parts) + 1), 0
        held_out = np.full((len(members), len(observed), threat.num_classes), np.nan)
        values = []
        for row, member in enumerate(members):
            key = member.info.key
            for number, (rest, fold) in enumerate(parts):
                part = replace(threat, known=rest != MISSING)
                inner = replace(
                    context.child(key, number),
                    progress=PartProgress(context.progress, step, total),
                )
                held_out[row, fold] = member.infer(release, part, inner).probabilities[fold]
                step += 1
            inner = replace(
                context.child(key), progress=PartProgress(context.progress, step, total)
            )
            values.append(member.infer(release, threat, inner).probabilities)
            step += 1
        nodes = np.concatenate([fold for _, fold in parts]) if parts else np.zeros(0, int)
        probabilities, weights = combine(
            np.array(values), held_out[:, nodes], observed[nodes], self.evenness
        )
        facts: dict[str, float | str] = {
            f"weight of {member.info.key}": round(float(weight), 3)
            for member, weight in zip(members, weights, strict=True)
        }
        return ClassProbabilities(probabilities, facts)

    def supports(self, release: Release, threat: AttributeThreat) -> str | None:
        if self._make_members(release, threat):
            return None
        return "none of the members can run on this graph"

    def _make_members(
        self, release: Release, threat: AttributeThreat
    ) -> list[AttributeAttack]:
        made = [make_method(key, {}, "attribute_attack") for key in self.members.split("+")]
        return [
            member for member in made
            if isinstance(member, AttributeAttack) and member.supports(release, threat) is None
        ]


def combine(
    values: np.ndarray, held_out: np.ndarray, truth: np.ndarray, evenness: float
) -> tuple[np.ndarray, np.ndarray]:
    """Mixture (n, C) and weights (K,) of K members.

    values    (K, n, C) probabilities to mix
    held_out  (K, h, C) predictions for h known nodes that the members had not seen
    truth     (h,) their classes
    """
    if len(truth) == 0:
        weights = np.full(len(values), 1.0 / len(values))
        return values.mean(axis=0), weights
    sharpness = [choose_sharpness(member, truth) for member in held_out]
    rows = np.arange(len(truth))
    likelihood = np.array(
        [sharpen(member, power)[rows, truth]
         for member, power in zip(held_out, sharpness, strict=True)]
    )
    weights = fit_weights(likelihood, evenness)
    sharp = [sharpen(member, power) for member, power in zip(values, sharpness, strict=True)]
    return np.einsum("k,knc->nc", weights, np.array(sharp)), weights


def choose_sharpness(probabilities: np.ndarray, truth: np.ndarray) -> float:
    """The exponent with the lowest log-loss."""
    rows = np.arange(len(truth))
    losses = [
        -np.log(sharpen(probabilities, power)[rows, truth]).mean() for power in SHARPNESS
    ]
    return SHARPNESS[int(np.argmin(losses))]


def sharpen(probabilities: np.ndarray, power: float) -> np.ndarray:
    """p^power, normalised; no probability falls below 10⁻⁶ before."""
    values = np.clip(probabilities, 1e-6, None) ** power
    return values / values.sum(axis=1, keepdims=True)


def fit_weights(likelihood: np.ndarray, evenness: float, rounds: int = 200) -> np.ndarray:
    """(K,) weights that maximise Σ_i log Σ_k w_k L_ki + evenness Σ_k log w_k, by EM."""
    count, total = likelihood.shape
    weights = np.full(count, 1.0 / count)
    for _ in range(rounds):
        joint = weights[:, None] * likelihood
        blame = (joint / joint.sum(axis=0)).sum(axis=1)
        weights = (blame + evenness) / (total + count * evenness)
    return weights
