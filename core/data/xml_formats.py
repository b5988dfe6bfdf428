"""GraphML and GEXF, streamed; documents with a DTD (entity bombs need one) are refused."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import ParseError

from core.data.assembly import RawGraph
from core.data.attributed import AttributedNodes
from core.data.text_input import load_bytes
from core.errors import FormatError


def load_graphml(path: str | Path) -> RawGraph:
    """Nodes, their data by attribute name, links; an edge datum called weight is the weight."""
    file = f"file '{Path(path).name}'"
    nodes = AttributedNodes(file)
    names: dict[str, str] = {}
    defaults: dict[str, dict[str, str]] = {"node": {}, "edge": {}}
    root = ""
    for tag, element in _iterate(path, {"key", "node", "edge", "hyperedge"}):
        root = root or tag
        get = element.attrib.get
        if tag == "key":
            key = get("id", "")
            names[key] = get("attr.name", "")
            for child in element:
                domain = get("for", "all")
                if _local(child) == "default":
                    for kind in ("node", "edge") if domain == "all" else (domain,):
                        defaults.setdefault(kind, {})[names[key]] = child.text or ""
        elif tag == "hyperedge":
            raise FormatError(file, "must link two nodes at a time", "a hyperedge")
        elif tag in ("node", "edge"):
            values = dict(defaults[tag])
            for child in element:
                name = names.get(child.attrib.get("key", ""), "")
                if _local(child) == "data" and name:
                    values[name] = child.text or ""
            values.pop("", None)
            if tag == "node":
                nodes.add_node(get("id"), values)
            else:
                nodes.add_link(get("source"), get("target"), values.get("weight"))
    return nodes.to_raw("GraphML")


def load_gexf(path: str | Path) -> RawGraph:
    """Nodes, their attvalues by title, links and weights; display labels are `node_label`."""
    nodes = AttributedNodes(f"file '{Path(path).name}'")
    titles: dict[str, str] = {}
    defaults: dict[str, str] = {}
    wanted = {"attributes", "node", "edge"}
    for tag, element in _iterate(path, wanted):
        get = element.attrib.get
        if tag == "attributes" and get("class", "node") == "node":
            for attribute in element:
                key = attribute.attrib.get("id", "")
                titles[key] = attribute.attrib.get("title", key)
                for child in attribute:
                    if _local(child) == "default":
                        defaults[titles[key]] = child.text or ""
        elif tag == "node":
            values = dict(defaults)
            for group in element:
                if _local(group) == "attvalues":
                    for value in group:
                        key = value.attrib.get("for", value.attrib.get("id", ""))
                        values[titles.get(key, key)] = value.attrib.get("value", "")
            if get("label") not in (None, get("id")):
                values.setdefault("node_label", get("label", ""))
            nodes.add_node(get("id"), values)
        elif tag == "edge":
            nodes.add_link(get("source"), get("target"), get("weight"))
    return nodes.to_raw("GEXF")


def _iterate(path: str | Path, wanted: set[str]) -> Iterator[tuple[str, Any]]:
    """(local tag, element) of each wanted element when it is complete; frees it afterwards."""
    from defusedxml import DefusedXmlException
    from defusedxml.ElementTree import iterparse

    file = f"file '{Path(path).name}'"
    depth = 0
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
                depth += 1
                if depth > 100:
                    raise FormatError(file, "must nest at most 100 elements")
                continue
            depth -= 1
            tag = _local(element)
            if tag in wanted:
                yield tag, element
                element.clear()
    except DefusedXmlException:
        raise FormatError(
            file,
            "must not declare a document type or entities",
            "a DTD",
            "remove the <!DOCTYPE …> block",
        ) from None
    except (ParseError, ValueError, LookupError) as error:
        raise FormatError(file, "must be well-formed XML", str(error)) from None


def _local(element: Any) -> str:
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""
