"""Writes a release in common formats, with its provenance.

No format holds a column that the caller does not name, so that neither what is private nor what
nobody looked at is published by default. Rows are in the order of the ids, or of random pseudonyms:
a table sorted by a secret would hand it on. `readers` reads all of these formats.
"""

from __future__ import annotations

import csv
import json
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape, quoteattr

import numpy as np
import pandas as pd
from scipy import sparse

from core.data.keyed_pseudonyms import KeyedPseudonyms
from core.data.link_events import list_events, pack_events
from core.data.text_input import escape_cell
from core.errors import InputError
from core.graph import Graph
from core.node_column import NodeColumn
from core.records import format_record, hash_files
from core.release import Release
from core.seeding import Seed

DEFAULT_FORMATS = ("csv", "graphml", "npz")

_EXACT = 2.0**53
"""Integers up to here are exact as float64."""

_NOT_XML = re.compile(r"[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\U00010000-\U0010FFFF]")


def write_release(
    release: Release,
    folder: str | Path,
    stem: str,
    provenance: Mapping[str, Any],
    formats: Sequence[str] = DEFAULT_FORMATS,
    *,
    attributes: Sequence[str] = (),
    columns: Sequence[str] | None = None,
    pseudonyms: Seed | KeyedPseudonyms | None = None,
) -> list[Path]:
    """Write the release and `<stem>.provenance.json`; returns the files' paths, that one last.

    stem         file name without suffix; invalid characters become _
    provenance   program, versions and source; the release's own settings, guarantee, counts,
                 the content hash of what is written and the files' SHA-256 are added
    attributes   names of the columns to include, in this order
    columns      names of all published columns, in the graph's order, and `attributes` is ignored
    pseudonyms   a seed: ids are replaced by n1 … nN in an order drawn from it (the order of the
                 nodes changes too). Use `Seed.from_entropy()`; the mapping is not kept. Or the
                 keyed pseudonyms of a domain, which the provenance names

    CSV is <stem>.csv (source, target, weight, columns of links) and <stem>.nodes.csv (id,
    attributes); Parquet is the same two tables; "pt" are PyG's tensors in <stem>.pt, beside the
    latter. With columns of links every format has a row, or an edge, an event; NPZ and PyG hold
    them as arrays link_ends (e, 2), link_values_0 … and, as JSON in bytes, link_info.
    """
    unknown = [f for f in formats if f not in _WRITERS]
    if unknown:
        raise InputError("format", "must be one of " + ", ".join(_WRITERS), unknown[0])
    graph = release.graph
    graph.columns.check(attributes)
    # What no file holds is not hashed either: a hash confirms guesses.
    graph = graph.update_columns(features=graph.features)
    graph = graph.with_columns(attributes if columns is None else columns)
    if columns is None:
        own = {name: graph.attributes[name] for name in attributes if name in graph.attributes}
        graph = graph.update_columns(attributes=own)
    written = {name: _strip_column(column) for name, column in graph.attributes.items()}
    graph = graph.update_columns(attributes=written)
    if isinstance(pseudonyms, Seed):
        graph = shuffle_nodes(graph, pseudonyms)
    else:
        graph = sort_nodes(graph) if pseudonyms is None else pseudonyms.rename_nodes(graph)
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    table = _tabulate_features(graph)
    for name in formats:
        _, write = _WRITERS[name]
        write(graph if name in ("npz", "pt") else table, *list_release_files(folder, stem, (name,)))
    paths = list_release_files(folder, stem, formats)
    told = describe_written(release, graph, list(graph.attributes), pseudonyms is not None)
    told |= {"num_features": len(graph.feature_names), "content_hash": graph.content_hash}
    if isinstance(pseudonyms, KeyedPseudonyms):
        told["pseudonym_domain"] = pseudonyms.domain
    if graph.link_table is not None:
        told["link_columns"] = list(graph.link_table.columns)
    return [*paths, write_provenance(folder, stem, {**provenance, "release": told}, paths)]


def _strip_column(column: NodeColumn) -> NodeColumn:
    """A column as files hold it: the classes that somebody has, and no number behind them."""
    return replace(column.forget_unused(), values=None)


