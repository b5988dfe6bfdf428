"""What a release keeps of the values of links, against SciPy and loops."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from core.graph import Graph
from core.link_table import NO_TIME, LinkColumn, LinkTable
from core.measures.link_values import (
    compute_strength_rank,
    compute_sum_error,
    compute_time_rank,
    correlate_ranks,
    measure_link_values,
)
from core.measures.metrics import METRICS


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=2, max_size=20))
@settings(max_examples=40)
def test_ranks_are_those_of_scipy(rows):
    first, second = np.array(rows, float).T
    found = correlate_ranks(first, second)
    if np.ptp(first) == 0 or np.ptp(second) == 0:
        assert found is None
    else:
        assert found == pytest.approx(stats.spearmanr(first, second).statistic)


def make_graph(pairs, amounts, times):
    graph = Graph.from_pairs(pairs, 5, np.array(amounts, float))
    columns = {
        "amount": LinkColumn("number", np.array(amounts)),
        "at": LinkColumn("time", np.array(times), unit="unix s"),
    }
    return replace(graph, link_table=LinkTable(np.arange(graph.num_edges), columns))


def test_sums_and_times_of_a_small_graph():
    before = make_graph([[0, 1], [0, 2], [1, 2], [3, 4]], [1, 2, 3, 4], [10, 30, 20, NO_TIME])
    after = make_graph([[0, 1], [0, 3], [1, 2], [3, 4]], [1, 9, 5, 4], [11, 99, 5, 7])
    for name in ("link.weight", "link.amount"):
        assert compute_sum_error(before, before, name) == 0
        assert compute_strength_rank(before, before, name) == pytest.approx(1)
        # sums before: 3, 4, 5, 4, 4; after: 10, 6, 5, 13, 4
        assert compute_sum_error(before, after, name) == pytest.approx((7 + 2 + 0 + 9 + 0) / 20)
        expected = stats.spearmanr([3, 4, 5, 4, 4], [10, 6, 5, 13, 4]).statistic
        assert compute_strength_rank(before, after, name) == pytest.approx(expected)
    # of links that both have and whose times both tell: 0–1 (10, 11) and 1–2 (20, 5)
    assert compute_time_rank(before, after, "link.at") == pytest.approx(-1)
    bare = replace(after, link_table=None, weights=None)
    assert compute_sum_error(before, bare, "link.amount") == 1
    assert compute_strength_rank(before, bare, "link.amount") is None
    assert compute_time_rank(before, bare, "link.at") is None
    assert compute_sum_error(bare, before, "link.amount") is None


def test_the_column_that_keeps_least_is_measured():
    before = make_graph([[0, 1], [0, 2], [1, 2], [3, 4]], [1, 2, 3, 4], [10, 30, 20, 40])
    table = before.link_table
    poorer = LinkColumn("number", np.array([3, 2, 3, 4]))
    kept = LinkTable(table.links, {**table.columns, "amount": poorer})
    found = {m.metric: m for m in measure_link_values(before, replace(before, link_table=kept))}
    expected = compute_sum_error(before, replace(before, link_table=kept), "link.amount")
    assert found["value_sum_error"].value == expected > 0
    assert found["strength_rank"].value < 1
    assert found["time_rank"].value == pytest.approx(1)
    gone = {m.metric: m for m in measure_link_values(before, replace(before, link_table=None))}
    assert gone["time_rank"].value is None
    assert gone["time_rank"].reason == "the release has no such values"
    assert gone["value_sum_error"].value == 1
    assert not measure_link_values(replace(before, weights=None, link_table=None), before)
    assert {"value_sum_error", "strength_rank", "time_rank"} <= METRICS.keys()
