"""Tables of the view from stored cells, against plain loops."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from core.audit.assemble import assemble_view
from core.audit.node_tables import _combine_node_risks
from core.audit.run import run_inline
from core.audit.store import files
from core.audit.store.database import Store


@pytest.mark.parametrize("num_repeats", [1, 4])
def test_risk_is_the_mean_over_repeats_with_students_interval(num_repeats):
    rng, num_nodes = np.random.default_rng(0), 30
    cells = []
    for _ in range(num_repeats):
        nodes = np.flatnonzero(rng.random(num_nodes) < 0.6)
        cells.append({"nodes": nodes, "risk": rng.random(len(nodes)), "base": 0.3 + 0 * nodes})
    nodes, found = _combine_node_risks(cells, num_nodes)
    assert nodes.tolist() == sorted({int(node) for cell in cells for node in cell["nodes"]})
    for place, node in enumerate(nodes):
        risks = np.array([c["risk"][c["nodes"] == node][0] for c in cells if node in c["nodes"]])
        assert found["seeds"][place] == len(risks)
        assert found["risk"][place] == pytest.approx(risks.mean())
        assert found["advantage"][place] == pytest.approx(risks.mean() - 0.3)
        ends = found["low"][place], found["high"][place]
        if len(risks) == 1:
            assert np.isnan(ends).all()
        else:
            error = risks.std(ddof=1) / np.sqrt(len(risks))
            expected = stats.t.interval(0.95, len(risks) - 1, risks.mean(), error)
            assert ends == pytest.approx(np.clip(expected, 0, 1))


def test_a_cell_is_read_once_for_a_view(graph, make_spec, tmp_path, monkeypatch):
    attacks = [{"key": "common_neighbors"}, {"key": "class_prior"}]
    run_inline(make_spec(attacks=attacks), graph, tmp_path)
    store, read, load = Store(tmp_path), [], files.load_cell
    with monkeypatch.context() as patch:
        patch.setattr(
            files, "load_cell", lambda home, *key: read.append(key[0]) or load(home, *key)
        )
        view = assemble_view(store, store.list_audits()[0])
    store.close()
    assert {attack for _, attack in view.rocs} == {"common_neighbors", "class_prior"}
    assert len(read) == len(set(read)) > 0
