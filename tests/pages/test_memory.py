"""Garbage is not looked for among what modules brought along."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import time
import types
from pathlib import Path

import pytest
from streamlit import config
from streamlit.testing.v1 import AppTest

from pages.ui import memory

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def _thaw():
    yield
    gc.unfreeze()


def test_modules_are_exempt_once(monkeypatch):
    monkeypatch.setattr(memory, "_num_modules", 0)
    before = time.thread_time()
    gc.collect()
    whole = time.thread_time() - before
    memory.exempt_modules()
    frozen = gc.get_freeze_count()
    assert frozen > 10_000
    before = time.thread_time()
    gc.collect()
    assert time.thread_time() - before < whole / 2
    kept = [[] for _ in range(1000)]
    memory.exempt_modules()
    assert gc.get_freeze_count() <= frozen  # nothing is new but data
    monkeypatch.setitem(sys.modules, "another", types.ModuleType("another"))
    memory.exempt_modules()
    assert gc.get_freeze_count() >= frozen + len(kept)


def test_garbage_is_still_found(monkeypatch):
    monkeypatch.setattr(memory, "_num_modules", 0)
    memory.exempt_modules()
    ring: list[object] = []
    ring.append(ring)
    del ring
    assert gc.collect() >= 1


def test_the_server_asks_for_no_huge_pages_and_its_workers_may(tmp_path):
    code = (
        "import app, os, sys\n"
        "assert 'numpy' not in sys.modules\n"
        "app.preparation.start()\n"
        "app.preparation.end()\n"
        "import numpy\n"
        "told = numpy._core.multiarray._get_madvise_hugepage()\n"
        "print(told, 'NUMPY_MADVISE_HUGEPAGE' in os.environ)"
    )
    env = {**os.environ, "AUDIT_HOME": str(tmp_path / "home")}
    command = [sys.executable, "-c", code]
    told = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True)
    assert told.stdout.split() == ["False", "False"]


def test_garbage_is_collected_once_in_a_while(monkeypatch):
    """A page after the other: the second one waits for no collection, one after a pause does."""
    clock, done = [100.0], []

    def collect():
        done.append(clock[0])
        clock[0] += 0.01

    monkeypatch.setattr(memory, "_due", 0.0)
    monkeypatch.setattr(memory.time, "perf_counter", lambda: clock[0])
    monkeypatch.setattr(memory.gc, "collect", collect)
    memory.collect_garbage()
    memory.collect_garbage()
    clock[0] += memory.PAUSE * 0.01 / 2
    memory.collect_garbage()
    assert done == [100.0]
    clock[0] += memory.PAUSE * 0.01
    memory.collect_garbage()
    assert len(done) == 2


def test_streamlit_collects_none_itself_and_every_page_asks_for_it(monkeypatch):
    assert config.get_option("runner.postScriptGC") is False
    asked = []
    monkeypatch.setattr(memory, "collect_garbage", lambda: asked.append(1))
    app = AppTest.from_file(ROOT / "pages" / "ui" / "app_shell.py", default_timeout=60).run()
    assert not app.exception
    assert len(asked) == 1
    app.switch_page("../risk.py").run()  # stops, since no graph is open
    assert len(asked) == 2
