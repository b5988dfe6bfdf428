"""Which requests are for this app: by its own name and port, from its own pages.

A page of another site, and one of another server on this machine, may send requests to the app
from a browser that reaches it. A rebound name tells itself by the header Host, a foreign page by
Origin. Streamlit checks the names of WebSockets; this checks every route, and ports.
"""

from __future__ import annotations

from urllib.parse import SplitResult, urlsplit

import streamlit as st
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

USUAL_PORTS = {"http": 80, "https": 443}


class CheckAddress:
    """ASGI middleware that answers 403 to what is not meant for this app."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and not is_own(Headers(scope=scope)):
            refusal = PlainTextResponse("this address is not of the app", status_code=403)
            await refusal(scope, receive, send)
        elif scope["type"] == "websocket" and not is_own(Headers(scope=scope)):
            await receive()
            await send({"type": "websocket.close", "code": 1008, "reason": "foreign address"})
        else:
            await self._app(scope, receive, send)


def is_own(headers: Headers) -> bool:
    """Whether Host names this app, and Origin too where there is one; each at most once."""
    hosts, origins = headers.getlist("host"), headers.getlist("origin")
    if len(hosts) != 1 or len(origins) > 1 or not _is_own(f"//{hosts[0]}", None):
        return False
    return all(_is_own(origin, origin.partition(":")[0]) for origin in origins)


def _is_own(address: str, scheme: str | None) -> bool:
    """Whether name and port are of this app; without a scheme either usual port may be meant."""
    try:
        parts: SplitResult = urlsplit(address)
        name, port = parts.hostname, parts.port
    except ValueError:
        return False
    server = int(st.get_option("server.port"))
    own = {server, int(st.get_option("browser.serverPort") or server)}
    meant = {port} if port else {USUAL_PORTS.get(scheme, 0)} if scheme else {80, 443}
    names = {*st.get_option("server.allowedHosts"), st.get_option("browser.serverAddress")}
    return name in {str(known).lower() for known in names if known} and bool(own & meant)
