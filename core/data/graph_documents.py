"""GraphML and GEXF, and nodes with attributes as other formats declare them.

XML is streamed; documents with a DTD, which entity bombs need, are refused.
"""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from unicodedata import normalize
from xml.etree.ElementTree import ParseError

import numpy as np
import pandas as pd

from core.data.assembly import MissingNodes, RawGraph
from core.data.columns import is_weight_name
from core.data.link_columns import NO_WEIGHT, describe_unused
from core.data.loaded import LEFT_OUT, ColumnUse
from core.data.text_input import check_cells, check_num_columns, load_bytes
from core.errors import FormatError, InputError
from core.words import count_noun

_MAX_NOTES = 20
_MAX_VALUES = 1000
"""Values of a column of the links by which its meaning is guessed."""


class AttributedNodes:
    """Nodes and links in the order of the file; links may precede the nodes they join.

    weight  column of the links that is their weight; "none": no weights; None: by the format
    """

    def __init__(self, file: str, weight: str | None = None) -> None:
        self._file = file
        self._weight = weight
        self._unused: dict[str, list[str]] = {}
        self._nodes: dict[str, Mapping[str, str]] = {}
        self._columns: dict[str, str] = {}
        self._ends: list[tuple[str, str]] = []
        self._weights: list[str | None] = []
        self._left_out: Counter[tuple[str, str]] = Counter()
        self._notes: list[str] = []
        self._weight_names: Counter[str] = Counter()
        self._link_values: Counter[str] = Counter()

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

    def add_link(
        self,
        source: str | None,
        target: str | None,
        values: Mapping[str, str | None],
        usual: Sequence[str] = ("weight",),
    ) -> None:
        """Add a link between two ids with its values by column; raises if an end is missing.

        usual  columns of which the first filled one is the weight unless the caller states another
        """
        if source is None or target is None:
            raise FormatError(self._file, "must give every link two ends", (source, target))
        self._ends.append((normalize("NFC", source.strip()), normalize("NFC", target.strip())))
        filled = {column: value for column, value in values.items() if value is not None}
        name = self._weight or next((column for column in usual if column in filled), "")
        self._weights.append(filled.pop(name, None))
        if self._weights[-1] is not None:
            self._weight_names[name] += 1
        for column, value in filled.items():
            self._link_values[column] += 1
            if self._link_values[column] <= _MAX_VALUES:
                self._unused.setdefault(column, []).append(value)
                check_num_columns(self._file, len(self._unused))

    def _list_link_columns(self) -> list[ColumnUse]:
        """The use of each column of the links."""
        ends = [ColumnUse("links", end, end, "id") for end in ("source", "target")]
        weights = [
            ColumnUse("links", column, "weight", "number", count_noun(count, "value"))
            for column, count in self._weight_names.items()
        ]
        rest = []
        for column, values in self._unused.items():
            kind, meaning = describe_unused(column, pd.Series(values, name=column))
            if self._weight == NO_WEIGHT and is_weight_name(column):
                kind, meaning = "number", "chosen"
            count = count_noun(self._link_values[column], "value")
            rest.append(ColumnUse("links", column, LEFT_OUT, kind, f"{meaning} ({count})"))
        return [*ends, *weights, *rest]

    def to_raw(self, format: str, missing_nodes: MissingNodes = "error") -> RawGraph:
        """Columns are the union of all nodes' names; missing cells are empty.

        Links to undeclared nodes are refused, dropped, or declare them.
        """
        if self._weight not in (None, NO_WEIGHT) and not self._weight_names:
            known = f"columns are: {', '.join(list(self._unused)[:20]) or 'none'}"
            raise InputError(f"{self._file}: weight", "must be a column", self._weight, known)
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
            weights=self._parse_weights(weights),
            table=table if len(self._columns) else None,
            num_rows_skipped=skipped,
            format=format,
            notes=notes,
            columns=self._list_link_columns(),
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
                        "correct it or leave the weights out: --weight none",
                    ) from None
        return values


def load_graphml(
    path: str | Path, missing_nodes: MissingNodes = "error", weight: str | None = None
) -> RawGraph:
    """Nodes, their data by attribute name, links; an edge datum called weight is the weight.

    weight  see `AttributedNodes`
    """
    file = f"file '{Path(path).name}'"
    nodes = AttributedNodes(file, weight)
    names: dict[str, str] = {}
    kinds: dict[str, str] = {}
    usual_weight: str | None = None
    num_graphs = 0
    places = {"node": "graph", "edge": "graph"}
    for tag, element in _iterate(path, {"key", "hyperedge", "graph"}, places, nodes):
        get = element.attrib.get
        if tag == "key":
            name = get("attr.name", "")
            names[get("id", "")] = name
            kinds[get("id", "")] = get("attr.type", "")
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
                    if kinds.get(key, "").startswith("vector"):
                        nodes.leave_out(
                            f"value of {tag}s", f"in '{names[key]}', which holds lists,"
                        )
                    elif names.get(key):
                        values[names[key]] = _read_number(child.text or "", kinds.get(key, ""))
                    else:
                        nodes.leave_out(f"value of {tag}s", f"under the undeclared key '{key}'")
            if tag == "node":
                nodes.add_node(get("id"), values)
            else:
                if usual_weight is not None:
                    values.setdefault("weight", usual_weight)
                nodes.add_link(get("source"), get("target"), values)
    nodes.count_graphs(num_graphs)
    return nodes.to_raw("GraphML", missing_nodes)


def load_gexf(
    path: str | Path, missing_nodes: MissingNodes = "error", weight: str | None = None
) -> RawGraph:
    """Nodes, their attvalues by title, links and weights; display labels are `node_label`.

    weight  see `AttributedNodes`
    """
    file = f"file '{Path(path).name}'"
    nodes = AttributedNodes(file, weight)
    titles: dict[str, dict[str, str]] = {"node": {}, "edge": {}}
    places = {"node": "nodes", "edge": "edges"}
    num_graphs = 0
    for tag, element in _iterate(path, {"attributes", "graph"}, places, nodes):
        get = element.attrib.get
        if tag == "attributes":
            kind = "edge" if get("class") == "edge" else "node"
            for attribute in element:
                key = attribute.attrib.get("id", "")
                titles[kind][key] = attribute.attrib.get("title", key)
                check_num_columns(file, len(titles[kind]))
                for child in attribute:
                    if kind == "node" and _is(child, "default"):
                        nodes.set_default(titles[kind][key], child.text or "")
        elif tag == "node":
            values = _read_attvalues(element, titles["node"], nodes, "nodes")
            if get("label") not in (None, get("id")):
                values.setdefault("node_label", get("label", ""))
            nodes.add_node(get("id"), values)
        elif tag == "edge":
            values = _read_attvalues(element, titles["edge"], nodes, "edges")
            values |= {"weight": get("weight")} if get("weight") is not None else {}
            values |= {name: element.attrib[name] for name in ("label", "kind") if get(name)}
            nodes.add_link(get("source"), get("target"), values, ("weight", "Weight"))
        elif tag == "graph":
            num_graphs += 1
    nodes.count_graphs(num_graphs)
    return nodes.to_raw("GEXF", missing_nodes)


def _read_number(text: str, kind: str) -> str:
    """A value; numbers in hexadecimal, as graph-tool writes them, in decimal."""
    if kind in ("double", "float", "long_double") and "0x" in text.lower():
        try:
            return repr(float.fromhex(text.strip()))
        except (ValueError, OverflowError):
            return text
    return text


def _read_attvalues(
    element: Any, titles: Mapping[str, str], nodes: AttributedNodes, owners: str
) -> dict[str, str]:
    """Values by title; of several in time the last in the file, the others and spells counted."""
    values: dict[str, str] = {}
    if element.attrib.keys() & {"start", "end", "startopen", "endopen"}:
        nodes.leave_out(f"spell of {owners}", "(start and end)")
    for group in element:
        if _is(group, "spells"):
            nodes.leave_out(f"spell of {owners}", "(start and end)", len(group))
        elif _is(group, "attvalues"):
            for value in group:
                if not _is(value, "attvalue"):
                    nodes.leave_out(f"element of {owners}", "in attvalues")
                    continue
                key = value.attrib.get("for", value.attrib.get("id", ""))
                title = titles.get(key, key)
                if title in values:
                    nodes.leave_out(
                        f"value of {owners}", f"in '{title}' before the last, which stays,"
                    )
                values[title] = value.attrib.get("value", "")
    return values


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
                    nodes.leave_out(tag, f"within {with_article(outer)}")
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


def with_article(word: str) -> str:
    """a word, an other."""
    return f"{'an' if word[:1] in 'aeiou' else 'a'} {word}"
