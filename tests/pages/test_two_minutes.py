"""Twenty-five questions of an officer: each has its answer on a first screen, or on page 1.

The answers are read from what scripts get, by code that shares nothing with the pages
(`tests.benchmarks.questions`).
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest

from core.audit.results.view import AuditView
from core.findings.strongest import describe_false_alarms
from tests.benchmarks.questions import (
    PAGE_1,
    QUESTIONS,
    Written,
    list_missing,
    open_audit,
    read_screens,
)


@pytest.fixture(scope="module")
def view(tmp_path_factory) -> Iterator[AuditView]:
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("AUDIT_DATABASE", raising=False)
        patch.setenv("AUDIT_DEVICE", "cpu")
        with open_audit(tmp_path_factory.mktemp("decided")) as view:
            yield view


@pytest.fixture(scope="module")
def screens(view, tmp_path_factory) -> dict[str, str]:
    has_paper = shutil.which("pdftotext") is not None
    return read_screens(view, tmp_path_factory.mktemp("report"), has_paper)


@pytest.fixture(scope="module")
def written(view) -> Written:
    return Written.of(view)


def test_the_odds_of_the_links_found_stand_below_the_headline(view, screens) -> None:
    told = describe_false_alarms(view)
    assert "wrong" in told
    assert told in screens["attack"]


def test_there_are_twenty_five_questions() -> None:
    assert len(QUESTIONS) == 25
    assert len({question for question, _, _ in QUESTIONS}) == 25


@pytest.mark.parametrize(("question", "places", "answer"), QUESTIONS, ids=[q[0] for q in QUESTIONS])
def test_an_officer_finds_the_answer(question, places, answer, written, screens) -> None:
    if places == (PAGE_1,) and PAGE_1 not in screens:
        pytest.skip("page 1 of the PDF is read with pdftotext")
    assert answer(written)
    assert list_missing(written, screens, places, answer) == []


@pytest.mark.parametrize(("question", "places", "answer"), QUESTIONS, ids=[q[0] for q in QUESTIONS])
def test_a_page_that_says_nothing_answers_nothing(question, places, answer, written) -> None:
    blank = dict.fromkeys(places, "Release decision. 1 of 2 links, 3 people.")
    missing = {place for place, _ in list_missing(written, blank, places, answer)}
    assert missing == set(places)
