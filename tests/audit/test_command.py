"""The command line that scripts rely on."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest

import core.cli.main as command
from core.audit.asked.method_choice import MethodChoice
from core.audit.asked.parts import PARTS
from core.audit.asked.spec import AuditSpec
from core.audit.results.export import SCENARIO_COLUMNS
from core.audit.results.node_risks import NODE_COLUMNS
from core.audit.results.view import RESULT_COLUMNS
from core.audit.service import AuditService
from core.audit.store.database import Store
from core.cli import listing
from core.cli.arguments import load_input, split_private
from core.cli.audit_spec import build_spec
from core.data.catalogue import load_dataset
from core.data.readers import load_graph
from core.defenses.command import Command
from core.registry import list_methods
from tests.inline import run_inline
from tests.oracles.broken import make_half_noise

USUAL = [name for name, part in PARTS.items() if part.is_usual]

ROOT = Path(__file__).parents[2]
QUICK = ["--graph", "karate", "--attack", "common_neighbors", "--repeats", "1"]


def list_finished():
    """(audit, cell, when) of every cell of the store in AUDIT_HOME."""
    store = Store()
    audits = [row.id for row in store.list_audits()]
    cells = [(a, row.key, row.finished) for a in audits for row in store.list_cells(a)]
    store.close()
    return sorted(cells)


def run(*arguments, capsys):
    code = command.main([str(a) for a in arguments])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_methods_are_listed_with_their_settings(capsys):
    code, out, _ = run("methods", "--json", capsys=capsys)
    methods = {(m["kind"], m["key"]): m for m in json.loads(out)}
    assert code == 0
    deletion = methods["defense", "random_deletion"]
    assert set(deletion) >= {"kind", "key", "title", "source", "parameters"}
    assert deletion["parameters"]["properties"]["strength"]["maximum"] == 1


@pytest.fixture
def nodes_file(tmp_path):
    (tmp_path / "links.csv").write_text("a,b\n1,2\n2,3\n3,4\n4,1\n")
    path = tmp_path / "nodes.csv"
    path.write_text("id,country\n1,7\n2,8\n3,7\n4,-1\n")
    return path


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ([], "COMMAND"),
        (["audit", *QUICK], "--out"),
        (["audit", *QUICK, "--repeats", "0", "--out", "OUT"], "--repeats must be"),
        (["audit", *QUICK, "--repeats", "many", "--out", "OUT"], "many"),
        (["audit", *QUICK, "--hide-links", "1.5", "--out", "OUT"], "--hide-links must be"),
        (["audit", *QUICK, "--hide-links", "0", "--out", "OUT"], "--hide-links must be"),
        (["audit", *QUICK, "--private", "nope", "--hide-links", "--out", "OUT"], "nope"),
        (["audit", *QUICK, "--private", "label", "--out", "OUT"], "--hide-links"),
        (["audit", *QUICK, "--attack", "nope", "--out", "OUT"], "nope"),
        (["audit", *QUICK, "--attack", "class_prior", "--out", "OUT"], "--private"),
        (["audit", *QUICK, "--attack", "gae_cosine:epochs=0", "--out", "OUT"], "epochs"),
        (["audit", *QUICK, "--attack", "gae_cosine:epochs", "--out", "OUT"], "name=value"),
        (["audit", *QUICK, "--defense", "random_deletion:strength=2", "--out", "OUT"], "strength"),
        (["audit", "--graph", "karate", "--out", "OUT"], "attack"),
        (["audit", "--graph", "nowhere.csv", "--attack", "all", "--out", "OUT"], "nowhere.csv"),
        (["audit", "--attack", "all", "--out", "OUT"], "--graph"),
        (["audit", "--spec", "SPEC", "--out", "OUT"], "spec"),
        (["audit", *QUICK, "--out", "FILE"], "output folder"),
        (["check-claim", "--defense", "random_deletion"], "differential privacy"),
        (["check-claim", "--defense", "edge_rand", "--trials", "9"], "at least 40"),
        (["publish", "--graph", "karate", "--defense", "nope", "--out", "OUT/a.csv"], "nope"),
        (["publish", "--graph", "karate", "--defense", "edge_rand", "--out", "OUT/a.exe"], ".csv"),
    ],
)
def test_bad_input_is_one_line_and_exit_two(audit_home, tmp_path, capsys, arguments, text):
    (tmp_path / "spec.json").write_text("[1")
    names = {"OUT": tmp_path / "out", "SPEC": tmp_path / "spec.json"}
    if "FILE" in arguments:
        (tmp_path / "file").touch()
        names["FILE"] = tmp_path / "file"
    code, out, err = run(*[names.get(a, a) for a in arguments], capsys=capsys)
    assert (code, out) == (2, "")
    assert len(err.splitlines()) == 1
    assert err.startswith("error: ")
    assert text in err


def test_a_fault_of_ours_is_one_line_too(audit_home, tmp_path, capsys, monkeypatch):
    def fail(options):
        raise KeyError("x")

    monkeypatch.setattr(listing, "run_methods", fail)
    code, _, err = run("methods", capsys=capsys)
    assert (code, err) == (1, "error: internal error; KeyError: 'x'; AUDIT_DEBUG=1 shows where\n")


def test_a_marker_that_looks_like_unknown_is_pointed_out(audit_home, tmp_path, nodes_file):
    arguments = [
        "audit",
        "--graph",
        tmp_path / "links.csv",
        "--nodes",
        nodes_file,
        "--id",
        "id",
        "--private",
        "country",
        "--attack",
        "nope",
        "--out",
        tmp_path / "out",
    ]
    options = command.build_parser().parse_args([str(a) for a in arguments])
    split_private(options)
    said: list[str] = []
    loaded = load_input(options, said.append)
    assert any("'-1' (" in text and "--unknown=-1." in text for text in said)
    assert loaded.graph.attributes["country"].classes == ("-1", "7", "8")
    said.clear()
    options.unknown = ["-1"]
    assert load_input(options, said.append).graph.attributes["country"].classes == ("7", "8")
    assert not any("may mean unknown" in text for text in said)


@pytest.mark.xdist_group("audit cluster")
def test_an_audit_and_its_repetition(audit_home, tmp_path, capsys):
    """The numbers are those of a run in one process; the second run computes nothing."""
    arguments = [
        "audit",
        "--graph",
        "karate",
        "--private",
        "label",
        "--hide-links",
        "0.1",
        "--known",
        "0.2",
        "--attack",
        "common_neighbors",
        "--attack",
        "class_prior",
        "--defense",
        "random_deletion:strength=0.1",
        "--defense",
        "random_deletion:strength=0.3",
        "--repeats",
        "2",
        "--test-links",
        "0",
        "--out",
    ]
    code, out, err = run(*arguments, tmp_path / "a", capsys=capsys)
    assert (code, out) == (0, "")
    methods = [*list_methods("link_attack"), *list_methods("attribute_attack")]
    attackers = {"common_neighbors"} | {m.info.key for m in methods if m.info.is_baseline}
    assert f"{2 * (2 + 3 * (len(attackers) + len(USUAL)))} parts, 0 failed" in err
    before = list_finished()
    assert run(*arguments, tmp_path / "b", capsys=capsys)[0] == 0
    assert list_finished() == before  # nothing was computed again
    first, second = (json.loads((tmp_path / x / "audit.json").read_text()) for x in "ab")
    assert json.dumps(first["results"]) == json.dumps(second["results"])
    assert tuple(first["results"][0]) == (*RESULT_COLUMNS, *SCENARIO_COLUMNS)
    assert {row["release"] for row in first["results"]} == {
        "original",
        "random_deletion:strength=0.1",
        "random_deletion",
    }
    spec = AuditSpec.check_spec(first["spec"])
    inline = run_inline(spec, load_dataset("karate").graph, tmp_path / "inline")
    for row in first["results"]:
        estimate = inline.estimate(row["release"], row["method"], row["metric"])
        assert (estimate.value, estimate.low) == (row["value"], row["low"])
    nodes = pd.read_parquet(tmp_path / "a" / "nodes.parquet")
    assert tuple(nodes) == (*NODE_COLUMNS, "base", "threat", "target", "knowledge")
    assert nodes.risk.between(0, 1).all()
    files = {path.name for path in (tmp_path / "a" / "releases").iterdir()}
    assert {"random_deletion.csv", "random_deletion_strength=0.1.csv"} <= files

    code, _, _ = run(
        "audit", "--spec", tmp_path / "a" / "audit.json", "--out", tmp_path / "c", capsys=capsys
    )
    third = json.loads((tmp_path / "c" / "audit.json").read_text())
    assert (code, third["results"]) == (0, first["results"])


def test_an_audit_that_is_stored_imports_only_what_reads_it(audit_home, tmp_path):
    graph, attacks = load_dataset("karate").graph, [{"key": "common_neighbors"}]
    fields = {"hide_links": 0.1, "attacks": attacks, "num_repeats": 2}
    spec = AuditSpec.check_spec({"graph_hash": graph.content_hash, **fields})
    run_inline(spec, graph, audit_home)
    (tmp_path / "spec.json").write_text(spec.model_dump_json())
    given = ["audit", "--spec", str(tmp_path / "spec.json"), "--out", str(tmp_path / "out")]
    code = f"""
