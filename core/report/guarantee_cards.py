"""Guarantees in the report: one card per release, claim checks and baselines."""

from __future__ import annotations

from core.audit.asked.presets import pair_data_independent
from core.audit.results.view import ReleaseSummary
from core.findings.data_independent import (
    answer_data_independent,
    compute_data_independent_table,
    show_data_independent_table,
)
from core.findings.guarantees import (
    EMPIRICAL,
    NOT_PROVEN,
    describe_outcome,
    explain_guarantee,
    explain_signal,
    explain_target,
    list_guarantee_rows,
)
from core.findings.ledger import COLUMNS as LEDGER_COLUMNS
from core.findings.ledger import explain_ledger, list_ledger_rows
from core.findings.numbers import format_number
from core.findings.palette import ORIGINAL_GREY
from core.privacy.claim_check import CONFIDENCE
from core.report import blocks
from core.report.blocks import Block
from core.report.data import ReportData
from core.words import format_percent

MAX_WIDE_CARDS = 3
"""Number of guarantee cards above which they are set in two columns."""


def build_guarantees(data: ReportData) -> list[Block]:
    """Section on guarantees and their checks."""
    defended = [summary for summary in data.releases if summary.info.is_defended]
    if not defended:
        return [blocks.paragraph("Only the original was audited. It has no guarantee.")]
    private = [summary for summary in defended if summary.guarantee.is_private]
    unknown = [summary for summary in defended if not summary.guarantee.is_known]
    cards = [_build_card(summary, data) for summary in (*private, *unknown)]
    empirical = [s for s in defended if s.guarantee.is_known and not s.guarantee.is_private]
    result = [{"kind": "cards", "items": cards}] if len(cards) > MAX_WIDE_CARDS else cards
    if empirical:
        told = ((s.info.title, explain_target(s.facts)) for s in empirical)
        found = [f"{title}. {text}" for title, text in told if text]
        result.append(
            blocks.card(
                "Releases without a formal guarantee",
                "empirical only",
                ORIGINAL_GREY,
                [("Releases", "; ".join(summary.info.title for summary in empirical))],
                " ".join([EMPIRICAL, *found]),
            )
        )
    return [
        *result,
        *_build_checks(data, private),
        *_build_data_independent(data),
        *_build_ledger(data),
    ]


def _build_ledger(data: ReportData) -> list[Block]:
    """Releases of this graph published so far, and their total budget."""
    entries = data.view.ledger
    if not entries:
        return []
    rows = list_ledger_rows(entries)
    return [
        blocks.heading("Published so far"),
        blocks.table(LEDGER_COLUMNS, rows, "Publishing runs of this graph.", numeric=(3, 4)),
        blocks.paragraph(explain_ledger(entries)),
    ]


def _build_card(summary: ReleaseSummary, data: ReportData) -> Block:
    guarantee = summary.guarantee
    explained = explain_guarantee(guarantee, data.graph.num_nodes, data.density)
    text = " ".join(filter(None, (explained, guarantee.note, explain_signal(summary.facts))))
    return blocks.card(
        summary.info.title,
        guarantee.label,
        data.colors[summary.id],
        list_guarantee_rows(guarantee),
        text,
    )


def _build_checks(data: ReportData, private: list[ReleaseSummary]) -> list[Block]:
    """Finished claim checks, and claims that were not checked."""
    if not private:
        return []
    done = data.claim_checks
    result: list[Block] = [blocks.heading("Checks of the guarantees")]
    if done:
        rows = [
            [
                data.title(run.release),
                f"{check.claimed:g}",
                format_number(check.lower_bound),
                f"{check.trials:,}",
                check.outcome,
            ]
            for run, check in done
        ]
        result.append(
            blocks.table(
                ["Release", "Claimed ε", "Shown at least", "Trials", "Verdict"],
                rows,
                "Distinguishing game on neighbouring graphs: lower bounds on ε with "
                f"{format_percent(CONFIDENCE)} confidence each (Clopper–Pearson).",
                numeric=(1, 2, 3),
                widths=[2.2, 0.8, 0.9, 0.7, 0.9],
            )
        )
        result.append(
            blocks.bullets(
                f"**{data.title(run.release)}.** {describe_outcome(run)}" for run, _ in done
            )
        )
        if not all(check.is_refuted for _, check in done):
            result.append(blocks.paragraph(f"**Not refuted.** {NOT_PROVEN}"))
    checked = {run.release for run, _ in done}
    left = [summary.info.title for summary in private if summary.id not in checked]
    if left:
        result.append(blocks.note(f"Not checked: {'; '.join(left)}."))
    return result


def _build_data_independent(data: ReportData) -> list[Block]:
    pairs = {
        release: independent
        for release, independent in pair_data_independent(data.view.spec.defenses).items()
        if release in data.ids and independent in data.ids
    }
    table = compute_data_independent_table(data.results, pairs)
    if table.empty:
        return []
    shown = show_data_independent_table(table)
    return [
        blocks.heading("Data-independent baselines"),
        *(blocks.paragraph(sentence) for sentence in answer_data_independent(table)),
        blocks.table(
            list(shown.columns),
            shown.to_numpy().tolist(),
            "Every synthesis beside the same method run with the number of links only. What does "
            "not exceed this baseline does not come from the data.",
            numeric=(2, 3, 4),
            widths=[1.7, 1.2, 1, 1, 0.8, 0.8],
        ),
    ]
