"""Middleware that rejects requests with a foreign Host or Origin header.

Pages of other sites or servers may send requests to the app through the user's browser (DNS
rebinding, cross-site requests). Streamlit checks host names of WebSockets only; this middleware
checks every route, and ports.
"""

from __future__ import annotations

from urllib.parse import urlsplit

import streamlit as st
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

USUAL_PORTS = {"http": 80, "https": 443}


class CheckAddress:
    """ASGI middleware that answers 403 to requests for other addresses."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket") or is_own(scope):
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            refusal = PlainTextResponse("unknown address of this app", status_code=403)
            await refusal(scope, receive, send)
        else:
            await receive()
            await send({"type": "websocket.close", "code": 1008, "reason": "foreign address"})


def is_own(scope: Scope) -> bool:
    """Whether Host, and Origin if present, are addresses of this app; each at most once."""
    headers = Headers(scope=scope)
    hosts, origins = headers.getlist("host"), headers.getlist("origin")
    ports = {(scope.get("server") or ("", None))[1], st.get_option("browser.serverPort")}
    return (
        len(hosts) == 1
        and len(origins) <= 1
        and _is_own(f"//{hosts[0]}", None, ports)
        and all(_is_own(origin, origin.partition(":")[0], ports) for origin in origins)
    )


def _is_own(address: str, scheme: str | None, ports: set[int | None]) -> bool:
    """Whether name and port belong to this app; without a scheme, both default ports count."""
    try:
        parts = urlsplit(address)
        name, port = parts.hostname, parts.port
    except ValueError:
        return False
    usual = {USUAL_PORTS.get(scheme)} if scheme else {*USUAL_PORTS.values()}
    meant = {port} if port else usual
    names = {*st.get_option("server.allowedHosts"), st.get_option("browser.serverAddress")}
    is_known = name in {str(known).lower() for known in names if known}
    return is_known and bool(meant & ports - {None})
