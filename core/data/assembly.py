"""Builds a checked graph and a report from what a format's reader found."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, get_args
from unicodedata import normalize

import numpy as np
import pandas as pd

from core.arrays import join_columns, pair_codes
from core.data.columns import (
    BLANKS,
    are_codes,
    as_numbers,
    as_text,
    check_roles,
    guess_node_roles,
    is_numeric,
    list_known,
    why_ignore,
)
from core.data.id_checks import find_id_warnings
from core.data.link_values import build_link_table
from core.data.loaded import (
    LEFT_OUT,
    ColumnUse,
    LoadedGraph,
    LoadReport,
    count_merged_rows,
    list_features,
)
from core.data.text_input import check_ids
from core.errors import InputError
from core.graph import Graph
from core.link_table import LinkColumn
from core.node_column import MISSING, NodeColumn
from core.words import count_noun, list_names

MissingNodes = Literal["error", "drop", "add"]
"""Handling of links to undeclared ids: refuse, drop them, add the nodes."""


Merge = Literal["sum", "mean", "max", "min", "first", "count"]
MERGES: tuple[Merge, ...] = get_args(Merge)
"""Weights of a link given several times, of its rows in either direction: their sum, mean, largest,
smallest, the first row's, or the number of rows."""


@dataclass(frozen=True, eq=False)
class RawGraph:
    """Content of a file before roles are applied.

    pairs     (k, 2) int64 positions in `node_ids`, as given: any direction, any repetition
    table     one row per node, columns as given; or None
    features  (n, d) dense or sparse matrix with d names; or None
    default_roles  roles defined by the format, before anything is guessed
    columns   uses of columns that are decided already: those of the links
    modes     the two modes that all links join; None: one mode, or not known
    mode_column  column of the nodes that names the modes, if one does
    link_columns  further columns of the links, a row a pair
    """

    pairs: np.ndarray
    node_ids: tuple[str, ...]
    weights: np.ndarray | None = None
    table: pd.DataFrame | None = None
    features: Any = None
    feature_names: tuple[str, ...] = ()
    attributes: Mapping[str, NodeColumn] = field(default_factory=dict)
    default_roles: Mapping[str, str] = field(default_factory=dict)
    num_rows_skipped: int = 0
    format: str = ""
    notes: Sequence[str] = ()
    columns: Sequence[ColumnUse] = ()
    modes: NodeColumn | None = None
    mode_column: str = ""
    id_warnings: Sequence[str] = ()
    link_columns: Mapping[str, LinkColumn] = field(default_factory=dict)


def join_node_table(
    raw: RawGraph,
    table: pd.DataFrame,
    id_column: str,
    file: str,
    missing_nodes: MissingNodes = "error",
) -> RawGraph:
    """Order nodes as in the table; links to other ids are refused, dropped, or add nodes without
    data."""
    column = f"file '{file}': id column '{id_column}'"
    ids = as_text(table[id_column]).map(lambda node: normalize("NFC", node))
    blank, repeated = ids == "", ids.duplicated()
    if blank.any():
        raise InputError(
            column,
            "must have a value in every row",
            f"row {int(np.flatnonzero(blank)[0]) + 1} has none",
            "fill it or remove the row",
        )
    if repeated.any():
        raise InputError(
            column,
            "must have distinct values",
            f"'{ids[repeated].iloc[0]}' twice, {int(repeated.sum())} repeated in all",
            "remove the repeated rows or choose another id column",
        )
    positions = pd.Index(ids).get_indexer(pd.Index(list(raw.node_ids), dtype=object))
    pairs = positions[raw.pairs].reshape(-1, 2)
    modes = raw.modes
    if modes is not None:
        codes = np.full(len(ids), MISSING)
        is_there = positions >= 0
        codes[positions[is_there]] = modes.codes[is_there]
        modes = replace(modes, codes=codes)
    joined = replace(
        raw,
        pairs=pairs,
        modes=modes,
        node_ids=tuple(ids),
        table=table.drop(columns=[id_column]).reset_index(drop=True),
    )
    outside = (pairs < 0).any(axis=1)
    if not outside.any():
        return joined
    unknown = [i for i, position in zip(raw.node_ids, positions, strict=True) if position < 0]
    if missing_nodes == "error":
        raise InputError(
            f"file '{file}'",
            "must have a row for every linked node",
            f"{len(unknown)} ids are missing, such as '{unknown[0]}'",
            f"add the rows, check that '{id_column}' is the id column, add the undeclared "
            "nodes, or drop their links",
        )
    if missing_nodes == "add":
        rest = pd.DataFrame("", range(len(unknown)), table.columns, dtype=object)
        rest[id_column] = unknown
        table = pd.concat([table.astype(object), rest], ignore_index=True)
        note = f"{len(unknown)} nodes that were not declared were added"
        return join_node_table(replace(raw, notes=[*raw.notes, note]), table, id_column, file)
    num_dropped = int(outside.sum())
    note = f"{num_dropped} links to {len(unknown)} ids without a row were dropped"
    return replace(
        joined,
        pairs=pairs[~outside],
        weights=None if raw.weights is None else raw.weights[~outside],
        link_columns={name: column.take(~outside) for name, column in raw.link_columns.items()},
        num_rows_skipped=raw.num_rows_skipped + num_dropped,
        notes=[*raw.notes, note],
    )


