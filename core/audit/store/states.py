"""States of cells, audits and jobs."""

from __future__ import annotations

from enum import StrEnum


class State(StrEnum):
    """queued → running → one of the others; "interrupted" and "failed" can be retried."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    SKIPPED = "skipped"
    FAILED = "failed"
    CANCELLED = "cancelled"
    INTERRUPTED = "interrupted"

    @property
    def is_active(self) -> bool:
        """Queued or running."""
        return self in (State.QUEUED, State.RUNNING)

    @property
    def is_final(self) -> bool:
        """Ended; nothing more happens unless requested again."""
        return not self.is_active and self is not State.INTERRUPTED

    @property
    def is_kept(self) -> bool:
        """Reused by resumed and repeated audits."""
        return self in (State.DONE, State.SKIPPED)


ACTIVE = tuple(state for state in State if state.is_active)
FINAL = tuple(state for state in State if state.is_final)
KEPT = tuple(state for state in State if state.is_kept)
FINISHED = tuple(state for state in FINAL if state is not State.CANCELLED)
"""Ended without being cancelled."""

NOT_FINISHED = (State.FAILED, State.CANCELLED, State.SKIPPED)
"""Ended without a result, gravest first."""

NOT_TESTED = "not_tested"
"""Status of a method that finished and measured nothing; no state of a cell."""
