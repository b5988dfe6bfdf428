"""Keys change with what a result depends on, and with nothing else."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path
from types import SimpleNamespace
from typing import get_args
from unittest.mock import MagicMock

import pytest

from core.audit.asked.attack import parse_attack
from core.audit.asked.knowledge import ADAPTIVE
from core.audit.asked.parts import PARTS
from core.audit.asked.spec_parts import Measured
from core.audit.computing import plan
from core.audit.computing.plan import list_cells, plan_audit
from core.audit.computing.prepared import PreparedAudit
from core.audit.computing.threat_sampling import draw_repeat, draw_visible
from core.audit.jobs.coordinate import AuditRun, InFlight
from core.audit.store.database import Lease
from core.errors import InputError
from core.registry import find_method
from tests.oracles.graphs import two_communities

USUAL = [name for name, part in PARTS.items() if part.is_usual]


def keys(spec, graph, **wanted):
    cells = plan_audit(PreparedAudit.build(spec, graph))
    chosen = [c for c in cells if all(getattr(c, k) == v for k, v in wanted.items())]
    assert chosen
    return {(c.kind, c.release, c.method, c.repeat): c.key for c in chosen}


def test_each_repeat_has_each_release_attack_and_measure_once(make_spec, graph):
    spec = make_spec(
        num_repeats=3,
        attacks=[{"key": "common_neighbors"}, {"key": "class_prior"}],
        defenses=[{"key": "random_deletion"}, {"key": "edge_rand"}],
    )
    cells = plan_audit(PreparedAudit.build(spec, graph))
    assert len(cells) == 3 * (2 + 3 * (2 + len(USUAL)))
    assert len({cell.key for cell in cells}) == len(cells)
    seen = set()
    for cell in cells:  # a release comes before what needs it
        assert not cell.upstream or cell.upstream in seen
        seen.add(cell.key)


@pytest.mark.parametrize("asked", [0, 2])
def test_the_original_is_attacked_in_as_many_repeats_as_asked(make_spec, graph, asked):
    whole = keys(make_spec(num_repeats=3), graph)
    fewer = keys(make_spec(num_repeats=3, original_repeats=asked), graph)
    gone = {c for c in whole if c[:2] == ("attack", "original") and c[3] >= asked}
    assert gone
    assert fewer == {cell: key for cell, key in whole.items() if cell not in gone}


def test_same_method_written_twice_or_with_defaults_is_one(make_spec, graph):
    spec = make_spec(
        defenses=[
            {"key": "random_deletion"},
            {"key": "random_deletion", "config": {"strength": 0.3}},
        ]
    )
    assert len(spec.defenses) == 1
    assert keys(spec, graph) == keys(make_spec(), graph)


def test_another_attack_or_repeat_leaves_all_known_cells(make_spec, graph):
    few = keys(make_spec(), graph)
    more = keys(
        make_spec(
            num_repeats=2,
            attacks=[{"key": "adamic_adar"}, {"key": "common_neighbors"}],
            defenses=[{"key": "edge_rand"}, {"key": "random_deletion"}],
        ),
        graph,
    )
    assert few.items() <= more.items()


def test_a_defense_setting_renews_only_its_release(make_spec, graph):
    old = plan_audit(PreparedAudit.build(make_spec(), graph))
    new = plan_audit(
        PreparedAudit.build(
            make_spec(defenses=[{"key": "random_deletion", "config": {"strength": 0.5}}]), graph
        )
    )
    kept = {c.key for c in old} & {c.key for c in new}
    assert kept == {c.key for c in old if c.release == "original"}


@pytest.mark.parametrize(
    ("change", "renewed"),
    [
        ({"known": 0.4}, {"class_prior", *USUAL}),
        ({"utility": "label"}, {"common_neighbors", "class_prior", *USUAL}),  # it leaves
        ({"hide_links": 0.2}, {"common_neighbors", "class_prior", *USUAL}),
        ({"root_seed": 1}, {"common_neighbors", "class_prior", *USUAL}),
        ({"graph_name": "another"}, set()),
    ],
)
def test_a_threat_setting_renews_what_sees_it(make_spec, graph, change, renewed):
    attacks = [{"key": "common_neighbors"}, {"key": "class_prior"}]
    old = keys(make_spec(attacks=attacks), graph, release="original")
    new = keys(make_spec(attacks=attacks, **change), graph, release="original")
    assert {name[2] for name in old if old[name] != new[name]} == renewed


def test_the_graph_and_a_method_version_renew_everything_of_theirs(make_spec, graph, monkeypatch):
    from core.attacks.link.common_neighbors import CommonNeighbors

    old = keys(make_spec(), graph)
    other = two_communities(seed=1)
    moved = keys(make_spec(graph_hash=other.content_hash), other)
    assert not set(old.values()) & set(moved.values())
    info = CommonNeighbors.info
    monkeypatch.setattr(CommonNeighbors, "info", type(info)(**{**vars(info), "version": 99}))
    new = keys(make_spec(), graph)
    changed = {name[2] for name in old if old[name] != new[name]}
    assert changed == {"common_neighbors"}


def test_an_attack_without_its_threat_is_planned_as_skipped(make_spec, graph):
    spec = make_spec(private=None, attacks=[{"key": "class_prior"}, {"key": "common_neighbors"}])
    skipped = {
        cell.method: cell.skip for cell in plan_audit(PreparedAudit.build(spec, graph)) if cell.skip
    }
    assert list(skipped) == ["class_prior"]
    assert "private column" in skipped["class_prior"]


def test_threats_that_cannot_be_drawn_are_an_error_before_anything_runs(make_spec, graph):
    with pytest.raises(InputError, match="nope"):
        plan_audit(PreparedAudit.build(make_spec(private="nope"), graph))
    with pytest.raises(InputError, match="sensitive link must be in the graph"):
        plan_audit(
            PreparedAudit.build(make_spec(hide_links=None, sensitive_links=(("0", "zzz"),)), graph)
        )


def test_sensitive_links_by_name_are_the_hidden_ones(make_spec, graph):
    first = tuple(graph.node_ids[i] for i in graph.edges[5])
    spec = make_spec(hide_links=None, sensitive_links=(first,))
    threat = draw_repeat(PreparedAudit.build(spec, graph), 0).link
    assert threat.hidden.tolist() == [graph.edges[5].tolist()]


def test_of_equal_cost_one_release_is_attacked_after_the_other(make_spec, graph):
    """What attacks share on a release is forgotten when many others come between."""
    spec = make_spec(
        attacks=[{"key": key} for key in ("label_propagation", "gcn", "ensemble")],
        defenses=[{"key": "random_deletion"}, {"key": "edge_rand"}, {"key": "dice"}],
        adaptive=True,
    )
    costs = {name: find_method(name).info.cost for name in ("label_propagation", "gcn", "ensemble")}
    attacks = [
        c for c in plan_audit(PreparedAudit.build(spec, graph)) if c.kind == "attack" and c.upstream
    ]
    for cost in set(costs.values()):
        order = [c.release for c in attacks if costs[c.method.partition("@")[0]] == cost]
        assert [release for release, _ in groupby(order)] == [d.id for d in spec.defenses]


def test_who_knows_the_defense_also_looks_for_people(make_spec, graph):
    """Except by columns and values, without a defense, or where no node stays who it was."""
    keys = ("ego", "seeded_percolation", "column_values", "value_join", "random_match")
    defenses = ("random_deletion", "pseudonyms", "dp_1k")
    spec = make_spec(
        attacks=[{"key": key} for key in keys],
        defenses=[{"key": key} for key in defenses],
        identity={"seeds_known": 2},
        adaptive=True,
    )
    cells = [cell for cell in plan_audit(PreparedAudit.build(spec, graph)) if cell.kind == "attack"]
    adaptive = {
        (c.release, c.scenario.method): c for c in cells if c.scenario.knowledge == ADAPTIVE
    }
    assert {method for _, method in adaptive} == {"ego", "seeded_percolation"}
    for (release, method), cell in adaptive.items():
        plain = next(c for c in cells if (c.release, c.method) == (release, f"{method}@identity"))
        assert cell.same_as == ("" if release.startswith("random_deletion") else plain.key)
        assert parse_attack(cell.method).threat == "identity"


def test_what_shares_an_embedding_follows_on_the_worker_that_has_it(make_spec, graph):
    cells = plan_audit(
        PreparedAudit.build(make_spec(num_repeats=2, defenses=[{"key": "edge_rand"}]), graph)
    )
    by_place = {(c.release, c.method, c.repeat): c for c in cells if c.kind == "measure"}
    followers = [cell for cell in by_place.values() if cell.after]
    assert len(followers) == 4
    for cell in followers:
        assert cell.after == by_place[cell.release, PARTS[cell.method].after, cell.repeat].key

    submitted = {leader: job.followers for leader, (job, _) in submit(make_spec(), cells).items()}
    assert all(submitted[cell.after] == (cell,) for cell in followers)
    assert not submitted.keys() & {cell.key for cell in followers}


def submit(spec, cells):
    """Key of each cell handed to a worker → its job, and the keys of what is computed before."""
    submitted, names = {}, {}

    class Engine:
        def connect(self):
            pass

        def submit(self, function, job, *, after, **options):
            submitted[job.cell.key] = job, {names[id(future)] for future in after}
            future = MagicMock(done=lambda: False)
            names[id(future)] = job.cell.key
            return future

    store = SimpleNamespace(home=Path(), url="")
    run = AuditRun(store, Engine(), InFlight(), Lease("a", 1), spec, cells, 0.0)
    run._submit(cells)
    return submitted


def test_quick_adaptive_attackers_share_a_worker_with_their_shadow_release(make_spec, graph):
    """Those on links and values follow one, those on people another; all of the same release and
    repeat, once what they are built on is done."""
    names = ("adamic_adar", "label_propagation", "jaccard", "degree", "degree_triangles", "gcn")
    spec = make_spec(
        num_repeats=2,
        attacks=[{"key": name} for name in names],
        defenses=[{"key": "edge_rand"}, {"key": "random_deletion"}],
        identity={"overlap": 0.9},
        knowledge={"adaptive": True},
    )
    cells = plan_audit(PreparedAudit.build(spec, graph))
    places = {cell.key: number for number, cell in enumerate(cells)}
    chains = {}
    for cell in cells:
        if cell.kind != "attack" or cell.scenario.knowledge != ADAPTIVE or cell.same_as:
            continue
        if cell.scenario.method == "gcn":  # is trained: it had better run beside others
            assert not cell.after
            continue
        about_people = cell.scenario.threat == "identity"
        chains.setdefault((cell.release, cell.repeat, about_people), []).append(cell)
    assert sorted(len(chain) for chain in chains.values()) == [2] * 4 + [3] * 4
    submitted = submit(spec, cells)
    for leader, *others in chains.values():
        assert not leader.after
        assert {cell.after for cell in others} == {leader.key}
        job, earlier = submitted[leader.key]
        assert job.followers == tuple(others)
        assert not submitted.keys() & {cell.key for cell in others}
        members = {key for cell in (leader, *others) for key in cell.members}
        assert members <= earlier
        assert all(places[key] < places[leader.key] for key in members)
    assert any(cell.members for chain in chains.values() for cell in chain)


def test_cells_are_listed_without_a_draw(make_spec, graph, monkeypatch):
    spec = make_spec(num_repeats=2, defenses=[{"key": "edge_rand"}])
    expected = plan_audit(PreparedAudit.build(spec, graph))

    def refuse(*arguments):
        raise AssertionError("a threat was drawn")

    monkeypatch.setattr(plan, "draw_repeat", refuse)
    assert list_cells(PreparedAudit.build(spec, graph)) == expected
    with pytest.raises(AssertionError, match="was drawn"):
        plan_audit(PreparedAudit.build(spec, graph))


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"hide_links": None},
        {"test_links": 0.2},
        {"hide_links": None, "sensitive_links": [["0", "1"], ["1", "2"], ["2", "3"], ["4", "5"]]},
    ],
    ids=str,
)
def test_the_visible_graph_alone_is_that_of_the_whole_draw(make_spec, fields):
    """Pages show releases without drawing what was attacked: half a minute at a million people."""
    graph = two_communities()
    audit = PreparedAudit.build(make_spec(**fields), graph)
    for repeat in range(2):
        whole, alone = draw_repeat(audit, repeat).visible, draw_visible(audit, repeat)
        assert alone.content_hash == whole.content_hash
        assert alone.feature_names == whole.feature_names


def test_an_audit_that_names_what_it_measures_has_that_alone(make_spec, graph):
    def list_measures(**fields):
        cells = plan_audit(PreparedAudit.build(make_spec(**fields), graph))
        return {cell.method for cell in cells if cell.kind == "measure"}

    assert list_measures() == {"homophily", "structure", "utility", "pairs"}
    assert list_measures(measures=["structure", "queries"]) == {"structure", "queries"}
    assert list_measures(measures=["pairs"]) == {"pairs"}


def test_what_a_spec_may_measure_are_the_parts():
    assert get_args(Measured) == tuple(PARTS)
