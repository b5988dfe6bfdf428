"""`audit` and `publish` on links that do not fit one process, by files and by kills."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from core.cli.main import main
from core.cli.partitions import find_large
from core.graph import Graph
from core.partitioned.links import ONE_PROCESS
from tests.oracles.graphs import plant_blocks

ROOT = Path(__file__).parents[2]
AUDIT = [
    *("audit", "--graph", "links.txt", "--nodes", "nodes.csv", "--private", "side"),
    *("--hide-links", "0.2", "--attack", "quick", "--repeats", "2", "--policy", "partner"),
    *("--defense", "random_deletion:strength=0.5", "--defense", "edge_rand:epsilon=7"),
]


@pytest.fixture
def graph() -> Graph:
    return plant_blocks(np.repeat([0, 1], 100), np.array([[0.1, 0.006], [0.006, 0.1]]), seed=2)


@pytest.fixture
def files(graph, audit_home, tmp_path, monkeypatch) -> Path:
    """A folder with links of more than AUDIT_MAX_LINKS rows, and a node table."""
    monkeypatch.setenv("AUDIT_WORKERS", "1")
    monkeypatch.setenv("AUDIT_MAX_LINKS", "900")
    monkeypatch.chdir(tmp_path)
    np.savetxt("links.txt", graph.edges, "%d")
    column = ["left"] * 100 + ["right"] * 100
    pd.DataFrame({"id": range(200), "side": column, "age": range(200)}).to_csv("nodes.csv")
    return tmp_path


@pytest.mark.parametrize("form", ["csv", "parquet", "folder"])
@pytest.mark.parametrize("command", ["audit", "publish"])
def test_links_of_two_modes_are_not_merged(files, graph, capsys, form, command):
    table = pd.DataFrame(graph.edges, columns=["User ID", "item"])
    path = Path(f"ratings.{'csv' if form == 'folder' else form}")
    if form == "folder":
        path = Path("ratings")
        path.mkdir()
        np.savetxt(path / "a.txt", graph.edges, "%d")
        table.to_csv(path / "b.csv", index=False)
    elif form == "csv":
        table.to_csv(path, index=False)
    else:
        table.to_parquet(path)
    more = ["--defense", "random_deletion:strength=0.5", "--out", "out.csv"]
    more = more if command == "publish" else ["--attack", "quick", "--hide-links", "0.2"]
    assert main([command, "--graph", str(path), *more]) == 2
    said = capsys.readouterr().err
    assert "links in partitions must join nodes of one kind" in said
    assert "got columns 'User ID' and 'item'" in said
    assert "set AUDIT_MAX_LINKS above" in said
    assert not Path("out.csv").exists()


def test_the_engine_chooses_partitions_by_the_number_of_rows(files, graph, monkeypatch):
    found = find_large(Path("links.txt"))
    assert found is not None
    assert found[1:] == (200, graph.num_edges)
    monkeypatch.setenv("AUDIT_MAX_LINKS", str(graph.num_edges))
    assert find_large(Path("links.txt")) is None
    monkeypatch.setenv("AUDIT_MAX_LINKS", "1")
    Path("names.csv").write_text("source,target\nann,bob\nbob,carl\n")
    assert find_large(Path("names.csv")) is None
    folder = Path("folder")
    folder.mkdir()
    np.savetxt(folder / "part.txt", graph.edges, "%d")
    monkeypatch.setenv("AUDIT_MAX_LINKS", "1000000")
    assert find_large(folder) is not None


@pytest.mark.xdist_group("audit cluster")
def test_an_audit_with_decision_report_and_record(files, graph, capsys):
    assert main([*AUDIT, "--report", "--out", "out"]) == 3
    said = capsys.readouterr().err
    assert f"{graph.num_edges} links in {graph.num_edges * 15 // 900} partitions" in said
    assert "not read, and in no release: further columns of the links, such as weights" in said
    found = json.loads(Path("out/audit.json").read_text())
    assert set(found["verdict"]["releases"]) == {
        "original", "random_deletion:strength=0.5", "edge_rand:epsilon=7.0"
    }  # fmt: skip
    rows = pd.DataFrame(found["results"])
    auc = rows[(rows.metric == "auc") & (rows.status == "done")]
    assert set(auc.release) == set(found["verdict"]["releases"])
    assert {"adamic_adar", "label_propagation"} <= set(auc.method)
    assert (auc.low < auc.value).all()
    assert (auc.seeds == 2).all()
    left = rows[rows.reason == ONE_PROCESS]
    assert {"katz", "feature_regression"} & set(left.method)
    assert {"original"} < set(left.release)
    assert found["guarantees"]["edge_rand:epsilon=7.0"]["epsilon"] == 7
    for name in ("report.pdf", "report-external.pdf", "summary.pdf", "nodes.parquet"):
        assert (Path("out") / name).stat().st_size > 1000
    links = pd.read_csv("out/releases/random_deletion_strength=0.5.csv")
    kept = Graph.from_pairs(links.to_numpy(), 200)
    assert graph.contains_pairs(kept.edges).all()
    withheld = round(0.2 * graph.num_edges)
    assert kept.num_edges == round((graph.num_edges - withheld) / 2 - 0.1)


@pytest.mark.xdist_group("audit cluster")
def test_killed_and_resumed_it_keeps_what_was_done(files):
    links_alone = AUDIT[: AUDIT.index("--nodes")] + AUDIT[AUDIT.index("--hide-links") : -2]
    command = [sys.executable, "-m", "core", *links_alone, "--out", "out"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    first = subprocess.Popen(
        command, env=environment, stderr=subprocess.DEVNULL, start_new_session=True
    )
    deadline = time.monotonic() + 120
    while len(list_done()) < 6 and first.poll() is None and time.monotonic() < deadline:
        time.sleep(0.02)
    assert first.poll() is None, "it ended before it was killed"
    os.killpg(first.pid, signal.SIGKILL)
    first.wait()
    time.sleep(2)  # the cluster ends with its parent
    known = list_done()
    again = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=240)
    assert again.returncode == 3, again.stderr[-2000:]
    done = list_done()
    assert len(known) < len(done)
    assert known.items() <= done.items()
    folders = Path(os.environ["AUDIT_HOME"]).glob("graphs/*/.*")
    assert not list(folders)


def list_done() -> dict[str, str]:
    """Key → end of each finished cell."""
    path = Path(os.environ["AUDIT_HOME"]) / "audit.db"
    if not path.exists():
        return {}
    try:
        with sqlite3.connect(path, timeout=10) as database:
            return dict(database.execute("SELECT key, finished FROM jobs WHERE state = 'done'"))
    except sqlite3.OperationalError:  # not made yet
        return {}


def test_publishing_runs_are_entered_and_written(files, graph, capsys):
    publish = ["publish", "--graph", "links.txt"]
    assert main([*publish, "--defense", "edge_rand:epsilon=7", "--out", "out/noisy.csv"]) == 0
    assert "edge-DP, ε = 7" in capsys.readouterr().err
    noisy = Graph.from_pairs(pd.read_csv("out/noisy.csv").to_numpy(), 200)
    added = (~graph.contains_pairs(noisy.edges)).sum()
    flips = graph.num_pairs / (1 + np.exp(7))
    assert abs(added - flips) < 5 * np.sqrt(flips)
    record = json.loads(Path("out/noisy.provenance.json").read_text())
    assert record["release"]["num_edges"] == noisy.num_edges
    assert record["release"]["facts"] == {}
    assert "seed" not in json.dumps(record)
    assert main([*publish, "--defense", "edge_rand:epsilon=2", "--out", "out/more.csv"]) == 0
    assert main(["ledger", "--graph", "links.txt", "--json"]) == 0
    (total,) = json.loads(capsys.readouterr().out)["totals"]
    assert total["epsilon"] == 9
    deletion = [*publish, "--defense", "random_deletion:strength=0.5", "--pseudonyms"]
    assert main([*deletion, "--out", "out/half.parquet"]) == 0
    table = pd.read_parquet("out/half.parquet")
    assert len(table) == graph.num_edges - round(0.5 * graph.num_edges)
    names = {f"n{number + 1}" for number in range(200)}
    assert set(table.to_numpy().ravel()) <= names
    half = table.apply(lambda column: column.str[1:].astype(int) - 1).to_numpy()
    assert not graph.contains_pairs(half).all()  # other numbers
    assert sorted(half[:, 0].tolist()) == half[:, 0].tolist()  # rows tell of no old number
    ends = np.sort(np.bincount(half.ravel(), minlength=200))
    assert abs(ends.sum() - graph.degrees.sum() / 2) <= 2
    assert main([*publish, "--defense", "random_deletion", "--out", "out/d.graphml"]) == 2
    assert "links in partitions are .csv or .parquet" in capsys.readouterr().err
    keyed = ["--pseudonyms", "keyed:secret", "--domain", "clinic", "--out", "out/k.csv"]
    assert main([*publish, "--defense", "random_deletion", *keyed]) == 2
    assert ONE_PROCESS in capsys.readouterr().err
    assert main(["ledger", "--graph", "links.txt", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["entries"]) == 3  # none for the refused


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["--weight", "weight"], "--weight is for links that one process holds"),
        (["--private", "side"], "--private needs a node table"),
        (["--evaluation", "distance_2"], "--evaluation needs all links in one process"),
        (["--control", "0.2"], "--control needs all links in one process"),
    ],
)
def test_options_that_partitions_do_not_have(files, capsys, words, error):
    command = ["audit", "--graph", "links.txt", "--attack", "jaccard", "--hide-links", "0.1"]
    assert main([*command, *words, "--out", "out"]) == 2
    assert error in capsys.readouterr().err
    assert not Path("out/audit.json").exists()