def describe_written(
    release: Release, graph: Graph, attributes: list[str], is_pseudonymous: bool
) -> dict[str, Any]:
    """What the provenance tells of a release that is written as `graph`, with these columns."""
    return {
        "defense": release.defense,
        "config": release.public_config,
        "guarantee": {**asdict(release.guarantee), "label": release.guarantee.label},
        "facts": release.facts,
        "num_nodes": graph.num_nodes,
        "num_edges": graph.num_edges,
        "attributes": attributes,
        "num_features": 0,
        "is_pseudonymous": is_pseudonymous,
    }


def write_provenance(
    folder: Path, stem: str, record: Mapping[str, Any], paths: Sequence[Path]
) -> Path:
    """Write a release's provenance, with the hashes of its files; returns its path."""
    path = locate_provenance(folder, stem)
    text = format_record(record, hash_files(folder, paths), indent=2, sort_keys=True, default=str)
    path.write_text(text, encoding="utf-8")
    return path


def list_release_files(folder: Path, stem: str, formats: Sequence[str]) -> list[Path]:
    """Files that `write_release` writes beside the provenance."""
    endings = [ending for name in formats for ending in _WRITERS[name][0]]
    return [folder / f"{_clean_stem(stem)}{ending}" for ending in endings]


def locate_provenance(folder: Path, stem: str) -> Path:
    """File of a release's provenance."""
    return folder / f"{_clean_stem(stem)}.provenance.json"


def _clean_stem(stem: str) -> str:
    return re.sub(r"[^\w.=,+-]+", "_", stem).strip("._")[:120] or "release"


def _tabulate_features(graph: Graph) -> Graph:
    """Features as attributes, for text formats."""
    dense = graph.dense_features()
    if dense is None:
        return graph
    columns = dict(graph.attributes)
    for number, name in enumerate(graph.feature_names):
        values, codes = np.unique(dense[:, number], return_inverse=True)
        classes = tuple(_format_number(value) for value in values)
        columns.setdefault(name, NodeColumn(name, codes, classes))
    return graph.update_columns(attributes=columns, features=None, feature_names=())


def _format_number(value: np.float32) -> str:
    """Shortest text that round-trips to the same float32."""
    return str(int(value)) if float(value).is_integer() else str(value)


def sort_nodes(graph: Graph) -> Graph:
    """The same graph with its nodes in the order of their ids, numbers by value."""

    def rank(node: int) -> tuple[int, str, str]:
        text = graph.node_ids[node]
        if not text.isdecimal():
            return sys.maxsize, text, ""  # behind all numbers
        digits = text.lstrip("0")
        return len(digits), digits, text

    order = sorted(range(graph.num_nodes), key=rank)
    return graph if order == list(range(graph.num_nodes)) else graph.subgraph(np.array(order))


def shuffle_nodes(graph: Graph, seed: Seed) -> Graph:
    """The same graph with nodes n1 … nN in a random order; links, rows and codes follow."""
    order = seed.rng("pseudonyms").permutation(graph.num_nodes)
    pseudonyms = tuple(f"n{i + 1}" for i in range(graph.num_nodes))
    return replace(graph.subgraph(order), node_ids=pseudonyms)


def _tabulate_links(graph: Graph) -> pd.DataFrame:
    """source, target, weight in a weighted graph, and further columns, a row an event."""
    ids = np.array(graph.node_ids, object)
    rows, columns = list_events(graph)
    ends, weights = graph.edges[rows], _find_weights(graph)
    links = {"source": ids[ends[:, 0]], "target": ids[ends[:, 1]]}
    return pd.DataFrame(links | ({} if weights is None else {"weight": weights[rows]}) | columns)


def _find_weights(graph: Graph) -> np.ndarray | None:
    """(m,) weights as they were given: int64 where all are integers, else float64; or None."""
    weights = graph.weights
    if weights is None or (weights > _EXACT).any() or (weights % 1).any():
        return weights
    return weights.astype(np.int64)


def _tabulate_nodes(graph: Graph) -> pd.DataFrame:
    """Ids and attributes as text, in the nodes' order."""
    columns = {
        name if name != "id" else "id_attribute": _attribute_values(graph, name)
        for name in graph.attributes
    }
    return pd.DataFrame({"id": list(graph.node_ids), **columns}, dtype=object)


def _write_csv(graph: Graph, links: Path, nodes: Path) -> None:
    _write_table(_tabulate_links(graph), links)
    _write_table(_tabulate_nodes(graph), nodes)


