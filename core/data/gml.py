"""GML: nested lists of keys and values."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from core.data.attributed_nodes import AttributedNodes, with_article
from core.data.graph_documents import OF_LINK
from core.data.text_input import load_text
from core.errors import FormatError

_TOKEN = re.compile(r'\[|\]|"[^"]*"|[^\s\[\]"]+|"')
_COMMENT = re.compile(r"^\s*#.*$", re.MULTILINE)
_MAX_DEPTH = 100

Entry = tuple[str, Any]


def read_gml(path: str | Path, nodes: AttributedNodes) -> None:
    """Nodes and links of the first graph; `weight` or `value` of an edge is its weight.

    A node's id is its label if all labels are distinct, else its number."""
    text = _COMMENT.sub("", load_text(path))
    content = _parse(text, nodes.file)
    graphs = [v for k, v in content if k == "graph" and isinstance(v, list)]
    if not graphs:
        raise FormatError(nodes.file, "must hold a graph [ … ]", remedy="check that it is GML")
    graph = graphs[0]
    entries = [v for k, v in graph if k == "node" and isinstance(v, list)]
    rows = [_read_scalars(v, "nodes", nodes) for v in entries]
    labels = [row.get("label", "") for row in rows]
    use_labels = all(labels) and len(set(labels)) == len(labels)
    if len(graphs) > 1:
        nodes.leave_out("further graph", "", len(graphs) - 1)
    if any(labels) and not use_labels:
        nodes.note("nodes are called by their numbers: some labels are missing or repeated")
    if use_labels:
        nodes.set_ids("label", "all of them are distinct")
    names: dict[str, str] = {}
    for row, label in zip(rows, labels, strict=True):
        number = row.pop("id", "")
        if not number or number in names:
            raise FormatError(nodes.file, "must give every node an id of its own", number or None)
        names[number] = label if use_labels else number
        if use_labels:
            row.pop("label")
            nodes.leave_out_value("nodes", "id", "a number that the links name the node by")
        nodes.add_node(names[number], row)
    for key, value in graph:
        if key == "edge" and isinstance(value, list):
            edge = _read_scalars(value, "links", nodes)
            if "id" in edge:
                nodes.leave_out_value("links", "id", OF_LINK)
            ends = [names.get(edge.get(end, ""), edge.get(end)) for end in ("source", "target")]
            values = {k: v for k, v in edge.items() if k not in ("source", "target", "id")}
            nodes.add_link(ends[0], ends[1], values, ("weight", "value"))
    nodes.set_direction(("directed", "1") in graph)
    for key, outer in _list_nested(graph):
        nodes.leave_out(key, f"within {outer}")


def _list_nested(graph: list[Entry]) -> Iterator[tuple[str, str]]:
    """(node or edge, its parent) for those not directly in the graph."""
    queue = [(value, key) for key, value in graph if isinstance(value, list)]
    while queue:
        entries, outer = queue.pop()
        for key, value in entries:
            if isinstance(value, list):
                queue.append((value, key))
                if key in ("node", "edge"):
                    yield key, with_article(outer)


def _read_scalars(entries: list[Entry], table: str, nodes: AttributedNodes) -> dict[str, str]:
    """Values of a node or link by name; of nested lists each path is counted as left out, and of a
    name given several times the last value stays."""
    found: dict[str, str] = {}
    queue: list[tuple[tuple[str, ...], Entry]] = [((), entry) for entry in reversed(entries)]
    while queue:
        path, (key, value) = queue.pop()
        name = ".".join((*path, key))
        if isinstance(value, list):
            if key not in ("node", "edge"):  # those are told as such
                queue += [((*path, key), entry) for entry in reversed(value)]
        elif path:
            nodes.leave_out_value(table, name, "within a list")
        else:
            if name in found:
                nodes.leave_out_value(table, name, "given again, of which the last stays")
            found[name] = value
    return found


def _parse(text: str, file: str) -> list[Entry]:
    """[(key, text or nested list)] of a document; iterative, so depth is unlimited."""
    stack: list[list[Entry]] = [[]]
    tokens: Iterator[re.Match[str]] = _TOKEN.finditer(text)
    for match in tokens:
        key = match.group()
        if key == "]":
            if len(stack) == 1:
                raise FormatError(file, "must have matching brackets", _place(text, match))
            stack.pop()
            continue
        following = next(tokens, None)
        value = following.group() if following else None
        if key[0] in '["' or value is None or value in ("]", '"'):
            raise FormatError(
                file,
                "must hold pairs of a key and a value",
                _place(text, match),
                "check that it is GML",
            )
        if value == "[":
            if len(stack) > _MAX_DEPTH:
                raise FormatError(file, f"must nest at most {_MAX_DEPTH} lists")
            entries: list[Entry] = []
            stack[-1].append((key, entries))
            stack.append(entries)
        else:
            is_text = value.startswith('"')
            stack[-1].append((key, html.unescape(value[1:-1]) if is_text else value))
    if len(stack) > 1:
        raise FormatError(file, "must have matching brackets", "one is not closed")
    return stack[0]


def _place(text: str, match: re.Match[str]) -> str:
    return f"'{match.group()[:40]}' in line {text.count(chr(10), 0, match.start()) + 1}"
