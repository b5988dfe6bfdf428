"""`python -m core doctor` finds what was planted, mends it, and carries a home away and back."""

from __future__ import annotations

import os
import time

import pytest

import core.cli.main as command
from core.audit.asked.spec import AuditSpec
from core.audit.results.export import describe_audit
from core.audit.store import files
from core.audit.store.accounts import LOCAL, Person
from core.audit.store.database import Store
from core.audit.store.ledger import enter_release
from core.audit.store.team import Team
from core.data.catalogue import load_dataset
from core.findings.ledger import describe_restored
from core.privacy.guarantees import EDGE
from core.release import Release
from tests.inline import run_inline


@pytest.fixture
def view(audit_home):
    graph = load_dataset("karate").graph
    fields = {
        "graph_hash": graph.content_hash,
        "hide_links": 0.2,
        "num_repeats": 1,
        "test_links": 0.0,
    }
    attacks = {"attacks": [{"key": "common_neighbors"}], "defenses": [{"key": "random_deletion"}]}
    before = os.umask(0o077)
    yield run_inline(AuditSpec.check_spec({**fields, **attacks}), graph, audit_home)
    os.umask(before)


def doctor(capsys, *options):
    code = command.main(["doctor", *map(str, options)])
    return code, capsys.readouterr().out.splitlines()


def test_a_sound_home_has_no_findings(audit_home, view, capsys):
    code, lines = doctor(capsys)
    assert (code, len(lines)) == (0, 1)
    assert lines[0].startswith("bytes: audit.db ")


def test_what_was_planted_is_found_and_mended(audit_home, view, capsys):
    cell = next(audit_home.glob("cells/*/*"))
    (cell / files.ARRAYS).write_bytes(b"")
    orphan = audit_home / "cells" / "ab" / ("ab" * 32)
    orphan.mkdir(parents=True)
    flag = audit_home / "flags" / "nobody"
    flag.parent.mkdir(exist_ok=True)
    flag.touch()
    left = audit_home / "cells" / "ab" / ".half"
    left.mkdir()
    os.utime(left, (time.time() - 7200,) * 2)
    (audit_home / "audit.db").chmod(0o644)
    code, lines = doctor(capsys)
    assert code == 1
    assert [line.partition(":")[0] for line in lines] == [
        *("cell", "orphan", "orphan", "orphan", "permission", "bytes")
    ]
    assert cell.name[:12] in lines[0]
    assert view.summary.id in lines[0]
    code, lines = doctor(capsys, "--repair")
    assert (code, len(lines)) == (0, 6)
    assert not orphan.exists()
    assert not flag.exists()
    assert (audit_home / "audit.db").stat().st_mode & 0o077 == 0
    assert doctor(capsys)[0] == 0
    store = Store(audit_home)
    assert store.find_audit(view.summary.id).state == "interrupted"
    again = run_inline(view.spec, view.load_graph(), audit_home, store=store)
    assert describe_audit(again)["results"] == describe_audit(view)["results"]
    store.close()


def test_a_damaged_graph_and_a_damaged_database_are_left_to_the_user(audit_home, view, capsys):
    next(audit_home.glob("graphs/*.npz")).write_bytes(b"PK")
    code, lines = doctor(capsys, "--repair")
    assert (code, len(lines)) == (1, 2)
    assert view.spec.graph_hash[:12] in lines[0]
    for path in audit_home.glob("audit.db-*"):
        path.unlink()
    (audit_home / "audit.db").write_bytes(os.urandom(4096))
    code, lines = doctor(capsys, "--repair")
    assert code == 1
    assert lines[0] == "database: file is not a database; restore a backup: --restore FILE"


def test_a_backup_of_an_open_home_restores_all_of_it(
    audit_home, view, tmp_path, capsys, monkeypatch
):
    path = tmp_path / "backup.tar"
    store = Store(audit_home)
    with store.write() as connection:  # somebody is at work
        assert doctor(capsys, "--backup", path)[0] == 0
        assert connection.in_transaction()
    store.close()
    assert path.stat().st_mode & 0o077 == 0
    monkeypatch.setenv("AUDIT_HOME", str(tmp_path / "other"))
    assert doctor(capsys, "--restore", path)[0] == 0
    other = Store(tmp_path / "other")
    from core.audit.assemble import assemble_view

    again = assemble_view(other, other.find_audit(view.summary.id))
    assert describe_audit(again)["results"] == describe_audit(view)["results"]
    other.close()
    code = command.main(["doctor", "--restore", str(path)])
    assert (code, "must be empty" in capsys.readouterr().err) == (2, True)


