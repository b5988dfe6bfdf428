"""What tests of reports share."""

from __future__ import annotations

import pytest

from core.report.data import ReportData


@pytest.fixture
def no_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Figures are named and described but not drawn, which takes most of a report's time."""
    monkeypatch.setattr(ReportData, "add_image", lambda _data, name, _draw: f"{name}.svg")
