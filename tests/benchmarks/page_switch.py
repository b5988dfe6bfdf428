"""What opening a page costs the server: `python -m tests.benchmarks.page_switch HOME AUDIT`.

Starts the app on a home that holds a finished audit and opens each page in turn, three times over,
by the protocol of the browser, alone: CPU seconds of the server process a page, and of opening the
audit before. With `--report`
instead: CPU seconds of each edition of the PDF, in a process that holds the audit already.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
import time
from pathlib import Path

import psutil

from tests.reliability.load import PAGES, Session, Tally, run_app

ROUNDS = 3
REST_S = 0.5


async def visit(port: int, audit_id: str, server: psutil.Process) -> None:
    session = Session(port, audit_id)
    before = sum(server.cpu_times()[:2])
    await session.open()
    print(f"opening    {sum(server.cpu_times()[:2]) - before:.2f} CPU s", flush=True)
    for number in range(ROUNDS):
        for page in PAGES:
            tally, before, started = Tally(), sum(server.cpu_times()[:2]), time.monotonic()
            await session.load(page, tally)
            wall = time.monotonic() - started
            await asyncio.sleep(REST_S)  # what the page does after its end counts as well
            cpu = sum(server.cpu_times()[:2]) - before
            print(
                f"{number + 1} {page:10} {cpu:.2f} CPU s, {wall:.2f} s, "
                f"{tally.num_bytes / 1e3:.0f} kB {' '.join(tally.errors)}",
                flush=True,
            )


def measure_reports(home: Path, audit_id: str) -> None:
    from core.audit.service import AuditService
    from core.report import ReportOptions, write_report

    service = AuditService(home)
    try:
        view = service.get_view(audit_id)
        with tempfile.TemporaryDirectory() as folder:
            for edition in ("internal", "internal", "external", "summary"):
                started = time.process_time()
                write_report(view, Path(folder) / "r.pdf", ReportOptions(edition=edition))
                print(f"{edition}: {time.process_time() - started:.2f} CPU s", flush=True)
    finally:
        service.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("home", type=Path)
    parser.add_argument("audit")
    parser.add_argument("--report", action="store_true", help="the PDFs instead of the pages")
    options = parser.parse_args()
    if options.report:
        measure_reports(options.home, options.audit)
        return
    with run_app(options.home) as (port, server):
        asyncio.run(visit(port, options.audit, server))


if __name__ == "__main__":
    main()
