"""The benchmark of the first seconds starts, and times every command of its table."""

from __future__ import annotations

import re

import pytest

from tests.benchmarks import first_look


@pytest.mark.slow
@pytest.mark.nightly
@pytest.mark.xdist_group("audit cluster")
def test_it_times_every_command(capsys, monkeypatch) -> None:
    monkeypatch.setattr("sys.argv", ["first_look", "--graphs", "karate", "--repeats", "1"])
    first_look.main()
    rows = re.findall(r"^\| ([a-z].*?) \| ([\d.]+) \|", capsys.readouterr().out, re.MULTILINE)
    times = {name: float(seconds) for name, seconds in rows}
    plan, first, end = (
        times[f"karate, quick look: {what}"] for what in ("plan", "first result", "end")
    )
    assert 0 < plan <= first < end
    assert {"help", "karate, stored audit", "karate, stored audit, with PDF"} < set(times)
