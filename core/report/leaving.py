"""What leaves with a release, part by part."""

from __future__ import annotations

from itertools import compress

from core.audit.computing.prepared import list_published
from core.findings.channels import count_channels, list_channels, tabulate_channels
from core.findings.leaving import SEEN, describe_columns
from core.release import ORIGINAL
from core.report import blocks
from core.report.blocks import Block
from core.report.data import ReportData


def build_leaving(data: ReportData) -> list[Block]:
    """Section on what leaves with the release under decision, or with the original, and the attacks
    that find people by it; others are not told what was withheld from them."""
    release = data.subject_id or ORIGINAL
    found = list_channels(data.view, release)
    is_told = [c.treatment != "left out" or not data.is_external for c in found]
    channels = [*compress(found, is_told)]
    result = [blocks.paragraph(describe_leaving(data))]
    table = tabulate_channels(channels)
    if not table.empty:
        result.append(
            blocks.table(
                list(table.columns),
                table.to_numpy().tolist(),
                f"What leaves with {data.title(release)}: {count_channels(channels)}.",
                widths=[2.0, 0.8, 0.6, 1.6, 2.4],
                inline=True,
            )
        )
    return result


def describe_leaving(data: ReportData) -> str:
    """Published columns and their granularity; withheld ones are not named."""
    spec, disclosure = data.view.spec, data.view.spec.disclosure
    if spec.external_release is not None:
        text = "The links and columns of the release, unchanged."
    else:
        features = data.graph.feature_names
        links = data.view.link_channels.find_leaving(ORIGINAL)
        text = describe_columns([*list_published(spec, features), *links], disclosure.generalize)
        if features and not disclosure.names_columns:
            text += f" {SEEN}"
    if disclosure.leave_out:
        text += f" Nodes excluded: {data.count(len(disclosure.leave_out))}."
    return text
