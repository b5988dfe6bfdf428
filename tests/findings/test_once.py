"""Findings that are made once for each table of results."""

from __future__ import annotations

import gc

import pandas as pd

from core.findings import tables
from core.findings.tables import once_a_table


def test_a_finding_is_made_once_for_each_table_and_argument() -> None:
    made = []

    @once_a_table
    def find(results: pd.DataFrame, factor: int = 1) -> int:
        made.append(factor)
        return int(results.value.sum()) * factor

    first, second = pd.DataFrame({"value": [1, 2]}), pd.DataFrame({"value": [1, 2, 3]})
    assert [find(first), find(first), find(first, factor=2), find(second)] == [3, 3, 6, 6]
    assert made == [1, 2, 1]


def test_findings_go_with_their_table() -> None:
    """A new table may have the number in memory of one that is gone."""
    find = once_a_table(lambda results: len(results))
    table = pd.DataFrame({"value": [1]})
    number = id(table)
    find(table)
    assert number in tables._found
    del table
    gc.collect()
    assert number not in tables._found