import sys
from core.cli.main import main
code = main({given})
heavy = {{"distributed", "matplotlib", "networkx", "scipy.stats", "sklearn", "torch"}}
print(code, *heavy & set(sys.modules))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["0"]
    assert len(json.loads((tmp_path / "out" / "audit.json").read_text())["results"])


@pytest.mark.xdist_group("audit cluster")
def test_interrupting_cancels_and_says_how_to_go_on(audit_home, tmp_path):
    # Many repeats: the audit must not be over before the signal arrives.
    arguments = [
        "audit",
        *QUICK,
        "--repeats",
        "4",
        "--attack",
        "gae_cosine:epochs=5000",
        "--out",
        tmp_path / "out",
    ]
    process = subprocess.Popen(
        [sys.executable, "-m", "core", *map(str, arguments)],
        cwd=ROOT,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "AUDIT_HOME": str(audit_home)},
        # A shell's background job ignores interrupts and hands that down.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    store = Store(audit_home)
    end = time.monotonic() + 300
    while time.monotonic() < end:
        audits = store.list_audits()
        if audits and any(r.progress > 0 for r in store.list_running(audits[0].id)):
            break
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 130
    assert "Traceback" not in err
    assert "run the same command again to resume" in err.splitlines()[-1]
    assert store.list_audits()[0].state == "cancelled"
    store.close()


