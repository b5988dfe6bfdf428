"""Keyed pseudonyms: a person has the same one in all releases for one recipient, and another one in
those for every other recipient.

The pseudonym is HMAC-SHA-256 (RFC 2104) of the id under a key of the recipient's domain, which is
that of the domain's name under the secret. Whoever lacks the secret can neither recompute a
pseudonym from a guessed id nor join two domains by them; the links of a release are as they were.
"""

from __future__ import annotations

import hmac
import os
import secrets
import stat
from dataclasses import dataclass, field, replace
from pathlib import Path
from unicodedata import normalize

import numpy as np

from core.errors import InputError
from core.graph import Graph
from core.home import locate_home

SECRET_BYTES = 32

PSEUDONYM_BYTES = 16
"""Of n people, two share a pseudonym with probability n² / 2¹²⁹ at most."""

MAX_DOMAIN = 64

PREFIX = "p"
"""Keeps a pseudonym from being read as a number, such as 1e9."""


@dataclass(frozen=True)
class KeyedPseudonyms:
    """Pseudonyms of one domain.

    secret  SECRET_BYTES random bytes
    domain  name of the recipient, as `check_domain` gives it
    """

    secret: bytes = field(repr=False)
    domain: str

    def make_pseudonyms(self, node_ids: tuple[str, ...]) -> tuple[str, ...]:
        """One pseudonym a node id."""
        key = hmac.digest(self.secret, self.domain.encode(), "sha256")
        digests = (hmac.digest(key, node.encode(), "sha256") for node in node_ids)
        return tuple(PREFIX + digest[:PSEUDONYM_BYTES].hex() for digest in digests)

    def rename_nodes(self, graph: Graph) -> Graph:
        """The same graph under pseudonyms, with its nodes in their order."""
        names = self.make_pseudonyms(graph.node_ids)
        order = np.array(sorted(range(len(names)), key=names.__getitem__), np.int64)
        return replace(graph, node_ids=names).subgraph(order)


def check_domain(domain: str | None) -> str:
    """The name of a domain, of 1 to MAX_DOMAIN characters; raises InputError."""
    name = normalize("NFC", (domain or "").strip())
    if not 1 <= len(name) <= MAX_DOMAIN:
        rule = f"must be a name of 1 to {MAX_DOMAIN} characters"
        raise InputError("domain of the pseudonyms", rule, domain, "name the recipient")
    return name


def find_secret(path: Path) -> bytes | None:
    """The secret of a file, SECRET_BYTES as hexadecimal digits; None if there is no such file.

    Raises InputError for a file that others may read, one inside AUDIT_HOME, whose backup must not
    hold it, or one with anything else.
    """
    what = f"secret of the pseudonyms '{path}'"
    if path.resolve().is_relative_to(locate_home()):
        raise InputError(what, "must be kept outside AUDIT_HOME", remedy="name another file")
    try:
        with path.open("rb") as file:
            status = os.fstat(file.fileno())
            content = file.read(SECRET_BYTES * 4)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise InputError(what, "must be a file that can be read", error.strerror) from None
    if stat.S_IMODE(status.st_mode) & (stat.S_IRWXG | stat.S_IRWXO):
        mode = f"mode {stat.S_IMODE(status.st_mode):o}"
        raise InputError(what, "must be closed to others", mode, "close it: chmod 600 FILE")
    return parse_secret(content, what)


def parse_secret(content: bytes, what: str) -> bytes:
    """The secret of a file's bytes; raises InputError, without a word of what they are."""
    text = content.strip()
    try:
        secret = bytes.fromhex(text.decode("ascii"))
    except ValueError:
        secret = b""
    if len(text) != 2 * SECRET_BYTES or len(secret) != SECRET_BYTES:
        rule = f"must hold {2 * SECRET_BYTES} hexadecimal digits"
        raise InputError(what, rule, remedy="as publish --pseudonyms keyed:FILE makes them")
    return secret


def make_secret(path: Path) -> bytes:
    """A new secret in a new file with access for its owner only; OSError if there is one."""
    secret = secrets.token_bytes(SECRET_BYTES)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        file.write(f"{secret.hex()}\n")
        file.flush()
        os.fsync(file.fileno())
    return secret
