"""A linear model of whom people are linked to, against a naive form of it."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from core.algorithms.normalize import normalize_rows
from core.attacks.attribute import adjacency_regression
from core.attacks.attribute.adjacency_regression import (
    AdjacencyRegression,
    count_entries,
    draw_known,
    project_rows,
    read_rows,
)
from core.attacks.attribute.label_propagation import LabelPropagation
from core.context import Context
from core.data.splits import draw_attribute_threat
from core.graph import Graph
from core.measures.ranking import measure_class_probabilities
from core.methods import THIS_SIZE
from core.node_column import NodeColumn
from core.release import Release
from core.seeding import Seed
from tests.oracles.blocks import generate_blocks
from tests.oracles.graphs import GRAPHS, two_communities


def propagate_naively(graph):
    """Row by row: own links and oneself, hubs discounted, summed over the neighbourhood."""
    n = graph.num_nodes
    looped = graph.adjacency.toarray() + np.eye(n)
    rows = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            rows[i, j] = looped[i, j] * (1 + np.log((1 + n) / (1 + (looped[:, j] > 0).sum())))
        rows[i] /= np.sqrt((rows[i] ** 2).sum())
    mixed = np.array([sum(looped[i, j] * rows[j] for j in range(n)) for i in range(n)])
    return mixed / np.sqrt((mixed**2).sum(axis=1, keepdims=True))


@pytest.mark.parametrize("name", ["two_communities", "star", "isolated_node", "weighted"])
def test_propagated_rows_are_those_of_a_naive_loop(name):
    graph = GRAPHS[name]()
    looped, own = read_rows(graph)
    found = looped @ own
    assert found.nnz <= count_entries(graph)
    np.testing.assert_allclose(
        normalize_rows(found).toarray(), propagate_naively(graph), atol=1e-12
    )


def test_the_projection_loses_nothing_of_a_ridge_regression():
    """Known rows span the coefficients, so that 2n columns are as good as their projection."""
    graph = two_communities(60)
    threat = draw_attribute_threat(graph, "private", 0.3, Seed(0))
    rows, nodes = propagate_naively(graph), np.flatnonzero(threat.known)
    table = project_rows(*read_rows(graph), nodes, 256)
    assert table.shape[1] <= len(nodes)
    np.testing.assert_allclose(table[nodes] @ table[nodes].T, rows[nodes] @ rows[nodes].T)
    by_rows, by_table = (
        LogisticRegression(C=10.0, tol=1e-8, max_iter=2000)
        .fit(columns[nodes], threat.observed[nodes])
        .predict_proba(columns)
        for columns in (rows, table)
    )
    np.testing.assert_allclose(by_table, by_rows, atol=1e-4)


def test_few_directions_are_the_main_ones_of_a_sample_of_the_known(monkeypatch):
    graph = two_communities(60)
    known, rows = np.arange(60) % 3 == 0, propagate_naively(graph)
    table = project_rows(*read_rows(graph), np.flatnonzero(known), 5)
    expected = (np.linalg.svd(rows[known])[1][:5] ** 2).sum()  # the most that five can hold
    assert table.shape == (60, 5)
    assert (table[known] ** 2).sum() == pytest.approx(expected)
    monkeypatch.setattr(adjacency_regression, "MAX_SAMPLED", 8)
    drawn = draw_known(known, Context(Seed(0)))
    sampled = project_rows(*read_rows(graph), drawn, 256)
    assert sampled.shape == (60, 8)
    lengths = np.linalg.norm(sampled, axis=1)
    assert (lengths < 1 + 1e-9).all()
    assert (lengths[known] > 1 - 1e-9).sum() == 8  # those sampled lie within their own span


def test_many_classes_are_told_apart_where_labels_hardly_spread():
    graph = generate_blocks(42, 0)
    threat = draw_attribute_threat(graph, "private", 0.2, Seed(0))
    values = {}
    for attack in (AdjacencyRegression(), LabelPropagation()):
        found = attack.infer(Release(graph), threat, Context(Seed(0)))
        rows = {m.metric: m.value for m in measure_class_probabilities(found, threat)}
        values[attack.info.key] = np.array([rows["auc"], rows["accuracy"]])
    assert (values["adjacency_regression"] > values["label_propagation"] + [0.05, 0.15]).all()


def test_classes_that_only_link_across_are_found_too():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 2, 200)
    i, j = np.triu_indices(200, 1)
    linked = rng.random(len(i)) < np.where(codes[i] == codes[j], 0.0, 0.08)
    graph = Graph.from_pairs(np.stack([i, j], 1)[linked], 200)
    graph = graph.update_columns(attributes={"private": NodeColumn("private", codes, ("a", "b"))})
    threat = draw_attribute_threat(graph, "private", 0.2, Seed(0))
    found = AdjacencyRegression().infer(Release(graph), threat, Context(Seed(0)))
    rows = {m.metric: m.value for m in measure_class_probabilities(found, threat)}
    assert rows["auc"] > 0.95
    assert np.isnan(found.held_out[threat.hidden]).all()
    assert not np.isnan(found.held_out[threat.known]).any()


def test_a_graph_too_large_is_declined_beforehand(monkeypatch):
    graph = GRAPHS["star"]()
    threat = draw_attribute_threat(graph, "private", 0.4, Seed(0))
    entries = count_entries(graph)
    assert entries == min(21**2 + 20 * 2**2, 21**2)
    monkeypatch.setattr(adjacency_regression, "MAX_ENTRIES", entries)
    assert AdjacencyRegression().supports(Release(graph), threat) is None
    monkeypatch.setattr(adjacency_regression, "MAX_ENTRIES", entries - 1)
    reason = AdjacencyRegression().supports(Release(graph), threat)
    assert f"{entries:,}" in reason
    assert THIS_SIZE in reason
