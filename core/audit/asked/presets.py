"""What runs: the attacks of an audit by preset or name, and the baselines of syntheses.

A synthesis can look useful although it carries no data. Its data-independent baseline is the same
synthesis run with only the number of links.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from core.audit.asked.method_choice import MethodChoice
from core.audit.asked.spec import AuditSpec
from core.errors import InputError
from core.methods import ATTACK_KINDS, LinkAttack, Method
from core.registry import find_method, list_methods
from core.words import count_noun


@dataclass(frozen=True)
class Preset:
    """attacks, costs: its attacks in words, and their cost classes; adaptive: whether each attack
    also runs adaptively."""

    key: str
    title: str
    attacks: str
    costs: tuple[str, ...]
    num_repeats: int
    adaptive: bool = False

    def describe(self, adaptive: bool) -> str:
        """ "every attack, adaptive ones too, 10 repeats"; `adaptive`: whether they run."""
        too = ", adaptive ones too" if adaptive else ""
        return f"{self.attacks}{too}, {count_noun(self.num_repeats, 'repeat')}"

    def list_attacks(self, asked: Asked) -> list[MethodChoice]:
        """Its attacks on the secrets asked for, baseline attackers always; approximate forms
        beside exact ones."""
        methods = [
            method
            for method in list_attacks(asked)
            if method.info.is_baseline or method.info.cost in self.costs
        ]
        return add_approximate(MethodChoice.of(method()) for method in methods)


@dataclass(frozen=True)
class Asked:
    """What an audit asks for, by which its attacks are chosen.

    column    a private column
    released  which of the released links are real
    shadow    a shadow graph is held
    """

    links: bool = False
    column: bool = False
    identity: bool = False
    released: bool = False
    shadow: bool = False

    @staticmethod
    def of_spec(spec: AuditSpec) -> Asked:
        """What a spec asks for."""
        threats = spec.threats
        return Asked(
            threats.has_links,
            threats.private is not None,
            threats.identity is not None,
            spec.attacks_released_links,
            spec.knowledge.shadow_graph is not None,
        )

    @staticmethod
    def of_fields(fields: Mapping[str, Any]) -> Asked:
        """What the flat fields of a spec ask for; a share of 0 is refused with the spec."""
        several = ("released_links", "composition", "hold_every_defense")
        return Asked(
            fields.get("hide_links") is not None or bool(fields.get("sensitive_links")),
            bool(fields.get("private")),
            bool(fields.get("identity")),
            any(fields.get(name) for name in several),
            bool(fields.get("shadow_graph")),
        )


PRESETS = (
    Preset("quick", "Quick look", "instant attacks", ("instant",), 3),
    Preset("standard", "Standard", "attacks that take seconds", ("instant", "seconds"), 5),
    Preset(
        "thorough", "Thorough", "every attack", ("instant", "seconds", "minutes"), 10, adaptive=True
    ),
)


EVERY = "all"
"""Name of all attacks."""

ASKED_BY = {
    "a private column": "--private, or private= in a script",
    "withheld links": "--hide-links, or hide_links= in a script",
    "released links": "--released-links, or released_links=True in a script",
    "re-identification": "--identity, or identity={} in a script",
}
"""What an attack needs → how to ask for it."""

APPROXIMATE = 0.1
"""Error rate of attackers with approximate knowledge of a neighbourhood."""


def choose_attacks(asked: Asked, named: Iterable[str | MethodChoice] = ()) -> list[MethodChoice]:
    """Attacks of an audit: those named, and what goes with them.

    With them go the baseline attackers; the forms that know columns and links of people, beside
    one that knows all columns; every attack on identities, on released links and by a shadow graph
    where the audit asks for it and none of its kind is named.

    named  keys of presets, `all`, methods as `KEY:name=value,…` or as choices

    Raises InputError for an unknown method, or one without its secret.
    """
    named = list(named)
    found: list[MethodChoice] = []
    for each in named:
        found += _read_name(each, asked)
    if any(isinstance(each, str) for each in named):
        open_ = replace(asked, identity=False)
        found = _join(found, (m for m in list_attacks(open_) if m.info.is_baseline))
    if asked.identity:
        if any(choice.kind == "identity_attack" for choice in found):
            methods = list_methods("identity_attack")
            found = _join(found, (m for m in methods if m.info.is_baseline))
        else:
            found += PRESETS[-1].list_attacks(Asked(identity=True))
    if asked.shadow:
        able = [m for m in list_methods("attribute_attack") if getattr(m, "transfers", False)]
        if not {choice.key for choice in found} & {method.info.key for method in able}:
            found = _join(found, able)
    if asked.released:
        found = add_released(found)
    return add_joined(found)


def add_joined(choices: Iterable[MethodChoice]) -> list[MethodChoice]:
    """The choices without duplicates, and the joined forms of those with default settings: people
    are few by columns and links together who are many by each alone."""
    found = list(choices)
    for method in [choice.make() for choice in found]:
        if not method.changed:
            found += map(MethodChoice.of, list_joined(type(method)))
    return list({choice.id: choice for choice in found}.values())


def list_joined(method: type[Method]) -> list[Method]:
    """Forms of an attack on columns that know links as well."""
    return [method(**config) for config in getattr(method, "joined", ())]


def _read_name(name: str | MethodChoice, asked: Asked) -> list[MethodChoice]:
    """Choices of one name; one method named needs its secret."""
    if isinstance(name, MethodChoice):
        return [name]
    presets = {preset.key: preset for preset in PRESETS}
    if name in presets:
        return presets[name].list_attacks(asked)
    if name == EVERY:
        listed = [method for kind in ATTACK_KINDS for method in list_methods(kind)]
        kept = [m for m in listed if asked.identity or m.kind != "identity_attack"]
        return add_approximate(MethodChoice.of(method()) for method in kept)
    choice = MethodChoice.parse(name, *ATTACK_KINDS)
    _check_secret(choice, asked)
    return [choice]


def _check_secret(choice: MethodChoice, asked: Asked) -> None:
    method = find_method(choice.key, *ATTACK_KINDS)
    threats = _list_threats(method)
    missing = {
        "a private column": method.kind == "attribute_attack" and not asked.column,
        "withheld links": "link" in threats and not asked.links,
        "released links": threats == ("included",) and not asked.released,
        "re-identification": method.kind == "identity_attack" and not asked.identity,
    }
    for secret, is_missing in missing.items():
        if is_missing:
            raise InputError(choice.key, f"needs {secret}", remedy=f"use {ASKED_BY[secret]}")


def add_approximate(choices: Iterable[MethodChoice]) -> list[MethodChoice]:
    """The choices, then attackers on identities with approximate knowledge for those with exact
    knowledge."""
    listed = list(choices)
    rough = [
        MethodChoice(key=choice.key, config={**choice.config, "error": APPROXIMATE})
        for choice in listed
        if choice.kind == "identity_attack" and choice.make().config.get("error") == 0
    ]
    return list({choice.id: choice for choice in (*listed, *rough)}.values())


def add_released(choices: Iterable[MethodChoice]) -> list[MethodChoice]:
    """The choices, and the attacks on released links that are missing."""
    return _join(list(choices), list_released_attacks())


def _join(choices: list[MethodChoice], methods: Iterable[type[Method]]) -> list[MethodChoice]:
    """The choices, and those of the methods that are missing."""
    keys = {choice.key for choice in choices}
    return choices + [MethodChoice.of(m()) for m in methods if m.info.key not in keys]


def list_attacks(asked: Asked) -> list[type[Method]]:
    """Attacks on the secrets asked for, in the order of their lists; released links apart."""
    links = [m for m in list_methods("link_attack") if "link" in _list_threats(m)]
    links = links if asked.links else []
    attributes = list_methods("attribute_attack") if asked.column else []
    identities = list_methods("identity_attack") if asked.identity else []
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
