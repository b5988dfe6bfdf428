"""Presets: more thorough means more attacks, and never without the baselines."""

from __future__ import annotations

from core.audit.presets import PRESETS, list_released_attacks
from core.cli.audit_spec import _expand_presets
from core.registry import find_method, list_methods


def _list_released_only() -> set[str]:
    """Attacks on released links that cannot look for withheld ones."""
    return {m.info.key for m in list_released_attacks() if m.threats == ("included",)}


def test_presets_grow_and_keep_the_null_attackers() -> None:
    quick, standard, thorough = (set(preset.choose_attacks(True, True)) for preset in PRESETS)
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
    links = {m.info.key for m in list_methods("link_attack")} - _list_released_only()
    assert set(PRESETS[2].choose_attacks(True, False)) == links
    assert not set(PRESETS[2].choose_attacks(False, True)) & links
    assert PRESETS[2].choose_attacks(False, False) == []


def test_the_command_takes_the_attacks_of_a_preset() -> None:
    fields = {"private": "country", "identity": {"seeds": 20}}
    found = _expand_presets(["quick", "gps", "label_propagation"], fields)
    assert len(found) == len(set(found))
    assert {"label_propagation", "class_prior", "random_match", "gps"} <= set(found)
    methods = [find_method(key) for key in found if key != "gps"]
    assert {method.kind for method in methods} == {"attribute_attack", "identity_attack"}
    assert all(m.info.is_baseline or m.info.cost == "instant" for m in methods)
    assert _expand_presets(["gcn:epochs=3"], fields) == ["gcn:epochs=3"]
    assert "katz" in _expand_presets(["standard"], {"hide_links": 0.1})
