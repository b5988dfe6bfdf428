"""Publishing statistics instead of a graph: files, ledger, budget, trail, and what is refused."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest

import core.cli.main as command
from core.audit.results.statistics import StatisticsSpec, publish_statistics
from core.audit.store.database import Store
from core.audit.store.team import Team
from core.graph import Graph
from core.privacy.budget import Account

ALL = "degree_distribution,num_links,triangles,mixing"


@pytest.fixture
def links(tmp_path):
    """Thirty people with a column, a ring and its chords."""
    nodes = np.arange(30)
    pairs = [f"p{i},p{(i + step) % 30}" for i in nodes for step in (1, 2)]
    (tmp_path / "links.csv").write_text("source,target\n" + "\n".join(pairs) + "\n")
    people = [f"p{i},{'ab'[i % 2]},{'xy'[i % 2]}" for i in nodes]
    (tmp_path / "people.csv").write_text("id,team,secret\n" + "\n".join(people) + "\n")
    return ["--graph", str(tmp_path / "links.csv"), "--nodes", str(tmp_path / "people.csv")]


def publish(links, path, *more, statistics=ALL, epsilon="2"):
    parts = ["publish", *links, "--statistics", statistics, "--epsilon", epsilon]
    return command.main([*parts, "--out", str(path), *more])


def test_a_table_and_its_provenance_are_written_and_charged(audit_home, links, tmp_path, capsys):
    out = tmp_path / "out" / "table.csv"
    more = ("--mixing-column", "team", "--max-degree", "4")
    assert [publish(links, out, *more, *also) for also in ([], [], ["--overwrite"])] == [0, 2, 0]
    shown = capsys.readouterr().err
    assert "node-DP, ε = 2: table.csv, table.json" in shown
    assert "One node: ε = 4 over 2 publishing runs." in shown
    with out.open() as file:
        rows = list(csv.DictReader(file))
    assert {row["statistic"] for row in rows} == set(ALL.split(","))
    record = json.loads(out.with_suffix(".json").read_text())
    as_text = [{k: str(v) for k, v in row.items()} for row in record["rows"]]
    assert as_text == rows
    assert record["guarantee"]["unit"] == "node"
    assert record["guarantee"]["epsilon"] == record["config"]["epsilon"] == 2.0
    assert [t["epsilon"] for t in record["published_so_far"]["totals"]] == [4.0, 4.0]
    assert "not recorded" in record["randomness"]
    assert not {"content_hash", "root_seed", "graph_hash"} & set(record)
    assert command.main(["ledger", *links, "--json"]) == 0
    entries = json.loads(capsys.readouterr().out)["entries"]
    assert [(e["release"], e["unit"], e["epsilon"]) for e in entries] == [
        ("statistics", "node", 2.0)
    ] * 2
    assert command.main(["ledger", *links]) == 0
    store = Store()
    trail = [(entry.event, entry.target) for entry in Team(store).list_trail()]
    store.close()
    assert [event for event, _ in trail] == ["publish statistics"] * 2
    assert len({target for _, target in trail}) == 2


def test_a_budget_counts_statistics_and_graphs_together(audit_home, links, tmp_path, capsys):
    graph = [
        "publish",
        *links,
        "--defense",
        "edge_rand:epsilon=3",
        "--out",
        str(tmp_path / "g.csv"),
    ]
    assert command.main(graph) == 0
    table = tmp_path / "table.csv"
    assert publish(links, table, "--budget", "4", statistics="num_links") == 2
    assert "budget of ε = 4 would be exceeded" in capsys.readouterr().err
    assert not table.exists()
    # Statistics protect a node; the graph before protected a link, and a node without bound.
    assert publish(links, table, "--budget", "5", statistics="num_links") == 2
    assert "without a guarantee for one node" in capsys.readouterr().err
    assert publish(links, table, statistics="num_links") == 0


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--defense", "edge_rand"], "either --defense or --statistics"),
        (["--hide-links", "0.1"], "--hide-links is for publishing with --defense only"),
        (["--epsilon", "0"], "epsilon"),
        ([], "mixing needs a public column"),
        (["--mixing-column", "none"], "must be a column of the graph"),
        (["--private", "secret", "--mixing-column", "secret"], "must be public"),
    ],
)
def test_what_says_nothing_of_statistics_is_refused(
    audit_home, links, tmp_path, capsys, more, said
):
    assert publish(links, tmp_path / "table.csv", *more) == 2
    assert said in capsys.readouterr().err
    assert publish(links, tmp_path / "table.npz", statistics="num_links") == 2
    assert publish(links, tmp_path / "t.csv", statistics="clustering") == 2
    graph = ["publish", *links, "--defense", "edge_rand", "--out", str(tmp_path / "g.csv")]
    assert command.main([*graph, "--max-degree", "3"]) == 2
    assert "--max-degree is for publishing with --statistics only" in capsys.readouterr().err


def test_noise_is_the_operating_systems(monkeypatch):
    graph = Graph.from_pairs(np.random.default_rng(0).integers(0, 200, (600, 2)), 200)
    spec = StatisticsSpec(statistics=("num_links", "degree_distribution"))
    seen = []
    add = Account.add_count_noise

    def watch(account, *arguments):
        seen.append((account._context.is_publishing, account._context.seed.is_secret))
        return add(account, *arguments)

    monkeypatch.setattr(Account, "add_count_noise", watch)
    first, again = (publish_statistics(graph, spec)[0] for _ in range(2))
    assert set(seen) == {(True, True)}
    assert first != again
