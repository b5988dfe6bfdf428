"""Without sign-in the app is one user's on this machine; with it, who has no role sees nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from core.audit.store.accounts import LOCAL, Person
from core.errors import AccessError
from pages.ui import service as pages_service
from pages.ui import sign_in
from tests.pages.conftest import APP_SHELL, TIMEOUT_S

ROOT = Path(__file__).parents[2]
BOB = Person("i bob", "Bob", "analyst")
EVE = Person("i eve", "Eve", "approver")
MAX = Person("i max", "Max", "administrator")


@pytest.mark.parametrize(
    ("address", "is_own"),
    [
        ("127.0.0.1", True),
        ("127.0.0.53", True),
        ("localhost", True),
        ("::1", True),
        ("unix:///run/audit.sock", True),
        ("", False),
        ("0.0.0.0", False),
        ("::", False),
        ("192.168.1.4", False),
        ("audit.example.org", False),
        ("localhost.evil.test", False),
    ],
)
def test_loopback(address, is_own):
    assert sign_in.is_loopback(address) == is_own


def test_the_app_refuses_other_addresses_in_one_line(tmp_path):
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", "0"]
    command += ["--server.address", "0.0.0.0"]
    environment = {**os.environ, "AUDIT_HOME": str(tmp_path)}
    environment.pop(sign_in.UNPROTECTED, None)
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 2
    (line,) = [line for line in done.stderr.splitlines() if "error" in line]
    assert "must be a loopback address unless sign-in is set up" in line
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "audit.db").exists()


def test_the_local_user_sees_neither_gate_nor_people(open_app):
    app = open_app("audits")
    shown = " ".join(str(block.value) for block in [*app.caption, *app.markdown])
    assert "Signed in" not in shown
    assert "Shared with" not in [box.label for box in app.multiselect]
    assert "sign-out" not in [button.key for button in app.button]


@pytest.fixture
def open_as(audited, monkeypatch):
    """`open_as(person, page, **address)`: a page as somebody who signed in."""
    pages_service.use_service(audited[0])

    def open_page(person: Person, page: str, **address: str) -> AppTest:
        monkeypatch.setattr(sign_in, "has_sign_in", lambda: True)
        monkeypatch.setattr(sign_in, "is_signed_in", lambda: person is not sign_in.NOBODY)
        monkeypatch.setattr(sign_in, "find_person", lambda _home: person)
        monkeypatch.setattr(sign_in, "read_groups", lambda _home: ())
        app = AppTest.from_file(APP_SHELL, default_timeout=TIMEOUT_S)
        for name, value in address.items():
            app.query_params[name] = value
        app.run()
        if page != "data" and person.role != "none":
            app.switch_page(f"../{page}.py").run()
        assert not app.exception, app.exception
        return app

    yield open_page
    pages_service.use_service(None)


def test_before_the_sign_in_there_is_a_button_and_nothing_else(open_as, audit_id):
    app = open_as(sign_in.NOBODY, "data", audit=audit_id)
    assert [button.label for button in app.button] == ["Sign in"]
    with pytest.raises(AccessError, match="no role"):
        pages_service.open_service().list_audits()


def test_a_stranger_finds_no_trace_of_an_audit(open_as, audit_id):
    app = open_as(BOB, "audits", audit=audit_id)
    assert not app.dataframe
    assert any("No audit has been run" in info.value for info in app.info)
    app = open_as(BOB, "risk", audit=audit_id)
    assert "audit" not in app.session_state
    assert "karate" not in " ".join(str(block.value) for block in [*app.caption, *app.markdown])


def test_an_administrator_sees_the_trail_and_makes_a_token(open_as, audited, monkeypatch):
    monkeypatch.setattr(type(audited[0].team), "find_person", lambda _team, _text: MAX)
    app = open_as(MAX, "users")
    assert any("Max, administrator" in block.value for block in app.markdown)
    assert "Audit trail" in [heading.value for heading in app.header]
    app.text_input(key="token-label").set_value("ci")
    app.button[[b.label for b in app.button].index("Create a token")].click().run()
    (text,) = [block.value for block in app.code if block.value.startswith("gpa_")]
    (token,) = audited[0].team.list_tokens(MAX.subject)
    assert token.label == "ci"
    app.button(key=f"revoke-{token.id}").click().run()
    assert not app.exception
    assert not audited[0].team.list_tokens(MAX.subject)[0].is_valid
    assert text not in str(app.session_state)


def test_an_analyst_sees_no_trail(open_as):
    app = open_as(EVE, "users")
    assert "Audit trail" not in [heading.value for heading in app.header]
    assert LOCAL.name not in " ".join(str(block.value) for block in app.markdown)
