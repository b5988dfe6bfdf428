"""Tables of the view from stored cells, against plain loops."""

from __future__ import annotations

from contextlib import closing

import numpy as np
import pytest
from scipy import stats

from core.audit.assemble import assemble_view
from core.audit.results.node_tables import _combine_node_risks
from core.audit.store import files
from core.audit.store.database import Store
from core.audit.store.states import State
from tests.inline import run_inline


@pytest.mark.parametrize("num_repeats", [1, 4])
def test_risk_is_the_mean_over_repeats_with_students_interval(num_repeats):
    rng, num_nodes = np.random.default_rng(0), 30
    cells = []
    for _ in range(num_repeats):
        nodes = np.flatnonzero(rng.random(num_nodes) < 0.6)
        cells.append({"nodes": nodes, "risk": rng.random(len(nodes)), "base": 0.3 + 0 * nodes})
    found = _combine_node_risks(cells, num_nodes)
    assert found.nodes.tolist() == sorted({int(node) for cell in cells for node in cell["nodes"]})
    for place, node in enumerate(found.nodes):
        risks = np.array([c["risk"][c["nodes"] == node][0] for c in cells if node in c["nodes"]])
        assert found.seeds[place] == len(risks)
        assert found.risk[place] == pytest.approx(risks.mean())
        assert found.advantage[place] == pytest.approx(risks.mean() - 0.3)
        ends = found.low[place], found.high[place]
        if len(risks) == 1:
            assert np.isnan(ends).all()
        else:
            error = risks.std(ddof=1) / np.sqrt(len(risks))
            expected = stats.t.interval(0.95, len(risks) - 1, risks.mean(), error)
            assert ends == pytest.approx(np.clip(expected, 0, 1))


def test_a_view_reads_a_table_when_it_is_asked_for(graph, make_spec, tmp_path, monkeypatch):
    attacks = [{"key": "common_neighbors"}, {"key": "class_prior"}]
    run_inline(make_spec(attacks=attacks), graph, tmp_path)
    store, read, load = Store(tmp_path), [], files.load_cell

    def load_graph(graph_hash):
        read.append(graph_hash)
        return graph

    with monkeypatch.context() as patch:
        patch.setattr(
            files, "load_cell", lambda home, *key: read.append(key[0]) or load(home, *key)
        )
        view = assemble_view(store, store.list_audits()[0], load_graph)
        assert not view.results.empty
        assert read == []
        assert view.nodes is view.nodes
        assert len(read) == len(set(read)) > 1
        read.clear()
        assert {attack for _, attack in view.rocs} == {"common_neighbors", "class_prior"}
    assert len(read) == len(set(read)) > 1
    store.close()


@pytest.mark.parametrize("num_repeats", [1, 2])
def test_the_table_has_each_cell_in_the_order_of_releases_and_attacks(
    graph, make_spec, tmp_path, num_repeats
):
    attacks = [{"key": "common_neighbors"}, {"key": "class_prior"}]
    defenses = [{"key": "random_deletion"}]
    spec = make_spec(attacks=attacks, defenses=defenses, num_repeats=num_repeats)
    nodes = run_inline(spec, graph, tmp_path).nodes.to_frame()
    with closing(Store(tmp_path)) as store:
        done = [c for c in store.list_cells(store.list_audits()[0].id) if c.kind == "attack"]
        cells = [(c.release, c.method, files.load_cell(tmp_path, c.key)) for c in done]
    expected = {}
    for release in ("original", "random_deletion"):
        for attack in ("common_neighbors", "class_prior"):
            own = [arrays for *where, arrays in cells if where == [release, attack]]
            assert len(own) == num_repeats
            for number in np.unique(np.concatenate([arrays["nodes"] for arrays in own])):
                risks = [a["risk"][a["nodes"] == number] for a in own if number in a["nodes"]]
                key = graph.node_ids[number], release, attack
                expected[key] = np.mean(risks), len(risks)
    found = list(zip(nodes.node, nodes.release, nodes.attack, strict=True))
    assert found == list(expected)
    means, counts = np.transpose(list(expected.values()))
    assert nodes.risk.to_numpy() == pytest.approx(means)
    assert nodes.seeds.tolist() == counts.tolist()
    assert (nodes.low.isna() == (nodes.seeds == 1)).all()
    assert nodes.dtypes.astype(str).tolist() == ["category"] * 3 + ["float64"] * 4 + ["int64"]


def test_one_repeat_gives_what_several_equal_ones_do():
    """The short way of one repeat, to the last digit."""
    rng = np.random.default_rng(1)
    nodes = np.flatnonzero(rng.random(200) < 0.5)
    cell = {"nodes": nodes, "risk": rng.random(len(nodes)), "base": rng.random(len(nodes))}
    nobody = {name: values[:0] for name, values in cell.items()}
    found = _combine_node_risks([cell], 200)
    for name, values in vars(_combine_node_risks([cell, nobody], 200)).items():
        assert np.array_equal(getattr(found, name), values, equal_nan=True), name
        assert getattr(found, name).dtype == values.dtype


@pytest.mark.parametrize(
    ("state", "is_open"),
    [
        *((state, True) for state in ("running", "queued", "cancelled", "interrupted")),
        *((state, False) for state in ("done", "skipped", "failed")),
    ],
)
def test_an_attack_is_open_while_repeats_are_missing(graph, make_spec, tmp_path, state, is_open):
    """One that ended, and be it without a result, is judged by what it has."""
    run_inline(make_spec(attacks=[{"key": "common_neighbors"}], num_repeats=2), graph, tmp_path)
    with closing(Store(tmp_path)) as store:
        row = store.list_audits()[0]
        cells = [c for c in store.list_cells(row.id) if c.kind == "attack" and c.repeat == 1]
        for cell in cells:
            store.update_job(cell.key, state=State(state))
        nodes = assemble_view(store, row, lambda _: graph).nodes
    assert nodes.unfinished == (frozenset(nodes.parts) if is_open else frozenset())
