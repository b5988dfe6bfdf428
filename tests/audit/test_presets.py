"""Presets: more thorough means more attacks, and never without the baselines."""

from __future__ import annotations

from core.audit.presets import PRESETS
from core.registry import list_methods


def test_presets_grow_and_keep_the_null_attackers() -> None:
    quick, standard, thorough = (set(preset.choose_attacks(True, True)) for preset in PRESETS)
    nulls = {m.info.key for m in list_methods() if m.info.is_null}
    assert nulls <= quick < standard <= thorough
    everything = {m.info.key for m in list_methods() if m.kind != "defense"}
    assert thorough == everything
    assert [preset.seeds for preset in PRESETS] == sorted(preset.seeds for preset in PRESETS)


def test_presets_fit_the_threats() -> None:
    links = {m.info.key for m in list_methods("link_attack")}
    assert set(PRESETS[2].choose_attacks(True, False)) == links
    assert not set(PRESETS[2].choose_attacks(False, True)) & links
    assert PRESETS[2].choose_attacks(False, False) == []