def test_a_restored_ledger_tells_its_last_run_and_asks_for_later_ones(
    audit_home, tmp_path, capsys, monkeypatch
):
    """Publish 15, back up, publish 20, restore: the ledger knows 15 and looked whole."""
    graph = load_dataset("karate").graph
    release = Release(graph, "edge_rand", {"epsilon": 3.0}, EDGE.make_guarantee(3.0))
    store, path = Store(audit_home), tmp_path / "backup.tar"
    for run, made in (("cc", "2026-03-02T08:00"), ("dd", "2026-01-02T08:00")):
        enter_release(store, graph, run, made, release, None)
    assert doctor(capsys, "--backup", path)[0] == 0
    enter_release(store, graph, "bb", "2026-04-02T08:00", release, None)
    store.close()
    monkeypatch.setenv("AUDIT_HOME", str(tmp_path / "other"))
    assert command.main(["doctor", "--restore", str(path)]) == 0
    told = capsys.readouterr().err
    assert "ends with run cc of 2026-03-02 08:00 (EdgeRand (ε = 3)), the last of 2 pub" in told
    assert "lower every budget of their graphs by their ε and δ" in told
    assert "has no publishing run" in describe_restored(())


def test_a_file_that_is_no_backup_is_one_line(audit_home, tmp_path, capsys):
    path = tmp_path / "no.tar"
    path.write_bytes(b"nothing" * 100)
    assert command.main(["doctor", "--restore", str(path)]) == 2
    err = capsys.readouterr().err
    assert err.startswith("error: backup must be")
    assert len(err.splitlines()) == 1


@pytest.fixture
def team(audit_home, view, monkeypatch):
    """Ada is an analyst and Max an administrator, each by a token."""
    roles = '[subjects]\n"i ada" = "analyst"\n"i max" = "administrator"\n'
    (audit_home / "roles.toml").write_text(roles)
    (audit_home / "roles.toml").chmod(0o600)
    store = Store(audit_home)
    team = Team(store)
    for person in (Person("i ada", "Ada", "analyst"), Person("i max", "Max", "administrator")):
        team.welcome(person)
    yield {name: team.make_token(subject=f"i {name}") for name in ("ada", "max")}
    store.close()


@pytest.mark.parametrize("option", [None, "--repair", "--backup"])
def test_maintenance_is_for_administrators(team, tmp_path, capsys, monkeypatch, option):
    path = tmp_path / "everything.tar"
    options = {None: [], "--repair": ["--repair"], "--backup": ["--backup", str(path)]}[option]
    monkeypatch.setenv("AUDIT_TOKEN", team["ada"])
    assert command.main(["doctor", *options]) == 2
    assert "role administrator only" in capsys.readouterr().err
    assert not path.exists()
    monkeypatch.setenv("AUDIT_TOKEN", team["max"])
    assert command.main(["doctor", *options]) == 0
    assert path.exists() == (option == "--backup")


def test_a_token_that_nobody_can_check_restores_nothing(
    team, audit_home, tmp_path, capsys, monkeypatch
):
    path, other = tmp_path / "backup.tar", tmp_path / "other"
    assert doctor(capsys, "--backup", path)[0] == 0
    monkeypatch.setenv("AUDIT_HOME", str(other))
    monkeypatch.setenv("AUDIT_TOKEN", team["ada"])
    assert command.main(["doctor", "--restore", str(path)]) == 2
    assert not (other / "audit.db").exists()


@pytest.mark.parametrize(
    ("change", "row"),
    [
        ("UPDATE trail SET person = 'i eve' WHERE number = 2", 2),
        ("DELETE FROM trail WHERE number = 2", 2),
        ("DELETE FROM trail WHERE number = 1", 1),
        ("UPDATE trail SET number = 9 WHERE number = 3", 3),
        ("INSERT OR REPLACE INTO trail SELECT 2, made, person, name, event, target, 'x', digest "
         "FROM trail WHERE number = 2", 2),
    ],
)  # fmt: skip
def test_a_trail_that_was_changed_by_hand_is_found(audit_home, view, capsys, change, row):
    """By whoever owns the database, who can take its triggers away."""
    store = Store(audit_home)
    for number in range(4):
        Team(store).record(LOCAL, "event", f"target {number}")
    assert doctor(capsys)[0] == 0
    with store.write() as connection:
        for name in connection.exec_driver_sql(
            "SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'trail'"
        ).all():
            connection.exec_driver_sql(f"DROP TRIGGER {name[0]}")
        connection.exec_driver_sql(change)
    store.close()
    code, lines = doctor(capsys)
    assert (code, lines[0].partition(" is ")[0]) == (1, f"trail: row {row}")
