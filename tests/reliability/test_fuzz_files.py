"""Three damaged files of each format a run, and a thousand nightly."""

from __future__ import annotations

import os
import signal
import time
from collections import Counter
from functools import partial

import pytest

from core.data.readers import load_graph
from core.errors import InputError
from tests.reliability import fuzz_files


@pytest.mark.skipif(not hasattr(os, "fork"), reason="files are read in forked processes")
@pytest.mark.parametrize("count", [3, pytest.param(1000, marks=pytest.mark.nightly)])
def test_damaged_files_are_refused_or_read_right(count) -> None:
    """As a second reader has them, or as the report tells: never another graph without a word."""
    by_file: dict[str, Counter[str]] = {}
    for name, counts, failures, peak in fuzz_files.fuzz(count, seed=1):
        by_file[name] = counts
        assert failures == []
        assert peak < 2048
    kinds = sum(by_file.values(), Counter())
    assert kinds.total() == count * len(by_file)
    assert kinds["refused"] > count * len(by_file) / 2
    assert kinds["alike"] > count * len(by_file) / 20
    assert kinds["alone"] < kinds["alike"] / 2


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

    def refuse() -> str:
        raise InputError("file", "must be sound")

    def two_lines() -> str:
        raise InputError("file", "must be\nsound")

    works = [
        refuse,
        crash,
        refuse,
        crash,
        crash,
        wrong,
        hog,
        two_lines,
        lambda: "loaded alike",
        hog,
    ]
    outcomes = list(fuzz_files.run_guarded(works))
    kinds = "refused killed refused killed killed unforeseen limit unforeseen loaded limit"
    assert [outcome.kind for outcome in outcomes] == kinds.split()
    assert outcomes[-2].text == "alike"


def test_each_work_has_its_own_seconds(monkeypatch) -> None:
    """A work over the limit is told as costly, and none after a long one has less time."""
    monkeypatch.setattr(fuzz_files, "CPU_SECONDS", 1)

    def spin(seconds: float) -> str:
        end = time.process_time() + seconds
        while time.process_time() < end:
            pass
        return "loaded alike"

    works = [partial(spin, seconds) for seconds in (0.7, 0.7, 5, 0.7)]
    kinds = [outcome.kind for outcome in fuzz_files.run_guarded(works)]
    assert kinds == ["loaded", "loaded", "killed", "loaded"]


BY_OTHERS = {
    "w.csv": ('"p2",0.73', '"p3",0.73'),
    "v.gml": ("source 1\n", "source 2\n"),
    "v.graphml": ('<data key="d1">0.5', '<data key="d1">0.75'),
    "v.json": ('"kind": "a"', '"kind": "b"'),
    "w.nodes.csv": ("red", "green"),
}
"""File → an edit; who reads the edited file and who reads the sound one differ."""


@pytest.mark.parametrize("name", sorted(BY_OTHERS))
def test_another_graph_without_a_word_is_seen(tmp_path, monkeypatch, name) -> None:
    (sample,) = (s for s in fuzz_files.make_samples(tmp_path) if s.path.name == name)
    sound = load_graph(sample.links, nodes_path=sample.nodes)
    edited = tmp_path / "edited" / name
    edited.parent.mkdir()
    before, after = BY_OTHERS[name]
    text = sample.path.read_text()
    assert before in text
    edited.write_text(text.replace(before, after, 1))
    assert fuzz_files.read_sample(sample, edited, sound) == "loaded alike"
    monkeypatch.setattr(fuzz_files, "load_graph", lambda path, **options: sound)
    assert fuzz_files.read_sample(sample, edited, sound).startswith("changed")
