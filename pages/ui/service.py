"""The audit service of this process, used by each session with its own permissions."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from core.audit.jobs.cluster import may_have_gpus
from core.audit.jobs.engine import is_embedded
from core.device import cpu_device
from core.home import is_new_home
from pages.ui import drawing, sign_in

if TYPE_CHECKING:
    from core.audit.access.authorised import AuthorisedService
    from core.audit.results.view import AuditSummary
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
    return drawing.read_once("service", lambda: enter(service, sign_in.find_person(service.home)))


def is_new() -> bool:
    """Whether a new home is shown to its only user before its store is open: there are no
    audits."""
    return _service is None and not sign_in.has_sign_in() and is_new_home()


def list_audits() -> list[AuditSummary]:
    """Audits that the current user may read."""
    return [] if is_new() else open_service().list_audits()


def find_device_title() -> str | None:
    """Display name of the device; None for one that is not known before the store is open."""
    if _service is not None:
        return open_service().find_device_title()
    return cpu_device().title if is_embedded() and not may_have_gpus() else None


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
