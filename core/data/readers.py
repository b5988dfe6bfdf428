"""Reads graphs from user-supplied files: one entry point for all formats.

The format is detected from content and name; each has its own module. Nothing is unpickled, and
limits apply before memory is allocated.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import get_args

import pandas as pd

from core.data.assembly import (
    MERGES,
    Merge,
    MissingNodes,
    RawGraph,
    assemble_graph,
    join_node_table,
    take_ids,
)
from core.data.attributed_nodes import AttributedNodes
from core.data.columns import as_text, guess_id_column, list_known
from core.data.dataset_folders import find_dataset, load_ogb
from core.data.edge_list import load_edge_list, load_edge_table
from core.data.formats import FORMATS
from core.data.gml import read_gml
from core.data.graph_documents import read_gexf, read_graphml
from core.data.json_graphs import join_musae, read_node_link
from core.data.link_columns import LINK_ROLES, MATCH, NO_WEIGHT, find_referring, holds_links
from core.data.link_text import load_link_text
from core.data.loaded import LEFT_OUT, ColumnUse, LoadedGraph
from core.data.modes import find_modes
from core.data.network_text import load_dl, load_matrix_market, load_pajek, load_sif
from core.data.node_table import load_node_table, sniff_nodes
from core.data.npz import load_npz
from core.data.pyg import load_pyg
from core.data.sandbox import make_folder
from core.data.sniff import NEO4J, TableLayout
from core.data.table_archive import Tables, unpack_tables
from core.data.text_input import check_file
from core.errors import FormatError, InputError
from core.words import list_names

_PACKED = ("tables", "npz", "pt")
"""Formats that a zip of tables may not hold."""
_REMEDIES = {".cypher": NEO4J, ".xls": "save it as .xlsx or CSV", ".ods": "save it as .xlsx or CSV"}
_LOOKED_AT = 200
"""Rows by which a table of several is told from the others."""
_COMPARED = 100_000
"""Rows of each of two tables by which the one is found that names ids of the other."""

ATTRIBUTED: dict[str, tuple[str, Callable[[str | Path, AttributedNodes], None]]] = {
    "graphml": ("GraphML", read_graphml),
    "gexf": ("GEXF", read_gexf),
    "gml": ("GML", read_gml),
    "json": ("node-link JSON", read_node_link),
}
"""Format whose nodes have columns of their own → its name and reader."""


def load_graph(
    path: str | Path,
    *,
    nodes_path: str | Path | None = None,
    id_column: str | None = None,
    private: str | None = None,
    utility: str | None = None,
    ignore: str | Sequence[str] = (),
    unknown: str | Sequence[str] = (),
    roles: Mapping[str, str] | None = None,
    name: str | None = None,
    target_path: str | Path | None = None,
    missing_nodes: MissingNodes = "error",
    source: str | None = None,
    target: str | None = None,
    weight: str | None = None,
    time: str | None = None,
    kind: str | None = None,
    merge: Merge | None = None,
    graph_id: str | None = None,
    layout: Mapping[str, str] | None = None,
    nodes_layout: Mapping[str, str] | None = None,
) -> LoadedGraph:
    """Read a graph; self-loops are dropped, repeated links merged, and both counted.

    path         edge list (CSV, TSV, TXT, .gz, Neo4j's, Parquet, Arrow), matrix, GraphML, GEXF,
                 GML, JSON of nodes and links, Pajek, Matrix Market, UCINET DL, SIF, NPZ, .pt, an
                 Excel workbook or zip of links and, at most, nodes, or a folder of OGB or PyG
    nodes_path   node table (CSV, Parquet), joined by `id_column`, or MUSAE features (JSON)
    target_path  MUSAE targets (CSV)
    private, utility  columns that become attributes instead of features
    ignore       columns of nodes and links that are not read; of several in one text, A,B
    unknown      markers of missing values in attribute columns
    roles        column → role, overriding guesses; see `columns.ROLES`
    missing_nodes  links to undeclared ids are an error, dropped, or add nodes without data
    source, target  columns of the links' ends in a table, else by `link_columns`
    weight       column of the links' weights; "none" leaves them out
    time, kind   columns of a time and of a kind of each link; others are found by their values
    merge        weight of a link given several times: see `assembly.MERGES`; None is max, told
    graph_id     column of a graph file, such as `name`, that has the ids
    layout, nodes_layout  separator, decimal mark and header of text tables, if not to be detected:
                 see `sniff.parse_layout`; ambiguities raise InputError

    In a node table numeric columns become features, other columns attributes. Blank cells and NaN
    are unknown in an attribute; in a feature they become the column's median. InputError (or
    FormatError) names the file, the rule, the value and a remedy.

    >>> import pathlib, tempfile
    >>> from core.data.readers import load_graph
    >>> path = pathlib.Path(tempfile.mkdtemp(), "friends.csv")
    >>> _ = path.write_text("ada,bob\\nbob,eve\\nbob,ada\\n")
    >>> loaded = load_graph(path)
    >>> loaded.graph, loaded.report.num_reciprocal
    (Graph('friends', nodes=3, links=2), 1)
    """
    choices = (("merge", merge, MERGES), ("missing_nodes", missing_nodes, get_args(MissingNodes)))
    for what, value, known in choices:
        if value is not None and value not in known:
            raise InputError(what, "must be one of " + ", ".join(known), value)
    for field, stated_layout in (("layout", layout), ("nodes_layout", nodes_layout)):
        if not isinstance(stated_layout, Mapping | None):
            raise InputError(
                field, 'must be an object, such as {"separator": "comma"}', stated_layout
            )
    path, stated_ignore = Path(path), list_names(ignore)
    ignore = [name for text in stated_ignore for name in (text, *split_names(text))]
    file_name = path.name  # of a dataset's folder, not of the file inside
    path = find_dataset(path) if path.is_dir() else check_file(path)
    roles = dict(roles or {})
    chosen = {role: column for column, role in roles.items()}
    private, utility = private or chosen.get("private"), utility or chosen.get("utility")
    id_column = id_column or chosen.get("id")
    given = {c: r for c, r in roles.items() if r in (*LINK_ROLES, "ignore")}
    given |= dict.fromkeys(ignore, "ignore")
    stated = zip((source, target, weight, time, kind), LINK_ROLES, strict=True)
    given |= {c: role for c, role in stated if c is not None and c != NO_WEIGHT}
    with ExitStack() as opened:
        ends = [column for column, role in given.items() if role in ("source", "target")]
        tables = opened.enter_context(open_tables(path, ends=ends))
        nodes = tables
        if nodes_path is not None:
            nodes = opened.enter_context(open_tables(check_file(nodes_path), is_nodes=True))
        layout = {**(layout or {}), **tables.layout}
        nodes_layout = {**(nodes_layout or {}), **nodes.layout}
        table, is_musae = None, target_path is not None
        if nodes.nodes is not None:
            is_musae |= ".json" in nodes.nodes.suffixes
            table = None if is_musae else load_node_table(nodes.nodes, layout=nodes_layout)
        ids = list_ids(table, id_column)
        raw = _load_raw(tables.links, given, weight, missing_nodes, layout, ids)
        raw = replace(raw, notes=[*tables.notes, *raw.notes])
        if graph_id is None and table is not None:
            graph_id = _find_graph_id(raw, table, id_column)
        if graph_id is not None:
            raw = take_ids(raw, graph_id, file_name)
        if is_musae:
            raw = join_musae(raw, nodes.nodes, target_path, id_column)
        elif table is not None and nodes.nodes is not None:
            raw = _join_nodes(raw, table, nodes.nodes.name, id_column, missing_nodes)
        unheard = _find_unheard(stated_ignore, raw, table)
    raw = find_modes(raw) if raw.modes is None else raw
    node_roles = {c: r for c, r in roles.items() if r not in ("id", *LINK_ROLES)}
    loaded = assemble_graph(
        raw,
        source=file_name,
        name=name or file_name.split(".")[0],
        private=private,
        utility=utility,
        ignore=ignore,
        unknown=unknown,
        roles=node_roles,
        merge=merge,
    )
    loaded.report.unheard = unheard
    return loaded


def read_preview(
    path: str | Path, rows: int = 8, is_nodes: bool = False, layout: Mapping[str, str] | None = None
) -> pd.DataFrame:
    """First rows of a table of nodes or links as text, for choosing the columns' roles.

    Node tables always have a header; for others it is guessed. Columns of an edge list without
    header are called source, target, weight. Matrices and other formats give an empty
    table.
    """
    with open_tables(check_file(path), is_nodes) as tables:
        return _read_rows(tables, rows, is_nodes, layout)


def _read_rows(
    tables: Tables, rows: int, is_nodes: bool, layout: Mapping[str, str] | None
) -> pd.DataFrame:
    path = tables.nodes if is_nodes and tables.nodes is not None else tables.links
    layout = {**(layout or {}), **tables.layout}
    kind = detect_format(path)
    if kind == "parquet" or (is_nodes and kind == "text"):
        return load_node_table(path, rows, layout, asks=False)
    if kind != "text":
        return pd.DataFrame()
    text = load_link_text(path, layout)
    return pd.DataFrame() if text.matrix is not None else text.parse(rows)


@contextmanager
def open_tables(path: Path, is_nodes: bool = False, ends: Collection[str] = ()) -> Iterator[Tables]:
    """The tables of a zip or workbook, unpacked while the block runs; else the file itself.

    is_nodes  whether a lone table is one of nodes
    ends      columns that the caller states as ends of links
    """
    if path.is_dir() or detect_format(path) != "tables":
        yield Tables(path, path if is_nodes else None, {})
        return
    suffixes = [s for kind, known in FORMATS.items() for s in known if s and kind not in _PACKED]
    with make_folder("read") as folder:
        look = partial(_look_like_links, ends=ends)
        found = unpack_tables(path, Path(folder), suffixes, look, _find_referring)
        if is_nodes and found.nodes is None:
            found = replace(found, nodes=found.links)
        yield found


def _look_like_links(path: Path, layout: Mapping[str, str], ends: Collection[str] = ()) -> bool:
    """Whether a table of several is the one of links: the one with the stated ends; without, as
    graph files and matrices are."""
    if detect_format(path) not in ("text", "parquet"):
        return True
    table = _read_rows(Tables(path, None, dict(layout)), _LOOKED_AT, False, None)
    if ends and not table.empty and not all(map(str.isdecimal, ends)):
        return {*ends} <= {*map(str, table.columns)}
    return table.empty or holds_links(table)


def _find_referring(paths: Sequence[Path], layout: Mapping[str, str]) -> int | None:
    """Place of the one table of which two columns name ids of another."""
    tables = [_read_rows(Tables(p, None, dict(layout)), _COMPARED, False, None) for p in paths]
    return find_referring(tables)


def list_ids(table: pd.DataFrame | None, id_column: str | None = None) -> frozenset[str]:
    """Ids of a node table, by the column given or the likeliest; none without a table."""
    if table is None:
        return frozenset()
    column = id_column or guess_id_column(table)
    return frozenset(as_text(table[column])) if column in table.columns else frozenset()


def sniff_table(
    path: str | Path, is_nodes: bool = False, layout: Mapping[str, str] | None = None
) -> TableLayout | None:
    """Detected layout of a table of links or nodes, with open questions; None for other formats."""
    path = check_file(path)
    if detect_format(path) == "text":
        return sniff_nodes(path, layout) if is_nodes else load_link_text(path, layout).layout
    return None


def detect_format(path: Path) -> str:
    """A key of FORMATS, by magic number, then by suffix."""
    with path.open("rb") as file:
        magic = file.read(64)
    for start, kind in ((b"PAR1", "parquet"), (b"ARROW1", "arrow"), (b"%%MatrixMarket", "mtx")):
        if magic.startswith(start):
            return kind
    if re.match(rb"(\xef\xbb\xbf)?\s*dl\b[\s,]*n[rcm]?\s*=", magic, re.IGNORECASE):
        return "dl"
    suffix = path.suffix.lower()
    if suffix == ".gz":
        suffix = Path(path.stem).suffix.lower()
    found = next((kind for kind, suffixes in FORMATS.items() if suffix in suffixes), None)
    if found is None:
        remedy = (
            "use CSV, TSV, TXT, Excel (.xlsx), a zip of tables, Parquet, Arrow, GraphML, GEXF, "
            "GML, Pajek (.net), Matrix Market (.mtx), UCINET (.dl), Cytoscape (.sif), node-link "
            "JSON, NPZ or PT"
        )
        remedy = _REMEDIES.get(suffix, remedy)
        raise FormatError(f"file '{path.name}'", "must be of a supported format", suffix, remedy)
    return found


def _load_raw(
    path: Path,
    given: Mapping[str, str],
    weight: str | None,
    missing_nodes: MissingNodes,
    layout: Mapping[str, str] | None,
    node_ids: Collection[str],
) -> RawGraph:
    kind = "folder" if path.is_dir() else detect_format(path)
    has_weights = weight != NO_WEIGHT
    if kind == "text":
        return load_edge_list(path, given, has_weights, layout, node_ids)
    if kind in ("parquet", "arrow"):
        return load_edge_table(path, given, has_weights, node_ids)
    for column, role in given.items():
        if role in ("source", "target"):
            rule = "must be left out for a format that declares both ends of a link"
            raise InputError(f"--{role}", rule, column)
    if kind in ATTRIBUTED:
        chosen = next((c for c, role in given.items() if role == "weight"), weight)
        name, read = ATTRIBUTED[kind]
        nodes = AttributedNodes(f"file '{Path(path).name}'", chosen, given)
        read(path, nodes)
        return nodes.to_raw(name, missing_nodes)
    if "weight" in given.values():
        rule = "must be none, or left out, for a format with one weight a link"
        raise InputError("--weight", rule, weight)
    for column, role in given.items():
        if role in ("time", "kind"):
            rule = "must be left out for a format without columns of links to choose from"
            raise InputError(f"--{role}", rule, column)
    arrays = {
        "folder": load_ogb,
        "npz": load_npz,
        "pt": load_pyg,
        "pajek": load_pajek,
        "mtx": load_matrix_market,
        "sif": load_sif,
        "dl": load_dl,
    }
    raw = arrays[kind](path)
    unread = {c for c, role in given.items() if role == "ignore"} & raw.link_columns.keys()
    kept = {name: column for name, column in raw.link_columns.items() if name not in unread}
    uses = [
        replace(use, use=LEFT_OUT, why="chosen") if use.name in unread else use
        for use in raw.columns
    ]
    raw = replace(raw, link_columns=kept, columns=uses)
    return raw if has_weights else replace(raw, weights=None)


def split_names(text: str) -> list[str]:
    """The names of a text such as "A,B"."""
    return [name for part in text.split(",") if (name := part.strip())]


def _find_unheard(ignore: Sequence[str], raw: RawGraph, table: pd.DataFrame | None) -> list[str]:
    """Columns to ignore that neither the nodes nor the links have."""
    known = [*(use.name for use in raw.columns), *raw.attributes, *raw.feature_names]
    known += [*raw.link_columns]
    for nodes in (raw.table, table):
        known += [] if nodes is None else list(map(str, nodes.columns))
    columns = dict.fromkeys(known)
    # Columns of a file without a header have numbers.
    numbers = {str(1 + i) for i, use in enumerate(raw.columns) if use.table == "links"}
    parts = [name for text in ignore if text not in columns for name in split_names(text)]
    return [name for name in parts if name not in columns and name not in numbers]


def _find_graph_id(raw: RawGraph, table: pd.DataFrame, id_column: str | None) -> str | None:
    """The column of a graph file with the ids of the node table, where its own ids are others."""
    best, most = None, _count_ids(raw.node_ids, table, id_column)
    for column, cells in [] if raw.table is None else raw.table.items():
        values = as_text(cells)
        if values.is_unique and (values != "").all():
            count = _count_ids(values, table, id_column)
            if count > max(most, MATCH * len(values) - 1):
                best, most = str(column), count
    return best


def _count_ids(ids: Iterable[str], table: pd.DataFrame, id_column: str | None) -> int:
    ids = frozenset(ids)
    column = id_column or guess_id_column(table, ids)
    return 0 if column not in table.columns else len(ids & frozenset(as_text(table[column])))


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
            list_known(table.columns),
        )
    joined = join_node_table(raw, table, column, file, missing_nodes)
    uses = [ColumnUse("nodes", column, "id", "id", "chosen" if id_column else "matches the links")]
    why = "a column of the graph file: those of the node table are used instead"
    own = [] if raw.table is None else list(map(str, raw.table.columns))
    uses += [ColumnUse("nodes", name, LEFT_OUT, "text", why) for name in own]
    return replace(joined, format=f"{raw.format} with node table", columns=[*joined.columns, *uses])
