"""GraphML, GEXF and GML: formats that declare attributes per node.

XML is streamed; documents with a DTD, which entity bombs need, are refused.
"""

from __future__ import annotations

import html
import io
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from unicodedata import normalize
from xml.etree.ElementTree import ParseError

import numpy as np
import pandas as pd

from core.data.assembly import MissingNodes, RawGraph
from core.data.text_input import check_cells, check_num_columns, load_bytes, load_text
from core.errors import FormatError, InputError
from core.words import count_noun

_MAX_NOTES = 20


class AttributedNodes:
    """Nodes and links in the order of the file; links may precede the nodes they join."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._nodes: dict[str, Mapping[str, str]] = {}
        self._columns: dict[str, str] = {}
        self._ends: list[tuple[str, str]] = []
        self._weights: list[str | None] = []
        self._left_out: Counter[tuple[str, str]] = Counter()
        self._notes: list[str] = []

    def leave_out(self, what: str, where: str, count: int = 1) -> None:
        """Count content that the graph does not keep."""
        self._left_out[what, where] += count

    def note(self, text: str) -> None:
        """Add a remark to the report."""
        self._notes.append(text)

    def count_graphs(self, count: int) -> None:
        """Remark that several graphs of one file were joined."""
        if count > 1:
            self.note(f"{count} graphs of the file were read as one")

    def set_default(self, column: str, value: str) -> None:
        """Value for nodes without the column."""
        self._columns[column] = value
        check_num_columns(self._file, len(self._columns))

    def add_node(self, node: str | None, values: Mapping[str, str]) -> None:
        """Add a node with its values by column; raises for an empty or repeated id."""
        if node is None or not node.strip():
            raise FormatError(self._file, "must give every node an id")
        node = normalize("NFC", node.strip())
        if node in self._nodes:
            raise FormatError(
                self._file, "must have distinct node ids", node, "remove the duplicate"
            )
        self._nodes[node] = values
        for column in values:
            self._columns.setdefault(column, "")
        if not len(self._nodes) % 1000:
            check_cells(self._file, len(self._nodes), len(self._columns))

    def add_link(self, source: str | None, target: str | None, weight: str | None) -> None:
        """Add a link between two ids; raises if an end is missing."""
        if source is None or target is None:
            raise FormatError(self._file, "must give every link two ends", (source, target))
        self._ends.append((normalize("NFC", source.strip()), normalize("NFC", target.strip())))
        self._weights.append(weight)

    def to_raw(
        self, format: str, missing_nodes: MissingNodes = "error", ignore_weights: bool = False
    ) -> RawGraph:
        """Columns are the union of all nodes' names; missing cells are empty.

        Links to undeclared nodes are refused, dropped, or declare them.
        """
        index = {node: position for position, node in enumerate(self._nodes)}
        missing = dict.fromkeys(end for pair in self._ends for end in pair if end not in index)
        ends, weights = self._ends, self._weights
        notes = [*self._notes]
        for (what, where), count in self._left_out.most_common(_MAX_NOTES):
            noun, _, rest = what.partition(" ")
            several = f"{noun}s {rest}".strip() if rest != "graph" else f"{what}s"
            notes.append(f"{count_noun(count, what, several)} {where}".strip() + " not used")
        skipped = 0
        if missing and missing_nodes == "error":
            raise InputError(
                self._file,
                "must declare every linked node",
                f"{len(missing)} are missing, such as '{min(missing)}'",
                "declare them, add the undeclared nodes, or drop their links",
            )
        if missing and missing_nodes == "add":
            for node in missing:
                self.add_node(node, {})
                index[node] = len(index)
            notes.append(f"{len(missing)} nodes that were not declared were added")
        elif missing:
            kept = [row for row, (a, b) in enumerate(ends) if a in index and b in index]
            skipped = len(ends) - len(kept)
            notes.append(f"{skipped} links to {len(missing)} ids without a row were dropped")
            ends, weights = [ends[row] for row in kept], [weights[row] for row in kept]
        check_cells(self._file, len(self._nodes), len(self._columns))
        pairs = np.array([(index[a], index[b]) for a, b in ends], np.int64).reshape(-1, 2)
        table = pd.DataFrame(
            {
                column: [values.get(column, default) for values in self._nodes.values()]
                for column, default in self._columns.items()
            },
            dtype=object,
        )
        return RawGraph(
            pairs=pairs,
            node_ids=tuple(self._nodes),
            weights=None if ignore_weights else self._parse_weights(weights),
            table=table if len(self._columns) else None,
            num_rows_skipped=skipped,
            format=format,
            notes=notes,
        )

    def _parse_weights(self, weights: list[str | None]) -> np.ndarray | None:
        """Missing weights are 1, as the formats define."""
        if all(weight is None for weight in weights):
            return None
        values = np.ones(len(weights))
        for row, weight in enumerate(weights):
            if weight is not None:
                try:
                    values[row] = float(weight)
                except ValueError:
                    raise FormatError(
                        f"{self._file}: link weights",
                        "must be numbers",
                        weight,
                        "correct it or ignore the weights",
                    ) from None
        return values


def load_graphml(path: str | Path, **options: Any) -> RawGraph:
    """Nodes, their data by attribute name, links; an edge datum called weight is the weight.

    options  `missing_nodes` and `ignore_weights` of `AttributedNodes.to_raw`
    """
    file = f"file '{Path(path).name}'"
    nodes = AttributedNodes(file)
    names: dict[str, str] = {}
    usual_weight: str | None = None
    num_graphs = 0
    places = {"node": "graph", "edge": "graph"}
    for tag, element in _iterate(path, {"key", "hyperedge", "graph"}, places, nodes):
        get = element.attrib.get
        if tag == "key":
            name = get("attr.name", "")
            names[get("id", "")] = name
            check_num_columns(file, len(names))
            default = next((child.text or "" for child in element if _is(child, "default")), None)
            if name and default is not None:
                if get("for", "all") in ("node", "all"):
                    nodes.set_default(name, default)
                if name == "weight" and get("for", "all") in ("edge", "all"):
                    usual_weight = default
        elif tag == "graph":
            num_graphs += 1
        elif tag == "hyperedge":
            raise FormatError(file, "must link two nodes at a time", "a hyperedge")
        else:
            values = {}
            for child in element:
                if _is(child, "data"):
                    key = child.attrib.get("key", "")
                    if names.get(key):
                        values[names[key]] = child.text or ""
                    else:
                        nodes.leave_out(f"value of {tag}s", f"under the undeclared key '{key}'")
            if tag == "node":
                nodes.add_node(get("id"), values)
            else:
                nodes.add_link(get("source"), get("target"), values.get("weight", usual_weight))
                for name in values.keys() - {"weight"}:
                    nodes.leave_out("value of edges", f"in column '{name}'")
    nodes.count_graphs(num_graphs)
    return nodes.to_raw("GraphML", **options)


def load_gexf(path: str | Path, **options: Any) -> RawGraph:
    """Nodes, their attvalues by title, links and weights; display labels are `node_label`.

    options  as in `load_graphml`
    """
    file = f"file '{Path(path).name}'"
    nodes = AttributedNodes(file)
    titles: dict[str, str] = {}
    places = {"node": "nodes", "edge": "edges"}
    num_graphs = 0
    for tag, element in _iterate(path, {"attributes", "graph"}, places, nodes):
        get = element.attrib.get
        if tag == "attributes" and get("class", "node") == "node":
            for attribute in element:
                key = attribute.attrib.get("id", "")
                titles[key] = attribute.attrib.get("title", key)
                check_num_columns(file, len(titles))
                for child in attribute:
                    if _is(child, "default"):
                        nodes.set_default(titles[key], child.text or "")
        elif tag == "node":
            values: dict[str, str] = {}
            for group in element:
                if _is(group, "attvalues"):
                    for value in group:
                        if not _is(value, "attvalue"):
                            nodes.leave_out("element of nodes", "in attvalues")
                            continue
                        key = value.attrib.get("for", value.attrib.get("id", ""))
                        values[titles.get(key, key)] = value.attrib.get("value", "")
            if get("label") not in (None, get("id")):
                values.setdefault("node_label", get("label", ""))
            nodes.add_node(get("id"), values)
        elif tag == "edge":
            nodes.add_link(get("source"), get("target"), get("weight"))
            values_of_edge = sum(len(group) for group in element if _is(group, "attvalues"))
            if values_of_edge:
                nodes.leave_out("value of edges", "in attvalues", values_of_edge)
        elif tag == "graph":
            num_graphs += 1
    nodes.count_graphs(num_graphs)
    return nodes.to_raw("GEXF", **options)


def _iterate(
    path: str | Path, wanted: set[str], places: Mapping[str, str], nodes: AttributedNodes
) -> Iterator[tuple[str, Any]]:
    """Yield (local tag, element) of wanted elements when complete, and free them.

    places  further wanted elements, each inside one parent only; elsewhere they are ignored
    """
    from defusedxml import DefusedXmlException
    from defusedxml.ElementTree import iterparse

    file = f"file '{Path(path).name}'"
    opened: list[Any] = []
    try:
        events = iterparse(
            io.BytesIO(load_bytes(path)),
            events=("start", "end"),
            forbid_dtd=True,
            forbid_entities=True,
            forbid_external=True,
        )
        for event, element in events:
            if event == "start":
                opened.append(element)
                if len(opened) > 100:
                    raise FormatError(file, "must nest at most 100 elements")
                continue
            opened.pop()
            tag = _local(element)
            if tag in wanted or tag in places:
                outer = _local(opened[-1]) if opened else ""
                if places.get(tag, outer) == outer:
                    yield tag, element
                else:
                    nodes.leave_out(tag, f"within {_with_article(outer)}")
                element.clear()
                if opened:  # an emptied element still takes room in its parent
                    del opened[-1][-1]
    except DefusedXmlException:
        raise FormatError(
            file,
            "must not declare a document type or entities",
            "a DTD",
            "remove the <!DOCTYPE …> block",
        ) from None
    except (ParseError, ValueError, LookupError) as error:
        raise FormatError(file, "must be well-formed XML", str(error)) from None


def _is(element: Any, tag: str) -> bool:
    return _local(element) == tag


def _local(element: Any) -> str:
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


_TOKEN = re.compile(r'\[|\]|"[^"]*"|[^\s\[\]"]+|"')
_COMMENT = re.compile(r"^\s*#.*$", re.MULTILINE)
_MAX_DEPTH = 100

Entry = tuple[str, Any]


def load_gml(path: str | Path, **options: Any) -> RawGraph:
    """Nodes and links of the first graph; `weight` or `value` of an edge is its weight.

    A node's id is its label if all labels are distinct, else its number.
    options  `missing_nodes` and `ignore_weights` of `AttributedNodes.to_raw`
    """
    file = f"file '{Path(path).name}'"
    text = _COMMENT.sub("", load_text(path))
    content = _parse(text, file)
    graphs = [v for k, v in content if k == "graph" and isinstance(v, list)]
    if not graphs:
        raise FormatError(file, "must hold a graph [ … ]", remedy="check that it is GML")
    graph = graphs[0]
    rows = [_scalars(v) for k, v in graph if k == "node" and isinstance(v, list)]
    labels = [row.get("label", "") for row in rows]
    use_labels = all(labels) and len(set(labels)) == len(labels)
    nodes = AttributedNodes(file)
    if len(graphs) > 1:
        nodes.leave_out("further graph", "", len(graphs) - 1)
    if any(labels) and not use_labels:
        nodes.note("nodes are called by their numbers: some labels are missing or repeated")
    names: dict[str, str] = {}
    for row, label in zip(rows, labels, strict=True):
        number = row.pop("id", "")
        if not number or number in names:
            raise FormatError(file, "must give every node an id of its own", number or None)
        names[number] = label if use_labels else number
        if use_labels:
            row.pop("label")
        nodes.add_node(names[number], row)
    for key, value in graph:
        if key == "edge" and isinstance(value, list):
            edge = _scalars(value)
            ends = [names.get(edge.get(end, ""), edge.get(end)) for end in ("source", "target")]
            nodes.add_link(ends[0], ends[1], edge.get("weight", edge.get("value")))
            for name in edge.keys() - {"source", "target", "weight", "value", "id"}:
                nodes.leave_out("value of edges", f"in '{name}'")
    for key, outer in _list_nested(graph):
        nodes.leave_out(key, f"within {outer}")
    return nodes.to_raw("GML", **options)


def _list_nested(graph: list[Entry]) -> Iterator[tuple[str, str]]:
    """(node or edge, its parent) for those not directly in the graph."""
    queue = [(value, key) for key, value in graph if isinstance(value, list)]
    while queue:
        entries, outer = queue.pop()
        for key, value in entries:
            if isinstance(value, list):
                queue.append((value, key))
                if key in ("node", "edge"):
                    yield key, _with_article(outer)


def _with_article(word: str) -> str:
    return f"{'an' if word[:1] in 'aeiou' else 'a'} {word}"


def _scalars(entries: list[Entry]) -> dict[str, str]:
    return {key: value for key, value in entries if isinstance(value, str)}


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
