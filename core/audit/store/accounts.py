"""People and their roles.

Roles are ordered. An analyst works on their own audits; an approver also signs releases that others
prepared; an administrator also sees and manages all audits. People without a role have no access.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

Role = Literal["none", "analyst", "approver", "administrator"]
ROLES: tuple[Role, ...] = get_args(Role)
"""Lowest to highest."""


@dataclass(frozen=True)
class Person:
    """subject: unique identifier, the issuer of the sign-in and its name for the person."""

    subject: str
    name: str
    role: Role
    email: str = ""

    def has(self, role: Role) -> bool:
        """Whether the person has this role or a higher one."""
        return ROLES.index(self.role) >= ROLES.index(role)

    @property
    def is_local(self) -> bool:
        """Whether this is the single user of an app without sign-in, who prepares and signs."""
        return self.subject == LOCAL.subject


LOCAL = Person("local", "the local user", "administrator")
