"""GraphML and GEXF.

XML is streamed; documents with a DTD, which entity bombs need, are refused.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import ParseError

from core.data.attributed_nodes import AttributedNodes, with_article
from core.data.text_input import check_num_columns, load_bytes, strip_namespace
from core.errors import FormatError

OF_LINK = "a name or number of the link"


def read_graphml(path: str | Path, nodes: AttributedNodes) -> None:
    """Nodes, their data by attribute name, links; an edge datum called weight is the weight."""
    names: dict[str, str] = {}
    kinds: dict[str, str] = {}
    usual_weight: str | None = None
    num_graphs = 0
    places, tables = {"node": "graph", "edge": "graph"}, {"node": "nodes", "edge": "links"}
    for tag, element in _iterate(path, {"key", "hyperedge", "graph"}, places, nodes):
        get = element.attrib.get
        if tag == "key":
            name = get("attr.name", "")
            names[get("id", "")] = name
            kinds[get("id", "")] = get("attr.type", "")
            check_num_columns(nodes.file, len(names))
            default = next((child.text or "" for child in element if _is(child, "default")), None)
            for owner in {"node": ("nodes",), "edge": ("links",)}.get(get("for", ""), ()):
                if name:
                    nodes.declare(owner, name)
            if name and default is not None:
                if get("for", "all") in ("node", "all"):
                    nodes.set_default(name, default)
                if name == "weight" and get("for", "all") in ("edge", "all"):
                    usual_weight = default
        elif tag == "graph":
            num_graphs += 1
            nodes.set_direction(get("edgedefault") == "directed")
        elif tag == "hyperedge":
            raise FormatError(nodes.file, "must link two nodes at a time", "a hyperedge")
        else:
            values = {}
            for child in element:
                if _is(child, "data"):
                    key = child.attrib.get("key", "")
                    if kinds.get(key, "").startswith("vector"):
                        nodes.leave_out_value(tables[tag], names[key], "holds lists")
                    elif names.get(key):
                        values[names[key]] = _read_number(child.text or "", kinds.get(key, ""))
                    else:
                        nodes.leave_out_value(tables[tag], key, "its key is not declared")
            if tag == "node":
                nodes.add_node(get("id"), values)
            else:
                if usual_weight is not None:
                    values.setdefault("weight", usual_weight)
                own = {"true": True, "false": False}.get(get("directed", "").strip())
                if get("id") is not None:
                    nodes.leave_out_value("links", "id", OF_LINK)
                nodes.add_link(get("source"), get("target"), values, is_directed=own)
    nodes.count_graphs(num_graphs)


def read_gexf(path: str | Path, nodes: AttributedNodes) -> None:
    """Nodes, their attvalues by title, links and weights; display labels are `node_label`."""
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
                check_num_columns(nodes.file, len(titles[kind]))
                nodes.declare("links" if kind == "edge" else "nodes", titles[kind][key])
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
            if get("id") is not None:
                nodes.leave_out_value("links", "id", OF_LINK)
            values |= {"weight": get("weight")} if get("weight") is not None else {}
            values |= {name: element.attrib[name] for name in ("label", "kind") if get(name)}
            own = get("type")
            nodes.add_link(
                get("source"),
                get("target"),
                values,
                ("weight", "Weight"),
                None if own is None else own == "directed",
            )
        elif tag == "graph":
            num_graphs += 1
            nodes.set_direction(get("defaultedgetype") == "directed")
    nodes.count_graphs(num_graphs)


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
    table = "nodes" if owners == "nodes" else "links"
    for name in element.attrib.keys() & {"pid", "thickness"}:
        nodes.leave_out_value(table, name, "says how it is drawn or grouped")
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
        elif strip_namespace(group) not in ("nodes", "edges"):  # of a hierarchy, which are read
            nodes.leave_out_value(table, strip_namespace(group), "says how it is drawn or grouped")
    return values


def _iterate(
    path: str | Path, wanted: set[str], places: Mapping[str, str], nodes: AttributedNodes
) -> Iterator[tuple[str, Any]]:
    """Yield (local tag, element) of wanted elements when complete, and free them.

    places  further wanted elements, each inside one parent only; elsewhere they are ignored
    """
    from defusedxml import DefusedXmlException
    from defusedxml.ElementTree import iterparse

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
                    raise FormatError(nodes.file, "must nest at most 100 elements")
                continue
            opened.pop()
            tag = strip_namespace(element)
            if tag in wanted or tag in places:
                outer = strip_namespace(opened[-1]) if opened else ""
                if places.get(tag, outer) == outer:
                    yield tag, element
                else:
                    nodes.leave_out(tag, f"within {with_article(outer)}")
                element.clear()
                if opened:  # an emptied element still takes room in its parent
                    del opened[-1][-1]
    except DefusedXmlException:
        raise FormatError(
            nodes.file,
            "must not declare a document type or entities",
            "a DTD",
            "remove the <!DOCTYPE …> block",
        ) from None
    except (ParseError, ValueError, LookupError) as error:
        raise FormatError(nodes.file, "must be well-formed XML", str(error)) from None


def _is(element: Any, tag: str) -> bool:
    return strip_namespace(element) == tag
