"""A method chosen for an audit: its key with all its settings."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from core.errors import InputError
from core.methods import Defense, Kind, Method
from core.registry import find_method, make_method, parse_method

SWEEP, SWEEP_STEPS = "sweep", 5
"""Value of a setting that stands for several strengths, and how many."""


class MethodChoice(BaseModel):
    """A method by key with all its settings."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    key: str
    config: dict[str, Any] = Field(default_factory=dict)

    @staticmethod
    def parse(text: str, *kinds: Kind) -> MethodChoice:
        """Choice of `KEY:field=value,…` on the command line."""
        return MethodChoice.of(parse_method(text, *kinds))

    @staticmethod
    def expand(text: str, *kinds: Kind) -> list[MethodChoice]:
        """As `parse`, but with `sweep` as the value of its strength one choice a strength, the
        weakest first."""
        key, _, rest = text.partition(":")
        method = find_method(key.strip(), *kinds)
        given = [[part.strip() for part in item.partition("=")[::2]] for item in rest.split(",")]
        swept = [name for name, value in given if value == SWEEP]
        if method.whole_text or not swept:
            return [MethodChoice.parse(text, *kinds)]
        strength = method.acts_by
        if strength is None or swept != [strength.setting]:
            how = "it has none" if strength is None else f"use {strength.setting}={SWEEP}"
            rule = "must be of the setting that is its strength"
            raise InputError(f"{key}: {SWEEP}", rule, ", ".join(swept), how)
        others = ",".join(
            item for item in rest.split(",") if item.partition("=")[2].strip() != SWEEP
        )
        base = parse_method(f"{key}:{others}", *kinds)
        if base.finds_strength:
            rule = "must not be asked of a defense that finds its strength"
            raise InputError(f"{key}: {SWEEP}", rule, base.label, "leave out one of the two")
        return [MethodChoice.of(each) for each in base.vary(SWEEP_STEPS)]

    @staticmethod
    def of(method: Method) -> MethodChoice:
        """Choice that reproduces this method."""
        return MethodChoice(key=method.info.key, config=method.config)

    def make(self, *kinds: Kind) -> Method:
        """The configured method, of one of these kinds; raises InputError."""
        return make_method(self.key, self.config, *kinds)

    @property
    def kind(self) -> Kind:
        """The kind of the method; raises InputError for an unknown key."""
        return find_method(self.key).kind

    def make_defense(self) -> Defense:
        """The configured defense; raises InputError."""
        defense = self.make("defense")
        assert isinstance(defense, Defense)
        return defense

    @property
    def id(self) -> str:
        """`key`, or `key:name=value,…` with the settings that differ from their defaults."""
        method = self.make()
        if method.whole_text:
            return f"{self.key}:{method.config[method.whole_text]}"
        changed = [f"{name}={value}" for name, value in method.changed.items()]
        return f"{self.key}:{','.join(changed)}" if changed else self.key