def normalize_ids(raw: RawGraph) -> RawGraph:
    """Normalise ids to Unicode NFC, so that equivalent spellings are one node.

    Only for nodes without further data.
    """
    composed = [normalize("NFC", node) for node in raw.node_ids]
    changed = sum(a != b for a, b in zip(raw.node_ids, composed, strict=True))
    if not changed:
        return raw
    positions, ids = pd.factorize(np.array(composed, object))
    note = f"{count_noun(changed, 'id')} rewritten in composed Unicode (NFC)"
    united = len(composed) - len(ids)
    note += f", which made {count_noun(united, 'node')} one with another" if united else ""
    pairs = positions[raw.pairs].astype(np.int64)
    _, first = np.unique(positions, return_index=True)
    modes = None if raw.modes is None else raw.modes.take(first)
    return replace(raw, pairs=pairs, node_ids=tuple(ids), modes=modes, notes=[*raw.notes, note])


def assemble_graph(
    raw: RawGraph,
    *,
    source: str,
    name: str,
    private: str | None = None,
    utility: str | None = None,
    ignore: Collection[str] = (),
    unknown: str | Sequence[str] = (),
    roles: Mapping[str, str] | None = None,
    merge: Merge | None = None,
) -> LoadedGraph:
    """Apply the columns' roles; drop direction, self-loops and duplicates, and count them.

    merge  weight of a link given several times; None keeps the largest and tells of unequal ones
    """
    file, unknown = f"file '{source}'", list_names(unknown)
    report = LoadReport(
        source=source,
        format=raw.format,
        num_rows_skipped=raw.num_rows_skipped,
        notes=list(raw.notes),
        columns=list(raw.columns),
        id_warnings=[*raw.id_warnings, *find_id_warnings(raw.node_ids)],
    )
    n = len(raw.node_ids)
    if n < 2:
        raise InputError(file, "must have at least two nodes", n)
    if len(raw.pairs) == 0 or (raw.pairs[:, 0] == raw.pairs[:, 1]).all():
        raise InputError(
            file,
            "must have at least one link between two nodes",
            len(raw.pairs),
            "check which columns hold the links' ends",
        )
    check_ids(file, raw.node_ids)
    chosen = [c for c in (private, utility) if c is not None]
    known_roles = {**raw.default_roles, **(roles or {}), **dict.fromkeys(ignore, "ignore")}
    if private is not None:
        known_roles[private] = "private"
    if utility is not None:
        known_roles[utility] = "utility"
    given = [] if raw.table is None else list(map(str, raw.table.columns))
    check_roles(known_roles, [*given, *raw.attributes, *raw.feature_names])
    attributes = dict(raw.attributes)
    features, feature_names = raw.features, tuple(raw.feature_names)
    if raw.table is not None and raw.table.shape[1]:
        table_attributes, table_features, table_names = _split_table(
            raw.table, known_roles, unknown, report, raw.mode_column
        )
        attributes |= table_attributes
        features = join_columns(features, table_features)
        feature_names += tuple(table_names)
    unused = [c for c in ignore if c in feature_names or c in attributes]
    report.columns += _list_arrays(raw, known_roles, unused)
    attributes = {k: v for k, v in attributes.items() if k not in unused}
    for what, texts in (("node ids", raw.node_ids), ("columns", [*attributes, *feature_names])):
        _check_text(texts, f"{file}: {what}")
    for attribute in attributes.values():
        _check_text(attribute.classes, f"{file}: column '{attribute.name}'")
    _check_weights(raw.weights, report)
    pairs, weights = merge_links(raw.pairs, raw.weights, n, merge, report)
    if weights is not None and (weights == 1).all():
        report.weights, weights = "all 1: treated as unweighted", None
    loops, duplicates, reciprocal = count_merged_rows(raw.pairs, n)
    report.num_self_loops, report.num_duplicates = loops, duplicates
    report.num_reciprocal = reciprocal
    modes = _check_modes(raw, report)
    graph = Graph.from_pairs(
        pairs,
        n,
        weights,
        modes=modes,
        node_ids=raw.node_ids,
        attributes=attributes,
        features=features,
        feature_names=feature_names,
        name=name,
    ).without_features(unused)
    graph = graph.with_private(*chosen)
    if raw.link_columns:
        graph = replace(graph, link_table=build_link_table(raw.pairs, graph, raw.link_columns))
    return LoadedGraph(graph, report)


