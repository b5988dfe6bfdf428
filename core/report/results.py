"""Middle part of the report: attacks, before and after, people at risk, trade-off."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd

from core.audit.asked.release_info import list_short_titles
from core.audit.asked.scenarios import Threat
from core.findings.change import answer_defense
from core.findings.control import NOTE, tabulate_control
from core.findings.exposure import list_risks
from core.findings.groups import answer_groups, load_groups, tabulate_groups
from core.findings.inverted_scores import MARK
from core.findings.knowing_more import answer_odds
from core.findings.labels import LOW_FPR, THREAT_WORDS, metric_title
from core.findings.link_prior import describe_report_prior
from core.findings.numbers import format_interval, format_number, format_row
from core.findings.people import describe_order
from core.findings.private_columns import answer_private_columns
from core.findings.ranking import compute_ranking
from core.findings.release_table import compute_release_table
from core.findings.risk import SCALE_TITLES, compute_group_risk, compute_risk_shares
from core.findings.strongest import answer_attack, choose_measure, describe_false_alarms
from core.findings.tables import describe_sample, list_metrics, main_metric, select_results
from core.findings.tradeoff import choose_axes, compute_tradeoff, compute_transfer, find_clear_front
from core.measures.groups import MIN_GROUP
from core.release import ORIGINAL
from core.report import blocks, charts
from core.report.blocks import Block
from core.report.data import MIN_CELL, ReportData
from core.report.text import clean_text
from core.words import format_percent

TABLE_METRICS = (
    "auc",
    "accuracy",
    "tpr_at_fpr_0.01",
    "tpr_at_fpr_0.001",
    "precision_at_100",
    "expected_found",
    "share_unique",
    "precision_at_0.9_confidence",
)
INVERTED_NOTE = (
    f" {MARK} or diamond: clearly below one half, which leaks by inversion; counted and coloured "
    "by its strength inverted."
)
NUM_EXPOSED = 15
MAX_COLUMNS = 3


def build_attacks(data: ReportData) -> list[Block]:
    """Section on the attacks on the original."""
    result: list[Block] = []
    for threat in data.threats:
        result.append(blocks.heading(THREAT_WORDS[threat].title))
        result.append(blocks.paragraph(answer_attack(data.results, threat)))
        metrics = _order_metrics(data, threat)
        table = compute_ranking(data.results, threat, metrics)
        if table.empty:
            continue
        panels = dict.fromkeys((metrics[0], LOW_FPR, main_metric(data.results, threat)))
        drawn = table[table.metric.isin(list(panels)[:2])]
        image = data.add_image(f"ranking_{threat}", partial(charts.draw_ranking, drawn))
        alt = "Attacks from best to worst. " + "; ".join(
            f"{row.title} {format_row(row)}"
            for row in table[table.metric == metrics[0]].itertuples()
        )
        sample = describe_sample(table, THREAT_WORDS[threat].unit)
        inverted = INVERTED_NOTE if table.is_inverted.any() else ""
        result.append(
            blocks.figure(
                image,
                alt,
                f"{metric_title(metrics[0])} by attack. Hollow: baseline attackers; dashed: "
                f"the best of them; dotted: chance. {sample}{inverted}",
            )
        )
        result.append(_build_attack_table(table, metrics, threat))
        if threat == "attribute":
            sentences = answer_private_columns(data.view)
            result += [blocks.paragraph(clean_text(sentence, 1000)) for sentence in sentences]
        if threat == "link":
            odds = (describe_false_alarms(data.view), answer_odds(data.results))
            result += [blocks.paragraph(sentence) for sentence in odds if sentence]
        result += _build_roc(data, threat, set(table.method))
    return [*result, *_build_control(data)] or [blocks.paragraph("No attack has finished.")]


def _build_control(data: ReportData) -> list[Block]:
    """Effect of being in a release, if control nodes were left out."""
    table = tabulate_control(data.results, data.view.control)
    if table.empty:
        return []
    caption = "Control nodes: what being in a release adds, with 95 % intervals."
    numeric = range(4, table.shape[1])
    return [
        blocks.heading("Control nodes"),
        blocks.paragraph(NOTE),
        blocks.table(list(table), table.to_numpy().tolist(), caption, numeric=numeric),
    ]


def _order_metrics(data: ReportData, threat: Threat) -> list[str]:
    """Metrics of a threat, those with a limit first."""
    found = [m for m in list_metrics(data.results, "attack", threat) if m in TABLE_METRICS]
    limits = () if data.verdict is None else data.verdict.policy.limits
    limited = [x.metric for x in limits if x.threat == threat and x.metric in found]
    return list(dict.fromkeys([*limited[:1], *found]))


def _build_attack_table(table: pd.DataFrame, metrics: list[str], threat: Threat) -> Block:
    texts = [format_row(row) + (MARK if row.is_inverted else "") for row in table.itertuples()]
    titles = table.title + np.where(table.is_baseline, " (baseline)", "")
    wide = table.assign(text=texts, title=titles).pivot_table(
        "text", ["method", "title"], "metric", aggfunc="first", sort=False
    )
    wide = wide.reindex(columns=metrics).fillna("not resolved").droplevel("method").reset_index()
    return blocks.table(
        ["Attack", *map(metric_title, metrics)],
        wide.to_numpy().tolist(),
        f"{THREAT_WORDS[threat].title}: every attack on the original, best first.",
        numeric=range(1, len(metrics) + 1),
        widths=[1.7] + [1] * len(metrics),
        inline=len(metrics) <= 4,
    )


def _build_roc(data: ReportData, threat: Threat, ranked: set[str]) -> list[Block]:
    chosen = ranked & {choice.id for choice in data.view.spec.attacks}
    curves = {
        data.view.get_attack(attack): curve
        for (release, attack), curve in data.view.rocs.items()
        if release == ORIGINAL and attack in chosen
    }
    if all(attack.is_baseline for attack in curves):
        return []
    image = data.add_image(f"roc_{threat}", lambda: charts.draw_roc(curves))
    return [
        blocks.figure(
            image,
            f"ROC curves of {len(curves)} attacks on the original, log axes: share of the "
            "secrets found against the false-positive rate.",
            f"{THREAT_WORDS[threat].title}: what attackers find at a low FPR, mean over repeats.",
            0.62,
        )
    ]


def build_releases(data: ReportData) -> list[Block]:
    """Section on the cost and effect of each release."""
    table = compute_release_table(data.results, data.releases)
    table = table.drop(columns="release")
    columns = [c for c in table.columns if c in ("Release", "Guarantee") or (table[c] != "").any()]
    rows = table[columns].to_numpy().tolist()
    widths = [1.5, 1.0] + [0.75 if name.startswith("Links") else 1.0 for name in columns[2:]]
    result = [
        blocks.paragraph(sentence)
        for sentence in (answer_defense(data.results, t) for t in data.threats)
        if sentence
    ]
    result.append(
        blocks.table(
            columns,
            rows,
            "Every release: changes, guarantee, strongest attack and usefulness.",
            numeric=range(2, len(columns)),
            widths=widths,
        )
    )
    note = (
        "Worst case: the highest value over all attacks that ran, baseline attackers included. "
        "Links are shares of the original's links."
    )
    return [*result, blocks.note(note)]


def _describe_risks(data: ReportData) -> list[Block]:
    """Exposure by each secret's attacks, followed by the bound of the same secret."""
    return [
        block
        for risk, bound in list_risks(data.nodes, data.noun, data.subject_id)
        for block in (blocks.paragraph(risk), *([blocks.note(bound)] if bound else []))
    ]


