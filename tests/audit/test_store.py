"""Graphs come back as they went, tables match the migrations, deleting leaves nothing."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import sqlalchemy as sa
from scipy import sparse

from core.audit.asked.spec import AuditSpec
from core.audit.computing.plan import plan_audit
from core.audit.computing.prepared import PreparedAudit
from core.audit.store import files
from core.audit.store.connect import HEAD
from core.audit.store.database import LeaseLostError, Store
from core.audit.store.liveness import (
    SILENCE_S,
    DatabaseTime,
    describe_owner,
    find_state,
    is_owner_alive,
)
from core.audit.store.schema import Base
from core.audit.store.states import State
from core.errors import InputError
from core.graph import Graph
from tests.oracles.graphs import GRAPHS

ROOT = Path(__file__).parents[2]


@pytest.fixture
def store(tmp_path, database):
    store = Store(tmp_path)
    yield store
    store.close()


@pytest.mark.parametrize("name", sorted(GRAPHS))
def test_graphs_round_trip(store, name):
    graph = GRAPHS[name]()
    again = store.load_graph(store.save_graph(graph))
    assert again.content_hash == graph.content_hash
    assert again.name == graph.name
    assert {k: a.classes for k, a in again.attributes.items()} == {
        k: a.classes for k, a in graph.attributes.items()
    }


def test_sparse_features_and_odd_texts_round_trip(store):
    features = sparse.random_array((4, 5), density=0.4, rng=np.random.default_rng(0))
    graph = Graph.from_pairs(
        np.array([[0, 1], [2, 3]]),
        4,
        node_ids=("", "a\x1fb", "=1+1", "é\0"),
        features=sparse.csr_array(features),
        weights=np.array([0.5, 2.0]),
    )
    again = store.load_graph(store.save_graph(graph))
    assert again.node_ids == graph.node_ids
    assert sparse.issparse(again.features)
    assert again.content_hash == graph.content_hash


def test_a_damaged_or_missing_graph_is_an_error(store, graph):
    graph_hash = store.save_graph(graph)
    files.write_npz(
        files.graph_path(store.home, graph_hash),
        {**files.read_npz(files.graph_path(store.home, graph_hash)), "edges": graph.edges[1:]},
    )
    with pytest.raises(InputError, match="match its hash"):
        store.load_graph(graph_hash)
    with pytest.raises(InputError, match="must be stored"):
        store.load_graph("0" * 64)


def test_a_release_keeps_only_what_a_defense_changed(graph):
    released = graph.with_edges(graph.edges[::2])
    arrays = files.pack_release(released, graph)
    assert set(arrays) == {"edges"}
    assert files.unpack_release(arrays, graph).content_hash == released.content_hash
    changed = released.without_features(["0"])
    arrays = files.pack_release(changed, graph)
    assert files.unpack_release(arrays, graph).content_hash == changed.content_hash


def test_an_audit_of_the_version_before_opens(tmp_path, graph, make_spec):
    """Its spec named the random numbers of a release made elsewhere."""
    store = Store(tmp_path)
    store.save_graph(graph)
    spec = make_spec()
    store.add_audit("old", "", spec, plan_audit(PreparedAudit.build(spec, graph)), {})
    store.close()
    with sqlite3.connect(tmp_path / "audit.db") as database:
        old = json.dumps({**spec.model_dump(mode="json"), "external_stream": "external"})
        database.execute("update audits set spec = ?", [old])
        database.execute("update alembic_version set version_num = '0002'")
    database.close()
    store = Store(tmp_path)
    assert AuditSpec.model_validate(store.find_audit("old").spec) == spec
    store.close()


def test_migrations_build_the_tables_that_the_code_has(store):
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext
    from alembic.script import ScriptDirectory

    with store.read() as connection:
        context = MigrationContext.configure(connection)
        assert context.get_current_revision() == HEAD
        assert compare_metadata(context, Base.metadata) == []
    scripts = ScriptDirectory(str(files.Path(files.__file__).with_name("migrations")))
    assert scripts.get_current_head() == HEAD


def test_a_store_of_before_gets_the_columns_that_it_lacks(tmp_path):
    """Its audits stay; what they took of the processor is not known."""
    store = Store(tmp_path)
    with store.write() as connection:
        connection.execute(sa.text("ALTER TABLE jobs DROP COLUMN cpu_seconds"))
        connection.execute(sa.text("UPDATE alembic_version SET version_num = '0001'"))
        insert = "INSERT INTO jobs (\"key\", kind, state, %s) VALUES ('k', 'attack', 'done', %s)"
        texts = "release method message reason note device created finished owner person signed_by"
        fields = {**dict.fromkeys(texts.split(), "''"), "repeat": "0", "progress": "1.0"}
        fields |= {"seconds": "2.5", "heartbeat": "0.0"}
        connection.execute(sa.text(insert % (", ".join(fields), ", ".join(fields.values()))))
    store.close()
    store = Store(tmp_path)
    row = store.find_job("k")
    assert (row.seconds, row.cpu_seconds) == (2.5, 0)
    store.close()


def test_opening_again_keeps_everything(tmp_path, database, graph, make_spec):
    first = Store(tmp_path)
    first.save_graph(graph)
    first.add_audit(
        "a", "name", make_spec(), plan_audit(PreparedAudit.build(make_spec(), graph)), {"x": 1}
    )
    first.close()
    second = Store(tmp_path)
    row = second.find_audit("a")
    assert (row.name, row.num_nodes, row.provenance) == ("name", 40, {"x": 1})
    assert second.find_same_audit(make_spec()) == "a"
    assert second.find_same_audit(make_spec(num_repeats=2)) is None
    second.close()


def test_an_audit_from_before_an_option_existed_is_the_same(store, graph, make_spec):
    """Stored before nodes had a noun of their choice."""
    store.save_graph(graph)
    store.add_audit(
        "a", "name", make_spec(), plan_audit(PreparedAudit.build(make_spec(), graph)), {}
    )
    old = make_spec().model_dump(mode="json")
    del old["noun"]
    store.update_audit("a", spec=old)
    assert store.find_same_audit(make_spec()) == "a"
    assert store.find_same_audit(make_spec(noun="papers")) is None


def test_deleting_takes_what_nothing_else_needs(store, graph, make_spec):
    store.save_graph(graph)
    small, large = make_spec(), make_spec(num_repeats=2)
    for audit_id, spec in (("small", small), ("large", large)):
        store.add_audit(audit_id, audit_id, spec, plan_audit(PreparedAudit.build(spec, graph)), {})
    shared = {cell.key for cell in plan_audit(PreparedAudit.build(small, graph))}
    for cell in plan_audit(PreparedAudit.build(large, graph)):
        files.save_cell(store.home, cell.key, {"x": np.zeros(1)})
    store.delete_audit("large")
    assert {row.key for row in store.list_cells("small")} == shared
    left = {path.name for path in (store.home / "cells").glob("*/*")}
    assert left == shared
    assert files.graph_path(store.home, graph.content_hash).exists()
    store.delete_audit("small")
    assert not list((store.home / "cells").glob("*/*"))
    assert not files.graph_path(store.home, graph.content_hash).exists()
    with store.read() as connection:
        for table in ("graphs", "audits", "audit_cells", "jobs"):
            assert connection.scalar(sa.text(f"SELECT count(*) FROM {table}")) == 0
    with pytest.raises(InputError, match="known id"):
        store.find_audit("small")


@pytest.fixture
def audit(store, graph, make_spec):
    store.save_graph(graph)
    store.add_audit("a", "a", make_spec(), plan_audit(PreparedAudit.build(make_spec(), graph)), {})
    return "a"


def test_an_owner_lives_while_its_process_does():
    """Whatever the clock says: the start of a process is told from the machine's own start."""
    assert is_owner_alive(describe_owner(), silent_s=1e9)
    host, pid, started = json.loads(describe_owner())
    assert not is_owner_alive(json.dumps([host, pid, started - 60]), silent_s=0.0)
    assert not is_owner_alive("", silent_s=0.0)


