"""Graphs in two modes, such as people and events: every link joins one to the other."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pandas as pd

from core.data.assembly import RawGraph
from core.data.columns import BLANKS, as_text
from core.node_column import MISSING, NodeColumn

MODE = "mode"
"""Name of the attribute that the modes are."""
_MODE = re.compile(
    r"(is[ _-]?)?(bipartite|mode|(node|vertex|entity)?[ _-]?type|kind|side|partition|part|set)",
    re.IGNORECASE,
)
_PEOPLE = (
    "person people user member author actor customer student employee reader reviewer patient "
    "player voter participant woman man donor investor director officer employee attendee"
)
_THINGS = (
    "event item movie film paper book article product group club page song artist company firm "
    "organisation organization team project place venue tag post course publication meeting board "
    "topic repository hospital disease drug city country party word business entity channel forum"
)
_PEOPLE_WORDS, _THING_WORDS = frozenset(_PEOPLE.split()), frozenset(_THINGS.split())


def list_modes(source: str, target: str) -> tuple[str, str]:
    """What two columns name if that is people on one side and no people on the other, else ""."""
    names = [re.sub(r"[ _-]?(id|key|name|no)s?$", "", c.strip().lower()) for c in (source, target)]
    stems = [name if name in _PEOPLE_WORDS | _THING_WORDS else name.rstrip("s") for name in names]
    sides = {stem in _PEOPLE_WORDS: stem for stem in stems if stem in _PEOPLE_WORDS | _THING_WORDS}
    return (stems[0], stems[1]) if len(sides) == 2 else ("", "")


def separate_modes(raw: RawGraph, left: str, right: str, always: bool = False) -> RawGraph:
    """Make the targets nodes of their own: person 1 and event 1 are two.

    left, right  names of the modes; "" leaves the graph as it is
    always       rename the targets even if no id is on both sides
    """
    if not left:
        return raw
    starts, ends = np.unique(raw.pairs[:, 0]), np.unique(raw.pairs[:, 1])
    shared = np.intersect1d(starts, ends)
    codes = np.full(len(raw.node_ids), MISSING)
    codes[starts], codes[ends] = 0, 1
    modes = NodeColumn(MODE, codes, (left, right))
    note = f"two modes, {left} and {right}"
    if not always and not len(shared):
        return replace(raw, modes=modes, notes=[*raw.notes, note])
    names = [raw.node_ids[node] for node in starts]
    names += [f"{right} {raw.node_ids[node]}" for node in ends]
    first = np.searchsorted(starts, raw.pairs[:, 0])
    second = len(starts) + np.searchsorted(ends, raw.pairs[:, 1])
    note += f": the ids of the targets begin with '{right}', as {len(shared)} are on both sides"
    return replace(
        raw,
        pairs=np.stack([first, second], axis=1),
        node_ids=tuple(names),
        modes=replace(modes, codes=np.repeat([0, 1], [len(starts), len(ends)])),
        notes=[*raw.notes, note],
    )


def find_modes(raw: RawGraph) -> RawGraph:
    """The graph with its modes by a column such as `type` or `bipartite` whose two values every
    link joins, if there is one."""
    columns = {} if raw.table is None else {str(c): raw.table[c] for c in raw.table.columns}
    for name, column in columns.items():
        if not _MODE.fullmatch(name):
            continue
        values = as_text(column).to_numpy(object)
        codes, distinct = pd.factorize(values)
        counts = pd.Series(values[np.unique(raw.pairs)]).value_counts()
        if len(counts) != 2 or BLANKS & set(counts.index) or not len(distinct):
            continue
        first, second = codes[raw.pairs].T
        if (first != second).all():
            sides = sorted(counts.index)
            shown = [
                value
                if re.search(r"[^\W\d]", value) and value.lower() not in ("true", "false")
                else f"{name} {value}"
                for value in sides
            ]
            codes = np.select([values == side for side in sides], [0, 1], MISSING)
            return replace(raw, modes=NodeColumn(MODE, codes, tuple(shown)), mode_column=name)
    return raw
