"""What a release of an audit is: the defense that made it, and its titles."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from core.defenses.external import EXTERNAL
from core.errors import InputError
from core.methods import Defense
from core.registry import parse_method
from core.release import ORIGINAL

_NAMES = {ORIGINAL: "the original", EXTERNAL: "the release made elsewhere"}
"""Releases that no method of this program made, in a sentence."""


@dataclass(frozen=True)
class ReleaseInfo:
    """One release of an audit.

    id       as stored, in addresses and in audit.json
    defense  with its settings; None for the original, and where this version does not know it
    """

    id: str
    defense: Defense | None = field(default=None, compare=False)

    @property
    def key(self) -> str:
        """Key of the defense, or the original's id."""
        return self.id.partition(":")[0]

    @property
    def is_original(self) -> bool:
        return self.id == ORIGINAL

    @property
    def is_data_independent(self) -> bool:
        """Whether it is made without the data, for comparison only."""
        return bool(getattr(self.defense, "data_free", False))

    @property
    def is_defended(self) -> bool:
        """Whether it may be published instead of the original."""
        return not (self.is_original or self.is_data_independent)

    @property
    def keeps_columns(self) -> bool:
        """Whether columns leave with it as with the original."""
        return self.defense is None or self.defense.keeps_columns

    @property
    def withholds_columns_alone(self) -> bool:
        """Whether it has every link and no column."""
        return self.defense is not None and not (self.keeps_columns or self.defense.changed)

    @property
    def title(self) -> str:
        """ "Original", "EdgeRand (ε = 6)"; the id of an unknown defense."""
        if self.is_original:
            return "Original"
        return self.id if self.defense is None else self.defense.title

    @property
    def short_title(self) -> str:
        """`title` with the strength and switches that are on alone."""
        return self.title if self.defense is None else self.defense.short_title

    @property
    def name(self) -> str:
        """Name in a sentence, without settings."""
        if self.id in _NAMES:
            return _NAMES[self.id]
        return self.key if self.defense is None else self.defense.info.title

    @property
    def phrase(self) -> str:
        """`name` with the settings, where another release has the same name."""
        return self.name if self.defense is None else self.defense.phrase


@lru_cache(maxsize=1024)
def parse_release(release_id: str) -> ReleaseInfo:
    """The release of an id; without a defense if this version does not know it."""
    if release_id == ORIGINAL:
        return ReleaseInfo(release_id)
    try:
        defense: Any = parse_method(release_id, "defense")
    except InputError:
        return ReleaseInfo(release_id)
    return ReleaseInfo(release_id, defense)


def list_short_titles(releases: Iterable[ReleaseInfo]) -> dict[str, str]:
    """Id → short title for axes and legends; the whole title if another would have the same."""
    found = list(dict.fromkeys(releases))
    times = Counter(release.short_title for release in found)
    return {r.id: r.short_title if times[r.short_title] == 1 else r.title for r in found}


def list_phrases(releases: Iterable[ReleaseInfo]) -> dict[str, str]:
    """Id → name in a sentence, with its settings if another release has the same name."""
    found = list(dict.fromkeys(releases))
    names = [f"{r.name} without the data" if r.is_data_independent else r.name for r in found]
    times = Counter(names)
    return {
        release.id: name if times[name] == 1 else release.phrase
        for release, name in zip(found, names, strict=True)
    }


def list_names(releases: Iterable[ReleaseInfo]) -> dict[str, str]:
    """Id → name without settings for a sentence; short titles if two would be the same."""
    found = list(dict.fromkeys(releases))
    plain = {r.id: r.title if r.id in _NAMES else r.name for r in found}
    return plain if len(set(plain.values())) == len(found) else list_short_titles(found)
