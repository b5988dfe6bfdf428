"""Why structure exposes people: homophily of the private value, proximity of withheld links."""

from __future__ import annotations

from functools import partial

from core.findings.homophily import (
    MECHANISMS,
    answer_mechanisms,
    compute_ghratio_histogram,
    compute_reference_share,
)
from core.findings.labels import metric_title
from core.findings.numbers import format_number, format_row
from core.findings.pair_profile import KINDS, METRICS, answer_pair_profile, compute_pair_table
from core.findings.tables import attack_rows, describe_sample, select_release, select_results
from core.release import ORIGINAL
from core.report import blocks, charts
from core.report.blocks import Block
from core.report.data import ReportData


def build_mechanisms(data: ReportData) -> list[Block]:
    """Section on the mechanisms of exposure."""
    return [*_build_homophily(data), *_build_margins(data), *_build_pairs(data)] or [
        blocks.paragraph("Nothing that explains the risk has been measured.")
    ]


def _build_homophily(data: ReportData) -> list[Block]:
    table = compute_ghratio_histogram(data.profile, data.shown)
    if table.empty:
        return []
    share = compute_reference_share(data.profile)
    draw = partial(charts.draw_ghratios, table, data.colors, data.names, share)
    image = data.add_image("ghratio", draw)
    original = select_release(data.profile, ORIGINAL)
    alt = (
        "Distributions of three ratios. Mean on the original: "
        + "; ".join(
            f"{title.lower()} {format_number(original[name].mean())}"
            for name, title in MECHANISMS.items()
        )
        + f"; class share {format_number(share)}."
    )
    return [
        *(blocks.paragraph(s) for s in answer_mechanisms(data.view, data.results)),
        blocks.figure(
            image,
            alt,
            "Share of neighbours, of role peers and of both that have the node's own private "
            "value. Role peers: nodes with about as many links. Dashed: mean class share, the "
            "expected ratio without homophily. Releases of the first repeat.",
        ),
    ]


def _build_margins(data: ReportData) -> list[Block]:
    """Margins of the strongest attribute attack, one row per release."""
    metrics = ["margin", "margin_absolute", "share_below_zero"]
    sizes = attack_rows(data.results, "margin_absolute")
    sizes = sizes[~sizes.is_baseline & (sizes.release == ORIGINAL)]
    if sizes.empty:
        return []
    attack = sizes.attack[sizes.value.idxmax()]
    rows = select_results(data.results, method=attack.id)
    rows = rows[rows.metric.isin(metrics)]
    texts = {(row.release, row.metric): format_row(row) for row in rows.itertuples()}
    releases = [release for release in data.shown if (release, metrics[0]) in texts]
    sample = describe_sample(rows, "node", "brackets are")
    return [
        blocks.heading("Attacker's confidence"),
        blocks.table(
            ["Release", *map(metric_title, metrics)],
            [[data.title(r), *(texts.get((r, m), "–") for m in metrics)] for r in releases],
            "Margins of the private value: probability of the true class less the highest other "
            f"one. Attack: {attack.title}, the most confident on the original. Nearer 0 is "
            "safer. Far below 0 leaks as well, because the answer can be inverted. "
            f"{sample}",
            numeric=range(1, 1 + len(metrics)),
            widths=[1.3, 1.0, 1.0, 1.0],
        ),
    ]


def _build_pairs(data: ReportData) -> list[Block]:
    """The pair profile as a table: withheld links against unlinked pairs."""
    table = compute_pair_table(data.results, data.shown)
    if table.empty:
        return []
    texts = {(row.release, row.metric, row.kind): format_row(row) for row in table.itertuples()}
    metrics = [metric for metric in METRICS if metric in set(table.metric)]
    rows = [
        [
            data.title(release) if first else "",
            KINDS[kind],
            *(texts.get((release, metric, kind), "–") for metric in metrics),
        ]
        for release in data.shown
        if release in set(table.release)
        for first, kind in ((True, "hidden"), (False, "absent"))
    ]
    sample = describe_sample(table, "pair", "brackets are")
    return [
        blocks.heading("Endpoints of withheld links"),
        *(blocks.paragraph(s) for s in [answer_pair_profile(data.results)] if s),
        blocks.table(
            ["Release", "Pairs", *map(metric_title, metrics)],
            rows,
            "Proximity of withheld links and of unlinked pairs, which link attacks exploit. "
            f"{sample}",
            numeric=range(2, 2 + len(metrics)),
            widths=[1.3, 1.1] + [1.0] * len(metrics),
        ),
    ]
