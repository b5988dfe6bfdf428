"""What every page does alike: its question and answer, its states, its charts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import streamlit as st

from core.audit.access.authorised import may_change
from core.audit.spec import AuditSpec, MethodChoice
from core.audit.states import State
from core.audit.view import AuditView
from core.data.loaded import LoadedGraph
from core.data.spreadsheet import escape_cell
from core.errors import AuditError
from core.figures.chart import Chart
from core.findings import tables
from core.findings.labels import method_title, metric_title, release_title
from core.methods import ATTACK_KINDS
from core.registry import find_method
from core.results import RELEASE
from core.words import count_noun
from pages.ui import cache, service, session
from pages.ui.text import escape

PAGES = Path(__file__).parents[1]
WAIT = "The next audit can start when this one is done or cancelled, in the rail on the left."
"""Why nothing can be started."""


def open_page(title: str, purpose: str, needs_graph: bool = True) -> None:
    """The page's head; ends a page that needs a graph where none is open, and says what to do."""
    st.title(title, anchor=False)
    with st.container(key="question"):
        st.markdown(purpose)
    notice = st.session_state.pop("notice", None)
    if notice:
        st.warning(escape(notice, 300), icon=":material/info:")
    if needs_graph and not session.has_graph():
        st.info(
            "No graph is open. Upload yours, try the example or open an earlier audit.",
            icon=":material/info:",
        )
        st.page_link(PAGES / "overview.py", label="Start on the Overview", icon=":material/home:")
        st.stop()


def show_answer(sentence: str) -> None:
    """The page's one-sentence answer; `sentence` is Markdown, names in it are escaped."""
    with st.container(key="answer"):
        st.markdown(sentence)


def show_error(error: AuditError) -> None:
    st.error(escape(error, 400), icon=":material/error:")


def require_view(what: str) -> AuditView:
    """The open audit with at least one result; else says what to do and ends the page."""
    audit_id = session.current_audit()
    if audit_id is None:
        _show_nothing(what)
        st.stop()
    try:
        view = cache.load_view(audit_id)
    except AuditError as error:
        session.close_audit()
        show_error(error)
        st.stop()
    show_state(view)
    if view.results.empty or not (view.results.status == State.DONE).any():
        if view.summary.state.is_active:
            st.info("The first results appear here as soon as a part of the audit is finished.")
        st.stop()
    return view


def show_state(view: AuditView) -> None:
    """One line on a run that is not finished, and what to do about what failed."""
    summary = view.summary
    done = f"{summary.cells_done} of {summary.cells_total} parts"
    if summary.state.is_active:
        st.info(
            f"The audit is running: {done} are finished, and this is what is known so far."
            f"{_warn_of_gaps(view)}",
            icon=":material/progress_activity:",
        )
    elif summary.state in (State.CANCELLED, State.INTERRUPTED):
        st.warning(
            f"The audit was {summary.state} with {done} finished; nothing finished is lost."
            f"{_warn_of_gaps(view)}",
            icon=":material/pause_circle:",
        )
        _offer_resume(summary.id, "Resume the audit")
    if summary.cells_failed or summary.state is State.FAILED:
        failed = view.cells[view.cells.state == State.FAILED]
        parts = count_noun(len(failed), "part") + " of the audit failed; the others are complete."
        with st.expander(parts, icon=":material/error:"):
            shown = pd.DataFrame(
                {
                    "Release": failed.release.map(release_title),
                    "By": failed.method.map(method_title),
                    "Repeat": failed.seed + 1,
                    "Why": failed.reason,
                }
            )
            st.dataframe(
                shown,
                hide_index=True,
                column_config={"Why": st.column_config.TextColumn(width="large")},
                alt="Parts of the audit that failed, and why",
            )
            st.caption(
                "Change the method's settings or leave it out, then run again: "
                "finished parts are reused."
            )
            if summary.state is State.DONE:
                _offer_resume(summary.id, "Try the failed parts again")


def _warn_of_gaps(view: AuditView) -> str:
    """What has been attacked less looks safer."""
    if not view.spec.defenses:
        return ""
    return " A release that not every attack was tried on may look safer than it is."


def _offer_resume(audit_id: str, label: str) -> None:
    authorised = service.open_service()
    if may_change(authorised, audit_id) and st.button(
        label, key="resume", icon=":material/play_arrow:"
    ):
        authorised.resume_audit(audit_id)
        st.session_state["job"] = audit_id
        st.rerun()


def show_missing(view: AuditView, releases: list[str] | None = None) -> None:
    """What failed, was skipped or could not be resolved, with the reason."""
    missing = tables.describe_missing(view.results, releases)
    if missing.empty:
        return
    shown = pd.DataFrame(
        {
            "Release": missing.release.map(release_title),
            "By": missing.method.map(_name_method),
            "State": missing.status,
            "Why": missing.reason,
            "Measures": [
                ", ".join(metric_title(key) for key in text.split(", ")) for text in missing.metrics
            ],
        }
    )
    with st.expander(f"Not computed: {count_noun(len(missing), 'entry', 'entries')}"):
        st.dataframe(shown, hide_index=True, alt="What was not computed, and why")


