"""Presets of attacks, and data-independent baselines of syntheses.

A synthesis can look useful although it carries no data. Its data-independent baseline is the same
synthesis run with only the number of links.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from core.audit.spec import MethodChoice
from core.methods import LinkAttack, Method
from core.registry import list_methods


@dataclass(frozen=True)
class Preset:
    """costs: cost classes of its attacks; adaptive: whether each attack also runs adaptively."""

    key: str
    title: str
    summary: str
    costs: tuple[str, ...]
    num_repeats: int
    adaptive: bool = False

    def choose_attacks(
        self, has_link_threat: bool, has_attribute_threat: bool, has_identity_threat: bool = False
    ) -> list[str]:
        """Keys of the attacks that fit the threats; baseline attackers are always included."""
        return [
            method.info.key
            for method in list_attacks(has_link_threat, has_attribute_threat, has_identity_threat)
            if method.info.is_baseline or method.info.cost in self.costs
        ]


PRESETS = (
    Preset("quick", "Quick look", "instant attacks, 3 repeats", ("instant",), 3),
    Preset(
        "standard", "Standard", "attacks that take seconds, 5 repeats", ("instant", "seconds"), 5
    ),
    Preset(
        "thorough",
        "Thorough",
        "every attack, adaptive ones too, 10 repeats",
        ("instant", "seconds", "minutes"),
        10,
        adaptive=True,
    ),
)


def list_attacks(
    has_link_threat: bool, has_attribute_threat: bool, has_identity_threat: bool = False
) -> list[type[Method]]:
    """Attacks that fit the threats, in the order of their lists."""
    links = [m for m in list_methods("link_attack") if "link" in _list_threats(m)]
    links = links if has_link_threat else []
    attributes = list_methods("attribute_attack") if has_attribute_threat else []
    identities = list_methods("identity_attack") if has_identity_threat else []
    return [*links, *attributes, *identities]


def list_released_attacks() -> list[type[Method]]:
    """Attacks on released links."""
    return [m for m in list_methods("link_attack") if "included" in _list_threats(m)]


def _list_threats(method: type[Method]) -> tuple[str, ...]:
    return method.threats if issubclass(method, LinkAttack) else ()


SETTING = "data_free"


def find_data_independent(choice: MethodChoice) -> MethodChoice | None:
    """Data-independent baseline of a synthesis; None for other defenses."""
    config = choice.make("defense").config
    if config.get(SETTING) is not False:
        return None
    return MethodChoice(key=choice.key, config={**config, SETTING: True})


def add_data_independent(choices: Iterable[MethodChoice]) -> list[MethodChoice]:
    """Insert after each synthesis its baseline, without duplicates."""
    found: dict[str, MethodChoice] = {}
    for choice in choices:
        independent = find_data_independent(choice)
        for each in (choice, independent) if independent is not None else (choice,):
            found.setdefault(each.id, each)
    return list(found.values())


def pair_data_independent(choices: Iterable[MethodChoice]) -> dict[str, str]:
    """Release id → id of its baseline, if both are among the defenses."""
    choices = list(choices)
    known = {choice.id for choice in choices}
    pairs = ((choice.id, find_data_independent(choice)) for choice in choices)
    return {
        release: independent.id
        for release, independent in pairs
        if independent is not None and independent.id in known
    }
