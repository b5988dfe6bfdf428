"""The mean of two linear models of links, against each of them made naively."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from core.attacks.attribute import adjacency_regression, averaged_regression
from core.attacks.attribute.adjacency_regression import count_entries, draw_known, find_directions
from core.attacks.attribute.averaged_regression import PENALTY, AveragedRegression
from core.context import Context
from core.data.splits import draw_attribute_threat
from core.graph import Graph
from core.models.tuning import fit_logistic
from core.release import Release
from core.seeding import Seed
from core.threats import AttributeThreat
from tests.oracles.graphs import GRAPHS, two_communities


def describe_naively(graph: Graph) -> np.ndarray:
    """(n, n) own links and oneself, hubs discounted, of unit length."""
    n = graph.num_nodes
    looped = graph.adjacency.toarray() + np.eye(n)
    rarity = [1 + np.log((1 + n) / (1 + (looped[:, j] > 0).sum())) for j in range(n)]
    rows = looped * np.array(rarity)
    return np.array([row / np.sqrt((row**2).sum()) for row in rows])


def predict_naively(rows: np.ndarray, threat: AttributeThreat) -> np.ndarray:
    model = LogisticRegression(C=PENALTY, tol=1e-8, max_iter=2000)
    return model.fit(rows[threat.known], threat.observed[threat.known]).predict_proba(rows)


def test_it_is_the_mean_of_both_models() -> None:
    graph = two_communities(60)
    threat = draw_attribute_threat(graph, "private", 0.4, Seed(0))
    found = AveragedRegression().infer(Release(graph), threat, Context(Seed(0)))
    rows = describe_naively(graph)
    mixed = (graph.adjacency.toarray() + np.eye(60)) @ rows
    mixed /= np.sqrt((mixed**2).sum(axis=1, keepdims=True))
    parts = [predict_naively(rows, threat), predict_naively(mixed, threat)]
    np.testing.assert_allclose(found.probabilities, sum(parts) / 2, atol=1e-3)
    assert np.abs(parts[0] - parts[1]).max() > 0.05


def test_each_held_out_value_is_predicted_without_it(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = two_communities(60)
    threat = draw_attribute_threat(graph, "private", 0.4, Seed(0))
    parts = []

    def watch(*args: object) -> tuple[np.ndarray, float, np.ndarray]:
        parts.append(fit_logistic(*args))
        return parts[-1]

    monkeypatch.setattr(averaged_regression, "fit_logistic", watch)
    found = AveragedRegression().infer(Release(graph), threat, Context(Seed(0)))
    assert found.held_out is not None
    assert np.isnan(found.held_out[threat.hidden]).all()
    np.testing.assert_allclose(found.held_out, (parts[0][2] + parts[1][2]) / 2)
    assert np.abs(found.held_out - found.probabilities)[threat.known].max() > 0.05


def test_directions_span_the_rows_and_are_few_if_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    graph, known = two_communities(60), np.arange(60) % 3 == 0
    rows = adjacency_regression.read_rows(graph)[1][np.flatnonzero(known)]
    directions = find_directions(rows, 256)
    np.testing.assert_allclose(directions.T @ directions, np.eye(directions.shape[1]), atol=1e-9)
    np.testing.assert_allclose((rows @ directions) @ directions.T, rows.toarray(), atol=1e-9)
    assert find_directions(rows, 3).shape == (60, 3)
    monkeypatch.setattr(adjacency_regression, "MAX_SAMPLED", 8)
    drawn = draw_known(known, Context(Seed(0)))
    assert len(drawn) == 8
    assert known[drawn].all()


def test_a_graph_too_large_is_declined_beforehand(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = GRAPHS["star"]()
    threat = draw_attribute_threat(graph, "private", 0.4, Seed(0))
    monkeypatch.setattr(adjacency_regression, "MAX_ENTRIES", count_entries(graph) - 1)
    assert "at most" in (AveragedRegression().supports(Release(graph), threat) or "")
