"""Statistics with node-level privacy: sensitivity by brute force, coverage, and the guarantee."""

from __future__ import annotations

import math
from collections import Counter
from typing import ClassVar, get_args

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.context import Context
from core.errors import InputError
from core.graph import Graph
from core.methods import Defense, MethodInfo
from core.node_column import NodeColumn
from core.privacy.budget import Account
from core.privacy.claim_check import check_claim
from core.privacy.statistics import (
    Statistic,
    compute_noise_bound,
    count_degrees,
    count_links,
    count_mixing,
    count_triangles,
    draw_statistics,
)
from core.seeding import Seed
from tests.oracles.graphs import two_communities
from tests.privacy.test_capping import draw_neighbors

NAMES = get_args(Statistic)


def label(n):
    return NodeColumn("side", np.array([-1, 0, 0, 1, 1, 1, 2, 2, 2] * n)[:n], ("a", "b", "c"))


@settings(max_examples=200)
@given(st.data())
def test_any_other_links_of_one_node_change_a_table_by_at_most_its_sensitivity(data):
    n, cap = 9, data.draw(st.sampled_from([1, 2, 3, 5, 8]))
    (left, right), _ = draw_neighbors(data, n)
    column = label(n)
    for count in (count_links, count_degrees, count_triangles):
        before, after = count(left, cap), count(right, cap)
        assert np.abs(after.values - before.values).sum() <= before.sensitivity
        assert (before.values <= before.bounds).all()
    before, after = (count_mixing(graph, cap, column) for graph in (left, right))
    assert np.abs(after.values - before.values).sum() <= before.sensitivity
    assert (before.values <= before.bounds).all()


def test_sensitivity_of_mixing_counts_is_that_of_the_class_whose_node_changes_most():
    column = NodeColumn("side", np.array([0, 1, 1, 1, 1, 1]), ("few", "many"))
    none = Graph.from_pairs(np.empty((0, 2), np.int64), num_nodes=6)
    linked = none.with_edges(np.array([[5, 0], [5, 1], [5, 2], [5, 3], [5, 4]]))
    before, after = (count_mixing(graph, 3, column) for graph in (none, linked))
    assert np.abs(after.values - before.values).sum() == 4  # three of its own and one of the few
    assert before.sensitivity == 4
    alone = none.with_edges(np.array([[0, other] for other in range(1, 6)]))
    assert count_mixing(alone, 3, column).values.sum() == 3


def list_truth(graph, column):
    """Every count by NetworkX or a plain loop, under the names that the table has."""
    network = graph.to_networkx()
    degrees = [degree for _, degree in network.degree()]
    truth = {
        "all links": network.number_of_edges(),
        "all triangles": sum(nx.triangles(network).values()) // 3,
    }
    for k in range(1, graph.num_nodes):
        plural = "s" if k > 1 else ""
        truth[f"nodes with at least {k} link{plural}"] = sum(d >= k for d in degrees)
    pairs = Counter(tuple(sorted(column.codes[edge])) for edge in graph.edges)
    for a in range(column.num_classes):
        for b in range(a, column.num_classes):
            names = f"{column.classes[a]} and {column.classes[b]}"
            truth[f"links between {names}"] = pairs[(a, b)]
    return truth


def make_karate():
    network = nx.karate_club_graph()
    codes = np.array([club == "Officer" for _, club in network.nodes("club")], int)
    column = NodeColumn("club", codes, ("Hi", "Officer"))
    return Graph.from_pairs(np.array(network.edges), 34, attributes={"club": column}), column


def make_communities():
    graph = two_communities()
    return graph, graph.column("private")


@pytest.mark.parametrize("make", [make_karate, make_communities])
@pytest.mark.parametrize("is_capped", [False, True])
def test_each_statistic_covers_the_truth_in_95_of_100_runs(make, is_capped):
    graph, column = make()
    truth = list_truth(graph, column)
    cap = int(graph.degrees.max()) if is_capped else None
    covered, runs = Counter(), 1000
    for run in range(runs):
        rows, _ = draw_statistics(graph, NAMES, 2.0, Context(Seed(run)), cap, column)
        for name in NAMES:
            mine = [row for row in rows if row.statistic == name]
            assert all(row.low <= row.estimate <= row.high for row in mine)
            covered[name] += all(row.low <= truth[row.of] <= row.high for row in mine)
    assert min(covered.values()) >= 0.95 * runs, covered


