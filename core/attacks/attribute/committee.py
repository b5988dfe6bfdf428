"""Attacks that combine base models: the best single one, and an ensemble.

In an audit the base models' own cells are computed first and reused; one that is not in the audit
is run with the seeds that its cell would have, so that results are the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from pydantic import Field, field_validator

from core.arrays import hash_array
from core.attacks.attribute.singles import BASELINE_ATTACKS, SINGLE_ATTACKS
from core.attacks.base_predictions import recall_base_prediction
from core.context import Context
from core.methods import AttributeAttack
from core.models.tuning import draw_folds, hold_out
from core.node_column import MISSING
from core.progress import PartProgress
from core.release import Release
from core.threats import AttributeThreat

MEMBERS: dict[str, type[AttributeAttack]] = {
    attack.info.key: attack for attack in (*SINGLE_ATTACKS, *BASELINE_ATTACKS)
}
"""Available base models by key."""


class Committee(AttributeAttack):
    """Evaluates each base model on held-out known nodes."""

    members: str = Field(
        "label_propagation+attri_infer+block_model+gcn+gps+ai_deepwalk",
        description="Keys of the attacks that take part, joined by +.",
    )
    folds: int = Field(3, ge=2, le=20, description="Parts of the known nodes held out in turn.")

    @field_validator("members")
    @classmethod
    def check_members(cls, value: str) -> str:
        """Validate base-model keys: known, without duplicates."""
        keys = value.split("+")
        if len(set(keys)) != len(keys):
            raise ValueError("must name distinct attacks")
        for key in keys:
            if key not in MEMBERS:
                raise ValueError(f"'{key}' must be one of " + ", ".join(MEMBERS))
        return value

    def supports(self, release: Release, threat: AttributeThreat) -> str | None:
        if self._make_members(release, threat):
            return None
        return "needs a member that can run on this release; choose other members"

    def _make_members(self, release: Release, threat: AttributeThreat) -> list[AttributeAttack]:
        return [
            member for member in self.list_members() if member.supports(release, threat) is None
        ]

    def list_members(self) -> tuple[AttributeAttack, ...]:
        return tuple(MEMBERS[key]() for key in self.members.split("+"))

    def _predict_all(
        self, release: Release, threat: AttributeThreat, context: Context
    ) -> tuple[list[AttributeAttack], list[np.ndarray], list[np.ndarray]]:
        """Applicable base models, and the result of `_predict_member` for each."""
        members = self._make_members(release, threat)
        predicted = [
            self._predict_member(m, release, threat, context, step)
            for step, m in enumerate(members)
        ]
        return members, [values for values, _ in predicted], [held_out for _, held_out in predicted]

    def _predict_member(
        self,
        member: AttributeAttack,
        release: Release,
        threat: AttributeThreat,
        context: Context,
        step: int,
    ) -> tuple[np.ndarray, np.ndarray]:
        """(n, C) predictions of a base model, and (n, C) out-of-fold predictions of known nodes,
        NaN in other rows; equal to those of its own cell.

        Base models tuned by cross-validation provide the latter; others are run on folds of the
        known nodes.
        """
        base = context.base_predictions.get(member.info.key)
        whole = PartProgress(context.progress, step, len(self.list_members()))
        count = 1 if member.holds_out else self.folds + 1
        inner = replace(
            context,
            seed=context.child(member.info.key).seed if base is None else base.seed,
            base_predictions={},
            progress=PartProgress(whole, 0, count),
        )
        found = recall_base_prediction(member, threat, context) or member.infer(
            release, threat, inner
        )
        held_out = found.held_out
        if held_out is None:
            outer = replace(inner, progress=whole)
            held_out = self._run_parts(member, release, threat, outer)
        return found.probabilities, held_out

    def _run_parts(
        self, member: AttributeAttack, release: Release, threat: AttributeThreat, context: Context
    ) -> np.ndarray:
        """(n, C) out-of-fold predictions of a base model, shared within this release."""
        observed = threat.observed

        def run(shared: Context) -> np.ndarray:
            predicted = np.full((len(observed), threat.num_classes), np.nan)
            parts = draw_folds(observed, self.folds, shared.rng("folds"))
            for number, (training, fold) in enumerate(hold_out(observed, parts)):
                progress = PartProgress(context.progress, number + 1, len(parts) + 1)
                inner = replace(shared.child(number), progress=progress)
                part = replace(threat, known=training != MISSING)
                predicted[fold] = member.infer(release, part, inner).probabilities[fold]
            return predicted

        key = (member.info.key, member.info.version, release.graph.content_hash)
        return context.share(("held_out", *key, hash_array(observed), self.folds), run)


def select_held_out(
    held_out: Sequence[np.ndarray], observed: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """(K, h, C) of K base models' (n, C) at the h known nodes with out-of-fold predictions of
    all, and (h,) their classes."""
    given = np.isnan(np.array([predicted[:, 0] for predicted in held_out])).any(axis=0)
    nodes = np.flatnonzero((observed != MISSING) & ~given)
    return np.array([predicted[nodes] for predicted in held_out]), observed[nodes]
