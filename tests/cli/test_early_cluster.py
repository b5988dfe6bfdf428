"""The embedded cluster that a command starts before it knows whether a cell is missing."""

from __future__ import annotations

import pytest

import core.cli.main as command
from core.cli import audit, team

pytestmark = pytest.mark.own_cluster

AUDIT = ["audit", "--graph", "karate", "--attack", "common_neighbors", "--repeats", "1"]
COMMAND = "command:anonymise {in} {out}"


class Started:
    """Stands for a cluster that is never used."""

    def __init__(self) -> None:
        self.num_closed = 0

    def close(self) -> None:
        self.num_closed += 1


@pytest.fixture
def started(audit_home, monkeypatch):
    """Every cluster that was started early."""
    found: list[Started] = []

    def start() -> Started:
        found.append(Started())
        return found[-1]

    monkeypatch.setattr(team, "_start_cluster", start)
    return found


def test_it_is_closed_where_the_service_cannot_be_opened(started, audit_home, tmp_path):
    (audit_home / "audit.db").mkdir(parents=True)
    assert command.main([*AUDIT, "--out", str(tmp_path / "out")]) == 2
    assert [cluster.num_closed for cluster in started] == [1]


@pytest.mark.parametrize(("defense", "num_started"), [("random_deletion", 1), (COMMAND, 0)])
def test_none_is_started_before_a_command_is_allowed(
    started, tmp_path, monkeypatch, defense, num_started
):
    """Workers inherit what naming a command allows, so they must not start before it."""
    monkeypatch.setenv("_AUDIT_COMMANDS", "")
    monkeypatch.setattr(audit, "complete_audit", lambda *_: 0)
    assert command.main([*AUDIT, "--defense", defense, "--out", str(tmp_path / "out")]) == 0
    assert len(started) == num_started


@pytest.mark.parametrize("text", ["0", "-1", "two"])
def test_an_invalid_number_of_workers_is_told_before_anything_starts(
    text, audit_home, tmp_path, monkeypatch, capsys
):
    monkeypatch.setenv("AUDIT_WORKERS", text)
    monkeypatch.setattr("core.audit.jobs.cluster.subprocess.Popen", None)
    assert command.main([*AUDIT, "--hide-links", "--out", str(tmp_path / "out")]) == 2
    (said,) = capsys.readouterr().err.splitlines()
    assert said == f"error: AUDIT_WORKERS must be a number of processes above 0; got {text}"
