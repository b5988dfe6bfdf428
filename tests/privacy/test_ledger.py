"""The ledger: sums by hand, runs that count once, budgets that hold."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import InputError
from core.privacy.guarantees import EDGE, LINK_ONCE, LINK_TWICE, NODE
from core.privacy.ledger import Entry, check_budget, compute_totals
from core.release import Guarantee


def make_entry(run, guarantee):
    return Entry.of(run, "2026-01-01", "edge_rand:epsilon=3", guarantee)


def test_every_promise_counts_for_one_link_and_those_on_nodes_for_one_node():
    entries = [
        make_entry("a", EDGE.make_guarantee(3.0)),
        make_entry("b", EDGE.make_guarantee(0.5, delta=1e-5)),
        make_entry("c", LINK_TWICE.make_guarantee(2.0)),  # 4: both ends report it
        make_entry("d", NODE.make_guarantee(1.0, delta=1e-6)),
        make_entry("e", Guarantee()),
        make_entry("a", EDGE.make_guarantee(3.0)),  # a second download of the first run
    ]
    totals = {t.unit: (t.epsilon, t.runs, t.unbounded) for t in compute_totals(entries)}
    assert totals == {"edge": (8.5, 4, 1), "node": (1.0, 1, 4)}
    deltas = {t.unit: t.delta for t in compute_totals(entries)}
    assert deltas == {"edge": pytest.approx(1.1e-5), "node": 1e-6}
    assert compute_totals([make_entry("e", Guarantee())]) == ()


def test_a_budget_of_ten_holds_three_runs_of_three_and_refuses_the_fourth():
    entries = []
    for run in "abc":
        new = make_entry(run, EDGE.make_guarantee(3.0))
        check_budget(entries, new, 10.0)
        entries.append(new)
    with pytest.raises(InputError, match=r"would be exceeded.*12.*9 is spent by 3"):
        check_budget(entries, make_entry("d", EDGE.make_guarantee(3.0)), 10.0)
    check_budget(entries, entries[0], 9.0)  # the same run again costs nothing
    with pytest.raises(InputError, match="must guarantee"):
        check_budget(entries, make_entry("d", Guarantee()), 10.0)
    with pytest.raises(InputError, match="above 0"):
        check_budget(entries, entries[0], 0.0)


def test_a_run_without_a_guarantee_leaves_no_budget_to_hold():
    """Published as it is and then with noise under a budget, a graph passed as within it."""
    before = [make_entry("a", EDGE.make_guarantee(1.0)), make_entry("b", Guarantee())]
    new = make_entry("c", EDGE.make_guarantee(1.0))
    with pytest.raises(InputError, match="ε = 4 cannot hold; got 1 earlier run without"):
        check_budget(before, new, 4.0)
    check_budget(before[:1], new, 4.0)


@pytest.mark.parametrize("kind", [EDGE, LINK_ONCE, LINK_TWICE, NODE])
def test_another_unit_does_not_walk_around_a_budget(kind):
    """A guarantee about nodes, and one of link-local reports, is about the same links."""
    before = [make_entry("a", EDGE.make_guarantee(6.0))]
    new = make_entry("b", kind.make_guarantee(3.0))
    with pytest.raises(InputError, match=f"{6 + new.epsilon:g} after this run"):
        check_budget(before, new, 7.0)
    check_budget(before, new, 6.0 + new.epsilon)


@given(st.lists(st.tuples(st.integers(0, 5), st.floats(0.01, 50.0)), max_size=20))
def test_a_total_is_the_sum_over_distinct_runs(runs):
    entries = [make_entry(str(run), EDGE.make_guarantee(epsilon)) for run, epsilon in runs]
    expected = sum({run: epsilon for run, epsilon in runs}.values())
    assert sum(t.epsilon for t in compute_totals(entries)) == pytest.approx(expected)
