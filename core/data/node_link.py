"""Node-link JSON as NetworkX, graphology and Cytoscape write it: lists of nodes and of links.

NetworkX   {"nodes": [{"id": …}], "links" or "edges": [{"source": …, "target": …}]}
graphology {"nodes": [{"key": …, "attributes": {…}}], "edges": [{"source": …, …}]}
Cytoscape  {"elements": {"nodes": [{"data": {"id": …}}], "edges": [{"data": {…}}]}}
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from core.data.assembly import RawGraph
from core.data.graph_documents import AttributedNodes
from core.data.text_input import load_json
from core.errors import FormatError

_REMEDY = 'write {"nodes": [{"id": …}, …], "links": [{"source": …, "target": …}, …]}'
_OWN_OBJECTS = ("attributes", "data")
"""Where graphology and Cytoscape keep the values of a node or link."""
_OF_LINKS = {"source", "target", "weight", "value", "key", "id", "undirected"}


def load_node_link(path: str | Path, **options: Any) -> RawGraph:
    """Nodes by `id` or `key` with their values; links with `weight` or `value` as weight.

    options  `missing_nodes` and `ignore_weights` of `AttributedNodes.to_raw`
    """
    file = f"file '{Path(path).name}'"
    content = load_json(path, _REMEDY)
    if isinstance(content, dict) and "elements" in content:
        content = content["elements"]
    if not isinstance(content, dict):
        raise FormatError(file, "must be an object with nodes and links", remedy=_REMEDY)
    nodes = AttributedNodes(file)
    for row in _list_rows(content, ("nodes",), file):
        node = row.pop("id", row.pop("key", None))
        row.pop("key", None)
        nodes.add_node(_format_id(node, file), _format_values(row, "nodes", nodes))
    for row in _list_rows(content, ("links", "edges"), file):
        source, target = (
            None if row.get(end) is None else _format_id(row[end], file)
            for end in ("source", "target")
        )
        weight = row.get("weight", row.get("value"))
        is_number = weight is None or isinstance(weight, int | float | str)
        if not is_number:
            raise FormatError(f"{file}: link weights", "must be numbers", type(weight).__name__)
        nodes.add_link(source, target, None if weight is None else str(weight))
        for name in row.keys() - _OF_LINKS:
            nodes.leave_out("value of edges", f"in '{name}'")
    return nodes.to_raw("node-link JSON", **options)


def _list_rows(content: dict[str, Any], names: tuple[str, ...], file: str) -> list[dict[str, Any]]:
    """The objects of the list under one of the names, with their own values at the top."""
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


def _format_values(row: dict[str, Any], what: str, nodes: AttributedNodes) -> dict[str, str]:
    """Single values as texts; lists and objects are counted and left out."""
    values = {}
    for name, value in row.items():
        if isinstance(value, list | dict):
            nodes.leave_out(f"value of {what}", f"in '{name}', which holds lists or objects,")
        elif value is not None:
            values[name] = str(value).lower() if isinstance(value, bool) else str(value)
    return values
