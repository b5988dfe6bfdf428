"""Compiled loops are compiled once per machine, not once per process."""

from __future__ import annotations

import re
from pathlib import Path

CORE = Path(__file__).parents[2] / "core"


def test_every_compiled_loop_is_cached() -> None:
    """Each worker of each audit compiled SEAL's loops anew, a third of its time on Cora."""
    found = [
        (path.name, options)
        for path in CORE.rglob("*.py")
        for options in re.findall(r"^@numba\.njit(.*)$", path.read_text(encoding="utf-8"), re.M)
    ]
    assert len(found) > 50
    assert [item for item in found if "cache=True" not in item[1] and "inline" not in item[1]] == []
