"""Who a person is by their sign-in, and which role a file gives them."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from core.audit.store.accounts import ROLES, Person, Role
from core.errors import InputError

ROLES_FILE = "roles.toml"


class RoleBook(BaseModel):
    """Roles as defined by roles.toml.

    The most specific rule wins: subject, then e-mail, then the highest role of the groups.
    default       role of signed-in people who are not listed
    groups_claim  name of the claim that lists a person's groups
    trust_emails  accept e-mail addresses that the provider has not verified
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    default: Role = "none"
    subjects: dict[str, Role] = {}
    emails: dict[str, Role] = {}
    groups: dict[str, Role] = {}
    groups_claim: str = "groups"
    trust_emails: bool = False

    def find_role(self, subject: str, email: str = "", groups: tuple[str, ...] = ()) -> Role:
        """Role of a person; `email` is a trusted address, matched case-insensitively."""
        if subject in self.subjects:
            return self.subjects[subject]
        emails = {name.casefold(): role for name, role in self.emails.items()}
        if email and email.casefold() in emails:
            return emails[email.casefold()]
        found = [self.groups[group] for group in groups if group in self.groups]
        return max([*found, self.default] if found else [self.default], key=ROLES.index)


def load_roles(home: Path) -> RoleBook:
    """Roles of the file in AUDIT_ROLES, else roles.toml of the home; without one nobody has a
    role."""
    path = Path(os.environ.get("AUDIT_ROLES") or home / ROLES_FILE)
    try:
        return RoleBook.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return RoleBook()
    except (OSError, ValueError) as error:
        reason = error.errors()[0]["msg"] if isinstance(error, ValidationError) else str(error)
        raise InputError("roles", "must be a TOML file of roles", str(path), reason) from None


def read_claims(claims: Mapping[str, Any], roles: RoleBook) -> tuple[Person, tuple[str, ...]]:
    """The person and groups that a provider asserts; raises InputError without a subject."""
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
