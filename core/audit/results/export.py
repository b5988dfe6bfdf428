"""An audit as files for scripts and archives."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from core.audit.asked.method_choice import MethodChoice
from core.audit.asked.scenarios import Scenario
from core.audit.asked.spec import AuditSpec
from core.audit.computing.prepared import list_written
from core.audit.results.node_risks import NodeRisks, Pair
from core.audit.results.view import CONTROL_COLUMNS, RESULT_COLUMNS, AuditView, ReleaseSummary
from core.audit.store.describe import to_json
from core.audit.store.states import State
from core.data.writers import DEFAULT_FORMATS, list_release_files, locate_provenance
from core.defenses.external import EXTERNAL, ONE_RELEASE, list_not_tested
from core.partitioned.graph import PartitionedGraph
from core.partitioned.writing import write_release
from core.records import format_record, hash_files
from core.release import ORIGINAL, Release
from core.results import RELEASE

SCHEMA = 1
"""Version of assets/schemas/audit.json; raise it when a reader of an earlier one could fail."""


def describe_audit(view: AuditView) -> dict[str, Any]:
    """`spec`, `provenance`, origins, guarantees and claim checks of the releases, and the flat
    list `results`, as assets/schemas/audit.json says; equal audits give equal results."""
    rows = view.results[list(RESULT_COLUMNS)].astype(object).to_dict("records")
    results = [describe_row(to_json(row), view.spec) for row in rows]
    results += [
        _describe_control(row, view.spec)
        for row in view.control[list(CONTROL_COLUMNS)].to_dict("records")
    ]
    return {
        "schema": SCHEMA,
        "spec": view.spec.model_dump(mode="json"),
        "provenance": {
            **view.provenance,
            "audit": view.summary.id,
            "created": view.summary.created,
        },
        "releases": [_describe_origin(summary, view) for summary in view.releases],
        "guarantees": {
            summary.id: asdict(summary.guarantee)
            for summary in view.releases
            if summary.guarantee.is_private
        },
        "claim_checks": [
            {"release": run.release, **run.check.describe()}
            for run in view.claims
            if run.check is not None
        ],
        "results": results,
    }


def _describe_control(row: dict[str, Any], spec: AuditSpec) -> dict[str, Any]:
    """A row of `AuditView.control`: the figure on control nodes, and `control_difference`, the
    excess of the other nodes' figure, with its interval."""
    found = to_json(row)
    difference = {
        name: found.pop(column)
        for name, column in zip(("value", "low", "high"), CONTROL_COLUMNS[-3:], strict=True)
    }
    described = describe_row({**found, "status": State.DONE.value, "reason": ""}, spec)
    return {**described, "population": "control", "control_difference": difference}


def _describe_origin(summary: ReleaseSummary, view: AuditView) -> dict[str, Any]:
    """origin: "original", "defense" for a release of the audit, "external" for one made
    elsewhere, with what was not tested on it; unchanged: where it is the original."""
    origin = {ORIGINAL: "original", EXTERNAL: "external"}.get(summary.id, "defense")
    found: dict[str, Any] = {"id": summary.id, "origin": origin}
    if origin == "external":
        found["not_tested"] = [*list_not_tested(view.spec.external_match), ONE_RELEASE]
    return found | ({"unchanged": True} if view.node_channels.find_unchanged(summary.id) else {})


SCENARIO_COLUMNS = ("threat", "target", "knowledge", "population")
"""Fields of a row of audit.json that describe the scenario."""


def describe_row(row: dict[str, Any], spec: AuditSpec) -> dict[str, Any]:
    """A row of `AuditView.results` for scripts, with the scenario in separate columns.

    threat     "link", "included", "attribute", "identity"; "" for measures of the release
    target     the private column if there are several; else ""
    knowledge  "standard", "adaptive", "auxiliary:0.1", "auxiliary:degree:0.1", "composition:3",
    "joint:inferred", "joint:known", "transfer"; "" for measures
    population  whose secrets: "released"; "control" in rows of control nodes
    """
    if row["method"] == RELEASE:
        return {**row, **dict.fromkeys(SCENARIO_COLUMNS, "")}
    scenario = Scenario.parse(row["method"])
    return {
        **row,
        "method": scenario.method,
        "threat": scenario.threat,
        "target": format_target(scenario, spec),
        "knowledge": scenario.knowledge.text,
        "population": "released",
    }


def format_target(scenario: Scenario, spec: AuditSpec) -> str:
    """Target column of a scenario if the audit has several; else ""."""
    several = len(spec.threats.columns) > 1
    is_main = scenario.threat == "attribute" and not scenario.target and several
    return spec.threats.private or "" if is_main else scenario.target


