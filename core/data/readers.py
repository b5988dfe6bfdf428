"""Reads graphs from user-supplied files: one entry point for all formats.

The format is detected from content and name; each has its own module. Nothing is unpickled, and
limits apply before memory is allocated.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pandas as pd

from core.data.assembly import MissingNodes, RawGraph, assemble_graph, join_node_table
from core.data.columns import guess_id_column, guess_roles, guess_unknown_markers
from core.data.dataset_folders import find_dataset, load_ogb
from core.data.edge_list import load_edge_list, load_edge_table
from core.data.graph_documents import load_gexf, load_gml, load_graphml
from core.data.json_graphs import join_musae, load_node_link
from core.data.link_text import load_link_text
from core.data.loaded import LoadedGraph
from core.data.network_text import load_matrix_market, load_pajek
from core.data.node_table import load_node_table, sniff_nodes
from core.data.npz import load_npz
from core.data.pyg import load_pyg
from core.data.sniff import TableLayout
from core.data.text_input import check_file
from core.errors import FormatError, InputError

__all__ = [
    "SUFFIXES",
    "detect_format",
    "guess_roles",
    "guess_unknown_markers",
    "load_graph",
    "read_preview",
    "sniff_table",
]

_FORMATS = {
    "text": (".csv", ".tsv", ".txt", ".edges", ".edgelist", ".cites", ".tab", ""),
    "parquet": (".parquet",),
    "arrow": (".arrow", ".feather"),
    "graphml": (".graphml",),
    "gexf": (".gexf",),
    "gml": (".gml",),
    "json": (".json",),
    "pajek": (".net", ".paj"),
    "mtx": (".mtx",),
    "npz": (".npz",),
    "pt": (".pt", ".pth"),
}
"""Format → suffixes; text formats also with .gz."""

SUFFIXES = (*(suffix[1:] for known in _FORMATS.values() for suffix in known if suffix), "gz")
"""All supported suffixes, without the dot."""


def load_graph(
    path: str | Path,
    *,
    nodes_path: str | Path | None = None,
    id_column: str | None = None,
    private: str | None = None,
    utility: str | None = None,
    ignore: Sequence[str] = (),
    unknown: Sequence[str] = (),
    roles: Mapping[str, str] | None = None,
    name: str | None = None,
    target_path: str | Path | None = None,
    missing_nodes: MissingNodes = "error",
    ignore_weights: bool = False,
    layout: Mapping[str, str] | None = None,
    nodes_layout: Mapping[str, str] | None = None,
) -> LoadedGraph:
    """Read a graph; direction, self-loops and duplicates are dropped and counted.

    path         edge list (CSV, TSV, TXT, .gz, Neo4j's, Parquet, Arrow), GraphML, GEXF, GML,
                 node-link JSON, Pajek, Matrix Market, NPZ, .pt, or a folder of OGB or PyG
    nodes_path   node table (CSV, Parquet), joined by `id_column`, or MUSAE features (JSON)
    target_path  MUSAE targets (CSV)
    private, utility  columns that become attributes instead of features
    unknown      markers of missing values in attribute columns
    roles        column → role, overriding guesses; see `columns.ROLES`
    missing_nodes  links to undeclared ids are an error, dropped, or add nodes without data
    ignore_weights  drop the links' weights
    layout, nodes_layout  separator, decimal mark and header of text tables, if not to be detected:
                 see `sniff.parse_layout`; ambiguities raise InputError

    In a node table numeric columns become features, other columns attributes. Blank cells and NaN
    are unknown in an attribute; in a feature they become the column's median. InputError (or
    FormatError) names the file, the rule, the value and a remedy.
    """
    path = Path(path)
    source = path.name  # of a dataset's folder, not of the file inside
    path = find_dataset(path) if path.is_dir() else check_file(path)
    roles = dict(roles or {})
    raw = _load_raw(path, roles, missing_nodes, ignore_weights, layout)
    if nodes_path is not None:
        nodes_path = check_file(nodes_path)
    chosen = {role: column for column, role in roles.items()}
    private, utility = private or chosen.get("private"), utility or chosen.get("utility")
    id_column = id_column or chosen.get("id")
    is_musae = nodes_path is not None and ".json" in nodes_path.suffixes
    if is_musae or target_path is not None:
        raw = join_musae(raw, nodes_path, target_path, id_column)
    elif nodes_path is not None:
        table = load_node_table(nodes_path, layout=nodes_layout)
        raw = _join_nodes(raw, table, nodes_path.name, id_column, missing_nodes)
    node_roles = {c: r for c, r in roles.items() if r not in ("id", "source", "target", "weight")}
    return assemble_graph(
        raw,
        source=source,
        name=name or source.split(".")[0],
        private=private,
        utility=utility,
        ignore=ignore,
        unknown=unknown,
        roles=node_roles,
    )


def read_preview(
    path: str | Path, rows: int = 8, is_nodes: bool = False, layout: Mapping[str, str] | None = None
) -> pd.DataFrame:
    """First rows of a table of nodes or links as text, for choosing the columns' roles.

    Node tables always have a header; for others it is guessed. Columns of an edge list without
    header are called source, target, weight. Other formats give an empty table.
    """
    path = check_file(path)
    kind = detect_format(path)
    if kind == "parquet" or (is_nodes and kind == "text"):
        return load_node_table(path, rows, layout, asks=False)
    if kind != "text":
        return pd.DataFrame()
    return load_link_text(path, layout).parse(rows)


def sniff_table(
    path: str | Path, is_nodes: bool = False, layout: Mapping[str, str] | None = None
) -> TableLayout | None:
    """Detected layout of a table of links or nodes, with open questions; None for other formats."""
    path = check_file(path)
    if detect_format(path) != "text":
        return None
    return sniff_nodes(path, layout) if is_nodes else load_link_text(path, layout).layout


def detect_format(path: Path) -> str:
    """A key of _FORMATS, by magic number, then by suffix."""
    with path.open("rb") as file:
        magic = file.read(14)
    for start, kind in ((b"PAR1", "parquet"), (b"ARROW1", "arrow"), (b"%%MatrixMarket", "mtx")):
        if magic.startswith(start):
            return kind
    suffix = path.suffix.lower()
    if suffix == ".gz":
        suffix = Path(path.stem).suffix.lower()
    found = next((kind for kind, suffixes in _FORMATS.items() if suffix in suffixes), None)
    if found is None:
        raise FormatError(
            f"file '{path.name}'",
            "must be of a supported format",
            suffix,
            "use CSV, TSV, TXT, Parquet, Arrow, GraphML, GEXF, GML, Pajek (.net), Matrix Market "
            "(.mtx), node-link JSON, NPZ or PT",
        )
    return found


def _load_raw(
    path: Path,
    roles: Mapping[str, str],
    missing_nodes: MissingNodes,
    ignore_weights: bool,
    layout: Mapping[str, str] | None,
) -> RawGraph:
    if path.is_dir():
        raw = load_ogb(path)
        return replace(raw, weights=None) if ignore_weights else raw
    kind = detect_format(path)
    if kind == "text":
        return load_edge_list(path, roles, ignore_weights, layout)
    if kind in ("parquet", "arrow"):
        return load_edge_table(path, roles, ignore_weights)
    attributed = {
        "graphml": load_graphml,
        "gexf": load_gexf,
        "gml": load_gml,
        "json": load_node_link,
    }
    if kind in attributed:
        return attributed[kind](path, missing_nodes=missing_nodes, ignore_weights=ignore_weights)
    arrays = {"npz": load_npz, "pt": load_pyg, "pajek": load_pajek, "mtx": load_matrix_market}
    raw = arrays[kind](path)
    return replace(raw, weights=None) if ignore_weights else raw


def _join_nodes(
    raw: RawGraph,
    table: pd.DataFrame,
    file: str,
    id_column: str | None,
    missing_nodes: MissingNodes,
) -> RawGraph:
    column = id_column or guess_id_column(table, raw.node_ids)
    if column is None or column not in table.columns:
        raise InputError(
            f"file '{file}': id column",
            "must be a column of the node table",
            column,
            "columns are: " + ", ".join(table.columns[:20]),
        )
    joined = join_node_table(raw, table, column, file, missing_nodes)
    return replace(joined, format=f"{raw.format} with node table")
