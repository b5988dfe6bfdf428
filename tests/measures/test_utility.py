from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import f1_score, roc_auc_score

from core.context import Context
from core.data.splits import draw_threats
from core.errors import RunCancelled
from core.measures import utility
from core.measures.utility import infer_labels, measure_utility
from core.node_column import NodeColumn
from core.release import Release
from core.seeding import Seed
from tests.oracles.graphs import GRAPHS, make_threats, two_communities
from tests.oracles.progress import RecordingProgress


@pytest.fixture(autouse=True)
def _few_epochs(monkeypatch):
    monkeypatch.setattr(utility, "EPOCHS", 40)


def measure(release, threats, seed=0, **fields):
    found, _margins = measure_utility(release, threats, Context(Seed(seed), **fields))
    return {m.metric: m for m in found}


def test_a_useful_release_and_a_useless_one():
    graph = two_communities(120).update_columns(features=None)
    threats = make_threats(graph)
    rng = np.random.default_rng(0)
    noise = threats.visible.with_edges(rng.integers(0, 120, (threats.visible.num_edges, 2)))
    useful = measure(Release(threats.visible), threats)
    useless = measure(Release(noise), threats)
    assert useful["node_classification_f1"].value > 0.85
    assert useful["node_classification_auc"].value > 0.9
    assert useful["link_prediction_auc"].value > 0.65
    assert useless["node_classification_auc"].value < 0.75
    assert abs(useless["link_prediction_auc"].value - 0.5) < 0.12


def test_figures_are_sklearns_on_the_hidden_nodes_only():
    threats = make_threats(two_communities(60))
    context = Context(Seed(3))
    p = infer_labels(threats.visible, threats.utility, context).probabilities
    result = measure(Release(threats.visible), threats, 3)
    hidden, codes = threats.utility.hidden, threats.utility.attribute.codes
    assert result["node_classification_f1"].value == pytest.approx(
        f1_score(codes[hidden], p[hidden].argmax(1), average="micro")
    )
    assert result["node_classification_auc"].value == pytest.approx(
        roc_auc_score(codes[hidden], p[hidden][:, 1])
    )
    assert result["node_classification_f1"].n == hidden.sum()
    assert result["link_prediction_auc"].n == 2 * len(threats.test_links)


def test_hidden_labels_are_never_read():
    threats = make_threats(two_communities(60))
    threat = threats.utility
    other = np.where(threat.hidden, 1 - threat.attribute.codes, threat.attribute.codes)
    swapped = replace(threat, attribute=NodeColumn("label", other, threat.attribute.classes))
    left = infer_labels(threats.visible, threat, Context(Seed(0))).probabilities
    right = infer_labels(threats.visible, swapped, Context(Seed(0))).probabilities
    np.testing.assert_array_equal(left, right)


@pytest.mark.parametrize("name", sorted(GRAPHS))
def test_every_graph_gives_values_or_reasons(name):
    threats = make_threats(GRAPHS[name]())
    first = measure(Release(threats.visible), threats)
    assert first == measure(Release(threats.visible), threats)
    assert set(first) == {
        "link_prediction_auc",
        "node_classification_f1",
        "node_classification_auc",
    }
    for m in first.values():
        assert (m.value is None) == bool(m.reason)
    assert first["node_classification_f1"].value is not None


def test_missing_parts_have_reasons():
    threats = draw_threats(two_communities(), Seed(0), private="private", known=0.3)
    result = measure(Release(threats.visible), threats)
    assert all(m.value is None and m.reason for m in result.values())


def test_nothing_is_learned_from_a_release_too_large(monkeypatch):
    threats = make_threats(two_communities(60))
    graph = threats.visible
    monkeypatch.setattr(utility, "MAX_SIZE", graph.num_nodes + graph.num_edges)
    assert measure(Release(graph), threats)["link_prediction_auc"].value is not None
    monkeypatch.setattr(utility, "MAX_SIZE", graph.num_nodes + graph.num_edges - 1)
    for item in measure(Release(graph), threats).values():
        assert item.value is None
        assert "left out above" in item.reason


def test_cancelled_and_reported():
    threats = make_threats(two_communities())
    progress = RecordingProgress()
    measure(Release(threats.visible), threats, progress=progress)
    assert "utility_loss" in progress.curves
    with pytest.raises(RunCancelled):
        measure(Release(threats.visible), threats, progress=RecordingProgress(lambda: True))
