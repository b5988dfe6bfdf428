"""Progress bar of a background job, with a button to cancel it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

import streamlit as st

from core.errors import AuditError
from pages.ui.text import escape

if TYPE_CHECKING:
    from core.audit.results.view import AuditProgress

POLL_S = 0.7
WAITING = "waiting for a worker"


class Watched(Protocol):
    """An audit, a study or a job; `fraction` is between 0 and 1."""

    @property
    def is_active(self) -> bool: ...
    @property
    def fraction(self) -> float: ...


def watch_job(
    read: Callable[[], Watched | None],
    describe: Callable[[Any], str],
    stop: str,
    key: str,
    cancel: Callable[[], object],
    every_s: float = POLL_S,
) -> None:
    """Show the progress of a job until it ends, then redraw the page.

    read      returns the current state of the job; None if it no longer exists
    describe  returns one line of Markdown on that state
    stop, key, cancel  label, key and action of the button
    """

    @st.fragment(run_every=every_s)
    def watch() -> None:
        try:
            job = read()
        except AuditError:  # deleted meanwhile
            job = None
        if job is None or not job.is_active:
            st.rerun(scope="app")  # stops polling and shows the result
        else:
            draw_job(job.fraction, describe(job), stop, key, cancel)

    watch()


def draw_job(fraction: float, text: str, stop: str, key: str, cancel: Callable[[], object]) -> None:
    """Progress bar and button. A click acts before anything is drawn: what is drawn may run the
    page again before it gets to the button."""
    refused = f"{key}-refused"

    def stop_job() -> None:
        try:
            cancel()
        except AuditError as error:
            st.session_state[refused] = escape(error, 300)

    st.progress(min(fraction, 1.0), text=text)
    st.button(stop, key=key, icon=":material/stop_circle:", on_click=stop_job)
    if refused in st.session_state:
        st.error(st.session_state.pop(refused), icon=":material/lock:")


def describe_progress(progress: AuditProgress) -> str:
    """Describe an audit's progress, such as "77 of 123 parts, 2 to 5 min left"."""
    from core.findings.numbers import format_duration_range

    text = f"{progress.cells_done} of {progress.cells_total} parts"
    left = progress.time_left
    if left is not None and left.high:
        text += f", {format_duration_range(left.low, left.high)} left"
    return text


def describe_message(message: str) -> str:
    """Escaped progress message of a worker, or that it has not started."""
    return escape(message or WAITING)
