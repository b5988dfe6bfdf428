"""The embedded cluster in a separate process: `python -m core.audit.jobs.cluster`.

Prints its address with the credentials of this run and works until its standard input closes, so
that it ends with its parent even if that is killed. The protocol executes arbitrary code: it
listens on loopback only and requires the credentials. `AUDIT_SCHEDULER=tls://…` selects another
cluster (core.cli.cluster).
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import json
import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Coroutine
from multiprocessing import forkserver
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.errors import InputError
from core.home import open_private

if TYPE_CHECKING:
    from distributed.security import Security

READY = "cluster at "
"""Prefix of the line with the address."""

NICENESS = 10
"""Niceness of the embedded cluster, below the pages."""

GPU = "GPU"
"""Dask resource of GPU workers: one cell at a time in each."""

GPU_WORKER_BYTES = 8 * 2**30
"""Memory of a device for each worker on it: PPGSL takes 2.6 GB on 500,000 nodes."""

QUIET = {
    "DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED": "False",
    "DASK_DISTRIBUTED__SCHEDULER__HTTP__ROUTES": "[]",
    "DASK_DISTRIBUTED__WORKER__HTTP__ROUTES": "[]",
    "DASK_DISTRIBUTED__ADMIN__TICK__INTERVAL": "500ms",
    "DASK_DISTRIBUTED__ADMIN__SYSTEM_MONITOR__INTERVAL": "5s",
}
"""Environment that disables Dask's HTTP pages and frequent self-monitoring."""

ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1"
)
"""Environment of a worker: single-threaded, with the same order of summation everywhere."""

KEPT_MEMORY = {"MALLOC_MMAP_THRESHOLD_": str(2**26), "MALLOC_TRIM_THRESHOLD_": str(2**28)}
"""Environment of the process that workers are forked from: glibc reuses the memory of large arrays.
Returned to the system after each training step, it is cleared page by page again: a sixth of
H2GCN's time on Cora."""

FORKED = "forkserver"
PRELOAD = "core.audit.jobs.preload"
"""Module that imports the following ones."""
PRELOADED = [
    *("core.audit.jobs.cells", "core.algorithms.kernels", "distributed"),
    *("sklearn.ensemble", "sklearn.linear_model"),
]
"""Modules imported once by the process that workers are forked from, what attacks import late
included."""
PRELOADED_WITHOUT_GPU = ["core.models.gae"]
"""What usefulness needs. Torch may initialise CUDA, which forked processes cannot use."""

_ROOT = Path(__file__).resolve().parents[3]


