"""Releases of a graph that were published before: whoever holds several learns more than by one."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from core.audit.asked.knowledge import Composition, Knowledge
from core.audit.asked.scenarios import Threat
from core.audit.results.view import AuditView
from core.audit.store.states import State
from core.findings.ledger import describe_total
from core.findings.policy import Policy
from core.privacy.ledger import Entry, compute_totals
from core.words import count_noun, join_words

SECRETS: dict[Threat, str] = {
    "link": "withheld links",
    "included": "released links",
    "attribute": "private values",
    "identity": "identities",
}
"""What an attacker is after, in a sentence."""


def list_open_runs(view: AuditView, release: str, policy: Policy) -> list[str]:
    """That other releases of the graph are out and whose attackers did not hold them together with
    this one, and that their ε and its own exceed a limit; one sentence each.

    The last run by which this audit published the release as audited is its own. A run of another
    audit, of none or with other columns is not, whatever its defense.
    """
    own_runs = [e.run for e in view.ledger if (e.audit_id, e.release) == (view.summary.id, release)]
    before = [entry for entry in view.ledger if entry.run not in own_runs[-1:]]
    if not before:
        return []
    count = count_noun(len(before), "release")
    found = []
    if alone := _list_held_alone(view, release, before):
        found.append(
            f"{count} of this graph {'was' if len(before) == 1 else 'were'} published before, and "
            f"no attacker on {join_words([SECRETS[threat] for threat in alone], 'or')} held them "
            f"together with this one: {_find_remedy(alone)}"
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


def disown_runs(view: AuditView) -> AuditView:
    """The audit as one that none of the publishing runs belongs to: as it stands before the next
    one."""
    if all(entry.audit_id != view.summary.id for entry in view.ledger):
        return view
    return replace(view, ledger=tuple(replace(entry, audit_id="") for entry in view.ledger))


def _list_held_alone(view: AuditView, release: str, before: list[Entry]) -> list[Threat]:
    """Threats that were measured on a release, by no attacker who holds those before as well.

    What one composed attack finds says nothing of another threat: four releases together may tell
    the private values though each link of them stays doubtful. Nor do guarantees stand for it: a
    limit on ε is none on what an attacker infers from the links of others.
    """
    held = Counter(entry.release for entry in before)
    rows = view.results[(view.results.release == release) & (view.results.status == State.DONE)]
    attacks = [attack for attack in rows.attack if attack is not None]
    tested = {attack.threat for attack in attacks}
    tested -= {a.threat for a in attacks if _holds_all(a.knowledge, release, held)}
    return [threat for threat in SECRETS if threat in tested]


def _holds_all(known: Knowledge, release: str, held: Counter[str]) -> bool:
    """Whether an attacker on a release holds as many others of the same defenses."""
    if not isinstance(known, Composition):
        return False
    if set(held) == {release}:
        return (known.releases or 0) > held[release]
    is_one_of_each = held[release] == 0 and max(held.values()) == 1
    return is_one_of_each and {release, *held} <= set(known.defenses)


def _find_remedy(alone: list[Threat]) -> str:
    """What can be audited of them: attacks on released links alone combine several releases."""
    if "included" not in alone:
        return "attacks on these hold one release each"
    if len(alone) == 1:
        return "audit their composition"
    return "audit the composition of released links; attacks on the others hold one release each"
