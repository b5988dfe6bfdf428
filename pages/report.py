"""Report page: the PDF, the results as files, and the release itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

from core.audit.results.view import AuditSummary, AuditView
from core.findings.decisions import format_day
from core.findings.glossary import explain_term
from core.findings.risk import SCALE_TITLES, Scale
from core.findings.stopping import describe_repeats
from core.findings.tried import Tried
from core.release import ORIGINAL
from core.report import SECTION_TITLES, SECTIONS, Edition, ReportOptions
from core.words import count_noun
from pages.ui import documents, page
from pages.ui.chart import write_csv
from pages.ui.decision_record import show_history
from pages.ui.policy import chosen_release, current_policy, judge_view, show_default_policy
from pages.ui.publishing import show_publishing
from pages.ui.text import escape

PREVIEW_COLUMNS = 3
MEDIA = {
    "pdf": "application/pdf",
    "json": "application/json",
    "md": "text/markdown",
    "csv": "text/csv",
}
EDITIONS: dict[Edition, str] = {
    "internal": "Internal",
    "external": "External",
    "summary": "One page",
}


def main() -> None:
    page.open_page("Report", "The PDF report, the results as files, and the release to hand over.")
    view = page.require_view("Run an audit to create its report.")
    summary = view.summary
    page.show_answer(
        f"Audit {_introduce(summary)}: "
        f"{Tried.of(view).count} on "
        f"{count_noun(len(summary.defenses) + 1, 'release')}, "
        f"{describe_repeats(view)}."
    )
    show_default_policy(view)
    options = _choose_options(view)
    if not options.pseudonyms:
        st.warning(
            "Without pseudonyms the report names the most exposed nodes: personal data.",
            icon=":material/warning:",
        )
    _show_downloads(view, options)
    _show_preview(view, options)
    show_publishing(view)
    if view.decisions:
        show_history(view)


def _introduce(summary: AuditSummary) -> str:
    """Name of the audit, with its graph and day where a name was given to it."""
    name, graph = escape(summary.name), escape(summary.graph_name)
    if name.startswith(f"{graph}, "):
        return f"**{name}**"
    named = summary.id if name == graph else name
    return f"**{named}** of {graph}, {format_day(summary.created)}"


def _choose_options(view: AuditView) -> ReportOptions:
    keep: dict[str, Any] = {"persist_state": "session"}
    with st.container(border=True, key="wide-report"):
        left, right = st.columns(2, gap="large")
        title = left.text_input("Title", "Privacy audit", key="report-title", **keep)
        organisation = left.text_input("Organisation", key="report-organisation", **keep)
        reviewer = left.text_input("Reviewer", key="report-reviewer", **keep)
        edition = right.segmented_control(
            "Edition",
            list(EDITIONS),
            default="internal",
            format_func=EDITIONS.__getitem__,
            key="report-edition",
            required=True,
            **keep,
            help="The external edition contains no ids, hashes, seeds or counts below ten.",
        )
        pseudonyms = right.toggle(
            "Replace ids by pseudonyms",
            True,
            key="report-pseudonyms",
            **keep,
            help="Nodes appear as N-001, N-002, and so on. The per-node table maps them to ids.",
        )
        scale: Scale | None = right.segmented_control(
            "Show nodes by",
            list(SCALE_TITLES),
            default="advantage",
            format_func=lambda key: SCALE_TITLES[key],
            key="report-scale",
            required=True,
            **keep,
            help=explain_term("Advantage"),
        )
    with st.expander("Contents of the report", key="report-contents"):
        ids = [summary.id for summary in view.releases if summary.id != ORIGINAL]
        releases = st.multiselect(
            "Releases besides the original",
            ids,
            ids,
            format_func=lambda release: view.get_release(release).title,
            key=f"report-releases-{view.summary.id}",
            disabled=not ids,
            help=None if ids else "This audit has no other release. Add defenses on Defend.",
            **keep,
        )
        sections = st.multiselect(
            "Sections",
            SECTIONS,
            SECTIONS,
            format_func=SECTION_TITLES.__getitem__,
            key="report-sections",
            **keep,
        )
    chosen = set(sections)
    return ReportOptions(
        releases=tuple(releases),
        sections=tuple(section for section in SECTIONS if section in chosen),
        title=title,
        organisation=organisation,
        reviewer=reviewer,
        pseudonyms=pseudonyms,
        edition=edition or "internal",
        policy=current_policy(view),
        chosen=chosen_release(view),
        scale=scale or "advantage",
    )


def _show_downloads(view: AuditView, options: ReportOptions) -> None:
    def offer(
        label: str, make: Callable[[], bytes], ending: str, key: str, icon: str, **more: Any
    ) -> None:
        st.download_button(
            label,
            make,
            f"audit-{view.summary.id}{ending}",
            MEDIA[ending.rpartition(".")[2]],
            key=f"download-{key}",
            on_click="ignore",
            icon=f":material/{icon}:",
            **more,
        )

    st.header("Downloads", anchor=False)
    with st.container(horizontal=True):
        for edition in (options.edition, *(e for e in EDITIONS if e != options.edition)):
            is_chosen = edition == options.edition
            label = EDITIONS[edition] + (" edition" if edition != "summary" else "")
            offer(
                "Download the PDF" if is_chosen else label,
                partial(documents.make_pdf, view, replace(options, edition=edition)),
                ("" if edition == "internal" else f"-{edition}") + ".pdf",
                "pdf" if is_chosen else edition,
                "picture_as_pdf",
                type="primary" if is_chosen else "secondary",
            )
        offer(
            "Results as JSON",
            lambda: documents.make_json(view, judge_view(view)),
            ".json",
            "json",
            "data_object",
        )
        for name in ("dpia.md", "dpia.json"):
            offer(
                f"Assessment ({'text' if name == 'dpia.md' else 'JSON'})",
                partial(documents.make_dpia, view, options, name),
                f"-{name}",
                name,
                "checklist",
                help="Clauses of ISO/IEC 27559, NIST SP 800-226 and others: evidence from this "
                "audit and what you must fill in. Contains small counts, so keep it internal.",
            )
        offer(
            "Per-node table",
            lambda: write_csv(view.nodes.to_frame()),
            "-nodes.csv",
            "nodes",
            "table",
            help="Ids and risk of every node: personal data.",
        )


def _show_preview(view: AuditView, options: ReportOptions) -> None:
    shown = st.session_state.get("preview")
    if st.button("Preview the pages", key="show-preview", icon=":material/visibility:"):
        shown = st.session_state["preview"] = (view.summary.id, options)
    if shown != (view.summary.id, options):
        if shown is not None:
            st.caption("The options have changed. Preview the pages again.")
        return
    with st.spinner("Rendering the pages"):
        pages = documents.render_pages(view, options)
    st.caption(count_noun(len(pages), "page"))
    columns = st.columns(PREVIEW_COLUMNS, gap="medium")
    for number, image in enumerate(pages):
        columns[number % PREVIEW_COLUMNS].image(
            image, width="stretch", alt=f"Page {number + 1} of the report"
        )


main()
