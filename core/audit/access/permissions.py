"""Permission checks against the store, evaluated on every call so that revocation is immediate."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from core.audit.store.accounts import Person, Role
from core.audit.store.schema import AuditRow, GrantRow, HolderRow, JobRow
from core.audit.store.team import Team
from core.errors import AccessError, AuditError, InputError

if TYPE_CHECKING:
    from core.audit.store.database import Store

PUBLISHING = "publishing"


class Permissions:
    """Permissions of one person in one store.

    An audit is readable by its owner, by people it is shared with, by approvers once a release of
    it was prepared, and by administrators; owner and administrators may change it. Only people who
    loaded a graph may audit or publish it, since read access ends with the grant. Objects that a
    person may not read raise the error of an unknown id. People are identified by the subject of
    their sign-in, never by the displayed name.
    """

    def __init__(self, store: Store, person: Person) -> None:
        self._store, self.person = store, person

    def need(self, role: Role, what: str = "") -> None:
        """Raise AccessError for a lower role."""
        if self.person.has(role):
            return
        if self.person.role == "none":
            raise AccessError("no role was given to you; ask an administrator for one")
        raise AccessError(f"{what or 'this'} is for people with the role {role} only")

    def may(self, check: Callable[[], None]) -> bool:
        """Whether any of these checks passes."""
        try:
            check()
        except AuditError:
            return False
        return True

    # -- audits -----------------------------------------------------------------------------

    def read_audit(self, audit_id: str) -> None:
        """Raise InputError, as for an unknown id, if the person may not read the audit."""
        self.need("analyst")
        if not self._sees_all and not self._exists(self._readable(AuditRow.id == audit_id)):
            raise InputError(
                "audit", "must be a known id", audit_id, "choose one of the stored audits"
            )

    def change_audit(self, audit_id: str, what: str) -> None:
        """Raise AccessError if the person may only read the audit."""
        self.read_audit(audit_id)
        mine = (AuditRow.id == audit_id) & (AuditRow.person == self.person.subject)
        if not self._sees_all and not self._exists(sa.select(AuditRow.id).where(mine)):
            raise AccessError(f"{what}: only who started this audit may do that")

    def match_graph(self, audit_id: str, graph_hash: str) -> None:
        """Raise InputError if a graph is not the audit's own."""
        same = (AuditRow.id == audit_id) & (AuditRow.graph_hash == graph_hash)
        if not self._exists(sa.select(AuditRow.id).where(same)):
            raise InputError("graph", "must be the one of the audit", graph_hash[:12])

    def keep_audits(self, audits: list[Any]) -> list[Any]:
        """The summaries that the person may read."""
        if self._sees_all:
            return audits
        with self._store.read() as connection:
            readable = set(connection.scalars(self._readable(sa.true())))
        return [audit for audit in audits if audit.id in readable]

    # -- graphs -----------------------------------------------------------------------------

    def read_graph(self, graph_hash: str) -> None:
        """Raise InputError, as for a missing graph, if the person may not read it."""
        self.need("analyst")
        if not self._holds(graph_hash) and not self._exists(
            self._readable(AuditRow.graph_hash == graph_hash)
        ):
            raise InputError("graph", "must be stored", graph_hash[:12], "load the file again")

    def hold_graph(self, graph_hash: str, what: str) -> None:
        """Raise AccessError if the person may only read it: results would outlast the grant."""
        self.read_graph(graph_hash)
        if not self._holds(graph_hash):
            raise AccessError(f"{what}: only who loaded this graph may do that")

    def _holds(self, graph_hash: str) -> bool:
        held = (HolderRow.graph_hash == graph_hash) & (HolderRow.person == self.person.subject)
        return self._sees_all or self._exists(sa.select(HolderRow.person).where(held))

    # -- jobs -------------------------------------------------------------------------------

    def read_job(self, kind: str, key: str) -> None:
        """A job is readable with its audit; without one, by its owner and approvers."""
        if self._sees_all:
            return
        row = self._find_job(kind, key)
        if row.audit_id is not None:
            self.read_audit(row.audit_id)
        elif not self._is_mine(row) and not self.person.has("approver"):
            raise self._unknown_job(kind, key)

    def change_job(self, kind: str, key: str, what: str) -> None:
        """As for its audit."""
        self.read_job(kind, key)
        if self._sees_all:
            return
        row = self._find_job(kind, key)
        if row.audit_id is not None:
            self.change_audit(row.audit_id, what)
        elif not self._is_mine(row):
            raise AccessError(f"{what}: only who asked for it may do that")

    def sign_run(self, key: str) -> None:
        """An approver signs what another person prepared; the local user does both."""
        self.read_job(PUBLISHING, key)
        self.need("approver", "sign release")
        row = self._store.find_job(key)
        if row is not None and row.person == self.person.subject and not self.person.is_local:
            raise AccessError("sign release: another person than who prepared it must do that")

    def hand_out(self, key: str, what: str) -> None:
        """Allowed to whoever prepared the run, the audit's owner, and approvers."""
        self.read_job(PUBLISHING, key)
        if not self.person.has("approver") and not self._is_mine(self._find_job(PUBLISHING, key)):
            self.change_job(PUBLISHING, key, what)

    def _find_job(self, kind: str, key: str) -> Any:
        self.need("analyst")
        row = self._store.find_job(key)
        if row is None or row.kind != kind:
            raise self._unknown_job(kind, key)
        return row

    def _is_mine(self, row: Any) -> bool:
        return bool(row.person == self.person.subject)

    @staticmethod
    def _unknown_job(kind: str, key: str) -> InputError:
        return InputError(f"{kind} job", "must be a known one", key, "start it again")

    # -- tokens -----------------------------------------------------------------------------

    def change_token(self, token_id: str) -> None:
        """Own tokens; all tokens for administrators."""
        self.need("analyst")
        mine = {token.id for token in Team(self._store).list_tokens(self.person.subject)}
        if not self._sees_all and token_id not in mine:
            raise InputError("token", "must be one that is stored", token_id)

    # -- inside -----------------------------------------------------------------------------

    @property
    def _sees_all(self) -> bool:
        return self.person.has("administrator")

    def _readable(self, condition: Any) -> Any:
        """Ids of the readable audits that meet a condition."""
        subject = self.person.subject
        granted = sa.select(GrantRow.audit_id).where(GrantRow.person == subject)
        allowed = (AuditRow.person == subject) | AuditRow.id.in_(granted)
        if self.person.has("approver"):
            prepared = sa.select(JobRow.audit_id).where(
                JobRow.kind == PUBLISHING, JobRow.audit_id.is_not(None)
            )
            allowed |= AuditRow.id.in_(prepared)
        return sa.select(AuditRow.id).where(condition, allowed)

    def _exists(self, query: Any) -> bool:
        with self._store.read() as connection:
            return connection.execute(query.limit(1)).first() is not None