def _name_method(method: str) -> str:
    return "the release itself" if method == RELEASE else method_title(method)


def _show_nothing(what: str) -> None:
    graph = session.current_graph()
    st.info(f"No audit of {escape(graph.name)} is open. {what}", icon=":material/info:")
    with st.container(horizontal=True):
        st.page_link(PAGES / "verdict.py", label="Answer a few questions", icon=":material/gavel:")
        st.page_link(PAGES / "attack.py", label="Run attacks", icon=":material/arrow_forward:")
        st.page_link(PAGES / "audits.py", label="Open an earlier audit", icon=":material/history:")


def show_chart(chart: Chart, key: str, title: str = "", **options: Any) -> Any:
    """A chart, how it was computed, and its data as CSV; returns the chart's selection."""
    if title:
        st.header(title, anchor=False)
    if chart.is_empty:
        st.caption(escape(chart.note, 300) or "There is nothing to draw here yet.")
        return None
    event = st.plotly_chart(
        chart.figure,
        key=key,
        theme=None,
        config={"displaylogo": False, "displayModeBar": False},
        alt=name_chart(chart, title),
        **options,
    )
    with st.container(horizontal=True, wrap=False):
        st.caption(escape(chart.note, 400), width="stretch")
        download_table(chart.table, key)
    return event


def name_chart(chart: Chart, title: str = "") -> str:
    """What a chart shows, for those who do not see it: its title, axes and how it was computed."""
    layout = chart.figure.layout
    axes = [axis.title.text for axis in (layout.xaxis, layout.yaxis) if axis.title.text]
    named = title or (f"Chart of {' and '.join(axes)}" if axes else "Chart")
    text = " ".join(f"{named}. {chart.note} The table has all values.".split())
    return text.replace("<br>", " ")


def download_table(
    table: pd.DataFrame | Callable[[], pd.DataFrame], name: str, label: str = "CSV"
) -> None:
    """A table as a file; a function is asked for it only where somebody wants the file."""
    st.download_button(
        label,
        data=lambda: write_csv(table() if callable(table) else table),
        file_name=f"{name}.csv",
        mime="text/csv",
        key=f"csv-{name}",
        on_click="ignore",
        type="tertiary",
        icon=":material/download:",
    )


def write_csv(table: pd.DataFrame) -> bytes:
    """CSV in UTF-8; a text that a spreadsheet would run as a formula is made inert."""
    safe = table.copy()
    for name in safe.columns:
        if not pd.api.types.is_numeric_dtype(safe[name]):
            safe[name] = safe[name].map(lambda v: escape_cell(v) if isinstance(v, str) else v)
    content: bytes = safe.to_csv(index=False).encode()
    return content


def show_next(page: str, label: str) -> None:
    """The way on to the next page."""
    st.divider()
    st.page_link(PAGES / f"{page}.py", label=label, icon=":material/arrow_forward:")


def choose_identity(attacks: Sequence[MethodChoice]) -> dict[str, Any]:
    """The field of a next spec that no form holds: the threat to identities, where one of the
    attacks is after them."""
    kinds = {find_method(choice.key, *ATTACK_KINDS).kind for choice in attacks}
    return {"identity": {} if "identity_attack" in kinds else None}


def learns(choice: MethodChoice) -> bool:
    """Whether an attack learns from another graph, where the attacker holds one."""
    return bool(getattr(find_method(choice.key, *ATTACK_KINDS), "transfers", False))


def make_spec(fields: dict[str, Any]) -> AuditSpec:
    """The spec of an audit of the open graph and its threats; InputError where a rule is broken."""
    threats = session.current_threats()
    if fields.get("identity") is not None:  # what the attacker holds is set on the Data page
        fields = {**fields, "identity": threats.identity.model_dump() | fields["identity"]}
    return AuditSpec.check_spec(
        {
            "graph_name": session.current_graph().name,
            "graph_hash": st.session_state["graph"],
            **threats.spec_fields,
            **fields,
        }
    )


def start_audit(fields: dict[str, Any]) -> None:
    """Start an audit of the open graph and open it; a broken rule is shown in place."""
    try:
        audit_id = service.open_service().start_audit(make_spec(fields))
    except AuditError as error:
        show_error(error)
        return
    st.session_state["audit"] = st.session_state["job"] = audit_id
    session.write_address()
    st.rerun()


def open_audit(audit_id: str, target: str) -> None:
    """Open a stored audit on a page; what went wrong is shown in place."""
    try:
        session.open_audit(audit_id)
    except AuditError as error:
        show_error(error)
        return
    st.switch_page(PAGES / f"{target}.py")


def open_loaded(loaded: LoadedGraph, threats: session.ThreatChoice | None = None) -> None:
    """Store a graph that was read, remember what reading did to it, and go to its Data page."""
    graph_hash = service.open_service().save_graph(loaded.graph)
    st.session_state.setdefault("load_reports", {})[graph_hash] = loaded.report
    session.open_graph(graph_hash, threats)
    session.write_address()
    st.session_state["loaded"] = True
    st.switch_page(PAGES / "data.py")
