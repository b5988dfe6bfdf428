"""Who somebody is and which role they have: names from the sign-in, roles from a file.

Roles are ranks. An analyst works on audits of their own; an approver also signs what others
prepared for publishing; an administrator also sees and manages everybody's. Who is in no list has
no role and can do nothing.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, ValidationError

from core.errors import InputError

Role = Literal["none", "analyst", "approver", "administrator"]
ROLES: tuple[Role, ...] = get_args(Role)
"""From the least to the most."""

ROLES_FILE = "roles.toml"


@dataclass(frozen=True)
class Person:
    """subject: what tells people apart, the issuer of their sign-in and its name for them."""

    subject: str
    name: str
    role: Role
    email: str = ""

    def has(self, role: Role) -> bool:
        """Whether this is their role or a lesser one."""
        return ROLES.index(self.role) >= ROLES.index(role)

    @property
    def is_local(self) -> bool:
        """The one user of an app without sign-in, who prepares and signs."""
        return self.subject == LOCAL.subject


LOCAL = Person("local", "the local user", "administrator")


class RoleBook(BaseModel):
    """Who has which role, as roles.toml says.

    Most particular first: the subject, then the e-mail, then the highest of the groups' roles.
    default       of those who sign in and are not named
    groups_claim  name of the claim that lists somebody's groups
    trust_emails  count an e-mail that the provider does not say it has verified
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    default: Role = "none"
    subjects: dict[str, Role] = {}
    emails: dict[str, Role] = {}
    groups: dict[str, Role] = {}
    groups_claim: str = "groups"
    trust_emails: bool = False

    def find_role(self, subject: str, email: str = "", groups: tuple[str, ...] = ()) -> Role:
        """The role of a person; `email` is one that may be trusted, in any case of letters."""
        if subject in self.subjects:
            return self.subjects[subject]
        emails = {name.casefold(): role for name, role in self.emails.items()}
        if email and email.casefold() in emails:
            return emails[email.casefold()]
        found = [self.groups[group] for group in groups if group in self.groups]
        return max([*found, self.default] if found else [self.default], key=ROLES.index)


def load_roles(home: Path) -> RoleBook:
    """The file of AUDIT_ROLES, else roles.toml of the home; nobody has a role without one."""
    path = Path(os.environ.get("AUDIT_ROLES") or home / ROLES_FILE)
    try:
        return RoleBook.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return RoleBook()
    except (OSError, ValueError) as error:
        reason = error.errors()[0]["msg"] if isinstance(error, ValidationError) else str(error)
        raise InputError("roles", "must be a TOML file of roles", str(path), reason) from None


def read_claims(claims: Mapping[str, Any], roles: RoleBook) -> tuple[Person, tuple[str, ...]]:
    """The person that a provider vouches for, and their groups; InputError without a subject."""
    issuer, subject = claims.get("iss"), claims.get("sub")
    if not issuer or not subject:
        raise InputError("sign-in", "must name its issuer and a subject (claims iss and sub)")
    email = str(claims.get("email") or "")
    if not (claims.get("email_verified") is True or roles.trust_emails):
        email = ""
    listed = claims.get(roles.groups_claim) or ()
    groups = (listed,) if isinstance(listed, str) else tuple(map(str, listed))
    key = f"{issuer} {subject}"
    name = str(claims.get("name") or claims.get("email") or subject)
    return Person(key, name, roles.find_role(key, email, groups), email), groups
