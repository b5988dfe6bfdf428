import networkx as nx
import numpy as np
import pytest

from core.data.synthetic import PLANTED, generate_social
from core.errors import InputError

GRAPHS = [generate_social(1000, seed) for seed in range(3)]


def naive_ghratios(graph, name, tolerance=None):
    """GPS Eq. 3 (proximity) or, with a tolerance, Eq. 4 (role), pair by pair."""
    z, d, n = graph.attributes[name].codes, graph.degrees, graph.num_nodes
    linked = graph.adjacency.toarray() > 0
    ratios = np.full(n, np.nan)
    for i in range(n):
        peers = linked[i] if tolerance is None else abs(d - d[i]) <= tolerance
        peers = peers & (np.arange(n) != i)
        if peers.any():
            ratios[i] = (z[peers] == z[i]).mean()
    return ratios


@pytest.mark.parametrize("graph", GRAPHS)
def test_affiliation_leaks_by_proximity_as_planted(graph):
    proximity = naive_ghratios(graph, "affiliation")
    codes = graph.attributes["affiliation"].codes
    for code, share in enumerate(PLANTED.affiliation_shares):
        expected = PLANTED.inside_links + (1 - PLANTED.inside_links) * share
        assert np.nanmean(proximity[codes == code]) == pytest.approx(expected, abs=0.025)
    role = naive_ghratios(graph, "affiliation", tolerance=5)
    for code, share in enumerate(PLANTED.affiliation_shares):
        assert np.nanmean(role[codes == code]) == pytest.approx(share, abs=0.03)


@pytest.mark.parametrize("graph", GRAPHS)
@pytest.mark.parametrize("tolerance", [2, 5, 10])
def test_seniority_is_invisible_to_proximity_and_visible_to_role(graph, tolerance):
    proximity = naive_ghratios(graph, "seniority")
    role = naive_ghratios(graph, "seniority", tolerance)
    codes = graph.attributes["seniority"].codes
    expected = PLANTED.role_purity**2 + (1 - PLANTED.role_purity) ** 2
    for code in (0, 1):
        assert np.nanmean(proximity[codes == code]) == pytest.approx(0.5, abs=0.02)
        assert np.nanmean(role[codes == code]) == pytest.approx(expected, abs=0.03)


@pytest.mark.parametrize("tolerance", [5, 10])
def test_the_measure_recovers_what_is_planted(tolerance):
    from core.algorithms.ghratio import compute_ghratios

    graph = GRAPHS[1]
    for name in ("affiliation", "seniority"):
        codes, classes = graph.attributes[name].codes, graph.attributes[name].num_classes
        found = compute_ghratios(graph, codes, classes, tolerance)
        assert found.proximity == pytest.approx(naive_ghratios(graph, name), nan_ok=True)
        assert found.role == pytest.approx(naive_ghratios(graph, name, tolerance), nan_ok=True)


def test_degree_says_nothing_of_affiliation_and_both_seniorities_have_equal_mean_degree():
    graph = GRAPHS[0]
    for name in ("affiliation", "seniority"):
        codes = graph.attributes[name].codes
        means = [graph.degrees[codes == code].mean() for code in np.unique(codes)]
        assert np.ptp(means) < 0.15 * graph.degrees.mean()


def test_no_feature_gives_away_seniority_and_features_inform_on_the_label():
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import cross_val_score

    graph = GRAPHS[0]
    model = LogisticRegression(max_iter=500)
    accuracy = {
        name: cross_val_score(model, graph.features, graph.attributes[name].codes).mean()
        for name in ("seniority", "label")
    }
    assert accuracy["seniority"] < 0.56
    assert 0.30 < accuracy["label"] < 0.45


def test_network_is_connected_clustered_and_named():
    graph = GRAPHS[0]
    assert graph.num_nodes == 1000
    assert graph.node_ids[:2] == ("p0001", "p0002")
    assert set(graph.attributes) == {"affiliation", "seniority", "label"}
    view = graph.to_networkx()
    assert nx.is_connected(view)
    assert nx.average_clustering(view) > 5 * graph.density
    bands = PLANTED.degree_bands
    inside = [((graph.degrees >= lo - 3) & (graph.degrees <= hi)).mean() for _, lo, hi in bands]
    assert inside == pytest.approx([band[0] for band in bands], abs=0.005)


def test_same_seed_same_network_other_seed_another():
    assert generate_social(300, 4).content_hash == generate_social(300, 4).content_hash
    assert generate_social(300, 4).content_hash != generate_social(300, 5).content_hash


def test_too_few_people_are_refused():
    with pytest.raises(InputError, match="at least 200"):
        generate_social(10)
