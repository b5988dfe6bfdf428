"""Sixty damaged files a run; the nightly form is `python -m tests.reliability.fuzz_files`."""

from __future__ import annotations

import os
import signal

import pytest

from tests.reliability import fuzz_files


@pytest.mark.skipif(not hasattr(os, "fork"), reason="files are read in forked processes")
def test_damaged_files_are_refused_or_read_right() -> None:
    kinds, failures, peak = fuzz_files.fuzz(60, seed=1)
    assert failures == []
    assert kinds["refused"] > 20
    assert kinds["loaded"] > 2
    assert peak < 2048


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="files are read in forked processes")
def test_files_that_once_did_harm_are_refused_within_the_limits() -> None:
    kinds, failures, peak = fuzz_files.try_classes()
    assert failures == []
    assert kinds["refused"] > 60
    assert peak < 2048


def test_failures_are_seen(tmp_path) -> None:
    """The net has no hole: a crash, an error of two lines, a wrong graph and a hog are caught."""

    def crash() -> str:
        os.kill(os.getpid(), signal.SIGKILL)
        return ""

    def wrong() -> str:
        raise KeyError("internal")

    def hog() -> str:
        return str(len(bytearray(4 << 30)))

    assert fuzz_files.run_guarded(crash).kind == "killed"
    assert fuzz_files.run_guarded(wrong).kind == "unforeseen"
    assert fuzz_files.run_guarded(hog).kind == "limit"
    sample = fuzz_files.make_samples(tmp_path)[0]
    (tmp_path / "other.csv").write_text("a,b\nb,c\n")
    assert fuzz_files.read_sample(sample, tmp_path / "other.csv", "") == "loaded"
    wrong_links = [{frozenset("ac")}]
    original = fuzz_files.find_links
    try:
        fuzz_files.find_links = lambda path: wrong_links
        text = fuzz_files.read_sample(sample, tmp_path / "other.csv", "")
    finally:
        fuzz_files.find_links = original
    assert text.startswith("changed")
