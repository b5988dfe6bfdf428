"""The benchmark of the first seconds starts, and times every command of its table."""

from __future__ import annotations

import re

import pytest

from core.cli.audit import _show_on_terminal
from tests.benchmarks import first_look


def test_it_reads_the_progress_that_an_audit_prints(capsys) -> None:
    _show_on_terminal()(3, 12, "GAE on the original")
    found = first_look.PROGRESS.match(capsys.readouterr().err)
    assert found is not None
    assert found[1] == "3"


def test_it_fails_where_an_audit_printed_none() -> None:
    with pytest.raises(SystemExit, match="no progress of 1 parts"):
        first_look.Timed(cells={0: 0.5}).find_first(1)


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