@pytest.mark.parametrize(
    ("silent_s", "is_alive"), [(1, True), (20, False), (3600, False), (-3600, False)]
)
def test_an_owner_elsewhere_was_heard_of_lately(silent_s, is_alive):
    """A sign of life from an hour ahead is one from before the clock was set back."""
    assert is_owner_alive('["elsewhere", 1, 0.0]', silent_s) == is_alive


@pytest.mark.parametrize("shift", [-3600.0, -20.0, 20.0, 3600.0])
def test_clocks_of_machines_need_not_agree(store, audit, monkeypatch, shift):
    """One machine beats and another looks, by clocks that differ: the database's counts."""
    store.update_audit(audit, state="running")
    lease = store.claim_audit(audit)
    monkeypatch.setattr(time, "time", lambda: 1e9 + shift)
    store.beat(lease, 1.0)
    store.update_audit(audit, owner='["elsewhere", 1, 0.0]')
    monkeypatch.setattr(time, "time", lambda: 1e9)
    assert find_state(store.find_audit(audit)) == "running"
    assert store.claim_audit(audit) is None
    store.update_audit(audit, heartbeat=DatabaseTime() + shift)
    taken = store.claim_audit(audit)
    assert (taken is not None) == (abs(shift) > SILENCE_S)


def test_of_two_coordinators_only_the_later_writes(store, audit):
    """The first was taken for dead, such as after a pause of its machine."""
    first = store.claim_audit(audit)
    store.update_audit(audit, owner='["elsewhere", 1, 0.0]', heartbeat=0.0)
    second = store.claim_audit(audit)
    assert second.number > first.number
    cells = [row.key for row in store.list_cells(audit, "key")]
    for write in (
        lambda lease: store.beat(lease, 99.0),
        lambda lease: store.fail_cells(lease, cells, "lost"),
        lambda lease: store.replace_plan(lease, []),
        lambda lease: store.end_audit(lease, State.CANCELLED, "", 99.0),
    ):
        with pytest.raises(LeaseLostError):
            write(first)
    row = store.find_audit(audit)
    assert (row.state, row.seconds) == ("running", 0.0)
    assert {cell.state for cell in store.list_cells(audit)} == {"queued"}
    store.end_audit(second, State.DONE, "", 1.0)
    assert store.find_audit(audit).state == "done"


