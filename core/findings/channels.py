"""What leaves with a release, part by part, and whether an attack finds people by it."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

from core.attacks.identity.value_join import ValueJoin
from core.audit.results.view import AuditView
from core.audit.store.states import State
from core.defenses.external import EXTERNAL
from core.methods import IdentityAttack
from core.release import ORIGINAL

Treatment = Literal["attacked", "coarsened", "left out", "not attacked"]


class Channel(BaseModel):
    """A part of a release, such as a column of its links.

    name    plural noun, as in "link weights"
    remedy  how to leave it out, as a clause
    """

    model_config = ConfigDict(frozen=True)
    name: str
    treatment: Treatment
    remedy: str

    @property
    def open_point(self) -> str:
        """What stands against a release with this channel, or "". Without a colon, after which
        page 1 of the report cuts."""
        if self.treatment != "not attacked":
            return ""
        return f"{self.name} leave and no attack finds people by them, so {self.remedy}"


def list_channels(view: AuditView, release: str) -> tuple[Channel, ...]:
    """Channels of a release. Attacks on links, which read weights as strengths, do not count."""
    treatment: Treatment = "left out"
    if view.has_weights(release):
        treatment = "attacked" if _is_attacked(view, release) else "not attacked"
    if release == EXTERNAL:
        remedy = "write the release without them"
    elif view.has_weights(ORIGINAL):
        remedy = (
            f"audit re-identification with {ValueJoin.info.title}, or load the graph without them "
            "(“Column of the weight”, or --weight none)"
        )
    else:
        remedy = "choose a defense or setting that publishes links without them"
    return (Channel(name="link weights", treatment=treatment, remedy=remedy),)


def _is_attacked(view: AuditView, release: str) -> bool:
    """Whether an attack that finds people by the values of links was measured on the release."""
    rows = view.results[(view.results.release == release) & (view.results.status == State.DONE)]
    methods = [attack.method for attack in rows.attack.unique() if attack is not None]
    return any(isinstance(m, IdentityAttack) and m.finds_by == "values" for m in methods)