def test_one_statistic_alone_misses_about_as_often_as_it_says():
    graph, _ = make_karate()
    runs = [draw_statistics(graph, ["num_links"], 9.0, Context(Seed(r)), 17) for r in range(3000)]
    missed = np.mean([not row.low <= 78 <= row.high for (row,), _ in runs])
    assert 0.03 < missed < 0.062


def test_the_noise_bound_is_the_quantile_of_the_discrete_law():
    for scale, alpha in ((0.3, 0.05), (4.0, 0.01), (250.0, 0.05)):
        weights = np.exp(-np.arange(40_000) / scale)
        tail = 2 * weights / (weights[0] + 2 * weights[1:].sum())
        beyond = tail[::-1].cumsum()[::-1]
        expected = next(t for t in range(40_000) if beyond[t + 1] <= alpha)
        assert compute_noise_bound(scale, alpha) == expected


def test_a_graph_beyond_the_public_bound_is_cut_off_and_said_so():
    star = Graph.from_pairs(np.stack([np.zeros(30, int), np.arange(1, 31)], 1), 31)
    (row,), guarantee = draw_statistics(star, ["num_links"], 1000.0, Context(Seed(0)), 5)
    assert row.high < 10
    assert "more than 5 links, which was given as public" in guarantee.note
    assert (guarantee.unit, guarantee.epsilon, guarantee.delta) == ("node", 1000.0, 0.0)
    with pytest.raises(InputError, match="needs a public column"):
        draw_statistics(star, ["mixing"], 1.0, Context(Seed(0)))


@pytest.mark.parametrize("is_publishing", [False, True])
def test_graphs_with_hardly_any_nodes_have_tables_too(is_publishing):
    context = Context(Seed(0), is_publishing=is_publishing)
    for n in (1, 2, 3):
        column = NodeColumn("side", np.arange(n) % 2, ("a", "b"))
        rows, _ = draw_statistics(
            Graph.from_pairs(np.zeros((0, 2)), n), NAMES, 1.0, context, 1, column
        )
        assert all(0 <= row.low <= row.estimate <= row.high for row in rows)


class Published(Defense):
    """The table as what a release's settings hold, so that the game reads every number."""

    info: ClassVar[MethodInfo] = MethodInfo("table", "Table", "Table.", "test", "node DP")
    names: tuple[Statistic, ...] = NAMES
    epsilon: float = 1.0

    def publish(self, graph, threats, context):
        column = NodeColumn("side", np.arange(graph.num_nodes) > 0, ("node", "others"))
        rows, guarantee = draw_statistics(graph, self.names, self.epsilon, context, None, column)
        made = self.build_release(graph.with_edges(np.empty((0, 2), int)), guarantee)
        made.config["rows"] = {row.of: row.estimate for row in rows}
        return made


def describe(release):
    return release.config["rows"]


def check(name, trials):
    """All nodes linked, with and without the first one: it weighs most in every statistic."""
    complete = Graph.from_pairs(np.stack(np.triu_indices(49, 1), 1), 49)
    without = complete.with_edges(complete.edges[complete.edges[:, 0] > 0])
    game = {"neighbors": (complete, without), "trials": trials, "describe": describe}
    return check_claim(Published(names=[name]), Context(Seed(3)), **game)


@pytest.mark.parametrize("name", NAMES)
def test_the_claim_is_not_refuted_and_a_quarter_of_the_noise_is(name, monkeypatch):
    assert not check(name, 600).is_refuted
    spend = Account.spend
    monkeypatch.setattr(Account, "spend", lambda *arguments: spend(*arguments) / 4)
    assert check(name, 1000).is_refuted  # the noise is not seeded: half of it needs 6,000


def test_statistics_share_the_budget_equally(monkeypatch):
    spent = []
    take = Account._take
    monkeypatch.setattr(Account, "_take", lambda *a: spent.append(take(*a)) or spent[-1])
    graph, column = make_communities()
    _, guarantee = draw_statistics(graph, NAMES, 2.0, Context(Seed(0)), None, column)
    assert spent == [0.5] * 4
    assert guarantee.epsilon == math.fsum(spent)
