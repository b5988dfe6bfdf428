"""Cells: the units of computation of an audit, with their seeds and dependencies."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from core.audit.asked.knowledge import ADAPTIVE, STANDARD
from core.audit.asked.method_choice import MethodChoice
from core.audit.asked.scenarios import Scenario
from core.audit.asked.spec import AuditSpec
from core.methods import ATTACK_KINDS, AttributeAttack, Method
from core.release import ORIGINAL
from core.results import RELEASE
from core.seeding import Seed

SHARED_NOTE = "the same as without knowing more: there is nothing to rehearse"
"""Note of a cell that shares another one's result (`Cell.same_as`)."""

CellKind = Literal["publish", "attack", "measure"]


@dataclass(frozen=True)
class Cell:
    """Unit of an audit that is computed, stored and repeated on its own.

    method      scenario id of an attack, defense id (publish), or part of the measures (measure)
    choice      key and settings of the attack or defense as JSON text; "" for measure
    upstream    key of the publish cell that makes the release; "" on the original
    skip        reason why the cell is not computed; "" if it is
    members     keys of the cells of base models in order; they need not be part of the audit
    after       key of a cell whose shared work this one reuses: it follows in the same task; or ""
    same_as     key of the cell whose result this one shares, or ""
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
        """Display name, unique within an audit: "attack gps on original, repeat 1"."""
        what = self.release if self.kind == "publish" else f"{self.method} on {self.release}"
        return f"{self.kind} {what}, repeat {self.repeat + 1}"

    @property
    def scenario(self) -> Scenario:
        """Target and knowledge of an attack cell."""
        return Scenario.parse(self.method)

    def make_method(self) -> Method:
        """The configured method of the cell."""
        return MethodChoice.model_validate_json(self.choice).make(
            *(("defense",) if self.kind == "publish" else ATTACK_KINDS)
        )


def list_members(attack: Method, scenario: Scenario) -> list[tuple[AttributeAttack, Scenario]]:
    """Base models of an attack, with their scenarios in the same audit.

    An adaptive attack may use the standard form as a base model; other base models run on shadow
    releases.
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
    """Seed of one cell, independent of the other cells of its release and repeat.

    All releases are attacked and measured with the same random numbers, so that results differ by
    what is in the release.
    """
    if cell.kind == "publish":
        return _find_root(spec, cell).child("publish", cell.release, cell.method)
    return _make_seed(spec, cell, cell.scenario.stream if cell.kind == "attack" else RELEASE)


def make_member_seeds(spec: AuditSpec, cell: Cell) -> dict[str, Seed]:
    """Seeds of the cells of base models, by attack key."""
    if cell.kind != "attack":
        return {}
    members = list_members(cell.make_method(), cell.scenario)
    return {member.info.key: _make_seed(spec, cell, own.stream) for member, own in members}


def make_shared_seed(spec: AuditSpec, cell: Cell) -> Seed:
    """Seed of work shared by all attacks on one release, which is seeded by its content too."""
    return _find_root(spec, cell).child(ORIGINAL, "shared")


def _make_seed(spec: AuditSpec, cell: Cell, stream: str) -> Seed:
    # All releases take the numbers of the original.
    return _find_root(spec, cell).child(cell.kind, ORIGINAL, stream)


def _find_root(spec: AuditSpec, cell: Cell) -> Seed:
    return Seed(spec.root_seed).child("repeat", cell.repeat)
