"""Graphs as JSON: lists of nodes and links, and MUSAE's words and targets.

NetworkX   {"nodes": [{"id": …}], "links" or "edges": [{"source": …, "target": …}]}
graphology {"nodes": [{"key": …, "attributes": {…}}], "edges": [{"source": …, …}]}
Cytoscape  {"elements": {"nodes": [{"data": {"id": …}}], "edges": [{"data": {…}}]}}
MUSAE      features {node: [word ids]}, and a CSV of targets
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from core.data.assembly import RawGraph, join_node_table
from core.data.attributed_nodes import AttributedNodes
from core.data.columns import guess_id_column, list_known
from core.data.graph_documents import OF_LINK
from core.data.loaded import ColumnUse
from core.data.node_table import load_node_table
from core.data.sniff import NEO4J
from core.data.text_input import MAX_FEATURES, load_json
from core.errors import FormatError, InputError

_REMEDY = 'write {"nodes": [{"id": …}, …], "links": [{"source": …, "target": …}, …]}'
_NEO4J = {"type", "labels", "segments", "start", "end", "relationship", "p", "n", "r", "m"}
_OWN_OBJECTS = ("attributes", "data")
"""Keys of a node's or link's values in graphology and Cytoscape."""
_ENDS = (("source", "from"), ("target", "to"))
"""Keys of a link's ends; vis.js says from and to."""
_OF_LINKS = {"key", "id", "undirected"}


def read_node_link(path: str | Path, nodes: AttributedNodes) -> None:
    """Nodes by `id` or `key` with their values; links with `weight` or `value` as weight."""
    file = nodes.file
    content = load_json(path, f"{_REMEDY}; from Neo4j, {NEO4J}")
    is_directed = isinstance(content, dict) and content.get("directed") is True
    if isinstance(content, dict) and "elements" in content:
        content = content["elements"]
    if not isinstance(content, dict):
        first = content[0] if isinstance(content, list) and content else None
        is_neo4j = isinstance(first, dict) and first.keys() & _NEO4J
        remedy = NEO4J if is_neo4j else _REMEDY
        raise FormatError(file, "must be an object with nodes and links", remedy=remedy)
    rows = _list_rows(content, ("nodes",), file)
    links = _list_rows(content, ("links", "edges"), file)
    sides = [tuple(_find_side(row, names) for names in _ENDS) for row in links]
    ends = [tuple(map(row.get, pair)) for row, pair in zip(links, sides, strict=True)]
    ends = [tuple(map(_find_end, pair)) for pair in ends]
    names, by_place = _choose_ids(rows, ends, file, nodes)
    for row, node in zip(rows, names, strict=True):
        nodes.add_node(node, _format_values(row, nodes))
    for row, names_of_ends, pair in zip(links, sides, ends, strict=True):
        source, target = (
            None if end is None else names[end] if by_place else _format_id(end, file)
            for end in pair
        )
        other = {*_OF_LINKS, *names_of_ends}
        values = {k: v for k, v in row.items() if k not in other}
        for name in [name for name, value in values.items() if value is None]:
            nodes.declare("links", name)
            del values[name]
        for name in ("id", "key"):
            if row.get(name) is not None:
                nodes.leave_out_value("links", name, OF_LINK)
        for name, value in values.items():
            is_simple = isinstance(value, int | float | str)
            if not is_simple and name in (nodes.weight or "weight", "value"):
                raise FormatError(f"{file}: link weights", "must be numbers", type(value).__name__)
            values[name] = str(value) if is_simple else json.dumps(value)
        own = None if "undirected" not in row else row["undirected"] is not True
        nodes.add_link(source, target, values, ("weight", "value"), own)
    nodes.set_direction(is_directed)


def _find_side(row: dict[str, Any], names: tuple[str, ...]) -> str:
    """The key of an end of a link."""
    return next((name for name in names if row.get(name) is not None), names[0])


def _find_end(end: Any) -> Any:
    """An end of a link; d3 replaces it by its node."""
    return end.get("id", end.get("index")) if isinstance(end, dict) else end


def _choose_ids(
    rows: list[dict[str, Any]], ends: list[tuple[Any, ...]], file: str, nodes: AttributedNodes
) -> tuple[list[str], bool]:
    """Id of each node, taken out of its row, and whether links name nodes by place.

    d3 and others name the ends of a link by places from 0; nodes are then called by `id`, `name` or
    `label` if these are distinct, else by their places.
    """
    key = "id" if any("id" in row for row in rows) else "key"
    nodes.set_ids(key, "by the format")
    keys = [row.pop("id", row.get("key")) for row in rows]
    for row, node in zip(rows, keys, strict=True):
        if row.get("key") == node:
            row.pop("key", None)
    given = [end for pair in ends for end in pair if end is not None]
    others = [end for end in given if type(end) is not int or not 0 <= end < len(rows)]
    named = {end for end in given if isinstance(end, int | str)}
    known = {str(key) for key in keys if key is not None}
    if others and not known:
        rule = "must be places of nodes, from 0, as no node has an id"
        raise FormatError(f"{file}: ends of links", rule, str(others[0])[:40])
    if not named or others or known & set(map(str, named)):
        return [_format_id(key, file) for key in keys], False
    nodes.note("links name their ends by the places of the nodes in the list, from 0")
    if len(known) == len(rows):
        return [_format_id(key, file) for key in keys], True
    for column in ("name", "label"):
        if len({str(row.get(column, "")) for row in rows} - {""}) == len(rows):
            nodes.set_ids(column, "all of them are distinct")
            return [str(row.pop(column)) for row in rows], True
    nodes.set_ids("index", "places in the list, from 0")
    return list(map(str, range(len(rows)))), True