def _write_table(table: pd.DataFrame, path: Path) -> None:
    """Every text is quoted, so that an id that begins with # is no comment."""
    cells = {
        escape_cell(name): column.astype(float)
        if column.dtype.kind == "f"
        else column
        if column.dtype.kind == "i"
        else column.map(escape_cell)
        for name, column in table.items()
    }
    frame = pd.DataFrame(cells)
    frame.to_csv(path, index=False, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")


def _write_graphml(graph: Graph, path: Path) -> None:
    ids = _clean_ids(graph)
    columns = [_attribute_values(graph, name) for name in graph.attributes]
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.write(
            '<?xml version="1.0" encoding="UTF-8"?>\n'
            '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n'
        )
        for number, name in enumerate(graph.attributes):
            file.write(
                f'<key id="a{number}" for="node" attr.name={_quoted(name)} attr.type="string"/>\n'
            )
        found = _find_weights(graph)
        if found is not None:
            kind = "long" if found.dtype.kind == "i" else "double"
            file.write(f'<key id="w" for="edge" attr.name="weight" attr.type="{kind}"/>\n')
        rows, columns_of_links = list_events(graph)
        for number, (name, values) in enumerate(columns_of_links.items()):
            kind = _XML_KINDS[values.dtype.kind]
            named = f'attr.name={_quoted(name)} attr.type="{kind}"'
            file.write(f'<key id="e{number}" for="edge" {named}/>\n')
        file.write('<graph edgedefault="undirected">\n')
        for row, node in enumerate(ids):
            data = "".join(
                f'<data key="a{number}">{escape(_cleaned(column[row]))}</data>'
                for number, column in enumerate(columns)
                if column[row]
            )
            file.write(f"<node id={_quoted(node)}>{data}</node>\n")
        weights = None if found is None else found[rows].tolist()
        cells = [list(map(_format_cell, values.tolist())) for values in columns_of_links.values()]
        for row, (i, j) in enumerate(graph.edges[rows].tolist()):
            data = "" if weights is None else f'<data key="w">{weights[row]!r}</data>'
            data += "".join(
                f'<data key="e{number}">{escape(texts[row])}</data>'
                for number, texts in enumerate(cells)
                if texts[row]
            )
            ends = f"source={_quoted(ids[i])} target={_quoted(ids[j])}"
            file.write(f"<edge {ends}>{data}</edge>\n")
        file.write("</graph>\n</graphml>\n")


_XML_KINDS = {"i": "long", "f": "double", "O": "string"}


def _format_cell(value: Any) -> str:
    """A value of a column of links in XML; "" if it is unknown."""
    if isinstance(value, str):
        return _cleaned(value)
    return "" if value != value else repr(value)


def check_ids_in(name: str, graph: Graph) -> None:
    """Raise InputError for node ids that a format cannot tell apart."""
    if name in ("graphml", "gexf"):
        _clean_ids(graph)


def _clean_ids(graph: Graph) -> list[str]:
    """Node ids valid in XML; raises InputError if two become equal."""
    ids = [_cleaned(node) for node in graph.node_ids]
    if len(set(ids)) != len(ids):
        raise InputError(
            "node ids",
            "must differ in characters that XML can hold",
            remedy="export with pseudonyms",
        )
    return ids


def _write_gexf(graph: Graph, path: Path) -> None:
    ids = _clean_ids(graph)
    columns = [_attribute_values(graph, name) for name in graph.attributes]
    found = _find_weights(graph)
    rows, columns_of_links = list_events(graph)
    weights = None if found is None else found[rows].tolist()
    cells = [list(map(_format_cell, values.tolist())) for values in columns_of_links.values()]
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.write(
            '<?xml version="1.0" encoding="UTF-8"?>\n'
            '<gexf xmlns="http://gexf.net/1.3" version="1.3">\n'
            '<graph defaultedgetype="undirected">\n<attributes class="node">\n'
        )
        for number, name in enumerate(graph.attributes):
            file.write(f'<attribute id="{number}" title={_quoted(name)} type="string"/>\n')
        if cells:
            file.write('</attributes>\n<attributes class="edge">\n')
        for number, (name, values_of_links) in enumerate(columns_of_links.items()):
            kind = _XML_KINDS[values_of_links.dtype.kind]
            file.write(f'<attribute id="{number}" title={_quoted(name)} type="{kind}"/>\n')
        file.write("</attributes>\n<nodes>\n")
        for row, node in enumerate(ids):
            values = "".join(
                f'<attvalue for="{number}" value={_quoted(column[row])}/>'
                for number, column in enumerate(columns)
                if column[row]
            )
            inner = f"<attvalues>{values}</attvalues>" if values else ""
            file.write(f"<node id={_quoted(node)} label={_quoted(node)}>{inner}</node>\n")
        file.write("</nodes>\n<edges>\n")
        for row, (i, j) in enumerate(graph.edges[rows].tolist()):
            weight = "" if weights is None else f' weight="{weights[row]!r}"'
            ends = f"source={_quoted(ids[i])} target={_quoted(ids[j])}"
            values = "".join(
                f'<attvalue for="{number}" value={_quoted(texts[row])}/>'
                for number, texts in enumerate(cells)
                if texts[row]
            )
            inner = f"><attvalues>{values}</attvalues></edge>" if values else "/>"
            file.write(f'<edge id="{row}" {ends}{weight}{inner}\n')
        file.write("</edges>\n</graph>\n</gexf>\n")


def _write_parquet(graph: Graph, links: Path, nodes: Path) -> None:
    """Links (source, target, weight) and nodes (id, attributes)."""
    _tabulate_links(graph).to_parquet(links, index=False)
    _tabulate_nodes(graph).to_parquet(nodes, index=False)


def _write_npz(graph: Graph, path: Path) -> None:
    matrix, weights = graph.adjacency, _find_weights(graph)
    if weights is not None:
        numbers = (np.tile(weights, 2), np.concatenate([graph.edges, graph.edges[:, ::-1]]).T)
        matrix = sparse.coo_array(numbers, shape=matrix.shape).tocsr()
        matrix.sort_indices()
    arrays: dict[str, Any] = {
        "adj_data": matrix.data,
        "adj_indices": matrix.indices,
        "adj_indptr": matrix.indptr,
        "adj_shape": np.array(matrix.shape),
        "node_ids": np.array(graph.node_ids),
    }
    features: Any = graph.features
    if features is not None:
        arrays["feature_names"] = np.array(graph.feature_names)
        if sparse.issparse(features):
            arrays |= {f"attr_{p}": getattr(features, p) for p in ("data", "indices", "indptr")}
            arrays["attr_shape"] = np.array(features.shape)
        else:
            arrays["attr_matrix"] = features
    if graph.attributes:
        info = [{"name": a.name, "classes": list(a.classes)} for a in graph.attributes.values()]
        arrays["attribute_info"] = np.array(json.dumps(info))
        arrays["attribute_codes"] = np.stack([a.codes for a in graph.attributes.values()])
    np.savez_compressed(path, allow_pickle=False, **arrays, **pack_events(graph))


def _write_pyg(graph: Graph, path: Path, nodes: Path) -> None:
    """Tensors by name for `Data(**torch.load(path))`, and the table of the nodes.

    Both directions of each link, as PyG has them; attributes as codes, −1 unknown. Ids and names
    of classes are in the node table, whose rows are the nodes in their order.
    """
    import torch

    data, weights = graph.to_pyg(), _find_weights(graph)
    if weights is not None:
        data.edge_weight = torch.from_numpy(np.tile(weights, 2))
    for name, array in pack_events(graph).items():
        data[name] = torch.from_numpy(array.copy())
    torch.save(data.to_dict(), path)  # no object that had to be unpickled
    _write_table(_tabulate_nodes(graph), nodes)


def _attribute_values(graph: Graph, name: str) -> list[str]:
    """One text per node; empty if the value is unknown."""
    attribute = graph.attributes[name]
    classes = (*attribute.classes, "")  # code −1 picks the last
    return [classes[code] for code in attribute.codes.tolist()]


def _cleaned(text: str) -> str:
    return _NOT_XML.sub("\ufffd", text)


def _quoted(text: str) -> str:
    return quoteattr(_cleaned(text))


_WRITERS: dict[str, tuple[tuple[str, ...], Callable[..., None]]] = {
    "csv": ((".csv", ".nodes.csv"), _write_csv),
    "parquet": ((".parquet", ".nodes.parquet"), _write_parquet),
    "graphml": ((".graphml",), _write_graphml),
    "gexf": ((".gexf",), _write_gexf),
    "npz": ((".npz",), _write_npz),
    "pt": ((".pt", ".nodes.csv"), _write_pyg),
}
"""Format → endings of its files, and the function that writes them."""
