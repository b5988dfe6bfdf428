"""In two modes candidates are the pairs across them, wherever pairs are drawn or judged."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import networkx as nx
import numpy as np
import pytest

from core.algorithms.pairs import (
    count_candidates,
    draw_non_links,
    draw_training_pairs,
    hide_links,
    sample_candidates,
    sample_non_links,
)
from core.audit.asked.scenarios import Scenario
from core.audit.computing.attacking import attack_release
from core.audit.computing.making import make_release
from core.context import Context
from core.data.control import draw_control
from core.data.packing import pack_graph, unpack_graph
from core.data.profile import compute_profile
from core.data.readers import load_graph
from core.data.second_graph import sample_second_graph
from core.data.splits import draw_released_threat, draw_threats
from core.defenses.external import External
from core.defenses.random_deletion import RandomDeletion
from core.errors import InputError
from core.graph import Graph
from core.measures.ranking import compute_auc
from core.measures.top_pairs import draw_candidates
from core.node_column import NodeColumn
from core.registry import make_method
from core.release import Release
from core.seeding import Seed
from core.threats import LinkThreat, Threats


@pytest.fixture(scope="module")
def graph() -> Graph:
    """18 women and 14 events, in an order that mixes them."""
    women = nx.davis_southern_women_graph()
    names = sorted(women, key=lambda name: name[::-1])
    codes = [women.nodes[name]["bipartite"] for name in names]
    index = {name: i for i, name in enumerate(names)}
    pairs = np.array([(index[a], index[b]) for a, b in women.edges])
    modes = NodeColumn("mode", np.array(codes), ("women", "events"))
    return Graph.from_pairs(pairs, len(names), node_ids=tuple(names), modes=modes)


class Rebuilt(RandomDeletion):
    """A defense whose graph is built anew, as one that was read from a file is."""

    def publish(self, graph: Graph, threats: Threats, context: Context) -> Release:
        return Release(Graph(edges=graph.edges, node_ids=graph.node_ids), "rebuilt")


def list_candidates(graph: Graph) -> set[tuple[int, int]]:
    """Pairs across the modes that are not linked, by a loop."""
    links = {tuple(edge) for edge in graph.edges.tolist()}
    sides = [[i for i, c in enumerate(graph.modes.codes) if c == side] for side in (0, 1)]
    return {tuple(sorted(pair)) for pair in product(*sides)} - links


def to_set(pairs: np.ndarray) -> set[tuple[int, int]]:
    return {tuple(sorted(pair)) for pair in pairs.tolist()}


def test_every_candidate_is_drawn_once_and_no_other(graph):
    wanted, rng = list_candidates(graph), np.random.default_rng(0)
    assert count_candidates(graph) == len(wanted) == 18 * 14 - 89
    pairs = sample_candidates(graph, len(wanted), rng)
    assert to_set(pairs) == wanted
    assert (pairs[:, 0] < pairs[:, 1]).all()
    sparse = graph.select_edges(np.arange(graph.num_edges) < 3)
    few = sample_candidates(sparse, 5, rng)
    assert len(to_set(few)) == 5
    assert to_set(few) <= list_candidates(sparse)
    with pytest.raises(InputError, match=r"across its modes.*got 163"):
        sample_candidates(graph, len(wanted) + 1, rng)


def test_draws_are_uniform(graph):
    rng, counts = np.random.default_rng(1), dict.fromkeys(list_candidates(graph), 0)
    sparse_draws, dense_draws = 300, 20
    for _ in range(sparse_draws):
        for pair in to_set(sample_candidates(graph, dense_draws, rng)):
            counts[pair] += 1
    seen, share = np.array(list(counts.values())), dense_draws / len(counts)
    spread = np.sqrt(sparse_draws * share * (1 - share))
    assert abs(seen - sparse_draws * share).max() < 5 * spread


def test_a_graph_of_one_mode_is_drawn_as_before(graph):
    one = replace(graph, modes=None)
    first, second = (np.random.default_rng(3) for _ in range(2))
    assert (sample_candidates(one, 30, first) == sample_non_links(one, 30, second)).all()
    assert one.num_candidates == one.num_pairs == 32 * 31 // 2
    assert graph.density == 89 / (18 * 14)
    assert one.content_hash != graph.content_hash


@pytest.mark.parametrize("evaluation", ["uniform", "degree_matched"])
def test_threats_are_across_the_modes(graph, evaluation):
    threats = draw_threats(graph, Seed(2), hide_links=0.2, evaluation=evaluation)
    wanted = list_candidates(graph)
    for pairs in (threats.link.absent, threats.link.more_absent, threats.test_non_links):
        assert to_set(pairs) <= wanted
        assert len(pairs)
    hidden = len(threats.link.hidden)
    assert threats.link.prior == hidden / (18 * 14 - threats.visible.num_edges)


def test_no_candidate_is_at_distance_two(graph):
    with pytest.raises(InputError, match="choose uniform"):
        draw_threats(graph, Seed(2), hide_links=0.2, evaluation="distance_2")


def compute_auc_by_loop(scores: dict[tuple[int, int], float], links, others) -> float:
    wins = [(scores[a] > scores[b]) + 0.5 * (scores[a] == scores[b]) for a in links for b in others]
    return sum(wins) / len(wins)


def test_who_sees_the_modes_alone_has_the_auc_of_chance(graph):
    """And would have far more, were pairs within the modes judged."""
    threats = draw_threats(graph, Seed(4), hide_links=0.3)
    blind = draw_threats(replace(graph, modes=None), Seed(4), hide_links=0.3)

    def judge(threat: LinkThreat) -> float:
        sides = graph.modes.codes[threat.pairs]
        return compute_auc((sides[:, 0] != sides[:, 1]).astype(float), threat.truth)[0]

    assert judge(threats.link) == 0.5
    assert judge(blind.link) > 0.6
    neighbours = make_method("common_neighbors")
    scores = neighbours.score(Release(threats.visible), threats.link, Context(Seed(0))).scores
    assert compute_auc(scores[0] if scores.ndim > 1 else scores, threats.link.truth)[0] == 0.5


def test_an_attack_is_judged_as_by_a_loop_over_the_candidates(graph):
    threats = draw_threats(graph, Seed(5), hide_links=0.2, test_links=0)
    threat, degrees = threats.link, threats.visible.degrees
    every = replace(threat, absent=np.array(sorted(list_candidates(graph))))
    scores = (
        make_method("degree_product")
        .score(Release(threats.visible), every, Context(Seed(0)))
        .scores
    )
    by_pair = {pair: float(degrees[pair[0]] * degrees[pair[1]]) for pair in to_set(every.pairs)}
    wanted = compute_auc_by_loop(by_pair, to_set(threat.hidden), to_set(every.absent))
    assert compute_auc(np.ravel(scores), every.truth)[0] == pytest.approx(wanted)


def test_released_links_are_judged_across_the_modes(graph):
    rng = np.random.default_rng(6)
    within = [(i, j) for i, j in product(range(32), repeat=2) if i < j]
    within = [p for p in within if graph.modes.codes[p[0]] == graph.modes.codes[p[1]]][:7]
    across = sorted(list_candidates(graph))[:5]
    released = graph.with_edges(np.concatenate([graph.edges[:50], within, across]))
    threat = draw_released_threat(graph, released, rng)
    assert to_set(threat.absent) <= list_candidates(graph)
    assert set(across) <= to_set(threat.absent)
    assert threat.weights.sum() == pytest.approx(18 * 14)
    assert threat.prior == graph.density
    assert threat.released.sum() == 50 + 5


@pytest.mark.parametrize("limit", [10_000, 40])
def test_top_pairs_are_candidates(graph, limit):
    threats = draw_threats(graph, Seed(7), hide_links=0.2)
    rng = np.random.default_rng(0)
    found = draw_candidates(threats.visible, threats.link, limit, False, rng)
    assert to_set(found.pairs) <= list_candidates(threats.visible)
    assert found.total == len(list_candidates(threats.visible))
    assert found.weights.sum() == pytest.approx(found.total)


def test_attackers_train_and_control_nodes_are_judged_across_the_modes(graph):
    rng, wanted = np.random.default_rng(0), list_candidates(graph)
    assert to_set(draw_training_pairs(graph, 500, rng)[1]) <= wanted
    assert to_set(hide_links(graph, 0.2, 50, rng)[2]) <= wanted
    assert to_set(draw_non_links(graph, 500, rng)) <= wanted
    control = draw_control(graph, 0.2, Seed(1))
    assert to_set(control.link.absent) <= wanted
    touched = [p for p in wanted if control.people[list(p)].any()]
    linked = int(control.people[graph.edges].any(axis=1).sum())
    assert control.num_pairs == len(touched) + linked
    second = sample_second_graph(graph, Seed(3), 1.0, 0.3)
    assert second.num_edges > graph.num_edges
    assert second.may_link(second.edges).all()


def test_modes_are_kept_by_the_store_by_parts_and_by_releases(graph):
    again = unpack_graph(pack_graph(graph))
    assert again.content_hash == graph.content_hash
    assert again.modes.classes == ("women", "events")
    part = graph.subgraph(np.arange(10))
    assert part.modes.codes.tolist() == graph.modes.codes[:10].tolist()
    for defense in (make_method("random_rewiring"), Rebuilt()):
        made = make_release(defense, Threats(graph), Context(Seed(0)))
        assert made.graph.modes.codes.tolist() == graph.modes.codes.tolist()
    with pytest.raises(InputError, match="must be two"):
        replace(graph, modes=NodeColumn("mode", np.zeros(32, int), ("one",)))


DROPPING = {"k_degree_anonymity": {"k": 5}, "randomized_response": {"epsilon": 2.0}, "dgg": {}}


@pytest.mark.parametrize("key", DROPPING)
def test_a_release_has_no_links_within_a_mode(graph, key):
    """The defense draws among all pairs; what leaves are its links across the modes."""
    defense, threats = make_method(key, DROPPING[key]), Threats(graph)
    drawn = defense.publish(graph, threats, Context(Seed(0)))
    made = make_release(defense, threats, Context(Seed(0)))
    is_across = graph.may_link(drawn.graph.edges)
    assert 0 < is_across.sum() < len(is_across)
    assert made.graph.edges.tolist() == drawn.graph.edges[is_across].tolist()
    assert made.guarantee == drawn.guarantee
    assert "links_added" not in made.facts  # of the drawn links; the engine counts these


@pytest.mark.parametrize(
    "key", ["edge_rand", "lap_graph", "tmf", "l_dpgcn", "random_rewiring", "sym_rr", "rabv"]
)
def test_noise_falls_on_the_candidates_alone(graph, key):
    """So that as many false links are drawn as on that many pairs, and a count of links is kept."""
    config = {} if key == "random_rewiring" else {"epsilon": 2.0}
    defense, added = make_method(key, config), []
    for seed in range(30):
        made = defense.publish(graph, Threats(graph), Context(Seed(seed))).graph
        assert made.may_link(made.edges).all()
        added.append((~graph.contains_pairs(made.edges)).sum())
    assert np.mean(added) > 1
    if key == "edge_rand":
        false = (graph.num_candidates - graph.num_edges) / (1 + np.exp(2.0))
        assert np.mean(added) == pytest.approx(false, rel=0.1)


def test_candidates_of_each_node_by_counting(graph):
    codes = np.where(np.arange(32) == 3, -1, graph.modes.codes)
    own = replace(graph, modes=replace(graph.modes, codes=codes))
    own = own.select_edges(own.may_link(own.edges))
    for each in (graph, own, replace(graph, modes=None)):
        pairs = np.stack(np.triu_indices(32, 1), 1)
        pairs = pairs[each.may_link(pairs)]
        assert each.node_candidates.tolist() == np.bincount(pairs.ravel(), minlength=32).tolist()
        assert each.num_candidates == len(pairs)


def test_a_release_made_elsewhere_stays_and_is_attacked_without_links_within_a_mode(graph):
    within = np.array([[0, 1], [2, 3], [20, 21]])
    outside = replace(graph, modes=None)
    given = outside.with_edges(np.concatenate([graph.edges[5:], within]))
    threats = replace(draw_threats(graph, Seed(0), hide_links=0.2), external=(given,))
    made = make_release(External(), threats, Context(Seed(0)))
    assert made.graph.contains_pairs(within).all()
    clean = replace(made, graph=made.graph.select_edges(graph.may_link(made.graph.edges)))
    scenario, attack = Scenario("katz", "link"), make_method("katz")
    scores = [
        attack_release(attack, scenario, one, threats, Context(Seed(1)))[2]["scores"]
        for one in (made, clean)
    ]
    assert (scores[0] == scores[1]).all()
    aware = attack.score(made, threats.link, Context(Seed(1))).scores
    assert (scores[0] != aware).any()  # else the above would hold of anything


def test_modes_follow_the_ids(tmp_path):
    (tmp_path / "l.csv").write_text("user_id,movie_id\nu1,m1\nu2,m1\nu2,m2\n")
    (tmp_path / "n.csv").write_text("id,x\nm2,1\nu1,2\nother,3\nm1,4\nu2,5\n")
    loaded = load_graph(tmp_path / "l.csv", nodes_path=tmp_path / "n.csv")
    assert loaded.graph.node_ids == ("m2", "u1", "other", "m1", "u2")
    assert loaded.graph.modes.codes.tolist() == [1, 0, -1, 1, 0]
    assert loaded.graph.num_candidates == 4
    assert loaded.report.modes == {"user": 2, "movie": 2}
    assert compute_profile(loaded.graph).modes == {"user": 2, "movie": 2}
    (tmp_path / "p.net").write_text("*Vertices 3 2\n*Edges\n1 3\n1 2\n")
    loaded = load_graph(tmp_path / "p.net")
    assert loaded.graph.modes is None
    assert loaded.report.modes == {}
    assert any("read as one mode" in note for note in loaded.report.notes)


def test_the_column_of_the_modes_is_told(tmp_path):
    (tmp_path / "n.csv").write_text("id,type\na,person\nb,person\nx,event\ny,event\n")
    (tmp_path / "l.csv").write_text("source,target\na,x\nb,x\nb,y\n")
    loaded = load_graph(tmp_path / "l.csv", nodes_path=tmp_path / "n.csv")
    (use,) = (c for c in loaded.report.columns if c.name == "type")
    assert (use.use, use.why) == ("mode", "read as attribute; every link joins its two values")
    assert loaded.graph.modes.classes == ("event", "person")
    assert list(loaded.graph.attributes) == ["type"]
    chosen = load_graph(tmp_path / "l.csv", nodes_path=tmp_path / "n.csv", private="type")
    assert {c.name: c.use for c in chosen.report.columns}["type"] == "private"
