"""The report's words, explained once; only those that it uses."""

from __future__ import annotations

from core.report import blocks
from core.report.blocks import Block
from core.report.material import Material

ALWAYS = {
    "Release": "The graph in the form in which it would be handed over.",
    "Defense": "A method that changes the graph before it is released, so that less can be "
    "learned from it.",
    "Attacker, attack": "A program that tries to learn what must not be learned, from the release "
    "and from what it is assumed to know already.",
    "Baseline attacker": "An attacker that looks at next to nothing. A real attack that does not "
    "beat it has found nothing in the links.",
    "Base rate": "How often somebody who knows nothing of a person is right about them.",
    "Advantage": "What an attacker gains over the base rate for one person; 0 is nothing.",
    "Exposed": "A person on whom the attacker's advantage is above 0.2.",
    "False positives": "Of the negative cases, the share that an attacker takes for positive. "
    "At 1 % FPR the attacker names only what it is surest of.",
    "AUC": "How often an attacker ranks a true case above a false one; 0.5 is guessing. It says "
    "little about the few whom an attacker is sure of.",
    "Interval": "Written as 0.84 [0.80, 0.88]: repeated on other draws, 95 of 100 such intervals "
    "hold the true value.",
    "Repeats": "The same computation on other random draws of who and what is secret.",
}
LINKS = {
    "Withheld link": "A link that exists but is not in the release; the attacker is to find it.",
}
ATTRIBUTE = {
    "Homophily": "People who are linked are often alike; so links give values away.",
    "Majority": "The commonest value: whoever always guesses it is right as often as it is common.",
}
IDENTITY = {
    "Singling out": "Telling which point of a release is a certain person.",
    "Pseudonym": "A name that says nothing, in the place of the real one.",
}
PROMISED = {
    "ε (epsilon)": "How much one link or person can change what a release looks like at most; "
    "smaller protects more.",
    "δ (delta)": "The probability with which the promise of ε may fail.",
    "Differential privacy": "A promise that holds whatever the attacker knows: the release looks "
    "nearly the same with and without one link, or one person.",
}


def build_glossary(material: Material) -> list[Block]:
    """Terms in the alphabet's order."""
    spec = material.view.spec
    terms = dict(ALWAYS)
    if spec.threats.has_links:
        terms |= LINKS
    if spec.threats.private is not None:
        terms |= ATTRIBUTE
    if spec.threats.identity is not None:
        terms |= IDENTITY
    if any(release.guarantee.is_private for release in material.releases):
        terms |= PROMISED
    return [blocks.facts(sorted(terms.items(), key=lambda item: item[0].casefold()))]
