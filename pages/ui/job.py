"""Progress of anything that is computed in the background, and the button that stops it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import streamlit as st

from core.audit.view import AuditProgress
from core.errors import AuditError
from core.findings.numbers import format_duration_range
from pages.ui.text import escape

POLL_S = 0.7
WAITING = "waiting for a worker"


class Watched(Protocol):
    """An audit, a study or a job of any kind; `fraction` is 0 to 1."""

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
    """Show how far it is until it ends, then draw the page again.

    read      what is watched, as it is now; None where it is gone
    describe  one line of Markdown on it
    stop, key, cancel  the button: its label, its key and what a click does
    """
    st.fragment(_watch_job, run_every=every_s)(read, describe, stop, key, cancel)


def _watch_job(
    read: Callable[[], Watched | None],
    describe: Callable[[Any], str],
    stop: str,
    key: str,
    cancel: Callable[[], object],
) -> None:
    try:
        job = read()
    except AuditError:  # deleted meanwhile
        job = None
    if job is None or not job.is_active:
        st.rerun(scope="app")  # ends the polling and shows what came out
        return
    draw_job(job.fraction, describe(job), stop, key, cancel)


def draw_job(fraction: float, text: str, stop: str, key: str, cancel: Callable[[], object]) -> None:
    """The bar and the button, once."""
    st.progress(min(fraction, 1.0), text=text)
    if st.button(stop, key=key, icon=":material/stop_circle:"):
        try:
            cancel()
        except AuditError as error:
            st.error(escape(error, 300), icon=":material/lock:")


def describe_progress(progress: AuditProgress) -> str:
    """ "77 of 123 parts, 2 to 5 min left"."""
    text = f"{progress.cells_done} of {progress.cells_total} parts"
    left = progress.time_left
    if left is not None and left.high:
        text += f", {format_duration_range(left.low, left.high)} left"
    return text


def describe_message(message: str) -> str:
    """What a worker says it is doing, or that it has not begun."""
    return escape(message or WAITING)
