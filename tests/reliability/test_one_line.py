"""What cannot be used is said in one line, by exit code 2."""

from __future__ import annotations

import os
import sqlite3

import pytest

import core.cli.main as command
from core.audit.store.database import Store

AUDIT = ["audit", "--graph", "karate", "--attack", "common_neighbors", "--repeats", "1"]


def fail(arguments, capsys):
    """The one line of a command that must exit by 2."""
    code = command.main(list(map(str, arguments)))
    captured = capsys.readouterr()
    assert (code, captured.out) == (2, ""), captured.err
    assert captured.err.startswith("error: ")
    assert len(captured.err.splitlines()) == 1
    assert "internal error" not in captured.err
    return captured.err


def no_database(path):
    path.write_bytes(os.urandom(8192))


def truncate(path):
    path.write_bytes(path.read_bytes()[:6000])


def overwrite(path):
    content = path.read_bytes()
    path.write_bytes(content[:4096] + b"\xa5" * (len(content) - 4096))


def make_newer(path):
    connection = sqlite3.connect(path)
    connection.execute("UPDATE alembic_version SET version_num = '9999'")
    connection.commit()
    connection.close()


@pytest.mark.parametrize(
    ("damage", "text"),
    [
        (no_database, "not a database"),
        (truncate, "malformed"),
        (overwrite, "malformed"),
        (make_newer, "9999"),
    ],
)
def test_a_database_that_cannot_be_used(audit_home, tmp_path, capsys, damage, text):
    Store(audit_home).close()
    damage(audit_home / "audit.db")
    assert text in fail([*AUDIT, "--out", tmp_path / "out"], capsys)


@pytest.mark.parametrize("option", ["--name", "--out", "--graph"])
def test_bytes_that_are_no_text(audit_home, tmp_path, capsys, option):
    bad = os.fsdecode(b"\xff\xfe")
    line = fail([*AUDIT, "--out", tmp_path / "out", option, bad], capsys)
    assert f"{option} must be UTF-8" in line


@pytest.mark.parametrize("value", ["abc", "0", "-1", "nan", "1e999"])
def test_a_memory_limit_that_is_no_number(audit_home, tmp_path, capsys, monkeypatch, value):
    monkeypatch.setenv("AUDIT_MEMORY_MB", value)
    arguments = ["publish", "--graph", "karate", "--defense", "random_deletion"]
    line = fail([*arguments, "--out", tmp_path / "a.csv"], capsys)
    assert "AUDIT_MEMORY_MB must be a number" in line


def test_a_spec_without_end(audit_home, tmp_path, capsys):
    path = tmp_path / "spec.json"
    path.write_text("[" * 100_000)
    assert "spec must be" in fail(["audit", "--spec", path, "--out", tmp_path / "out"], capsys)


def test_workers_and_cluster_addresses(audit_home, tmp_path, capsys, monkeypatch):
    assert "scheduler's address" in fail(["worker", "nonsense"], capsys)
    assert "scheduler's address" in fail(["worker", "tls://127.0.0.1:1"], capsys)
    assert "TLS must have three files" in fail(["scheduler", "--tls-ca", tmp_path], capsys)
    assert "--memory" in fail(["worker", "tcp://127.0.0.1:1", "--memory", "lots"], capsys)
