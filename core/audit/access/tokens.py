"""Tokens: how a command says who runs it, where many share a database.

A token is 32 random bytes. Only its SHA-256 is stored, which is enough for a secret that nobody
can guess; it is shown once, ends by itself, and can be revoked at once.
"""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import sqlalchemy as sa

from core.audit.store.liveness import make_timestamp
from core.audit.store.schema import TokenRow
from core.errors import InputError

if TYPE_CHECKING:
    from core.audit.store.database import Store

PREFIX = "gpa_"
"""By which a token is recognised, such as by what looks for secrets in a repository."""

DAYS, MAX_DAYS = 90, 365


@dataclass(frozen=True)
class Token:
    """id: the first digits of its hash; expires, used: times in UTC; used is "" before that."""

    id: str
    person: str
    label: str
    made: str
    expires: str
    used: str
    is_revoked: bool

    @property
    def is_valid(self) -> bool:
        return not self.is_revoked and self.expires > make_timestamp()


def make_token(store: Store, person: str, label: str = "", days: int = DAYS) -> str:
    """A new token for a person's commands; the only time that it is to be seen."""
    if not 1 <= days <= MAX_DAYS:
        raise InputError("days of a token", f"must be 1 to {MAX_DAYS}", days)
    text = PREFIX + secrets.token_urlsafe(32)
    digest = _hash(text)
    ends = (datetime.now(UTC) + timedelta(days=days)).isoformat(timespec="milliseconds")
    with store.write(is_durable=True) as connection:
        connection.execute(
            sa.insert(TokenRow).values(
                digest=digest,
                id=digest[:10],
                person=person,
                label=label[:100],
                made=make_timestamp(),
                expires=ends,
                used="",
                is_revoked=False,
            )
        )
    return text


def list_tokens(store: Store, person: str | None = None) -> list[Token]:
    """Of one person or of all, newest first; those that ended too."""
    return [token for _, token in _select(store, person)]


def find_token(store: Store, text: str) -> Token:
    """A token that may be used now; notes that it was. InputError for any other."""
    digest = _hash(text.strip())
    for stored, token in _select(store, None, TokenRow.digest == digest):
        if secrets.compare_digest(stored, digest) and token.is_valid:
            with store.write() as connection:
                used = sa.update(TokenRow).where(TokenRow.digest == digest)
                connection.execute(used.values(used=make_timestamp()))
            return token
    raise InputError("AUDIT_TOKEN", "must be a token that has neither ended nor been revoked")


def revoke_token(store: Store, token_id: str) -> None:
    """It can never be used again; InputError for an unknown id."""
    with store.write(is_durable=True) as connection:
        revoke = sa.update(TokenRow).where(TokenRow.id == token_id).values(is_revoked=True)
        if connection.execute(revoke).rowcount == 0:
            raise InputError("token", "must be one that is stored", token_id)


def _select(store: Store, person: str | None, *conditions: object) -> list[tuple[str, Token]]:
    names = [TokenRow.__table__.columns[name] for name in Token.__dataclass_fields__]
    query = sa.select(TokenRow.digest, *names).order_by(TokenRow.made.desc(), TokenRow.id)
    query = query.where(*conditions)  # type: ignore[arg-type]
    if person is not None:
        query = query.where(TokenRow.person == person)
    with store.read() as connection:
        return [(row[0], Token(*row[1:])) for row in connection.execute(query)]


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
