"""Ensemble of attacks: the attacker who trusts each as far as it proved right before."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from pydantic import Field
from scipy.optimize import minimize
from scipy.special import softmax

from core.attacks.attribute.committee import FLOOR, Committee, select_judged
from core.context import Context
from core.methods import MethodInfo
from core.release import Release
from core.results import ClassProbabilities
from core.threats import AttributeThreat


class Ensemble(Committee):
    """Π_k p_k^w_k, normalised: a logarithmic pool of the members.

    The weights are those under which the pool predicts known nodes best of which the members were
    not told, drawn to an even share. A member that is too sure of itself gets a
    small exponent, so that no calibration is needed before; one that is wrong a negative one,
    so that a defense which turns homophily round is found out.
    """

    info: ClassVar[MethodInfo] = MethodInfo(
        key="ensemble",
        title="Ensemble",
        summary="Weighs several attacks by how well they predict known values held out.",
        source="Wolpert, Stacked generalization, Neural Networks 1992",
        group="combined",
        cost="minutes",
        uses_gpu=True,
        version=4,
    )
    evenness: float = Field(
        10.0,
        ge=0,
        le=1000,
        description="Penalty on a weight's squared distance to an even share.",
    )

    def infer(
        self, release: Release, threat: AttributeThreat, context: Context
    ) -> ClassProbabilities:
        """The members' pooled probabilities, by weights chosen on the known nodes."""
        members = self._make_members(release, threat)
        values, untold = zip(
            *(
                self._ask(member, release, threat, context, number)
                for number, member in enumerate(members)
            ),
            strict=True,
        )
        held_out, truth = select_judged(untold, threat.observed)
        probabilities, weights = combine(np.array(values), held_out, truth, self.evenness)
        facts: dict[str, float | str] = {
            f"weight of {member.info.key}": round(float(weight), 3)
            for member, weight in zip(members, weights, strict=True)
        }
        return ClassProbabilities(probabilities, facts)


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
    """(K,) weights, of either sign: the least −Σ_i log pool_i(truth_i) + evenness Σ_k (w_k − 1/K)².

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

    found = minimize(compute_loss, even, jac=True, method="L-BFGS-B")
    return np.asarray(found.x)
