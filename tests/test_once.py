"""Findings that are made once for each source."""

from __future__ import annotations

import gc
import weakref

import pandas as pd

from core import once
from core.findings.policy import find_policy
from core.findings.strongest import choose_measure
from core.findings.verdict import judge
from core.once import find_once
from core.release import ORIGINAL
from tests.oracles.audits import make_audit, make_noise


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


def test_a_judged_audit_is_not_kept_by_its_findings() -> None:
    """What is found of a view must not hold the view, which would then never go."""
    release = "random_deletion:strength=0.1"
    attacks = ("adamic_adar", "degree_product")
    view = make_audit(make_noise((ORIGINAL, release), attacks), attacks, (release,))
    judge(view, find_policy("public"))
    choose_measure(view.results, "link")
    held = weakref.ref(view), weakref.ref(view.results)
    del view
    gc.collect()
    assert [one() for one in held] == [None, None]
