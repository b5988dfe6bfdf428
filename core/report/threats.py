"""Threat model, and how to read the numbers."""

from __future__ import annotations

from core.audit.asked.declared import Declaration
from core.audit.asked.spec import AuditSpec
from core.audit.computing.key_inputs import walk_fields
from core.findings.tables import list_metrics
from core.measures.metrics import METRICS
from core.report import blocks
from core.report.blocks import Block
from core.report.data import ReportData
from core.report.disclosure import FEW
from core.report.text import clean_text
from core.words import format_error, format_percent


def build_threats(data: ReportData) -> list[Block]:
    """Section on the attackers' targets and knowledge."""
    spec = data.view.spec
    threats, name = spec.threats, clean_text(spec.graph_name, 80)
    others = "defended releases of it"
    if spec.external_release is not None:
        others = "a release that was made elsewhere"
    paragraphs = [
        f"This audit attacks the graph “{name}” and {others}, and compares every attack with "
        "baseline attackers."
    ]
    if threats.has_links:
        paragraphs.append(_describe_links(data))
    if threats.private is not None:
        paragraphs.append(
            "**Private attribute.** Someone holds the release and knows "
            f"“{threats.private}” for {_describe_known(data)}. How well can they infer it for "
            "the others? The attacker "
            f"sees the links and all features except “{threats.private}” itself."
        )
    if threats.identity is not None:
        paragraphs.append(_describe_people(spec))
    if settings := list_settings(spec):
        paragraphs.append(f"**Settings.** {'; '.join(settings)}.")
    used = [m for t in data.threats for m in list_metrics(data.results, "attack", t)]
    shown = [m for m in ("auc", "accuracy", "tpr_at_fpr_0.01", "precision_at_100") if m in used]
    reading = [
        *(f"**{METRICS[m].title}.** {METRICS[m].help}" for m in shown),
        "**Risk of a node.** The probability that an attacker puts on the truth about it. The "
        "attacker is calibrated and chosen on other nodes.",
        "**0.84 [0.80, 0.88]** is an estimate with its 95 % interval over nodes or pairs and "
        f"over repeats{_describe_wider(spec)}.",
    ]
    if data.is_external:
        reading.append(
            f"**Small counts.** A share of {FEW} nodes, or of all but {FEW}, is given at its "
            "bound, without an interval; attacks and releases are compared by what was measured. "
            f"Counts are rounded to tens; figures of attacks on {FEW} "
            "cases are left out."
        )
    heading = blocks.heading("How to read the numbers")
    return [*map(blocks.paragraph, paragraphs), heading, blocks.bullets(reading)]


def _describe_wider(spec: AuditSpec) -> str:
    """What is special in intervals that hold together, as of a confirmation, whatever the charts'
    notes say."""
    if spec.confirmation_error is None:
        return ""
    error = format_error(spec.confirmation_error)
    return (
        "; the intervals of this audit are wider, also where a note says 95 %: for the limits of "
        f"its policy all together miss in at most {error} of all cases"
    )


def list_settings(spec: AuditSpec) -> list[str]:
    """Changed assumptions that change results and that no other paragraph tells."""
    told = []
    for part, name, field in walk_fields(spec):
        declared, value = Declaration.of(field), getattr(part, name)
        is_assumed = bool(declared.titles) or declared.form == "attack_form"
        if is_assumed and declared.affects and value != field.default:
            shown = format_percent(value) if isinstance(value, float) else str(value)
            told.append(f"{field.title}: {declared.titles.get(shown, shown)}")
    return told


def _describe_links(data: ReportData) -> str:
    """The threat to withheld links, and how these links were chosen."""
    spec, threats = data.view.spec, data.view.spec.threats
    num_repeats = data.view.num_repeats
    repeats = "a single repeat" if num_repeats == 1 else f"each of {num_repeats} repeats"
    who = (
        f"In {repeats}, {format_percent(threats.hide_links or 0)} of the links are drawn at random "
        "as sensitive ones"
    )
    if threats.sensitive_links is not None:
        who = f"The analyst named {data.count(len(threats.sensitive_links))} links as sensitive"
        if spec.external_release is not None:
            who = f"{data.count(len(threats.sensitive_links))} links of the original are sensitive"
    return (
        "**Sensitive links.** Can an attacker who holds the release infer that two nodes are "
        f"linked, although that link was withheld? {who}. These links are removed before "
        "anything is attacked, defended or released. The attacker scores them and as many "
        "unlinked pairs without knowing which are which. "
        f"{_describe_held_back(data)} held back to measure usefulness."
    )


def _describe_held_back(data: ReportData) -> str:
    """Number of links held back from every release beside the sensitive ones, with the verb."""
    spec = data.view.spec
    if spec.held_back_links is not None:
        return f"Another {data.count(len(spec.held_back_links))} links that the analyst named are"
    share = format_percent(spec.test_links)
    return f"Another {share} of the links are" if spec.test_links else "No links are"


def _describe_known(data: ReportData) -> str:
    """Nodes whose private values the attacker knows."""
    threats = data.view.spec.threats
    if threats.known_people is not None:
        return f"{data.count(len(threats.known_people))} nodes that the analyst named"
    share = format_percent(threats.known)
    return f"{share} of the nodes, chosen at random within each class"


def _describe_people(spec: AuditSpec) -> str:
    """The re-identification threat and the attacker's assumed knowledge."""
    choice = spec.threats.identity
    assert choice is not None
    held = "a second graph of the same nodes, which the analyst gave"
    if choice.auxiliary_graph is None:
        held = f"a second graph of them with {format_percent(choice.overlap)} of the links"
        if choice.noise:
            held += f" and {format_percent(choice.noise)} wrong ones"
    return (
        "**Re-identification.** The release has no names. An attacker knows how a node is "
        f"linked, exactly or approximately, or holds {held}, with {choice.seeds_known} nodes "
        "matched already. How many nodes can be found? Attackers see no ids or order."
    )
