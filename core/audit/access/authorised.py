"""The audit service with permissions: every verb is checked, and changes are recorded on the
trail."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any, cast

from core.audit.access.permissions import Permissions
from core.audit.access.rules import RULES, Rule
from core.audit.store.accounts import LOCAL, Person
from core.errors import AuditError

if TYPE_CHECKING:
    from core.audit.service import AuditService


def enter(service: AuditService, person: Person) -> AuditService:
    """The service restricted to what this person may use.

    Its verbs raise InputError for objects the person may not know of and AccessError for actions
    that are not permitted.
    """
    return cast(
        "AuditService", AuthorisedService(service, service, Permissions(service._store, person), "")
    )


def find_person(service: AuditService) -> Person:
    """The person of an authorised service; the bare service belongs to the local user."""
    authorised: Any = service
    return authorised.person if isinstance(authorised, AuthorisedService) else LOCAL


def may_change(service: AuditService, audit_id: str) -> bool:
    """Whether this person may resume, cancel, delete, share and publish this audit."""
    authorised: Any = service
    return not isinstance(authorised, AuthorisedService) or authorised.permissions.may(
        lambda: authorised.permissions.change_audit(audit_id, "")
    )


class AuthorisedService:
    """Proxy of the service or a part of it; verbs without a rule do not exist."""

    def __init__(
        self, service: AuditService, part: Any, permissions: Permissions, name: str
    ) -> None:
        self._service, self._part, self.permissions, self._name = service, part, permissions, name

    @property
    def person(self) -> Person:
        """The person the service is restricted to."""
        return self.permissions.person

    def __getattr__(self, name: str) -> Any:
        if self._name == "" and name in RULES and name:
            return AuthorisedService(
                self._service, getattr(self._part, name), self.permissions, name
            )
        rule = RULES[self._name].get(name)
        if rule is None:
            raise AttributeError(name)
        return self._check(getattr(self._part, name), rule)

    def _check(self, verb: Callable[..., Any], rule: Rule) -> Callable[..., Any]:
        permissions, team = self.permissions, self._service.team

        @wraps(verb)
        def call(*args: Any, **kwargs: Any) -> Any:
            given = inspect.signature(verb).bind(*args, **kwargs)
            given.apply_defaults()
            arguments = given.arguments
            for name in rule.fills:
                arguments[name] = permissions.person.subject
            target = str(arguments[rule.target]) if rule.target else ""
            detail = rule.detail(arguments) if rule.detail else ""
            try:
                rule.check(permissions, arguments)
            except AuditError as error:
                event = rule.event or verb.__name__.replace("_", " ")
                text = f"{detail}; {error}" if detail else str(error)
                team.record(permissions.person, f"refused: {event}", target, text)
                raise
            result = verb(*given.args, **given.kwargs)
            if rule.event:
                made = result if isinstance(result, str) and not rule.target else target
                team.record(permissions.person, rule.event, made, detail)
            return result if rule.narrow is None else rule.narrow(permissions, result)

        return call
