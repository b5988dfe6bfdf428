"""Keys follow the declarations of the spec's fields, and those of stored cells stay.

`recorded_keys.json` was written before keys were built from declarations: one digest per spec and
kind of cell, free of the versions of methods and of the engine.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated, Any

import pytest
from pydantic import TypeAdapter, ValidationError
from pydantic.fields import FieldInfo

from core.audit.asked.declared import Declaration
from core.audit.asked.knowledge import Joint, KnowledgeSpec, Shadow
from core.audit.asked.spec import AuditSpec, list_spec_fields
from core.audit.asked.spec_parts import DisclosureSpec, IdentityChoice, ThreatSpec
from core.audit.computing import plan
from core.audit.computing.cell import Cell
from core.audit.computing.prepared import PreparedAudit
from core.data.external_release import align_release
from core.data.loaded import ColumnUse
from core.defenses.dp_1k import Dp1k
from core.graph import Graph
from tests.oracles.graphs import two_communities

RECORDED = Path(__file__).parent / "recorded_keys.json"
VERSIONS = ("version", "adaptive_version", "risk_version", "transfer_version")

GRAPH = two_communities()
OTHER = two_communities(seed=1)
EDGES = [[GRAPH.node_ids[a], GRAPH.node_ids[b]] for a, b in GRAPH.edges[:12]]
ATTACKS = (
    "common_neighbors",
    "gae_cosine",
    "degree_product",
    "mechanism_posterior",
    "denoising",
    "label_propagation",
    "neighbourhood_classifier",
    "ensemble",
    "class_prior",
    "degree",
    "random_match",
)
READING = [{"key": "nettack"}]
"""Defenses whose releases depend on private values."""
BASE: dict[str, Any] = {
    "graph_hash": GRAPH.content_hash,
    "private": "private",
    "hide_links": 0.1,
    "identity": {},
    "released_links": True,
    "num_repeats": 1,
    "attacks": [{"key": key} for key in ATTACKS],
    "defenses": [{"key": "random_deletion"}, {"key": "edge_rand"}],
}
EXTERNAL = {
    "defenses": [{"key": "external"}],
    "external_release": OTHER.content_hash,
    "released_links": False,
}
CHANGES: dict[str, dict[str, Any]] = {
    "graph_hash": {"graph_hash": OTHER.content_hash},
    "private": {"private": "label"},
    "more_private": {"more_private": ["label"]},
    "known": {"known": 0.3},
    "known_people": {"known_people": list(GRAPH.node_ids[:20])},
    "hide_links": {"hide_links": 0.2},
    "sensitive_links": {"hide_links": None, "sensitive_links": EDGES[:5]},
    "evaluation": {"evaluation": "degree_matched"},
    "distance_2": {"evaluation": "distance_2"},
    "released_links": {"released_links": False},
    "identity": {"identity": None},
    "overlap": {"identity": {"overlap": 0.5}},
    "noise": {"identity": {"noise": 0.2}},
    "seeds_known": {"identity": {"seeds_known": 3}},
    "auxiliary_graph": {"identity": {"auxiliary_graph": OTHER.content_hash}},
    "utility": {"utility": "label"},
    "utility_train": {"utility": "label", "utility_train": 0.5},
    "utility_train alone": {"utility_train": 0.5},
    "publish_columns": {"publish_columns": ["label"]},
    "publish_columns none": {"publish_columns": []},
    "generalize": {"generalize": ["label:rare=3"]},
    "leave_out": {"leave_out": list(GRAPH.node_ids[:3])},
    "adaptive": {"adaptive": True},
    "auxiliary_known": {"auxiliary_known": [0.2, "degree:0.1"]},
    "joint": {"more_private": ["label"], "joint": ["inferred", "known"]},
    "composition": {"composition": 3},
    "hold_every_defense": {"hold_every_defense": True},
    "shadow_graph": {"shadow_graph": OTHER.content_hash},
    "shadow_columns": {
        "more_private": ["label"],
        "shadow_graph": OTHER.content_hash,
        "shadow_columns": ["label"],
    },
    "graph_name": {"graph_name": "another"},
    "noun": {"noun": "nodes"},
    "publisher_knows none": {"publisher_knows": "none", "defenses": READING},
    "publisher_knows public": {"publisher_knows": "public", "defenses": READING},
    "publisher_knows column": {"publisher_knows": "column", "defenses": READING},
    "groups": {"groups": ["label"]},
    "control": {"control": 0.2},
    "test_links": {"test_links": 0.2},
    "held_back_links": {"held_back_links": EDGES[6:9]},
    "external_release": EXTERNAL,
    "held_releases": {**EXTERNAL, "held_releases": [GRAPH.content_hash], "composition": 2},
    "external_match": {**EXTERNAL, "external_match": "by hand"},
    "measures": {"measures": ["structure", "queries"]},
    "attacks": {"attacks": [{"key": "adamic_adar"}, {"key": "gps"}, {"key": "ego"}]},
    "defenses": {"defenses": [{"key": "random_rewiring"}]},
    "num_repeats": {"num_repeats": 2},
    "stop_early": {"stop_early": True, "policy": {}},
    "root_seed": {"root_seed": 7},
    "policy": {"policy": {}},
    "purpose": {"purpose": {"recipient": "a partner"}},
    "input_columns": {"input_columns": [vars(ColumnUse("nodes", "x", "feature", "number"))]},
    "note": {"note": "of May"},
}
"""Each field set to another value than its default, with what it needs."""
FRAMES: dict[str, dict[str, Any]] = {
    "all": {},
    "links": {"private": None, "identity": None},
    "column": {"hide_links": None, "identity": None, "released_links": False},
    "released": {"hide_links": None, "private": None, "identity": None},
    "identity": {"hide_links": None, "private": None, "released_links": False},
    "rich": {
        "more_private": ["label"],
        "joint": ["known"],
        "adaptive": True,
        "auxiliary_known": [0.2],
        "shadow_graph": OTHER.content_hash,
        "composition": 2,
        "evaluation": "degree_matched",
        "publisher_knows": "public",
        "root_seed": 3,
    },
}
"""Kinds of threats; a change is tried on each."""


def prepare(fields: dict[str, Any]) -> PreparedAudit:
    spec = AuditSpec.model_validate(fields)
    graph = OTHER if spec.graph_hash == OTHER.content_hash else GRAPH
    shadow = OTHER if spec.knowledge.shadow_graph else None
    held = tuple(align_release(GRAPH, OTHER, ()) for _ in spec.external_releases)
    return PreparedAudit.build(spec, graph, shadow=shadow, external=held)


def list_specs() -> dict[str, dict[str, Any]]:
    cases = {f"{frame}: nothing": {**BASE, **given} for frame, given in FRAMES.items()}
    for frame, given in FRAMES.items():
        for name, change in CHANGES.items():
            fields = {**BASE, **given, **change}
            if "more_private" in change:
                fields["private"] = "private"
            elif frame == "rich" and "label" in json.dumps(change):
                fields |= {"more_private": [], "joint": []}
            cases[f"{frame}: {name}"] = fields
    return cases


def drop_versions(content: dict[str, Any]) -> dict[str, Any]:
    plain = {name: value for name, value in content.items() if name not in VERSIONS}
    if plain["method"] is not None:
        plain["method"] = {k: v for k, v in plain["method"].items() if k != "version"}
    return plain


def digest_keys(fields: dict[str, Any], patch: Callable[..., None]) -> dict[str, str]:
    """Kind of cell → digest of all its keys, without versions."""

    def dump(content: dict[str, Any], **options: Any) -> str:
        return json.dumps(drop_versions(content), **options)

    patch(plan, "json", SimpleNamespace(dumps=dump))
    found: dict[str, list[list[str]]] = {}
    for cell in plan.list_cells(prepare(fields)):
        kind = cell.scenario.threat if cell.kind == "attack" else cell.kind
        found.setdefault(kind, []).append([cell.release, cell.method, str(cell.repeat), cell.key])
    return {
        kind: hashlib.sha256(json.dumps(sorted(rows)).encode()).hexdigest()[:16]
        for kind, rows in sorted(found.items())
    }


@pytest.mark.parametrize("frame", FRAMES)
def test_stored_cells_keep_their_keys(frame: str, monkeypatch: pytest.MonkeyPatch) -> None:
    recorded = json.loads(RECORDED.read_text())
    specs = {name: s for name, s in list_specs().items() if name.startswith(f"{frame}: ")}
    assert specs.keys() == {name for name in recorded if name.startswith(f"{frame}: ")}
    for name, fields in specs.items():
        assert digest_keys(fields, monkeypatch.setattr) == recorded[name], name


@pytest.mark.parametrize(
    "outer",
    [
        {"key": "node_private"},
        {"key": "without_columns", "config": {"defense": "dp_1k"}},
        {"key": "without_columns", "config": {"defense": "node_private"}},
    ],
)
def test_a_new_version_of_an_inner_method_is_one_of_the_outer(outer, monkeypatch) -> None:
    prepared = prepare({**BASE, "defenses": [outer, {"key": "edge_rand"}]})
    before = {cell.key for cell in plan.list_cells(prepared) if cell.kind == "publish"}
    monkeypatch.setattr(Dp1k, "info", replace(Dp1k.info, version=Dp1k.info.version + 1))
    after = {cell.key for cell in plan.list_cells(prepared) if cell.kind == "publish"}
    assert (len(before), len(before & after)) == (2, 1)


class UnlistedThreats(ThreatSpec):
    unlisted: int = 0


class UnlistedDisclosure(DisclosureSpec):
    unlisted: int = 0


class UnlistedKnowledge(KnowledgeSpec):
    unlisted: int = 0


class UnlistedIdentity(IdentityChoice):
    unlisted: int = 0


class UnlistedAudit(AuditSpec):
    unlisted: int = 0


RICH: dict[str, Any] = {
    **BASE,
    **FRAMES["rich"],
    "held_back_links": EDGES[6:9],
    "shadow_columns": ["private"],
}
IDENTITY: dict[str, Any] = {"seeds_known": 20}


def add_unlisted(part: str, value: int) -> AuditSpec:
    """A spec one part of which has a field that declares nothing."""
    spec = AuditSpec.model_validate(RICH)
    made = {"unlisted": value}
    if part == "audit":
        return UnlistedAudit.model_validate({**RICH, **made})
    threats = spec.threats
    if part == "identity":
        identity = UnlistedIdentity.model_validate({**IDENTITY, **made})
        return spec.model_copy(
            update={"threats": threats.model_copy(update={"identity": identity})}
        )
    models = {
        "threats": UnlistedThreats,
        "disclosure": UnlistedDisclosure,
        "knowledge": UnlistedKnowledge,
    }
    old = getattr(spec, part)
    new = models[part].model_validate(
        {**{k: getattr(old, k) for k in type(old).model_fields}, **made}
    )
    return spec.model_copy(update={part: new})


def list_keys(spec: AuditSpec) -> dict[tuple[str, ...], str]:
    audit = PreparedAudit.build(spec, GRAPH, shadow=OTHER)
    return {(c.kind, c.release, c.method, str(c.repeat)): c.key for c in plan.list_cells(audit)}


@pytest.mark.parametrize("part", ["threats", "disclosure", "knowledge", "identity", "audit"])
def test_a_field_that_nobody_lists_changes_every_key(part: str) -> None:
    """A threat with two values had the same keys, and the results of one were shown for both."""
    plain = list_keys(AuditSpec.model_validate({**RICH, "identity": IDENTITY}))
    assert list_keys(add_unlisted(part, 0)) == plain  # a new field leaves stored cells known
    changed = list_keys(add_unlisted(part, 1))
    assert changed.keys() == plain.keys()
    assert not set(changed.values()) & set(plain.values())


def find_group(cell: Cell) -> str:
    if cell.kind != "attack":
        return {"publish": "release", "measure": "measure"}[cell.kind]
    threat, known = cell.scenario.threat, cell.scenario.knowledge
    if threat == "attribute":
        return {Joint: "joint", Shadow: "transfer"}.get(type(known), "attribute")
    return "link" if threat == "included" else threat


FULL: dict[str, Any] = {
    **BASE,
    "more_private": ["third"],
    "joint": ["known"],
    "shadow_graph": OTHER.content_hash,
    "utility": "other",
}
CHANGED: dict[str, dict[str, Any]] = {
    **{name: CHANGES[name] for name in CHANGES if " " not in name and name != "distance_2"},
    "publisher_knows": {"publisher_knows": "public"},
    "utility_train": {"utility_train": 0.5},
    "joint": {"joint": ["inferred", "known"]},
    "shadow_columns": {"shadow_columns": ["private"]},
    "private": {"private": "label"},
    "more_private": {"more_private": ["third", "label"]},
    "utility": {"utility": "label"},
    "graph_hash": {"graph_hash": "another"},
    "generalize": {"generalize": [f"{GRAPH.feature_names[0]}:bin=1"]},
    "publish_columns": {"publish_columns": ["other"]},
    "shadow_graph": {"shadow_graph": GRAPH.content_hash},
    "attacks": {"attacks": [*BASE["attacks"], {"key": "gps"}]},
    "defenses": {"defenses": [*BASE["defenses"], {"key": "dice"}]},
}
"""Each field changed alone, where all kinds of cells are there; others by `propose_change`."""


def propose_change(name: str, field: FieldInfo) -> dict[str, Any]:
    """Another value than the default, of the field's type and within its bounds."""
    typed: TypeAdapter[Any] = TypeAdapter(Annotated[field.annotation, field])
    for value in (True, 0.5, 0.01, 2, {"links": 0.5}, *Declaration.of(field).titles):
        try:
            if typed.validate_python(value, strict=True) != field.default:
                return {name: value}
        except ValidationError:
            continue
    raise AssertionError(f"state a change of {name} in CHANGED")


