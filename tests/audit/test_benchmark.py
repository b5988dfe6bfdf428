"""Benchmarks: an audit a graph, gathered in one table."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from core.audit.computing.plan import plan_audit
from core.audit.computing.prepared import PreparedAudit
from core.audit.results.benchmark import (
    BUILT_IN,
    QUICK_GRAPHS,
    TABLE_COLUMNS,
    BenchmarkSpec,
    gather_results,
    make_audit,
    make_quick,
    shrink,
)
from core.audit.store.database import Store
from core.cli.main import main
from core.data.catalogue import load_dataset
from core.errors import InputError
from core.measures.metrics import QUERIES
from core.methods import ATTACK_KINDS
from core.registry import find_method, list_methods
from core.results import RELEASE
from tests.audit.test_cluster import start
from tests.audit.test_command import list_finished
from tests.inline import run_inline
from tests.oracles.graphs import two_communities

ROOT = Path(__file__).parents[2]
SMALL = ["benchmark", "audit", "--graphs", "karate", "--methods", "common_neighbors"]
SMALL += ["--methods", "random_deletion", "--quick"]


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"graph": ["karate"]}, "benchmark field 'graph'"),
        ({"defenses": ["nope"]}, "nope"),
        ({"defenses": ["edge_rand"], "attacks": ["edge_rand"]}, "edge_rand"),
        ({"attacks": ["all"]}, "must name a defense"),
        ({"defenses": ["edge_rand"], "epsilon": [-1]}, "epsilon"),
        ({"defenses": ["edge_rand"], "num_repeats": 0}, "num_repeats"),
        ({"defenses": ["all"], "at_most": {"epochs": 0}}, "epochs"),
    ],
)
def test_what_is_wrong_is_named(fields, text):
    with pytest.raises(InputError, match=text):
        BenchmarkSpec.check(fields)


def test_every_defense_with_a_budget_is_run_with_each():
    fields = {"defenses": ["random_deletion", "edge_rand", "dgg:epsilon=3"], "epsilon": [1, 2]}
    ids = [choice.id for choice in BenchmarkSpec.check(fields).list_defenses()]
    assert ids == [
        *("random_deletion", "edge_rand:epsilon=1.0", "edge_rand:epsilon=2.0"),
        *("dgg:epsilon=1.0", "dgg:epsilon=1.0,data_free=True"),
        *("dgg:epsilon=2.0", "dgg:epsilon=2.0,data_free=True"),
    ]
    bare = BenchmarkSpec.check({**fields, "data_independent": False})
    assert [choice.id for choice in bare.list_defenses()] == [i for i in ids if "free" not in i]


def test_settings_are_lowered_and_never_raised():
    fields = {"attacks": ["gae_cosine", "gae_svc:epochs=9", "gcn"], "defenses": ["all"]}
    spec = BenchmarkSpec.check({**fields, "at_most": {"epochs": 90, "folds": 99}})
    epochs = [choice.config["epochs"] for choice in spec.list_attacks()]
    assert epochs == [90, 9, 90]
    assert spec.list_attacks()[2].config["folds"] == 3


def test_the_quick_benchmark_has_every_attack_and_defense_once():
    quick = make_quick(BUILT_IN["audit"])
    assert (quick.graphs, quick.num_repeats) == (QUICK_GRAPHS, 1)
    attacks = {m.info.key for kind in ATTACK_KINDS for m in list_methods(kind)}
    assert {choice.key for choice in quick.list_attacks()} == attacks
    assert len(quick.list_attacks()) == len(attacks)
    (best,) = (c for c in quick.list_attacks() if c.key == "best_single")
    assert best.config["members"] == "label_propagation+attri_infer"
    assert [c.key for c in quick.list_defenses()] == [m.info.key for m in list_methods("defense")]


def test_pgb_measures_its_queries_alone(tmp_path):
    spec = BUILT_IN["pgb"].model_copy(update={"num_repeats": 1, "epsilon": (1.0,)})
    graph = two_communities()
    table = gather_results([run_inline(make_audit(spec, graph), graph, tmp_path)])
    assert set(table.method) == {RELEASE}
    assert len(set(table.release)) == 8
    assert {f"mre_{name}" for name in QUERIES} <= set(table.metric)
    assert {"mre_triangle_count", "mre_average_clustering", "degree_kl"} <= set(table.metric)
    told = table[table.metric == "community_nmi"].set_index("defense").status
    made = told.index.difference(["original"])
    moved = {key for key in made if not find_method(key, "defense")().keeps_nodes}
    assert moved == {"dp_1k", "dp_2k", "priv_skg"}
    assert set(told[[*moved]]) == {"skipped"}
    assert set(told.drop([*moved])) == {"done"}


def test_of_a_large_graph_a_walk_samples_nodes_of_every_part():
    spec = BenchmarkSpec.check({"defenses": ["edge_rand"], "max_nodes": 100})
    graph = load_dataset("social").graph
    small = shrink(spec, graph)
    assert (small.num_nodes, small.name) == (100, "social, 100 nodes")
    assert shrink(spec, graph).content_hash == small.content_hash
    at_random = graph.num_edges * (100 / 1000) ** 2  # links between nodes drawn at random
    assert small.num_edges > 1.5 * at_random
    codes = small.column("affiliation").codes
    assert len(np.unique(codes)) == len(graph.column("affiliation").classes)
    assert shrink(spec.model_copy(update={"max_nodes": 1000}), graph) is graph


def test_threats_that_a_graph_has_no_column_for_are_left_out():
    spec = BUILT_IN["audit"]
    graph = two_communities()
    threats = make_audit(spec, graph).threats
    assert (threats.private, threats.hide_links) == ("private", 0.1)
    assert make_audit(spec, graph).disclosure.utility == "label"
    without = make_audit(spec, graph.update_columns(attributes={}))
    kinds = {choice.make(*ATTACK_KINDS).kind for choice in without.attacks}
    assert without.threats.private is None
    assert kinds == {"link_attack", "identity_attack"}


def test_ten_graphs_with_all_defenses_are_planned():
    spec = make_quick(BUILT_IN["audit"])
    for seed in range(10):
        graph = two_communities(seed=seed)
        audit = PreparedAudit.build(make_audit(spec, graph), graph)
        cells = plan_audit(audit)
        assert sum(cell.kind == "publish" for cell in cells) == len(list_methods("defense"))


def test_results_of_several_graphs_are_one_table(tmp_path):
    fields = {"attacks": ["common_neighbors"], "defenses": ["edge_rand"], "epsilon": [2]}
    spec = BenchmarkSpec.check({**fields, "num_repeats": 1, "audit": {"hide_links": 0.1}})
    graphs = [two_communities(seed=seed) for seed in (0, 1)]
    views = [run_inline(make_audit(spec, graph), graph, tmp_path) for graph in graphs]
    table = gather_results(views)
    assert tuple(table) == (*TABLE_COLUMNS, "attack", "made")
    assert len(table) == sum(len(view.results) for view in views)
    released = table[table.release != "original"]
    assert set(released.guarantee) == {"edge-DP, ε = 2"}
    assert set(released.epsilon) == {2.0}
    assert json.loads(released.config.iloc[0]) == {"epsilon": 2.0}
    assert table[table.release == "original"].epsilon.isna().all()
    mine = table[(table.num_edges == graphs[1].num_edges) & (table.metric == "auc")]
    known = views[1].estimate("edge_rand:epsilon=2.0", "common_neighbors", "auc")
    row = mine[mine.release == "edge_rand:epsilon=2.0"].iloc[0]
    assert (row.value, row.low, row.n) == (known.value, known.low, known.n)


@pytest.mark.xdist_group("audit cluster")
def test_a_benchmark_and_its_repetition(audit_home, tmp_path, capsys):
    out = tmp_path / "out"
    assert main([*SMALL, "--out", str(out)]) == 0
    files = {"results.csv", "results.parquet", "results.json", "summary.csv", "index.html"}
    assert {path.name for path in out.iterdir()} == files
    before = list_finished()
    first = (out / "results.csv").read_text()
    assert main([*SMALL, "--out", str(out)]) == 0
    assert list_finished() == before  # nothing was computed again
    assert (out / "results.csv").read_text() == first
    assert tuple(pd.read_parquet(out / "results.parquet")) == TABLE_COLUMNS
    content = json.loads((out / "results.json").read_text())
    assert BenchmarkSpec.check(content["spec"]).graphs == ("karate",)
    capsys.readouterr()
    again = ["benchmark", str(out / "results.json"), "--out", str(tmp_path / "again")]
    assert main(again) == 0  # what was written says what was run
    assert list_finished() == before


@pytest.mark.xdist_group("audit cluster")
def test_a_bad_file_ends_a_benchmark_before_its_first_audit(audit_home, tmp_path, capsys):
    (tmp_path / "bad.txt").write_text("1,2\n3,4,5,6\n")
    arguments = ["benchmark", "audit", "--quick", "--graphs", f"karate,{tmp_path / 'bad.txt'}"]
    assert main([*arguments, "--out", str(tmp_path / "out")]) != 0
    assert "bad.txt" in capsys.readouterr().err
    assert not list_finished()


@pytest.mark.nightly
@pytest.mark.xdist_group("audit cluster")
def test_a_killed_benchmark_resumes(audit_home, tmp_path):
    arguments = [*SMALL, "--methods", "gae_cosine:epochs=300", "--repeats", "3"]
    command = [sys.executable, "-m", "core", *arguments, "--out", str(tmp_path)]
    environment = {**os.environ, "AUDIT_HOME": str(audit_home), "AUDIT_WORKERS": "1"}
    process = subprocess.Popen(
        command, cwd=ROOT, env=environment, stderr=subprocess.DEVNULL, start_new_session=True
    )
    store = Store(audit_home)
    end = time.monotonic() + 300
    while time.monotonic() < end:
        audits = store.list_audits()
        if audits and sum(cell.state == "done" for cell in store.list_cells(audits[0].id)) > 5:
            break
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait(30)
    (audit,) = store.list_audits()
    done = {c.key: c.finished for c in store.list_cells(audit.id) if c.state == "done"}
    assert 0 < len(done) < len(store.list_cells(audit.id))
    assert main([*arguments, "--out", str(tmp_path)]) == 0
    (same,) = store.list_audits()
    assert same.id == audit.id
    now = {c.key: c.finished for c in store.list_cells(audit.id)}
    assert {key: now[key] for key in done} == done  # only what was missing was computed
    assert all(now.values())
    store.close()


@pytest.mark.nightly
@pytest.mark.xdist_group("audit cluster")
def test_a_benchmark_on_a_cluster_of_two_workers(audit_home, tmp_path, monkeypatch):
    for number in range(2):
        edges = two_communities(seed=number).edges
        (tmp_path / f"g{number}.csv").write_text("\n".join(f"{a},{b}" for a, b in edges))
    spec = {"attacks": ["common_neighbors"], "defenses": ["random_deletion", "edge_rand"]}
    fields = {**spec, "num_repeats": 1, "audit": {"hide_links": 0.1, "test_links": 0.0}}
    (tmp_path / "spec.json").write_text(json.dumps(fields))
    scheduler, address = start(tmp_path, "scheduler", "scheduler", "--port", "0")
    workers = []
    try:
        for number in range(2):
            workers.append(start(tmp_path, f"worker{number}", "worker", address)[0])
        monkeypatch.setenv("AUDIT_SCHEDULER", address)
        graphs = ",".join(str(tmp_path / f"g{number}.csv") for number in range(2))
        out = tmp_path / "out"
        arguments = ["benchmark", str(tmp_path / "spec.json"), "--graphs", graphs]
        assert main([*arguments, "--out", str(out)]) == 0
        table = pd.read_csv(out / "results.csv")
        assert set(table.graph) == {"g0", "g1"}
        assert set(table.release) == {"original", "random_deletion", "edge_rand"}
    finally:
        for process in (*workers, scheduler):
            process.send_signal(signal.SIGTERM)
            assert process.wait(60) == 0
