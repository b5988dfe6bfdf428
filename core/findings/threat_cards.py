"""Threats side by side: the field's three questions, each with its strongest attack beside the best
baseline attacker and control nodes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from core.audit.asked.scenarios import Threat
from core.audit.results.view import AuditView
from core.findings.facts import Comparison, Figure, format_both
from core.findings.labels import chance_level
from core.findings.page_summary import Card, ScoreBar, build_card, find_check
from core.findings.verdict import Check
from core.nouns import Noun


def format_question(threat: Threat, noun: Noun) -> str:
    """The question that a threat answers: linkability, inference, singling out."""
    if threat in ("link", "included"):
        return f"Are two {noun.many} linked?"
    return f"Which value does a {noun.one} have?" if threat == "attribute" else "Who is who?"


def find_control(view: AuditView, best: Figure) -> Figure | None:
    """The same figure of the same attack on control nodes; None without them."""
    table = view.control
    if table.empty or best.attack is None or best.made is None:
        return None
    is_meant = (table.release == best.made.id) & (table.method == best.attack.id)
    rows = table[is_meant & (table.metric == best.metric)]
    if rows.empty:
        return None
    row = rows.iloc[0]
    return replace(best, value=float(row.value), low=row.low, high=row.high, n=int(row.n))


def build_threat_card(
    view: AuditView,
    threat: Threat,
    title: str,
    best: Figure,
    compared: Comparison | None,
    checks: Iterable[Check],
) -> Card:
    """Card of the strongest attack on a threat, with a bar.

    title     names what was found
    best      a baseline attacker's figure if no other attack has finished. The higher of both is
              the card's number, as it is the decision's and what its limit is held against
    compared  the same figure against the best baseline attacker; None without one
    """
    check = find_check(checks, threat, best.metric)
    value = best.format()
    if compared is None:
        alone = best.attack is not None and best.attack.is_baseline
        beside = "by a baseline attacker" if alone else "no baseline attacker was run"
    else:
        value, baseline = format_both(best, compared.first)
        words = {"tie": "no difference", "within_noise": "within noise"}
        is_higher = compared.outcome == "higher"
        more = "" if is_higher else f", {words.get(compared.outcome, 'not shown')}"
        beside = f"baseline {baseline}{more}"
        if compared.first.value > best.value:
            others = value if compared.outcome == "lower" else more.removeprefix(", ")
            best, value, beside = compared.first, baseline, f"by the baseline, others {others}"
    control = find_control(view, best)
    if control is not None:
        beside += f"; control {control.format()}"
    card = build_card(title, best, value, beside, check)
    return replace(
        card,
        question=format_question(threat, view.spec.nodes),
        bar=_build_bar(best, None if compared is None else compared.first, control),
    )


def _build_bar(best: Figure, baseline: Figure | None, control: Figure | None) -> ScoreBar:
    """From what guessing reaches whatever the data, or 0, to 1."""
    start = chance_level(best.metric) or 0.0

    def place(value: float | None) -> float | None:
        if value is None or value != value:
            return None
        return min(max((value - start) / (1 - start), 0.0), 1.0)

    return ScoreBar(
        place(best.value) or 0.0,
        place(best.low),
        place(best.high),
        None if baseline is None else place(baseline.value),
        None if control is None else place(control.value),
    )