def test_no_coordinator_writes_while_another_takes_over(store, audit):
    """Between the look at the lease and the write nobody else gets it."""
    first, claimed = store.claim_audit(audit), []
    taker = threading.Thread(target=lambda: claimed.append(store.claim_audit(audit)))
    with store.write_by(first):
        taker.start()
        taker.join(0.3)
        assert claimed == []
    taker.join(30)
    assert claimed[0].number > first.number


def test_two_that_take_over_at_once_hold_different_leases(store, audit, monkeypatch):
    def look(row):
        time.sleep(0.2)
        return find_state(row)

    store.update_audit(audit, state="running", owner='["elsewhere", 1, 0.0]', heartbeat=0.0)
    monkeypatch.setattr("core.audit.store.database.find_state", look)
    with ThreadPoolExecutor(2) as threads:
        leases = list(threads.map(lambda _: store.claim_audit(audit), range(2)))
    assert sorted(lease.number for lease in leases) == [1, 2]


def test_an_unusable_database_is_an_error(tmp_path):
    with pytest.raises(InputError, match="AUDIT_DATABASE"):
        Store(tmp_path, "nonsense")
    with pytest.raises(InputError, match="database"):
        Store(tmp_path, f"sqlite:///{tmp_path}/no/such/folder/a.db")