class EmbeddedCluster:
    """Parent's handle of the child process that runs the cluster; `wait_until_ready` follows."""

    address = ""
    """Address of the scheduler; empty until the cluster is ready."""

    def __init__(self, home: Path) -> None:
        """Start the process and return at once; raises InputError for an invalid setting."""
        count_workers()
        path = os.pathsep.join(filter(None, [str(_ROOT), os.environ.get("PYTHONPATH", "")]))
        environment = {**QUIET, **os.environ, "PYTHONPATH": path}
        log = open_private(home / "cluster.log", "ab")
        self._process = subprocess.Popen(
            [sys.executable, "-m", "core.audit.jobs.cluster"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            env=environment,
            cwd=home,
            text=True,
            start_new_session=True,  # Ctrl-C goes to the parent, which says what is to stop
        )
        log.close()
        self._credentials: dict[str, str] = {}

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    def make_security(self) -> Security:
        """Credentials of a client."""
        from distributed.security import Security

        return Security(require_encryption=True, **self._credentials)

    def close(self) -> None:
        """End the cluster and wait for it; unfinished cells are recomputed later."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        if not self.address and self.is_alive:  # it does not read its input yet
            self._kill()
        try:
            self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()

    def wait_until_ready(self) -> None:
        """Wait for the address and credentials; raises RuntimeError if the process ended."""
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.startswith(READY):
                self.address, _, credentials = line.removeprefix(READY).partition(" ")
                self._credentials = json.loads(credentials)
                return
        self.close()
        raise RuntimeError("the computing cluster did not start; see cluster.log in AUDIT_HOME")

    def _kill(self) -> None:
        """Kill the process and, where there are process groups, those that it started."""
        if hasattr(os, "killpg"):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
        self._process.kill()


def main() -> None:
    """Run until standard input closes."""
    os.umask(0o077)
    if hasattr(os, "nice"):
        os.nice(NICENESS)
    os.environ.update(ONE_THREAD | KEPT_MEMORY)
    gc.set_threshold(100_000)  # imports make many objects and hardly any garbage
    if FORKED in multiprocessing.get_all_start_methods():
        os.environ["DASK_DISTRIBUTED__WORKER__MULTIPROCESSING_METHOD"] = FORKED
        forkserver.set_forkserver_preload([PRELOAD])
        forkserver.ensure_running()  # imports while this process imports Dask
    asyncio.run(_serve())


async def _serve() -> None:
    from distributed import Nanny, SpecCluster
    from distributed.security import Security

    from core.audit.jobs.nodes import Scheduler, Worker

    security = Security.temporary()
    common: dict[str, Any] = {
        "protocol": "tls",
        "security": security,
        "host": "127.0.0.1",
        "nthreads": 1,
        "memory_limit": 0,
        "silence_logs": 40,
        "worker_class": Worker,
    }
    specs: dict[str, dict[str, Any]] = {
        f"cpu-{number}": {"cls": Nanny, "options": {**common, "env": make_worker_env(None)}}
        for number in range(count_workers())
    }
    places = place_gpu_workers(find_gpu_memory())
    for number, device in enumerate(places):
        env = make_worker_env(device, is_shared=places.count(device) > 1)
        options = {**common, "env": env, "resources": {GPU: 1}}
        specs[f"gpu-{number}"] = {"cls": Nanny, "options": options}
    scheduler = {
        "cls": Scheduler,
        "options": {
            "host": "127.0.0.1",
            "port": 0,
            "dashboard": False,
            "protocol": "tls",
            "security": security,
        },
    }
    async with SpecCluster(
        workers=specs, scheduler=scheduler, asynchronous=True, silence_logs=40, security=security
    ) as cluster:
        names = ("tls_ca_file", "tls_client_cert", "tls_client_key")
        credentials = json.dumps({name: getattr(security, name) for name in names})
        print(f"{READY}{cluster.scheduler_address} {credentials}", flush=True)  # noqa: T201
        closed = asyncio.Event()
        loop = asyncio.get_running_loop()
        threading.Thread(target=_wait_for_end, args=(loop, closed), daemon=True).start()
        await closed.wait()
        asyncio.get_running_loop().call_later(1, os._exit, 0)  # a busy worker may not hold it up


def count_workers() -> int:
    """One worker per core, or AUDIT_WORKERS."""
    given = os.environ.get("AUDIT_WORKERS") or str(os.cpu_count() or 1)
    if not given.isdecimal() or int(given) < 1:
        raise InputError("AUDIT_WORKERS", "must be a number of processes above 0", given)
    return int(given)


def list_preloaded() -> list[str]:
    """Names of the modules that are imported before workers are forked."""
    return PRELOADED if may_have_gpus() else [*PRELOADED, *PRELOADED_WITHOUT_GPU]


def may_have_gpus() -> bool:
    """Whether a driver with accessible devices is present."""
    is_wanted = os.environ.get("AUDIT_DEVICE", "").lower() != "cpu"
    return is_wanted and shutil.which("nvidia-smi") is not None


def find_gpu_memory() -> list[int]:
    """Bytes of each CUDA device, queried by torch in a separate process if there is a driver."""
    if not may_have_gpus():
        return []
    code = (
        "import torch\n"
        "for number in range(torch.cuda.device_count()):\n"
        "    print(torch.cuda.get_device_properties(number).total_memory)"
    )
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    return [int(line) for line in answer.stdout.split()] if answer.returncode == 0 else []


def place_gpu_workers(memory: list[int]) -> list[int]:
    """The device of each GPU worker, the devices in turn.

    A cell seldom fills a device: as many share one as `GPU_WORKER_BYTES` fit its memory, on half of
    the cores together, and at least one.

    memory  bytes of each device
    """
    most = max((os.cpu_count() or 1) // 2 // max(len(memory), 1), 1)
    counts = [min(max(size // GPU_WORKER_BYTES, 1), most) for size in memory]
    rounds = range(max(counts, default=0))
    return [device for turn in rounds for device, count in enumerate(counts) if turn < count]


def make_worker_env(device: int | None, is_shared: bool = False) -> dict[str, str]:
    """Differences to the parent's environment; workers that share a device keep to half of their
    part of its memory, for what they take beside their batches."""
    env = {**QUIET, **ONE_THREAD}
    if device is None:
        return {**env, "AUDIT_DEVICE": "cpu"}
    if is_shared and "AUDIT_MEMORY_MB" not in os.environ:
        env["AUDIT_MEMORY_MB"] = str(GPU_WORKER_BYTES // 2**21)
    visible = os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",")
    name = visible[device] if len(visible) > device and visible[device] else str(device)
    return {**env, "CUDA_VISIBLE_DEVICES": name}


async def run_until_closed(serving: Coroutine[Any, Any, None]) -> None:
    """Serve until the server ends or a signal arrives."""
    task = asyncio.ensure_future(serving)
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, task.cancel)
    with contextlib.suppress(asyncio.CancelledError):
        await task


def _wait_for_end(loop: asyncio.AbstractEventLoop, closed: asyncio.Event) -> None:
    sys.stdin.read()
    loop.call_soon_threadsafe(closed.set)


if __name__ == "__main__":
    main()
