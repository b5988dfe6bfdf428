"""What is said to leave is what the files hold: channels, uses, tables, words and files agree."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest

from core.audit.asked.publish_spec import PublishSpec
from core.audit.asked.spec import AuditSpec
from core.audit.results.export import make_file_name, write_releases
from core.cli.main import main
from core.cli.publish import write_publishing
from core.data.link_release import list_published_links
from core.errors import InputError
from core.findings.channels import describe_channels, list_channels
from core.findings.leaving import compute_leaving, list_released, tabulate_columns
from core.findings.uses import describe_uses
from core.graph import Graph
from core.link_table import LinkColumn
from core.node_column import NodeColumn
from core.release import ORIGINAL
from core.report.data import ReportData
from core.report.leaving import describe_leaving
from core.report.options import ReportOptions
from tests.inline import run_inline

NODES = ("age", "height", "city", "job", "sick")
LINKS = ("link.weight", "link.at")
N = 40
CASES = [
    ({}, {"city", "link.weight"}),
    ({"utility": None}, {"link.weight"}),
    ({"utility": "age"}, {"age", "link.weight"}),
    ({"generalize": ["age:bin=10"]}, {"age", "height", "city", "link.weight"}),
    ({"generalize": ["link.weight:bin=2"]}, {"age", "height", "city", "link.weight"}),
    ({"publish_columns": ["age", "job"]}, {"age", "job", "link.weight"}),
    ({"publish_columns": ["age", "link.at"]}, {"age", "link.at"}),
    ({"publish_columns": ["link.weight", "city"]}, {"city", "link.weight"}),
    ({"publish_columns": ["link.none"]}, set()),
    ({"publish_columns": []}, {"link.weight"}),
    ({"more_private": ["height"], "generalize": ["age:bin=10"]}, {"age", "city", "link.weight"}),
]
"""Fields of a spec with the utility column city, and what leaves."""


@pytest.fixture(scope="module")
def graph() -> Graph:
    rng = np.random.default_rng(0)
    graph = Graph.from_pairs(rng.integers(0, N, (120, 2)), N)
    texts = {name: NodeColumn.from_values(name, rng.choice(["a", "b"], N)) for name in NODES[2:]}
    return Graph.from_pairs(
        graph.edges,
        N,
        weights=rng.integers(1, 9, graph.num_edges).astype(float),
        link_columns={"at": LinkColumn("number", rng.integers(0, 90, graph.num_edges))},
        attributes=texts,
        features=rng.integers(20, 60, (N, 2)).astype(np.float32),
        feature_names=NODES[:2],
    )


def read_columns(folder, stem) -> set[str]:
    """Columns in the headers of a release's files, named as a spec does."""
    heads = []
    for name in (f"{stem}.nodes.csv", f"{stem}.csv"):
        with (folder / name).open(newline="") as file:
            heads.append(next(csv.reader(file)))
    return {*heads[0][1:], *(f"link.{name}" for name in heads[1][2:])}