def test_ten_processes_that_start_at_once_make_one_set_of_tables(tmp_path, database):
    code = """
import os, sys
from core.audit.store.database import Store
other = os.path.join(sys.argv[1], "other")
Store(other, f"sqlite:///{other}.db").close()  # imports what all of them need
for _ in range(10):
    if not os.fork():
        Store(sys.argv[1]).close()
        os._exit(0)  # taking an interpreter down costs a second
sys.exit(any([os.wait()[1] for _ in range(10)]))
"""
    command = [sys.executable, "-c", code, str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, stderr=subprocess.PIPE, timeout=300)
    assert (done.returncode, done.stderr) == (0, b"")
    store = Store(tmp_path)
    with store.read() as connection:
        assert connection.scalar(sa.text("SELECT count(*) FROM alembic_version")) == 1
    assert store.list_audits() == []
    store.close()


def test_an_audit_whose_spec_cannot_be_read_is_not_the_same(store, graph, make_spec):
    store.save_graph(graph)
    store.add_audit(
        "a", "name", make_spec(), plan_audit(PreparedAudit.build(make_spec(), graph)), {}
    )
    assert store.find_same_audit(make_spec()) == "a"
    store.update_audit("a", spec={"nothing": "known"})
    assert store.find_same_audit(make_spec()) is None


def test_a_second_graph_goes_with_the_last_audit_that_needs_it(store, graph, make_spec):
    """Whose attacker holds it, or which is of it; the graphs of others stay."""
    second = graph.with_edges(graph.edges[::2])
    known = store.save_graph(second)
    store.save_graph(graph)
    attacked = make_spec(identity={"auxiliary_graph": known, "seeds_known": 2})
    of_second = make_spec(graph_hash=known)
    audits = {"one": (attacked, graph), "own": (of_second, second), "two": (attacked, graph)}
    for audit_id, (spec, of) in audits.items():
        store.add_audit(
            audit_id, audit_id, spec, plan_audit(PreparedAudit.build(spec, of, second)), {}
        )
    stays = {known, graph.content_hash}
    for audit_id in ("one", "own"):
        assert store.delete_audit(audit_id) == []
        assert {path.name for path in (store.home / "graphs").iterdir()} == {
            files.graph_path(store.home, graph_hash).name for graph_hash in stays
        }
    assert set(store.delete_audit("two")) == stays
    assert not list((store.home / "graphs").iterdir())
    with store.read() as connection:
        for table in ("graphs", "graph_holders"):
            assert connection.scalar(sa.text(f"SELECT count(*) FROM {table}")) == 0


def test_a_release_that_is_held_beside_another_goes_with_its_last_audit(store, graph, make_spec):
    judged, held = (graph.with_edges(graph.edges[start::2]) for start in (0, 1))
    names = [store.save_graph(each) for each in (judged, held)]
    store.save_graph(graph)
    spec = make_spec(
        external_release=names[0],
        held_releases=(names[1],),
        composition=2,
        defenses=[{"key": "external"}],
        num_repeats=1,
    )
    cells = plan_audit(PreparedAudit.build(spec, graph, external=(judged, held)))
    for audit_id in ("a", "b"):
        store.add_audit(audit_id, audit_id, spec, cells, {})
    assert store.delete_audit("a") == []
    assert set(store.delete_audit("b")) == {graph.content_hash, *names}


def test_a_second_graph_is_held_by_whom_the_audit_belongs_to(store, graph, make_spec):
    known = store.save_graph(graph.with_edges(graph.edges[::2]), "i ada")
    store.save_graph(graph, "i ada")
    spec = make_spec(identity={"auxiliary_graph": known})
    second = store.load_graph(known)
    for audit_id in ("a", "b"):
        store.add_audit(
            audit_id, "", spec, plan_audit(PreparedAudit.build(spec, graph, second)), {}, "i ada"
        )
    held = sa.text("SELECT person FROM graph_holders WHERE graph_hash = :h ORDER BY person")
    for audit_id, holders in (("a", ["i ada", "i bob"]), ("b", ["i bob"])):
        store.move_audit(audit_id, "i bob")
        with store.read() as connection:
            assert list(connection.scalars(held, {"h": known})) == holders
