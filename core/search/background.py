"""Searches that run beside the pages of a server, one thread each."""

from __future__ import annotations

import logging
import threading

from core.errors import AuditError
from core.search.run import Audits, SearchProgress, SearchRequest, run_search

log = logging.getLogger(__name__)


class BackgroundSearches:
    """Thread-safe. A search ends with its server and goes on where it is started again."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: dict[str, threading.Event] = {}
        self._progress: dict[str, SearchProgress] = {}
        self._reasons: dict[str, str] = {}

    def start(
        self, service: Audits, request: SearchRequest, within: float | None = None
    ) -> threading.Thread | None:
        """Begin or continue a search; None if it runs already."""
        with self._lock:
            if request.id in self._running:
                return None
            stop = self._running[request.id] = threading.Event()
            self._reasons.pop(request.id, None)
        thread = threading.Thread(
            target=self._run, args=(service, request, within, stop), name=f"search {request.id}"
        )
        thread.daemon = True
        thread.start()
        return thread

    def is_running(self, search_id: str) -> bool:
        """Whether the search runs on this server."""
        with self._lock:
            return search_id in self._running

    def stop(self, search_id: str) -> None:
        """Stop it within a second; what is finished is kept."""
        with self._lock:
            stop = self._running.get(search_id)
        if stop is not None:
            stop.set()

    def find_progress(self, search_id: str) -> SearchProgress | None:
        """How far a running search is, without reading its audits again; None at its start."""
        with self._lock:
            return self._progress.get(search_id)

    def get_reason(self, search_id: str) -> str:
        """Why its last run on this server ended before the search was over, or ""."""
        with self._lock:
            return self._reasons.get(search_id, "")

    def _run(
        self, service: Audits, request: SearchRequest, within: float | None, stop: threading.Event
    ) -> None:
        reason = ""
        try:

            def watch(progress: SearchProgress) -> bool:
                with self._lock:
                    self._progress[request.id] = progress
                return not stop.is_set()

            reason = run_search(service, request, within, watch).stopped
        except AuditError as error:
            reason = str(error)
        except Exception as error:
            log.exception("search %s", request.id)
            reason = f"{type(error).__name__}: {error}"
        finally:
            with self._lock:
                self._running.pop(request.id, None)
                self._progress.pop(request.id, None)
                self._reasons[request.id] = reason