def build_risk(data: ReportData) -> list[Block]:
    """Section on exposed nodes."""
    if data.nodes.is_empty:
        return [blocks.paragraph("No risk of individual nodes has been computed.")]
    scale = data.options.scale
    shares = compute_risk_shares(data.nodes, data.shown, by=scale)
    draw = partial(charts.draw_risk_shares, shares, data.colors, data.names, scale)
    image = data.add_image("risk", draw)
    level = 20 if scale == "advantage" else 80
    name = "an advantage" if scale == "advantage" else "a risk"
    alt = f"Share of the nodes with {name} of {level / 100:g} or more: " + "; ".join(
        f"{data.title(str(release))} {format_percent(rows.share.iloc[level])}"
        for release, rows in shares.groupby("release", sort=False)
    )
    what = SCALE_TITLES[scale].lower()
    return [
        *_describe_risks(data),
        blocks.figure(
            image,
            alt,
            f"Share of the nodes with at least this {what}, by the worst threat of each. Nearer to "
            "the lower left corner is safer.",
        ),
        *_build_groups(data),
        *_build_columns(data),
        *_build_exposed(data),
    ]


def _build_columns(data: ReportData) -> list[Block]:
    """Advantage of the headline attacker by the groups that the audit names."""
    labels = load_groups(data.view)
    table = tabulate_groups(data.nodes, labels)
    if table.empty:
        return []
    rows = [[clean_text(str(cell), 60) for cell in row] for row in table.itertuples(index=False)]
    return [
        blocks.paragraph(clean_text(answer_groups(data.nodes, labels), 1000)),
        blocks.table(
            list(table.columns),
            rows,
            f"Mean advantage by group; groups of fewer than {MIN_GROUP} nodes at stake are left "
            "out.",
            numeric=(3, 4),
            inline=True,
        ),
    ]


