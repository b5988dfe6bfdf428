"""A click on “Cancel the audit” is never lost."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from core.audit.store.states import State
from core.errors import AccessError
from pages.ui import service, sidebar


class Running:
    """A service whose audit finishes a part each time somebody looks."""

    def __init__(self) -> None:
        self.looks, self.cancelled, self.is_refused = 0, list[str](), False

    def get_progress(self, audit_id: str) -> Any:
        self.looks += 1
        return SimpleNamespace(
            state=State.RUNNING, is_active=True, cells_done=self.looks // 3, cells_total=99,
            fraction=0.1, seconds=1.0, time_left=None, running=(), note="",
        )  # fmt: skip

    def cancel_audit(self, audit_id: str) -> None:
        if self.is_refused:
            raise AccessError("cancel audit: only who started this audit may do that")
        self.cancelled.append(audit_id)


@pytest.fixture
def running(monkeypatch: pytest.MonkeyPatch) -> Running:
    found = Running()
    monkeypatch.setattr(service, "open_service", lambda: found)
    monkeypatch.setattr(sidebar, "_choose_pace", lambda _seconds: (1.0, 0.0))
    return found


def draw() -> None:
    from pages.ui import sidebar

    sidebar._show_job("a1")


@pytest.mark.parametrize("parts_done", [0, 1])
def test_a_click_counts_though_the_page_runs_again_before_the_button(
    running: Running, parts_done: int
) -> None:
    """Parts that had finished since the last poll ran the page again, and three of four clicks
    were lost."""
    app = AppTest.from_function(draw, default_timeout=60).run()
    running.looks = 3 * parts_done
    app.button(key="cancel").click().run()
    assert not app.exception
    assert running.cancelled == ["a1"]
    app.run()
    assert running.cancelled == ["a1"]


def test_a_refused_click_is_told(running: Running) -> None:
    app = AppTest.from_function(draw, default_timeout=60).run()
    running.is_refused = True
    running.looks = 3
    app.button(key="cancel").click().run()
    assert not app.exception
    assert "only who started this audit" in app.error[0].value
    app.run()
    assert not app.error
