"""`token`, `people`, `share`, `trail`: who runs a command, where several people share a store."""

from __future__ import annotations

import json

import pytest

import core.cli.main as command
from core.audit.store.accounts import Person
from core.audit.store.database import Store
from core.audit.store.team import Team

ADA = Person("https://id.test ada", "Ada", "analyst", "ada@example.org")
MAX = Person("https://id.test max", "Max", "administrator", "max@example.org")
ROLES = """[emails]
"ada@example.org" = "analyst"
"max@example.org" = "administrator"
"""


@pytest.fixture
def shared(database, tmp_path, monkeypatch):
    """A store that two people have signed in to; `token.new` made a token of each."""
    home = tmp_path / "home"
    monkeypatch.setenv("AUDIT_HOME", str(home))
    monkeypatch.delenv("AUDIT_TOKEN", raising=False)
    monkeypatch.delenv("AUDIT_ROLES", raising=False)
    store = Store(home)
    (home / "roles.toml").write_text(ROLES)
    team = Team(store)
    tokens = {}
    for person in (ADA, MAX):
        team.welcome(person)
        tokens[person.name] = team.make_token("test", subject=person.email)
    store.close()
    return tokens


def run(capsys, *arguments: str) -> tuple[int, str, str]:
    capsys.readouterr()
    code = command.main(list(arguments))
    out, err = capsys.readouterr()
    return code, out, err


def test_a_shared_database_asks_for_a_token(shared, database, capsys, monkeypatch):
    code, _, err = run(capsys, "trail")
    if database == "postgresql":
        assert code == 2
        assert "AUDIT_TOKEN must be set, for several people share this database" in err
    else:
        assert code == 0  # who can open the home can read its files
    monkeypatch.setenv("AUDIT_TOKEN", "gpa_wrong")
    assert run(capsys, "trail")[0] == 2


def test_what_each_may(shared, capsys, monkeypatch):
    monkeypatch.setenv("AUDIT_TOKEN", shared["Ada"])
    for arguments in (
        ("trail",),
        ("doctor",),
        ("token", "list", "--for", "max@example.org"),
        ("token", "new", "--for", "max@example.org"),
        ("share", "0123456789", "max@example.org", "--owner"),
        ("publish", "--graph", "karate", "--defense", "edge_rand", "--out", "x.csv"),
    ):
        code, _, err = run(capsys, *arguments)
        assert (code, err.count("\n")) == (2, 1), arguments
        assert "is for" in err, err
    code, out, _ = run(capsys, "people")
    assert (code, len(out.splitlines())) == (0, 2)
    code, out, err = run(capsys, "token", "new", "--label", "more", "--days", "2")
    assert (code, out[:4], out.count("\n")) == (0, "gpa_", 1)
    monkeypatch.setenv("AUDIT_TOKEN", out.strip())
    code, out, _ = run(capsys, "token", "list")
    labels = [line.split()[-1] for line in out.splitlines()]
    assert (code, sorted(labels)) == (0, ["more", "test"])
    first = out.split()[0]
    assert run(capsys, "token", "revoke", first)[0] == 0
    assert run(capsys, "token", "list")[0] == 2
    monkeypatch.setenv("AUDIT_TOKEN", shared["Max"])
    code, out, _ = run(capsys, "trail", "--json", "--limit", "50")
    done = [(entry["name"], entry["event"]) for entry in json.loads(out)]
    assert code == 0
    for event in (("Ada", "make token"), ("Ada", "revoke token"), ("Ada", "refused: list trail")):
        assert event in done
