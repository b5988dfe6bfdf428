"""A cell's result comes back as it went."""

from __future__ import annotations

import json

import pytest
from scipy import stats

from core.audit.store.describe import CellResult, pack_release, unpack_release
from core.measures.intervals import combine_measurements
from core.release import Guarantee, Release
from core.results import Measurement

GUARANTEE = Guarantee("edge", "graphs that differ in one link", 1.5, not_covered=("features",))


def make_release(graph):
    released = graph.with_edges(graph.edges[::2])
    return Release(released, "edge_rand", {"epsilon": 1.5}, GUARANTEE, facts={"links_kept": 9.0})


def test_it_survives_json(graph):
    record, _ = pack_release(make_release(graph), graph)
    items = (Measurement("auc", 0.5, n=3), Measurement("none", None, n=0))
    for result in (CellResult(items, {"model": "gcn"}), CellResult(release=record), CellResult()):
        stored = json.loads(json.dumps(result.describe()))
        assert CellResult.restore(stored) == result


def test_results_of_earlier_versions_are_read():
    """They tell no number of trials: their intervals are the normal ones of then."""
    fields = {"metric": "accuracy", "value": 0.1, "variance": 0.0009, "n": 100, "reason": ""}
    stored = {"measurements": [fields | {"population": "released"}], "facts": {}, "release": None}
    (item,) = CellResult.restore(stored).measurements
    assert item == Measurement("accuracy", 0.1, 0.0009, 100)
    assert combine_measurements([item]).high == pytest.approx(0.1 + stats.t.ppf(0.975, 99) * 0.03)


def test_a_release_comes_back_whole(graph):
    release = make_release(graph)
    record, arrays = pack_release(release, graph)
    again = unpack_release(record, arrays, graph)
    assert again.graph.content_hash == release.graph.content_hash == record.content_hash
    assert (again.defense, again.config, again.guarantee, again.facts) == (
        release.defense,
        release.config,
        release.guarantee,
        release.facts,
    )
