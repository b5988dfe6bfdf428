"""Data-independent baselines: the same synthesis run without the links, but for their number.

A synthesis can look useful although it carries nothing of the data. What it does better than
its twin came from the links; the rest is the method's own doing.
"""

from __future__ import annotations

from collections.abc import Iterable

from core.audit.spec import MethodChoice

SETTING = "data_free"


def find_data_independent(choice: MethodChoice) -> MethodChoice | None:
    """The data-independent baseline of a synthesis; None for other defenses."""
    config = choice.make("defense").config
    if config.get(SETTING) is not False:
        return None
    return MethodChoice(key=choice.key, config={**config, SETTING: True})


def add_data_independent(choices: Iterable[MethodChoice]) -> list[MethodChoice]:
    """Each synthesis is followed by its twin; none is listed twice."""
    found: dict[str, MethodChoice] = {}
    for choice in choices:
        independent = find_data_independent(choice)
        for each in (choice, independent) if independent is not None else (choice,):
            found.setdefault(each.id, each)
    return list(found.values())


def pair_data_independent(choices: Iterable[MethodChoice]) -> dict[str, str]:
    """Release id → id of its twin, of those that are both among the defenses."""
    choices = list(choices)
    known = {choice.id for choice in choices}
    pairs = ((choice.id, find_data_independent(choice)) for choice in choices)
    return {
        release: independent.id
        for release, independent in pairs
        if independent is not None and independent.id in known
    }
