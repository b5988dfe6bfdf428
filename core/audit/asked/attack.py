"""What an attack of an audit is: its method, target and knowledge, and its titles."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache

import pandas as pd

from core.audit.asked.knowledge import (
    ADAPTIVE,
    STANDARD,
    Adaptive,
    Auxiliary,
    Composition,
    Joint,
    Knowledge,
    Shadow,
)
from core.audit.asked.release_info import ReleaseInfo, parse_release
from core.audit.asked.scenarios import Scenario, Threat, split_id
from core.errors import InputError
from core.methods import Method
from core.registry import parse_method
from core.results import RELEASE
from core.words import format_percent

_SPREADS = {
    "stratified": "",
    "degree": ", mostly with many links",
    "community": ", of some communities",
}


@dataclass(frozen=True)
class Attack:
    """One attack of an audit, to which its results refer.

    id        as stored, in addresses and in audit.json
    method    with its settings; None if this version does not know it
    scenario  threat, target and knowledge; None likewise
    """

    id: str
    method: Method | None = field(default=None, compare=False)
    scenario: Scenario | None = field(default=None, compare=False)

    def __str__(self) -> str:
        """The id, as in a file of a table of attacks."""
        return self.id

    @property
    def method_id(self) -> str:
        """The method with its settings, whatever its target and knowledge."""
        return split_id(self.id)[0]

    @property
    def key(self) -> str:
        """Key of the method."""
        return self.method_id.partition(":")[0]

    @property
    def threat(self) -> Threat | None:
        """The kind of secret; None if unknown."""
        return None if self.scenario is None else self.scenario.threat

    @property
    def target(self) -> str:
        """The private column, if not the audit's first one."""
        return "" if self.scenario is None else self.scenario.target

    @property
    def secret(self) -> tuple[str, str]:
        """(threat, target); ("", "") if unknown."""
        return self.threat or "", self.target

    @property
    def family(self) -> tuple[str, str, str]:
        """What its forms have in common, whatever their settings and knowledge: the method's key
        and the secret."""
        return self.key, *self.secret

    def find_form(self, made: ReleaseInfo) -> Attack:
        """The form with results on a release: the standard one where it cannot differ."""
        if self.scenario is None or (made.defense is None and not made.is_original):
            return self
        if self.scenario.differs_on(made.defense):
            return self
        standard = replace(self.scenario, knowledge=STANDARD)
        return Attack(standard.id, self.method, standard)

    @property
    def knowledge(self) -> Knowledge:
        """What the attacker knows beyond the release."""
        return STANDARD if self.scenario is None else self.scenario.knowledge

    @property
    def is_adaptive(self) -> bool:
        return self.knowledge == ADAPTIVE

    @property
    def is_baseline(self) -> bool:
        """Whether it is a baseline attacker."""
        return self.method is not None and self.method.info.is_baseline

    @property
    def is_blind(self) -> bool:
        """Whether it uses neither links nor columns, so that it exposes nobody."""
        return self.method is not None and self.method.info.is_blind

    @property
    def name(self) -> str:
        """Name in a sentence: no settings, no knowledge."""
        return self.key if self.method is None else self.method.info.title

    @cached_property
    def title(self) -> str:
        """Method with its settings, target and knowledge; the id if unknown."""
        return self._write_title(self._aims)

    @property
    def form_title(self) -> str:
        """`title` where the secret is named beside it."""
        return self._write_title([])

    def _write_title(self, aims: list[str]) -> str:
        if self.method is None or self.scenario is None:
            return self.id
        known = describe_knowledge(self.knowledge)
        return ", ".join([self.method.title, *aims, *([known] if known else [])])

    @property
    def _aims(self) -> list[str]:
        words = ["on released links"] if self.threat == "included" else []
        return [*words, f"on {self.target}"] if self.target else words


@lru_cache(maxsize=4096)
def parse_attack(attack_id: str) -> Attack:
    """The attack of an id; without a method if this version does not know it.

    >>> attack = parse_attack("gcn@column:income+adaptive")
    >>> attack.threat, attack.target, attack.is_adaptive
    ('attribute', 'income', True)
    """
    try:
        method = parse_method(split_id(attack_id)[0])
        if method.kind == "defense":
            return Attack(attack_id)
        return Attack(attack_id, method, Scenario.parse(attack_id))
    except InputError:
        return Attack(attack_id)


def describe_knowledge(knowledge: Knowledge) -> str:
    """Knowledge of an attacker beyond the release; "" for the standard one."""
    match knowledge:
        case Adaptive():
            return "adaptive"
        case Auxiliary() as known:
            return f"others who know {format_percent(known.share)}{_SPREADS[known.spread]}"
        case Joint(how=how):
            return f"{'knowing' if how == 'known' else 'inferring'} the other private columns"
        case Shadow():
            return "trained on another graph"
        case Composition(releases=number, defenses=defenses):
            titles = [parse_release(defense).title for defense in defenses]
            return f"combining {' and '.join(titles) or f'{number} releases'}"
        case _:
            return ""


def attach_referents(table: pd.DataFrame) -> pd.DataFrame:
    """The table with what its ids refer to: `attack` (None for measures of the release itself) of
    `method`, and `made` (ReleaseInfo) of `release`."""
    attacks = {i: None if i == RELEASE else parse_attack(i) for i in table.method.unique()}
    releases = {i: parse_release(i) for i in table.release.unique()}
    return table.assign(
        attack=pd.Series([attacks[i] for i in table.method], table.index, object),
        made=pd.Series([releases[i] for i in table.release], table.index, object),
    )
