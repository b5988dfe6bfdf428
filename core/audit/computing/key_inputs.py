"""Cell-key inputs of an audit, built from what the fields of its spec declare.

A field adds itself to the keys of the cells it affects, under its own name and only while it
differs from its default: so stored cells outlive a new field. Fields that stand together, or stand
for something of the graph, name an entry of `ENTRIES`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from core.audit.asked.declared import EVERY, CellGroup, Declaration
from core.audit.computing.partitions import VERSION
from core.audit.computing.prepared import PreparedAudit, list_seen
from core.data.generalized_cells import list_incomparable
from core.partitioned.graph import PartitionedGraph

Inputs = dict[str, Any]

READ_COLUMNS = "read_columns"
"""Entry of attacks on identities that find people by columns."""

READING: tuple[CellGroup, ...] = ("link", "attribute", "joint", "transfer")
"""Attacks that read the attributes that leave."""


PUBLISHER = "publisher_knows"
"""Entry of releases by defenses that read private values."""


def list_key_inputs(audit: PreparedAudit) -> dict[CellGroup, Inputs]:
    """Inputs of the keys of each group of cells."""
    found: dict[CellGroup, Inputs] = {group: {} for group in EVERY}
    entries: dict[str, Inputs] = {}
    for part, name, field in walk_fields(audit.spec):
        declared = Declaration.of(field)
        entry = declared.entry
        if not entry:
            inputs = _read_changed(part, name, field)
        elif entry in entries:
            inputs = entries[entry]
        else:
            inputs = entries[entry] = ENTRIES[entry](audit)
        for group in declared.affects:
            found[group] |= inputs
    found["identity"] |= _read_external_columns(audit)
    for group in READING:
        found[group] |= _read_unnamed(audit)
    return found


def walk_fields(model: BaseModel) -> Iterator[tuple[BaseModel, str, FieldInfo]]:
    """Every field of a model and of the parts that it holds: its model, name and declaration."""
    for name, field in type(model).model_fields.items():
        value = getattr(model, name)
        if isinstance(value, BaseModel):
            yield from walk_fields(value)
        else:
            yield model, name, field


def _read_changed(part: BaseModel, name: str, field: FieldInfo) -> Inputs:
    if getattr(part, name) == field.get_default(call_default_factory=True):
        return {}
    return part.model_dump(mode="json", include={name})


def _read_graph(audit: PreparedAudit) -> Inputs:
    """The graph as published, and the attributes that are named for publishing."""
    seen = list_seen(audit.spec, audit.graph) if _names_columns(audit) else ()
    divided = {"partitions": VERSION} if isinstance(audit.graph, PartitionedGraph) else {}
    return {"graph": audit.graph.content_hash, **({"seen": list(seen)} if seen else {}), **divided}


def _names_columns(audit: PreparedAudit) -> bool:
    return audit.spec.disclosure.publish_columns is not None


def _read_unnamed(audit: PreparedAudit) -> Inputs:
    """The attributes that leave without being named for publishing."""
    seen = () if _names_columns(audit) else list_seen(audit.spec, audit.graph)
    return {"seen": list(seen)} if seen else {}


def _read_links(audit: PreparedAudit) -> Inputs:
    threats = audit.spec.threats
    withheld = [threats.hide_links, threats.sensitive_links, audit.spec.test_links]
    return {"links": withheld if threats.has_links else None}


def _read_held_back(audit: PreparedAudit) -> Inputs:
    held_back = audit.spec.held_back_links
    return {} if held_back is None else {"held_back": held_back}


def _read_attribute(audit: PreparedAudit) -> Inputs:
    """The main private column and its known values."""
    threats = audit.spec.threats
    if threats.private is None:
        return {"attribute": None}
    people = [] if threats.known_people is None else [threats.known_people]
    return {"attribute": [threats.private, threats.known, *people]}


def _read_utility(audit: PreparedAudit) -> Inputs:
    disclosure = audit.spec.disclosure
    named = disclosure.utility
    return {"utility": [named, disclosure.utility_train] if named else None}


def _read_publisher(audit: PreparedAudit) -> Inputs:
    """What a defense is told of private values, absent while it is what attackers know."""
    knows = audit.spec.publisher_knows
    return {} if knows == "public" else {PUBLISHER: knows}


def _read_identity(audit: PreparedAudit) -> Inputs:
    choice = audit.spec.threats.identity
    if choice is None:
        return {}
    fields = type(choice).model_fields
    listed = {name for name, field in fields.items() if Declaration.of(field).entry == "identity"}
    return {"identity": choice.model_dump(include=listed)}


def _read_external(audit: PreparedAudit) -> Inputs:
    releases = audit.spec.external_releases
    return {"external": list(releases)} if releases else {}


def _read_external_columns(audit: PreparedAudit) -> Inputs:
    """The texts by which people are sought in a release made elsewhere, and in the original; the
    utility column, which leaves without being named."""
    disclosure = audit.spec.disclosure
    if audit.spec.threats.identity is None:
        return {}
    if not audit.external:
        is_usual = disclosure.utility is not None and disclosure.publish_columns is None
        return {READ_COLUMNS: [disclosure.utility]} if is_usual else {}
    released = audit.external[0]
    unread = list_incomparable(audit.graph, released)
    read = sorted({*released.attributes} - unread.keys())
    return {READ_COLUMNS: [read, sorted(unread)]} if read or unread else {}


ENTRIES: dict[str, Callable[[PreparedAudit], Inputs]] = {
    "graph": _read_graph,
    "root_seed": lambda audit: {"root_seed": audit.spec.root_seed},
    "links": _read_links,
    "held_back": _read_held_back,
    "attribute": _read_attribute,
    "columns": lambda audit: {"joint": sorted(audit.spec.threats.columns)},
    "shadow_graph": lambda audit: {"shadow_graph": audit.spec.knowledge.shadow_graph},
    "utility": _read_utility,
    PUBLISHER: _read_publisher,
    "identity": _read_identity,
    "external": _read_external,
}
"""Entries in the form that stored keys have; a new field needs none."""
