"""The audit service of this process, used by each session with its own permissions."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from pages.ui import sign_in

if TYPE_CHECKING:
    from core.audit.access.authorised import AuthorisedService
    from core.audit.service import AuditService

_lock = threading.Lock()
_service: AuditService | None = None


def start_service() -> AuditService:
    """The service without permission checks; app.py calls this when the server starts."""
    global _service
    with _lock:
        if _service is None:
            from core.audit.service import AuditService
            from core.findings.stopping import is_decided

            _service = AuditService(stopping_rule=is_decided)
        return _service


def open_service() -> AuthorisedService:
    """The service with the permissions of the current user."""
    from core.audit.access.authorised import enter

    service = start_service()
    return enter(service, sign_in.find_person(service.home))


def warm_up() -> None:
    """Start the workers before an audit is requested."""
    start_service().warm_up()


def use_service(service: AuditService | None) -> None:
    """Make the pages use a given service, for tests."""
    global _service
    with _lock:
        _service = service


def close_service() -> None:
    global _service
    with _lock:
        if _service is not None:
            _service.close()
        _service = None