def _choose_columns(data: ReportData) -> list[str]:
    """The original and the releases with the smallest advantage."""
    found = filter(None, map(data.nodes.find_headline, data.nodes.releases))
    means = {one.release: one.advantage.mean() for one in found}
    safest = sorted(sorted(set(means) - {ORIGINAL}), key=means.__getitem__)[: MAX_COLUMNS - 1]
    return [r for r in data.ids if r in means and (r == ORIGINAL or r in safest)]


def _build_groups(data: ReportData) -> list[Block]:
    releases = _choose_columns(data)
    scale = data.options.scale
    table = compute_group_risk(data.nodes, data.profile, "degree", releases, scale)
    if table.empty:
        return []
    texts = {(row.release, row.group): format_row(row) for row in table.itertuples()}
    counts = table.groupby("group", sort=False).n.max()
    rows = [
        [group, f"{count:,}", *(texts.get((release, group), "–") for release in releases)]
        if count >= MIN_CELL
        else [group, f"fewer than {MIN_CELL}", *("–" for _ in releases)]
        for group, count in counts.items()
    ]
    return [
        blocks.table(
            ["Links of the node", "Nodes", *map(data.title, releases)],
            rows,
            f"Mean {SCALE_TITLES[scale].lower()} by number of links on the original, over all "
            "threats.",
            numeric=range(1, 2 + len(releases)),
            inline=True,
        )
    ]


def _build_exposed(data: ReportData) -> list[Block]:
    releases = _choose_columns(data)
    worst = data.nodes.find_headline(releases[0]) if releases else None
    if worst is None:
        return []
    first, top = worst.release, worst.nodes[worst.order[:NUM_EXPOSED]]
    figures = [figure for node in top if (figure := worst.find(node))]
    names = data.format_nodes(data.nodes.names.take(top).tolist())
    rows = [
        [
            name,
            format_interval(row.risk, row.low, row.high),
            row.attack.title,
            _format_gain(row.advantage),
            *(
                _format_gain(_find_gain(data, release, row.attack.secret, node))
                for release in releases[1:]
            ),
        ]
        for name, node, row in zip(names, top, figures, strict=True)
    ]
    who = "pseudonyms by rank" if data.options.pseudonyms else "real identifiers"
    extra = [f"On {data.title(release)}" for release in releases[1:]]
    result = [
        blocks.heading("Most exposed nodes"),
        blocks.table(
            ["Node", f"Risk, {data.title(first).lower()}", "Attack", "Advantage", *extra],
            rows,
            f"The {len(rows)} most exposed nodes ({who}), each by its worst threat, beside the "
            f"advantage on other releases. {describe_order(worst.sure)}",
            numeric=(1, 3, *range(4, 4 + len(extra))),
            inline=True,
            widths=[0.6 if data.options.pseudonyms else 1.2, 1.1, 1.2, 0.7] + [0.9] * len(extra),
        ),
    ]
    prior = describe_report_prior(data.view)
    if prior and any(row.attack.threat == "link" for row in figures):
        result.append(blocks.paragraph(prior))
    if data.options.pseudonyms:
        text = (
            "Nodes are named by rank only. Their identities are in the audit's table of nodes, "
            "which contains personal data and is kept separate from this report."
        )
        return [*result, blocks.note(text)]
    text = (
        "This report names nodes with their risk. It is itself personal data: keep and share it "
        "accordingly."
    )
    return [*result, blocks.warning(text)]


