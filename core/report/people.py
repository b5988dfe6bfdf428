"""Exposed nodes: how many, which, and in which groups."""

from __future__ import annotations

from functools import partial

from core.findings.exposure import list_risks
from core.findings.groups import answer_groups, load_groups, tabulate_groups
from core.findings.link_prior import describe_report_prior
from core.findings.numbers import format_interval, format_row
from core.findings.people import describe_order
from core.findings.risk import SCALE_TITLES, compute_group_risk, compute_risk_shares
from core.measures.groups import MIN_GROUP
from core.release import ORIGINAL
from core.report import blocks, charts
from core.report.blocks import Block
from core.report.data import MIN_CELL, ReportData
from core.report.text import clean_text
from core.words import format_percent

NUM_EXPOSED = 15
MAX_COLUMNS = 3


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
        *_build_exposed(data),
    ]


def build_risk_tables(data: ReportData) -> list[Block]:
    """Annex of the exposed nodes: by number of links, and by the groups that the audit names."""
    return [] if data.nodes.is_empty else [*_build_groups(data), *_build_columns(data)]


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
    """The original, the release under decision, and those with the smallest advantage that are made
    of the data."""
    found = filter(None, map(data.nodes.find_headline, data.nodes.releases))
    means = {one.release: one.advantage.mean() for one in found}
    others = [r for r in sorted(means) if not data.view.get_release(r).is_data_independent]
    first = [r for r in (ORIGINAL, data.subject_id) if r in means]
    shown = list(dict.fromkeys([*first, *sorted(others, key=means.__getitem__)]))[:MAX_COLUMNS]
    return [r for r in data.ids if r in shown]


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
