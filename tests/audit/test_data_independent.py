"""Every synthesis gets its twin once, right behind it; nothing else does."""

from __future__ import annotations

from core.audit.asked.method_choice import MethodChoice
from core.audit.asked.presets import (
    add_data_independent,
    find_data_independent,
    pair_data_independent,
)
from core.audit.asked.release_info import parse_release
from core.registry import list_methods

GAP = MethodChoice.parse("gap:epsilon=2,hops=1", "defense")


def test_twin_differs_in_the_data_only():
    independent = find_data_independent(GAP)
    assert independent.make("defense").config == {**GAP.make("defense").config, "data_free": True}
    assert find_data_independent(independent) is None
    assert parse_release(independent.id).title == "GAP (ε = 2, data-independent baseline, hops = 1)"


def test_exactly_the_syntheses_that_can_run_without_data_have_one():
    having = {
        m.info.key for m in list_methods("defense") if find_data_independent(MethodChoice.of(m()))
    }
    assert having == {
        *("privdpr", "dpr", "gap", "dpggan", "dpgvae"),
        *("ldpgen", "priv_graph", "dp_1k", "dp_2k", "dgg", "priv_skg", "priv_hrg", "node_private"),
    }


def test_twins_follow_their_releases_once():
    deletion = MethodChoice(key="random_deletion")
    independent = find_data_independent(GAP)
    assert add_data_independent([deletion, GAP]) == [deletion, GAP, independent]
    assert [c.id for c in add_data_independent([independent, GAP, GAP])] == [independent.id, GAP.id]
    assert pair_data_independent([deletion, GAP]) == {}
    assert pair_data_independent(add_data_independent([deletion, GAP])) == {GAP.id: independent.id}
