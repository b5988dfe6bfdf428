"""What a search tries: each defense in each form, from its weakest setting to its strongest."""

from __future__ import annotations

from dataclasses import dataclass, replace

from core.audit.asked.method_choice import MethodChoice
from core.audit.asked.spec import AuditSpec
from core.audit.computing.prepared import prepare_graph
from core.audit.store.costs import Shape
from core.audit.store.estimate import TimeModel, make_task
from core.defenses.pseudonyms import Pseudonyms
from core.defenses.random_deletion import RandomDeletion
from core.defenses.without_columns import WithoutColumns
from core.findings.guide import build_threats, list_possible, read_answers
from core.findings.policy import Policy
from core.graph import Graph
from core.methods import Defense

STEPS = 8
"""Strengths of a defense."""


@dataclass(frozen=True)
class Ladder:
    """rungs: one defense from its weakest setting; seconds: expected for one release;
    has_columns: whether its releases keep the columns that the audit publishes; has_links: whether
    they keep any link; is_synthesis: whether the links are drawn anew; base: the same settings with
    the columns."""

    rungs: tuple[MethodChoice, ...]
    seconds: float = 0.0
    has_columns: bool = True
    has_links: bool = True
    is_synthesis: bool = False
    base: Ladder | None = None

    @property
    def title(self) -> str:
        """The defense's title, and how its columns fare."""
        defense = self.rungs[0].make_defense()
        if not self.has_links:
            return "Columns alone"
        if not isinstance(defense, WithoutColumns):
            return defense.info.title
        inner = defense.make_inner()
        return "Without columns" if inner is None else f"{inner.info.title}, without columns"


def build_ladders(spec: AuditSpec, graph: Graph, policy: Policy) -> list[Ladder]:
    """Ladders for an audit's secrets, those that typically take the least time first, whatever this
    machine has measured: a resumed search takes the same steps.

    Of the defenses of `spec`, or where it names none of those that the guide suggests; each with
    the columns that leave and, if any do, without. The first are pseudonyms alone, the links
    without columns and the columns without links. An ε starts at the largest that the policy
    allows. Defenses of given links are left out where the links are not named: what they publish
    could not be cleared.
    """
    shown = prepare_graph(spec, graph)
    answers = read_answers(spec, policy)
    threats = build_threats(answers, shown)
    model = TimeModel(())
    chosen = [choice.make_defense() for choice in spec.defenses]
    if not chosen:
        possible = list_possible(answers, shown, policy, model)
        chosen = [choice.make_defense() for _, choice, _, _ in possible]
    bare = WithoutColumns.model_validate({})
    drops = bare.supports(shown, threats) is None
    plain: list[Defense] = [Pseudonyms(), *([bare] if drops else [])]
    ladders = [Ladder((MethodChoice.of(each),), has_columns=each is not bare) for each in plain]
    if drops:
        ladders.append(Ladder((MethodChoice.of(RandomDeletion(strength=1.0)),), has_links=False))
    shape = Shape.of(shown)
    for defense in chosen:
        is_open = defense.needs_links and not spec.threats.sensitive_links
        is_open |= bool(getattr(defense, "data_free", False))  # baselines are never published
        if is_open or isinstance(defense, WithoutColumns | Pseudonyms):
            continue
        varied = [each for each in _vary(defense, policy) if not each.supports(shown, threats)]
        if not varied:
            continue
        text = MethodChoice.of(varied[-1]).id
        seconds = model.predict(make_task("publish", text, shape, text))
        is_synthesis = hasattr(defense, "data_free")
        rungs = tuple(map(MethodChoice.of, varied))
        base = Ladder(rungs, seconds, is_synthesis=is_synthesis)
        ladders.append(base)
        if drops and defense.info.key in WithoutColumns.members:
            combined = tuple(MethodChoice.of(WithoutColumns.combine(each)) for each in varied)
            ladders.append(replace(base, rungs=combined, has_columns=False, base=base))
    return sorted(ladders, key=lambda ladder: ladder.seconds)


def _vary(defense: Defense, policy: Policy) -> list[Defense]:
    """The defense at `STEPS` strengths; of an ε, those that its limit in the policy allows."""
    varied = defense.vary(STEPS)
    limit = defense.suggestion.limit if defense.suggestion is not None else ""
    most = policy.find_limit("release", limit) if limit else None
    if most is None or "epsilon" not in defense.config:
        return varied
    most /= 2 if defense.is_reported_twice else 1
    allowed = [each for each in varied if each.config["epsilon"] < most]
    return [type(defense).model_validate({**defense.config, "epsilon": most}), *allowed]
