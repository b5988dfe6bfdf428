"""What a field of the spec declares beside type, bounds, title and description.

The command line, the app and the plan read it; nothing else lists fields.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from pydantic.config import JsonDict
from pydantic.fields import FieldInfo

CellGroup = Literal["release", "measure", "link", "attribute", "joint", "transfer", "identity"]
"""Cells by the inputs of their keys: joint and transfer are the attribute attacks that combine
private columns and that learn from a shadow graph."""

EVERY: tuple[CellGroup, ...] = get_args(CellGroup)

_COLUMN: tuple[CellGroup, ...] = ("release", "measure", "attribute", "joint", "transfer")
PRIVATE_COLUMN = _COLUMN
"""Cells that see the private column and its known values."""


@dataclass(frozen=True)
class Declaration:
    """What a field says of itself.

    affects  cells whose results the field changes; every one unless it says so. A field that only
             decides which cells there are, or is told in words, affects none
    entry    entry of the keys in which it stands with others (core.audit.computing.key_inputs); by
             default one of its own name, absent while the field has its default
    option   the option's name if not the field's; False for none
    is_generated  whether the option is built from the field; else a command adds it, since it
             names a file, or a column of the graph
    form     module of `pages.ui` that shows the control; "attack_form" shows all of its fields
    no_control  reason why the app has none
    titles   value → how the control shows it
    """

    affects: tuple[CellGroup, ...] = EVERY
    entry: str = ""
    option: str | bool = True
    metavar: str = ""
    choices: tuple[str, ...] = ()
    is_generated: bool = True
    form: str = ""
    no_control: str = ""
    titles: Mapping[str, str] = field(default_factory=dict)

    @staticmethod
    def of(info: FieldInfo) -> Declaration:
        """Declaration of a field; a field without one has all defaults."""
        extra = info.json_schema_extra
        known: dict[str, Any] = dict(extra) if isinstance(extra, dict) else {}
        for name in ("affects", "choices"):
            if name in known:
                known[name] = tuple(known[name])
        return Declaration(**known)

    @property
    def has_option(self) -> bool:
        """Whether an option is built from the field."""
        return bool(self.option) and self.is_generated

    def find_option(self, name: str) -> str:
        """The option of a field of this name."""
        return self.option if isinstance(self.option, str) else f"--{name.replace('_', '-')}"


def declare(
    *,
    affects: Sequence[CellGroup] = EVERY,
    entry: str = "",
    option: str | bool = True,
    metavar: str = "",
    is_generated: bool = True,
    form: str = "",
    no_control: str = "",
    titles: Mapping[str, str] | None = None,
) -> JsonDict:
    """`json_schema_extra` of a field; see `Declaration`."""
    extra: dict[str, Any] = {
        "affects": list(affects),
        "entry": entry,
        "option": option,
        "metavar": metavar,
        "is_generated": is_generated,
        "form": form,
        "no_control": no_control,
        "titles": dict(titles or {}),
    }
    return extra
