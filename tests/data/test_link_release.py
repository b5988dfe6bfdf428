"""Columns of links leave only if named, stay with their links, and are never invented from what was
removed."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from core.arrays import is_among
from core.audit.asked.publish_spec import PublishSpec
from core.audit.computing.making import make_release
from core.audit.computing.prepared import prepare_graph
from core.audit.jobs.publish import publish_release
from core.context import Context
from core.data.link_release import (
    carry_link_columns,
    draw_rows,
    list_link_columns,
    refuse_link_columns,
    shift_link_times,
)
from core.data.readers import load_graph
from core.data.second_graph import sample_second_graph
from core.data.writers import write_release
from core.defenses.random_deletion import RandomDeletion
from core.defenses.random_rewiring import RandomRewiring
from core.defenses.without_columns import WithoutColumns
from core.errors import InputError, UnsupportedError
from core.graph import Graph
from core.link_table import LinkColumn, LinkTable
from core.registry import list_methods
from core.release import Guarantee, Release
from core.seeding import Seed
from core.threats import Threats
from tests.oracles.events import make_calls, rows_by_link
from tests.oracles.events import make_events as make
from tests.oracles.graphs import make_threats, two_communities

CASES = Path(__file__).parents[3] / "shared" / "cases"
QUICK = json.loads((Path(__file__).parents[1] / "contract" / "quick.json").read_text())


def prepare(graph: Graph, publish, rules=()) -> Graph:
    fields = {"graph_hash": "0" * 64, "defense": {"key": "random_deletion"}}
    spec = PublishSpec.check_fields({**fields, "publish_columns": publish, "generalize": rules})
    return prepare_graph(spec, graph)


@pytest.mark.parametrize(
    ("publish", "columns", "has_weights"),
    [
        (None, None, True),
        ((), None, True),
        (("label",), None, True),
        (("link.none",), None, False),
        (("link.at",), {"at"}, False),
        (("label", "link.at", "link.weight"), {"at"}, True),
        (("link.weight",), None, True),
        (("link.kind", "link.way"), {"kind", "way"}, False),
    ],
)
def test_only_named_columns_leave_and_weights_unless_withheld(publish, columns, has_weights):
    graph = replace(make(), weights=np.arange(make().num_edges) + 1.0)
    seen = prepare(graph, publish)
    table = seen.link_table
    assert (None if table is None else set(table.columns)) == columns
    assert (seen.weights is not None) == has_weights
    assert list_link_columns(graph) == (
        "link.weight",
        "link.amount",
        "link.at",
        "link.kind",
        "link.way",
    )


def test_a_column_of_links_called_weight_is_the_weight_where_there_is_none():
    graph = make()
    table = LinkTable(graph.link_table.links, {"weight": graph.link_table.columns["at"]})
    graph = replace(graph, link_table=table)
    assert list_link_columns(graph) == ("link.weight",)
    assert set(prepare(graph, ("link.weight",)).link_table.columns) == {"weight"}


@pytest.mark.parametrize(
    ("publish", "rules", "message"),
    [
        (
            ("link.x",),
            (),
            "must be a column of the links; got link.x; columns of links are: link.a",
        ),
        (("link.at",), ("link.amount:round=0",), "must be published.*link.amount.*--publish-col"),
        ((), ("link.at:month",), "must be published"),
        (None, ("link.at:month",), "must be published"),
    ],
)
def test_what_cannot_leave_is_refused(publish, rules, message):
    with pytest.raises(InputError, match=message):
        prepare(make(), publish, rules)


def test_links_that_stay_keep_their_rows_and_removed_classes_are_gone():
    graph = make()
    made = make_release(RandomDeletion(strength=0.5), Threats(graph), Context(Seed(1))).graph
    before, after = rows_by_link(graph), rows_by_link(made)
    assert after == {pair: before[pair] for pair in map(tuple, made.edges.tolist())}
    assert made.link_table.columns["kind"].classes == tuple(
        sorted({row[2] for rows in after.values() for row in rows})
    )
    assert len(made.link_table.columns["kind"].classes) == made.num_edges


@pytest.mark.parametrize("strength", [0.5, 1.0])
def test_added_links_have_rows_like_those_that_stay_and_none_of_removed_ones(strength):
    graph = make(60)
    made = make_release(RandomRewiring(strength=strength), Threats(graph), Context(Seed(1))).graph
    before, after = rows_by_link(graph), rows_by_link(made)
    kept = {pair for pair in before if pair in set(map(tuple, made.edges.tolist()))}
    assert {pair: rows for pair, rows in after.items() if pair in before} == {
        pair: before[pair] for pair in kept
    }
    added = [row for pair, rows in after.items() if pair not in before for row in rows]
    if strength == 1:
        assert not added  # there is nothing that they could be like
        return
    assert len(added) > 100
    assert {pair for pair in map(tuple, made.edges.tolist())} == set(after)
    staying = [row for pair in kept for row in before[pair]]
    removed = [row for pair in before if pair not in kept for row in before[pair]]
    for place in range(3):  # amount, time, kind: distinct for every link
        assert not {row[place] for row in added} & {row[place] for row in removed}
    assert {row[2] for row in added} <= {row[2] for row in staying}
    for place in (0, 1):  # copies would tell them from real links
        values = [row[place] for row in added]
        assert np.isin(values, [row[place] for row in staying]).mean() < 0.1
        assert min(row[place] for row in staying) <= min(values)
        assert max(values) <= max(row[place] for row in staying)
    assert all(round(row[0], 2) == row[0] for row in added)
    assert all((row[1] - staying[0][1]) % 60 == 0 for row in added)
    sizes = [
        np.bincount([len(after[p]) for p in group], minlength=4)[1:] / max(len(group), 1)
        for group in (kept, set(after) - kept)
    ]
    assert np.abs(sizes[0] - sizes[1]).max() < 0.15


def test_added_links_of_the_shared_case_have_no_removed_value():
    path = CASES / "k02_times.csv"
    if not path.exists():
        pytest.skip("needs the folder of cases")
    for options in ({}, {"weight": "none", "time": "weight"}):
        graph = load_graph(path, **options).graph
        made = make_release(RandomRewiring(strength=0.5), Threats(graph), Context(Seed(3))).graph
        is_kept = graph.contains_pairs(made.edges)
        if graph.weights is not None:
            added = made.weights[~is_kept]
            removed = graph.weights[~made.contains_pairs(graph.edges)]
        else:
            new, old = made.link_table, graph.link_table
            added = new.columns["weight"].values[~is_kept[new.links]]
            gone = ~made.contains_pairs(graph.edges)
            removed = old.columns["weight"].values[gone[old.links]]
        assert len(added) > 250
        assert not np.isin(added, removed).any()


PRIVATE = [
    m for m in list_methods("defense") if m.info.group in ("edge DP", "link-local DP", "node DP")
]


@pytest.mark.parametrize("method", PRIVATE, ids=lambda method: method.info.key)
def test_no_private_defense_publishes_columns_of_links(method):
    threats = make_threats(make(24))
    assert threats.visible.link_table is not None
    defense = method(**QUICK.get(method.info.key, {}))
    if defense.supports(threats.visible, threats):
        pytest.skip("does not apply to the small graph")
    with pytest.raises(
        UnsupportedError, match=r"does not cover.*link.amount, link.at.*leave them out"
    ):
        make_release(defense, threats, Context(Seed(0)))


def test_a_release_that_proves_private_publishes_none_either():
    class Claims(RandomDeletion):
        def publish(self, graph, threats, context):
            made = super().publish(graph, threats, context)
            return replace(made, guarantee=Guarantee("edge", epsilon=1.0))

    with pytest.raises(UnsupportedError, match="does not cover columns of links"):
        make_release(Claims(), Threats(make()), Context(Seed(0)))
    bare = Threats(replace(make(), link_table=None))
    assert make_release(Claims(), bare, Context(Seed(0))).graph.link_table is None


@pytest.mark.parametrize("form", ["csv", "npz"])
def test_rows_leave_only_with_a_value(form, tmp_path):
    graph = make_calls()
    assert graph.link_table.has_repeats
    seen = prepare(graph, ("link.promo",))
    tenth = np.arange(0, graph.num_edges, 10)
    assert seen.link_table.links.tolist() == tenth.tolist()
    assert not seen.link_table.has_repeats
    fields = {"graph_hash": "0" * 64, "defense": {"key": "pseudonyms"}}
    spec = PublishSpec.check_fields({**fields, "publish_columns": ("link.promo",)})
    paths = write_release(publish_release(graph, spec), tmp_path, "r", {}, (form,))
    written = load_graph(paths[0]).graph
    assert (written.num_edges, len(written.link_table.links)) == (graph.num_edges, len(tenth))
    if form == "csv":
        cells = pd.read_csv(paths[0], keep_default_na=False)["promo"]
        assert (len(cells), (cells == "x").sum()) == (graph.num_edges, len(tenth))
    both = prepare(graph, ("link.at", "link.promo")).link_table
    assert both.equals(graph.link_table)


def test_added_links_have_rows_as_often_as_those_that_stay():
    graph, rng = prepare(make_calls(), ("link.promo",)), np.random.default_rng(0)
    n = graph.num_nodes
    every = np.stack(np.triu_indices(n, 1), axis=1)
    after = graph.with_edges(every)
    table = draw_rows(graph, replace(after, link_table=None), rng)
    has_row = np.isin(np.arange(after.num_edges), table.links)
    is_added = ~is_among(after.edge_codes, graph.edge_codes)
    assert has_row[~is_added].sum() == len(graph.link_table.links)
    # 1,400 draws of one in ten: five standard deviations are 0.04.
    assert abs(has_row[is_added].mean() - 0.1) < 0.04


def test_defenses_never_see_columns_of_links():
    graph, seen = make(), []

    class Watched(RandomDeletion):
        def publish(self, graph, threats, context):
            seen.append((graph.link_table, threats.visible.link_table))
            return super().publish(graph, threats, context)

    make_release(Watched(), Threats(graph), Context(Seed(0)))
    assert seen == [(None, None)]


def test_without_columns_and_other_nodes_publish_none():
    graph = make()
    made = make_release(WithoutColumns(), Threats(graph), Context(Seed(0)))
    assert made.graph.link_table is None
    assert refuse_link_columns(graph, False, True) is None
    assert "are not those of the graph" in refuse_link_columns(graph, False, False)
    assert refuse_link_columns(replace(graph, link_table=None), True, False) is None
    own = Release(graph)  # made elsewhere, with columns of its own
    assert carry_link_columns(graph, own, np.random.default_rng(0)) is own


def test_the_second_graph_of_an_attacker_has_the_rows_of_its_links():
    graph = make()
    second = sample_second_graph(graph, Seed(1), overlap=0.8, noise=0.2)
    ids = {name: place for place, name in enumerate(graph.node_ids)}
    before = rows_by_link(graph)
    real, num_added = 0, 0
    for pair, rows in rows_by_link(second).items():
        own = tuple(sorted(ids[second.node_ids[end]] for end in pair))
        if own in before:
            real += 1
            assert [row[:3] for row in rows] == [row[:3] for row in before[own]]
        else:
            num_added += 1
    assert real > 50
    assert num_added > 5


# -- rules -------------------------------------------------------------------------------------


def column_of(kind: str, values, **more) -> Graph:
    graph = two_communities(12)
    table = LinkTable(np.arange(len(values)), {"x": LinkColumn(kind, np.array(values), **more)})
    return replace(graph, link_table=table)


def apply(graph: Graph, rule: str) -> list:
    return prepare(graph, ("link.x",), (f"link.x:{rule}",)).link_table.columns["x"].format_values()


DAYS = [np.datetime64(t, "s").astype(int) for t in ("2004-04-15T23:59:59", "2004-05-01T00:00:00")]


@pytest.mark.parametrize(
    ("kind", "values", "more", "rule", "wanted"),
    [
        ("number", [1234.5, 0.0012345, -98765.0, 0.0], {}, "digits=2", [1200, 0.0012, -99000, 0]),
        ("number", [1234, -98765, 7], {}, "digits=1", [1000, -100000, 7]),
        ("number", [1234, 17], {}, "bin=10", [1230, 10]),
        ("number", [1.26, np.nan], {}, "round=1", [1.3]),  # a row without a value goes
        ("number", [5, 50], {}, "cap=9", [5, 9]),
        ("time", DAYS, {"unit": "unix s"}, "day", ["2004-04-15", "2004-05-01"]),
        ("time", DAYS, {"unit": "s"}, "month", ["2004-04", "2004-05"]),
        ("time", DAYS, {"unit": "s"}, "year", [2004, 2004]),
        ("time", [1082073599123], {"unit": "unix ms"}, "day", ["2004-04-15"]),
        (
            "category",
            [0, 0, 1, 2],
            {"classes": ("a", "b", "c")},
            "rare=2",
            ["a", "a", "other", "other"],
        ),
    ],
)
def test_rules_of_values(kind, values, more, rule, wanted):
    np.testing.assert_array_equal(apply(column_of(kind, values, **more), rule), wanted)


def test_rare_kinds_are_counted_by_links():
    graph = column_of("category", [0, 0, 0], classes=("a", "b"))
    table = LinkTable([0, 0, 0], graph.link_table.columns)
    graph = replace(graph, link_table=table)
    assert set(apply(graph, "rare=2")) == {"other"}


@pytest.mark.parametrize(
    ("kind", "more", "rule", "message"),
    [
        ("number", {}, "day", "rule day must fit the column; got link.x; numbers take"),
        ("time", {"unit": "s"}, "digits=2", "times take day, month, year and shift"),
        ("category", {"classes": ("a", "b")}, "shift", "kinds take rare"),
        ("direction", {}, "rare=2", "directions take no rule"),
        ("time", {}, "day", "known unit; got link.x; its unit is not known"),
    ],
)
def test_rules_that_do_not_fit_are_refused(kind, more, rule, message):
    with pytest.raises(InputError, match=message):
        apply(column_of(kind, [0, 1], **more), rule)


def test_weights_take_rules_of_numbers():
    graph = two_communities(12)
    graph = replace(graph, weights=np.arange(graph.num_edges) + 0.26)
    wanted = np.round(graph.weights, 1).tolist()
    for publish in (None, ("link.weight",)):
        assert prepare(graph, publish, ("link.weight:round=1",)).weights.tolist() == wanted
    with pytest.raises(InputError, match="shift must fit the column"):
        prepare(graph, None, ("link.weight:shift",))


@pytest.mark.parametrize("unit", ["unix s", "s", "D", "M", ""])
def test_shift_moves_all_times_by_one_amount_when_published_and_not_in_audits(unit):
    graph = column_of("time", [5, 9, 1000], unit=unit)
    rules = ("link.x:shift",)
    assert apply(graph, "shift").tolist() == graph.link_table.columns["x"].format_values().tolist()
    amounts = set()
    for seed in range(20):
        moved = shift_link_times(graph, rules, np.random.default_rng(seed))
        found = moved.link_table.columns["x"].values - graph.link_table.columns["x"].values
        assert len(set(found.tolist())) == 1
        amounts.add(int(found[0]))
    assert 0 not in amounts
    assert len(amounts) > 10
    assert min(amounts) < 0 < max(amounts)
    assert shift_link_times(graph, (), np.random.default_rng(0)) is graph


def test_a_publishing_run_shifts_and_an_audit_of_nodes_takes_no_shift():
    graph = make()
    fields = {"graph_hash": graph.content_hash, "defense": {"key": "random_deletion"}}
    fields |= {"publish_columns": ("link.at",), "generalize": ("link.at:shift",)}
    made = publish_release(graph, PublishSpec.check_fields(fields)).graph
    before = rows_by_link(prepare(graph, ("link.at",)))
    moved = {
        late[0] - early[0]
        for pair, rows in rows_by_link(made).items()
        for late, early in zip(rows, before[pair], strict=True)
    }
    assert len(moved) == 1
    assert moved != {0}
    with pytest.raises(InputError, match="shift is for times of links only"):
        prepare(graph, ("label",), ("label:shift",))
