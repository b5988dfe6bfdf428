"""What leaves with a release, part by part, and whether an attack finds people by it."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from core.attacks.identity.value_join import ValueJoin
from core.audit.results.view import AuditView
from core.audit.store.states import State
from core.data.link_release import WEIGHT, is_link_column
from core.data.release_columns import Rule
from core.defenses.external import EXTERNAL
from core.methods import IdentityAttack
from core.release import ORIGINAL

Treatment = Literal["attacked", "coarsened", "left out", "not attacked"]


class Channel(BaseModel):
    """A part of a release, such as a column of its links.

    name    plural noun, as in "link weights"
    remedy  how to leave it out, as a clause
    column  the column of links that it is, as `publish_columns` names it
    kind    number, time, category or direction
    attacks titles of the attacks that find people by it
    """

    model_config = ConfigDict(frozen=True)
    name: str
    treatment: Treatment
    remedy: str
    column: str = ""
    kind: str = "number"
    attacks: tuple[str, ...] = ()

    @property
    def open_point(self) -> str:
        """What stands against a release with this channel, or "". A column of links that is coarser
        and not attacked is one, for a rule may change next to nothing. Without a colon, after which
        page 1 of the report cuts."""
        is_open = self.treatment == "coarsened" and is_link_column(self.column)
        if self.treatment != "not attacked" and not is_open:
            return ""
        return f"{self.name} leave and no attack finds people by them, so {self.remedy}"

    def describe(self, release: str) -> dict[str, Any]:
        """As audit.json has it."""
        return {
            "release": release,
            "name": self.column,
            "kind": self.kind,
            "leaves": self.treatment != "left out",
            "state": self.treatment.replace(" ", "_"),
            "attacks": list(self.attacks),
        }


def list_channels(view: AuditView, release: str) -> tuple[Channel, ...]:
    """Channels of a release: the weights of its links and each of their other columns, of the graph
    and of the release. Attacks on links, which read weights as strengths, do not count."""
    leaving, source = view.link_channels.find_leaving(release), view.link_channels.find_source()
    kinds = {WEIGHT: "number", **source, **leaving}
    coarse = {Rule.parse(text).column for text in view.spec.disclosure.generalize}
    known, titles = view.link_channels.find_known(), _list_attacks(view, release)
    found = []
    for column, kind in kinds.items():
        attacks = titles if known is None or column in known else ()
        treatment: Treatment = "left out"
        if column in leaving:
            treatment = "coarsened" if column in coarse else "not attacked"
            treatment = "attacked" if attacks else treatment
        found.append(
            Channel(
                name="link weights" if column == WEIGHT else f"values of {column}",
                treatment=treatment,
                remedy=_find_remedy(view, release, column),
                column=column,
                kind=kind,
                attacks=attacks if treatment == "attacked" else (),
            )
        )
    return tuple(found)


def describe_channels(view: AuditView) -> list[dict[str, Any]]:
    """Channels of every release, as audit.json has them."""
    releases = [summary.id for summary in view.releases]
    return [c.describe(release) for release in releases for c in list_channels(view, release)]


def _find_remedy(view: AuditView, release: str, column: str) -> str:
    if release == EXTERNAL:
        return "write the release without them"
    if column not in view.link_channels.find_leaving(ORIGINAL):
        return "choose a defense or setting that publishes links without them"
    audit = f"audit re-identification with {ValueJoin.info.title}"
    if column == WEIGHT:
        way = "(“Column of the weight”, or --weight none)"
        return f"{audit}, or load the graph without them {way}"
    return f"{audit} and a second graph that has them, or leave {column} out"


def _list_attacks(view: AuditView, release: str) -> tuple[str, ...]:
    """Titles of the attacks that find people by the values of links, measured on the release."""
    rows = view.results[(view.results.release == release) & (view.results.status == State.DONE)]
    methods = [attack.method for attack in rows.attack.unique() if attack is not None]
    finding = [m for m in methods if isinstance(m, IdentityAttack) and m.finds_by == "values"]
    return tuple(dict.fromkeys(method.info.title for method in finding))
