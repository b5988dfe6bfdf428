"""An OpenID provider of the tests' own, on loopback: the code flow with PKCE and signed tokens.

It has a page with a button for each of its users, and no passwords. What a client must get right
it checks: the secret, the address to return to, one use of a code, and the verifier of PKCE.
"""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlencode, urlsplit

CLIENT, SECRET = "audit-app", "a secret of this test"


class Provider:
    """users: subject → further claims; redirect_uri is where the client may be returned to."""

    def __init__(self, address: str, users: dict[str, dict[str, Any]]) -> None:
        from joserfc.jwk import RSAKey

        self.address, self.users, self.redirect_uri = address, users, ""
        self.key = RSAKey.generate_key(2048, {"kid": "1", "use": "sig", "alg": "RS256"})
        self.codes: dict[str, dict[str, str]] = {}

    def describe(self) -> dict[str, Any]:
        return {
            "issuer": self.address,
            "authorization_endpoint": f"{self.address}/authorize",
            "token_endpoint": f"{self.address}/token",
            "jwks_uri": f"{self.address}/keys",
            "response_types_supported": ["code"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["RS256"],
            "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": ["client_secret_basic"],
        }

    def ask(self, query: dict[str, str]) -> str:
        """The page where somebody says who they are."""
        self.check(query)
        hidden = "".join(
            f'<input type="hidden" name="{escape(name)}" value="{escape(value)}">'
            for name, value in query.items()
        )
        buttons = "".join(
            f'<button name="login" value="{escape(subject)}">{escape(claims["name"])}</button>'
            for subject, claims in self.users.items()
        )
        return f'<!doctype html><h1>Who are you?</h1><form action="/login">{hidden}{buttons}</form>'

    def log_in(self, query: dict[str, str]) -> str:
        """Where the browser goes next, with a code."""
        self.check(query)
        if query["login"] not in self.users:
            raise ValueError("no such user")
        code = secrets.token_urlsafe(16)
        self.codes[code] = query
        answer = urlencode({"code": code, "state": query["state"]})
        return f"{query['redirect_uri']}?{answer}"

    def check(self, query: dict[str, str]) -> None:
        is_right = query["client_id"] == CLIENT and query["redirect_uri"] == self.redirect_uri
        if not is_right or query["response_type"] != "code" or "openid" not in query["scope"]:
            raise ValueError("not a request of this client")

    def redeem(self, form: dict[str, str], authorization: str) -> dict[str, Any]:
        """The tokens of a code, once."""
        from joserfc import jwt

        name, _, secret = base64.b64decode(authorization.partition(" ")[2]).decode().partition(":")
        if (unquote(name), unquote(secret).replace("+", " ")) != (CLIENT, SECRET):
            raise ValueError("wrong client")
        query = self.codes.pop(form["code"])
        digest = hashlib.sha256(form["code_verifier"].encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).decode().rstrip("=")
        if challenge != query["code_challenge"] or form["redirect_uri"] != query["redirect_uri"]:
            raise ValueError("wrong verifier or address")
        now = int(time.time())
        claims = {
            "iss": self.address,
            "sub": query["login"],
            "aud": CLIENT,
            "iat": now,
            "exp": now + 600,
            "nonce": query["nonce"],
            **self.users[query["login"]],
        }
        token = jwt.encode({"alg": "RS256", "kid": "1"}, claims, self.key)
        return {
            "id_token": token,
            "access_token": secrets.token_urlsafe(16),
            "token_type": "Bearer",
            "expires_in": 600,
        }


class _Handler(BaseHTTPRequestHandler):
    provider: Provider

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        provider = self.provider
        try:
            if parts.path == "/.well-known/openid-configuration":
                self._send(json.dumps(provider.describe()), "application/json")
            elif parts.path == "/keys":
                keys = {"keys": [provider.key.as_dict(private=False)]}
                self._send(json.dumps(keys), "application/json")
            elif parts.path == "/authorize":
                self._send(provider.ask(query), "text/html; charset=utf-8")
            elif parts.path == "/login":
                self.send_response(302)
                self.send_header("Location", provider.log_in(query))
                self.send_header("Content-Length", "0")
                self.end_headers()
            else:
                self.send_error(404)
        except (KeyError, ValueError):
            self.send_error(400)

    def do_POST(self) -> None:
        length = int(self.headers.get("Content-Length", 0))
        form = {k: v[0] for k, v in parse_qs(self.rfile.read(length).decode()).items()}
        try:
            answer = self.provider.redeem(form, self.headers.get("Authorization", ""))
            self._send(json.dumps(answer), "application/json")
        except (KeyError, ValueError):
            self.send_error(400)

    def _send(self, body: str, kind: str) -> None:
        content = body.encode()
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def run_provider(users: dict[str, dict[str, Any]]) -> Iterator[Provider]:
    """A provider that answers until the block ends."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {}))
    provider = Provider(f"http://127.0.0.1:{server.server_address[1]}", users)
    server.RequestHandlerClass.provider = provider  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield provider
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def write_secrets(provider: Provider, app: str) -> str:
    """secrets.toml of the app at this address."""
    provider.redirect_uri = f"{app}/oauth2callback"
    return f"""[auth]
redirect_uri = "{provider.redirect_uri}"
cookie_secret = "{secrets.token_hex(16)}"
client_id = "{CLIENT}"
client_secret = "{SECRET}"
server_metadata_url = "{provider.address}/.well-known/openid-configuration"
client_kwargs = {{ scope = "openid email" }}
"""
