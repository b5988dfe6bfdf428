"""A packed audit is the same in another home, and the shipped one is of this version."""

from __future__ import annotations

import io
import json
import tarfile

import numpy as np
import pytest

from core.audit.computing import plan
from core.audit.computing.plan import list_cells
from core.audit.computing.prepared import PreparedAudit
from core.audit.jobs.layout import LayoutRequest, lay_out
from core.audit.results.export import describe_audit
from core.audit.service import AuditService
from core.audit.store.archive import EXAMPLE, GRAPH, RECORD, add_packed, pack_audit, read_record
from core.audit.store.database import Store
from core.audit.store.ledger import describe_revision
from core.audit.store.states import State
from core.errors import DamagedError, InputError
from core.findings.policy import find_policy
from core.findings.verdict import judge
from tests.benchmarks import finished_example
from tests.inline import run_inline

MAX_BYTES = 2_000_000
ANEW = "make it anew: python -m tests.benchmarks.finished_example"


@pytest.fixture(scope="module")
def packed(tmp_path_factory, graph, make_spec):
    """A finished audit of two repeats: its home, id and file."""
    home, path = tmp_path_factory.mktemp("home"), tmp_path_factory.mktemp("file") / "audit.tar.xz"
    spec = make_spec(num_repeats=2, attacks=[{"key": k} for k in ("jaccard", "class_prior")])
    audit_id = run_inline(spec, graph, home, "packed").summary.id
    store = Store(home)
    path.write_bytes(pack_audit(store, audit_id))
    yield store, audit_id, path
    store.close()


@pytest.fixture
def other(tmp_path):
    service = AuditService(tmp_path / "home")
    yield service
    service.close()


def test_it_is_the_same_audit_and_packs_to_the_same_file(packed, other):
    store, audit_id, path = packed
    service = AuditService(store.home)
    before = describe_audit(service.get_view(audit_id))
    service.close()
    added = add_packed(other._store, path)
    found = other.get_view(added)
    after = describe_audit(found)
    for record in (before, after):
        del record["provenance"]
    assert after == before
    assert found.summary.name == "packed"
    assert found.summary.state is State.DONE
    assert pack_audit(other._store, added) == path.read_bytes()


def test_nothing_is_computed_again(packed, other):
    spec = other.get_view(add_packed(other._store, packed[2])).spec
    assert other.estimate_time(spec).high == 0
    view = run_inline(spec, other.load_graph(spec.graph_hash), other.home, store=other._store)
    assert set(view.cells.seconds) == {0.0}


def test_scores_are_there_for_attacks_that_build_on_them(packed):
    rows = {row["key"]: row for row in read_record(packed[2])["jobs"]}
    scored, risky = set(), set()
    for key, content in list_members(packed[2]):
        with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
            scored |= {rows[key]["method"]} if "scores" in arrays.files else set()
            risky |= {rows[key]["method"]} if "risk" in arrays.files else set()
    assert scored == {"class_prior"}
    assert risky == {"jaccard", "class_prior"}


def list_members(path):
    """Key and content of each cell of a packed audit."""
    with tarfile.open(path) as opened:
        for member in opened:
            if member.name not in (RECORD, GRAPH):
                yield member.name, opened.extractfile(member).read()


def test_cells_that_are_there_stay(packed, other):
    record = read_record(packed[2])
    first = add_packed(other._store, packed[2])
    done, queued = [row["key"] for row in record["jobs"] if row["state"] == "done"][:2]
    other._store.update_job(queued, state=State.CANCELLED)
    other._store.update_job(done, note="own")
    second = other.get_view(add_packed(other._store, packed[2]))
    assert second.summary.state is State.INTERRUPTED
    assert other._store.find_job(done).note == "own"
    assert second.summary.id != first


