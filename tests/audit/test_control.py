"""Control people: nothing of theirs goes into a release, and what being in it adds is measured."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from core.audit import assemble
from core.audit.asked import parts
from core.audit.asked.presets import SETTING
from core.audit.asked.scenarios import Scenario
from core.audit.asked.spec import AuditSpec
from core.audit.computing.attacking import attack_release
from core.audit.computing.plan import plan_audit
from core.audit.computing.prepared import PreparedAudit
from core.audit.computing.threat_sampling import (
    draw_repeat,
    draw_visible,
    limit_publisher_knowledge,
    select_attacker,
)
from core.audit.results.export import describe_audit
from core.context import Context
from core.data.control import (
    draw_control,
    make_control_attribute_threat,
    make_control_released_threat,
)
from core.errors import InputError
from core.graph import Graph
from core.measures.ranking import compute_auc
from core.methods import LinkAttack, MethodInfo
from core.registry import list_methods, make_method
from core.release import Release
from core.results import Measurement, PairScores
from core.seeding import Seed
from tests.inline import run_inline
from tests.oracles.graphs import two_communities

QUICK = json.loads((Path(__file__).parents[1] / "contract" / "quick.json").read_text())
INDEPENDENT = [m for m in list_methods("defense") if SETTING in m.model_fields]
ATTACKS = ("common_neighbors", "feature_neighbourhood", "label_propagation", "mechanism_posterior")


def make_spec(graph, attacks=ATTACKS, defenses=(), **fields):
    base = {
        "graph_hash": graph.content_hash,
        "private": "private",
        "utility": "label",
        "known": 0.3,
        "hide_links": 0.1,
        "released_links": True,
        "control": 0.25,
        "num_repeats": 4,
        "attacks": [{"key": key} for key in attacks],
        "defenses": list(defenses),
    }
    return AuditSpec.check_spec({**base, **fields})


def draw(graph, repeat=0, **fields):
    return draw_repeat(PreparedAudit.build(make_spec(graph, **fields), graph), repeat)


@pytest.fixture
def only_attacks(monkeypatch):
    """Audits without the measures of a release, which take long and say nothing here."""
    monkeypatch.setattr(parts, "PARTS", {})


def test_no_link_and_no_value_of_a_control_person_goes_into_a_release():
    graph = two_communities(60)
    threats = draw(graph, publisher_knows="column")
    control = threats.control
    assert control.people.sum() == 15
    touching = control.people[graph.edges].any(axis=1)
    np.testing.assert_array_equal(control.links, graph.edges[touching])
    for pairs in (
        threats.visible.edges,
        threats.link.pairs,
        threats.link.more_absent,
        threats.test_links,
        threats.test_non_links,
    ):
        assert len(pairs)
        assert not control.people[pairs].any()
    told = limit_publisher_knowledge(threats, "column").attribute
    for threat in (threats.attribute, threats.utility, told):
        assert threat.known.any()
        assert not (control.people & (threat.known | threat.hidden)).any()
    # everybody else is where they would be: known, or inferred
    assert ((threats.attribute.known | threats.attribute.hidden) == ~control.people).all()
    assert threats.visible.node_ids == graph.node_ids
    parted = [threats.visible.edges, threats.link.hidden, threats.test_links, control.links]
    both = Graph.from_pairs(np.concatenate(parted), graph.num_nodes)
    np.testing.assert_array_equal(both.edges, graph.edges)


@pytest.mark.parametrize("hide_links", [None, 0.1])
def test_pages_show_the_graph_that_was_defended(hide_links):
    graph = two_communities(60)
    audit = PreparedAudit.build(make_spec(graph, hide_links=hide_links), graph)
    shown, defended = draw_visible(audit, 1), draw_repeat(audit, 1).visible
    np.testing.assert_array_equal(shown.edges, defended.edges)
    assert shown.node_ids == graph.node_ids


@pytest.mark.parametrize("place", ["auxiliary:0.5", "auxiliary:degree:0.5", "joint:inferred"])
def test_no_attacker_knows_the_value_of_a_control_person(place):
    graph = two_communities(60)
    spec = make_spec(
        graph, more_private=("label",), utility=None, auxiliary_known=("0.5", "degree:0.5")
    )
    threats = draw_repeat(PreparedAudit.build(spec, graph), 0)
    scenario = Scenario.parse(f"label_propagation@column:label+{place}")
    met = select_attacker(spec, scenario, 0, threats).attribute
    assert met.attribute.name == "label"
    assert met.known.any()
    assert not met.known[threats.control.people].any()
    apart = make_control_attribute_threat(met, threats.control)
    np.testing.assert_array_equal(apart.hidden, threats.control.people)
    np.testing.assert_array_equal(apart.known, met.known)


def test_control_people_are_drawn_anew_in_each_repeat_and_by_the_seed_alone():
    graph = two_communities(60)
    first, again, other = (draw(graph, repeat).control.people for repeat in (0, 0, 1))
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()


def test_non_links_of_control_people_are_drawn_evenly():
    graph = Graph.from_pairs(np.array([[0, 1], [0, 2], [3, 4]]), num_nodes=7)
    counts = np.zeros((7, 7))
    excess = variance = 0.0
    for seed in range(3000):
        control = draw_control(graph, 0.3, Seed(seed))
        absent = control.link.absent
        assert control.people.sum() == 2
        assert control.num_pairs == 11
        assert not graph.contains_pairs(absent).any()
        assert control.people[absent].any(axis=1).all()
        if np.array_equal(np.flatnonzero(control.people), [0, 3]):
            counts[tuple(absent.T)] += 1
        both = np.flatnonzero(control.people)
        if not graph.contains_pairs(both[None]).any():
            share = len(absent) / (control.num_pairs - len(control.links))
            excess += float((absent == both).all(axis=1).any()) - share
            variance += share * (1 - share)
    assert abs(excess) < 4 * variance**0.5, "a pair of two control people is as likely as others"
    free = [(0, 3), (0, 4), (0, 5), (0, 6), (1, 3), (2, 3), (3, 5), (3, 6)]
    seen = np.array([counts[pair] for pair in free])
    assert counts.sum() == seen.sum()
    assert stats.chisquare(seen).pvalue > 1e-3


def test_links_of_control_people_stand_for_all_their_pairs():
    graph = two_communities(60)
    control = draw_control(graph, 0.25, Seed(1))
    released = graph.with_edges(np.concatenate([control.link.hidden[:3], control.link.absent[:2]]))
    threat = make_control_released_threat(released, 0.1, control)
    links = threat.truth
    assert control.num_pairs == 15 * 45 + 15 * 14 / 2
    assert threat.weights[links].sum() == pytest.approx(0.1 * control.num_pairs)
    assert threat.weights.sum() == pytest.approx(control.num_pairs)
    assert threat.released.sum() == 5
    assert threat.released[:3].all()


def test_links_and_people_named_by_the_analyst_are_left_out_as_others():
    graph = two_communities(60)
    pairs = tuple((graph.node_ids[i], graph.node_ids[j]) for i, j in graph.edges[::5])
    people = graph.node_ids[::2]
    threats = draw(graph, hide_links=None, sensitive_links=pairs, known_people=people)
    inside = ~threats.control.people[graph.edges[::5]].any(axis=1)
    np.testing.assert_array_equal(threats.link.hidden, graph.edges[::5][inside])
    is_known = np.zeros(60, bool)
    is_known[::2] = True
    np.testing.assert_array_equal(threats.attribute.known, is_known & ~threats.control.people)


def test_being_in_a_data_independent_release_adds_nothing(tmp_path, only_attacks):
    """Control people and others are exchangeable there, whatever the attack makes of noise: 95 %
    intervals of the difference hold 0, and as one in twenty may not, none is far from it."""
    graph = two_communities(80)
    configs = {m.info.key: {**QUICK.get(m.info.key, {}), SETTING: True} for m in INDEPENDENT}
    defenses = [{"key": key, "config": config} for key, config in configs.items()]
    view = run_inline(make_spec(graph, defenses=defenses), graph, tmp_path)
    rows = view.control[[made.is_data_independent for made in view.control.made]]
    assert rows.release.nunique() == len(INDEPENDENT) >= 9
    threats = {Scenario.parse(method).threat for method in rows.method}
    assert threats == {"link", "attribute", "included"}
    low, high = rows.difference_low.to_numpy(float), rows.difference_high.to_numpy(float)
    assert np.mean((low <= 0) & (high >= 0)) >= 0.95
    half = (high - low) / 2
    assert (np.abs(rows.difference.to_numpy(float)) <= 1.5 * half).all()


def test_being_in_the_original_adds_and_every_figure_is_in_the_table(tmp_path, only_attacks):
    graph = two_communities(80)
    view = run_inline(make_spec(graph), graph, tmp_path)
    table = view.control.set_index(["method", "metric"])
    for case in (("common_neighbors", "auc"), ("mechanism_posterior@included", "released_auc")):
        assert table.loc[case].difference_low > 0.02
    assert table.loc["common_neighbors", "auc"].value == 0.5  # nobody shares a neighbour with them
    assert table.loc["label_propagation", "accuracy"].difference > 0.2
    for (method, metric), row in table.iterrows():
        released = view.estimate("original", method, metric)
        assert row.difference == pytest.approx(released.value - row.value)
        assert row.low <= row.value <= row.high
    described = describe_audit(view)["results"]
    apart = [row for row in described if row["population"] == "control"]
    assert len(apart) == len(table)
    first = next(row for row in apart if row["metric"] == "auc")
    assert first["method"] == "common_neighbors"
    assert first["threat"] == "link"
    assert set(first["control_difference"]) == {"value", "low", "high"}
    beside = [r for r in described if r["method"] == "common_neighbors" and r["metric"] == "auc"]
    assert [row["population"] for row in beside] == ["released", "control"]
    assert "control_difference" not in beside[0]


def test_interval_of_the_difference_adds_the_variances_of_both_groups():
    released = {0: Measurement("auc", 0.9, 0.0004, 100)}
    control = {0: Measurement("auc", 0.6, 0.0021, 50, population="control")}
    value, low, high, n, seeds, difference, least, most = assemble._compare_control(
        released, control, 0.9, 0.2
    )
    assert (value, n, seeds) == (0.6, 50, 1)
    half = stats.t.ppf(0.975, 49) * 0.0025**0.5
    assert (difference, least, most) == pytest.approx((0.3, 0.3 - half, 0.3 + half))
    half = stats.t.ppf(0.975, 49) * 0.0021**0.5
    assert (low, high) == pytest.approx((0.6 - half, 0.6 + half))
    nothing = {0: Measurement("auc", None, reason="too few", population="control")}
    assert assemble._compare_control(released, nothing, 0.9, 0.2) is None


def test_a_difference_near_0_may_be_negative():
    """The range of a share does not cut the interval of a difference of shares."""
    released = {0: Measurement("auc", 0.52, 0.01, 100)}
    control = {0: Measurement("auc", 0.5, 0.01, 100, population="control")}
    assert assemble._compare_control(released, control, 1.0, 0.2)[-2] < -0.2


def test_a_share_of_control_people_changes_every_cell_and_none_leaves_them_alone():
    graph = two_communities(60)
    keys = []
    for control in (None, 0.1, 0.2):
        spec = make_spec(graph, control=control, defenses=[{"key": "random_deletion"}])
        keys.append({cell.key for cell in plan_audit(PreparedAudit.build(spec, graph))})
    assert not keys[0] & keys[1]
    assert not keys[1] & keys[2]
    assert len({len(found) for found in keys}) == 1
    assert draw(graph, control=None).control is None


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"control": 0.6}, "spec field 'control'"),
        ({"control": 0.0}, "spec field 'control'"),
        ({"evaluation": "distance_2"}, "control people need non-links of any kind; got distance_2"),
        ({"defenses": [{"key": "external"}], "external_release": "x"}, "made elsewhere"),
    ],
)
def test_what_cannot_be_is_said(fields, message):
    with pytest.raises(InputError, match=message):
        make_spec(two_communities(), **{"num_repeats": 1, **fields})


@pytest.mark.parametrize("cost", ["instant", "seconds"])
def test_scores_of_control_pairs_are_told_from_the_other_pairs(cost):
    """An attack that trains is asked once for all pairs, an instant one twice."""

    asked = []

    class Numbers(LinkAttack):
        info = MethodInfo("numbers", "Numbers", "Sums.", "Nobody", "heuristics", cost)

        def score(self, release, threat, context):
            asked.append(threat.pairs)
            return PairScores(threat.pairs @ np.array([7.0, 1.0]))

    threats = draw(two_communities(60))
    scenario, release = Scenario("numbers", "link"), Release(threats.visible)
    measured, _, _ = attack_release(Numbers(), scenario, release, threats, Context(Seed(0)))
    for population, threat in (("released", threats.link), ("control", threats.control.link)):
        (auc,) = [m for m in measured if (m.metric, m.population) == ("auc", population)]
        scores = threat.pairs @ np.array([7.0, 1.0])
        assert auc.value == compute_auc(scores, threat.truth)[0]
        assert auc.n == len(threat.pairs)
    # To name a link of a control person is no mistake: it is no candidate beside its own score.
    links = threats.control.links
    assert len(links)
    times = [(asked[-1] == link).all(axis=1).sum() for link in links]
    assert times == [1] * len(links)


def test_defense_of_a_repeat_meets_the_same_graph_whoever_is_asked_about():
    """The original's release holds nodes without links in place of control people."""
    threats = draw(two_communities(60))
    defense = make_method("random_deletion", {}, "defense")
    release = defense.publish(threats.visible, threats, Context(Seed(0)))
    assert not release.graph.degrees[threats.control.people].any()
