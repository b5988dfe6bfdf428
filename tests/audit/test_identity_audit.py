"""The threat to identities, from the command line to rows and people at risk."""

from __future__ import annotations

import json
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

import core.cli.main as command
from core.algorithms.fingerprints import DEPTHS
from core.audit.asked.spec import AuditSpec
from core.audit.computing.plan import plan_audit
from core.audit.computing.prepared import PreparedAudit
from core.data.catalogue import load_dataset
from core.graph import Graph
from core.node_column import NodeColumn
from core.registry import list_methods
from tests.inline import run_inline

MATCHERS = (
    "seeded_percolation",
    "narayanan_shmatikov",
    "structural_alignment",
    "supervised_matcher",
    "transport_matcher",
)


def run(*arguments, capsys):
    code = command.main([str(a) for a in arguments])
    captured = capsys.readouterr()
    return code, captured.out + captured.err


@pytest.fixture
def audited(tmp_path, capsys, audit_home):
    """An audit of karate: the original and pseudonyms alone."""
    out = tmp_path / "out"
    code, said = run(
        *["audit", "--graph", "karate", "--identity", "--seeds-known", "3", "--repeats", "2"],
        *["--defense", "pseudonyms", "--out", out],
        capsys=capsys,
    )
    assert code == 0, said
    return out


def test_rows_and_people_as_scripts_read_them(audited):
    rows = pd.DataFrame(json.loads((audited / "audit.json").read_text())["results"])
    rows = rows[rows.threat == "identity"]
    for method in DEPTHS:
        found = set(rows[rows.method == method].metric)
        assert {"share_unique", "share_below_5", "expected_found"} <= found
    for method in (*MATCHERS, "random_match", "degree_match"):
        found = set(rows[rows.method == method].metric)
        assert {"hits_at_1", "hits_at_10", "mrr", "precision_at_0.9_confidence"} <= found
    assert "degree:error=0.1" in set(rows.method)
    assert set(rows.knowledge) == {"standard"}
    # The whole graph is published and known: the shares are those of the graph itself.
    graph = load_dataset("karate").graph
    _, inverse, counts = np.unique(graph.degrees, return_inverse=True, return_counts=True)
    degree = rows[(rows.method == "degree")].set_index(["release", "metric"]).value
    for release in ("original", "pseudonyms"):
        assert degree[release, "share_unique"] == pytest.approx((counts[inverse] == 1).mean())
        assert degree[release, "expected_found"] == pytest.approx(len(counts) / 34)
    nodes = pd.read_parquet(audited / "nodes.parquet")
    risk = nodes[(nodes.attack == "degree") & (nodes.release == "original")].set_index("node").risk
    assert set(nodes.threat) == {"identity"}
    for node, size in zip(graph.node_ids, counts[inverse], strict=True):
        assert risk[node] == pytest.approx(1 / size)


def test_only_named_attacks_and_the_null_attackers_run(tmp_path, capsys, audit_home):
    """Who knows the defense looks for people too, where there is one."""
    out = tmp_path / "out"
    arguments = ["audit", "--graph", "karate", "--identity", "--attack", "ego", "--repeats", "1"]
    arguments += ["--defense", "random_deletion", "--adaptive"]
    assert run(*arguments, "--out", out, capsys=capsys)[0] == 0
    rows = pd.DataFrame(json.loads((out / "audit.json").read_text())["results"])
    rows = rows[rows.threat == "identity"]
    assert set(rows.method) == {"ego", "random_match", "degree_match"}
    adaptive = rows[rows.knowledge == "adaptive"]
    assert set(adaptive.method) == {"ego"}
    assert set(adaptive.release) == {"random_deletion"}
    assert "expected_found" in set(adaptive.metric)


def write_links(path, names):
    path.write_text("source,target\n" + "".join(f"{a},{b}\n" for a, b in pairwise(names)))
    return path


def test_a_second_graph_is_used(tmp_path, capsys, audit_home):
    graph = load_dataset("karate").graph
    known = tmp_path / "known.csv"
    ends = np.array(graph.node_ids)[graph.edges]
    known.write_text("a,b\n" + "".join(f"{a},{b}\n" for a, b in ends))
    out = tmp_path / "out"
    arguments = ["audit", "--graph", "karate", "--auxiliary-graph", known, "--seeds-known", "5"]
    arguments += ["--attack", "seeded_percolation", "--repeats", "1", "--out", out]
    code, said = run(*arguments, capsys=capsys)
    assert code == 0, said
    audit = json.loads((out / "audit.json").read_text())
    assert audit["spec"]["threats"]["identity"]["auxiliary_graph"]
    rows = pd.DataFrame(audit["results"])
    hits = rows[(rows.method == "seeded_percolation") & (rows.metric == "hits_at_1")]
    assert hits.value.iloc[0] > 0.5
    assert hits.n.iloc[0] == 29


