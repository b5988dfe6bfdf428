"""Roles by file, tokens by hash, a trail that only grows; on both databases."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from datetime import UTC, datetime, timedelta

import pytest
import sqlalchemy as sa

from core.audit.computing.prepared import PreparedAudit
from core.audit.store import team as team_module
from core.audit.store.accounts import LOCAL, Person
from core.audit.store.database import Store
from core.audit.store.liveness import make_timestamp
from core.audit.store.roles import RoleBook, load_roles, read_claims
from core.audit.store.schema import TrailRow
from core.audit.store.team import Team
from core.audit.store.trail import find_break
from core.errors import InputError

CLAIMS = {"iss": "https://id.test", "sub": "7", "email": "Ada@Example.org", "name": "Ada"}
BOOK = RoleBook(
    default="none",
    subjects={"https://id.test 9": "analyst"},
    emails={"ada@example.org": "approver"},
    groups={"board": "administrator", "staff": "analyst"},
)


@pytest.fixture
def store(tmp_path, database):
    store = Store(tmp_path)
    yield store
    store.close()


@pytest.mark.parametrize(
    ("more", "role"),
    [
        ({}, "none"),  # the provider does not vouch for the address
        ({"email_verified": False}, "none"),
        ({"email_verified": True}, "approver"),
        ({"email_verified": "true"}, "none"),
        ({"email": "bob@example.org", "email_verified": True}, "none"),
        ({"groups": ["staff"]}, "analyst"),
        ({"groups": ["staff", "board", "other"]}, "administrator"),
        ({"groups": "staff"}, "analyst"),
        ({"sub": "9", "groups": ["board"]}, "analyst"),  # the subject is most particular
        ({"iss": "https://evil.test", "sub": "9"}, "none"),
    ],
)
def test_role_of_claims(more, role):
    person, _ = read_claims({**CLAIMS, **more}, BOOK)
    assert person.role == role


def test_claims_without_a_subject_are_refused():
    for missing in ("iss", "sub"):
        with pytest.raises(InputError, match="issuer and a subject"):
            read_claims({k: v for k, v in CLAIMS.items() if k != missing}, BOOK)


def test_roles_of_a_file(tmp_path, monkeypatch):
    monkeypatch.delenv("AUDIT_ROLES", raising=False)
    assert load_roles(tmp_path).find_role("anybody") == "none"
    (tmp_path / "roles.toml").write_text('default = "analyst"\n[emails]\n"a@b" = "approver"\n')
    assert load_roles(tmp_path).find_role("x", "A@B") == "approver"
    other = tmp_path / "other.toml"
    monkeypatch.setenv("AUDIT_ROLES", str(other))
    for text in ('default = "boss"', "[subjects", 'unknown = "x"', "\x00"):
        other.write_text(text)
        with pytest.raises(InputError, match=r"roles must be a TOML file"):
            load_roles(tmp_path)


def test_a_token_is_stored_hashed_ends_and_is_revoked(store, monkeypatch):
    team = Team(store)
    team.welcome(Person("i ada", "Ada", "analyst", "ada@example.org"))
    text = team.make_token("ci", 30, "ada@example.org")
    with store.read() as connection:
        stored = json.dumps([list(r) for r in connection.execute(sa.text("SELECT * FROM tokens"))])
    assert text not in stored
    assert text.removeprefix("gpa_") not in stored
    assert team.open_token(f" {text}\n").subject == "i ada"
    (token,) = team.list_tokens("i ada")
    assert (token.label, token.is_valid, bool(token.used)) == ("ci", True, True)
    for wrong in ("", "gpa_", text[:-1], text.upper()):
        with pytest.raises(InputError, match="AUDIT_TOKEN"):
            team.open_token(wrong)
    later = (datetime.now(UTC) + timedelta(days=31)).isoformat(timespec="milliseconds")
    monkeypatch.setattr(team_module, "make_timestamp", lambda: later)
    with pytest.raises(InputError, match="neither ended"):
        team.open_token(text)
    monkeypatch.undo()
    team.revoke_token(token.id)
    with pytest.raises(InputError, match="nor been revoked"):
        team.open_token(text)
    for days in (0, 366):
        with pytest.raises(InputError, match="1 to 365"):
            team.make_token(days=days)


def test_a_tokens_role_is_that_of_today(store, monkeypatch):
    monkeypatch.delenv("AUDIT_ROLES", raising=False)
    team = Team(store)
    team.welcome(Person("i ada", "Ada", "analyst"), ("staff",))
    text = team.make_token(subject="i ada")
    for role in ("approver", "none"):
        (store.home / "roles.toml").write_text(f'[groups]\nstaff = "{role}"\n')
        assert team.open_token(text).role == role


def test_the_trail_only_grows(store):
    team = Team(store)
    for number in range(3):
        team.record(LOCAL, "event", f"target {number}")
    before = team.list_trail()
    assert [entry.target for entry in before] == ["target 2", "target 1", "target 0"]
    assert [entry.target for entry in team.list_trail(1)] == ["target 2"]
    for statement in ("UPDATE trail SET event = 'x'", "DELETE FROM trail WHERE number = 1"):
        with pytest.raises(sa.exc.DBAPIError, match="append-only"), store.write() as connection:
            connection.execute(sa.text(statement))
    again = sa.insert(TrailRow).prefix_with("OR REPLACE", dialect="sqlite")
    with pytest.raises(sa.exc.IntegrityError), store.write() as connection:
        connection.execute(again.values({**asdict(before[0]), "event": "x"}))
    assert team.list_trail() == before


def test_what_is_done_at_once_is_one_chain(store, monkeypatch):
    """Nobody reads the last row while another is about to write the next one."""

    def look_at_clock():
        time.sleep(0.05)
        return make_timestamp()

    monkeypatch.setattr("core.audit.store.trail.make_timestamp", look_at_clock)
    team = Team(store)
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda number: team.record(LOCAL, "event", f"{number}"), range(4)))
    assert [entry.number for entry in team.list_trail()] == [4, 3, 2, 1]
    assert find_break(store) is None


def test_a_graph_stays_while_somebody_holds_it(store, graph, make_spec):
    from core.audit.computing.plan import plan_audit

    for person in ("i ada", "i bob"):
        store.save_graph(graph, person)
    for audit_id, person in (("a", "i ada"), ("b", "i bob")):
        spec = make_spec()
        store.add_audit(
            audit_id, audit_id, spec, plan_audit(PreparedAudit.build(spec, graph)), {}, person
        )
    assert store.find_same_audit(make_spec(), "i ada") == "a"
    assert store.find_same_audit(make_spec()) is None
    assert store.delete_audit("a") == []
    assert store.load_graph(graph.content_hash).num_nodes == graph.num_nodes
    store.move_audit("b", "i ada")
    assert store.delete_audit("b") == [graph.content_hash]
    with pytest.raises(InputError, match="must be stored"):
        store.load_graph(graph.content_hash)


def test_the_trail_needs_no_torch():
    names = "core.audit.access.authorised, core.audit.store.team"
    code = f"import sys, {names}; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_an_address_of_two_people_names_neither(store):
    team = Team(store)
    for subject in ("i ada", "i bea"):
        team.welcome(Person(subject, subject, "analyst", "office@example.org"))
    with pytest.raises(InputError, match="signed in once"):
        team.find_person("office@example.org")
    assert team.find_person("i bea").subject == "i bea"
