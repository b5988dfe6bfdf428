"""The connection to the computing cluster: embedded and local, or a real one by its address."""

from __future__ import annotations

import gc
import logging
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.audit.jobs.cluster import GPU, EmbeddedCluster, count_gpus
from core.audit.jobs.versions import check_scheduler, make_security
from core.device import cpu_device, find_device
from core.errors import InputError

if TYPE_CHECKING:
    from distributed import Client, Future

log = logging.getLogger(__name__)

CONNECT_S = 20
"""How long a scheduler may take to answer."""

START_WAITS_S = (0.5, 1.0, 2.0)
"""How long to wait before each further try to start the embedded cluster."""


class UnreachableError(InputError):
    """Nobody answers at AUDIT_SCHEDULER."""


class Engine:
    """Starts the embedded cluster on first use and again if it died; thread-safe."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._lock = threading.Lock()
        self._cluster: EmbeddedCluster | None = None
        self._client: Client | None = None
        self._device_title: str | None = None
        self._gpus = 0

    def connect(self) -> Client:
        """The client; starts a cluster unless AUDIT_SCHEDULER names one."""
        with self._lock:
            if not self._is_alive():
                self._disconnect()
                # A client that never connected is closed by the collector, in whatever thread it
                # runs; in the thread that the next client starts that would wait for itself.
                gc.collect()
                address = os.environ.get("AUDIT_SCHEDULER", "")
                self._client = self._connect_to(address) if address else self._start_cluster()
                workers = self._client.scheduler_info(n_workers=-1)["workers"].values()
                self._gpus = sum(GPU in worker.get("resources", {}) for worker in workers)
            assert self._client is not None
            return self._client

    def _start_cluster(self) -> Client:
        """An embedded cluster and its client; one that dies at its start is started again."""
        from distributed import Client

        for wait_s in (*START_WAITS_S, None):
            try:
                self._cluster = EmbeddedCluster(self._home)
                return Client(
                    self._cluster.address,
                    security=self._cluster.make_security(),
                    set_as_default=False,
                    timeout=CONNECT_S,
                )
            except (RuntimeError, OSError) as error:
                if self._cluster is not None:
                    self._cluster.close()
                    self._cluster = None
                if wait_s is None:
                    raise
                log.warning("%s; starting it again", error)
                time.sleep(wait_s)
        raise AssertionError("the last attempt returns or raises")

    def _connect_to(self, address: str) -> Client:
        """A scheduler that somebody started by `python -m core scheduler`."""
        from distributed import Client

        files = (os.environ.get(f"AUDIT_TLS_{name}", "") for name in ("CA", "CERT", "KEY"))
        security = make_security(*files)
        try:
            client = Client(address, security=security, set_as_default=False, timeout=CONNECT_S)
        except (OSError, ValueError, TypeError) as error:
            reason = str(error).splitlines()[0]
            what = "AUDIT_SCHEDULER"
            raise UnreachableError(what, "must be reachable", address, reason) from None
        try:
            client.sync(check_scheduler, client, address)
        except InputError:
            client.close(timeout=2)
            raise
        return client

    @property
    def is_alive(self) -> bool:
        with self._lock:
            return self._is_alive()

    def submit(
        self,
        function: Callable[..., Any],
        *args: Any,
        key: str,
        uses_gpu: bool = False,
        priority: int = 0,
    ) -> Future[Any]:
        """Run on a worker; on one with a GPU where that helps and there is one."""
        client = self.connect()
        resources = {GPU: 1} if uses_gpu and self._gpus else None
        return client.submit(
            function, *args, key=key, pure=False, priority=priority, resources=resources
        )

    def find_device_title(self) -> str:
        """What computes, for people; torch is not imported in this process."""
        if self._device_title is None:
            if not os.environ.get("AUDIT_SCHEDULER") and not count_gpus():
                self._device_title = cpu_device().title
            else:
                future = self.submit(_find_title, key="device-title", uses_gpu=True, priority=99)
                title = future.result(timeout=60)
                self._device_title = f"{self._gpus} × {title}" if self._gpus > 1 else title
        return self._device_title

    def restart_workers(self, futures: list[Future[Any]]) -> None:
        """Kill the workers that compute these futures: the last resort of a cancel."""
        client = self.connect()
        keys = {future.key for future in futures}
        busy = [address for address, tasks in client.processing().items() if keys & set(tasks)]
        if busy:
            client.restart_workers(busy, timeout=20)

    def close(self) -> None:
        """Disconnect, and stop the cluster if it is this engine's own."""
        with self._lock:
            self._disconnect()

    def _is_alive(self) -> bool:
        if self._client is None or self._client.status != "running":
            return False
        return self._cluster is None or self._cluster.is_alive

    def _disconnect(self) -> None:
        if self._client is not None:
            try:
                self._client.close(timeout=2)
            except Exception as error:  # whatever broke the connection is raised here again
                log.info("closing the connection: %s", error)
        if self._cluster is not None:
            self._cluster.close()
        self._client = self._cluster = None


def _find_title() -> str:
    return find_device().title
