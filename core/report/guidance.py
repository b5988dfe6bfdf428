"""Guidance documents for the assessment: clauses, actors and triggers, one file per version.

A new guidance or version needs only a file in assets/guidance. A clause names the evidence that an
audit may hold (`core.report.evidence`) and what the organisation must add.
"""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from core.audit.asked.scenarios import Threat
from core.errors import InputError

FOLDER = Path(__file__).parents[2] / "assets" / "guidance"

KnowledgeKind = Literal["standard", "adaptive", "auxiliary", "composition", "joint", "shadow"]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Clause(_Part):
    """evidence: names of parts of an audit; gap: what the organisation has to fill in."""

    title: str = Field(min_length=1)
    number: str = ""
    evidence: tuple[str, ...] = ()
    gap: str = ""

    @model_validator(mode="after")
    def _check_parts(self) -> Clause:
        if not self.evidence and not self.gap:
            raise ValueError(f"clause '{self.title}' needs evidence or a gap")
        return self


class Actor(_Part):
    """A potential attacker, represented by attacks on these threats with this knowledge."""

    name: str = Field(min_length=1)
    capacity: str = Field(min_length=1)
    threats: tuple[Threat, ...] = ()
    knowledge: tuple[KnowledgeKind, ...] = ()
    gap: str = Field(min_length=1)


class Guidance(_Part):
    """One version of a guidance; `order`: its position in the assessment."""

    key: str
    order: int
    title: str
    about: str
    source: str
    clauses: tuple[Clause, ...] = Field(min_length=1)
    actors: tuple[Actor, ...] = ()
    triggers: tuple[str, ...] = ()


@cache
def load_guidance(folder: Path = FOLDER) -> tuple[Guidance, ...]:
    """All guidance files in order; InputError names a file that breaks a rule."""
    found = []
    for path in sorted(folder.glob("*.toml")):
        try:
            guidance = Guidance.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
        except (tomllib.TOMLDecodeError, ValidationError) as error:
            reason = " ".join(str(error).split())[:300]
            raise InputError("guidance", "must be a valid file", path.name, reason) from None
        found.append(guidance)
    return tuple(sorted(found, key=lambda guidance: (guidance.order, guidance.key)))
