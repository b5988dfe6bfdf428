"""Cases: an attack as an audit runs it: which method, against what, knowing what.

A plain case is written as the method's id alone. Others add tokens, so that whatever lists
attacks by their id keeps them apart, and the worst case takes them all:

    adamic_adar                  withheld links; the attacker does not know the defense
    gae_cosine@aware             the same, knowing the defense
    adamic_adar@included         which links of the release are real
    gps@column:income+others:0.1 a second private column, known for another tenth of the people
    neighbourhood_classifier@transfer  the first one, by who holds another graph to learn from
    neighbourhood_classifier@column:income+transfer  the same of a second one
    gps@joint:inferred           the first one, by who infers the other private columns as well
    edge_agreement@held:3        three releases of the same graph at once
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal
from urllib.parse import quote, unquote

from core.audit.spec import AuditSpec, MethodChoice
from core.methods import ATTACK_KINDS, AttributeAttack, Kind, LinkAttack, Method
from core.registry import parse_method

Threat = Literal["link", "included", "attribute", "identity"]

THREAT_TITLES: dict[Threat, str] = {
    "link": "withheld links",
    "included": "released links",
    "attribute": "private attribute",
    "identity": "identity",
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
    threat     what it is after
    target     private column, where it is not the audit's first one
    knowledge  "" as the threat has it; "aware": knows the defense; "others:SHARE": another
               known set than the publisher's, of that share; "others_degree:SHARE" and
               "others_community:SHARE": the same, people of many links rather, or of some
               communities; "held:K": holds K releases; "joint:inferred", "joint:known": infers
               or knows the other private columns; "transfer": learned from another graph
    """

    method: str
    threat: Threat
    target: str = ""
    knowledge: str = ""

    @property
    def id(self) -> str:
        """The case as text, as results and options name it."""
        tokens: list[str] = []
        if self.threat in ("included", "identity"):
            tokens.append(self.threat)
        if self.target:
            tokens.append(f"column:{quote(self.target, safe='')}")
        if self.knowledge:
            tokens.append(self.knowledge)
        return f"{self.method}@{'+'.join(tokens)}" if tokens else self.method

    @property
    def needs_defense(self) -> bool:
        """Whether the attacker replays a defense, so that the original has no such case."""
        return self.knowledge == "aware" or self.knowledge.startswith("held:")

    @property
    def is_plain(self) -> bool:
        return self.id == self.method

    @staticmethod
    def parse(scenario_id: str) -> Scenario:
        """The case of an id; InputError where its method is unknown."""
        method, _, text = scenario_id.partition("@")
        threat = _DEFAULT_THREATS.get(parse_method(method).kind, "identity")
        target = knowledge = ""
        for token in filter(None, text.split("+")):
            name, _, value = token.partition(":")
            if token == "included":
                threat = "included"
            elif token == "identity":
                threat = "identity"
            elif name == "column":
                target = unquote(value)
            else:
                knowledge = token
        return Scenario(method, threat, target, knowledge)

    @property
    def held_defenses(self) -> tuple[str, ...]:
        """Ids of the defenses of which the attacker holds a release each; () for K of one."""
        name, _, value = self.knowledge.partition(":")
        if name != "held" or value.isdecimal():
            return ()
        return tuple(unquote(value).split("|"))

    def describe_knowledge(self, has_others: bool = False) -> str:
        """As audit.json calls it: "unaware" or, where others attack too, "assumed"."""
        if self.knowledge:
            return self.knowledge
        return "assumed" if has_others and self.threat == "attribute" else "unaware"


def split_id(scenario_id: str) -> tuple[str, str]:
    """The method's id and the tokens; neither is checked."""
    method, _, tokens = scenario_id.partition("@")
    return method, tokens


def name_place(text: str) -> str:
    """ "degree:.10" → "others_degree:0.1", as the case's id has it."""
    spread, _, share = text.partition(":")
    return f"others_{spread}:{float(share):g}"


def list_private(spec: AuditSpec) -> tuple[str, ...]:
    """All private columns of an audit, the main one first."""
    return () if spec.private is None else (spec.private, *spec.more_private)


ListedScenario = tuple[MethodChoice, Method, Scenario]
"""A case with the attack that it runs, as chosen and as made."""


def list_scenarios(spec: AuditSpec) -> list[ListedScenario]:
    """Every case of an audit with the attack that it runs, in the order of the spec."""
    found = []
    for choice in spec.attacks:
        attack = choice.make(*ATTACK_KINDS)
        found += [
            (choice, attack, scenario) for scenario in _list_own_scenarios(spec, choice.id, attack)
        ]
    return found


def _list_own_scenarios(spec: AuditSpec, method: str, attack: Method) -> list[Scenario]:
    """The cases of one attack: plain, knowing the defense, holding several releases."""
    plain = Scenario(method, _DEFAULT_THREATS.get(attack.kind, "identity"))
    if isinstance(attack, LinkAttack) and "included" in attack.threats:
        plain = Scenario(method, "included")
        if not spec.has_released_threat:
            return []
    scenarios = [plain]
    if spec.adaptive and plain.threat != "identity" and not attack.info.is_baseline:
        scenarios.append(replace(plain, knowledge="aware"))
    if isinstance(attack, AttributeAttack) and attack.transfers:
        for column in spec.taught:
            target = "" if column == spec.private else column
            scenarios.append(replace(plain, target=target, knowledge="transfer"))
    if plain.threat == "attribute":
        others = [f"others:{share:g}" for share in dict.fromkeys(spec.attacker_known)]
        others += [name_place(text) for text in dict.fromkeys(spec.attacker_places)]
        scenarios += [replace(plain, knowledge=knowledge) for knowledge in others]
        for column in spec.more_private:
            scenarios += [replace(plain, target=column, knowledge=k) for k in ("", *others)]
        for how in dict.fromkeys(spec.joint if spec.more_private else ()):
            targets = ("", *spec.more_private)
            scenarios += [replace(plain, target=t, knowledge=f"joint:{how}") for t in targets]
    holds = isinstance(attack, LinkAttack) and attack.reads_several
    if spec.releases_held is not None and holds:
        scenarios.append(replace(plain, knowledge=f"held:{spec.releases_held}"))
    if spec.hold_every_defense and holds and len(spec.defenses) > 1:
        ids = "|".join(choice.id for choice in spec.defenses)
        scenarios.append(replace(plain, knowledge=f"held:{quote(ids, safe='')}"))
    return scenarios
