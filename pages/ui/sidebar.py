"""The sidebar: page icons, the open graph, the device and the running audit."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import streamlit as st

from core.audit.store.states import State
from core.errors import AuditError
from core.words import count_noun, format_percent
from pages.ui import drawing, job, service, session
from pages.ui.text import escape
from pages.ui.theme import current_theme

if TYPE_CHECKING:
    from core.audit.results.view import AuditProgress

TODO = ":material/radio_button_unchecked:"
DONE = ":material/check_circle:"
RUNNING = ":material/progress_activity:"
ATTENTION = ":material/error:"

RESULT_PAGES = ("decision", "risk", "homophily", "tradeoff", "report")
REDRAW_S = 5.0
"""Redraws compete with the audit for the processor, so they are limited."""
SHORT_S, SLOW_POLL_S, SLOW_REDRAW_S = 30.0, 2.0, 20.0


def find_icons() -> dict[str, str]:
    """Icon of each page: done, running, needs attention or to do."""
    marks = dict.fromkeys(("attack", "defend", *RESULT_PAGES), TODO)
    if not session.has_graph():
        return dict.fromkeys((*marks, "data", "map"), TODO)
    marks["data"] = ATTENTION if session.current_threats().is_empty else DONE
    marks["map"] = _find_map_icon()
    audit_id = session.current_audit()
    if audit_id is None:
        return marks
    from pages.ui import cache

    view = cache.load_view(audit_id)
    state = view.summary.state
    if state.is_active:
        mark = RUNNING
    elif state is not State.DONE or view.summary.cells_failed:
        mark = ATTENTION
    else:
        mark = DONE
    marks["attack"] = mark
    if view.spec.defenses:
        marks["defend"] = mark
    if not view.results.empty:
        marks.update(dict.fromkeys(RESULT_PAGES, mark))
        if not view.spec.defenses and mark == DONE:
            marks["tradeoff"] = TODO
    return marks


def _find_map_icon() -> str:
    run = service.open_service().layouts.find(st.session_state["graph"])
    if run is None:
        return TODO
    if run.is_active:
        return RUNNING
    return DONE if run.state is State.DONE else ATTENTION


def show_sidebar() -> None:
    device = service.find_device_title()
    lines = [] if device is None else [f"Computes on {escape(device)}"]
    with st.container(key="rail-graph", gap="xxsmall"):
        if session.has_graph():
            graph = session.current_graph()
            st.markdown(f"**{escape(graph.name, 28)}**")
            nodes, links = graph.num_nodes, graph.num_edges
            size = f"{count_noun(nodes, 'node')}, {count_noun(links, 'link')}"
            st.caption("  \n".join([size, *lines]))
        else:
            st.caption("  \n".join(["No graph is open", *lines]))
    audit_id = find_job()
    if audit_id is not None:
        progress = _read_progress(audit_id)
        st.fragment(_show_job, run_every=_choose_pace(progress.seconds)[0])(audit_id)


def _choose_pace(seconds: float) -> tuple[float, float]:
    """Seconds between polls and between redraws; longer for long audits."""
    return (job.POLL_S, REDRAW_S) if seconds < SHORT_S else (SLOW_POLL_S, SLOW_REDRAW_S)


def find_job() -> str | None:
    """Id of the running audit: the open one, or the last one started in this session."""
    for audit_id in dict.fromkeys((session.current_audit(), st.session_state.get("job"))):
        try:
            if audit_id is not None and _is_running(audit_id):
                return audit_id
        except AuditError:  # deleted meanwhile
            continue
    return None


def _is_running(audit_id: str) -> bool:
    """Whether an audit runs. The open one's view, which the page reads anyway, has most ends; one
    that came while the page waited, or could not be stored, is known by the progress alone."""
    from pages.ui import cache

    is_open = audit_id == session.current_audit()
    if is_open and not cache.load_view(audit_id).summary.state.is_active:
        return False
    if _read_progress(audit_id).is_active:
        return True
    cache.forget_view(audit_id)
    return False


def _read_progress(audit_id: str) -> AuditProgress:
    return drawing.read_once(
        ("progress", audit_id), lambda: service.open_service().get_progress(audit_id)
    )


def _show_job(audit_id: str) -> None:
    """Progress of the audit; redraws the page when parts have finished."""
    progress = service.open_service().get_progress(audit_id)
    now, clock = (audit_id, progress.state, progress.cells_done), time.monotonic()
    seen, drawn = st.session_state.setdefault("seen", (now, clock))
    pause = _choose_pace(progress.seconds)[1]
    if not progress.is_active or (seen != now and clock - drawn >= pause):
        st.session_state["seen"] = (now, clock)
        st.rerun(scope="app")
    text = job.describe_progress(progress)
    job.draw_job(progress.fraction, text, "Cancel the audit", "cancel", lambda: _cancel(audit_id))
    for line in _list_running(progress):
        st.caption(line)


def _cancel(audit_id: str) -> None:
    service.open_service().cancel_audit(audit_id)
    st.toast("Cancelling. Finished parts are kept.")


def _list_running(progress: AuditProgress) -> list[str]:
    """One line for each of the first two parts that are being computed."""
    from core.findings.labels import describe_running

    lines = [
        f"{escape(describe_running(cell), 70)}: {format_percent(cell.fraction)}"
        for cell in progress.running[:2]
    ]
    return lines or ([escape(progress.note, 80)] if progress.note else [])


def show_live_curves(audit_id: str) -> None:
    """Training curves of the running parts, redrawn while the audit runs."""
    from core.figures import releases
    from core.findings.labels import describe_running

    @st.fragment(run_every=4 * job.POLL_S)
    def draw() -> None:
        progress = service.open_service().get_progress(audit_id)
        training = [cell for cell in progress.running if cell.curves]
        for number, cell in enumerate(training[:2]):
            st.caption(f"{escape(describe_running(cell), 70)}, repeat {cell.seed + 1}")
            chart = releases.training_curves(cell.curves, current_theme())
            st.plotly_chart(
                chart.figure, key=f"live-{number}", theme=None, config={"displayModeBar": False}
            )

    draw()