def _find_gain(data: ReportData, release: str, secret: tuple[str, str], node: int) -> float | None:
    """Advantage of the headline attacker on a node's secret on another release."""
    found = data.nodes.find_headline(release, secret)
    figure = None if found is None else found.find(node)
    return None if figure is None else figure.advantage


def _format_gain(value: float | None) -> str:
    if value is None or value != value:
        return "–"
    return f"{value:+z.2f}".replace("-", "−")


def build_tradeoff(data: ReportData) -> list[Block]:
    """Risk against usefulness, one point per release."""
    result: list[Block] = []
    for threat in data.threats:
        measure, axes = choose_measure(data.results, threat), choose_axes(data.results, threat)
        if measure is None:
            continue
        result.append(blocks.heading(THREAT_WORDS[threat].title))
        if axes is not None:
            result += _build_tradeoff_chart(data, threat, *axes)
        result += _build_transfer(data, threat, measure.metric)
    return result or [blocks.paragraph("No release has both a risk and a usefulness yet.")]


def _build_tradeoff_chart(
    data: ReportData, threat: Threat, metric: str, utility: str
) -> list[Block]:
    table = compute_tradeoff(data.results, metric, utility, threat=threat)
    table = table[table.release.isin(data.shown)]
    if table.empty:
        return []
    limit = None if data.verdict is None else data.verdict.policy.find_limit(threat, metric)
    image = data.add_image(
        f"tradeoff_{threat}",
        lambda: charts.draw_tradeoff(table, data.colors, data.symbols, metric, utility, limit),
    )
    front = ""
    if find_clear_front(table).risk.notna().any():
        front = "; the line joins releases that no other one dominates, where beyond noise"
    line = "" if limit is None else f" Dashed: the policy's limit, {format_number(limit)}."
    alt = f"{metric_title(metric)} (worst case) and {metric_title(utility)} of each release: " + (
        "; ".join(
            f"{row.title} {format_number(row.risk)} and {format_number(row.utility)}"
            for row in table.itertuples()
        )
    )
    sample = describe_sample(select_results(data.results, utility), "")
    inverted = INVERTED_NOTE if table.is_inverted.any() else ""
    caption = f"Risk against usefulness{front}.{line} {sample}{inverted}"
    return [blocks.figure(image, alt, caption)]


def _build_transfer(data: ReportData, threat: Threat, metric: str) -> list[Block]:
    table = compute_transfer(data.results, metric, threat)
    shown = [r for r in data.shown if r in table.columns]
    if table.empty or len(shown) < 2:
        return []
    table = table[["attack", "title", *shown]]
    strengths = compute_transfer(data.results, metric, threat, "strength")[table.columns]
    names = list_short_titles(map(data.view.get_release, shown))
    image = data.add_image(
        f"transfer_{threat}", lambda: charts.draw_transfer(table, strengths, metric, names)
    )
    alt = f"{metric_title(metric)} of each attack on each release. " + "; ".join(
        f"{row['title']}: " + ", ".join(format_number(row[r]) for r in shown)
        for _, row in table.iterrows()
    )
    left_out = len(data.ids) - len(shown)
    more = f" {left_out} more releases are in the tables." if left_out > 0 else ""
    inverted = "" if strengths.equals(table) else INVERTED_NOTE
    caption = (
        f"{metric_title(metric)} of every attack (rows) on every release (columns): a defense must "
        f"hold against all of them.{more}{inverted}"
    )
    return [blocks.figure(image, alt, caption)]
