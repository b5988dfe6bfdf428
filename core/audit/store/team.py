"""People sharing a store: identities, grants and tokens.

No permission checks here: callers go through core.audit.access.authorised. A token identifies the
person who runs a command: 32 random bytes, shown once. Only its SHA-256 is stored, which suffices
for an unguessable secret; it expires and can be revoked.
"""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import sqlalchemy as sa

from core.audit.store.accounts import LOCAL, Person
from core.audit.store.liveness import make_timestamp
from core.audit.store.roles import load_roles
from core.audit.store.schema import GrantRow, PersonRow, TokenRow
from core.audit.store.trail import Trail
from core.errors import InputError

PREFIX = "gpa_"
"""Prefix of tokens, which secret scanners can recognise."""

DAYS, MAX_DAYS = 90, 365


@dataclass(frozen=True)
class Token:
    """id: first digits of its hash; expires, used: times in UTC, "" if never used."""

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


class Team(Trail):
    """People, grants, tokens and trail of one store; thread-safe."""

    # -- people -----------------------------------------------------------------------------

    def welcome(self, person: Person, groups: tuple[str, ...] = ()) -> None:
        """Record a sign-in, so that others can share with this person."""
        row = {"name": person.name, "email": person.email, "groups": list(groups)}
        row["seen"] = make_timestamp()
        known = PersonRow.subject == person.subject
        with self._store.write() as connection:
            if connection.execute(sa.update(PersonRow).where(known).values(row)).rowcount == 0:
                connection.execute(sa.insert(PersonRow).values(subject=person.subject, **row))
        self.record(person, "sign in", detail=person.role)

    def is_shared(self) -> bool:
        """Whether anybody has signed in."""
        with self._store.read() as connection:
            return connection.execute(sa.select(PersonRow.subject).limit(1)).first() is not None

    def list_people(self) -> list[Person]:
        """Everybody who has signed in, with current roles, by name."""
        roles = load_roles(self._store.home)
        with self._store.read() as connection:
            rows = list(connection.execute(sa.select(PersonRow.__table__)))
        people = [
            Person(
                row.subject,
                row.name,
                roles.find_role(row.subject, row.email, tuple(row.groups)),
                row.email,
            )
            for row in rows
        ]
        return sorted(people, key=lambda person: (person.name.casefold(), person.subject))

    def find_person(self, text: str) -> Person:
        """Person by subject or e-mail; raises InputError if unknown."""
        if text == LOCAL.subject:
            return LOCAL
        people = self.list_people()
        found = [p for p in people if text == p.subject]
        found = found or [p for p in people if p.email and text.casefold() == p.email.casefold()]
        if len(found) != 1:
            raise InputError("person", "must be somebody who has signed in once", text)
        return found[0]

    def find_names(self) -> dict[str, str]:
        """Subject → name."""
        return {LOCAL.subject: LOCAL.name, **{p.subject: p.name for p in self.list_people()}}

    # -- grants -----------------------------------------------------------------------------

    def share_audit(self, audit_id: str, subject: str, given_by: str = LOCAL.subject) -> None:
        """Grant read access to an audit and its graph, without changing or publishing."""
        subject = self.find_person(subject).subject
        row = {"audit_id": audit_id, "person": subject, "given_by": given_by}
        with self._store.write(is_durable=True) as connection:
            connection.execute(sa.delete(GrantRow).where(_is_grant(audit_id, subject)))
            connection.execute(sa.insert(GrantRow).values(**row, made=make_timestamp()))

    def unshare_audit(self, audit_id: str, subject: str) -> None:
        """Revoke the grant."""
        with self._store.write(is_durable=True) as connection:
            connection.execute(sa.delete(GrantRow).where(_is_grant(audit_id, subject)))

    def list_grants(self, audit_id: str) -> list[str]:
        """Subjects of people with a grant on the audit."""
        query = sa.select(GrantRow.person).where(GrantRow.audit_id == audit_id)
        with self._store.read() as connection:
            return list(connection.scalars(query.order_by(GrantRow.made, GrantRow.person)))

    def move_audit(self, audit_id: str, subject: str) -> None:
        """Transfer an audit to another person."""
        self._store.move_audit(audit_id, self.find_person(subject).subject)

    # -- tokens -----------------------------------------------------------------------------

    def make_token(self, label: str = "", days: int = DAYS, subject: str = LOCAL.subject) -> str:
        """Create a token for the person's commands; the text is returned only once."""
        if not 1 <= days <= MAX_DAYS:
            raise InputError("days of a token", f"must be 1 to {MAX_DAYS}", days)
        text = PREFIX + secrets.token_urlsafe(32)
        digest = _hash(text)
        ends = (datetime.now(UTC) + timedelta(days=days)).isoformat(timespec="milliseconds")
        values = {"digest": digest, "id": digest[:10], "label": label[:100], "expires": ends}
        values |= {"person": self.find_person(subject).subject, "made": make_timestamp()}
        with self._store.write(is_durable=True) as connection:
            connection.execute(sa.insert(TokenRow).values(**values, used="", is_revoked=False))
        return text

    def list_tokens(self, subject: str | None = None) -> list[Token]:
        """Tokens of one person or all, newest first, expired ones included."""
        is_theirs = sa.true() if subject is None else TokenRow.person == subject
        return [token for _, token in self._select_tokens(is_theirs)]

    def revoke_token(self, token_id: str) -> None:
        """Revoke a token; raises InputError for an unknown id."""
        revoke = sa.update(TokenRow).where(TokenRow.id == token_id).values(is_revoked=True)
        with self._store.write(is_durable=True) as connection:
            if connection.execute(revoke).rowcount == 0:
                raise InputError("token", "must be one that is stored", token_id)

    def open_token(self, text: str) -> Person:
        """Person of this token with the current role; records its use. Raises InputError if it
        is invalid."""
        digest = _hash(text.strip())
        for stored, token in self._select_tokens(TokenRow.digest == digest):
            if secrets.compare_digest(stored, digest) and token.is_valid:
                used = sa.update(TokenRow).where(TokenRow.digest == digest)
                with self._store.write() as connection:
                    connection.execute(used.values(used=make_timestamp()))
                return self.find_person(token.person)
        raise InputError("AUDIT_TOKEN", "must be a token that has neither ended nor been revoked")

    def _select_tokens(self, condition: sa.ColumnElement[bool]) -> list[tuple[str, Token]]:
        names = [TokenRow.__table__.columns[name] for name in Token.__dataclass_fields__]
        query = sa.select(TokenRow.digest, *names).where(condition)
        with self._store.read() as connection:
            rows = connection.execute(query.order_by(TokenRow.made.desc(), TokenRow.id))
            return [(row[0], Token(*row[1:])) for row in rows]


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _is_grant(audit_id: str, subject: str) -> sa.ColumnElement[bool]:
    return sa.and_(GrantRow.audit_id == audit_id, GrantRow.person == subject)
