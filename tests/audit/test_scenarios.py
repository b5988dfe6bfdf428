"""Cases: an id says all of an attack, and plain ones are the method's id alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.audit.asked.knowledge import ADAPTIVE, parse_knowledge
from core.audit.asked.method_choice import MethodChoice
from core.audit.asked.scenarios import Scenario, list_scenarios
from core.audit.asked.spec import AuditSpec
from core.errors import InputError


@given(
    st.sampled_from(["gps", "ensemble:members=gcn+mlp", "label_propagation"]),
    st.text(min_size=0, max_size=12),
    st.sampled_from(
        [
            "standard",
            "adaptive",
            "auxiliary:0.1",
            "auxiliary:degree:0.25",
            "composition:3",
            "joint:known",
            "transfer",
            "composition:dice|edge_rand%3Aepsilon=1",
        ]
    ),
)
def test_an_id_says_all_of_a_case(method: str, target: str, knowledge: str) -> None:
    scenario = Scenario(method, "attribute", target, parse_knowledge(knowledge))
    assert Scenario.parse(scenario.id) == scenario
    assert (scenario.id == method) == (not target and knowledge == "standard")


@pytest.mark.parametrize(
    ("text", "stream"),
    [
        ("gps", "gps"),
        ("gps@adaptive", "gps@aware"),
        ("gps@column:x+auxiliary:0.1", "gps@column:x+others:0.1"),
        ("gps@auxiliary:degree:0.1", "gps@others_degree:0.1"),
        ("gps@auxiliary:community:0.3", "gps@others_community:0.3"),
        ("mechanism_posterior@included+composition:3", "mechanism_posterior@included+held:3"),
        ("gps@joint:inferred", "gps@joint:inferred"),
        ("gps@transfer", "gps@transfer"),
    ],
)
def test_random_streams_keep_the_names_that_results_came_from(text: str, stream: str) -> None:
    assert Scenario.parse(text).stream == stream


@pytest.mark.parametrize(
    ("threats", "expected"),
    [
        ({"hide_links": 0.1}, ["denoising"]),
        ({"hide_links": 0.1, "released_links": True}, ["denoising", "denoising@included"]),
        ({"released_links": True}, ["denoising@included"]),
    ],
)
def test_an_attack_on_both_kinds_of_links_runs_on_what_is_asked(threats, expected) -> None:
    spec = AuditSpec(
        graph_name="people",
        graph_hash="0" * 64,
        attacks=(MethodChoice(key="denoising"),),
        **threats,
    )
    assert [scenario.id for _, _, scenario in list_scenarios(spec)] == expected


def test_threats_of_links_are_told_apart() -> None:
    assert Scenario.parse("adamic_adar").threat == "link"
    included = Scenario.parse("adamic_adar@included+adaptive")
    assert (included.threat, included.knowledge) == ("included", ADAPTIVE)
    assert included.id == "adamic_adar@included+adaptive"


def test_what_an_attacker_knows_is_named_for_scripts() -> None:
    for token in ("adaptive", "auxiliary:0.3", "composition:3", "joint:known", "transfer"):
        assert Scenario.parse(f"gps@{token}").knowledge.text == token
    assert Scenario.parse("gps").knowledge.text == "standard"
    for wrong in ("aware", "auxiliary:2", "joint:guessed", "composition:"):
        with pytest.raises((InputError, ValueError)):
            parse_knowledge(wrong)


def test_an_unknown_method_is_an_error() -> None:
    with pytest.raises(InputError):
        Scenario.parse("nothing@adaptive")


def test_a_plain_audit_has_one_case_for_each_attack() -> None:
    choices = tuple(MethodChoice(key=key) for key in ("adamic_adar", "gps"))
    spec = AuditSpec(graph_hash="0" * 64, private="x", hide_links=0.1, attacks=choices)
    scenarios = [scenario for _, _, scenario in list_scenarios(spec)]
    assert [scenario.threat for scenario in scenarios] == ["link", "attribute"]
    assert [scenario.id for scenario in scenarios] == ["adamic_adar", "gps"]
