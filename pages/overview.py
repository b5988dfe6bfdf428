"""Overview page: start an audit, follow a running one, open an earlier one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import streamlit as st

from core.errors import AuditError
from core.words import count_noun
from pages.ui import job, page, preparation, service, session
from pages.ui.load_form import show_load_form
from pages.ui.text import escape
from pages.ui.theme import current_theme

if TYPE_CHECKING:
    from core.audit.results.view import AuditSummary

MAX_RUNNING, MAX_RECENT = 3, 6
POLL_S = 2.0
FOLDER = Path(__file__).parents[1] / "assets" / "overview"
PICTURES = {
    "risk": ("Attack", "Published attacks show who would be exposed, and how surely."),
    "defend": ("Defend", "Published defenses change the graph, and you see what they change."),
    "tradeoff": ("Decide", "Limits for the recipient say which release may be published."),
}
"""Picture in `FOLDER`, drawn by `python -m tests.browser.screenshots --overview` → its title and
text."""


def main() -> None:
    page.open_page(
        "Overview",
        "Find out who would be exposed if a graph of people, accounts or papers were shared.",
        needs_graph=False,
    )
    above = st.empty()
    with st.container(horizontal=True, vertical_alignment="center", key="start"):
        st.header("Start an audit", anchor=False, width="stretch")
        _offer_example()
    if session.has_graph():
        _show_open_graph()
    show_load_form()
    if not service.is_new():
        preparation.wait()  # the form is shown meanwhile
    audits = [a for a in service.list_audits() if not a.is_step]
    running = [audit for audit in audits if audit.state.is_active][:MAX_RUNNING]
    if running:
        with above.container():
            st.header("Running now", anchor=False)
            for audit in running:
                _show_running(audit)
    finished = [audit for audit in audits if not audit.state.is_active]
    if finished:
        st.header("Recent audits", anchor=False)
        _show_recent(finished)
    elif not running:
        st.header("What an audit shows", anchor=False)
        _show_pictures()


def _show_running(audit: AuditSummary) -> None:
    with st.container(border=True):
        st.markdown(f"**{escape(audit.name)}**, {count_noun(audit.num_nodes, 'node')}")
        job.watch_job(
            lambda: service.open_service().get_progress(audit.id),
            job.describe_progress,
            "Cancel the audit",
            f"cancel-{audit.id}",
            lambda: service.open_service().cancel_audit(audit.id),
            POLL_S,
        )
        if st.button("Open", key=f"open-{audit.id}", type="primary"):
            page.open_audit(audit.id, "decision")


def _offer_example() -> None:
    """Button that opens the finished example."""
    if not st.button(
        "Explore a finished audit",
        key="example",
        icon=":material/travel_explore:",
        help="A generated network with ten releases; nothing is computed.",
    ):
        return
    try:
        audit_id = service.open_service().open_example()
    except AuditError as error:
        page.show_error(error)
        return
    page.open_audit(audit_id, "decision")


def _show_pictures() -> None:
    """What the product does, in pictures of the finished example."""
    theme = current_theme()
    for column, (name, (title, text)) in zip(
        st.columns(len(PICTURES), gap="medium"), PICTURES.items(), strict=True
    ):
        with column, st.container(border=True, height="stretch"):
            st.image(FOLDER / f"{name}-{theme}.png", width="stretch", alt=f"Chart. {text}")
            st.markdown(f"**{title}.** {text}")


def _show_open_graph() -> None:
    from pages.ui.external_form import show_external_form

    graph = session.current_graph()
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(
            f"**{escape(graph.name)}** is open: {count_noun(graph.num_nodes, 'node')} and "
            f"{count_noun(graph.num_edges, 'link')}.",
            width="content",
        )
        st.page_link(
            page.PAGES / "decision.py",
            label="Go to Release decision",
            icon=":material/arrow_forward:",
        )
    show_external_form(graph)


def _show_recent(audits: list[AuditSummary]) -> None:
    from core.findings.decisions import format_moment
    from pages.ui.policy import describe_end

    for audit in audits[:MAX_RECENT]:
        with st.container(
            horizontal=True,
            wrap=False,
            vertical_alignment="center",
            key=f"recent-{audit.id}",
            gap="medium",
        ):
            if st.button("Open", key=f"open-{audit.id}"):
                page.open_audit(audit.id, "decision")
            st.markdown(
                f"**{escape(audit.name)}**  \n{describe_end(audit)}  \n"
                f":small[{count_noun(audit.num_nodes, 'node')}, {format_moment(audit.created)}]",
                width="stretch",
            )
    if len(audits) > MAX_RECENT:
        st.page_link(
            page.PAGES / "audits.py", label=f"All {len(audits)} audits", icon=":material/history:"
        )


main()
