"""Decisions on a graph: the form that records one, and their history."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import partial

import pandas as pd
import streamlit as st

from core.audit.results.view import AuditView
from core.audit.store.decisions import MAX_PERSON, MAX_REASON, Decision, DecisionKind, find_current
from core.errors import AuditError
from core.findings.decisions import COLUMNS, format_moment, list_decision_rows, make_evidence
from pages.ui import page, service
from pages.ui.chart import download_table
from pages.ui.policy import judge_view
from pages.ui.text import escape

NOBODY = "unnamed user of this app"


def show_record(view: AuditView, release: str | None) -> None:
    """Form that records the chosen release, with the person and the reason."""
    current = find_current(view.decisions, view.summary.id)
    if current is not None:
        st.caption(
            f"On record: {escape(current.released.title)}, chosen by "
            f"{escape(current.person, MAX_PERSON)} on {escape(format_moment(current.made))}."
        )
    is_same = current is not None and current.release == release
    if is_same or (release is None and current is None):
        return
    with st.form("decision", border=False):
        left, middle, right = st.columns([2, 4, 2], vertical_alignment="bottom")
        person = left.text_input(
            "Decided by",
            _format_signed_in(),
            key="decision-person",
            max_chars=MAX_PERSON,
            disabled=bool(_format_signed_in()),
            persist_state="session",
        )
        reason = middle.text_input("Reason", key="decision-reason", max_chars=MAX_REASON)
        label = "Record the decision" if release is not None else "Withdraw the decision"
        if right.form_submit_button(label, icon=":material/history_edu:", width="stretch"):
            _record(view, release, person.strip(), reason.strip())


def show_history(view: AuditView) -> None:
    """Every decision on this graph, superseded ones included."""
    if not view.decisions:
        st.caption("No decision on this graph has been recorded.")
        return
    with st.expander(f"Decisions on this graph: {len(view.decisions)}", icon=":material/gavel:"):
        table = pd.DataFrame(list_decision_rows(view.decisions), columns=list(COLUMNS))
        st.dataframe(table, hide_index=True, key="decisions", alt="Decisions, newest first")
        st.caption("Entries are never edited; the latest one applies.")
        download_table(table, "decisions")


def record_handout(view: AuditView, release: str, make: Callable[[], bytes]) -> Callable[[], bytes]:
    """Wrap `make` so that every file it returns is recorded in the history with its hash.

    The download has no session, so service, person and evidence are fixed here.
    """
    current = find_current(view.decisions, view.summary.id)
    authorised = service.open_service()
    person = _format_signed_in() or st.session_state.get("decision-person", "").strip()
    person = person or (current.person if current is not None else NOBODY)
    draft = _draft_decision(view, "published", release, person)

    def make_recorded() -> bytes:
        content = make()
        authorised.record_decision(draft(file_hash=hash_file(content)))
        return content

    return make_recorded


def hash_file(content: bytes) -> str:
    """SHA-256 as hexadecimal text."""
    return hashlib.sha256(content).hexdigest()


def _record(view: AuditView, release: str | None, person: str, reason: str) -> None:
    """Record the choice of a release; None withdraws the current choice."""
    kind: DecisionKind = "chosen"
    if release is None:
        current = find_current(view.decisions, view.summary.id)
        kind, release = "withdrawn", current.release if current is not None else ""
    try:
        draft = _draft_decision(view, kind, release, person, reason)
        service.open_service().record_decision(draft())
    except AuditError as error:
        page.show_error(error)
        return
    st.rerun()


def _format_signed_in() -> str:
    """Name of the signed-in person, or "" for the local user."""
    person = service.open_service().person
    return "" if person.is_local else person.name


def _draft_decision(
    view: AuditView, kind: DecisionKind, release: str, person: str, reason: str = ""
) -> partial[Decision]:
    return partial(
        Decision,
        graph_hash=view.spec.graph_hash,
        audit_id=view.summary.id,
        kind=kind,
        release=release,
        person=person,
        reason=reason,
        evidence=make_evidence(judge_view(view), release),
    )
