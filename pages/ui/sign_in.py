"""The current user: the local user, or the signed-in person with the assigned role.

Sign-in is switched on by a section [auth] in .streamlit/secrets.toml (see Streamlit's st.login);
roles are in roles.toml of AUDIT_HOME or the file of AUDIT_ROLES (core.audit.store.roles).
"""

from __future__ import annotations

import ipaddress
import os
from pathlib import Path

import streamlit as st

from core.audit.store.accounts import LOCAL, Person
from core.errors import InputError

UNPROTECTED = "AUDIT_UNPROTECTED"
"""Environment variable; 1 allows an app without sign-in to listen on any address."""

NOBODY = Person("", "nobody", "none")


def has_sign_in() -> bool:
    """Whether the secrets have a section [auth]."""
    return bool(st.secrets.load_if_toml_exists()) and "auth" in st.secrets


def is_signed_in() -> bool:
    return bool(st.user.get("is_logged_in"))


def find_person(home: Path) -> Person:
    """The person of this session with the current role; NOBODY before sign-in."""
    if not has_sign_in():
        return LOCAL
    if not is_signed_in():
        return NOBODY
    from core.audit.store.roles import load_roles, read_claims

    try:
        return read_claims(st.user.to_dict(), load_roles(home))[0]
    except InputError:
        return NOBODY


def read_groups(home: Path) -> tuple[str, ...]:
    """Groups of the signed-in person, as reported by the provider."""
    from core.audit.store.roles import load_roles, read_claims

    return read_claims(st.user.to_dict(), load_roles(home))[1]


def check_address() -> None:
    """Raise InputError if an app without sign-in would be reachable from other machines."""
    address = str(st.get_option("server.address") or "")
    if has_sign_in() or os.environ.get(UNPROTECTED) == "1" or is_loopback(address):
        return
    raise InputError(
        "server.address",
        "must be a loopback address unless sign-in is set up",
        address or "all addresses",
        f"set up [auth] in .streamlit/secrets.toml, or {UNPROTECTED}=1 behind your own gateway",
    )


def is_loopback(address: str) -> bool:
    """Whether an address is reachable from this machine only; socket files count as such."""
    if address == "localhost" or address.startswith("unix://"):
        return True
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False
