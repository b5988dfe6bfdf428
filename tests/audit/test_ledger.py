"""The ledger in the store: entered before a file exists, shared by app and command line."""

from __future__ import annotations

import json
import sqlite3
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
import sqlalchemy as sa

import core
import core.cli.main as command
from core.audit.asked.method_choice import MethodChoice
from core.audit.asked.publish_spec import PublishSpec
from core.audit.asked.spec import AuditSpec
from core.audit.computing.plan import plan_audit
from core.audit.computing.prepared import PreparedAudit
from core.audit.jobs.job import JobContext
from core.audit.jobs.publish import PublishJobs, _find_own_audit, enter_publishing, publish_release
from core.audit.store.database import Store
from core.audit.store.ledger import (
    assign_lineage,
    describe_revision,
    enter_release,
    find_relative,
    list_entries,
)
from core.audit.store.schema import LedgerRow, LineageRow, allow_changes, refuse_changes
from core.data.catalogue import load_dataset
from core.data.lineage import GraphSketch, sketch_graph
from core.defenses.edge_rand import EdgeRand
from core.errors import InputError
from core.findings.ledger import PARTS, describe_relative
from core.graph import Graph
from core.privacy.guarantees import EDGE
from core.privacy.ledger import Budget, check_budget, compute_totals
from core.progress import Progress
from core.release import Release
from tests.audit.test_service import wait_for
from tests.inline import run_inline

EDGE_RAND = "edge_rand:epsilon=3"
PATH = Graph.from_pairs(np.array([[0, 1], [1, 2]]))
RELEASE = Release(PATH, "edge_rand", {"epsilon": 3.0}, EDGE.make_guarantee(3.0))


@pytest.fixture
def store(tmp_path, database):
    store = Store(tmp_path)
    yield store
    store.close()


def format_nodes(graph: Graph) -> Graph:
    """The same graph of people with names."""
    return replace(graph, node_ids=tuple(f"person {node}" for node in graph.node_ids))


def rename_nodes(graph: Graph) -> Graph:
    return replace(graph, node_ids=tuple(f"alias {node}" for node in graph.node_ids))


def reorder(graph: Graph) -> Graph:
    return graph.subgraph(np.arange(graph.num_nodes)[::-1])


def planted_partition(seed: int) -> Graph:
    """Of 40 people, as many as the test graph has, and none of its links but by chance."""
    pairs = np.random.default_rng(seed).integers(0, 40, (130, 2))
    return Graph.from_pairs(pairs, 40)


def test_an_empty_ledger_needs_no_hash_of_the_graph(store, monkeypatch):
    """Opening an audit asks for the entries, and a million names take seconds to sort."""
    read = property(lambda _graph: pytest.fail("hashed"))
    with monkeypatch.context() as patch:
        patch.setattr(Graph, "identity_hash", read)
        assert list_entries(store, PATH) == ()
    enter_release(store, PATH, "run", "2026-01-01", RELEASE, None)
    assert len(list_entries(store, PATH)) == 1


def publish(path, *more, defense=EDGE_RAND):
    parts = ["publish", "--graph", "karate", "--defense", defense, "--out", str(path)]
    return command.main([*parts, *more])


def test_weights_that_leave_are_named(audit_home, tmp_path, capsys):
    """ "No column is published with the links", and their weights were."""
    weighted = "Published with the links: link.weight. No other column is."
    cases = (("a,b,1\nb,c,2\n", weighted), ("a,b\nb,c\n", "No column is published"))
    for rows, said in cases:
        links = tmp_path / "links.csv"
        links.write_text(f"source,target{',weight' * ('1' in rows)}\n{rows}")
        parts = ["publish", "--graph", str(links), "--defense", "pseudonyms"]
        assert command.main([*parts, "--out", str(tmp_path / f"out{len(rows)}.csv")]) == 0
        assert said in capsys.readouterr().err


