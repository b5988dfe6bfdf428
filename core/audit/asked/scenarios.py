"""Attack scenarios: a method with its target and the attacker's knowledge.

A standard scenario is written as the method's id. Others append tokens, so that lists of attacks by
id distinguish them and the worst case includes all:

  adamic_adar                  withheld links; the attacker does not know the defense
  gae_cosine@adaptive          the same by an adaptive attacker
  adamic_adar@included         which links of the release are real
  gps@column:income+auxiliary:0.1  a second private column, known for another tenth of the nodes
  neighbourhood_classifier@column:income+transfer  the same, trained on a shadow graph
  gps@joint:inferred           the first column, inferring the other private columns as well
  mechanism_posterior@composition:3 three releases of the same graph at once
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal
from urllib.parse import quote, unquote

from core.audit.asked.knowledge import (
    ADAPTIVE,
    STANDARD,
    Adaptive,
    Composition,
    Joint,
    Knowledge,
    Shadow,
    parse_knowledge,
)
from core.audit.asked.method_choice import MethodChoice
from core.audit.asked.spec import AuditSpec
from core.methods import ATTACK_KINDS, AttributeAttack, Defense, Kind, LinkAttack, Method
from core.once import find_once
from core.registry import parse_method

Threat = Literal["link", "included", "attribute", "identity"]

THREAT_TITLES: dict[Threat, str] = {
    "link": "withheld links",
    "included": "released links",
    "attribute": "private attribute",
    "identity": "re-identification",
}

_DEFAULT_THREATS: dict[Kind, Threat] = {
    "link_attack": "link",
    "attribute_attack": "attribute",
    "identity_attack": "identity",
}


@dataclass(frozen=True)
class Scenario:
    """One attack of an audit.

    method     the attack's id (`MethodChoice.id`)
    threat     the kind of secret
    target     private column, if not the audit's first one
    knowledge  the attacker's knowledge beyond the release
    """

    method: str
    threat: Threat
    target: str = ""
    knowledge: Knowledge = STANDARD

    @property
    def id(self) -> str:
        """The scenario as text, as in results and options."""
        return self._write("" if self.knowledge == STANDARD else self.knowledge.text)

    @property
    def stream(self) -> str:
        """Name of its random stream, which determines results and is never renamed."""
        return self._write(self.knowledge.stream)

    def _write(self, knowledge: str) -> str:
        tokens: list[str] = [self.threat] if self.threat in ("included", "identity") else []
        if self.target:
            tokens.append(f"column:{quote(self.target, safe='')}")
        if knowledge:
            tokens.append(knowledge)
        return f"{self.method}@{'+'.join(tokens)}" if tokens else self.method

    @property
    def runs_defense(self) -> bool:
        """Whether the attacker runs the defense itself, at its cost."""
        return isinstance(self.knowledge, Adaptive | Composition)

    def can_rehearse(self, defense: Method | None) -> bool:
        """Whether a defense changes what the attack reads, which it can learn by rehearsing it.

        defense  None: the original, on which there is nothing to rehearse
        """
        if not (isinstance(defense, Defense) and defense.changes_graph):
            return False
        # Where nodes are made anew, nobody can be found by a rule.
        return self.threat != "identity" or defense.keeps_nodes

    def differs_on(self, defense: Method | None) -> bool:
        """Whether the attack is another one than in its standard form on what a defense made."""
        if not self.runs_defense:
            return True
        if not self.can_rehearse(defense):
            return False
        # No attacker gains by knowing how it was made, as it does not depend on the links.
        return not (self.knowledge == ADAPTIVE and getattr(defense, "data_free", False))

    @staticmethod
    def parse(scenario_id: str) -> Scenario:
        """Scenario of an id; raises InputError for an unknown method or knowledge."""
        method, tokens = split_id(scenario_id)
        threat = _DEFAULT_THREATS[parse_method(method).kind]
        target = ""
        knowledge: Knowledge = STANDARD
        for token in filter(None, tokens.split("+")):
            name, _, value = token.partition(":")
            if name == "included":
                threat = "included"
            elif name == "column":
                target = unquote(value)
            elif name != "identity":
                knowledge = parse_knowledge(token)
        return Scenario(method, threat, target, knowledge)


def split_id(scenario_id: str) -> tuple[str, str]:
    """Method id and tokens of a scenario id, unchecked."""
    method, _, tokens = scenario_id.partition("@")
    return method, tokens


ListedScenario = tuple[MethodChoice, Method, Scenario]
"""A scenario with its attack, as chosen and as configured."""


@find_once
def list_scenarios(spec: AuditSpec) -> list[ListedScenario]:
    """Every scenario of an audit with its attack, in the order of the spec.

    The same for all releases, the original included.
    """
    listed: list[ListedScenario] = []
    for choice in spec.attacks:
        attack = choice.make(*ATTACK_KINDS)
        scenarios = _list_own_scenarios(spec, choice.id, attack)
        listed += [(choice, attack, scenario) for scenario in scenarios]
    return listed


def _list_own_scenarios(spec: AuditSpec, method: str, attack: Method) -> Iterator[Scenario]:
    """Scenarios of one attack, threat by threat, standard ones first."""
    knowledge = spec.knowledge
    for plain in _list_standard_scenarios(spec, method, attack):
        yield plain
        if knowledge.adaptive and attack.rehearses and not attack.info.is_baseline:
            yield replace(plain, knowledge=ADAPTIVE)
        if isinstance(attack, AttributeAttack):
            yield from _list_attribute_scenarios(spec, plain, attack)
        if isinstance(attack, LinkAttack) and attack.reads_several:
            for several in knowledge.list_compositions(tuple(c.id for c in spec.defenses)):
                yield replace(plain, knowledge=several)


def _list_standard_scenarios(spec: AuditSpec, method: str, attack: Method) -> list[Scenario]:
    """One per threat of the attack that the audit covers."""
    if not isinstance(attack, LinkAttack):
        return [Scenario(method, _DEFAULT_THREATS[attack.kind])]
    is_released = "included" in attack.threats and spec.attacks_released_links
    found = [Scenario(method, "included")] if is_released else []
    if "link" in attack.threats and (spec.threats.has_links or not found):
        found.insert(0, Scenario(method, "link"))
    return found


def _list_attribute_scenarios(
    spec: AuditSpec, plain: Scenario, attack: AttributeAttack
) -> Iterator[Scenario]:
    """Scenarios with shadow graphs, auxiliary values, further columns and joint inference."""
    knowledge, more = spec.knowledge, spec.threats.more_private
    if attack.transfers:
        for column in spec.shadow_targets:
            target = "" if column == spec.threats.private else column
            yield replace(plain, target=target, knowledge=Shadow())
    for known in knowledge.auxiliary:
        yield replace(plain, knowledge=known)
    for column in more:
        yield replace(plain, target=column)
        for known in knowledge.auxiliary:
            yield replace(plain, target=column, knowledge=known)
    for how in dict.fromkeys(knowledge.joint if more else ()):
        for column in ("", *more):
            yield replace(plain, target=column, knowledge=Joint(how=how))
