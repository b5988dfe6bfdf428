"""A finished audit as one file, which another home stores under the keys that it had.

The file is a tar.xz: `record.json` with the spec and the rows of the cells and of the graph's
layout, the graph, and the arrays of each row, which are never pickled. Left behind are times and
devices, which tell of the machine that computed it, and scores that no other attack builds on.
"""

from __future__ import annotations

import io
import json
import secrets
import tarfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import sqlalchemy as sa
from sqlalchemy.engine import Row

from core.audit.asked.scenarios import Scenario
from core.audit.asked.spec import AuditSpec
from core.audit.store import files
from core.audit.store.accounts import LOCAL
from core.audit.store.database import Store
from core.audit.store.liveness import DatabaseTime, make_timestamp
from core.audit.store.schema import AuditCellRow, AuditRow, JobRow
from core.audit.store.statements import insert_missing, list_graphs
from core.audit.store.states import FINISHED, State
from core.data.packing import pack_graph, unpack_graph
from core.errors import DamagedError, InputError

EXAMPLE = Path(__file__).parents[3] / "assets" / "example.tar.xz"
"""The finished example, made by `python -m tests.benchmarks.finished_example`."""

WRITERS = 4
"""Threads that write files, which costs more than reading the packed one."""

RECORD, GRAPH = "record.json", "graph"
COLUMNS = (
    *("key", "kind", "release", "method", "repeat", "state", "progress"),
    *("reason", "note", "request", "result", "curves"),
)
"""What is kept of the row of a cell or a layout."""


def pack_audit(store: Store, audit_id: str) -> bytes:
    """The file of a finished audit; equal audits give equal files.

    Raises InputError for an unknown audit, one that is not done, and one of several graphs.
    """
    audit = store.find_audit(audit_id)
    spec = AuditSpec.model_validate(audit.spec)
    if audit.state is not State.DONE:
        raise InputError("audit", "must be done to be packed", audit.state, "resume it")
    if list_graphs(audit.graph_hash, audit.spec) != [audit.graph_hash]:
        raise InputError("audit", "must be of one graph to be packed", audit_id)
    layouts = store.list_jobs(JobRow.kind == "layout", JobRow.state == State.DONE)
    own = [row for row in layouts if row.request["graph_hash"] == audit.graph_hash]
    rows = [*store.list_cells(audit_id), *own]
    record = {
        "name": audit.name,
        "spec": spec.model_dump(mode="json"),
        "provenance": audit.provenance,
        "jobs": [{name: row._mapping[name] for name in COLUMNS} for row in rows],
    }
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:xz", preset=9) as archive:
        _add(archive, RECORD, json.dumps(record, allow_nan=False).encode())
        _add(archive, GRAPH, files.format_npz(pack_graph(store.load_graph(audit.graph_hash))))
        for row in rows:
            if row.state is State.DONE:
                arrays = files.load_cell(store.home, row.key)
                read = {name: array for name, array in arrays.items() if _is_read(row, name)}
                _add(archive, row.key, files.format_npz(read))
    return packed.getvalue()


def _is_read(row: Row[Any], name: str) -> bool:
    """Whether anything reads this array of a job again: scores serve attacks that combine others,
    which are attacks on columns."""
    return name != "scores" or Scenario.parse(row.method).threat == "attribute"


def read_record(path: Path) -> dict[str, Any]:
    """Name, spec, provenance and jobs of a packed audit, without reading its arrays."""
    with tarfile.open(path) as archive:
        return _read_record(archive)


def add_packed(store: Store, path: Path, person: str = LOCAL.subject) -> str:
    """Store a packed audit as one of `person`, who becomes a holder of its graph; returns its id.

    Cells that are stored already stay as they are. Raises DamagedError for a graph that is not the
    one of the spec.
    """
    with tarfile.open(path) as archive, ThreadPoolExecutor(WRITERS) as writers:
        record = _read_record(archive)
        spec = AuditSpec.model_validate(record["spec"])
        saved = []
        for member in archive:
            stream = archive.extractfile(member)
            assert stream is not None
            if member.name == GRAPH:
                _add_graph(store, stream.read(), spec.graph_hash, person)
            elif member.name != RECORD:
                saved.append(writers.submit(_save_cell, store, member.name, stream.read()))
        for each in saved:
            each.result()
    return _add_rows(store, record, spec, person)


def _save_cell(store: Store, key: str, content: bytes) -> None:
    if not files.is_whole(store.home, key):
        files.save_packed_cell(store.home, key, content)


def _add_graph(store: Store, content: bytes, graph_hash: str, person: str) -> None:
    with np.load(io.BytesIO(content), allow_pickle=False) as stored:
        graph = unpack_graph(dict(stored))
    if graph.content_hash != graph_hash:
        raise DamagedError("packed graph", "must match its hash", graph_hash[:12])
    store.save_graph(graph, person)


def _add_rows(store: Store, record: dict[str, Any], spec: AuditSpec, person: str) -> str:
    audit_id, made = secrets.token_hex(5), make_timestamp()
    cells = [row["key"] for row in record["jobs"] if row["request"] is None]
    rows = [{**row, "created": made, "finished": made} for row in record["jobs"]]
    with store.write(is_durable=True) as connection:
        insert_missing(connection, JobRow, rows)
        connection.execute(
            sa.insert(AuditRow).values(
                id=audit_id,
                name=record["name"],
                spec=spec.model_dump(mode="json"),
                graph_hash=spec.graph_hash,
                state=State.DONE,
                created=made,
                heartbeat=DatabaseTime(),
                provenance=record["provenance"],
                person=person,
            )
        )
        connection.execute(
            sa.insert(AuditCellRow),
            [
                {"audit_id": audit_id, "cell_key": key, "position": position}
                for position, key in enumerate(cells)
            ],
        )
        mine = sa.select(AuditCellRow.cell_key).where(AuditCellRow.audit_id == audit_id)
        is_open = JobRow.key.in_(mine) & JobRow.state.not_in(FINISHED)
        if connection.scalar(sa.select(sa.func.count()).where(is_open)):
            note = "some of its parts were stored unfinished: resume the audit"
            state = {"state": State.INTERRUPTED, "note": note}
            connection.execute(sa.update(AuditRow).where(AuditRow.id == audit_id).values(state))
    return audit_id


def _add(archive: tarfile.TarFile, name: str, content: bytes) -> None:
    member = tarfile.TarInfo(name)
    member.size = len(content)
    archive.addfile(member, io.BytesIO(content))


def _read_record(archive: tarfile.TarFile) -> dict[str, Any]:
    member = archive.next()
    stream = None if member is None else archive.extractfile(member)
    assert stream is not None
    record: dict[str, Any] = json.load(stream)
    return record
