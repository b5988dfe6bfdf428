"""What leaves with a release, part by part."""

from __future__ import annotations

from itertools import compress

from core.data.release_columns import Rule
from core.findings.channels import count_channels, list_channels, tabulate_channels
from core.findings.leaving import describe_columns
from core.release import ORIGINAL
from core.report import blocks
from core.report.blocks import Block
from core.report.data import ReportData
from core.words import join_words


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
    disclosure = data.view.spec.disclosure
    if data.view.spec.external_release is not None:
        text = "The links and columns of the release, unchanged."
    elif disclosure.publish_columns is None and not disclosure.generalize:
        leaves = ["The links"]
        if data.graph.features is not None:
            leaves.append("the features unchanged")
        if disclosure.utility is not None:
            leaves.append("the utility column in file formats with columns")
        text = f"{join_words(leaves)}."
    elif disclosure.publish_columns is None:
        coarse = dict.fromkeys(Rule.parse(text).column for text in disclosure.generalize)
        named = describe_columns(list(coarse), disclosure.generalize).removesuffix(
            " No other column is."
        )
        text = f"{named} The other features are unchanged."
    else:
        text = describe_columns(disclosure.publish_columns, disclosure.generalize)
    if disclosure.leave_out:
        text += f" Nodes excluded: {data.count(len(disclosure.leave_out))}."
    return text
