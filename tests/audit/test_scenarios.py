"""Cases: an id says all of an attack, and plain ones are the method's id alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.audit.scenarios import Scenario, list_scenarios
from core.audit.spec import AuditSpec, MethodChoice
from core.errors import InputError


@given(
    st.sampled_from(["gps", "ensemble:members=gcn+mlp", "label_propagation"]),
    st.text(min_size=0, max_size=12),
    st.sampled_from(["", "aware", "others:0.1", "held:3"]),
)
def test_an_id_says_all_of_a_case(method: str, target: str, knowledge: str) -> None:
    scenario = Scenario(method, "attribute", target, knowledge)
    assert Scenario.parse(scenario.id) == scenario
    assert scenario.is_plain == (not target and not knowledge)


def test_threats_of_links_are_told_apart() -> None:
    assert Scenario.parse("adamic_adar").threat == "link"
    included = Scenario.parse("adamic_adar@included+aware")
    assert (included.threat, included.knowledge) == ("included", "aware")
    assert included.id == "adamic_adar@included+aware"


def test_what_an_attacker_knows_is_named_for_scripts() -> None:
    assert Scenario.parse("gps").describe_knowledge() == "unaware"
    assert Scenario.parse("gps").describe_knowledge(has_others=True) == "assumed"
    assert Scenario.parse("adamic_adar").describe_knowledge(has_others=True) == "unaware"
    assert Scenario.parse("gps@others:0.3").describe_knowledge(has_others=True) == "others:0.3"


def test_an_unknown_method_is_an_error() -> None:
    with pytest.raises(InputError):
        Scenario.parse("nothing@aware")


def test_a_plain_audit_has_one_case_for_each_attack() -> None:
    choices = tuple(MethodChoice(key=key) for key in ("adamic_adar", "gps"))
    spec = AuditSpec(graph_hash="0" * 64, private="x", hide_links=0.1, attacks=choices)
    scenarios = [scenario for _, _, scenario in list_scenarios(spec)]
    assert [scenario.threat for scenario in scenarios] == ["link", "attribute"]
    assert all(scenario.is_plain for scenario in scenarios)
