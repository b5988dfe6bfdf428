"""What opening a page costs the server: `python -m tests.benchmarks.page_switch HOME AUDIT`.

Starts the app on a home that holds a finished audit and opens each page in turn, three times over,
by the protocol of the browser, alone: CPU seconds of the server process a page, and before, of its
start and of opening the audit. Pages whose first visit misses the goal are opened once more under
a sampling profile. With `--report` instead: CPU seconds of each edition of the PDF, in a process
that holds the audit already.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path

import psutil

from tests.benchmarks.finite import print_finite
from tests.reliability.load import PAGES, Session, Tally, run_app

ROOT = Path(__file__).parents[2]
ROUNDS = 3
REST_S = 0.5
SAMPLE_S = 0.005


async def visit(port: int, audit_id: str, server: psutil.Process, goal_s: float) -> list[str]:
    """Print what each page costs; returns the pages that miss the goal."""
    missed = []
    print(f"start      {await _wait_for_rest(server):.2f} CPU s", flush=True)
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
            goal = ""
            if number == 0:
                goal = f"goal {goal_s:g} CPU s {'missed' if cpu > goal_s else 'met'} "
                missed += [page] * (cpu > goal_s)
            print(
                f"{number + 1} {page:10} {cpu:.2f} CPU s, {wall:.2f} s, "
                f"{tally.num_bytes / 1e3:.0f} kB {goal}{' '.join(tally.errors)}",
                flush=True,
            )
    return missed


async def _wait_for_rest(server: psutil.Process) -> float:
    """CPU seconds of the server's start. It answers before it has imported all that it needs, which
    would otherwise count as opening the audit."""
    used = 0.0
    while (now := sum(server.cpu_times()[:2])) > used:
        used = now
        await asyncio.sleep(REST_S)
    return used


def profile_page(home: Path, audit_id: str, page: str) -> None:
    """Open a page in this process and print its longest functions of `core` and `pages`."""
    from streamlit.testing.v1 import AppTest

    from core.audit.service import AuditService
    from pages.ui import service

    service.use_service(AuditService(home))
    app = AppTest.from_file(ROOT / "pages" / "ui" / "app_shell.py", default_timeout=600)
    app.query_params["audit"] = audit_id
    app.run()
    found, is_over = Counter[str](), threading.Event()
    sampler = threading.Thread(target=_sample, args=(found, is_over))
    sampler.start()
    app.switch_page(f"../{page}.py").run()
    is_over.set()
    sampler.join()
    service.close_service()
    looks = found.pop("", 0)
    print(f"{page}: share of {looks:,} looks at which a function, or what it called, was running")
    for name, count in found.most_common(20):
        print(f"{count / looks:7.1%}  {name}")


def _sample(found: Counter[str], is_over: threading.Event) -> None:
    """Count the looks, under "", and for each function of this project those at which it is on the
    stack of another thread."""
    own = threading.get_ident()
    while not is_over.wait(SAMPLE_S):
        names = {""}
        for thread, frame in sys._current_frames().items():
            while frame is not None and thread != own:
                path = Path(frame.f_code.co_filename)
                if path.is_relative_to(ROOT / "core") or path.is_relative_to(ROOT / "pages"):
                    names.add(f"{path.relative_to(ROOT)}:{frame.f_code.co_name}")
                frame = frame.f_back
        found.update(names)


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
    parser.add_argument("--goal", type=float, default=2.0, help="CPU s of a page's first visit")
    options = parser.parse_args()
    if options.report:
        measure_reports(options.home, options.audit)
        return
    with run_app(options.home) as (port, server):
        missed = asyncio.run(visit(port, options.audit, server, options.goal))
    for page in missed:
        profile_page(options.home, options.audit, page)


if __name__ == "__main__":
    print_finite(main)
