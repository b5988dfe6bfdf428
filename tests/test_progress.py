"""Progress: told in parts, told rarely enough, and where a run is cancelled."""

from __future__ import annotations

import pytest

import core.progress
from core.errors import RunCancelled
from core.progress import FlaggedProgress, PartProgress, Progress
from tests.oracles.progress import RecordingProgress


@pytest.fixture
def clock(monkeypatch):
    """The time as `clock[0]`, in seconds."""
    now = [100.0]
    monkeypatch.setattr(core.progress.time, "monotonic", lambda: now[0])
    return now


class Watched(FlaggedProgress):
    def __init__(self, flag):
        super().__init__(flag)
        self.reports = []

    def report(self, share, message):
        self.reports.append((share, message))


def test_parts_add_up_to_the_whole():
    whole = RecordingProgress()
    for index in range(2):
        part = PartProgress(whole, index, 2)
        part.update(1, 4, "x")
        part.update(4, 4)
    assert [done for done, _, _ in whole.updates] == [0.25, 1.0, 1.25, 2.0]
    assert {total for _, total, _ in whole.updates} == {2}


def test_a_part_asks_the_whole_whether_to_stop():
    part = PartProgress(RecordingProgress(lambda: True), 0, 1)
    with pytest.raises(RunCancelled):
        part.check()


def test_curves_grow_point_by_point():
    progress = RecordingProgress()
    for step, loss in enumerate((3, 2)):
        progress.record("loss", step, loss)
    assert progress.curves == {"loss": [(0.0, 3.0), (1.0, 2.0)]}


def test_reports_are_rare_and_their_share_lies_between_nothing_and_all(tmp_path, clock):
    progress = Watched(tmp_path / "cancel")
    for done in range(11):
        progress.update(done, 10, f"step {done}")
        clock[0] += FlaggedProgress.REPORT_EVERY_S / 4  # exact in binary
    assert progress.reports == [(0.0, "step 0"), (0.4, "step 4"), (0.8, "step 8")]
    clock[0] += 1
    progress.update(20, 10)
    clock[0] += 1
    progress.update(1, 0)
    assert [share for share, _ in progress.reports[3:]] == [1.0, 0.0]


def test_a_flag_cancels_when_it_is_next_looked_for(tmp_path, clock):
    flag = tmp_path / "cancel"
    progress = Watched(flag)
    progress.check()
    flag.touch()
    progress.check()  # looked for a moment ago
    clock[0] += 2 * FlaggedProgress.CHECK_EVERY_S
    with pytest.raises(RunCancelled):
        progress.update(1, 2)


def test_nobody_watching_is_no_reason_to_stop():
    progress = Progress()
    progress.update(1, 2, "x")
    progress.record("loss", 1, 2)


def test_who_watches_must_say_how(tmp_path):
    with pytest.raises(NotImplementedError):
        FlaggedProgress(tmp_path / "cancel").update(1, 2)
