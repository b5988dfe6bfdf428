"""HTTP endpoints for scripts: health of the app and the decision on an audit.

    GET /api/health                  200 {"status": "ok"}, or 503 if the store does not answer
    GET /api/audits/ID/decision      Authorization: Bearer TOKEN (Audits page, or `core token new`)

The decision has the content of `--format json`: `passed` is true only if every part finished and a
release may be published. 401 without a valid token, 404 for an audit that the person may not read,
409 while it runs or if it has no policy.
"""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from core.errors import AuditError, InputError
from pages.ui import preparation, service

NO_STORE = {"Cache-Control": "no-store"}


def get_health(_request: Request) -> Response:
    """Report whether the app is ready and its store answers."""
    preparation.wait()
    try:
        service.start_service().team.is_shared()
    except Exception:  # any failure means unhealthy
        return _refuse(503, "the store does not answer")
    return JSONResponse({"status": "ok"}, headers=NO_STORE)


def get_decision(request: Request) -> Response:
    """The gate of an audit as JSON, with the permissions of the token's owner."""
    from core.audit.access.authorised import enter
    from core.audit.store.states import State

    preparation.wait()
    bare = service.start_service()
    kind, _, token = request.headers.get("authorization", "").partition(" ")
    try:
        if kind.lower() != "bearer":
            raise InputError("Authorization", "must be Bearer and a token")
        person = bare.team.open_token(token.strip())
    except InputError as error:
        return _refuse(401, str(error), {"WWW-Authenticate": "Bearer"})
    audit_id, own = request.path_params["audit"], enter(bare, person)
    try:
        state = own.get_progress(audit_id).state  # cheaper than a view, for polling
        if state is not State.DONE:
            return _refuse(409, f"the audit is {state}")
        view = own.get_view(audit_id)
    except AuditError:
        return _refuse(404, "no such audit, or not one that you may read")
    if view.spec.policy is None:
        return _refuse(409, "the audit has no policy: start it with one")
    from core.cli.audit import judge_audit
    from core.report.gate import build_gate, format_json

    code = 1 if view.summary.cells_failed else judge_audit(view, tell=lambda _text: None)[1]
    text = format_json(build_gate(view, code))
    return Response(text, media_type="application/json", headers=NO_STORE)


def _refuse(status: int, reason: str, more: dict[str, str] | None = None) -> Response:
    headers = {**NO_STORE, **(more or {})}
    return JSONResponse({"error": reason}, status_code=status, headers=headers)


ROUTES = [
    Route("/api/health", get_health, methods=["GET"]),
    Route("/api/audits/{audit}/decision", get_decision, methods=["GET"]),
]
