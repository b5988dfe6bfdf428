"""The ledger: sums by hand, runs that count once, budgets that hold."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import InputError
from core.privacy.guarantees import EDGE, LINK_ONCE, LINK_TWICE, NODE
from core.privacy.ledger import Budget, Entry, check_budget, compute_totals, parse_budget
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
        check_budget(entries, new, Budget(10.0), 1000)
        entries.append(new)
    with pytest.raises(InputError, match=r"would be exceeded.*12.*9 is spent by 3"):
        check_budget(entries, make_entry("d", EDGE.make_guarantee(3.0)), Budget(10.0), 1000)
    check_budget(entries, entries[0], Budget(9.0), 1000)  # the same run again costs nothing
    with pytest.raises(InputError, match="must guarantee"):
        check_budget(entries, make_entry("d", Guarantee()), Budget(10.0), 1000)


def test_a_run_without_a_guarantee_leaves_no_budget_to_hold():
    """Published as it is and then with noise under a budget, a graph passed as within it."""
    before = [make_entry("a", EDGE.make_guarantee(1.0)), make_entry("b", Guarantee())]
    new = make_entry("c", EDGE.make_guarantee(1.0))
    with pytest.raises(
        InputError, match="ε = 4 cannot hold for one link; got 1 earlier run without"
    ):
        check_budget(before, new, Budget(4.0), 1000)
    check_budget(before[:1], new, Budget(4.0), 1000)


@pytest.mark.parametrize("kind", [EDGE, LINK_ONCE, LINK_TWICE])
def test_another_unit_does_not_walk_around_a_budget(kind):
    """A guarantee about nodes, and one of link-local reports, is about the same links."""
    before = [make_entry("a", EDGE.make_guarantee(6.0))]
    new = make_entry("b", kind.make_guarantee(3.0))
    with pytest.raises(InputError, match=f"{6 + new.epsilon:g} after this run"):
        check_budget(before, new, Budget(7.0), 1000)
    check_budget(before, new, Budget(6.0 + new.epsilon), 1000)


def test_no_budget_of_a_node_holds_after_a_run_that_protects_links_only():
    """Edge-level DP at 10, then node-level DP at 1, under 12: nothing bounds what is known of one
    node."""
    before = [make_entry("a", EDGE.make_guarantee(10.0))]
    new = make_entry("b", NODE.make_guarantee(1.0))
    with pytest.raises(InputError, match="ε = 12 cannot hold for one node; got 1 earlier run"):
        check_budget(before, new, Budget(12.0), 1000)
    with pytest.raises(InputError, match="ε = 11 after this run"):  # one link is told first
        check_budget(before, new, Budget(10.5), 1000)
    check_budget([new], before[0], Budget(12.0), 1000)  # of a link both are known


def test_a_budget_holds_the_sum_of_delta_too():
    """Fifteen runs of (0.01, 0.099) promised δ = 1.485 under a budget of ε = 1."""
    entries = [make_entry("a", EDGE.make_guarantee(0.01, delta=4e-4))]
    new = make_entry("b", EDGE.make_guarantee(0.01, delta=4e-4))
    check_budget(entries, new, Budget(1.0, 8e-4), 1000)
    with pytest.raises(InputError, match=r"δ = 0.0007 would be exceeded.*0.0008 after.*0.0004 is"):
        check_budget(entries, new, Budget(1.0, 7e-4), 1000)
    check_budget(entries, new, Budget(1.0), 1000)
    with pytest.raises(InputError, match=r"δ = 0.0005 would be exceeded"):
        check_budget(entries, new, Budget(1.0), 2000)  # one in the number of nodes


def test_a_delta_that_promises_nothing_is_refused():
    new = make_entry("a", EDGE.make_guarantee(0.01))
    check_budget([], new, Budget(1.0, 1 / 40), 40)
    with pytest.raises(InputError, match=r"must be at most 1/40 = 0.025.*promises nothing"):
        check_budget([], new, Budget(1.0, 0.0251), 40)


@pytest.mark.parametrize(
    ("given", "budget"),
    [
        ("10", Budget(10.0)),
        ("10,1e-6", Budget(10.0, 1e-6)),
        (" 0.5 , 0 ", Budget(0.5, 0.0)),
        (4.0, Budget(4.0)),  # of a stored request
        ({"epsilon": 4.0, "delta": None}, Budget(4.0)),
        ({"epsilon": 4.0, "delta": 1e-6}, Budget(4.0, 1e-6)),
    ],
)
def test_a_budget_is_read(given, budget):
    assert parse_budget(given) == budget


@pytest.mark.parametrize(
    "given", ["0", "-1", "x", "", "nan", "inf", "1,", "1,1", "1,-0.1", "1,nan", "1,0.1,2", ",1"]
)
def test_what_is_no_budget_is_refused(given):
    with pytest.raises(InputError, match="budget must be EPS or EPS,DELTA"):
        parse_budget(given)


@given(st.lists(st.tuples(st.integers(0, 5), st.floats(0.01, 50.0)), max_size=20))
def test_a_total_is_the_sum_over_distinct_runs(runs):
    entries = [make_entry(str(run), EDGE.make_guarantee(epsilon)) for run, epsilon in runs]
    expected = sum({run: epsilon for run, epsilon in runs}.values())
    assert sum(t.epsilon for t in compute_totals(entries)) == pytest.approx(expected)
