"""One piece of an audit: what it computes, which numbers it draws, what it is made of."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from core.audit.knowledge import ADAPTIVE, STANDARD
from core.audit.scenarios import Scenario
from core.audit.spec import AuditSpec, MethodChoice
from core.defenses.external import EXTERNAL
from core.methods import ATTACK_KINDS, AttributeAttack, Method
from core.results import RELEASE
from core.seeding import Seed

SHARED_NOTE = "the same as without knowing more: there is nothing to rehearse"
"""What a cell says that has the result of another (`Cell.same_as`)."""

CellKind = Literal["publish", "attack", "measure"]


@dataclass(frozen=True)
class Cell:
    """One piece of an audit, small enough to be computed, stored and repeated alone.

    method      id of the attack's case, defense id (publish), or part of the measures (measure)
    choice      key and settings of the attack or defense, as JSON text; "" for measure
    upstream    key of the publish cell that makes the release; "" on the original
    skip        why the cell is not computed at all; "" where it is
    members     keys of the cells of the attacks that this one is made of, in their order; they
                need not be in the audit
    after       key of the cell that leaves in its worker's memory what this one would have to
                compute again elsewhere; "" where there is none
    same_as     key of the cell whose result this one shares; "" where it has its own
    """

    key: str
    kind: CellKind
    release: str
    method: str
    repeat: int
    choice: str = ""
    upstream: str = ""
    uses_gpu: bool = False
    skip: str = ""
    members: tuple[str, ...] = ()
    after: str = ""
    same_as: str = ""

    @property
    def label(self) -> str:
        """Unique within an audit, for people: "attack gps on original, repeat 1"."""
        what = self.release if self.kind == "publish" else f"{self.method} on {self.release}"
        return f"{self.kind} {what}, repeat {self.repeat + 1}"

    @property
    def scenario(self) -> Scenario:
        """What an attack cell is after, knowing what."""
        return Scenario.parse(self.method)

    def make_method(self) -> Method:
        """The configured method that the cell runs."""
        return MethodChoice.model_validate_json(self.choice).make(
            *(("defense",) if self.kind == "publish" else ATTACK_KINDS)
        )


def list_members(attack: Method, scenario: Scenario) -> list[tuple[AttributeAttack, Scenario]]:
    """What an attack is made of, with their own cases in the same audit.

    One who knows the defense corrects what the attack says to one who does not; whatever else
    such an attack is made of runs on replays.
    """
    if not isinstance(attack, AttributeAttack):
        return []
    if scenario.knowledge == ADAPTIVE:
        return [(attack, replace(scenario, knowledge=STANDARD))]
    return [
        (member, replace(scenario, method=MethodChoice.of(member).id))
        for member in attack.list_members()
    ]


def make_cell_seed(spec: AuditSpec, cell: Cell) -> Seed:
    """The stream of one cell, independent of which other cells the audit has."""
    method = cell.scenario.stream if cell.kind == "attack" else cell.method
    method = RELEASE if cell.kind == "measure" else method
    return _make_seed(spec, cell, method)


def make_member_seeds(spec: AuditSpec, cell: Cell) -> dict[str, Seed]:
    """The streams of the cells of what an attack is made of, by key of the attack."""
    if cell.kind != "attack":
        return {}
    members = list_members(cell.make_method(), cell.scenario)
    return {member.info.key: _make_seed(spec, cell, own.stream) for member, own in members}


def _make_seed(spec: AuditSpec, cell: Cell, method: str) -> Seed:
    release = _find_stream(spec, cell)
    return Seed(spec.root_seed).child("repeat", cell.repeat, cell.kind, release, method)


def make_shared_seed(spec: AuditSpec, cell: Cell) -> Seed:
    """The stream of work that all attacks on one release share."""
    return Seed(spec.root_seed).child("repeat", cell.repeat, _find_stream(spec, cell), "shared")


def _find_stream(spec: AuditSpec, cell: Cell) -> str:
    """The release by whose id numbers are drawn: what an audit made and wrote is judged by the
    numbers of that audit, where the spec names it."""
    return spec.external_stream if cell.release == EXTERNAL else cell.release
