"""Values from links flipped at a public rate: dense and naive forms, and what it must not see."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from core.attacks.attribute.denoised_blocks import (
    FORMS,
    DenoisedBlocks,
    NoisyLinks,
    estimate_rates,
    find_directions,
    infer_values,
    read_noisy_links,
    subtract_flips,
)
from core.attacks.attribute.label_propagation import LabelPropagation
from core.context import Context
from core.data.splits import draw_attribute_threat
from core.graph import Graph
from core.measures.ranking import measure_class_probabilities
from core.node_column import NodeColumn
from core.registry import make_method
from core.release import Release
from core.results import ClassProbabilities
from core.seeding import Seed
from core.threats import Threats
from tests.oracles.graphs import plant_blocks, two_communities


def publish(graph: Graph, key: str, epsilon: float, seed: int = 0) -> Release:
    defense = make_method(key, {"epsilon": epsilon}, "defense")
    return defense.publish(graph, Threats(graph, None, None), Context(Seed(seed)))


def make_noisy(links: np.ndarray, theta: np.ndarray, noise: float) -> NoisyLinks:
    from scipy import sparse

    return NoisyLinks(sparse.csr_array(links), 0.0, noise, theta)


def measure(attack, release, threat) -> dict[str, float]:
    found = attack.infer(release, threat, Context(Seed(0)))
    return {m.metric: m.value for m in measure_class_probabilities(found, threat)}


@pytest.mark.parametrize("key", ["edge_rand", "randomized_response", "sym_rr", "rabv"])
def test_subtracted_links_are_a_dense_matrix_and_unbiased(key):
    graph = two_communities(24, seed=3)
    table = np.random.default_rng(0).normal(size=(24, 2))
    total, count = np.zeros((24, 2)), 150
    for seed in range(count):
        release = publish(graph, key, 1.0, seed)
        noisy = read_noisy_links(release)
        dense = (release.graph.adjacency.toarray().astype(float) - noisy.flip) / (
            1 - 2 * noisy.flip
        )
        np.fill_diagonal(dense, 0.0)
        product = noisy.multiply(table)
        np.testing.assert_allclose(product, dense @ table, atol=1e-9)
        total += product
    error = np.sqrt(noisy.noise * (table**2).sum() / count)
    assert np.abs(total / count - graph.adjacency.toarray() @ table).max() < 4 * error


def test_noise_is_the_variance_of_an_entry():
    graph = two_communities(24, seed=3)
    i, j = np.argwhere(np.triu(graph.adjacency.toarray() == 0, 1))[0]
    for key, bound in (("edge_rand", 1.0), ("randomized_response", 0.5)):
        flip = 1 / (1 + np.e)
        noisy = read_noisy_links(publish(graph, key, 1.0))
        exact = bound * flip * (1 - flip) / (1 - 2 * flip) ** 2
        density = graph.num_edges / graph.num_pairs
        assert exact < noisy.noise < exact + 3 * density
        entries = [
            subtract_flips(release.graph.adjacency, flip, np.eye(24))[i, j]
            for release in (publish(graph, key, 1.0, seed) for seed in range(200))
        ]
        assert np.var(entries) == pytest.approx(exact, rel=0.3)


def test_rates_equal_a_loop_where_there_is_no_noise():
    rng = np.random.default_rng(0)
    links = np.triu(rng.random((40, 40)) < 0.4, 1).astype(float)
    links += links.T
    codes, theta = rng.integers(0, 3, 40), rng.uniform(0.2, 1.0, 40)
    values = np.eye(3)[codes]
    noisy = make_noisy(links, theta, 1e-12)
    found = estimate_rates(noisy, values, theta[:, None] * values, links @ values)
    for a in range(3):
        for b in range(3):
            rows, columns = np.flatnonzero(codes == a), np.flatnonzero(codes == b)
            pairs = sum(theta[i] * theta[j] for i in rows for j in columns if i != j)
            count = sum(links[i, j] for i in rows for j in columns)
            assert found[a, b] == pytest.approx(count / pairs, rel=1e-6)
    drowned = estimate_rates(
        make_noisy(links, theta, 1e6), values, theta[:, None] * values, links @ values
    )
    assert np.ptp(np.diag(drowned)) < 1e-3
    assert np.ptp(drowned[~np.eye(3, dtype=bool)]) < 1e-3


def test_a_class_of_nobody_leaves_the_rates_of_others():
    """Its own would be 0 links of 0 pairs, for sure, and would pull the mean to 0."""
    rng = np.random.default_rng(0)
    links = np.triu(rng.random((40, 40)) < 0.5, 1).astype(float)
    links += links.T
    theta = np.full(40, 0.7)
    values = np.eye(3)[np.arange(40) % 2]
    noisy = make_noisy(links, theta, 0.3)
    found = estimate_rates(noisy, values, theta[:, None] * values, links @ values)
    assert found[2, 2] == pytest.approx(found[:2, :2].diagonal().mean(), rel=0.05)
    assert found[0, 2] == pytest.approx(found[0, 1], rel=0.05)


@pytest.fixture(scope="module")
def planted():
    codes = np.random.default_rng(0).integers(0, 4, 400)
    graph = plant_blocks(codes, np.full((4, 4), 0.03) + 0.17 * np.eye(4), 0)
    attribute = NodeColumn("private", codes, ("a", "b", "c", "d"))
    graph = graph.update_columns(attributes={"private": attribute})
    return graph, draw_attribute_threat(graph, "private", 0.1, Seed(0))


@pytest.mark.parametrize("key", ["edge_rand", "randomized_response"])
def test_it_sees_through_noise_that_stops_others(planted, key):
    graph, threat = planted
    release = publish(graph, key, 1.5)
    ours, plain = (measure(a, release, threat) for a in (DenoisedBlocks(), LabelPropagation()))
    assert ours["auc"] > plain["auc"] + 0.02
    first = infer_values(read_noisy_links(release), threat.observed, 4, 0)
    rows = measure_class_probabilities(ClassProbabilities(first), threat)
    assert ours["auc"] > next(m.value for m in rows if m.metric == "auc") + 0.04


def test_it_reads_nothing_hidden_and_holds_out_what_it_knows(planted):
    graph, threat = planted
    release = publish(graph, "edge_rand", 2.0)
    found = DenoisedBlocks().infer(release, threat, Context(Seed(0)))
    codes = np.where(threat.hidden, 0, threat.attribute.codes)
    other = replace(threat, attribute=replace(threat.attribute, codes=codes))
    again = DenoisedBlocks().infer(release, other, Context(Seed(0)))
    np.testing.assert_array_equal(found.probabilities, again.probabilities)
    known = np.flatnonzero(threat.known)
    assert np.isnan(found.held_out[threat.hidden]).all()
    assert not np.isnan(found.held_out[known]).any()


def test_a_round_is_the_expected_likelihood_of_normal_entries():
    rng = np.random.default_rng(0)
    links = np.triu(rng.random((14, 14)) < 0.4, 1).astype(float)
    links += links.T
    theta, noise, start = rng.uniform(0.3, 1.0, 14), 0.4, rng.dirichlet(np.ones(3), 14)
    noisy, observed = make_noisy(links, theta, noise), np.r_[0, 1, 2, 0, -np.ones(10)].astype(int)
    found = infer_values(noisy, observed, 3, 1, start)
    values = start.copy()
    values[:4] = np.eye(3)[observed[:4]]
    rates = estimate_rates(noisy, values, theta[:, None] * values, links @ values)
    shares = (np.bincount(observed[:4], minlength=3) + 1) / 7
    for i in range(4, 14):
        logs = np.log(shares)
        for c in range(3):
            for j in set(range(14)) - {i}:
                means = theta[i] * theta[j] * rates[c]
                errors = (links[i, j] - means) ** 2 - links[i, j] ** 2
                logs[c] -= (values[j] * errors).sum() / (2 * noise)
        latest = np.exp(logs) / np.exp(logs).sum()
        np.testing.assert_allclose(found[i], 0.8 * start[i] + 0.2 * latest, rtol=1e-6)
    again = infer_values(noisy, observed, 3, 1, found)
    np.testing.assert_allclose(infer_values(noisy, observed, 3, 2, start), again, rtol=1e-9)


@pytest.mark.parametrize("epsilon", [1.0, 3.0])
def test_directions_are_those_of_the_dense_matrix_above_its_noise(planted, epsilon):
    graph, _ = planted
    noisy = read_noisy_links(publish(graph, "edge_rand", epsilon))
    places = find_directions(noisy, 2)
    values, vectors = np.linalg.eigh(noisy.multiply(np.eye(400)))
    order = np.argsort(-np.abs(values))
    # Three of the four communities beside all links, or as many as classes.
    kept = order[: {1.0: 2, 3.0: 4}[epsilon]]
    dense = vectors[:, kept] * values[kept]
    dense /= np.sqrt((dense**2).sum(axis=1).mean())
    np.testing.assert_allclose(places @ places.T, dense @ dense.T, atol=0.02)


def test_a_class_of_several_communities_is_found_where_few_known_people_mislead():
    places = np.random.default_rng(1).integers(0, 8, 400)
    graph = plant_blocks(places, np.full((8, 8), 0.02) + 0.2 * np.eye(8), 1)
    private = NodeColumn("private", places % 2, ("a", "b"))
    graph = graph.update_columns(attributes={"private": private})
    threat = draw_attribute_threat(graph, "private", 0.1, Seed(1))
    release = publish(graph, "edge_rand", 3.0, 1)
    known_rates = infer_values(read_noisy_links(release), threat.observed, 2, 12)
    alone = measure_class_probabilities(ClassProbabilities(known_rates), threat)
    assert measure(DenoisedBlocks(), release, threat)["auc"] > 0.85
    assert next(m.value for m in alone if m.metric == "auc") < 0.6


@pytest.mark.parametrize("epsilon", [1.0, 3.0])
def test_forms_weigh_what_they_predict_and_promise_what_they_keep(planted, epsilon):
    graph, threat = planted
    release = publish(graph, "edge_rand", epsilon)
    found = DenoisedBlocks().infer(release, threat, Context(Seed(0)))
    assert min(found.facts[name] for name in FORMS) >= 0.0
    codes, losses = threat.attribute.codes, []
    for values, asked in (
        (found.held_out, threat.known),
        (found.probabilities, threat.hidden),
        (np.tile(threat.observed_shares, (400, 1)), threat.hidden),
    ):
        losses.append(-np.log(values[asked, codes[asked]]).mean())
    promised, kept, guessed = losses
    assert kept < guessed
    assert abs(promised - kept) < 0.2


def test_noise_alone_tells_nothing():
    graph = plant_blocks(np.zeros(200, np.int64), np.array([[0.1]]), 0)
    codes = np.random.default_rng(1).integers(0, 3, 200)
    graph = graph.update_columns(
        attributes={"private": NodeColumn("private", codes, ("a", "b", "c"))}
    )
    threat = draw_attribute_threat(graph, "private", 0.2, Seed(0))
    release = publish(graph, "edge_rand", 1.0)
    noisy = read_noisy_links(release)
    for start in (None, np.full((200, 3), 1 / 3)):
        values = infer_values(noisy, threat.observed, 3, 12, start)
        assert values.min() > 0
        np.testing.assert_allclose(values.sum(axis=1), 1)
    found = DenoisedBlocks().infer(release, threat, Context(Seed(0)))
    assert found.probabilities[threat.hidden].max() < 0.7


@pytest.mark.parametrize("key", ["random_deletion", "dprr", "blink"])
def test_releases_without_a_rate_to_subtract_are_declined(key):
    graph = two_communities(30)
    threat = draw_attribute_threat(graph, "private", 0.3, Seed(0))
    defense = make_method(key, {}, "defense")
    release = defense.publish(graph, Threats(graph, None, threat), Context(Seed(0)))
    assert "known probability" in DenoisedBlocks().supports(release, threat)
    assert DenoisedBlocks().supports(publish(graph, "edge_rand", 3.0), threat) is None
