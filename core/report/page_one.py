"""What page 1 says of the release under decision, and the terms in which it does."""

from __future__ import annotations

from core.findings.channels import list_channels, shorten_names
from core.findings.exposure import summarize_risk
from core.findings.glossary import explain_term
from core.findings.labels import THREAT_WORDS, metric_title
from core.findings.numbers import format_row
from core.findings.strongest import list_strongest
from core.findings.tables import main_metric, select_results
from core.findings.usefulness import describe_usefulness, find_usefulness
from core.release import ORIGINAL
from core.report.actors import format_best
from core.report.blocks import Block
from core.report.data import ReportData
from core.report.text import split_strong
from core.words import begin_sentence

TERMS = {
    "Exposed": "Exposed",
    "AUC": "AUC",
    "TPR at 1 % FPR": "TPR at 1 %",
    "Baseline attacker": "baseline",
    "Limit": "Limit",
    "Epsilon": "ε",
}
"""Terms of the glossary that page 1 explains, and the word by which it uses each."""


def list_figures(data: ReportData) -> list[tuple[str, str]]:
    """Of the release under decision, or of the original: people exposed, attacks, what leaves,
    guarantee and usefulness."""
    release = data.subject_id or ORIGINAL
    rows = [] if data.is_external else _list_exposed(data, release)
    for threat in data.threats:
        metric = main_metric(data.results, threat)
        every = list_strongest(data.results, threat, release, metric)
        real = [found for found in every if not found.is_by_baseline]
        if real:  # the highest, as the verdict counts
            worst = max(real, key=lambda found: found.reached)
            rows.append((THREAT_WORDS[threat].title, format_best(worst)))
    if data.tried.forms:
        rows.append(("Tried", data.tried.describe()))
    leaving = [c for c in list_channels(data.view, release) if c.treatment != "left out"]
    if leaving:
        names = shorten_names([channel.name for channel in leaving])
        rows.append(("What leaves", begin_sentence(names)))
    label = next((s.guarantee.label for s in data.releases if s.id == release), "")
    if label and release != ORIGINAL:
        rows.append(("Guarantee", label))
    kept = select_results(data.results, "links_kept", [release])
    if release != ORIGINAL and not kept.empty:
        rows.append((metric_title("links_kept"), format_row(kept.iloc[0])))
    useful = find_usefulness(data.results, release)
    if useful is not None:
        rows.append(("Usefulness kept", describe_usefulness(useful)))
    return rows


def _list_exposed(data: ReportData, release: str) -> list[tuple[str, str]]:
    """People exposed on a release, surely and likely, beside the original, by secret."""
    cards = summarize_risk(data.view, release).cards
    return [(card.title, f"{card.value}; {card.compared_with}") for card in cards]


def explain_terms(page: list[Block]) -> Block:
    """The terms that occur on the page, each with its explanation; the template leaves out the last
    ones where the signature would not stay on the page."""
    text = str(page)
    found = [f"**{term}.** {explain_term(term)}" for term, word in TERMS.items() if word in text]
    return {"kind": "terms", "items": [split_strong(sentence) for sentence in found]}
