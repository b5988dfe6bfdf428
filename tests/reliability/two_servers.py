"""Two servers of the app on one home behind the proxy of assets/deploy, and several browsers.

    python -m tests.reliability.two_servers [--browsers 6]

Each browser takes the cookie that the proxy gives it and opens pages of one finished audit; then
one server is killed, and those who were on it open them again. Prints who was on which server, how
many pages were opened, and how many errors they met. Needs `caddy`.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import shutil
import sys
import tempfile
import time
from collections import Counter
from contextlib import ExitStack
from pathlib import Path

from tests.deploy.test_deploy import ask, find_free_port, run_caddy
from tests.reliability.load import FINISHED, PAGES, Session, Tally, run_app, run_audit

RETRY_S = 60.0


def wait_for_proxy(port: int, is_wanted: int) -> None:
    """Until so many servers answer: the proxy looks every five seconds."""
    end = time.monotonic() + RETRY_S
    while time.monotonic() < end:
        try:
            if len({cookie for _, _, cookie in (ask(port) for _ in range(8))}) == is_wanted:
                return
        except OSError:
            pass
        time.sleep(0.5)
    raise TimeoutError(f"{is_wanted} servers behind the proxy")


async def visit(port: int, audit_id: str, cookie: str, tally: Tally) -> None:
    session = Session(port, audit_id, cookie)
    try:
        await session.open()
        for page in PAGES:
            await session.load(page, tally)
        session.close()
    except (OSError, TimeoutError) as error:
        tally.errors.append(repr(error))


def visit_all(port: int, audit_id: str, cookies: list[str]) -> Tally:
    tally = Tally()

    async def run() -> None:
        await asyncio.gather(*(visit(port, audit_id, cookie, tally) for cookie in cookies))

    asyncio.run(run())
    return tally


def count(tally: Tally) -> str:
    return f"{sum(map(len, tally.seconds.values()))} pages, {len(tally.errors)} errors"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--browsers", type=int, default=6)
    options = parser.parse_args()
    os.umask(0o077)
    home = Path(tempfile.mkdtemp(prefix="audit-two-"))
    port = find_free_port()
    os.environ["STREAMLIT_BROWSER_SERVER_PORT"] = str(port)
    try:
        audit_id = run_audit(home, FINISHED)
        with ExitStack() as stack:
            servers = [stack.enter_context(run_app(home)) for _ in range(2)]
            stack.enter_context(run_caddy(home, [number for number, _ in servers], port))
            wait_for_proxy(port, 2)
            cookies = [ask(port)[2] for _ in range(options.browsers)]
            shares = sorted(Counter(cookies).values())
            before = visit_all(port, audit_id, cookies)
            print(f"two servers, browsers {shares}: {count(before)}", flush=True)
            servers[0][1].kill()
            wait_for_proxy(port, 1)
            after = visit_all(port, audit_id, cookies)
            print(f"one of them killed: {count(after)}", flush=True)
        for error in sorted(set(before.errors + after.errors))[:10]:
            print(error)
        return bool(before.errors or after.errors)
    finally:
        shutil.rmtree(home, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
