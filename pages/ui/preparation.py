"""The store and the first page's modules, made ready while the browser loads its own part."""

from __future__ import annotations

import importlib
import os
import sys
import threading

from streamlit import env_util

from core.errors import AuditError
from pages.ui import memory, service

FIRST_PAGE = (
    "core.audit.access.authorised",
    "core.findings.decisions",
    "pages.ui.external_form",
    "pages.ui.fair_semaphore",
    "pages.ui.load_form",
    "pages.ui.login",
    "pages.ui.policy",
    "pages.ui.sidebar",
)
"""Modules of the first page, beside those that they import."""

_thread: threading.Thread | None = None


def start() -> None:
    """Begin in the background; app.py calls this when the server starts."""
    global _thread
    _thread = threading.Thread(target=_prepare, name="preparation")
    _thread.start()


def wait() -> None:
    """Return once all is ready: two threads that import the same modules could see half of one."""
    if _thread is not None:
        _thread.join()


def _prepare() -> None:
    try:
        from core.data.sandbox import remove_stale_folders

        remove_stale_folders()
        service.start_service()
        for name in FIRST_PAGE:
            importlib.import_module(name)
        # Streamlit asks this before it draws anything, and looks up the file of every module.
        env_util.is_repl()
        memory.exempt_modules()
    except AuditError as error:
        sys.stderr.write(f"error: {error}\n")
        sys.stderr.flush()
        os._exit(2)  # nothing is open, and Streamlit would go on without a store