def test_a_second_graph_is_read_in_the_reader_process(tmp_path, capsys, audit_home, monkeypatch):
    monkeypatch.setenv("AUDIT_READ_MB", "1")
    known = write_links(tmp_path / "known.csv", ["1", "2", "3"])
    arguments = ["--graph", "karate", "--auxiliary-graph", known, "--out", tmp_path / "out"]
    code, said = run("audit", *arguments, capsys=capsys)
    assert code == 2
    assert "file 'known.csv' must be read within 1 MB" in said


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--auxiliary-graph", "STRANGERS"], "must have people in common"),
        (["--auxiliary-graph", "MISSING"], "MISSING"),
        (["--seeds-known", "100"], "known seeds must be at most the 34 people"),
        (["--seeds-known", "-1"], "--seeds-known must be"),
        (["--overlap", "1.5"], "--overlap must be"),
        (["--noise", "-0.1"], "--noise must be"),
    ],
)
def test_mistakes_are_one_line(arguments, said, tmp_path, capsys, audit_home):
    strangers = write_links(tmp_path / "strangers.csv", ["anna", "ben", "cleo", "dora"])
    arguments = [str(strangers) if a == "STRANGERS" else a for a in arguments]
    out = tmp_path / "out"
    code, text = run(
        "audit", "--graph", "karate", "--identity", *arguments, "--out", out, capsys=capsys
    )
    lines = [line for line in text.strip().splitlines() if line.startswith("error")]
    assert code == 2
    assert len(lines) == 1
    assert said in lines[0]


def test_an_attack_on_identities_needs_its_threat(tmp_path, capsys, audit_home):
    arguments = ["audit", "--graph", "karate", "--attack", "ego", "--out", tmp_path / "out"]
    code, text = run(*arguments, capsys=capsys)
    assert code == 2
    assert "use --identity" in text


def test_all_attacks_of_another_threat_are_not_joined_by_these():
    graph = load_dataset("karate").graph
    fields = {"graph_hash": graph.content_hash, "hide_links": 0.1, "num_repeats": 1}
    attacks = [{"key": "common_neighbors"}]
    plain = plan_audit(
        PreparedAudit.build(AuditSpec.check_spec({**fields, "attacks": attacks}), graph)
    )
    both = plan_audit(
        PreparedAudit.build(
            AuditSpec.check_spec({**fields, "attacks": [*attacks, {"key": "ego"}], "identity": {}}),
            graph,
        )
    )
    assert {cell.key for cell in plain} < {cell.key for cell in both}
    assert sum(cell.scenario.threat == "identity" for cell in both if cell.kind == "attack") == 1


def test_what_the_attacker_holds_renews_these_cells_only():
    graph = load_dataset("karate").graph
    fields = {"graph_hash": graph.content_hash, "hide_links": 0.1, "num_repeats": 1}
    fields["attacks"] = [{"key": "common_neighbors"}, {"key": "seeded_percolation"}]
    keys = []
    for overlap in (0.9, 0.5):
        spec = AuditSpec.check_spec({**fields, "identity": {"overlap": overlap}})
        keys.append(
            {cell.key: cell.method for cell in plan_audit(PreparedAudit.build(spec, graph))}
        )
    changed = {method for key, method in keys[0].items() if key not in keys[1]}
    assert changed == {"seeded_percolation@identity"}


def test_every_method_of_the_kind_has_a_threat():
    assert {m.kind for m in list_methods("identity_attack")} == {"identity_attack"}
    assert len(list_methods("identity_attack")) >= 10


def test_people_without_links_are_found_by_their_columns(tmp_path):
    """Six of sixteen have no link, each alone with its place: unique by columns, not by degree."""
    ring = np.stack([np.arange(10), np.roll(np.arange(10), 1)], axis=1)
    codes = np.append(np.zeros(10, np.int64), np.arange(1, 7))
    place = NodeColumn("place", codes, tuple(map(str, range(7))))
    graph = Graph.from_pairs(ring, 16, name="places").with_attributes({"place": place})
    spec = AuditSpec.check_spec(
        {
            "graph_hash": graph.content_hash,
            "hide_links": None,
            "identity": {"seeds_known": 0},
            "publish_columns": ["place"],
            "attacks": [{"key": "column_values"}, {"key": "degree"}],
            "num_repeats": 1,
        }
    )
    view = run_inline(spec, graph, tmp_path / "home")
    ids = "column_values@identity", "degree@identity"
    shares = [view.estimate("original", name, "share_unique").value for name in ids]
    assert shares == [pytest.approx(6 / 16), 0]
    at_stake = {attack.id: len(risk.nodes) for (_, attack), risk in view.nodes.parts.items()}
    assert [at_stake[name] for name in ids] == [16, 10]