def _list_rows(content: dict[str, Any], names: tuple[str, ...], file: str) -> list[dict[str, Any]]:
    """Objects of the list under one of the names, with nested values moved to the top."""
    rows = next((content[name] for name in names if name in content), None)
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise FormatError(file, f"must hold a list of {names[0]}", remedy=_REMEDY)
    found = []
    for row in rows:
        inner = [row[name] for name in _OWN_OBJECTS if isinstance(row.get(name), dict)]
        outer = {k: v for k, v in row.items() if not (k in _OWN_OBJECTS and isinstance(v, dict))}
        found.append({**outer, **{k: v for values in inner for k, v in values.items()}})
    return found


def _format_id(node: Any, file: str) -> str:
    if not isinstance(node, str | int) or isinstance(node, bool):
        raise FormatError(file, "must name nodes by texts or whole numbers", repr(node)[:40])
    return str(node)


def _format_values(row: dict[str, Any], nodes: AttributedNodes) -> dict[str, str]:
    """Scalar values as text; lists and objects are counted and dropped."""
    values = {}
    for name, value in row.items():
        if isinstance(value, list | dict):
            for path in _list_paths(name, value):
                nodes.leave_out_value("nodes", path, "holds lists or objects")
        elif value is not None:
            values[name] = str(value).lower() if isinstance(value, bool) else str(value)
        else:
            nodes.declare("nodes", name)
    return values


def _list_paths(name: str, value: Any) -> list[str]:
    """Paths of the values within an object, such as place.city; a list is one."""
    paths, queue = [], [(name, value)]
    while queue:
        path, inner = queue.pop()
        if isinstance(inner, dict) and inner:
            queue += [(f"{path}.{key}", one) for key, one in reversed(inner.items())]
        else:
            paths.append(path)
    return paths


def join_musae(
    raw: RawGraph,
    features_path: str | Path | None,
    target_path: str | Path | None,
    id_column: str | None = None,
) -> RawGraph:
    """Add the targets' columns and the words; nodes are the targets' rows, else the features'."""
    words = None if features_path is None else load_word_lists(features_path)
    if target_path is not None:
        table = load_node_table(target_path)
        column = id_column or guess_id_column(table)
        file = Path(target_path).name
        if column is None or column not in table:
            raise InputError(
                f"file '{file}'",
                "must have an id column with distinct values",
                column,
                list_known(table.columns),
            )
        raw = join_node_table(raw, table, column, file)
        use = ColumnUse("nodes", column, "id", "id", "chosen" if id_column else "by its values")
        raw = replace(raw, columns=[*raw.columns, use])
    elif words is not None:
        extra = sorted(set(words) - set(raw.node_ids), key=lambda i: (len(i), i))
        raw = replace(raw, node_ids=raw.node_ids + tuple(extra))
    if words is not None:
        features, names = _word_matrix(words, raw.node_ids, Path(str(features_path)).name)
        raw = replace(raw, features=features, feature_names=names, format="MUSAE")
    return raw


def load_word_lists(path: str | Path) -> dict[str, list[int]]:
    """{node id: word ids} of a JSON file, checked."""
    remedy = 'write {"node id": [word ids, …], …}'
    content = load_json(path, remedy)
    file = f"file '{Path(path).name}'"
    if not isinstance(content, dict) or not content:
        raise FormatError(file, "must be an object of lists", remedy=remedy)
    for node, words in content.items():
        if not isinstance(words, list) or not all(
            type(word) is int and 0 <= word < MAX_FEATURES for word in words
        ):
            raise FormatError(
                file,
                f"must hold lists of word ids (whole numbers from 0, below {MAX_FEATURES:,})",
                f"node '{node}'",
                remedy,
            )
    return content


def _word_matrix(
    words: dict[str, list[int]], node_ids: tuple[str, ...], file: str
) -> tuple[sparse.csr_array, tuple[str, ...]]:
    unknown = set(words) - set(node_ids)
    if unknown:
        raise InputError(
            f"file '{file}'",
            "must name nodes of the graph only",
            f"{len(unknown)} others, such as '{min(unknown)}'",
            "check that the files belong together",
        )
    lists = [sorted(set(words.get(node, ()))) for node in node_ids]
    counts = np.array([len(row) for row in lists])
    columns = np.fromiter((w for row in lists for w in row), np.int64, int(counts.sum()))
    num_words = int(columns.max(initial=-1)) + 1
    indptr = np.concatenate([[0], np.cumsum(counts)])
    values = np.ones(len(columns), np.float32)
    matrix = sparse.csr_array((values, columns, indptr), shape=(len(node_ids), num_words))
    return matrix, tuple(f"word_{i}" for i in range(num_words))
