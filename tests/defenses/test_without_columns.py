"""Without columns: the links are those of the other defense, and no feature leaves."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import core
import core.cli.main as command
from core.audit.asked.publish_spec import PublishSpec
from core.audit.jobs.publish import publish_release
from core.context import Context
from core.defenses.random_deletion import RandomDeletion
from core.defenses.without_columns import WithoutColumns
from core.errors import InputError
from core.registry import list_methods, make_method, parse_method
from core.seeding import Seed
from tests.contract.test_methods import quick
from tests.oracles.graphs import make_threats, star, two_communities


def test_the_links_are_those_of_the_other_defense():
    threats = make_threats(two_communities(40))
    inner = RandomDeletion(strength=0.2)
    bare = WithoutColumns.combine(inner).publish(threats.visible, threats, Context(Seed(1)))
    plain = inner.publish(threats.visible, threats, Context(Seed(1)))
    np.testing.assert_array_equal(bare.graph.edges, plain.graph.edges)
    assert bare.graph.features is None
    assert plain.graph.features is not None
    assert bare.facts["columns_withheld"] == 8


def test_alone_it_changes_no_link():
    threats = make_threats(two_communities(40))
    bare = WithoutColumns().publish(threats.visible, threats, Context(Seed(1)))
    np.testing.assert_array_equal(bare.graph.edges, threats.visible.edges)


@pytest.mark.parametrize("member", WithoutColumns.members.values(), ids=lambda m: m.info.key)
def test_every_defense_combines_with_its_settings(member):
    inner = quick(member)
    combined = WithoutColumns.combine(inner)
    assert combined.make_inner() == inner
    from core.audit.asked.method_choice import MethodChoice

    assert parse_method(MethodChoice.of(combined).id, "defense") == combined


def test_every_defense_of_the_list_is_a_member():
    keys = {method.info.key for method in list_methods("defense")}
    assert set(WithoutColumns.members) == keys - {"without_columns"}


@pytest.mark.parametrize(
    "config",
    [
        {"defense": "nope"},
        {"settings": "strength=0.1"},
        {"defense": "random_deletion", "settings": "strength"},
        {"defense": "random_deletion", "settings": "strength=7"},
        {"defense": "without_columns"},
    ],
)
def test_mistakes_are_one_line(config):
    with pytest.raises(InputError) as error:
        make_method("without_columns", config, "defense")
    assert "\n" not in str(error.value)


def test_a_graph_without_columns_is_declined():
    threats = make_threats(star())
    assert "choose another defense" in WithoutColumns().supports(threats.visible, threats)


def test_a_setting_given_twice_is_refused():
    """The last of two budgets was spent, without a word."""
    with pytest.raises(InputError, match=r"must be given once; got epsilon=9"):
        parse_method("edge_rand:epsilon=3,epsilon=9", "defense")
    with pytest.raises(InputError, match="'epsilon' must be given once"):
        parse_method("without_columns:defense=edge_rand,settings=epsilon=3;epsilon=9", "defense")


def test_titles_name_the_defense_of_the_links():
    both = WithoutColumns.combine(RandomDeletion(strength=0.3))
    assert both.title == "Random deletion (strength = 0.3), without columns" == both.short_title
    assert both.phrase == "Random deletion at strength 0.3, without columns"
    bare = WithoutColumns()
    assert {bare.title, bare.short_title, bare.phrase} == {"Without columns"}


PEOPLE = {"city": ["Oslo", "Rome"] * 20, "secret": ["yes"] * 9 + ["no"] * 31}
BARE = ("without_columns", "without_columns:defense=edge_rand,settings=epsilon=3")


@pytest.fixture
def files(audit_home, tmp_path, monkeypatch):
    """Links and a node table with a feature, a class and a secret."""
    monkeypatch.chdir(tmp_path)
    graph = two_communities(40)
    pd.DataFrame(graph.edges, columns=["source", "target"]).to_csv("links.csv", index=False)
    pay = np.random.default_rng(3).integers(10_000, 90_000, 40)
    nodes = pd.DataFrame({"id": range(40), "pay": pay, **PEOPLE})
    nodes.to_csv("nodes.csv", index=False)
    return tmp_path


def publish(defense, out, *more):
    words = ["publish", "--graph", "links.csv", "--nodes", "nodes.csv", "--defense", defense]
    return command.main([*words, "--private", "secret", "--out", out, *more])


@pytest.mark.parametrize("defense", BARE)
def test_no_column_is_published(files, capsys, defense):
    assert publish(defense, "a.csv", "--utility", "city") == 0
    assert "No column is published with the links." in capsys.readouterr().err
    assert list(pd.read_csv("a.nodes.csv")) == ["id"]
    assert json.loads((files / "a.provenance.json").read_text())["release"]["attributes"] == []
    assert publish(defense, "c.npz", "--utility", "city") == 0
    with np.load("c.npz") as arrays:
        assert not {"attribute_info", "attr_matrix", "feature_names"} & set(arrays.files)
    assert publish(defense, "b.csv", "--generalize", "city:rare=2") == 0
    assert list(pd.read_csv("b.nodes.csv")) == ["id"]


@pytest.mark.parametrize("defense", BARE)
def test_columns_that_are_asked_for_are_refused(files, capsys, defense):
    assert publish(defense, "a.csv", "--publish-columns", "city,pay") == 2
    told = capsys.readouterr().err
    assert "the defense without_columns, which keeps no column; got city, pay" in told
    assert "leave out --publish-columns" in told
    graph = core.load_graph(files / "links.csv", nodes_path=files / "nodes.csv")
    with pytest.raises(InputError, match="defense without_columns, which keeps no column"):
        core.publish(graph, defense, files / "c.csv", private="secret", publish_columns=["city"])
    assert not list(files.glob("*.provenance.json"))
    assert command.main(["ledger", "--graph", "links.csv"]) == 0
    assert "nothing of this graph was published" in capsys.readouterr().out


def test_a_stored_release_holds_no_class():
    graph = two_communities(40)
    for key in ("without_columns", "random_deletion"):
        fields = {"graph_hash": graph.content_hash, "defense": {"key": key}, "private": "private"}
        release = publish_release(graph, PublishSpec.check_fields(fields))
        assert ("private" in release.graph.columns) == (key == "random_deletion")