def widen(graph: Graph) -> Graph:
    """The graph with two more columns."""
    label = graph.column("label")
    more = {name: replace(label, name=name) for name in ("third", "other")}
    return graph.with_attributes({**more})


def group_keys(fields: dict[str, Any]) -> dict[str, dict[tuple[str, int], str]]:
    """Group of cells → method and repeat → key: releases, and what is done to the original."""
    graph = widen(OTHER if fields["graph_hash"] == "another" else GRAPH)
    spec = AuditSpec.model_validate({**fields, "graph_hash": graph.content_hash})
    held = tuple(align_release(graph, OTHER, ()) for _ in spec.external_releases)
    audit = PreparedAudit.build(spec, graph, shadow=widen(OTHER), external=held)
    found: dict[str, dict[tuple[str, int], str]] = {}
    for cell in plan.list_cells(audit):
        if cell.release == "original" or cell.kind == "publish":
            found.setdefault(find_group(cell), {})[cell.method, cell.repeat] = cell.key
    return found


@pytest.mark.parametrize("name", list_spec_fields())
def test_a_field_changes_the_keys_of_the_cells_it_declares(name: str) -> None:
    base = FULL
    if name in ("external_release", "held_releases", "external_match"):
        base = {**FULL, **EXTERNAL, "external_release": "0" * 64}
        if name != "external_release":
            base |= {"external_release": OTHER.content_hash}
    if name == "publisher_knows":
        base = {**FULL, "defenses": READING}
    field = list_spec_fields()[name]
    change = CHANGED.get(name) or propose_change(name, field)
    before, after = group_keys(base), group_keys({**base, **change})
    declared = {*Declaration.of(field).affects}
    if name == "utility":  # by what leaves where no columns are named
        declared |= {"link", "attribute", "joint", "transfer"}
    for group, keys in before.items():
        both = keys.keys() & after.get(group, {}).keys()
        changed = {cell for cell in both if keys[cell] != after[group][cell]}
        assert both or group not in declared, group
        assert changed == (both if group in declared else set()), group
