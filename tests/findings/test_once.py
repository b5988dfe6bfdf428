"""Findings that are made once for each source."""

from __future__ import annotations

import gc

import pandas as pd

from core.findings import once
from core.findings.once import find_once


def test_a_finding_is_made_once_for_each_table_and_argument() -> None:
    made = []

    @find_once
    def find(results: pd.DataFrame, factor: int = 1) -> int:
        made.append(factor)
        return int(results.value.sum()) * factor

    first, second = pd.DataFrame({"value": [1, 2]}), pd.DataFrame({"value": [1, 2, 3]})
    assert [find(first), find(first), find(first, factor=2), find(second)] == [3, 3, 6, 6]
    assert made == [1, 2, 1]


def test_findings_go_with_their_source() -> None:
    """A new table may have the number in memory of one that is gone."""
    find = find_once(lambda results: len(results))
    table = pd.DataFrame({"value": [1]})
    number = id(table)
    find(table)
    assert number in once._found
    del table
    gc.collect()
    assert number not in once._found
