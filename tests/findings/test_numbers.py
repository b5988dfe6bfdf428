"""Numbers in words: no more digits than they deserve."""

from __future__ import annotations

import pytest

from core.findings.numbers import format_duration


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.2, "1 s"), (7.4, "7 s"), (44, "40 s"), (170, "3 min"), (5000, "83 min"), (7600, "2 h")],
)
def test_durations_are_said_as_people_say_them(seconds: float, text: str) -> None:
    assert format_duration(seconds) == text
