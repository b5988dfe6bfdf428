"""Events of links as files have them: rows of a table, or arrays beside those of the links."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from core.arrays import is_among, pair_codes
from core.data.link_columns import USES
from core.data.loaded import ColumnUse
from core.errors import FormatError, InputError
from core.graph import Graph
from core.link_table import LinkColumn, LinkTable

_PREFIX = "link_"
_ENDS = "link_ends"
"""Array (e, 2) of the nodes of each event: directions are from the first to the second."""
_OWN = ("source", "target", "weight")


def list_events(graph: Graph) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Number of the link of each row of a table, and its further columns as written.

    A link without events has one row, in which they are NaN or "".
    """
    every = np.arange(graph.num_edges)
    table = graph.link_table
    if table is None:
        return every, {}
    bare = every[~np.isin(every, table.links)]
    links = np.concatenate([table.links, bare])
    order = np.argsort(links, kind="stable")
    columns = {
        f"{name}_column" if name in _OWN else name: column.extend(len(bare)).take(order)
        for name, column in table.columns.items()
    }
    return links[order], {name: column.format_values() for name, column in columns.items()}


def pack_events(graph: Graph) -> dict[str, np.ndarray]:
    """Arrays of the events by name; none without any."""
    if graph.link_table is None:
        return {}
    arrays = {f"{_PREFIX}{name}": array for name, array in graph.link_table.pack().items()}
    links = arrays.pop(f"{_PREFIX}rows")
    return {_ENDS: graph.edges[links], **arrays}


def list_ends(has_weights: bool) -> list[ColumnUse]:
    """Uses of the ends and weights of links that a format of arrays has without names."""
    uses = [ColumnUse("links", end, end, "id", "by the format") for end in ("source", "target")]
    weight = ColumnUse("links", "weight", "weight", "number", "by the format")
    return [*uses, weight] if has_weights else uses


def list_event_arrays(names: Iterable[str]) -> list[str]:
    """Which arrays of a file are those of `pack_events`."""
    own = [name for name in names if name.startswith(_PREFIX)]
    return own if _ENDS in own else []


def unpack_events(
    arrays: Mapping[str, np.ndarray], pairs: np.ndarray, weights: np.ndarray | None, file: str
) -> tuple[np.ndarray, np.ndarray | None, dict[str, LinkColumn], list[ColumnUse]]:
    """Rows of links (k, 2) with their weights, further columns and their uses, of a file that holds
    `pairs` with `weights` and the arrays of `pack_events`; events of other links are dropped."""
    if _ENDS not in arrays:
        return pairs, weights, {}, []
    ends = arrays[_ENDS]
    try:
        is_table = ends.ndim == 2 and ends.shape[1] == 2 and ends.dtype.kind in "iu"
        if not is_table:
            raise ValueError
        table = {name.removeprefix(_PREFIX): array for name, array in arrays.items()}
        read = LinkTable.unpack({**table, "rows": np.arange(len(ends))}).columns
    except (InputError, ValueError, KeyError, IndexError, TypeError, RecursionError):
        rule = "must hold the ends and columns of events as this program writes them"
        raise FormatError(f"{file}: {_ENDS}", rule, str(ends.shape)) from None
    num_nodes = int(max(pairs.max(initial=-1), ends.max(initial=-1))) + 1
    if ends.min(initial=0) < 0:
        raise FormatError(f"{file}: {_ENDS}", "must be node numbers from 0 up")
    codes, own = (pair_codes(part, num_nodes) for part in (pairs, ends))
    order = np.argsort(codes, kind="stable")
    is_link = is_among(own, codes[order])
    first = order[np.searchsorted(codes[order], own[is_link])]
    bare = np.flatnonzero(~is_among(codes, np.sort(own)))
    rows = np.concatenate([first, bare])
    joined = np.concatenate([ends[is_link].astype(np.int64), pairs[bare]])
    columns = {name: column.take(is_link).extend(len(bare)) for name, column in read.items()}
    kinds = {"time": "time", "number": "number"}
    uses = [
        ColumnUse("links", name, USES[column.kind], kinds.get(column.kind, "class"))
        for name, column in columns.items()
    ]
    return joined, None if weights is None else weights[rows], columns, uses
