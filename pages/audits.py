"""Audits page: open, compare, resume or delete stored audits."""

from __future__ import annotations

from datetime import datetime

import pandas as pd
import streamlit as st

from core.audit.results.view import AuditSummary
from core.audit.store.states import State
from core.errors import AuditError
from core.findings import release_table
from core.findings.labels import THREAT_WORDS
from core.findings.stopping import describe_repeats
from core.findings.strongest import answer_attack
from core.findings.tables import list_threats
from core.words import count_noun, format_percent
from pages.ui import cache, login, page, service, session
from pages.ui.policy import describe_end
from pages.ui.text import escape, show_seconds

THREATS = {"link": "links", "attribute": "attribute", "identity": "re-identification"}
MAX_COMPARED, MAX_WHOLE = 2, 12
"""Audits beside each other, and those whose list is not scrolled."""
WIDTHS = {"audit": 144, "state": 112, "started": 118, "nodes": 48, "policy": 140, "took": 78}
"""Pixels of the columns: with the boxes, what a page of 1024 has."""


def main() -> None:
    page.open_page("Audits", "Open, compare, resume or delete stored audits.", needs_graph=False)
    stored = service.open_service().list_audits()
    if not stored:
        st.info("No audit has been run yet. Start one on the Overview.", icon=":material/info:")
        page.show_next("overview", "Go to Overview")
        return
    states = pd.Series([audit.state for audit in stored]).value_counts()
    parts = ", ".join(f"{count} {state}" for state, count in states.items())
    page.show_answer(f"{count_noun(len(stored), 'audit')} stored on this machine: {parts}.")
    audits = _choose_shown(stored)
    event = st.dataframe(
        _make_table(audits),
        hide_index=True,
        key=f"audits-{len(audits)}",  # chosen rows are numbers: of this list
        on_select="rerun",
        selection_mode="multi-row",
        height="content" if len(audits) <= MAX_WHOLE else "auto",
        column_config={
            "audit": st.column_config.TextColumn("Audit", width=WIDTHS["audit"]),
            "started by": st.column_config.TextColumn("Started by"),
            "state": st.column_config.TextColumn("State", width=WIDTHS["state"]),
            "started": st.column_config.DatetimeColumn(
                "Started", format="D MMM YYYY, HH:mm", width=WIDTHS["started"]
            ),
            "nodes": st.column_config.NumberColumn(
                "Nodes", format="localized", width=WIDTHS["nodes"]
            ),
            "policy": st.column_config.TextColumn("Policy", width=WIDTHS["policy"]),
            "took": st.column_config.TextColumn("Duration", width=WIDTHS["took"]),
        },
    )
    chosen = [audits[row] for row in event.selection.rows if row < len(audits)]
    if not chosen:
        st.caption("Select an audit to open it, or two to compare them.")
    elif len(chosen) == 1:
        _show_audit(chosen[0])
    elif len(chosen) == MAX_COMPARED:
        _compare(chosen)
    else:
        st.caption("Select at most two audits.")


def _choose_shown(stored: list[AuditSummary]) -> list[AuditSummary]:
    """The audits without the steps of studies and searches, unless they are asked for."""
    whole = [audit for audit in stored if not audit.is_step]
    if len(whole) == len(stored):
        return stored
    steps = count_noun(len(stored) - len(whole), "step")
    is_asked = st.toggle(
        f"Show {steps} of studies and searches", not whole, key="show-steps",
        help="A study and a search run as several audits. The confirmation of a search is always "
        "shown.",
    )  # fmt: skip
    return stored if is_asked else whole


def _make_table(audits: list[AuditSummary]) -> pd.DataFrame:
    names = login.find_names()
    return pd.DataFrame(
        [
            {
                "audit": audit.name,
                **({"started by": names.get(audit.person, "")} if names else {}),
                "state": _describe_state(audit),
                "started": datetime.fromisoformat(audit.created),
                "nodes": audit.num_nodes,
                "policy": audit.policy or "–",
                "took": show_seconds(audit.seconds) if audit.seconds else "–",
            }
            for audit in audits
        ]
    )


