"""Who decided what: the form that records a decision, and the history of them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pandas as pd
import streamlit as st

from core.audit.access.authorised import find_person
from core.audit.decisions import MAX_PERSON, MAX_REASON, Decision, DecisionKind, find_current
from core.audit.view import AuditView
from core.errors import AuditError
from core.findings.decisions import COLUMNS, format_moment, list_decision_rows, make_evidence
from core.findings.labels import release_title
from pages.ui import page, service
from pages.ui.chart import download_table
from pages.ui.policy import judge_view
from pages.ui.text import escape

if TYPE_CHECKING:
    from core.audit.service import AuditService

NOBODY = "somebody at this app (no name was given)"


def show_record(view: AuditView, release: str | None) -> None:
    """Put the choice down for good: by whom, and why."""
    current = find_current(view.decisions, view.summary.id)
    if current is not None:
        st.caption(
            f"On record: {escape(release_title(current.release))}, chosen by "
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
        reason = middle.text_input("Why", key="decision-reason", max_chars=MAX_REASON)
        label = "Record the decision" if release is not None else "Withdraw the decision"
        if right.form_submit_button(label, icon=":material/history_edu:", width="stretch"):
            _record(view, "chosen" if release is not None else "withdrawn", release or "", person,
                    reason)  # fmt: skip


def show_history(view: AuditView) -> None:
    """Every decision on this graph; superseded ones stay."""
    if not view.decisions:
        return
    with st.expander(f"Decisions on this graph: {len(view.decisions)}", icon=":material/gavel:"):
        table = pd.DataFrame(list_decision_rows(view.decisions), columns=list(COLUMNS))
        st.dataframe(table, hide_index=True, key="decisions", alt="Decisions, the newest first")
        st.caption("Each rests on what was known then. Nothing here is edited: a later one counts.")
        download_table(table, "decisions")


def record_handout(view: AuditView, release: str, make: Callable[[], bytes]) -> Callable[[], bytes]:
    """`make`, which puts every file that it hands out down in the history with its hash.

    A download is made outside the page's run: what is recorded is settled here.
    """
    current = find_current(view.decisions, view.summary.id)
    authorised = service.open_service()  # here: the download has no session to find the person in
    named = _format_signed_in() or st.session_state.get("decision-person", "").strip()
    person = named or (current.person if current is not None else NOBODY)
    evidence = make_evidence(judge_view(view), release)

    def make_recorded() -> bytes:
        content = make()
        found = hash_file(content)
        _write(authorised, view, "published", release, person, "", evidence, found)
        return content

    return make_recorded


def hash_file(content: bytes) -> str:
    """SHA-256 in hex, as `sha256sum` prints it."""
    return hashlib.sha256(content).hexdigest()


def _record(view: AuditView, kind: DecisionKind, release: str, person: str, reason: str) -> None:
    if not release:
        current = find_current(view.decisions, view.summary.id)
        release = current.release if current is not None else ""
    try:
        evidence = make_evidence(judge_view(view), release)
        _write(
            service.open_service(), view, kind, release, person.strip(), reason.strip(), evidence
        )
    except AuditError as error:
        page.show_error(error)
        return
    st.rerun()


def _format_signed_in() -> str:
    """Whoever signed in decides in their own name; "" for the local user, who gives one."""
    person = find_person(service.open_service())
    return "" if person.is_local else person.name


def _write(
    authorised: AuditService,
    view: AuditView,
    kind: DecisionKind,
    release: str,
    person: str,
    reason: str,
    evidence: dict[str, Any],
    file_hash: str = "",
) -> None:
    decision = Decision(
        graph_hash=view.spec.graph_hash,
        audit_id=view.summary.id,
        kind=kind,
        release=release,
        person=person,
        reason=reason,
        evidence=evidence,
        file_hash=file_hash,
    )
    authorised.record_decision(decision)
