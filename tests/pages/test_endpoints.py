"""The decision by token: to whom the audit may be told, and never "passed" before it is."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from types import SimpleNamespace

import httpx
import pytest
from starlette.applications import Starlette

from core.audit.asked.spec import AuditSpec
from core.audit.store.accounts import Person
from core.audit.store.states import State
from core.findings.policy import find_policy
from core.report.gate import build_gate, format_json
from pages.ui import endpoints
from pages.ui import service as pages_service
from tests.inline import run_inline
from tests.oracles.graphs import two_communities


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    from core.audit.service import AuditService

    service = AuditService(tmp_path_factory.mktemp("home"))
    yield service
    service.close()


@pytest.fixture(scope="module")
def start(service):
    """Runs a small audit under a policy, or none; its id."""
    graph = two_communities()

    def start(policy):
        fields = {
            "graph_hash": graph.content_hash,
            "hide_links": 0.2,
            "num_repeats": 1,
            "test_links": 0.0,
            "attacks": [{"key": "common_neighbors"}],
            "policy": None if policy is None else find_policy(policy).model_dump(mode="json"),
        }
        spec = AuditSpec.check_spec(fields)
        return run_inline(spec, graph, service.home, f"judged by {policy}").summary.id

    return start


@pytest.fixture(scope="module")
def audit_id(start):
    return start("partner")


@pytest.fixture
def client(service, monkeypatch):
    """Sends one request to the routes and returns the answer."""
    monkeypatch.setattr(pages_service, "start_service", lambda: service)
    transport = httpx.ASGITransport(Starlette(routes=endpoints.ROUTES))

    async def send(method, path, headers):
        async with httpx.AsyncClient(transport=transport, base_url="http://app") as client:
            return await client.request(method, path, headers=headers)

    def ask(method, path, headers=None):
        with ThreadPoolExecutor(1) as pool:  # Playwright may have a loop in this thread
            return pool.submit(lambda: asyncio.run(send(method, path, headers))).result()

    return ask


def ask(client, audit_id, token):
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    return client("GET", f"/api/audits/{audit_id}/decision", headers)


def test_the_owner_is_told_what_the_gate_says(client, service, audit_id):
    answer = ask(client, audit_id, service.team.make_token())
    assert answer.status_code == 200
    assert answer.headers["cache-control"] == "no-store"
    found = answer.json()
    assert answer.text == format_json(build_gate(service.get_view(audit_id), found["exit_code"]))
    assert (found["passed"], found["exit_code"]) == (False, 3)


def test_without_a_valid_token_nobody_is_told_anything(client, service, audit_id):
    before = {token.id for token in service.team.list_tokens()}
    revoked = service.team.make_token()
    (made,) = [t.id for t in service.team.list_tokens() if t.id not in before]
    assert ask(client, audit_id, revoked).status_code == 200
    service.team.revoke_token(made)
    for text in (None, "", "x", revoked):
        answer = ask(client, audit_id, text)
        assert answer.status_code == 401
        assert answer.headers["www-authenticate"] == "Bearer"
        assert set(answer.json()) == {"error"}


def test_others_cannot_tell_it_from_an_audit_that_is_not_there(client, service, audit_id):
    service.team.welcome(Person("i bob", "Bob", "analyst"))
    (service.home / "roles.toml").write_text('[subjects]\n"i bob" = "analyst"\n')
    token = service.team.make_token(subject="i bob")
    answers = [ask(client, name, token) for name in (audit_id, "nowhere")]
    assert [answer.status_code for answer in answers] == [404, 404]
    assert answers[0].text == answers[1].text
    assert ask(client, "nowhere", service.team.make_token()).status_code == 404


def test_without_a_policy_or_before_the_end_there_is_no_decision(
    client, service, start, audit_id, monkeypatch
):
    token = service.team.make_token()
    answer = ask(client, start(None), token)
    assert (answer.status_code, "no policy" in answer.json()["error"]) == (409, True)
    running = SimpleNamespace(state=State.RUNNING)
    monkeypatch.setattr(type(service), "get_progress", lambda _self, audit_id: running)
    assert ask(client, audit_id, token).status_code == 409


def test_a_failed_part_is_exit_code_1(client, service, audit_id, monkeypatch):
    view = service.get_view(audit_id)
    failed = replace(view, summary=replace(view.summary, cells_failed=1))
    monkeypatch.setattr(type(service), "get_view", lambda _self, audit_id: failed)
    found = ask(client, audit_id, service.team.make_token()).json()
    assert (found["passed"], found["exit_code"]) == (False, 1)


def test_health_is_that_of_the_store(client, service, monkeypatch):
    assert client("GET", "/api/health").json() == {"status": "ok"}
    assert client("POST", "/api/health").status_code == 405

    def fail(_team):
        raise OSError("disk on fire")

    monkeypatch.setattr(type(service.team), "is_shared", fail)
    answer = client("GET", "/api/health")
    assert (answer.status_code, "fire" in answer.text) == (503, False)
