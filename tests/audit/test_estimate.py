"""The estimate of time: exact where the past repeats itself, scaled where it does not."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.audit.store.costs import Shape, find_cost
from core.audit.store.estimate import (
    DEFAULT_S,
    REFERENCE_SIZE,
    START_S,
    PastCell,
    Task,
    TimeModel,
    TimeRange,
    estimate_time,
    load_past,
    make_task,
    shares_result,
)
from tests.inline import run_inline

SMALL = Shape(10, 90)
GAE = Task("attack", "gae_cosine", "seconds", SMALL)
NEW = Task("attack", "of a version to come", "seconds", SMALL)
NONE = TimeModel([])


def sized(task: Task, size: float) -> Task:
    """The task on a release of so many nodes and links."""
    return replace(task, shape=Shape(0, size))


def middle(time: TimeRange) -> float:
    """What the range is around, on a machine whose workers run."""
    return math.sqrt(time.low * time.high)


def test_what_never_ran_goes_by_its_cost() -> None:
    assert NONE.predict(sized(NEW, REFERENCE_SIZE)) == DEFAULT_S["seconds"]
    assert NONE.predict(sized(NEW, 3 * REFERENCE_SIZE)) == 3 * DEFAULT_S["seconds"]


@pytest.mark.parametrize("key", ["ppgsl", "ppne"])
def test_a_defense_that_finds_its_strength_takes_several_times_as_long(key: str) -> None:
    text = f"{key}:target=0.6"
    plain, finding = (make_task("publish", id, Shape(5_000, 5_000), id) for id in (key, text))
    assert NONE.predict(finding) >= 6 * NONE.predict(plain)
    past = TimeModel([PastCell(plain.kind, plain.name, plain.size, 1.0)])
    assert past.find_source(finding) == "table"  # one's time tells nothing of the other's


def test_the_past_of_the_same_method_and_size_is_believed() -> None:
    past = [PastCell("attack", "gae_cosine", 500, 2.0), PastCell("attack", "seal", 500, 99.0)]
    assert TimeModel(past).predict(sized(GAE, 500)) == 2.0
    assert TimeModel(past).predict(sized(GAE, 2000)) == 4.0  # starting takes its time too
    assert TimeModel(past).predict(sized(GAE, 125)) == 1.0
    large = [PastCell("attack", "gae_cosine", 2 * REFERENCE_SIZE, 2.0)]
    assert TimeModel(large).predict(sized(GAE, 4 * REFERENCE_SIZE)) == 4.0
    # Ten people took 1 s: a thousand times as many were once said to take a thousand times that.
    tiny = [PastCell("attack", "gae_cosine", REFERENCE_SIZE // 1000, 1.0)]
    large = Shape(0, REFERENCE_SIZE)
    expected = math.sqrt(1000**0.5 * find_cost("attack", "gae_cosine", large))
    assert TimeModel(tiny).predict(replace(GAE, shape=large)) == pytest.approx(expected)


@given(st.lists(st.floats(0.1, 50), min_size=1, max_size=20), st.integers(1, 8))
def test_the_rest_of_an_audit_takes_what_its_own_cells_took(seconds, workers) -> None:
    done = [(GAE, 3.0)] * 3
    left = [GAE] * len(seconds)
    expected = max(3.0 * len(left) / workers, 3.0)
    assert middle(estimate_time(NONE, left, done, workers)) == pytest.approx(expected)


def test_a_slow_machine_is_noticed_as_soon_as_enough_was_done() -> None:
    model = TimeModel([PastCell("attack", "gcn", 100, 10.0), PastCell("attack", "seal", 100, 10.0)])
    gcn, seal = make_task("attack", "gcn", SMALL), make_task("attack", "seal", SMALL)
    before, few, many = (
        estimate_time(model, [seal], [(gcn, 20.0)] * count, 1) for count in (0, 1, 100)
    )
    assert before.low < 10.0 < before.high
    assert 12.0 < middle(few) < 18.0
    assert middle(many) == pytest.approx(20.0, rel=0.01)
    assert many.high / many.low < before.high / before.low


def test_what_is_instant_says_nothing_of_minutes_nor_that_workers_are_there() -> None:
    """A quick look of Cora was said to end after 5 s by cells that take hundredths of one."""
    past = [
        PastCell("attack", "common_neighbors", 100, 0.15),
        PastCell("attack", "seal", 100, 10.0),
    ]
    instant, seal = (
        make_task("attack", "common_neighbors", SMALL),
        make_task("attack", "seal", SMALL),
    )
    found = estimate_time(TimeModel(past), [seal], [(instant, 0.03)] * 3, 1)
    assert found.low < 10.0 < 10.0 + START_S < found.high
    assert found.low > 4.5


def test_long_cells_say_more_of_the_machine_than_short_ones() -> None:
    past = [
        PastCell("attack", key, 100, s) for key, s in (("sage", 10), ("gcn", 400), ("seal", 900))
    ]
    sage, gcn, seal = (make_task("attack", key, SMALL) for key in ("sage", "gcn", "seal"))
    done = [(sage, 100.0)] * 2 + [(gcn, 600.0)]  # ten times, ten times, and half as much again
    found = estimate_time(TimeModel(past), [seal], done, 1)
    assert middle(found) == pytest.approx(1350.0, rel=0.01)


def test_a_running_cell_counts_by_what_is_left_of_it() -> None:
    half = make_task("attack", "gae_cosine", SMALL, progress=0.5)
    assert middle(estimate_time(NONE, [half], [(GAE, 4.0)], 2)) == pytest.approx(2.0)
    assert estimate_time(NONE, [], [(GAE, 4.0)], 2) == TimeRange(0.0, 0.0)


def test_cells_of_one_kind_are_predicted_once(monkeypatch) -> None:
    """Of a search of 44 CPU seconds, the estimates of its progress took more than that."""
    asked, predict = [], TimeModel._predict
    monkeypatch.setattr(
        TimeModel, "_predict", lambda m, task: asked.append(task) or predict(m, task)
    )
    model = TimeModel([PastCell("attack", "gae_cosine", 500, 2.0)])
    left = [replace(GAE, progress=part / 100) for part in range(100)]
    first = estimate_time(model, left, [(NEW, 1.0)] * 50, 2)
    assert len(asked) == 2
    assert first == estimate_time(model, left, [(NEW, 1.0)] * 50, 2)
    assert model.predict(sized(GAE, 1_000)) > model.predict(GAE)


def test_the_range_is_as_wide_as_little_is_known() -> None:
    past = TimeModel([PastCell("attack", "gae_cosine", 100, 2.0)])
    katz = make_task("attack", "katz", SMALL)
    widths = [
        estimate_time(model, [task] * 9, done, 1)
        for model, task, done in (
            (NONE, GAE, [(GAE, 2.0)]),
            (past, GAE, [(katz, 1.0)]),
            (past, GAE, []),
            (NONE, katz, []),
            (NONE, NEW, []),
        )
    ]
    found = [round(width.high / width.low, 6) for width in widths]
    assert found == sorted(found)
    assert found[0] < found[1] < found[-1]


def test_what_a_cell_shares_took_no_time() -> None:
    assert shares_result("original", "gcn@adaptive")
    assert shares_result("original", "plausibility@included+composition:3")
    assert not shares_result("edge_rand", "gcn@adaptive")
    assert not shares_result("original", "gcn@auxiliary:0.1")


def test_settings_do_not_part_methods_but_knowledge_does() -> None:
    assert make_task("attack", "katz:beta=0.1", SMALL).name == "katz"
    assert make_task("attack", "katz@adaptive", SMALL).name == "katz@adaptive"
    assert make_task("measure", "structure", SMALL).cost == "seconds"


def test_the_store_remembers_what_cells_took(make_spec, graph, tmp_path) -> None:
    from core.audit.store.database import Store

    spec = make_spec(num_repeats=1, attacks=[{"key": "common_neighbors"}])
    run_inline(spec, graph, tmp_path)
    past = load_past(Store(tmp_path))
    size = graph.num_nodes + graph.num_edges
    assert {item.size for item in past} == {size}
    assert {"common_neighbors", "structure"} <= {item.name for item in past}


def test_the_script_that_measures_ranges_counts_what_lies_within() -> None:
    from tests.benchmarks.estimates import holds

    assert holds(TimeRange(2.0, 5.0), 3.0)
    assert not holds(TimeRange(2.0, 5.0), 6.0)
    assert holds(None, 3.0) is None


def test_noise_that_adds_links_takes_longer_to_attack() -> None:
    """Cora with EdgeRand took 82 s where 7 to 14 were said."""
    plain, noisy = (
        make_task("attack", "gcn", Shape(2_708, 5_278), release=release)
        for release in ("random_deletion", "edge_rand:epsilon=3.0")
    )
    assert plain.size == make_task("attack", "gcn", Shape(2_708, 5_278)).size == 2_708 + 5_278
    assert noisy.size > 20 * plain.size
    assert NONE.predict(noisy) > 2.5 * NONE.predict(plain)
