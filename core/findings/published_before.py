"""Releases of a graph that were published before: whoever holds several learns more than by one."""

from __future__ import annotations

from collections import Counter

from core.audit.results.view import AuditView
from core.findings.ledger import describe_total
from core.findings.policy import Policy
from core.privacy.ledger import Entry, compute_totals
from core.words import count_noun


def list_open_runs(view: AuditView, release: str, policy: Policy) -> list[str]:
    """That other releases of the graph are out and nobody attacked them together with this one, and
    that their ε and its own exceed a limit; one sentence each.

    The last run that published this release after the audit began is its own.
    """
    began = view.summary.created
    own_runs = [e.run for e in view.ledger if e.release == release and e.made >= began]
    before = [entry for entry in view.ledger if entry.run not in own_runs[-1:]]
    if not before:
        return []
    count = count_noun(len(before), "release")
    found = []
    if not _holds_all(view, release, before):
        found.append(
            f"{count} of this graph {'was' if len(before) == 1 else 'were'} published before, and "
            "no attacker held them together with this one: audit their composition"
        )
    summary = next((each for each in view.releases if each.id == release), None)
    if summary is None:
        return found
    own = Entry.of("", "", release, summary.guarantee)
    for total in compute_totals([*before, own]):
        limit = policy.find_limit("release", f"epsilon_{total.unit}")
        if limit is not None and own.covers(total.unit) and total.epsilon > limit:
            found.append(
                f"With {count} published before the limit on ε, {limit:g}, is exceeded. "
                f"{describe_total(total)}"
            )
    return found


def _holds_all(view: AuditView, release: str, before: list[Entry]) -> bool:
    """Whether the audit's attackers hold as many releases of the same defenses."""
    held, knowledge = Counter(entry.release for entry in before), view.spec.knowledge
    if set(held) == {release}:
        return (knowledge.composition or 0) > held[release]
    of_each = {choice.id for choice in view.spec.defenses}
    return (
        knowledge.hold_every_defense
        and held[release] == 0
        and max(held.values()) == 1
        and {release, *held} <= of_each
    )