def test_a_claim_is_checked_and_a_broken_one_is_the_exit_code(tmp_path, capsys, monkeypatch):
    path = tmp_path / "out" / "check.json"
    arguments = ["check-claim", "--defense", "edge_rand:epsilon=1", "--trials"]
    code, out, err = run(*arguments, 200, "--out", path, capsys=capsys)
    check = json.loads(path.read_text())
    assert (code, out) == (0, "")
    assert err.splitlines()[-1] == check["verdict"]
    assert 0 <= check["lower_bound"] <= check["claimed"] == 1
    sound = MethodChoice.make
    monkeypatch.setattr(MethodChoice, "make", lambda *args: make_half_noise(sound(*args)))
    code, _, err = run(*arguments, 800, capsys=capsys)
    assert code == 1
    assert "does not hold" in err.splitlines()[-1]


@pytest.mark.xdist_group("audit cluster")
def test_an_audit_adds_twins_and_checks_the_claims_of_its_releases(audit_home, tmp_path, capsys):
    arguments = [
        "audit",
        *QUICK,
        "--defense",
        "gap:epsilon=1,dimensions=4,hops=1",
        "--test-links",
        "0",
        "--check-claims",
        "100",
        "--out",
        tmp_path / "a",
    ]
    options = command.build_parser().parse_args(list(map(str, arguments)))
    service = AuditService(audit_home)
    spec = build_spec(options, service)
    options.no_data_independent = True
    assert build_spec(options, service).defenses == spec.defenses[:1]
    service.close()
    run_inline(spec, load_dataset("karate").graph, audit_home)  # no worker needs to load torch
    code, _, err = run(*arguments, capsys=capsys)
    assert code == 0
    described = json.loads((tmp_path / "a" / "audit.json").read_text())
    releases = list(described["guarantees"])
    assert len(releases) == 2
    assert "data_free=True" in releases[1]
    (check,) = described["claim_checks"]  # of what may be published: not of the twin
    assert (check["release"], check["trials"]) == (releases[0], 100)
    assert sum("not refuted" in line for line in err.splitlines()) == 1


