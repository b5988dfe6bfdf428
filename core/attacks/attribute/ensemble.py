"""Ensemble of attacks: the attacker who trusts each as far as it proved right before."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import numpy as np
from pydantic import Field, field_validator
from scipy.optimize import minimize
from scipy.special import softmax

from core.attacks.attribute.tuning import draw_folds, hold_out
from core.context import Context
from core.graph import MISSING
from core.methods import AttributeAttack, MethodInfo, find_method, make_method
from core.progress import PartProgress
from core.release import Release
from core.results import ClassProbabilities
from core.threats import AttributeThreat

FLOOR = 1e-3
"""Probabilities count as no smaller: no member alone rules a class out."""


class Ensemble(AttributeAttack):
    """Π_k p_k^w_k, normalised: a logarithmic pool of the members, w_k ≥ 0.

    Each member is run on parts of the known nodes; the weights are those under which the pool
    predicts the rest best, drawn to an even share. A member that is too sure of itself gets a
    small exponent, so that no calibration is needed before.
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
        10.0, ge=0, le=1000,
        description="Penalty on a weight's squared distance to an even share.",
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
    """Pool (n, C) and weights (K,) of K members.

    values    (K, n, C) probabilities to pool
    held_out  (K, h, C) predictions for h known nodes that the members had not seen
    truth     (h,) their classes
    """
    weights = fit_weights(held_out, truth, evenness)
    return pool(values, weights), weights


def pool(values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """(n, C): Π_k p_k^w_k of (K, n, C), normalised (Genest and Zidek, 1986, §3.3)."""
    logs = np.einsum("k,knc->nc", weights, np.log(np.maximum(values, FLOOR)))
    return np.asarray(softmax(logs, axis=1))


def fit_weights(held_out: np.ndarray, truth: np.ndarray, evenness: float) -> np.ndarray:
    """(K,) weights ≥ 0 that minimise −Σ_i log pool_i(truth_i) + evenness Σ_k (w_k − 1/K)².

    A convex problem; even weights where nothing was held out.
    """
    even = np.full(len(held_out), 1.0 / len(held_out))
    if len(truth) == 0:
        return even
    logs = np.log(np.maximum(held_out, FLOOR))
    rows = np.arange(len(truth))

    def compute_loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
        pooled = pool(held_out, weights)
        loss = -np.log(pooled[rows, truth]).sum() + evenness * ((weights - even) ** 2).sum()
        expected = np.einsum("hc,khc->k", pooled, logs)
        gradient = expected - logs[:, rows, truth].sum(axis=1)
        return float(loss), gradient + 2.0 * evenness * (weights - even)

    bounds = [(0.0, None)] * len(even)
    found = minimize(compute_loss, even, jac=True, method="L-BFGS-B", bounds=bounds)
    return np.asarray(found.x)
