"""What leaves with the links, and what an attacker holds who looks for people, in sentences."""

from __future__ import annotations

from core.audit.spec import AuditSpec
from core.findings.leaving import describe_columns
from core.findings.numbers import format_percent
from core.report.material import Material


def describe_leaving(material: Material) -> str:
    """Which columns leave, and how coarse; withheld ones are not named."""
    disclosure = material.view.spec.disclosure
    if disclosure.publish_columns is None and not disclosure.generalize:
        leaves = ["The links"]
        if material.graph.features is not None:
            leaves.append("the features as they are")
        if disclosure.utility is not None:
            leaves.append("the useful column, where a file has it")
        text = f"**What leaves.** {', and '.join(leaves)}."
    elif disclosure.publish_columns is None:
        coarse = dict.fromkeys(text.rpartition(":")[0] for text in disclosure.generalize)
        named = describe_columns(list(coarse), disclosure.generalize).removesuffix(
            " No other column does."
        )
        text = f"**What leaves.** {named} The other features leave as they are."
    else:
        described = describe_columns(disclosure.publish_columns, disclosure.generalize)
        text = f"**What leaves.** {described}"
    if disclosure.leave_out:
        text += f" People who were left out: {material.count(len(disclosure.leave_out))}."
    return text


def describe_people(spec: AuditSpec) -> str:
    """The threat to identities, and what was assumed of the attacker."""
    choice = spec.threats.identity
    assert choice is not None
    held = (
        "a second graph of the same people, which the analyst gave"
        if choice.auxiliary_graph is not None
        else f"a second graph of them with {format_percent(choice.overlap)} of the links"
        + (f" and {format_percent(choice.noise)} wrong ones" if choice.noise else "")
    )
    return (
        "**Who is who.** The release bears no names. Someone knows how a person is linked, "
        f"exactly or roughly, or holds {held}, and has found {choice.seeds_known} people already. "
        "Whom do they find among the nodes? Attackers see no ids and no order."
    )
