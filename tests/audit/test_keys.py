"""Keys follow the declarations of the spec's fields, and those of stored cells stay.

`recorded_keys.json` was written before keys were built from declarations: one digest per spec and
kind of cell, free of the versions of methods and of the engine.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from core.audit import plan
from core.audit.prepared import PreparedAudit
from core.audit.spec import AuditSpec
from core.data.external_release import align_release
from tests.oracles.graphs import two_communities

RECORDED = Path(__file__).parent / "recorded_keys.json"
VERSIONS = ("version", "adaptive_version", "transfer_version")

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
    "publisher_knows none": {"publisher_knows": "none"},
    "publisher_knows column": {"publisher_knows": "column"},
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
        "publisher_knows": "column",
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
