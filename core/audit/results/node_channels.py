"""What a release tells of its nodes: columns of the graph and of what leaves, and whether a release
is the original."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from core.audit.asked.release_info import parse_release
from core.audit.asked.spec import AuditSpec
from core.audit.computing.prepared import list_published
from core.audit.results.link_channels import Kinds, Stored, read_cell, read_graph
from core.data.external_release import is_unchanged
from core.data.generalized_cells import list_incomparable
from core.data.packing import COLUMN_ARRAYS, list_node_columns
from core.defenses.external import EXTERNAL
from core.graph import Graph


def _have_none(_release: str) -> Kinds:
    return {}


@dataclass(frozen=True)
class NodeChannels:
    """is_known        whether the releases can be read; else nothing is said of them
    find_source        columns of the graph's nodes
    find_leaving       release id → those that leave with it
    find_incomparable  release id → those of a release made elsewhere whose cells are not the
                       original's values → share of people whose cell may stand for their own
    find_unchanged     release id → whether a release that was made is the original
    """

    is_known: bool = False
    find_source: Callable[[], Kinds] = dict
    find_leaving: Callable[[str], Kinds] = _have_none
    find_incomparable: Callable[[str], Mapping[str, float]] = lambda _release: {}
    find_unchanged: Callable[[str], bool] = lambda _release: False


def make_node_channels(
    home: Path,
    spec: AuditSpec,
    load: Callable[[str], Graph],
    load_visible: Callable[[int], Graph],
    find_made: Callable[[str], list[tuple[str, int, str]]],
) -> NodeChannels:
    """Channels of an audit.

    load_visible  repeat → the graph that was defended
    find_made     release id → key, repeat and content hash of each release that is done
    """

    @cache
    def find_source() -> Kinds:
        return _read_columns(read_graph(home, spec.graph_hash))

    @cache
    def find_leaving(release: str) -> Kinds:
        external = spec.external_release
        if release == EXTERNAL and external is not None:
            return _read_columns(read_graph(home, external))
        source, made = find_source(), find_made(release)[:1]
        features = [name for name, kind in source.items() if kind == "number"]
        shown = list_published(spec, features, parse_release(release).defense)
        for key, _, _ in made:
            stored = read_cell(home, key)
            if "node_ids" in stored.names:  # a defense changed them
                attributes, kept = _list_names(stored)
                shown = tuple(name for name in shown if name in attributes or name in kept)
        return {name: source.get(name, "number") for name in shown}

    @cache
    def find_incomparable(release: str) -> Mapping[str, float]:
        if release != EXTERNAL or spec.external_release is None:
            return {}
        return list_incomparable(load(spec.graph_hash), load(spec.external_release))

    @cache
    def find_unchanged(release: str) -> bool:
        if release == EXTERNAL and spec.external_release is not None:
            secret = {*spec.threats.columns, spec.disclosure.utility}
            return is_unchanged(load(spec.graph_hash), load(spec.external_release), secret)
        defense = parse_release(release).defense
        made = [] if defense is None or defense.renames_nodes else find_made(release)
        if not made or spec.threats.sensitive_links:
            return False
        return all(found == load_visible(repeat).content_hash for _, repeat, found in made)

    return NodeChannels(True, find_source, find_leaving, find_incomparable, find_unchanged)


def _read_columns(stored: Stored) -> Kinds:
    """Columns of the nodes of a graph: its features, and attributes as categories."""
    attributes, features = _list_names(stored)
    numbers = [name for name in features if name.partition("=")[0] not in attributes]
    return {**dict.fromkeys(attributes, "category"), **dict.fromkeys(numbers, "number")}


def _list_names(stored: Stored) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Attributes and features in a file."""
    return list_node_columns(stored.read(sorted(COLUMN_ARRAYS & {*stored.names})))
