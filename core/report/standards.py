"""Kinds of identification that were tested, and the intruders represented.

Singling out, linkability and inference: Article 29 Working Party, Opinion 05/2014 (WP216), §2.
Motivated intruder: UK ICO, anonymisation guidance.
"""

from __future__ import annotations

from core.audit.asked.attack import Attack, describe_knowledge
from core.audit.asked.knowledge import Composition
from core.audit.asked.scenarios import Threat
from core.findings.labels import metric_title
from core.findings.numbers import format_row
from core.findings.strongest import choose_measure
from core.findings.tables import compute_worst_attacks
from core.findings.tried import count_attacks
from core.methods import IdentityAttack
from core.release import ORIGINAL
from core.report import blocks
from core.report.blocks import Block
from core.report.data import ReportData
from core.report.text import clean_text

CRITERIA: tuple[tuple[str, str, tuple[Threat, ...]], ...] = (
    ("Singling out", "nodes that are unique by what is known of their links", ("identity",)),
    ("Inference: links", "links that the release was not meant to reveal", ("link", "included")),
    ("Inference: attribute", "a private value of nodes", ("attribute",)),
)


def build_standards(data: ReportData) -> list[Block]:
    """The three criteria and the intruder tests."""
    return [
        blocks.heading("Singling out, linkability, inference"),
        _build_criteria(data),
        blocks.heading("Motivated intruder"),
        _build_intruder(data),
    ]


def _build_criteria(data: ReportData) -> Block:
    releases = [ORIGINAL]
    verdict = data.verdict
    if verdict is not None and verdict.recommended is not None:
        releases.append(verdict.recommended)
    ran = data.tried.forms
    rows = []
    for title, what, threats in CRITERIA:
        count = count_attacks(attack for attack in ran if attack.threat in threats)
        texts = [_find_worst(data, release, threats) for release in releases]
        rows.append([title, what, _count_tried(count), *texts])
    linking = count_attacks(filter(_links_networks, ran))
    rows.insert(
        1,
        ["Linkability", "nodes found again in another network", _count_tried(linking)]
        + ["see singling out" if linking else "–"] * len(releases),
    )
    heads = [f"Worst on {data.title(release)}" for release in releases]
    return blocks.table(
        ["Criterion", "What", "Tried", *heads],
        rows,
        "The three criteria of WP216: what was tried beside baseline attackers, and the worst that "
        "was found, by these too.",
        widths=[1, 1.6, 0.7] + [1.1] * len(releases),
    )


def _links_networks(attack: Attack) -> bool:
    """Whether it finds the nodes of one network in another."""
    is_matcher = isinstance(attack.method, IdentityAttack) and attack.method.links_networks
    return is_matcher or isinstance(attack.knowledge, Composition)


def _count_tried(count: int) -> str:
    if not count:
        return "not tried"
    return "one attack" if count == 1 else f"{count} attacks"


def _find_worst(data: ReportData, release: str, threats: tuple[Threat, ...]) -> str:
    parts = []
    for threat in threats:
        measure = choose_measure(data.results, threat)
        if measure is None:
            continue
        metric = measure.metric
        rows = compute_worst_attacks(data.results, metric, threat)
        for row in rows[rows.release == release].itertuples():
            title = metric_title(metric)
            is_acronym = title[1:2].isupper()
            name = title if is_acronym else title[:1].lower() + title[1:]
            parts.append(f"{name} {format_row(row)}")
    return "; ".join(parts) or "–"


def _describe_knowledge(attack: Attack) -> str:
    """Knowledge of an attacker beyond the release."""
    standard = "the release and what the threat grants, not how it was made"
    return describe_knowledge(attack.knowledge) or standard


def _build_intruder(data: ReportData) -> Block:
    spec = data.view.spec
    real = data.tried.forms
    known = sorted({_describe_knowledge(attack) for attack in real}) or ["nothing"]
    who = _count_tried(count_attacks(real))
    return blocks.facts(
        [
            ("Simulated intruder", f"{who}, beside baseline attackers"),
            ("Knowledge", "; ".join(known)),
            (
                "Stated about the recipient",
                clean_text(spec.purpose.get("knowledge", ""), 200) or "nothing",
            ),
            ("Means", "published methods; one computer; no search of the web, no inquiries"),
            ("Tried by people", "to be filled in: who, when, with which sources, what was found"),
        ]
    )