def test_publishing_writes_a_release_and_its_provenance(audit_home, tmp_path, capsys):
    path = tmp_path / "out" / "release.csv"
    code, _, err = run(
        "publish",
        "--graph",
        "karate",
        "--private",
        "label",
        "--defense",
        "random_deletion:strength=0.5",
        "--out",
        path,
        capsys=capsys,
    )
    assert code == 0
    assert "39 links, empirical only" in err
    assert len(pd.read_csv(path)) == 39
    provenance = (path.parent / "release.provenance.json").read_text()
    assert "operating-system entropy" in provenance
    assert "label" not in pd.read_csv(path.parent / "release.nodes.csv").columns
    assert not list(audit_home.glob("audits/*"))


def test_published_files_do_not_repeat_a_command_line(audit_home, tmp_path, capsys):
    """It may hold paths and passwords of the publisher."""
    program = tmp_path / "copy_links.py"
    program.write_text("import shutil, sys\nshutil.copy(sys.argv[1], sys.argv[2])\n")
    line = f"command:python {program} {{in}} {{out}} --password hunter2"
    out = tmp_path / "out" / "r.csv"
    code, _, _ = run("publish", "--graph", "karate", "--defense", line, "--out", out, capsys=capsys)
    assert code == 0
    written = "".join(path.read_text() for path in out.parent.iterdir())
    assert "A command of the user made it" in written
    digest = Command(line=line.removeprefix("command:")).identify().program
    assert [word for word in ("hunter2", str(tmp_path), digest) if word in written] == []


def test_columns_leave_by_one_rule_which_is_said_before_the_ledger_is_charged(
    audit_home, tmp_path, capsys
):
    """Numbers left with every NPZ file, unasked; it was said when the release was made."""
    rows = "".join(f"p{i},{3000 + i * i}\n" for i in range(60))
    (tmp_path / "people.csv").write_text("id,salary\n" + rows)
    links = "".join(f"p{i},p{(i + step) % 60}\n" for i in range(60) for step in (1, 5))
    (tmp_path / "links.csv").write_text("source,target\n" + links)
    files = ["--graph", tmp_path / "links.csv", "--nodes", tmp_path / "people.csv"]
    for suffix in ("csv", "npz", "pt"):
        for options in ([], ["--publish-columns", "salary"]):
            out = tmp_path / f"{suffix}{len(options)}" / f"r.{suffix}"
            method = ["--defense", "random_deletion", "--pseudonyms", *options, "--out", out]
            code, _, told = run("publish", *files, *method, capsys=capsys)
            assert code == 0, told
            named = "Published with the links: salary. No other column is."
            assert (named if options else "No column is published with the links.") in told
            nodes = out.parent / "r.nodes.csv" if suffix == "csv" else None
            graph = load_graph(out, nodes_path=nodes).graph
            assert len(graph.feature_names) == bool(options), suffix
            assert not graph.attributes
    ids = set(pd.read_csv(tmp_path / "csv0" / "r.nodes.csv").id)
    assert ids == {f"n{i}" for i in range(1, 61)}
    private = ["--defense", "edge_rand:epsilon=6", "--budget", "1", "--publish-columns", "salary"]
    code, _, told = run("publish", *files, *private, "--out", tmp_path / "b.npz", capsys=capsys)
    assert code != 0
    assert "budget" in told.split("Published with the links: salary. No other column is.")[1]


def test_provenance_of_a_private_release_holds_nothing_of_the_original(
    audit_home, tmp_path, capsys
):
    """Exact counts or a hash of the original would tell neighbouring graphs apart."""
    path = tmp_path / "release.csv"
    code, _, _ = run(
        "publish",
        "--graph",
        "karate",
        "--private",
        "label",
        "--defense",
        "edge_rand:epsilon=3",
        "--out",
        path,
        capsys=capsys,
    )
    assert code == 0
    text = (tmp_path / "release.provenance.json").read_text()
    assert load_dataset("karate").graph.content_hash not in text
    assert json.loads(text).get("facts", {}) == {}
