"""Columns of links of a graph and of the releases of its audit, read from the stored arrays."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

from core.audit.asked.spec_parts import DisclosureSpec
from core.audit.store import files
from core.data.link_release import WEIGHT, list_published_links
from core.data.packing import list_table_arrays, list_table_columns, unpack_link_table
from core.data.release_columns import LINK_PREFIX
from core.release import ORIGINAL

Kinds = Mapping[str, str]
"""Name of a column of links, as `publish_columns` takes it → kind: number, time, category or
direction."""


def _have_none(_release: str) -> Kinds:
    return {}


@dataclass(frozen=True)
class LinkChannels:
    """find_source: columns of the graph's links; find_leaving: release id → those that leave with
    it; find_known: those that a given second graph has, None if it is simulated with all;
    find_repeats: release id → whether some link leaves in several rows."""

    find_source: Callable[[], Kinds] = dict
    find_leaving: Callable[[str], Kinds] = _have_none
    find_known: Callable[[], Collection[str] | None] = lambda: None
    find_repeats: Callable[[str], bool] = lambda _release: False


def make_link_channels(
    home: Path,
    graph_hash: str,
    second_hash: str | None,
    disclosure: DisclosureSpec,
    find_cells: Callable[[str], list[str]],
) -> LinkChannels:
    """Channels of an audit.

    find_cells  release id → keys of its cells that are done
    """

    @cache
    def find_source() -> Kinds:
        return read_link_columns(read_graph(home, graph_hash))

    @cache
    def find_leaving(release: str) -> Kinds:
        if release == ORIGINAL:
            kinds = find_source()
            is_weighted = "weights" in read_graph(home, graph_hash).names
            shown = list_published_links(kinds, is_weighted, disclosure.publish_columns)
            return {name: kinds[name] for name in shown}
        found: dict[str, str] = {}
        for key in find_cells(release):
            found |= read_link_columns(read_cell(home, key))
        return found

    @cache
    def find_known() -> Collection[str] | None:
        return None if second_hash is None else read_link_columns(read_graph(home, second_hash))

    @cache
    def find_repeats(release: str) -> bool:
        leaving = find_leaving(release).keys()
        if release != ORIGINAL:
            return any(_has_repeats(read_cell(home, key), leaving) for key in find_cells(release))
        return _has_repeats(read_graph(home, graph_hash), leaving)

    return LinkChannels(find_source, find_leaving, find_known, find_repeats)


@dataclass(frozen=True)
class Stored:
    """names: those of a file's arrays; read: reads some of them."""

    names: list[str]
    read: Callable[[Collection[str]], files.Arrays]


def read_graph(home: Path, graph_hash: str) -> Stored:
    """The arrays of a graph."""
    path = files.graph_path(home, graph_hash)
    return Stored(files.list_arrays(path), partial(files.read_npz, path))


def read_cell(home: Path, key: str) -> Stored:
    """The arrays of a cell, which raise DamagedError where they are not as they were written."""
    names = files.list_arrays(files.cell_folder(home, key) / files.ARRAYS)
    return Stored(names, partial(files.load_cell, home, key))


def _has_repeats(stored: Stored, leaving: Collection[str]) -> bool:
    """Whether some link has several rows with a value in the columns that leave."""
    names = list_table_arrays(stored.names)
    table = unpack_link_table(stored.read(names)) if leaving and names else None
    kept = table and table.with_columns([name.removeprefix(LINK_PREFIX) for name in leaving])
    return kept is not None and kept.has_repeats


def read_link_columns(stored: Stored) -> Kinds:
    """Columns of the links, the weights first."""
    names = stored.names
    weights = {WEIGHT: "number"} if "weights" in names else {}
    info = [name for name in names if name.endswith("table_info")]
    columns = list_table_columns(stored.read(info) if info else {})
    return {**weights, **columns, **weights}
