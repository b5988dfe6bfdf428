"""Methods, limitations, sources, provenance and the record of decisions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from core.defenses.external import ONE_RELEASE, list_not_tested
from core.findings.decisions import COLUMNS as DECISION_COLUMNS
from core.findings.decisions import format_moment, list_decision_rows
from core.findings.labels import THREAT_WORDS, metric_title
from core.findings.stopping import describe_repeats, explain_repeats
from core.findings.tables import describe_missing
from core.methods import MethodInfo
from core.registry import find_method
from core.report import blocks
from core.report.blocks import Block
from core.report.data import ReportData
from core.words import count_noun

MAX_MISSING = 24
MAX_DECISIONS = 8
MAX_NAMED = 3
"""Methods per row that share a reason."""


def build_limits(data: ReportData) -> list[Block]:
    """Limitations of the audit and everything it skipped."""
    spec = data.view.spec
    missing = _describe_missing_rows(data)
    result: list[Block] = []
    if missing:
        # A reason is free text, which may tell a count: it stays inside.
        width = 3 if data.is_external else 4
        result.append(
            blocks.table(
                ["What", "Where", "State", "Reason"][:width],
                list(dict.fromkeys(tuple(row[:width]) for row in missing))[:MAX_MISSING],
                "Everything that failed, was skipped or could not be resolved.",
                widths=[1.5, 1.2, 0.6, 2.2][:width],
            )
        )
        if len(missing) > MAX_MISSING:
            result.append(blocks.note(f"{len(missing) - MAX_MISSING} more are in audit.json."))
    else:
        result.append(blocks.paragraph("Every planned computation finished."))
    limits = [
        "The audit is as strong as its attackers. An attack that did not run here, or one that "
        "knows more than assumed, may learn more. “Did not beat the baseline” is not “safe”.",
        "Risk is measured on links and values of this graph. What could be learned by joining the "
        "release with other data is not covered.",
    ]
    if data.graph.features is not None and spec.external_release is None:
        limits.append(
            "Changing links does not protect against node features: an attacker who uses features "
            "only learns as much from every release."
        )
    if spec.threats.has_links and spec.threats.sensitive_links is None:
        limits.append(
            "Sensitive links were drawn at random. Links that people really want to "
            "hide may be easier or harder to infer."
        )
    if spec.external_release is not None:
        limits += [f"{text}." for text in (*list_not_tested(spec.external_match), ONE_RELEASE)]
    elif data.verdict and (told := explain_repeats(data.view, data.verdict.policy)):
        limits.append(told)
    elif spec.num_repeats < 5:
        limits.append(
            f"Only {count_noun(spec.num_repeats, 'repeat')} ran: intervals rest on few splits; "
            "five or more are advised."
        )
    limits.append(
        "Intervals hold one by one; among many numbers, one in twenty is expected to miss."
    )
    return [*result, blocks.bullets(limits)]


def _describe_missing_rows(data: ReportData) -> list[list[str]]:
    """One row per state and reason, with its methods, metrics and releases."""
    table = describe_missing(data.results).fillna({"reason": ""})
    table["where"] = table.release
    keys = ["method", "metrics", "status", "reason"]
    named = {row.method: row.attack for row in table.itertuples()}
    merged = table.groupby(keys, sort=False).agg({"where": tuple}).reset_index()
    rows = []
    for (metrics, status, reason, where), group in merged.groupby(
        ["metrics", "status", "reason", "where"], sort=False
    ):
        attacks = [named[method] for method in group.method]
        titles = ["Measures of the release" if a is None else a.title for a in attacks]
        more = len(titles) - MAX_NAMED
        who = ", ".join(titles[:MAX_NAMED]) + (f" and {more} more" if more > 0 else "")
        names = ", ".join(metric_title(metric) for metric in str(metrics).split(", "))
        place = (
            "all releases" if len(where) == len(data.ids) > 1 else ", ".join(map(data.title, where))
        )
        rows.append([f"{who}: {names}", place, str(status), str(reason) or "no reason recorded"])
    return rows


def build_methods(data: ReportData) -> list[Block]:
    """Section on what was tried: every attack and defense in a line, by what it is for."""
    forms = [attack for attack in data.results.attack.unique() if attack is not None]
    threats: dict[str, dict[str, None]] = {}
    for attack in forms:
        threats.setdefault(attack.key, {})[THREAT_WORDS[attack.threat or ""].title] = None
    attacks, defenses = _list_infos(data)
    rows = [
        [
            info.title,
            "; ".join(threats.get(info.key, ("Attack",))) + (", baseline" * info.is_baseline),
            info.summary,
        ]
        for info in attacks
    ]
    rows.sort(key=lambda row: row[1])
    rows += [[info.title, "Defense", info.summary] for info in defenses]
    return [
        blocks.table(
            ["Method", "Of", "What it does"],
            rows,
            f"Methods of this audit: {data.tried.describe()}.",
            widths=[1.1, 1.3, 2.7],
        )
    ]


def build_sources(data: ReportData) -> list[Block]:
    """Annex of the methods: where each is from."""
    spec, (attacks, defenses) = data.view.spec, _list_infos(data)
    rows = [[info.title, info.source] for info in (*attacks, *defenses)]
    rows.append(["Homophily ratios", "Yuan et al., KDD 2024, Eq. 3–5"])
    if spec.threats.has_links:
        rows.append(["Pair profile", "Wu et al., PPGSL, 2025, Table I"])
    return [blocks.table(["Method", "Source"], rows, "Sources of the methods.", widths=[1.1, 3])]


def _list_infos(data: ReportData) -> tuple[list[MethodInfo], list[MethodInfo]]:
    """The attacks and the defenses of the chosen releases, each once."""
    spec, chosen = data.view.spec, set(data.ids)
    attacks = dict.fromkeys(choice.key for choice in spec.attacks)
    defenses = dict.fromkeys(choice.key for choice in spec.defenses if choice.id in chosen)
    return [find_method(key).info for key in attacks], [find_method(key).info for key in defenses]


def build_provenance(data: ReportData) -> list[Block]:
    """Specification, platform and versions of the run."""
    view = data.view
    spec, facts = view.spec, dict(view.provenance)
    packages = facts.pop("packages", {})
    rows = [
        ("Audit", view.summary.id),
        ("Made", format_moment(view.summary.created)),
        ("Graph", spec.graph_name),
        ("Content hash (SHA-256)", spec.graph_hash),
        ("Repeats and root seed", f"{describe_repeats(view)} from root seed {spec.root_seed}"),
    ]
    rows += [("Note", spec.note)] if spec.note else []
    shown_above = {"graph_hash", "root_seed", "num_repeats", "created"}
    rows += [
        (name.replace("_", " ").capitalize(), _flatten(value))
        for name, value in facts.items()
        if name not in shown_above and value not in (None, "", [], {})
    ]
    if packages:
        rows.append(("Packages", _flatten(packages)))
    settings = [
        [choice.make().title, choice.key, _flatten(choice.make().config)]
        for choice in (*spec.attacks, *spec.defenses)
    ]
    result = [blocks.facts(rows, mono=("Content hash (SHA-256)", "Audit"))]
    if any(row[2] for row in settings):
        result.append(
            blocks.table(
                ["Method", "Key", "All settings"],
                [row for row in settings if row[2]],
                "Settings with which each method ran.",
                widths=[1.3, 1, 2.2],
            )
        )
    plain = ", ".join(dict.fromkeys(row[0] for row in settings if not row[2]))
    if plain:
        result.append(blocks.note(f"Without settings: {plain}."))
    return result


def build_record(data: ReportData) -> list[Block]:
    """The published file and the decisions so far."""
    audit_id, decisions = data.view.summary.id, data.view.decisions
    handouts = [d.file_hash for d in decisions if d.file_hash and d.audit_id == audit_id]
    name = "SHA-256 of the published file"
    published = handouts[-1] if handouts else "to be filled in after the publishing run"
    fact = blocks.facts([(name, published)], mono=(name,) if handouts else ())
    return [fact, *_build_decisions(data)]


def _build_decisions(data: ReportData) -> list[Block]:
    """Decisions so far; the external edition omits names."""
    rows = list_decision_rows(data.view.decisions)[:MAX_DECISIONS]
    if not rows:
        return []
    shown = [
        c for c in DECISION_COLUMNS if not (data.is_external and c in ("Who", "Why", "Evidence"))
    ]
    more = len(data.view.decisions) - len(rows)
    caption = "Decisions on this graph, the newest first; later ones supersede earlier ones."
    return [
        blocks.heading("Decisions so far"),
        blocks.table(
            shown,
            [[row[column] for column in shown] for row in rows],
            caption + (f" {more} more are kept." if more else ""),
            widths=[{"What": 1.9, "Evidence": 2.4}.get(column, 1) for column in shown],
        ),
    ]


def _flatten(value: Any) -> str:
    """Nested JSON as "a = 1, b = 2"."""
    if isinstance(value, Mapping):
        return ", ".join(f"{key} = {_flatten(item)}" for key, item in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(_flatten, value))
    if isinstance(value, float):
        return f"{value:g}"
    return str(value)