def _check_modes(raw: RawGraph, report: LoadReport) -> NodeColumn | None:
    """The two modes, if every link joins one to the other; told in the report."""
    if raw.modes is None:
        return None
    codes = raw.modes.codes
    if len(codes) < len(raw.node_ids):  # nodes that another file added
        codes = np.append(codes, np.full(len(raw.node_ids) - len(codes), MISSING))
    sides = codes[raw.pairs]
    if (sides[:, 0] == sides[:, 1]).any() or (sides < 0).any():
        report.notes.append("read as one mode: some links join nodes of the same mode")
        return None
    modes = replace(raw.modes, codes=codes)
    report.modes = dict(zip(modes.classes, modes.counts.tolist(), strict=True))
    return modes


def _list_arrays(
    raw: RawGraph, roles: Mapping[str, str], unused: Collection[str]
) -> list[ColumnUse]:
    """Uses of the columns that the format gives as attributes or as a matrix of features."""
    found = [ColumnUse("nodes", name, "attribute", "class") for name in raw.attributes]
    return [
        replace(use, use=LEFT_OUT, why="chosen")
        if use.name in unused
        else replace(use, use=roles.get(use.name, use.use))
        for use in (*found, *list_features(raw.feature_names))
    ]


def merge_links(
    pairs: np.ndarray, weights: np.ndarray | None, n: int, how: Merge | None, report: LoadReport
) -> tuple[np.ndarray, np.ndarray | None]:
    """Each link once with its merged weight; as given where nothing is to be merged.

    A file that gives each link once each way with equal weights is one without direction: its
    rows count once. Tells how many links have unequal weights.
    """
    if how == "count":
        weights = np.ones(len(pairs))
    if weights is None:
        return pairs, None
    is_link = pairs[:, 0] != pairs[:, 1]
    codes, values = np.sort(pair_codes(pairs[is_link], n)), np.asarray(weights, float)[is_link]
    if len(codes) and not (codes[1:] == codes[:-1]).any():
        return pairs, weights
    codes = pair_codes(pairs[is_link], n)
    order = np.argsort(codes, kind="stable")
    rows, values = pairs[is_link][order], values[order]
    starts = np.flatnonzero(np.diff(codes[order], prepend=-1))
    sizes = np.diff(starts, append=len(order))
    low, high = (part.reduceat(values, starts) for part in (np.minimum, np.maximum))
    is_forward = rows[:, 0] < rows[:, 1]
    is_mirrored = (sizes == 2).all() and (low == high).all()
    is_mirrored &= (np.add.reduceat(is_forward.astype(int), starts) == 1).all()
    unequal = int((low != high).sum())
    if unequal:
        links = f"{count_noun(unequal, 'link')} given several times with unequal weights"
        kept = f"merged by {how}" if how else "the largest stays (--merge sum, mean, min or first)"
        report.notes.append(f"{links}: {kept}")
    merged: dict[str, Any] = {
        "sum": lambda: np.add.reduceat(values, starts) / (2 if is_mirrored else 1),
        "mean": lambda: np.add.reduceat(values, starts) / sizes,
        "min": lambda: low,
        "first": lambda: values[starts],
        "count": lambda: sizes / (2 if is_mirrored else 1),
    }
    return rows[starts], np.asarray(merged.get(str(how), lambda: high)())