def describe_nodes(
    nodes: NodeRisks, spec: AuditSpec, pairs: Sequence[Pair] | None = None
) -> pd.DataFrame:
    """`NodeRisks.to_frame` for scripts, as text, with the scenario in separate columns and the base
    rate; of some releases and attacks if `pairs` names them."""
    chosen = list(nodes.parts if pairs is None else pairs)
    table = nodes.to_frame(chosen)
    scenarios = [Scenario.parse(attack.id) for _, attack in chosen]
    sizes = np.array([len(nodes.parts[pair].nodes) for pair in chosen], np.int64)

    def spread(texts: Iterable[str]) -> pd.Series:
        return pd.Series(pd.array(list(texts), dtype="str").repeat(sizes), table.index)

    return table.astype({"node": "str", "release": "str"}).assign(
        attack=spread(scenario.method for scenario in scenarios),
        base=table.risk - table.advantage,
        threat=spread(scenario.threat for scenario in scenarios),
        target=spread(format_target(scenario, spec) for scenario in scenarios),
        knowledge=spread(scenario.knowledge.text for scenario in scenarios),
    )


RECORD, NODES, RELEASES = "audit.json", "nodes.parquet", "releases"
"""Names of an audit's files, and of the folder of its releases."""


def write_audit(
    view: AuditView,
    folder: Path,
    more: Mapping[str, Any] | None = None,
    others: Mapping[str, str] | None = None,
) -> None:
    """Write nodes.parquet, releases/ and audit.json with `more` on top to `folder`.

    others  path from the folder → SHA-256 of other files that audit.json is to list
    """
    folder.mkdir(parents=True, exist_ok=True)
    write_nodes(view, folder / NODES)
    write_releases(view, folder / RELEASES)
    content = {**(more or {}), **describe_audit(view)}
    files = {**(others or {}), **hash_files(folder, [folder / NODES])}
    text = format_record(content, files, indent=1, allow_nan=False)
    (folder / RECORD).write_text(text, encoding="utf-8")


def write_nodes(view: AuditView, path: Path) -> None:
    """Write `describe_nodes` as Parquet, one attack and release at a time to bound memory."""
    import pyarrow as pa
    from pyarrow import parquet

    nodes, first = view.nodes, list(view.nodes.parts)[:1]
    schema = pa.Schema.from_pandas(describe_nodes(nodes, view.spec, first), preserve_index=False)
    with parquet.ParquetWriter(path, schema) as writer:
        for pair in nodes.parts:
            part = describe_nodes(nodes, view.spec, [pair])
            writer.write_table(pa.Table.from_pandas(part, schema, preserve_index=False))


_CSV: tuple[str, ...] = ("csv",)


def write_releases(view: AuditView, folder: Path) -> None:
    """The release of each defense in its first available repeat, with provenance.

    For inspection only, since the audit withheld links: use a publishing run for a release to hand
    out.
    """
    folder.mkdir(parents=True, exist_ok=True)
    done = view.cells[(view.cells.kind == "publish") & (view.cells.state == State.DONE)]
    repeats = done.groupby("release").seed.min()
    configs = {choice.id: choice.config for choice in view.spec.defenses}
    for summary in view.releases:
        if summary.id not in configs or summary.id not in repeats.index:
            continue
        repeat = int(repeats[summary.id])
        release = Release(
            view.load_release(summary.id, repeat),
            summary.info.key,
            configs[summary.id],
            summary.guarantee,
        )
        provenance = {
            **view.provenance,
            "audit": view.summary.id,
            "repeat": repeat,
            "purpose": "made for an audit, with withheld links left out; not for publishing",
        }
        stem = make_file_name(summary.id)
        columns = list_written(view.spec, release.graph, summary.info.defense)
        is_whole = not isinstance(release.graph, PartitionedGraph)
        names_columns = view.spec.disclosure.names_columns
        formats = DEFAULT_FORMATS if is_whole and names_columns else _CSV
        write_release(release, folder, stem, provenance, formats, columns=columns)


def list_audit_releases(
    folder: Path, defenses: Iterable[MethodChoice], names_columns: bool
) -> dict[Path, list[Path]]:
    """Provenance → files of each release that `write_releases` may write.

    names_columns  whether the spec says which columns are published
    """
    formats = DEFAULT_FORMATS if names_columns else _CSV
    stems = [make_file_name(choice.id) for choice in defenses]
    return {
        locate_provenance(folder, stem): list_release_files(folder, stem, formats) for stem in stems
    }


def make_file_name(text: str) -> str:
    """A portable file name: letters, digits and ._=-."""
    return re.sub(r"[^A-Za-z0-9._=-]+", "_", text)[:120]
