"""Attacks that a policy requires of an audit, and those that it lacks."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from core.audit.asked.attack import Attack
from core.audit.asked.presets import list_joined
from core.audit.results.view import AuditView
from core.findings.labels import THREAT_WORDS
from core.findings.policy import Policy
from core.methods import Method
from core.registry import list_methods
from core.words import count_noun

MORE_IS_STRONGER = (
    "candidates",
    "epochs",
    "max_links",
    "max_nodes",
    "max_pairs",
    "rounds",
    "trees",
    "walk_length",
    "walks_per_node",
)
"""Settings of which a larger number than the default is more work of the same kind."""


def list_lacking(
    view: AuditView, release: str, policy: Policy, threats: Iterable[str], planned: list[Attack]
) -> list[str]:
    """Required attacks that are not planned, and those planned with weaker settings alone, one
    sentence each for a threat.

    An attack counts with its default settings or stronger ones: three columns apart find far fewer
    people than together, and one epoch less than a hundred. Where columns and links leave, the
    forms that know both are required too.
    """
    forms: dict[str, list[Method]] = {}
    for attack in planned:
        if attack.method is not None:
            forms.setdefault(attack.key, []).append(attack.method)
    has_values = bool(view.link_channels.find_leaving(release))
    channels = view.node_channels
    columns = channels.find_leaving(release) if channels.is_known else None
    found = []
    for threat in sorted(threats):
        required = [
            method
            for method in _list_attacks(threat)
            if method.info.cost in policy.allowed_costs
            and (has_values or getattr(method, "finds_by", "") != "values")
        ]
        missing = [m.info.title for m in required if m.info.key not in forms]
        if columns and view.summary.num_edges:
            missing += [
                form.label
                for method in required
                for form in list_joined(method)
                if form not in forms.get(method.info.key, [form])
            ]
        weaker = [
            " and ".join(form.label for form in forms[m.info.key])
            for m in required
            if m.info.key in forms and not any(is_full(form, columns) for form in forms[m.info.key])
        ]
        for names, how in ((missing, ""), (weaker, " with default settings; it has")):
            if names:
                count = count_noun(len(names), "required attack")
                found.append(f"{THREAT_WORDS[threat].title} lacks {count}{how}: {', '.join(names)}")
    return found


def is_full(method: Method, columns: Collection[str] | None = None) -> bool:
    """Whether no setting makes an attack weaker than its default settings.

    columns  those that leave; None: unknown. An attack that names all of them reads what it reads
             by default.
    """
    changed, usual = method.changed, type(method)()
    reads = getattr(method, "reads_column", None)
    if columns is not None and reads is not None and all(map(reads, columns)):
        changed.pop("columns", None)
    return all(
        name in MORE_IS_STRONGER and value > usual.config[name] for name, value in changed.items()
    )


def _list_attacks(threat: str) -> list[type[Method]]:
    """All available attacks on one threat."""
    if threat in ("attribute", "identity"):
        return list_methods("attribute_attack" if threat == "attribute" else "identity_attack")
    return [m for m in list_methods("link_attack") if threat in getattr(m, "threats", ("link",))]