def test_ids_that_an_audit_counts_as_left_out_leave_only_if_it_is_said(
    audit_home, tmp_path, capsys, monkeypatch
):
    """ "publish" of an audit of pseudonyms was followed by a file with the names."""
    monkeypatch.setenv("AUDIT_DEVICE", "cpu")
    deletion, graph = "random_deletion:strength=0.1", load_dataset("karate").graph
    fields = {"graph_hash": graph.content_hash, "num_repeats": 1, "measures": ["structure"]}
    links = {"hide_links": 0.1, "attacks": [{"key": "common_neighbors"}]}
    run_inline(AuditSpec.check_spec(fields | links), graph, audit_home)
    assert publish(tmp_path / "before.csv", defense=deletion) == 0
    people = {"identity": {"seeds_known": 0}, "attacks": [{"key": "degree"}]}
    asked = run_inline(AuditSpec.check_spec(fields | people), graph, audit_home).summary.id
    capsys.readouterr()
    assert publish(tmp_path / "unsaid.csv", defense=deletion) == 2
    said = capsys.readouterr().err
    assert f"pseudonyms must be chosen: audit {asked} of this graph looks for people" in said
    assert "replace the ids (--pseudonyms, in scripts pseudonyms=True), or say" in said
    with pytest.raises(InputError, match="pseudonyms must be chosen"):
        core.publish(graph, deletion, tmp_path / "script.csv")
    assert not [*tmp_path.glob("unsaid*"), *tmp_path.glob("script*")]
    assert len(read_ledger(capsys)["entries"]) == 1  # refused before anything was drawn
    for name, own, more in (
        ("kept", deletion, ["--no-pseudonyms"]),
        ("new", deletion, ["--pseudonyms"]),
        ("own", "pseudonyms", []),
    ):
        assert publish(tmp_path / f"{name}.csv", *more, defense=own) == 0
        ids = (tmp_path / f"{name}.nodes.csv").read_text().replace('"', "").split()
        assert set(graph.node_ids).issubset(ids) == (name == "kept")


