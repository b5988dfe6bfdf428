"""A store that an earlier version made opens, with everything that was in it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic import command
from alembic.config import Config

from core.audit.assemble import assemble_view
from core.audit.jobs.advice import AdviceJobs
from core.audit.jobs.claims import ClaimJobs
from core.audit.jobs.job import list_runs, make_key
from core.audit.plan import plan_audit
from core.audit.run import run_inline
from core.audit.store import database, files
from core.audit.store.database import Store

CLAIM = {
    "release": "random_deletion",
    "choice": {"key": "random_deletion", "config": {"strength": 0.3}},
    "trials": 400,
    "state": "failed",
    "progress": 0.5,
    "message": "",
    "reason": "no luck",
    "created": "2026-01-01T00:00:00.000+00:00",
    "seconds": 1.5,
    "owner": "",
    "heartbeat": 0.0,
}
ADVICE = {
    "request": {"node": "3", "attack": {"key": "class_prior"}, "max_links": 1, "num_repeats": 2},
    "base": 0.5,
    "links": [],
    "risks": {"0": [0.5, 0.6]},
    "degree": 3,
    "num_links": 9,
}


def make_old_store(home: Path, spec, graph) -> tuple[str, list]:
    """A home as migration 0002 left it: one audit that is done, a claim and advice."""
    recent = Store(home / "recent")
    view = run_inline(spec, graph, recent.home, store=recent)
    audit = recent.find_audit(view.summary.id)
    cells = recent.list_cells(audit.id)
    recent.close()
    (home / "recent" / "cells").rename(home / "cells")
    (home / "recent" / "graphs").rename(home / "graphs")

    engine = sa.create_engine(f"sqlite:///{home / 'audit.db'}")
    config = Config()
    folder = Path(database.__file__).with_name("migrations")
    config.set_main_option("script_location", str(folder))
    with engine.begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, "0002")
        tables = sa.MetaData()
        tables.reflect(connection)
        graphs, audits, old, links, claims = (
            tables.tables[name] for name in ("graphs", "audits", "cells", "audit_cells", "claims")
        )
        size = {"num_nodes": graph.num_nodes, "num_edges": graph.num_edges}
        row = {"hash": graph.content_hash, "name": graph.name, "created": audit.created}
        connection.execute(sa.insert(graphs).values(**row, **size))
        connection.execute(
            sa.insert(audits).values({c.name: getattr(audit, c.name) for c in audits.c})
        )
        for position, cell in enumerate(cells):
            values = {column.name: getattr(cell, column.name) for column in old.c}
            values |= {"state": cell.state.value, "result": make_old_result(cell)}
            connection.execute(sa.insert(old).values(values))
            link = {"audit_id": audit.id, "cell_key": cell.key, "position": position}
            connection.execute(sa.insert(links).values(link))
        connection.execute(sa.insert(claims).values(id="c1", audit_id=audit.id, **CLAIM))
    engine.dispose()
    path = home / "audits" / audit.id / "advice" / "0123456789abcdef" / "advice.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(ADVICE))
    (path.parents[1] / "damaged").mkdir()
    (path.parents[1] / "damaged" / "advice.json").write_text("{")
    return audit.id, cells


def make_old_result(cell) -> dict | None:
    """Without a version; a release's record had the whole of it."""
    if cell.result is None:
        return None
    release = cell.result["release"]
    if release is not None:
        return release
    return {name: cell.result[name] for name in ("measurements", "facts")}


@pytest.fixture
def old(tmp_path, graph, make_spec):
    return make_old_store(tmp_path, make_spec(num_repeats=2), graph)


def test_an_old_store_opens_with_its_cells_claims_and_advice(tmp_path, old, graph, make_spec):
    audit_id, cells = old
    store = Store(tmp_path)
    fields = ("key", "kind", "release", "method", "repeat", "state", "seconds", "curves")
    again = store.list_cells(audit_id)
    assert [[getattr(row, f) for f in fields] for row in again] == [
        [getattr(row, f) for f in fields] for row in cells
    ]
    assert [row.key for row in again] == [
        c.key for c in plan_audit(make_spec(num_repeats=2), graph)
    ]
    (claim,) = list_runs(store, ClaimJobs, audit_id)
    assert (claim.release, claim.trials, claim.state) == ("random_deletion", 400, "failed")
    assert claim.id == make_key("claim", audit_id, "random_deletion", 400)
    (advice,) = list_runs(store, AdviceJobs, audit_id)
    assert advice.id == make_key("advice", audit_id, "3")
    assert advice.advice is not None
    assert advice.advice.risks == {0: (0.5, 0.6)}
    view = assemble_view(store, store.find_audit(audit_id))
    assert (view.summary.state, view.summary.cells_failed) == ("done", 0)
    store.delete_audit(audit_id)
    assert not list((tmp_path / "cells").glob("*/*"))
    assert not (tmp_path / "audits" / audit_id).exists()
    store.close()


def test_nothing_is_computed_again_after_the_migration(tmp_path, old, graph, make_spec):
    audit_id, cells = old
    written = [files.cell_folder(tmp_path, cell.key).stat().st_mtime_ns for cell in cells]
    store = Store(tmp_path)
    before = assemble_view(store, store.find_audit(audit_id))
    view = run_inline(make_spec(num_repeats=2), graph, tmp_path, store=store)
    assert view.results.equals(before.results)
    assert [files.cell_folder(tmp_path, c.key).stat().st_mtime_ns for c in cells] == written
    store.close()
