"""Connection to the computing cluster, embedded or remote.

All machines of a cluster run the same code, with mutual TLS if configured.
"""

from __future__ import annotations

import gc
import hashlib
import logging
import os
import platform
import threading
import time
from collections.abc import Callable, Sequence
from functools import lru_cache
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.audit.jobs.cluster import GPU, EmbeddedCluster, find_gpu_memory
from core.device import cpu_device, find_device
from core.errors import AuditError, InputError

if TYPE_CHECKING:
    from distributed import Client, Future
    from distributed.security import Security


log = logging.getLogger(__name__)

CONNECT_S = 20
"""Seconds a scheduler may take to answer."""

START_WAITS_S = (0.5, 1.0, 2.0)
"""Seconds to wait before each retry to start the embedded cluster."""


class UnreachableError(InputError):
    """The scheduler at AUDIT_SCHEDULER does not answer."""


def is_embedded() -> bool:
    """Whether the cluster is embedded, that is AUDIT_SCHEDULER is unset."""
    return not os.environ.get("AUDIT_SCHEDULER")


class Engine:
    """Starts the embedded cluster on first use and restarts it if it died; thread-safe."""

    def __init__(self, home: Path, cluster: EmbeddedCluster | None = None) -> None:
        """cluster: an embedded cluster that is starting already."""
        self._home = home
        self._lock = threading.Lock()
        self._starting = cluster
        self._cluster: EmbeddedCluster | None = None
        self._ending: threading.Thread | None = None
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
                self._client = (
                    self._start_cluster()
                    if is_embedded()
                    else self._connect_to(os.environ["AUDIT_SCHEDULER"])
                )
                workers = self._client.scheduler_info(n_workers=-1)["workers"].values()
                self._gpus = sum(GPU in worker.get("resources", {}) for worker in workers)
            assert self._client is not None
            return self._client

    def connect_early(self) -> threading.Thread:
        """Connect in a background thread, which ends on success or failure."""
        thread = threading.Thread(target=self._try_to_connect, daemon=True)
        thread.start()
        return thread

    def _try_to_connect(self) -> None:
        try:
            self.connect()
        except (AuditError, OSError, RuntimeError) as error:  # who needs the cluster tells people
            log.warning("the cluster did not start: %s", error)

    def _start_cluster(self) -> Client:
        """Start the embedded cluster and its client, with retries."""
        from distributed import Client

        for wait_s in (*START_WAITS_S, None):
            try:
                self._cluster = self._starting or EmbeddedCluster(self._home)
                self._starting = None
                self._cluster.wait_until_ready()
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
        """Connect to a scheduler started by `python -m core scheduler`."""
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
        after: Sequence[Future[Any]] = (),
        uses_gpu: bool = False,
        priority: int = 0,
    ) -> Future[Any]:
        """Run on a worker, preferably with a GPU if the function uses one.

        after  computed before, preferably on the same worker
        """
        client = self.connect()  # before the imports: another thread may be importing the same
        from distributed.protocol import pickle

        from core.audit.jobs.nodes import call

        payload = pickle.dumps((function, args))
        resources = {GPU: 1} if uses_gpu and self._gpus else None
        return client.submit(
            call, payload, list(after), key=key, pure=False, priority=priority, resources=resources
        )

    def find_device_title(self) -> str:
        """Display name of the device, without importing torch here."""
        if self._device_title is None:
            number = len(find_gpu_memory()) if is_embedded() else self._gpus
            if is_embedded() and not number:
                self._device_title = cpu_device().title
            else:
                future = self.submit(_find_title, key="device-title", uses_gpu=True, priority=99)
                title = future.result(timeout=60)
                self._device_title = f"{number} × {title}" if number > 1 else title
        return self._device_title

    def restart_workers(self, futures: list[Future[Any]]) -> None:
        """Kill the workers that compute these futures: last resort of a cancel."""
        client = self.connect()
        keys = {future.key for future in futures}
        busy = [address for address, tasks in client.processing().items() if keys & set(tasks)]
        if busy:
            client.restart_workers(busy, timeout=20)

    def rest(self) -> None:
        """Disconnect, and stop the cluster in the background if it is embedded."""
        with self._lock:
            self._end_client()
            cluster = self._starting or self._cluster
            if cluster is not None:
                self._ending = threading.Thread(target=cluster.close, daemon=True)
                self._ending.start()
            self._starting = self._cluster = None

    def close(self) -> None:
        """Disconnect, and stop the cluster if it is embedded."""
        self.rest()
        if self._ending is not None:
            self._ending.join()

    def _is_alive(self) -> bool:
        if self._client is None or self._client.status != "running":
            return False
        return self._cluster is None or self._cluster.is_alive

    def _disconnect(self) -> None:
        self._end_client()
        if self._cluster is not None:
            self._cluster.close()
        self._cluster = None

    def _end_client(self) -> None:
        if self._client is not None:
            try:
                self._client.close(timeout=2)
            except Exception as error:  # whatever broke the connection is raised here again
                log.info("closing the connection: %s", error)
        self._client = None


def _find_title() -> str:
    return find_device().title


_CORE = Path(__file__).parents[2]


@lru_cache(maxsize=1)
def describe_version() -> str:
    """Versions of Python, Dask and a hash of the code: "3.11, 2026.8.0, 1f3e…"."""
    content = hashlib.sha256()
    for path in sorted(_CORE.rglob("*.py")):
        content.update(path.relative_to(_CORE).as_posix().encode() + path.read_bytes())
    minor = ".".join(platform.python_version_tuple()[:2])
    dask = metadata.version("distributed")
    return f"{minor}, {dask}, {content.hexdigest()[:12]}"


def format_version() -> str:
    """Version of the process that runs this function; pickled by name."""
    return describe_version()


async def check_scheduler(client: Client, address: str) -> None:
    """Raise InputError if the scheduler runs another version; for asynchronous clients."""
    try:
        other = await client.run_on_scheduler(format_version)
    except Exception as error:  # whatever its unpickling raises
        other = f"{type(error).__name__}: {error}"
    compare_versions(other, address)


def compare_versions(other: object, address: str) -> None:
    """Raise InputError if `other` differs from `describe_version`."""
    if other != describe_version():
        raise InputError(
            "cluster",
            f"must run the version {describe_version()} at {address}",
            other,
            "start it by: python -m core scheduler",
        )


def make_security(ca: str, cert: str, key: str) -> Security | None:
    """TLS for all roles from three files; None if unset."""
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
