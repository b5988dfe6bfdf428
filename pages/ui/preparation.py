"""What is made ready while the browser loads its own part: the modules of the first page, then the
store.

The first page is drawn without the store until it lists audits. In a new home there are none, so
that the store is opened after the page was shown: two threads that import share one processor.
"""

from __future__ import annotations

import importlib
import os
import sys
import threading

from streamlit import env_util

from core.errors import AuditError
from core.home import find_home
from pages.ui import memory, service, sign_in

FIRST_PAGE = (
    "numpy",
    "PIL.Image",
    "pages.ui.fair_semaphore",
    "pages.ui.load_form",
    "pages.ui.login",
    "pages.ui.sidebar",
)
"""Modules of the first page without audits, beside those that they import; pictures need the
first two."""

STORE = (
    "core.audit.access.authorised",
    "core.audit.service",
    "core.findings.decisions",
    "core.findings.stopping",
    "pages.ui.external_form",
    "pages.ui.policy",
)
"""Modules of the store and of what the first page says of audits."""

HUGE_PAGES = "NUMPY_MADVISE_HUGEPAGE"
"""Read by NumPy when it is imported."""

LATEST_S, PAUSE_S = 60.0, 1.0
"""Seconds until the store is opened in a new home: without a first page, and after it was drawn,
for the browser to load its parts."""

_thread: threading.Thread | None = None
_is_light, _is_shown, _is_wanted = (threading.Event() for _ in range(3))
_is_over = False


def start() -> None:
    """Begin in the background; app.py calls this when the server starts."""
    global _thread
    # Pages write large arrays and read them once or twice: clearing huge pages for them takes
    # longer than it saves.
    os.environ[HUGE_PAGES] = "0"
    _thread = threading.Thread(target=_prepare, name="preparation")
    _thread.start()


def wait_for_page() -> None:
    """Return once the first page can be drawn, until it asks for audits."""
    if _thread is not None:
        _is_light.wait()
    if sign_in.has_sign_in():
        wait()


def go_on() -> None:
    """Note that a page was drawn."""
    _is_shown.set()


def wait() -> None:
    """Return once all is ready: two threads that import the same modules could see half of one."""
    _is_shown.set()
    _is_wanted.set()
    if _thread is not None:
        _thread.join()


def end() -> None:
    """Return once nothing is made ready any more; app.py calls this when the server ends."""
    global _is_over
    _is_over = True
    wait()


def _prepare() -> None:
    try:
        find_home()
        _import(FIRST_PAGE)
        os.environ.pop(HUGE_PAGES, None)  # not for the workers, which inherit the environment
        _is_light.set()
        if service.is_new():
            _is_shown.wait(LATEST_S)
            _is_wanted.wait(PAUSE_S)
        if not _is_over:
            _open_store()
    except AuditError as error:
        sys.stderr.write(f"error: {error}\n")
        sys.stderr.flush()
        os._exit(2)  # nothing is open, and Streamlit would go on without a store
    finally:
        _is_light.set()


def _open_store() -> None:
    _import(STORE)
    from core.data.sandbox import remove_stale_folders

    remove_stale_folders()
    service.start_service()


def _import(names: tuple[str, ...]) -> None:
    for name in names:
        importlib.import_module(name)
    # Streamlit asks this before it draws anything, and looks up the file of every module.
    env_util.is_repl()
    memory.exempt_modules()
