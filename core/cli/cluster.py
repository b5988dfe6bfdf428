"""`scheduler` and `worker ADDRESS`: a cluster of several machines."""

from __future__ import annotations

import argparse
import asyncio
import os
import tempfile
from pathlib import Path
from typing import Any

from core.cli.terminal import say
from core.errors import InputError


def add_scheduler(scheduler: argparse.ArgumentParser) -> None:
    """Options of `scheduler`."""
    scheduler.add_argument("--host", default="127.0.0.1", help="address to listen on (127.0.0.1)")
    scheduler.add_argument("--port", type=int, default=8786, help="port, 0 for any (8786)")
    _add_tls(scheduler)
    scheduler.set_defaults(run=run_scheduler)


def add_worker(worker: argparse.ArgumentParser) -> None:
    """Options of `worker`."""
    worker.add_argument("address", metavar="ADDRESS", help="tcp://HOST:PORT or tls://HOST:PORT")
    worker.add_argument("--host", default="127.0.0.1", help="address to listen on (127.0.0.1)")
    worker.add_argument("--memory", default="0", metavar="SIZE", help="limit, such as 8GiB (none)")
    worker.add_argument("--gpu", type=int, metavar="N", help="compute on this CUDA device")
    _add_tls(worker)
    worker.set_defaults(run=run_worker)


def _add_tls(parser: argparse.ArgumentParser) -> None:
    for name, what in (("ca", "authority"), ("cert", "certificate"), ("key", "private key")):
        usual = os.environ.get(f"AUDIT_TLS_{name.upper()}") or None
        about = f"TLS: the {what} (AUDIT_TLS_{name.upper()})"
        parser.add_argument(f"--tls-{name}", type=Path, metavar="FILE", default=usual, help=about)


def run_scheduler(options: argparse.Namespace) -> int:
    """Serve until interrupted."""
    from core.audit.jobs.cluster import run_until_closed

    security = _make_security(options)

    async def serve() -> None:
        from core.audit.jobs.nodes import Scheduler

        async with Scheduler(
            host=options.host,
            port=options.port,
            protocol="tls" if security else "tcp",
            security=security,
            dashboard=False,
        ) as scheduler:
            say(f"scheduler at {scheduler.address}")
            await scheduler.finished()

    asyncio.run(run_until_closed(serve()))
    return 0


def run_worker(options: argparse.Namespace) -> int:
    """Compute until interrupted; wait for a scheduler that disappears."""
    from dask.utils import parse_bytes

    from core.audit.jobs.cluster import GPU, make_worker_env, run_until_closed

    security = _make_security(options)
    try:
        memory = parse_bytes(options.memory)
    except ValueError:
        raise InputError("--memory", "must be a size such as 8GiB", options.memory) from None
    scheme = options.address.partition("://")[0]
    if scheme not in ("tcp", "tls") or (scheme == "tls") != (security is not None):
        rule = "must be tcp://HOST:PORT, or tls://HOST:PORT with the three --tls files"
        raise InputError("scheduler's address", rule, options.address)

    async def serve(folder: str) -> None:
        from distributed import Nanny

        from core.audit.jobs.nodes import Worker

        while True:
            await _check_version(options.address, security)
            async with Nanny(
                options.address,
                nthreads=1,
                host=options.host,
                memory_limit=memory,
                resources={} if options.gpu is None else {GPU: 1},
                env=make_worker_env(options.gpu),
                worker_class=Worker,
                security=security,
                local_directory=folder,
            ) as nanny:
                say(f"worker at {nanny.worker_address}")
                await nanny.finished()
            say("the scheduler went away; waiting for it")

    with tempfile.TemporaryDirectory(prefix="audit-worker-") as folder:
        asyncio.run(run_until_closed(serve(folder)))
    return 0


async def _check_version(address: str, security: Any) -> None:
    """Wait for the scheduler; raises InputError for another version."""
    from distributed import Client

    from core.audit.jobs.engine import check_scheduler

    while True:
        try:
            client = await Client(address, security=security, asynchronous=True, timeout="5s")
            break
        except (OSError, TimeoutError):
            await asyncio.sleep(1)
    try:
        await check_scheduler(client, address)
    finally:
        await client.close()


def _make_security(options: argparse.Namespace) -> Any:
    from core.audit.jobs.engine import make_security

    return make_security(*(str(getattr(options, f"tls_{n}") or "") for n in ("ca", "cert", "key")))
