"""How much a file may ask for: counts that are checked before memory is taken.

A file that is small and says much is refused by its ratio, a large one by what reading may take
(see `safely`). The numbers leave room for graphs of a million nodes and ten million links.
"""

from __future__ import annotations

from collections.abc import Sequence

from core.errors import ResourceError

MAX_NODES = 10_000_000
NODES_WITHOUT_DATA = 100_000
NODES_PER_ENTRY = 100
"""Nodes that a file may declare for each link or row that it stores, above the fixed number."""
MAX_ID_LENGTH = 1000
MAX_COLUMNS = 10_000
MAX_FEATURES = 100_000
MAX_CELLS = 100_000_000
MAX_TEXT_CELLS = 20_000_000
MAX_TEXT_BYTES = 1 << 30


def check_num_nodes(what: str, num_nodes: int, num_entries: int) -> None:
    """ResourceError where the node numbers or a shape declare far more nodes than there is data.

    num_entries  links and rows that the file stores
    """
    most = min(MAX_NODES, NODES_WITHOUT_DATA + NODES_PER_ENTRY * num_entries)
    if num_nodes > most:
        raise ResourceError(
            what,
            f"must declare at most {most:,} nodes (for {num_entries:,} links and rows)",
            f"{num_nodes:,}",
            "number the nodes from 0 without gaps",
        )


def check_ids(what: str, ids: Sequence[str]) -> None:
    """ResourceError for an id that is no name: no page, table or log could show it."""
    longest = max(map(len, ids), default=0)
    if longest > MAX_ID_LENGTH:
        raise ResourceError(
            what,
            f"must have node ids of at most {MAX_ID_LENGTH:,} characters",
            f"{longest:,}",
            "check which column holds the ids",
        )


def check_num_features(what: str, num_features: int) -> None:
    """ResourceError for more features than any graph of people has."""
    if num_features > MAX_FEATURES:
        raise ResourceError(
            what, f"must have at most {MAX_FEATURES:,} features", f"{num_features:,}", "use fewer"
        )


def check_num_columns(what: str, num_columns: int) -> None:
    """ResourceError for a table wider than one that can be shown and chosen from."""
    if num_columns > MAX_COLUMNS:
        raise ResourceError(
            what,
            f"must have at most {MAX_COLUMNS:,} columns",
            f"{num_columns:,}",
            "leave out columns, or store features as a sparse matrix (NPZ)",
        )


def check_cells(what: str, num_rows: int, num_columns: int, most: int = MAX_TEXT_CELLS) -> None:
    """ResourceError for a table of too many columns or cells."""
    check_num_columns(what, num_columns)
    if num_rows * num_columns > most:
        raise ResourceError(
            what,
            f"must have at most {most:,} cells",
            f"{num_rows:,} × {num_columns:,}",
            "leave out columns or load a part of it",
        )
