"""Every synthesis gets its twin once, right behind it; nothing else does."""

from __future__ import annotations

from core.audit.spec import MethodChoice
from core.audit.twins import add_twins, find_twin, pair_twins
from core.findings.labels import release_title
from core.registry import list_methods

GAP = MethodChoice.parse("gap:epsilon=2,hops=1", "defense")


def test_twin_differs_in_the_data_only():
    twin = find_twin(GAP)
    assert twin.make("defense").config == {**GAP.make("defense").config, "data_free": True}
    assert find_twin(twin) is None
    assert release_title(twin.id) == "GAP (ε = 2, data-free twin, hops = 1)"


def test_exactly_the_syntheses_that_can_run_without_data_have_one():
    having = {m.info.key for m in list_methods("defense") if find_twin(MethodChoice.of(m()))}
    assert having == {"privdpr", "dpr", "gap", "dpggan", "dpgvae", "ldpgen", "priv_graph"}


def test_twins_follow_their_releases_once():
    deletion = MethodChoice(key="random_deletion")
    twin = find_twin(GAP)
    assert add_twins([deletion, GAP]) == [deletion, GAP, twin]
    assert [c.id for c in add_twins([twin, GAP, GAP])] == [twin.id, GAP.id]
    assert pair_twins([deletion, GAP]) == {}
    assert pair_twins(add_twins([deletion, GAP])) == {GAP.id: twin.id}
