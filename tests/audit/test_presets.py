"""Presets: more thorough means more attacks, and never without the baselines."""

from __future__ import annotations

from core.audit.presets import PRESETS, list_included_attacks
from core.registry import list_methods


def test_presets_grow_and_keep_the_null_attackers() -> None:
    quick, standard, thorough = (set(preset.choose_attacks(True, True)) for preset in PRESETS)
    kinds = ("link_attack", "attribute_attack")
    nulls = {m.info.key for kind in kinds for m in list_methods(kind) if m.info.is_null}
    assert nulls <= quick < standard <= thorough
    everything = {m.info.key for kind in kinds for m in list_methods(kind)}
    assert thorough == everything - {m.info.key for m in list_included_attacks()}
    assert "feature_neighbourhood" in quick  # no worst case leaves the features out
    assert [preset.aware for preset in PRESETS] == [False, False, True]
    assert [preset.seeds for preset in PRESETS] == sorted(preset.seeds for preset in PRESETS)


def test_presets_fit_the_threats() -> None:
    inside = {m.info.key for m in list_included_attacks()}
    links = {m.info.key for m in list_methods("link_attack")} - inside
    assert set(PRESETS[2].choose_attacks(True, False)) == links
    assert not set(PRESETS[2].choose_attacks(False, True)) & links
    assert PRESETS[2].choose_attacks(False, False) == []
