"""What runs is chosen in one place: by page, guide and command alike, never without baselines."""

from __future__ import annotations

import pytest

from core.audit.asked.answers import Answers, make_fields
from core.audit.asked.method_choice import MethodChoice
from core.audit.asked.presets import (
    APPROXIMATE,
    PRESETS,
    Asked,
    choose_attacks,
    list_released_attacks,
)
from core.audit.asked.spec import AuditSpec
from core.cli.audit_spec import read_attacks
from core.errors import InputError
from core.registry import find_method, list_methods

EVERYTHING = Asked(links=True, column=True, identity=True, released=True)


def list_keys(asked: Asked, *named: str | MethodChoice) -> set[str]:
    return {choice.key for choice in choose_attacks(asked, named)}


def _list_released_only() -> set[str]:
    """Attacks on released links that cannot look for withheld ones."""
    return {m.info.key for m in list_released_attacks() if m.threats == ("included",)}


def test_presets_grow_and_keep_the_null_attackers() -> None:
    asked = Asked(links=True, column=True)
    quick, standard, thorough = (list_keys(asked, preset.key) for preset in PRESETS)
    chosen_from = [*list_methods("link_attack"), *list_methods("attribute_attack")]
    baselines = {method.info.key for method in chosen_from if method.info.is_baseline}
    assert baselines <= quick < standard <= thorough
    everything = {method.info.key for method in chosen_from}
    assert thorough == everything - _list_released_only()
    assert "feature_neighbourhood" in quick  # no worst case leaves the features out
    assert [preset.adaptive for preset in PRESETS] == [False, False, True]
    repeats = [preset.num_repeats for preset in PRESETS]
    assert repeats == sorted(repeats)


def test_presets_fit_the_threats() -> None:
    thorough = PRESETS[2].key
    links = {m.info.key for m in list_methods("link_attack")} - _list_released_only()
    assert list_keys(Asked(links=True), thorough) == links
    assert not list_keys(Asked(column=True), thorough) & links
    assert list_keys(Asked(), thorough) == set()
    assert _list_released_only() <= list_keys(Asked(released=True), thorough)


@pytest.mark.parametrize("name", [*(preset.key for preset in PRESETS), "all", "katz"])
def test_who_knows_exactly_is_joined_by_who_knows_roughly(name: str) -> None:
    """`--identity` alone had attackers with approximate knowledge that no preset had."""
    found = choose_attacks(EVERYTHING, [name])
    errors = [c.config["error"] for c in found if "error" in c.config]
    assert errors.count(0) == errors.count(APPROXIMATE) == len(errors) / 2 > 0


def test_page_guide_and_command_choose_the_same() -> None:
    for preset in PRESETS:
        answers = Answers(
            secrets=("links", "attribute", "identity"), knowledge=("links",), private="private"
        )
        fields = make_fields(answers, preset, [])
        spec = AuditSpec.check_spec({"graph_hash": "x", **fields})
        command = read_attacks([preset.key], {**fields, "attacks": []})
        ids = [choice.id for choice in spec.attacks]
        assert [MethodChoice.model_validate(c).id for c in command] == ids
        assert [c.id for c in choose_attacks(Asked.of_spec(spec), [preset.key])] == ids


def test_the_same_is_asked_by_fields_and_by_their_spec() -> None:
    for fields in (
        {"private": "c"},
        {"hide_links": 0.1},
        {"sensitive_links": [("a", "b")]},
        {"identity": {}},
        {"private": "c", "shadow_graph": "x"},
        {"released_links": True},
        {"composition": 2},
        {"hold_every_defense": True},
    ):
        asked = Asked.of_fields({**fields, "identity": fields.get("identity") is not None})
        assert asked == Asked.of_spec(AuditSpec.check_fields({"graph_hash": "x", **fields}))
        assert asked != Asked()


def test_what_is_named_gets_its_companions() -> None:
    named = choose_attacks(Asked(column=True, identity=True), ["quick", "gps", "label_propagation"])
    ids = [choice.id for choice in named]
    assert len(ids) == len(set(ids))
    assert {"label_propagation", "class_prior", "random_match", "gps"} <= set(ids)
    methods = [find_method(choice.key) for choice in named if choice.key != "gps"]
    assert {method.kind for method in methods} == {"attribute_attack", "identity_attack"}
    assert all(m.info.is_baseline or m.info.cost == "instant" for m in methods)
    assert "katz" in list_keys(Asked(links=True), "standard")
    one = choose_attacks(Asked(identity=True), ["degree"])
    assert [c.id for c in one] == ["degree", "random_match", "degree_match"]
    every = {m.info.key for m in list_methods("identity_attack")}
    assert list_keys(Asked(column=True, identity=True), "gps") >= every | {"gps", "class_prior"}
    held = choose_attacks(Asked(column=True, shadow=True), ["gps"])
    assert "neighbourhood_classifier" in {choice.key for choice in held}
    given = MethodChoice(key="gps")
    assert choose_attacks(Asked(column=True), [given]) == [given]


LINKS = ("degree", "neighbor_degrees", "neighbor_values")
JOINED = ["column_values", *(f"column_values:with_links={known}" for known in LINKS)]


@pytest.mark.parametrize("name", [*(p.key for p in PRESETS), "all", "column_values", "degree"])
def test_columns_are_joined_with_links(name: str) -> None:
    """1 % of the people were found by columns, 1 % by links, 83 % by friends' values."""
    ids = [choice.id for choice in choose_attacks(Asked(identity=True), [name])]
    assert [each for each in ids if each.startswith("column_")] == (
        [] if name == "degree" else JOINED
    )
    assert not {*JOINED} & {c.id for c in choose_attacks(Asked(links=True, column=True), ["quick"])}


def test_columns_named_alone_stay_alone() -> None:
    some = MethodChoice.parse("column_values:columns=age")
    ids = [choice.id for choice in choose_attacks(Asked(identity=True), [some])]
    assert ids == [some.id, "random_match", "degree_match"]


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("gps", "private column"),
        ("katz", "withheld links"),
        ("mechanism_posterior", "released links"),
        ("degree", "re-identification"),
    ],
)
def test_a_method_named_without_its_secret_is_refused(name: str, rule: str) -> None:
    with pytest.raises(InputError, match=f"{name} needs .*{rule}"):
        choose_attacks(Asked(), [name])
