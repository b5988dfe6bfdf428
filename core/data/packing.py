"""A graph as named arrays without pickle, for storage and for transfer from the reader process."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

import numpy as np
from scipy import sparse

from core.data.link_counts import LinkCounts, find_counts, keep_counts
from core.data.release_columns import LINK_PREFIX
from core.graph import Graph
from core.link_table import LinkTable
from core.node_column import NodeColumn
from core.node_table import NodeTable

Arrays = dict[str, np.ndarray]

_TABLE = "link_table_"


def pack_graph(graph: Graph) -> Arrays:
    """All fields of a graph, and its counts where known; `unpack_graph` gives an equal one."""
    counts = find_counts(graph)
    counted = {} if counts is None else {"link_counts": pack_texts([json.dumps(asdict(counts))])}
    return {**pack_links(graph), **pack_nodes(graph), **counted}


def pack_links(graph: Graph) -> Arrays:
    """edges (m, 2), and weights (m,) and the link table where there are any."""
    arrays = {"edges": graph.edges} | ({} if graph.weights is None else {"weights": graph.weights})
    table = {} if graph.link_table is None else graph.link_table.pack()
    return arrays | {f"{_TABLE}{name}": array for name, array in table.items()}


def unpack_link_table(arrays: Mapping[str, np.ndarray]) -> LinkTable | None:
    """The link table of `pack_links`' arrays."""
    table = {name.removeprefix(_TABLE): arrays[name] for name in list_table_arrays(arrays)}
    return LinkTable.unpack(table) if table else None


def list_table_arrays(names: Iterable[str]) -> list[str]:
    """Which arrays are those of the link table."""
    return [name for name in names if name.startswith(_TABLE)]


def list_table_columns(arrays: Mapping[str, np.ndarray]) -> dict[str, str]:
    """Names, as published columns are named, and kinds of the columns of the link table, of which
    one array is enough."""
    info = arrays.get(f"{_TABLE}info")
    stored = [] if info is None else json.loads(info.tobytes())
    return {f"{LINK_PREFIX}{name}": kind for name, kind, *_ in stored}


def pack_nodes(graph: Graph) -> Arrays:
    """Ids, name and columns."""
    arrays: Arrays = {"node_ids": pack_texts(graph.node_ids), "name": pack_texts([graph.name])}
    table = graph.columns
    columns = [[name, list(column.classes)] for name, column in table.alone.items()]
    arrays["attributes"] = pack_texts(json.dumps([n, c]) for n, c in columns)
    if table.read:
        arrays["read"] = pack_texts([json.dumps(dict(table.read))])
    for number, attribute in enumerate(table.alone.values()):
        arrays[f"codes_{number}"] = attribute.codes
        if attribute.values is not None:
            arrays[f"values_{number}"] = attribute.values
    if graph.modes is not None:
        arrays["modes"] = graph.modes.codes
        arrays["mode_names"] = pack_texts(graph.modes.classes)
    features: Any = table.block
    if features is not None:
        arrays["feature_names"] = pack_texts(table.names)
        if sparse.issparse(features):
            arrays["shape"] = np.array(features.shape, np.int64)
            for part in ("data", "indices", "indptr"):
                arrays[f"features_{part}"] = getattr(features, part)
        else:
            arrays["features"] = features
    return arrays


def unpack_graph(arrays: Mapping[str, np.ndarray]) -> Graph:
    """The graph of `pack_graph`'s arrays, checked as every graph is."""
    features: Any = arrays.get("features")
    if "features_data" in arrays:
        parts = tuple(arrays[f"features_{part}"] for part in ("data", "indices", "indptr"))
        features = sparse.csr_array(parts, shape=tuple(arrays["shape"]))
    alone = {}
    for number, text in enumerate(unpack_texts(arrays["attributes"])):
        name, classes = json.loads(text)
        alone[name] = NodeColumn(
            name, arrays[f"codes_{number}"], tuple(classes), arrays.get(f"values_{number}")
        )
    graph = Graph(
        arrays["edges"],
        unpack_texts(arrays["node_ids"]),
        NodeTable(alone, features, *_unpack_names(arrays)),
        arrays.get("weights"),
        unpack_texts(arrays["name"])[0],
        unpack_link_table(arrays),
        unpack_modes(arrays),
    )
    if "link_counts" in arrays:
        keep_counts(graph, LinkCounts(**json.loads(unpack_texts(arrays["link_counts"])[0])))
    return graph


COLUMN_ARRAYS = {"attributes", "feature_names", "read"}
"""Arrays that `list_node_columns` needs."""


def list_node_columns(arrays: Mapping[str, np.ndarray]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names of the attributes and of the features of `pack_nodes`' arrays."""
    alone = [json.loads(text)[0] for text in unpack_texts(arrays["attributes"])]
    names, read = _unpack_names(arrays)
    return tuple(name for name in alone if name not in read), (*names, *read)


def _unpack_names(arrays: Mapping[str, np.ndarray]) -> tuple[tuple[str, ...], dict[str, float]]:
    """Names of a table's block, and its columns that are read as numbers."""
    names = unpack_texts(arrays["feature_names"]) if "feature_names" in arrays else ()
    return names, json.loads(unpack_texts(arrays["read"])[0]) if "read" in arrays else {}


def unpack_modes(arrays: Mapping[str, np.ndarray]) -> NodeColumn | None:
    """The two modes of `pack_nodes`' arrays."""
    if "modes" not in arrays:
        return None
    return NodeColumn("mode", arrays["modes"], unpack_texts(arrays["mode_names"]))


def pack_texts(texts: Iterable[str]) -> np.ndarray:
    """Texts of any length as one byte array: no pickle, no padding to the longest."""
    return np.frombuffer(json.dumps(list(texts)).encode(), np.uint8)


def unpack_texts(array: np.ndarray) -> tuple[str, ...]:
    """The texts of `pack_texts`."""
    return tuple(json.loads(array.tobytes()))
