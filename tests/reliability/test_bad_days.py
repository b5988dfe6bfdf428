"""Five days of each kind; the nightly form is `python -m tests.reliability.bad_days`."""

from __future__ import annotations

import shutil
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from core.audit.store import files
from tests.reliability import bad_days
from tests.reliability.bad_days import Recording
from tests.reliability.disk import Disk, trace

needs_strace = pytest.mark.skipif(not shutil.which("strace"), reason="strace is not installed")


@pytest.fixture(scope="module")
def recording(tmp_path_factory) -> Recording:
    return bad_days.record_calls(tmp_path_factory.mktemp("recorded"))


@pytest.mark.slow
@needs_strace
def test_bad_days_lose_nothing(recording) -> None:
    totals, problems = bad_days.try_days(3, seed=1, recording=recording)
    assert problems == []
    assert list(totals) == list(bad_days.KINDS)
    assert all(total == Counter(tried=3, survived=3, lost=0) for total in totals.values())


def test_a_far_folder_loses_nothing() -> None:
    """Quick, and needs no strace: stale handles and lost answers are made here."""
    totals, problems = bad_days.try_days(5, seed=2, only="far folder")
    assert problems == []
    assert totals["far folder"]["survived"] == 5


@pytest.mark.slow
@needs_strace
def test_losses_are_seen(recording) -> None:
    """Arrays that are not synced before their row says so are lost in some of five power cuts."""
    unsafe = [e for e in recording.events if not (e[0] == "sync" and e[1].endswith(files.ARRAYS))]
    assert len(unsafe) < len(recording.events)
    careless = replace(recording, events=unsafe)
    totals, problems = bad_days.try_days(5, seed=0, only="power cut", recording=careless)
    assert totals["power cut"]["lost"] > 0
    assert problems


SCRIPT = """
import os, sys
home = sys.argv[1]
with open(home + "/kept", "wb") as file:
    file.write(b"k" * 1024)
    file.flush()
    os.fsync(file.fileno())
    file.seek(512)
    file.write(b"x" * 512)
with open(home + "/lost", "wb") as file:
    file.write(b"l" * 1024)
os.mkdir(home + "/folder")
os.rename(home + "/kept", home + "/folder/moved")
os.fsync(os.open(home + "/folder", os.O_RDONLY))
folder = os.open(home, os.O_RDONLY)
os.fsync(folder)
with open(home + ".said", "wb", 0) as file:
    file.write(b"said")
os.unlink(home + "/lost")
"""


@needs_strace
def test_a_cut_keeps_what_was_synced_and_no_more(tmp_path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    command = ["python3", "-c", SCRIPT, str(home)]
    events = trace(command, home, tmp_path / "log")
    said = next(number for number, event in enumerate(events) if event[0] == "said")
    assert events[said] == ("said", b"said")
    disk = Disk()
    for event in events:
        disk.apply(event)
    disk.write_all(home, tmp_path / "killed")
    assert list_files(tmp_path / "killed") == {"folder/moved": b"k" * 512 + b"x" * 512}
    seen = set()
    for number in range(40):
        cut = tmp_path / f"cut{number}"
        cut.mkdir()
        disk.write_survivors(home, cut, np.random.default_rng(number))
        found = list_files(cut)
        moved = found.pop("folder/moved")
        assert moved[:512] == b"k" * 512
        assert moved[512:] in (b"k" * 512, b"x" * 512)
        lost = found.pop("lost", None)  # its deletion was not synced
        assert lost is None or set(lost) <= set(b"l\0")
        assert not found
        seen.add((moved, lost))
    assert len(seen) > 4


def list_files(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }
