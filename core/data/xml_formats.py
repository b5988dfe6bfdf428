"""GraphML and GEXF, streamed; documents with a DTD (entity bombs need one) are refused."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import ParseError

from core.data.assembly import RawGraph
from core.data.attributed import AttributedNodes
from core.data.limits import check_num_columns
from core.data.text_input import load_bytes
from core.errors import FormatError


def load_graphml(path: str | Path, **options: Any) -> RawGraph:
    """Nodes, their data by attribute name, links; an edge datum called weight is the weight.

    options  `missing_nodes` and `ignore_weights` of `AttributedNodes.to_raw`
    """
    file = f"file '{Path(path).name}'"
    nodes = AttributedNodes(file)
    names: dict[str, str] = {}
    usual_weight: str | None = None
    num_graphs = 0
    for tag, element in _iterate(path, {"key", "node", "edge", "hyperedge", "graph"}):
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
    wanted = {"attributes", "node", "edge", "graph"}
    num_graphs = 0
    for tag, element in _iterate(path, wanted):
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


def _iterate(path: str | Path, wanted: set[str]) -> Iterator[tuple[str, Any]]:
    """(local tag, element) of each wanted element when it is complete; frees it afterwards."""
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
            if tag in wanted:
                yield tag, element
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
