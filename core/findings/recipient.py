"""Who receives a release, and whether a policy asks for less than theirs."""

from __future__ import annotations

from collections.abc import Mapping

from core.audit.asked.answers import Recipient
from core.audit.asked.spec import AuditSpec
from core.findings.policy import Limit, Policy, find_policy
from core.words import count_noun, join_words

RECIPIENTS: dict[Recipient, str] = {
    "public": "Anybody: it is published",
    "partner": "A partner under contract",
    "internal": "Colleagues, in a controlled room",
}
"""Recipient, whose policy has the same key → answer in the guide, as `AuditSpec.purpose` has it."""


def find_recipient(spec: AuditSpec, policy: Policy) -> str:
    """Who receives a release that is judged by a policy: whoever the audit names; whom the policy
    is for, if another one than the audit's was chosen since; "" if neither is known."""
    named = spec.purpose.get("recipient", "")
    if spec.policy is None:
        return named
    if not named:
        return policy.title
    if spec.policy.get("key") == policy.key:
        return named
    return next((text for key, text in RECIPIENTS.items() if key == policy.key), policy.title)


def explain_lax_policy(purpose: Mapping[str, str], policy: Policy) -> str:
    """Warning that a policy is laxer than that of the recipient in the answers of the guide; "" if
    it is not, or none of them is the recipient."""
    named = purpose.get("recipient")
    key = next((key for key, answer in RECIPIENTS.items() if answer == named), None)
    if key is None:
        return ""
    own = find_policy(key)
    laxer = [limit for limit in own.limits if not _asks_as_much(policy, limit)]
    found = []
    if laxer:
        count = count_noun(len(own.limits), "limit")
        found.append(f"{len(laxer)} of {count} are laxer or missing")
    if policy.repeats < own.repeats or len(policy.allowed_costs) < len(own.allowed_costs):
        found.append("fewer tests are required")
    if not own.attackers.is_within(policy.attackers):
        found.append("attackers may know less")
    if not found:
        return ""
    return (
        f"The policy “{policy.title}” is laxer than that of the recipient whom the audit "
        f"names, “{own.title}”: "
        f"{join_words(found)}."
    )


def _asks_as_much(policy: Policy, limit: Limit) -> bool:
    """Whether a limit of the policy is as strict as this one."""
    return any(
        (own.threat, own.metric) == (limit.threat, limit.metric)
        and own.limit <= limit.limit
        and (own.weight == "stop" or limit.weight == "review")
        and (limit.optional or not own.optional)
        and (not own.methods or own.methods == limit.methods)
        for own in policy.limits
    )
