"""Which attacks were tried: a method against a kind of secret is one attack, whatever column it
targets and whatever its attacker knows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import pandas as pd

from core.audit.asked.attack import Attack
from core.audit.results.view import AuditView
from core.audit.store.states import State
from core.words import count_noun


def list_tried(results: pd.DataFrame) -> list[Attack]:
    """Every form of an attack with a finished result, that this version knows; no baseline
    attackers."""
    return [attack for attack in _list_done(results) if not attack.is_baseline]


def _list_done(results: pd.DataFrame) -> list[Attack]:
    done = dict.fromkeys(results[results.status == State.DONE].attack)
    return [attack for attack in done if attack is not None and attack.threat is not None]


def count_attacks(forms: Iterable[Attack]) -> int:
    """Number of attacks of which these are forms."""
    return len({(attack.method_id, attack.threat) for attack in forms})


@dataclass(frozen=True)
class Tried:
    """Attacks with a finished result in all their forms, baseline attackers apart, and the number
    of repeats."""

    forms: tuple[Attack, ...]
    baselines: tuple[Attack, ...]
    repeats: int

    @classmethod
    def of(cls, view: AuditView) -> Tried:
        """What an audit tried."""
        done = _list_done(view.results)
        baselines = tuple(attack for attack in done if attack.is_baseline)
        return cls(tuple(list_tried(view.results)), baselines, view.num_repeats)

    @property
    def count(self) -> str:
        """ "12 attacks"."""
        return count_noun(count_attacks(self.forms), "attack")

    def describe(self) -> str:
        """ "12 attacks beside 3 baseline attackers in 5 repeats"."""
        baselines = count_noun(count_attacks(self.baselines), "baseline attacker")
        return f"{self.count} beside {baselines} in {count_noun(self.repeats, 'repeat')}"