def _describe_state(audit: AuditSummary) -> str:
    """State of an audit; of one that runs its progress, of one that is done the number of skipped
    parts."""
    if audit.state.is_active:
        return f"{audit.state}, {format_percent(audit.cells_done / max(audit.cells_total, 1))}"
    is_partly = audit.state is State.DONE and audit.cells_skipped
    return f"{audit.state}, {audit.cells_skipped:,} skipped" if is_partly else str(audit.state)


def _show_audit(audit: AuditSummary) -> None:
    with st.container(border=True):
        st.header(f"{escape(audit.name)} · {audit.id}", anchor=False)
        st.markdown(describe_end(audit))
        st.caption(f"Policy: {escape(audit.policy or 'none was named', 120)}")
        st.caption("Secrets: " + ", ".join(THREATS[threat] for threat in audit.threats))
        st.caption("Attacks: " + ", ".join(a.title for a in audit.attacks))
        if audit.defenses:
            st.caption("Defenses: " + ", ".join(d.title for d in audit.defenses))
        with st.container(horizontal=True):
            if st.button("Open", key="open", type="primary", icon=":material/folder_open:"):
                page.open_audit(audit.id, "attack")
            if st.button(
                "Rerun with changes",
                key="rerun",
                icon=":material/edit:",
                help="Opens the audit. Unchanged parts are not computed again.",
            ):
                _choose_methods(audit)
                page.open_audit(audit.id, "attack")
            if service.open_service().may_change(audit.id):
                _show_changes(audit)
        if login.check_change(audit.id, audit.person, "cancel, resume or delete it"):
            login.show_sharing(audit.id)


def _show_changes(audit: AuditSummary) -> None:
    """Buttons to cancel, resume and delete an audit."""
    is_active = audit.state.is_active
    if is_active and st.button("Cancel", key="stop", icon=":material/stop_circle:"):
        service.open_service().cancel_audit(audit.id)
        st.rerun()
    is_stopped = not is_active and audit.state is not State.DONE
    if is_stopped and st.button("Resume", key="continue", icon=":material/play_arrow:"):
        service.open_service().resume_audit(audit.id)
        st.rerun()
    if st.button(
        "Delete",
        key="delete",
        icon=":material/delete:",
        disabled=is_active,
        help="Cancel the audit first." if is_active else None,
    ):
        _confirm_delete(audit)


def _choose_methods(audit: AuditSummary) -> None:
    """Preselect the attacks of the audit on the Attack page."""
    spec = cache.load_view(audit.id).spec
    session.choose_attacks([choice.key for choice in spec.attacks], spec.num_repeats)


@st.dialog("Delete this audit?")
def _confirm_delete(audit: AuditSummary) -> None:
    st.markdown(
        f"Audit {audit.id} of {escape(audit.graph_name)} will be deleted with its results and "
        "releases. The graph is deleted too if no other audit uses it. This cannot be undone."
    )
    if st.button("Delete permanently", key="delete-really", type="primary"):
        try:
            service.open_service().delete_audit(audit.id)
        except AuditError as error:
            page.show_error(error)
            return
        if session.current_audit() == audit.id:
            session.close_audit()
        st.rerun()


def _compare(chosen: list[AuditSummary]) -> None:
    for audit, column in zip(chosen, st.columns(2, gap="large"), strict=True):
        with column:
            view = cache.load_view(audit.id)
            st.header(f"{escape(audit.graph_name)} · {audit.id}", anchor=False)
            spec, threats = view.spec, view.spec.threats
            st.caption(
                f"private: {escape(threats.private or 'none')}, "
                f"known {format_percent(threats.known)}; "
                f"{describe_repeats(view)}; root seed {spec.root_seed}"
            )
            for threat in list_threats(view.results):
                title = THREAT_WORDS[threat].title
                st.markdown(f"**{title}.** {answer_attack(view.results, threat)}")
            table = release_table.compute_release_table(view.results, view.releases)
            st.dataframe(table.drop(columns="release"), hide_index=True)


main()