@pytest.mark.parametrize(("fields", "leaving"), CASES)
def test_every_place_names_the_columns_of_the_files(graph, fields, leaving, tmp_path, monkeypatch):
    monkeypatch.setenv("AUDIT_HOME", str(tmp_path / "home"))
    keys = ("random_deletion", "pseudonyms", "without_columns")
    fields = {"private": "sick", "utility": "city", **fields}
    own = {"attacks": [{"key": "class_prior"}], "defenses": [{"key": key} for key in keys]}
    own |= {"graph_hash": graph.content_hash, "num_repeats": 1, "test_links": 0.0}
    spec = AuditSpec.check_spec({**fields, **own, "measures": ["structure"]})
    view = run_inline(spec, graph, tmp_path / "audits")
    source = view.load_graph()

    before, after = compute_leaving(spec, graph)
    table = tabulate_columns(before, after).set_index("column").published
    assert {name for name in table.index if table[name] != "withheld"} == leaving - {*LINKS}
    uses = [u for u in describe_uses(view) if u["use"] not in ("id", "source", "target")]
    told = {("link." if u["table"] == "links" else "") + u["name"] for u in uses if u["published"]}
    assert told == leaving
    sentence = describe_leaving(ReportData(view, ReportOptions()))
    assert {name for name in (*NODES, *LINKS) if name in sentence} == leaving

    write_releases(view, tmp_path / "releases")
    for summary in view.releases:
        parts = [c for c in list_channels(view, summary.id) if c.column]
        said = {c.column for c in parts if c.treatment != "left out"}
        listed = [c for c in describe_channels(view) if c["release"] == summary.id]
        assert {c["name"] for c in listed if c["leaves"]} & {*NODES, *LINKS} == said
        assert {c.column for c in parts} == {*NODES, *LINKS}
        if summary.id == ORIGINAL:
            assert said == leaving
            continue
        defense = summary.info.defense
        expected = leaving if defense.keeps_columns else leaving & {"link.weight"}
        stem = make_file_name(summary.id)
        if not (tmp_path / "releases" / f"{stem}.csv").exists():
            assert "height" not in view.load_graph().feature_names or not {*NODES[:2]} & leaving
            continue  # it has no columns to leave out
        assert read_columns(tmp_path / "releases", stem) == said == expected
        assert set(list_released(spec, source, defense)) == expected
        asked = PublishSpec.check_fields(
            {**fields, "graph_hash": graph.content_hash, "defense": {"key": summary.info.key}}
        )
        path = tmp_path / f"{summary.info.key}.csv"
        if not defense.keeps_columns and {*fields.get("publish_columns", ())} - {"link.none"}:
            with pytest.raises(InputError, match="keeps no column"):
                write_publishing(graph, asked, path)
            continue
        write_publishing(graph, asked, path)
        assert read_columns(tmp_path, summary.info.key) == expected


@pytest.mark.parametrize(
    ("names", "is_weighted", "publish", "leaving"),
    [
        (LINKS, True, None, ["link.weight"]),
        (LINKS, True, ["city"], ["link.weight"]),
        (LINKS, True, ["link.at"], ["link.at"]),
        (LINKS, True, ["link.at", "link.weight"], [*LINKS]),
        (LINKS, True, ["link.none"], []),
        (LINKS, False, None, []),  # a column that is called so, of a graph without weights
        (LINKS, False, ["link.weight"], ["link.weight"]),
    ],
)
def test_columns_of_links_that_leave(names, is_weighted, publish, leaving):
    assert list_published_links(names, is_weighted, publish) == leaving


def test_a_script_and_the_command_write_what_they_say(graph, tmp_path, monkeypatch, capsys):
    """By default the utility column alone, whatever the format; a script may name others."""
    monkeypatch.setenv("AUDIT_HOME", str(tmp_path / "home"))
    rows = [["id", *NODES]]
    rows += [
        [f"p{i}", 20 + i, 150 + i % 7, *("ab"[i % k == 0] for k in (2, 3, 5))] for i in range(N)
    ]
    ends = [["source", "target"], *([f"p{a}", f"p{b}"] for a, b in graph.edges.tolist())]
    for name, lines in (("nodes.csv", rows), ("links.csv", ends)):
        with (tmp_path / name).open("w", newline="") as file:
            csv.writer(file).writerows(lines)
    parts = ["publish", "--graph", str(tmp_path / "links.csv"), "--private", "sick"]
    parts += ["--nodes", str(tmp_path / "nodes.csv"), "--utility", "city"]
    parts += ["--defense", "random_deletion", "--out", str(tmp_path / "out" / "r.csv")]
    assert main(parts) == 0
    assert "Published with the links: city. No other column is." in "".join(capsys.readouterr())
    assert read_columns(tmp_path / "out", "r") == {"city"}
    told = json.loads((tmp_path / "out" / "r.provenance.json").read_text())["release"]
    assert (told["attributes"], told["num_features"]) == (["city"], 0)
