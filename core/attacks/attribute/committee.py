"""What attackers made of other attacks share: their members, run on known values held out."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace

import numpy as np
from pydantic import Field, field_validator

from core.attacks.attribute.singles import NULL_ATTACKS, SINGLE_ATTACKS
from core.context import Context
from core.graph import MISSING
from core.methods import AttributeAttack
from core.models.tuning import draw_folds, hold_out
from core.progress import PartProgress
from core.release import Release
from core.results import ClassProbabilities
from core.threats import AttributeThreat

MEMBERS: dict[str, type[AttributeAttack]] = {
    attack.info.key: attack for attack in (*SINGLE_ATTACKS, *NULL_ATTACKS)
}
"""The attacks that may take part, by key."""

FLOOR = 1e-3
"""Probabilities count as no smaller: no member alone rules a class out."""


class Committee(AttributeAttack):
    """Runs each member on parts of the known nodes, where the rest shows how good it is."""

    members: str = Field(
        "label_propagation+attri_infer+gcn+gps+ai_deepwalk",
        description="Keys of the attacks that take part, joined by +.",
    )
    folds: int = Field(3, ge=2, le=20, description="Parts of the known nodes held out in turn.")

    @field_validator("members")
    @classmethod
    def check_members(cls, value: str) -> str:
        """The text of the members' keys; raises where one is unknown or named twice."""
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
        return "none of the members can run on this graph"

    @abstractmethod
    def infer(
        self, release: Release, threat: AttributeThreat, context: Context
    ) -> ClassProbabilities: ...

    def _make_members(self, release: Release, threat: AttributeThreat) -> list[AttributeAttack]:
        made = [MEMBERS[key]() for key in self.members.split("+")]
        return [member for member in made if member.supports(release, threat) is None]

    def _hold_out(
        self,
        members: list[AttributeAttack],
        release: Release,
        threat: AttributeThreat,
        context: Context,
        total: int,
    ) -> tuple[np.ndarray, np.ndarray]:
        """(K, h, C) what each member says of h known nodes that it had not seen, and their (h,)
        classes. `total` runs of members make up the progress; these are the first of them."""
        observed = threat.observed
        parts = list(hold_out(observed, draw_folds(observed, self.folds, context.rng("folds"))))
        said = np.full((len(members), len(observed), threat.num_classes), np.nan)
        for row, member in enumerate(members):
            for number, (rest, fold) in enumerate(parts):
                part = replace(threat, known=rest != MISSING)
                inner = _narrow(
                    context.child(member.info.key, number), row * len(parts) + number, total
                )
                said[row, fold] = member.infer(release, part, inner).probabilities[fold]
        nodes = np.concatenate([fold for _, fold in parts]) if parts else np.zeros(0, int)
        return said[:, nodes], observed[nodes]

    def _run(
        self,
        member: AttributeAttack,
        release: Release,
        threat: AttributeThreat,
        context: Context,
        step: int,
        total: int,
    ) -> ClassProbabilities:
        """A member on all known nodes, as run number `step` of `total`."""
        return member.infer(release, threat, _narrow(context.child(member.info.key), step, total))


def _narrow(context: Context, step: int, total: int) -> Context:
    return replace(context, progress=PartProgress(context.progress, step, total))
