"""The attackers of a search's stages, and which of them are costly."""

from __future__ import annotations

from itertools import accumulate

from core.audit.asked.method_choice import MethodChoice
from core.audit.asked.presets import PRESETS, Asked, choose_attacks
from core.audit.asked.spec import AuditSpec
from core.audit.store.costs import Shape
from core.audit.store.estimate import TimeModel, make_task
from core.findings.policy import Policy
from core.graph import Graph


def list_quick(spec: AuditSpec) -> list[MethodChoice]:
    """Attackers of the screening."""
    return choose_attacks(Asked.of_spec(spec), [PRESETS[0].key])


def list_required(spec: AuditSpec, policy: Policy) -> list[MethodChoice]:
    """Attackers that the policy requires."""
    costs = set(policy.allowed_costs)
    preset = next(preset for preset in PRESETS if costs <= set(preset.costs))
    return choose_attacks(Asked.of_spec(spec), [preset.key])


def list_costly(spec: AuditSpec, policy: Policy, graph: Graph) -> list[MethodChoice]:
    """The costliest of the required attackers, without which the others take at most half of the
    time; none of the screening's.

    By the table of costs, whatever this machine has measured: a resumed search takes the same
    steps.
    """
    model, shape = TimeModel(()), Shape.of(graph)
    chosen, quick = list_required(spec, policy), list_quick(spec)
    times = [model.predict(make_task("attack", choice.id, shape)) for choice in chosen]
    ranked = sorted(zip(times, chosen, strict=True), key=lambda pair: pair[0])
    spent = list(accumulate(seconds for seconds, _ in ranked))
    costly = [c for (_, c), total in zip(ranked, spent, strict=True) if 2 * total > spent[-1]]
    return [choice for choice in costly if choice not in quick]
