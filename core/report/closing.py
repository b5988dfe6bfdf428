"""Last part of the report: guarantees, what is missing, sources, provenance, sign-off."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from core.audit.view import ReleaseSummary
from core.figures.labels import (
    ORIGINAL,
    is_null,
    method_source,
    method_title,
    metric_title,
    release_title,
)
from core.figures.tables import RELEASE, describe_missing
from core.figures.theme import ORIGINAL_GREY, format_number
from core.methods import find_method
from core.release import Guarantee
from core.report import blocks
from core.report.blocks import Block
from core.report.material import Material
from core.report.text import clean_text

MAX_MISSING = 24
MAX_WIDE_CARDS = 3
"""More guarantee cards than this stand in two columns."""

MEANINGS = {
    "edge": "Whatever is released, it changes anyone's odds that a given link was in the graph by "
            "a factor of at most {factor}{exception}. Patterns of many links, and what follows "
            "from them, are not hidden.",
    "link": "Each person randomises their own list before it leaves them. What they report changes "
            "anyone's odds on one entry by a factor of at most {factor}{exception}. Patterns over "
            "many people remain.",
    "node": "Whatever is released, it changes anyone's odds that a given person, with all of their "
            "links, was in the graph by a factor of at most {factor}{exception}.",
}
WEAK_FACTOR = 20
"""Odds may change twentyfold, from 5 % to even, before a promise is called weak (ε about 3)."""

UNIT_TITLES = {
    "edge": "one link", "link": "one entry of one person's list of links",
    "node": "one person with all of their links",
}
TRUST_TITLES = {
    "central": "a trusted curator sees the graph", "local": "nobody but the people themselves",
    "": "not stated",
}


def build_guarantees(material: Material) -> list[Block]:
    defended = [summary for summary in material.releases if summary.id != ORIGINAL]
    if not defended:
        return [blocks.paragraph("Only the original was audited. It promises nothing.")]
    private = [summary for summary in defended if summary.guarantee.is_private]
    empirical = [summary for summary in defended if not summary.guarantee.is_private]
    cards = [_build_card(summary, material.colors[summary.id]) for summary in private]
    result = [{"kind": "cards", "items": cards}] if len(cards) > MAX_WIDE_CARDS else cards
    if empirical:
        result.append(blocks.card(
            "Releases without a formal guarantee", "empirical only", ORIGINAL_GREY,
            [("Releases", "; ".join(release_title(summary.id) for summary in empirical))],
            "What protects here is what this audit measured: the attacks that ran did so well and "
            "no better. A stronger attacker, or one who knows more, may do better.",
        ))
    return result


def _build_card(summary: ReleaseSummary, color: str) -> Block:
    promise = summary.guarantee
    rows = [
        ("Protects", UNIT_TITLES[promise.unit]),
        ("Neighbouring", promise.relation or "not stated"),
        ("Budget", _describe_budget(promise)),
        ("Accountant", promise.accountant or "not stated"),
        ("Trust", TRUST_TITLES[promise.trust]),
        ("Not covered", ", ".join(promise.not_covered) or "nothing stated"),
    ]
    text = " ".join(filter(None, (_explain(promise), promise.note)))
    return blocks.card(release_title(summary.id), promise.label, color, rows, text)


def _explain(promise: Guarantee) -> str:
    """The promise as a bound on odds, and whether that is worth much."""
    if promise.epsilon is None:
        return "The budget is not stated, so the promise cannot be put in numbers."
    factor = math.exp(min(promise.epsilon, 700.0))
    text = MEANINGS[promise.unit].format(
        factor=format_number(factor) if factor < 1e6 else f"e to the power of {promise.epsilon:g}",
        exception=f", but for a chance of {promise.delta:g}" if promise.delta else "",
    )
    if factor > WEAK_FACTOR:
        text += " At this budget the promise alone is weak: rely on what the attacks reached."
    return text


def _describe_budget(promise: Guarantee) -> str:
    parts = [f"ε = {promise.epsilon:g}" if promise.epsilon is not None else "ε not stated"]
    if promise.delta:
        parts.append(f"δ = {promise.delta:g}")
    if promise.epsilon_transcript is not None:
        parts.append(
            f"ε = {promise.epsilon_transcript:g} for a link against someone who sees both ends' "
            "reports"
        )
    if promise.epsilon_naive is not None:
        parts.append(f"naive composition would claim ε = {promise.epsilon_naive:g}")
    return "; ".join(parts)


def build_limits(material: Material) -> list[Block]:
    spec = material.view.spec
    missing = _describe_missing_rows(material)
    result: list[Block] = []
    if missing:
        result.append(blocks.table(
            ["What", "Where", "State", "Reason"], missing[:MAX_MISSING],
            "Everything that failed, was skipped or could not be resolved.",
            widths=[1.5, 1.2, 0.6, 2.2],
        ))
        if len(missing) > MAX_MISSING:
            result.append(blocks.note(f"{len(missing) - MAX_MISSING} more are in audit.json."))
    else:
        result.append(blocks.paragraph("Every planned computation finished."))
    limits = [
        "The audit is as strong as its attackers. An attack that did not run here, or one that "
        "knows more than assumed, may learn more. “Did not beat the null” is not “safe”.",
        "Risk is measured on links and values that this graph holds; what people could learn by "
        "joining the release with other data is outside of it.",
        "No change of links closes the way through node features: an attacker who uses only them "
        "learns as much from every release.",
    ]
    if spec.has_link_threat and spec.sensitive_links is None:
        limits.append("Sensitive links were drawn at random. Links that people really want to "
                      "hide may be easier or harder to infer.")
    if spec.seeds < 5:
        limits.append(f"Only {spec.seeds} repeat{'s' * (spec.seeds > 1)} ran: intervals rest on "
                      "few splits; five or more are advised.")
    limits.append("Intervals hold one by one; among many numbers, one in twenty is expected to "
                  "miss.")
    return [*result, blocks.bullets(limits)]


def _describe_missing_rows(material: Material) -> list[list[str]]:
    """A row per state and reason: the methods, metrics and releases that share it."""
    table = describe_missing(material.results).fillna({"reason": ""})
    table["where"] = table.release
    keys = ["method", "metrics", "status", "reason"]
    merged = table.groupby(keys, sort=False).agg({"where": tuple}).reset_index()
    rows = []
    for (metrics, status, reason, where), group in merged.groupby(
        ["metrics", "status", "reason", "where"], sort=False
    ):
        who = ", ".join(
            "Measures of the release" if method == RELEASE else method_title(method)
            for method in group.method
        )
        names = ", ".join(metric_title(metric) for metric in str(metrics).split(", "))
        place = "all releases" if len(where) == len(material.ids) > 1 else ", ".join(
            map(release_title, where))
        what = who if metrics == "measures" else f"{who}: {names}"
        rows.append([what, place, str(status), str(reason) or "no reason recorded"])
    return rows


def build_sources(material: Material) -> list[Block]:
    """Every method that took part, once, with what it does and where it comes from."""
    spec = material.view.spec
    chosen = set(material.ids)
    keys = [choice.key for choice in spec.attacks]
    keys += [choice.key for choice in spec.defenses if choice.id in chosen]
    rows = []
    for key in dict.fromkeys(keys):
        info = find_method(key).info
        title = f"{info.title} (null)" if is_null(key) else info.title
        rows.append([title, info.summary, method_source(key)])
    rows.append(["Homophily ratios", "Share of like-valued neighbours and role peers.",
                 "Yuan et al., KDD 2024, Eq. 3–5"])
    return [blocks.table(["Method", "What it does", "Source"], rows,
                         "Methods of this audit.", widths=[1, 1.8, 1.6])]


def build_provenance(material: Material) -> list[Block]:
    view = material.view
    spec, facts = view.spec, dict(view.provenance)
    packages = facts.pop("packages", {})
    rows = [
        ("Audit", view.summary.id),
        ("Made", f"{material.created:%d %B %Y, %H:%M} UTC".lstrip("0")),
        ("Graph", spec.graph_name),
        ("Content hash (SHA-256)", spec.graph_hash),
        ("Repeats and root seed", f"{spec.seeds} repeats from root seed {spec.root_seed}"),
    ]
    told = {"graph_hash", "root_seed", "seeds", "created"}
    rows += [(_in_words(name), _flatten(value)) for name, value in facts.items()
             if name not in told and value not in (None, "", [], {})]
    if packages:
        rows.append(("Packages", _flatten(packages)))
    settings = [
        [method_title(choice.id), choice.key, _flatten(choice.make().config)]
        for choice in (*spec.attacks, *spec.defenses)
    ]
    result = [blocks.facts(rows, mono=("Content hash (SHA-256)", "Audit"))]
    if any(row[2] for row in settings):
        result.append(blocks.table(
            ["Method", "Key", "All settings"], [row for row in settings if row[2]],
            "Settings with which each method ran.", widths=[1.3, 1, 2.2],
        ))
    plain = ", ".join(dict.fromkeys(row[0] for row in settings if not row[2]))
    if plain:
        result.append(blocks.note(f"Without settings: {plain}."))
    return result


def build_signoff(material: Material) -> list[Block]:
    options = material.options
    choices = [release_title(summary.id) for summary in material.releases]
    return [{
        "kind": "signoff",
        "lead": "Decision on the release of this graph. Tick one and strike out the others.",
        "choices": [*(f"Publish: {clean_text(title)}" for title in choices), "Do not publish"],
        "roles": [
            {"role": "Prepared by", "name": ""},
            {"role": "Reviewed by", "name": clean_text(options.reviewer, 80)},
            {"role": "Data protection officer", "name": ""},
        ],
        "organisation": clean_text(options.organisation, 80),
    }]


def _in_words(name: str) -> str:
    return name.replace("_", " ").capitalize()


def _flatten(value: Any) -> str:
    """Nested JSON as "a = 1, b = 2"."""
    if isinstance(value, Mapping):
        return ", ".join(f"{key} = {_flatten(item)}" for key, item in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(_flatten, value))
    if isinstance(value, float):
        return f"{value:g}"
    return str(value)
