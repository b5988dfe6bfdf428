"""The one audit service of this process; every browser session shares it."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from core.audit.service import AuditService

EXAMPLE = "social"
"""Catalogue name of the network that is loaded when the app opens."""

_lock = threading.Lock()
_service: AuditService | None = None
_example_hash: str | None = None


def open_service() -> AuditService:
    """The service, started on first use; app.py calls this when the server starts."""
    global _service
    with _lock:
        if _service is None:
            from core.audit.service import AuditService

            _service = AuditService()
        return _service


def use_service(service: AuditService | None) -> None:
    """Make the pages use a service that somebody else owns: tests do."""
    global _service, _example_hash
    with _lock:
        _service, _example_hash = service, None


def close_service() -> None:
    global _service, _example_hash
    with _lock:
        if _service is not None:
            _service.close()
        _service, _example_hash = None, None


def find_example() -> str:
    """Content hash of the generated network, stored on first use."""
    global _example_hash
    service = open_service()
    with _lock:
        if _example_hash is None:
            from core.data.catalogue import load_dataset

            _example_hash = service.save_graph(load_dataset(EXAMPLE).graph)
        return _example_hash