def read_ledger(capsys):
    capsys.readouterr()
    assert command.main(["ledger", "--graph", "karate", "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_eight_runs_at_three_are_twenty_four_in_ledger_and_provenance(audit_home, tmp_path, capsys):
    for number in range(8):
        assert publish(tmp_path / f"r{number}.csv") == 0
    ledger = read_ledger(capsys)
    (total,) = ledger["totals"]
    assert (total["unit"], total["epsilon"], total["delta"]) == ("edge", 24.0, 0.0)
    assert len({entry["run"] for entry in ledger["entries"]}) == 8
    provenance = json.loads((tmp_path / "r7.provenance.json").read_text())
    assert provenance["published_so_far"]["totals"][0]["epsilon"] == 24.0
    assert "not covered" in provenance["published_so_far"]["note"]
    assert command.main(["ledger", "--graph", "karate"]) == 0
    assert "One link: ε = 24 over 8 publishing runs." in capsys.readouterr().out


def test_a_budget_of_ten_refuses_the_fourth_run_and_nothing_is_written(
    audit_home, tmp_path, capsys
):
    codes = [publish(tmp_path / f"r{n}.csv", "--budget", "10") for n in range(4)]
    assert codes == [0, 0, 0, 2]
    assert "budget of ε = 10 would be exceeded" in capsys.readouterr().err
    assert not list(tmp_path.glob("r3*"))
    assert len(read_ledger(capsys)["entries"]) == 3
    assert publish(tmp_path / "r4.csv", "--budget", "10", defense="sym_rr:epsilon=1") == 0


def test_a_budget_is_of_the_link_whatever_protects_it(audit_home, tmp_path, capsys):
    """EdgeRand at 6, then reports of both ends at 3: what is known of one link is bounded by 12."""
    assert publish(tmp_path / "a.csv", "--budget", "7", defense="edge_rand:epsilon=6") == 0
    reports = "randomized_response:epsilon=3"
    assert publish(tmp_path / "b.csv", "--budget", "7", defense=reports) == 2
    assert "ε = 12 after this run" in capsys.readouterr().err
    assert not list(tmp_path.glob("b*"))


def test_units_add_up_and_both_reports_of_a_link_count(audit_home, tmp_path, capsys):
    for number, defense in enumerate(
        [EDGE_RAND, "randomized_response:epsilon=3", "gap:epsilon=2,dimensions=8", "rw_lp"]
    ):
        assert publish(tmp_path / f"r{number}.csv", defense=defense) == 0
    ledger = read_ledger(capsys)
    (total,) = ledger["totals"]
    assert (total["unit"], total["epsilon"], total["delta"]) == ("edge", 11.0, 1e-5)
    assert [e["epsilon"] for e in ledger["entries"] if e["unit"] == "none"] == [None]
    assert command.main(["ledger", "--graph", "karate"]) == 0
    shown = capsys.readouterr().out
    assert "at least ε = 11, δ = 10⁻⁵ over 3 publishing runs; 1 more without a guarantee" in shown


def test_a_run_is_entered_once_and_runs_at_the_same_time_see_each_other(store, graph):
    spec = PublishSpec(graph_hash=graph.content_hash, defense=MethodChoice.parse(EDGE_RAND))
    release = publish_release(graph, spec)
    for _ in range(2):
        enter_release(store, graph, "run", "2026", release, None)
    (total,) = compute_totals(list_entries(store, graph))
    assert (total.epsilon, total.runs) == (3.0, 1)
    limited, refused = spec.model_copy(update={"budget": Budget(12.0)}), []

    def enter():
        try:
            enter_publishing(store, graph, limited, release)
        except InputError:
            refused.append(1)

    threads = [threading.Thread(target=enter) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (total,) = compute_totals(list_entries(store, graph))
    assert (total.epsilon, total.runs, len(refused)) == (12.0, 4, 3)
    assert list_entries(store, PATH) == ()


def test_no_run_is_entered_between_a_check_and_its_entry(store, graph, monkeypatch):
    """Four edits of a graph that is new to the ledger, each of which looks at the budget for long
    enough that all the others look meanwhile."""
    graph = format_nodes(graph)

    def check(*given):
        check_budget(*given)
        time.sleep(0.1)

    def enter(number):
        try:
            edited = graph.without_edges(graph.edges[number : number + 1])
            enter_release(store, edited, f"r{number}", "2026", RELEASE, Budget(4.0))
        except InputError:
            return False
        return True

    monkeypatch.setattr("core.audit.store.ledger.check_budget", check)
    with ThreadPoolExecutor(4) as threads:
        assert sum(threads.map(enter, range(4))) == 1
    assert len(list_entries(store, graph)) == 1


def test_a_locked_ledger_is_waited_for(store, graph, monkeypatch):
    """Eight runs at once on a busy machine: what was drawn must not be lost, nor left out."""
    locked = sa.exc.OperationalError("", None, sqlite3.OperationalError("database is locked"))
    failures, write, told = [locked, locked], store.write, []
    monkeypatch.setattr(store, "notify", told.append)

    def fail_twice(**options):
        if failures:
            raise failures.pop()
        return write(**options)

    monkeypatch.setattr(store, "write", fail_twice)
    monkeypatch.setattr("core.audit.store.retry.FIRST_WAIT_S", 0.01)
    enter_release(store, graph, "a", "2026", RELEASE, None)
    assert len(told) == 1
    assert len(list_entries(store, graph)) == 1


def test_a_run_counts_whether_or_not_anybody_signed_it(store, graph):
    """Who prepared it has seen what was drawn."""
    for number, signed_by in enumerate(["", "i eve", ""]):
        enter_release(store, graph, f"r{number}", "2026", RELEASE, None, "i ada", signed_by)
    (total,) = compute_totals(list_entries(store, graph))
    assert (total.epsilon, total.runs) == (9.0, 3)
    with pytest.raises(InputError, match="9 is spent by 3"):
        enter_release(store, graph, "r3", "2026", RELEASE, Budget(10.0), "i ada", "")


def test_an_assignment_is_seen_though_the_clock_went_back(store, graph, monkeypatch):
    """Pages showed the sums of the old lineage until the clock had caught up."""
    enter_release(store, graph, "a", "2026", RELEASE, None)
    before = describe_revision(store)
    assert describe_revision(store) == before
    monkeypatch.setattr(
        "core.audit.store.ledger.make_timestamp", lambda: "1999-01-01T00:00:00+00:00"
    )
    assign_lineage(store, graph, "apart", "i eve", "another data set")
    assert describe_revision(store) != before


VARIANTS = {
    "reordered": reorder,
    "renamed": rename_nodes,
    "a link more": lambda graph: graph.with_edges(np.concatenate([graph.edges, [[0, 39]]])),
    "a link less": lambda graph: graph.with_edges(graph.edges[1:]),
    "people left out": lambda graph: graph.subgraph(np.arange(5, graph.num_nodes)),
    "other columns": lambda graph: graph.with_columns([]),
}


@pytest.mark.parametrize("name", sorted(VARIANTS))
def test_the_same_data_in_another_guise_is_the_same_lineage(store, graph, name):
    graph = format_nodes(graph)
    variant = VARIANTS[name](graph)
    assert variant.content_hash != graph.content_hash
    enter_release(store, graph, "first", "2026", RELEASE, Budget(4.0))
    if name not in ("reordered", "other columns"):
        assert find_relative(store, variant).runs == 1
    with pytest.raises(InputError, match="budget"):
        enter_release(store, variant, "second", "2026", RELEASE, Budget(4.0))
    assert len(list_entries(store, variant)) == 1
    enter_release(store, variant, "second", "2026", RELEASE, Budget(6.0))
    assert list_entries(store, graph) == list_entries(store, variant)
    assert find_relative(store, variant) is None


def test_new_ids_and_a_changed_link_are_the_same_lineage_for_one_reason_in_words(store, graph):
    enter_release(store, graph, "first", "2026", RELEASE, Budget(4.0))
    ids = tuple(f"x{i}" for i in range(graph.num_nodes))
    copy = replace(graph.without_edges(graph.edges[:1]), node_ids=ids)
    relative = find_relative(store, copy)
    assert relative.part not in ("nodes", "links")
    assert PARTS.keys() == set(GraphSketch.parts)
    assert f"of its {PARTS[relative.part]} with a graph of 1 publishing run. Both" in (
        describe_relative(relative)
    )


@pytest.mark.parametrize("is_named", [True, False])
def test_a_part_with_the_same_ids_spends_the_budget_of_the_whole(store, is_named):
    """The whole spent 10; a part of 142, 268 or 1,069 of 200,000 people spent 10 more."""
    pairs = np.random.default_rng(0).integers(0, 200_000, (1_000_000, 2))
    pairs[:, 1] = (pairs[:, 0] + 1 + pairs[:, 1] % 40) % 200_000  # neighbours are near
    whole = Graph.from_pairs(pairs, 200_000)
    if is_named:
        whole = format_nodes(whole)
    enter_release(store, whole, "whole", "2026", RELEASE, Budget(4.0))
    for size in (142, 268, 1069):
        part = whole.subgraph(np.arange(5000, 5000 + size))
        assert find_relative(store, part).overlap == 1.0
        with pytest.raises(InputError, match="budget"):
            enter_release(store, part, f"part of {size}", "2026", RELEASE, Budget(4.0))


RESPELLED = {
    "another case": lambda text: text.upper(),
    "a blank": lambda text: f"{text[:6]} {text[6:]}",
    "zeros in front": lambda text: f"00{text}",
}


@pytest.mark.parametrize("name", RESPELLED)
def test_ids_spelled_otherwise_and_fewer_links_are_the_same_lineage(store, graph, name):
    kind = (lambda node: node) if name == "zeros in front" else (lambda node: f"person{node}")
    first = replace(graph, node_ids=tuple(map(kind, graph.node_ids)))
    kept = first.edges[np.random.default_rng(0).random(first.num_edges) > 0.05]
    ids = tuple(map(RESPELLED[name], first.node_ids))
    copy = replace(first.with_edges(kept).with_columns(()), node_ids=ids)
    enter_release(store, first, "first", "2026", RELEASE, Budget(4.0))
    assert find_relative(store, copy).overlap == 1.0
    with pytest.raises(InputError, match="budget"):
        enter_release(store, copy, "second", "2026", RELEASE, Budget(4.0))


@pytest.mark.parametrize(("links", "is_known"), [(8, True), (7, False)])
def test_eight_links_by_numbers_are_no_chance_in_a_sparse_graph(store, links, is_known):
    pairs = np.random.default_rng(0).integers(0, 3000, (6000, 2))
    enter_release(store, Graph.from_pairs(pairs, 3000), "whole", "2026", RELEASE, None)
    part = Graph.from_pairs(pairs[:links], 3000)
    part = part.subgraph(np.flatnonzero(part.degrees))
    assert (find_relative(store, part) is not None) == is_known


def test_eight_links_by_numbers_may_be_chance_in_a_dense_graph(store):
    pairs = np.stack(np.triu_indices(20, 1), axis=1)
    dense = Graph.from_pairs(pairs[np.random.default_rng(0).permutation(190)[:120]], 20)
    enter_release(store, dense, "whole", "2026", RELEASE, None)
    part = Graph.from_pairs(dense.edges[:8], 20)
    assert find_relative(store, part.subgraph(np.flatnonzero(part.degrees))) is None


def test_a_lineage_of_an_older_ledger_is_joined(store, graph):
    graph = format_nodes(graph)
    enter_release(store, graph, "first", "2026", RELEASE, Budget(4.0))
    kept = sketch_graph(graph)
    old = {
        part: {"count": found.count, "hashes": found.hashes.astype("<u8").tobytes().hex()}
        for part in ("nodes", "links")
        for found in [getattr(kept, part)]
    }
    with store.write() as connection:
        connection.execute(sa.update(LineageRow).values(sketch={"is_named": True, **old}))
    assert find_relative(store, VARIANTS["a link more"](graph)).part in ("nodes", "links")


def test_other_data_with_the_same_numbers_for_people_is_counted_apart(store, graph):
    enter_release(store, graph, "first", "2026", RELEASE, None)
    other = planted_partition(7)
    assert set(other.node_ids) == set(graph.node_ids)
    assert find_relative(store, other) is None
    enter_release(store, other, "second", "2026", RELEASE, Budget(4.0))
    assert len(list_entries(store, other)) == len(list_entries(store, graph)) == 1


def test_a_graph_that_two_lineages_share_makes_them_one(store, graph):
    graph = format_nodes(graph)
    halves = [graph.subgraph(np.arange(20)), graph.subgraph(np.arange(20, 40))]
    for number, half in enumerate(halves):
        enter_release(store, half, f"half {number}", "2026", RELEASE, Budget(4.0))
    with pytest.raises(InputError, match="ε = 9 after this run"):
        enter_release(store, graph, "whole", "2026", RELEASE, Budget(8.0))
    enter_release(store, graph, "whole", "2026", RELEASE, Budget(9.0))
    assert len(list_entries(store, halves[0])) == 3


def test_only_a_named_lineage_joins_what_no_likeness_does_and_naming_splits_nothing(store, graph):
    other = planted_partition(7)
    enter_release(store, graph, "a", "2026", RELEASE, None, lineage="survey")
    with pytest.raises(InputError, match="budget"):
        enter_release(store, other, "b", "2026", RELEASE, Budget(4.0), lineage="survey")
    enter_release(store, other, "b", "2026", RELEASE, None, lineage="survey")
    enter_release(store, graph, "c", "2026", RELEASE, None, lineage="a fresh name")
    assert len(list_entries(store, other)) == len(list_entries(store, graph)) == 3


def test_an_approver_sets_a_graph_apart_on_the_record(store, graph):
    graph = format_nodes(graph)
    edited = VARIANTS["a link more"](graph)
    enter_release(store, graph, "a", "2026", RELEASE, None)
    with pytest.raises(InputError, match="say why"):
        assign_lineage(store, edited, "apart", "i eve", " ")
    assign_lineage(store, edited, "apart", "i eve", "it is synthetic")
    enter_release(store, edited, "b", "2026", RELEASE, Budget(4.0))
    assert len(list_entries(store, edited)) == 1
    with store.read() as connection:
        rows = connection.exec_driver_sql("SELECT person, reason FROM lineages").all()
    assert ("i eve", "it is synthetic") in rows


@pytest.mark.parametrize(
    "statement", [sa.update(LedgerRow).values(epsilon=0.0), sa.delete(LedgerRow)]
)
def test_what_was_entered_stays_whatever_is_done_to_it(store, graph, statement):
    enter_release(store, graph, "a", "2026", RELEASE, None)
    with pytest.raises(sa.exc.DBAPIError, match="append-only"), store.write() as connection:
        connection.execute(statement)
    with store.read() as connection:
        (row,) = connection.execute(sa.select(LedgerRow.__table__)).mappings()
    again = sa.insert(LedgerRow).prefix_with("OR REPLACE", dialect="sqlite")
    with pytest.raises(sa.exc.IntegrityError), store.write() as connection:
        connection.execute(again.values({**row, "epsilon": 0.0}))
    assert [entry.epsilon for entry in list_entries(store, graph)] == [3.0]


def test_a_run_is_of_the_audit_that_it_was_made_as(store, graph, make_spec):
    """Whatever else is published with an audit's id is not what its decision is about."""
    store.save_graph(graph)
    spec = make_spec(attacks=[], publish_columns=(), defenses=[{"key": "random_deletion"}])
    store.add_audit("a", "a", spec, plan_audit(PreparedAudit.build(spec, graph)), {})
    own = PublishSpec.of_audit(spec, spec.defenses[0], 5.0)
    stronger = MethodChoice.parse("random_deletion:strength=0.9")
    cases = [
        ("a", own.model_copy(update={"budget": None, "lineage": "of people"}), "a"),
        ("a", PublishSpec.model_validate(own.model_dump(mode="json")), "a"),
        (None, own, ""),
        ("deleted", own, ""),
        ("a", own.update(publish_columns=("private",)), ""),
        ("a", own.update(publish_columns=None), ""),
        ("a", own.model_copy(update={"defense": stronger}), ""),
        ("a", own.model_copy(update={"publisher_knows": "none"}), ""),
    ]
    for audit_id, run, expected in cases:
        assert _find_own_audit(store, run, audit_id) == expected
    free = own.model_copy(update={"budget": None})
    for key, run in (("k0", free), ("k1", free.update(publish_columns=None))):
        PublishJobs.compute(run, JobContext(store, key, "a", Progress()))
    assert {e.run: e.audit_id for e in list_entries(store, graph)} == {"k0": "a", "k1": ""}
    enter_publishing(store, graph, free, publish_release(graph, free), "by command")
    assert list_entries(store, graph)[-1].audit_id == ""


def test_runs_of_a_store_of_before_are_of_no_audit(tmp_path, graph):
    store = Store(tmp_path)
    enter_release(store, graph, "old", "2026-01-01", RELEASE, None, audit_id="a")
    with store.write() as connection:
        allow_changes(LedgerRow.__table__, connection)
        connection.execute(sa.text("ALTER TABLE ledger DROP COLUMN audit_id"))
        before = sa.Table("ledger", sa.MetaData(), autoload_with=connection)
        refuse_changes(before, connection)
        connection.execute(sa.text("UPDATE alembic_version SET version_num = '0004'"))
    store.close()
    store = Store(tmp_path)
    enter_release(store, graph, "new", "2026-01-02", RELEASE, None, audit_id="a")
    entries = list_entries(store, graph)
    assert [(e.run, e.audit_id) for e in entries] == [("old", ""), ("new", "a")]
    for values in ({"audit_id": "a"}, {"epsilon": 0.0}):
        change = sa.update(LedgerRow).values(values)
        with pytest.raises(sa.exc.DBAPIError, match="append-only"), store.write() as connection:
            connection.execute(change)
    store.close()


def test_the_command_counts_reordered_and_edited_files_together(audit_home, tmp_path, capsys):
    rows = ["source,target", *(f"p{i},p{(i * 7 + 3) % 40}" for i in range(40))]
    files = {"g1": rows, "reversed": [rows[0], *reversed(rows[1:])], "edited": [*rows, "p1,p39"]}
    for name, lines in files.items():
        path = tmp_path / f"{name}.csv"
        path.write_text("\n".join(lines))
        parts = ["publish", "--graph", str(path), "--defense", "edge_rand:epsilon=6"]
        code = command.main([*parts, "--budget", "7", "--out", str(tmp_path / name / "out.csv")])
        assert code == (0 if name == "g1" else 2), name
        message = capsys.readouterr().err
        assert ("count together" in message) == (name == "edited")
    apart = ["--assign", "other", "--reason", "another network"]
    assert command.main(["ledger", "--graph", str(tmp_path / "edited.csv"), *apart]) == 0
    assert "nothing of this graph was published" in capsys.readouterr().out
    assert command.main([*parts, "--budget", "7", "--out", str(tmp_path / "out.csv")]) == 0
    assert command.main(["trail"]) == 0
    assert "assign lineage" in capsys.readouterr().out


@pytest.mark.xdist_group("audit cluster")
def test_runs_of_the_app_share_the_ledger_and_obey_its_budget(service, graph):
    spec = PublishSpec(
        graph_hash=graph.content_hash, defense=MethodChoice.parse(EDGE_RAND), budget=4.0
    )
    runs = []
    for _ in range(2):
        run_id = service.start_publish(spec)
        wait_for(lambda run_id=run_id: not service.get_publish(run_id).is_active)
        runs.append(service.get_publish(run_id))
    assert runs[0].release is not None
    assert runs[0].provenance["published_so_far"]["totals"][0]["epsilon"] == 3.0
    assert (runs[1].state, runs[1].release) == ("failed", None)
    assert "would be exceeded" in runs[1].reason
    service.get_publish(runs[0].id)  # a second download
    entries = list_entries(service._store, graph)
    assert [entry.run for entry in entries] == [runs[0].id]


def test_fifteen_runs_with_a_large_delta_do_not_fit_a_budget(audit_home, tmp_path, capsys):
    defense = "gap:epsilon=1,delta=0.01,dimensions=8"
    budget = ["--budget", "99"]
    codes = [publish(tmp_path / f"r{n}.csv", *budget, defense=defense) for n in range(3)]
    assert codes == [0, 0, 2]
    assert (
        "budget of δ = 0.0294118 would be exceeded; got δ = 0.03 after" in capsys.readouterr().err
    )
    assert publish(tmp_path / "r.csv", "--budget", "99,0.5", defense=defense) == 2
    assert "δ of the budget must be at most 1/34" in capsys.readouterr().err


@pytest.mark.parametrize("budget", ["0", "-1", "x"])
def test_a_budget_is_a_number_above_zero(audit_home, tmp_path, capsys, budget):
    assert publish(tmp_path / "r.csv", "--budget", budget) == 2
    assert "budget" in capsys.readouterr().err


def test_a_publishing_run_draws_from_the_operating_system(graph, monkeypatch):
    """Who knew the seed of its noise could take the noise away again."""
    seeds = []

    def record(defense, graph, threats, context):
        seeds.append(context.seed)
        return publish_edge_rand(defense, graph, threats, context)

    publish_edge_rand = EdgeRand.publish
    monkeypatch.setattr(EdgeRand, "publish", record)
    spec = PublishSpec(graph_hash=graph.content_hash, defense=MethodChoice.parse(EDGE_RAND))
    releases = [publish_release(graph, spec) for _ in range(2)]
    assert all(seed.is_secret for seed in seeds)
    assert len({seed.root for seed in seeds}) == 2
    assert releases[0].graph.content_hash != releases[1].graph.content_hash
