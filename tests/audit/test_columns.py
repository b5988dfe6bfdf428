"""What is withheld appears nowhere in a release, and what is coarse appears exactly so."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
import zipfile

import numpy as np
import pytest

import core.cli.main as command
from core.audit.asked.spec import AuditSpec
from core.audit.computing.plan import plan_audit
from core.audit.computing.prepared import PreparedAudit, prepare_graph
from core.audit.results.export import write_audit
from core.data.readers import load_graph
from core.errors import InputError
from core.graph import Graph
from tests.inline import run_inline

SECRET = "Zwickau"
"""A value of the withheld column that no other text of a file holds."""

COARSE = {str(i): (str(20 + i % 40 // 10 * 10), "1990" if i % 2 else "1988") for i in range(40)}


@pytest.fixture
def files(tmp_path):
    """Links and node table of 40 people: age 20 to 59, a date, a withheld place, a secret."""
    links = tmp_path / "links.csv"
    pairs = [(i, (i + step) % 40) for i in range(40) for step in (1, 2, 7)]
    links.write_text("a,b\n" + "".join(f"{i},{j}\n" for i, j in pairs))
    nodes = tmp_path / "people.csv"
    rows = [
        f"{i},{20 + i % 40},{1990 if i % 2 else 1988}-0{1 + i % 9}-11,{SECRET}{i % 3},{i % 2}\n"
        for i in range(40)
    ]
    nodes.write_text("id,age,born,birthplace,opinion\n" + "".join(rows))
    return ["--graph", links, "--nodes", nodes, "--private", "opinion"]


def run(*arguments, capsys):
    code = command.main([str(a) for a in arguments])
    captured = capsys.readouterr()
    return code, captured.out + captured.err


CHOICE = [
    "--publish-columns",
    "age,born",
    "--generalize",
    "age:bin=10",
    "--generalize",
    "born:year",
]


def read_all_bytes(folder) -> bytes:
    """Every file, archives unpacked."""
    found = []
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            found.append(path.name.encode() + path.read_bytes())
            if zipfile.is_zipfile(path):
                with zipfile.ZipFile(path) as archive:
                    for name in archive.namelist():
                        raw = archive.read(name)
                        found.append(raw)
                        if name.endswith(".npy"):
                            array = np.load(io.BytesIO(raw), allow_pickle=False)
                            found.append("\n".join(map(str, array.ravel())).encode())
    return b"\n".join(found)


@pytest.mark.parametrize("suffix", ["csv", "graphml", "npz"])
def test_a_published_release_holds_the_coarse_values_and_nothing_else(
    files, suffix, tmp_path, capsys, audit_home
):
    out = tmp_path / "out" / f"release.{suffix}"
    arguments = ["--defense", "random_deletion:strength=0.1", "--out", out]
    code, said = run("publish", *files, *CHOICE, *arguments, capsys=capsys)
    assert code == 0
    leaked = read_all_bytes(out.parent)
    for text in (SECRET, "birthplace", "opinion", "1990-02-11", "-03-11"):
        assert text.encode() not in leaked
    for text in (SECRET, "1990-02-11", "-03-11"):
        assert text not in said, "names of columns alone are told"
    extra = {"nodes_path": out.with_suffix(".nodes.csv")} if suffix == "csv" else {}
    graph = load_graph(out, **extra).graph
    columns = {name: read_column(graph, name) for name in ("age", "born")}
    found = dict(
        zip(graph.node_ids, zip(columns["age"], columns["born"], strict=True), strict=True)
    )
    assert found == COARSE
    assert not audit_home.exists() or SECRET.encode() not in read_all_bytes(audit_home)


def read_column(graph: Graph, name: str) -> list[str]:
    if name in graph.feature_names:
        values = graph.dense_features()[:, graph.feature_names.index(name)]
        return [str(int(value)) for value in values]
    attribute = graph.attributes[name]
    return [attribute.classes[code] for code in attribute.codes]


def test_the_search_of_the_bytes_finds_what_is_published(files, tmp_path, capsys):
    """What is named leaves; the search must see it."""
    out = tmp_path / "out" / "release.npz"
    publish = ["--publish-columns", "birthplace", "--defense", "pseudonyms", "--out", out]
    assert run("publish", *files, *publish, capsys=capsys)[0] == 0
    assert SECRET.encode() in read_all_bytes(out.parent)


def test_an_audits_releases_hold_the_same(files, tmp_path, capsys, audit_home):
    loaded = load_graph(files[1], nodes_path=files[3], private="opinion").graph
    spec = AuditSpec.check_spec(
        {
            "graph_hash": loaded.content_hash,
            "private": "opinion",
            "publish_columns": ["age", "born"],
            "generalize": ["age:bin=10", "born:year"],
            "attacks": [{"key": "feature_regression"}],
            "defenses": [{"key": "pseudonyms"}, {"key": "random_deletion"}],
            "num_repeats": 1,
        }
    )
    view = run_inline(spec, loaded, audit_home)
    assert (view.cells.state == "done").all()
    write_audit(view, tmp_path / "out")
    folder = tmp_path / "out" / "releases"
    leaked = read_all_bytes(folder)
    assert SECRET.encode() not in leaked
    assert b"birthplace" not in leaked
    with (folder / "pseudonyms.nodes.csv").open(newline="") as file:
        rows = {row["id"]: (row["age"], row["born"]) for row in csv.DictReader(file)}
    assert rows == COARSE
    graph = load_graph(folder / "pseudonyms.graphml").graph
    found = zip(read_column(graph, "age"), read_column(graph, "born"), strict=True)
    assert dict(zip(graph.node_ids, found, strict=True)) == COARSE


def test_attackers_see_what_is_published_and_nothing_else(files, audit_home):
    """The withheld column is the secret itself: with it the baseline attacker knows all."""
    rng = np.random.default_rng(0)
    secret = rng.integers(0, 2, 200)
    pairs = np.stack([np.arange(200), np.roll(np.arange(200), 1)], 1)
    values = np.stack([secret, rng.random(200)], 1)
    graph = Graph.from_pairs(pairs, 200, features=values, feature_names=("tell", "noise"))
    from core.node_column import NodeColumn

    graph = Graph.from_pairs(
        pairs,
        200,
        features=values,
        feature_names=("tell", "noise"),
        attributes={"secret": NodeColumn("secret", secret, ("no", "yes"))},
    )
    scores = {}
    for columns in (None, ["noise"]):
        spec = AuditSpec.check_spec(
            {
                "graph_hash": graph.content_hash,
                "private": "secret",
                "publish_columns": columns,
                "attacks": [{"key": "feature_regression"}],
                "num_repeats": 2,
            }
        )
        view = run_inline(spec, graph, audit_home)
        scores[columns is None] = view.estimate("original", "feature_regression", "auc").value
    assert scores[True] > 0.95
    assert scores[False] < 0.65


def test_no_private_column_stays_among_the_features():
    graph = Graph.from_pairs(
        np.array([[0, 1], [1, 2], [2, 3]]),
        features=np.arange(12.0).reshape(4, 3),
        feature_names=("first", "second", "other"),
    )
    spec = AuditSpec.check_spec(
        {
            "graph_hash": graph.content_hash,
            "private": "first",
            "more_private": ["second"],
            "attacks": [{"key": "class_prior"}],
        }
    )
    left = prepare_graph(spec, graph)
    assert left.feature_names == ("other",)
    assert set(left.attributes) == {"first", "second"}


def test_a_choice_of_columns_renews_the_cells_and_none_leaves_them(files):
    loaded = load_graph(files[1], nodes_path=files[3], private="opinion").graph
    fields = {"graph_hash": loaded.content_hash, "private": "opinion", "num_repeats": 1}
    fields["attacks"] = [{"key": "class_prior"}]
    keys = [
        {
            cell.key
            for cell in plan_audit(
                PreparedAudit.build(AuditSpec.check_spec(fields | change), loaded)
            )
        }
        for change in (
            {},
            {"publish_columns": None, "generalize": []},
            {"publish_columns": ["age"]},
        )
    ]
    assert keys[0] == keys[1]
    assert not keys[0] & keys[2]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--publish-columns", "height"], "must be a column of the graph"),
        (["--publish-columns", "opinion"], "must not be a private one"),
        (["--private", "age", "--publish-columns", "age"], "must not be a private one"),
        (["--private", "age", "--generalize", "age:bin=10"], "must not be a private one"),
        (["--utility", "opinion"], "must not be a private one"),
        (["--private", "age", "--utility", "age"], "must not be a private one"),
        (["--generalize", "age"], "must name a column and a rule"),
        (["--generalize", "age:bin=ten"], "must have a number"),
        (["--publish-columns", "born", "--generalize", "age:bin=5"], "must be published"),
        (["--leave-out", "nowhere.txt"], "must exist"),
    ],
)
@pytest.mark.parametrize("name", ["publish", "audit"])
def test_a_mistake_is_one_line(files, name, arguments, said, tmp_path, capsys, audit_home):
    out = tmp_path / "out.csv"
    method = ["--defense", "pseudonyms"] if name == "publish" else ["--attack", "class_prior"]
    code, text = run(name, *files, *arguments, *method, "--out", out, capsys=capsys)
    lines = [line for line in text.strip().splitlines() if line.startswith("error")]
    assert code == 2
    assert len(lines) == 1
    assert said in lines[0]
    assert not out.is_file()


def test_a_further_private_column_needs_a_main_one():
    """Nothing would protect it, or attack it."""
    fields = {"graph_hash": "0" * 64, "hide_links": 0.1, "more_private": ["age"]}
    with pytest.raises(InputError, match="more_private needs a main private column"):
        AuditSpec.check_spec(fields)
    assert AuditSpec.check_spec({**fields, "private": "opinion"}).threats.columns[1] == "age"


def test_people_who_objected_are_in_no_release(files, tmp_path, capsys, audit_home):
    listed = tmp_path / "objected.txt"
    listed.write_text("7\n13\n")
    out = tmp_path / "out" / "release.csv"
    arguments = ["--leave-out", listed, "--defense", "pseudonyms", "--out", out]
    code, said = run("publish", *files, *arguments, capsys=capsys)
    assert code == 0, said
    # of 3 × 40 links, the two people have six each, and none between them
    assert f"{120 - 12} links" in said
    assert len(out.with_suffix(".nodes.csv").read_text().splitlines()) == 39


def test_an_audit_leaves_them_out_too(files, audit_home):
    loaded = load_graph(files[1], nodes_path=files[3], private="opinion").graph
    spec = AuditSpec.check_spec(
        {
            "graph_hash": loaded.content_hash,
            "private": "opinion",
            "leave_out": ["7"],
            "attacks": [{"key": "class_prior"}],
            "num_repeats": 1,
        }
    )
    view = run_inline(spec, loaded, audit_home)
    assert (view.cells.state == "done").all()
    assert "7" not in set(view.nodes.to_frame().node) | set(view.profile.node)
    assert view.load_graph().num_nodes == 39


def test_a_stranger_left_out_is_an_error(files):
    loaded = load_graph(files[1], nodes_path=files[3], private="opinion").graph
    fields = {"graph_hash": loaded.content_hash, "private": "opinion", "leave_out": ["x"]}
    with pytest.raises(InputError, match="person left out"):
        plan_audit(
            PreparedAudit.build(
                AuditSpec.check_spec({**fields, "attacks": [{"key": "class_prior"}]}), loaded
            )
        )


@pytest.mark.parametrize("defense", ["pseudonyms", "random_deletion:strength=0.3", "edge_rand"])
def test_published_files_have_no_hash_of_what_stays_behind(
    files, defense, tmp_path, capsys, audit_home
):
    """A hash of the private column or of the ids would confirm whoever guesses them."""
    out = tmp_path / "out" / "release.csv"
    code, said = run("publish", *files, "--defense", defense, "--out", out, capsys=capsys)
    assert code == 0, said
    written = load_graph(out, nodes_path=out.with_suffix(".nodes.csv"), id_column="id").graph
    in_files = {hashlib.sha256(path.read_bytes()).hexdigest() for path in out.parent.iterdir()}
    text = out.with_suffix(".provenance.json").read_text()
    in_files.add(json.loads(text)["record_sha256"])  # of the provenance itself
    assert set(re.findall(r"[0-9a-f]{64}", text)) <= {written.content_hash, *in_files}
    assert json.loads(text)["release"]["content_hash"] == written.content_hash
