"""Who may work together: nodes of one cluster run the same code, and prove it by TLS if asked."""

from __future__ import annotations

import hashlib
import platform
from functools import lru_cache
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.errors import InputError

if TYPE_CHECKING:
    from distributed import Client
    from distributed.security import Security

_CORE = Path(__file__).parents[2]


@lru_cache(maxsize=1)
def describe_version() -> str:
    """Of Python, Dask and the code of the core: "3.11, 2026.8.0, 1f3e…"."""
    content = hashlib.sha256()
    for path in sorted(_CORE.rglob("*.py")):
        content.update(path.relative_to(_CORE).as_posix().encode() + path.read_bytes())
    minor = ".".join(platform.python_version_tuple()[:2])
    dask = metadata.version("distributed")
    return f"{minor}, {dask}, {content.hexdigest()[:12]}"


def format_version() -> str:
    """What the process says that is asked; by its name, whatever stands for it here."""
    return describe_version()


async def check_scheduler(client: Client, address: str) -> None:
    """InputError where the scheduler does not run this version; for asynchronous clients."""
    try:
        theirs = await client.run_on_scheduler(format_version)
    except Exception as error:  # whatever its unpickling raises
        theirs = f"{type(error).__name__}: {error}"
    compare_versions(theirs, address)


def compare_versions(theirs: object, address: str) -> None:
    """InputError where `theirs` is not what `describe_version` says here."""
    if theirs != describe_version():
        raise InputError(
            "cluster",
            f"must run the version {describe_version()} at {address}",
            theirs,
            "start it by: python -m core scheduler",
        )


def make_security(ca: str, cert: str, key: str) -> Security | None:
    """TLS by three files, for every role; None without them."""
    from distributed.security import Security

    given = [path for path in (ca, cert, key) if path]
    if not given:
        return None
    for path in (ca, cert, key):
        if not Path(path).is_file():
            raise InputError("TLS", "must have three files: authority, certificate, key", path)
    roles: dict[str, Any] = {}
    for role in ("client", "scheduler", "worker"):
        roles |= {f"tls_{role}_cert": cert, f"tls_{role}_key": key}
    return Security(tls_ca_file=ca, require_encryption=True, **roles)
