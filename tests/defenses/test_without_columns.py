"""Without columns: the links are those of the other defense, and no feature leaves."""

from __future__ import annotations

import numpy as np
import pytest

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
