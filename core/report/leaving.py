"""What leaves with the links, and what an attacker holds who looks for people, in sentences."""

from __future__ import annotations

from core.audit.spec import AuditSpec
from core.findings.leaving import describe_columns
from core.findings.numbers import format_percent
from core.report.material import Material


def describe_leaving(material: Material) -> str:
    """Which columns leave, and how coarse; withheld ones are not named."""
    spec = material.view.spec
    if spec.publish_columns is None and not spec.generalize:
        leaves = ["The links"]
        if material.graph.features is not None:
            leaves.append("the features as they are")
        if spec.utility is not None:
            leaves.append("the useful column, where a file has it")
        text = f"**What leaves.** {', and '.join(leaves)}."
    elif spec.publish_columns is None:
        coarse = dict.fromkeys(text.rpartition(":")[0] for text in spec.generalize)
        named = describe_columns(list(coarse), spec.generalize).removesuffix(
            " No other column does."
        )
        text = f"**What leaves.** {named} The other features leave as they are."
    else:
        text = f"**What leaves.** {describe_columns(spec.publish_columns, spec.generalize)}"
    if spec.leave_out:
        text += f" People who were left out: {material.count(len(spec.leave_out))}."
    return text


def describe_people(spec: AuditSpec) -> str:
    """The threat to identities, and what was assumed of the attacker."""
    choice = spec.identity
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