def take_ids(raw: RawGraph, column: str, file: str) -> RawGraph:
    """The graph with the ids of a column, which must be distinct and filled in."""
    what = f"file '{file}': column '{column}' of ids"
    names = [] if raw.table is None else list(map(str, raw.table.columns))
    if raw.table is None or column not in names:
        raise InputError(what, "must be in the graph file", remedy=list_known(names))
    ids = as_text(raw.table[column]).map(lambda node: normalize("NFC", node))
    if (ids == "").any() or ids.duplicated().any():
        remedy = "correct it, or take the ids of the nodes: leave out --graph-id"
        raise InputError(what, "must have a value of its own for every node", remedy=remedy)
    return replace(
        raw,
        node_ids=tuple(ids),
        table=raw.table.drop(columns=[column]),
        columns=[*raw.columns, ColumnUse("nodes", column, "id", "id", "instead of its own ids")],
        notes=[*raw.notes, f"ids were taken from column '{column}' of the graph file"],
    )


def _split_table(
    table: pd.DataFrame,
    given: Mapping[str, str],
    unknown: Sequence[str],
    report: LoadReport,
    mode_column: str,
) -> tuple[dict[str, NodeColumn], np.ndarray | None, list[str]]:
    columns = [str(c) for c in table.columns]
    roles = guess_node_roles(table, id_column="")
    roles |= {c: r for c, r in given.items() if c in columns}
    attributes: dict[str, NodeColumn] = {}
    values: list[np.ndarray] = []
    names: list[str] = []
    for column in columns:
        role, cells = roles[column], table[column]
        why = "chosen" if column in given else ""
        if role in ("private", "utility", "attribute"):
            attribute = NodeColumn.from_values(column, as_text(cells), [*unknown, "NaN"])
            if not attribute.known.all():
                report.num_unknown[column] = int((~attribute.known).sum())
            attributes[column] = attribute
        elif role == "feature":
            values.append(_feature_values(cells, report))
            names.append(column)
        else:
            role, why = LEFT_OUT, why or why_ignore(cells) or "not used"
        if not why and are_codes(cells):
            why = "digits with leading zeros are text"
        kind = "number" if role == "feature" or is_numeric(cells) else "class"
        kind = kind if role != LEFT_OUT or kind == "number" else "text"
        if column == mode_column and role in ("attribute", "feature") and column not in given:
            role, why = "mode", f"read as {role}; every link joins its two values"
        report.columns.append(ColumnUse("nodes", column, role, kind, why))
    return attributes, np.stack(values, axis=1) if values else None, names


def _feature_values(cells: pd.Series, report: LoadReport) -> np.ndarray:
    """float32 of a numeric column; missing cells become the median and are reported.

    Unknown cells and further digits are not kept, though `NodeTable.read` could: the content hash
    names them, since graphs that differ in them must not be one, and by it stored audits, decisions
    and `audit.json` find a graph when its file is read again.
    """
    column, numbers = str(cells.name), as_numbers(cells)
    missing = numbers.isna()
    bad = np.isinf(numbers)
    if missing.any():
        bad |= missing & (~as_text(cells).isin(BLANKS) | missing.all())
    if bad.any():
        rows = np.flatnonzero(bad)
        raise InputError(
            f"feature column '{column}'",
            "must hold finite numbers",
            f"'{as_text(cells).iloc[rows[0]]}' in row {rows[0] + 1}",
            "give it the role attribute or ignore",
        )
    if missing.any():
        report.num_filled[column] = int(missing.sum())
        numbers = numbers.fillna(numbers.median())
    return np.asarray(numbers.to_numpy(np.float32))


def _check_text(texts: Sequence[str], what: str) -> None:
    """Reject lone surrogates, which JSON can contain but files and hashes cannot."""
    try:
        "\n".join(texts).encode()
    except UnicodeEncodeError as error:
        raise InputError(
            what, "must be valid Unicode", error.object[error.start], "correct the text"
        ) from None


def _check_weights(weights: np.ndarray | None, report: LoadReport) -> None:
    """Raise InputError for weights that are negative or not finite; report their range."""
    if weights is None:
        return
    weights = np.asarray(weights, dtype=float)
    if not np.isfinite(weights).all() or (weights < 0).any():
        bad = weights[~(np.isfinite(weights) & (weights >= 0))][0]
        raise InputError(
            f"file '{report.source}': link weights",
            "must be finite and not negative",
            float(bad),
            "correct them, or leave them out: --weight none",
        )
    report.weights = f"from {weights.min():g} to {weights.max():g}"
