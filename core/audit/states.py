"""The states of everything that is computed: cells, audits, claims, advice, publishing runs."""

from __future__ import annotations

from enum import StrEnum


class State(StrEnum):
    """queued → running → one of the others; "interrupted" and "failed" can be tried again."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    SKIPPED = "skipped"
    FAILED = "failed"
    CANCELLED = "cancelled"
    INTERRUPTED = "interrupted"

    @property
    def is_active(self) -> bool:
        """Something may still happen without anybody asking."""
        return self in (State.QUEUED, State.RUNNING)

    @property
    def is_final(self) -> bool:
        """Nothing more happens unless it is asked for again."""
        return not self.is_active and self is not State.INTERRUPTED

    @property
    def is_kept(self) -> bool:
        """A resumed or repeated audit takes it as it is."""
        return self in (State.DONE, State.SKIPPED)


ACTIVE = tuple(state for state in State if state.is_active)
FINAL = tuple(state for state in State if state.is_final)
KEPT = tuple(state for state in State if state.is_kept)
FINISHED = tuple(state for state in FINAL if state is not State.CANCELLED)
"""What has come to an end by itself; a cancelled cell has not."""