def test_what_cannot_be_packed_or_read_is_told(packed, other, tmp_path, make_spec, graph):
    store, _, path = packed
    with pytest.raises(InputError, match="audit"):
        pack_audit(store, "unknown")
    other.save_graph(graph)
    other._store.add_audit("open", "", make_spec(), [plan_one(make_spec, graph)], {})
    with pytest.raises(InputError, match="must be done"):
        pack_audit(other._store, "open")
    edited = tmp_path / "edited.tar.xz"
    rewrite(path, edited, codes_0=lambda array: array[::-1])
    with pytest.raises(DamagedError, match="must match its hash"):
        add_packed(other._store, edited)
    rewrite(path, edited, codes_0=lambda array: array.astype(object))
    with pytest.raises(ValueError, match="allow_pickle"):
        add_packed(other._store, edited)


def plan_one(make_spec, graph):
    return list_cells(PreparedAudit.build(make_spec(), graph))[0]


def rewrite(source, target, **changes):
    """A packed audit with arrays of its graph changed."""
    with tarfile.open(source) as opened, tarfile.open(target, "w:xz") as written:
        for member in opened:
            content = opened.extractfile(member).read()
            if member.name == GRAPH:
                with np.load(io.BytesIO(content)) as stored:
                    arrays = {name: stored[name] for name in stored.files}
                buffer = io.BytesIO()
                np.savez(buffer, **arrays | {n: change(arrays[n]) for n, change in changes.items()})
                content = buffer.getvalue()
            member.size = len(content)
            written.addfile(member, io.BytesIO(content))


@pytest.fixture(scope="module")
def opened(tmp_path_factory):
    service = AuditService(tmp_path_factory.mktemp("home"))
    before = describe_revision(service._store)
    yield service, service.open_example(), before
    service.close()


def test_the_example_is_of_this_version(opened, monkeypatch):
    service, audit_id, _ = opened
    record = read_record(EXAMPLE)
    spec = service.get_view(audit_id).spec
    assert spec == finished_example.make_spec().normalized(), ANEW
    keys = [row["key"] for row in record["jobs"] if row["request"] is None]
    audit = PreparedAudit.load(spec, service.load_graph)
    assert keys == [cell.key for cell in list_cells(audit)], ANEW
    layouts = [row["key"] for row in record["jobs"] if row["request"] is not None]
    request = LayoutRequest(graph_hash=spec.graph_hash)
    assert layouts == [service.layouts.find_key(request, None)], ANEW
    monkeypatch.setattr(plan, "RESULTS_VERSION", plan.RESULTS_VERSION + 1)
    assert not set(keys) & {cell.key for cell in list_cells(audit)}


def test_the_example_is_small_and_pickles_nothing():
    assert EXAMPLE.stat().st_size <= MAX_BYTES
    for _, content in list_members(EXAMPLE):
        with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
            assert not any(arrays[name].dtype.hasobject for name in arrays.files)


def test_the_example_shows_the_five_systems_and_a_release_that_may_leave(opened):
    view = opened[0].get_view(opened[1])
    made = {release.info.key for release in view.releases}
    assert made >= {"ppgsl", "gps_sampling", "netfense", "blink", "privdpr"}
    assert len(view.releases) == 11  # with the original
    assert not view.summary.cells_failed
    verdict = judge(view, find_policy(view.spec.policy["key"]))
    assert verdict.decision == "publish"
    assert verdict.recommended is not None


def test_the_example_is_stored_once_for_each_person_and_enters_no_ledger(opened):
    service, audit_id, before = opened
    assert service.open_example() == audit_id
    other = service.open_example("i ada")
    assert other != audit_id
    owners = {audit.id: audit.person for audit in service.list_audits()}
    assert owners == {audit_id: "local", other: "i ada"}
    assert describe_revision(service._store) == before
    assert service.get_view(audit_id).ledger == ()


def test_the_map_of_the_example_is_drawn_already(opened):
    service, audit_id, _ = opened
    spec = service.get_view(audit_id).spec
    stored = service.layouts.load(spec.graph_hash)
    again = lay_out(service.load_graph(spec.graph_hash))
    assert (stored.communities == again.communities).all()


def test_the_record_of_the_example_names_no_machine():
    text = json.dumps(read_record(EXAMPLE))
    for name in ("hostname", "/tmp", "/root", "/home", "device", "seconds"):
        assert f'"{name}' not in text
