"""No command that writes destroys a file that it reads, or one that is not its own, and none is
refused after something was computed, removed or charged."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import pytest

import core.cli.main as command
from core.audit.asked.method_choice import MethodChoice
from core.audit.results.export import list_audit_releases
from core.cli.outputs import OUTPUTS, check_outputs, stage_outputs
from core.data.catalogue import load_dataset
from core.data.writers import write_release
from core.errors import InputError
from core.records import OWN, format_record, hash_files, load_recorded
from core.release import Release

AUDIT_FILES = ["out/audit.json", "out/nodes.parquet"]
REPORTS = ["report.pdf", "report-external.pdf", "summary.pdf", "dpia.md", "dpia.json"]
VERDICTS = [f"verdict.{ending}" for ending in ("sarif", "xml", "json", "md", "html")]
MORE = [f"out/{name}" for name in (*REPORTS, *VERDICTS)]


def name_release(stem: str, *endings: str) -> list[str]:
    return [f"out/releases/{stem}{ending}" for ending in (".provenance.json", *endings)]


FULL = "--report --policy public --format json --out out"
PUBLISH = "publish --graph links.csv --defense edge_rand --out"
COMMANDS: dict[str, list[str]] = {
    f"audit --graph links.csv --attack katz --defense edge_rand --generalize x:bin=2 {FULL}": [
        *AUDIT_FILES,
        *MORE,
        *name_release("edge_rand", ".csv", ".nodes.csv", ".graphml", ".npz"),
    ],
    "audit --graph links.csv --attack katz --defense edge_rand --out out": [
        *AUDIT_FILES,
        *name_release("edge_rand", ".csv", ".nodes.csv"),
    ],
    f"judge links.csv links.csv {FULL}": [
        *AUDIT_FILES,
        *MORE,
        *name_release("external", ".csv", ".nodes.csv"),
    ],
    "benchmark audit --graphs links.csv --out out": [
        f"out/{name}"
        for name in (*(f"results.{e}" for e in ("json", "csv", "parquet")), "summary.csv")
    ]
    + ["out/index.html"],
    "check-claim --defense edge_rand --out t.json": ["t.json"],
    "advise --graph links.csv --private x --node 1 --out t.json": ["t.json"],
    "search --graph links.csv --policy internal --out out": ["out/search.json"],
    "doctor --backup t.tar": ["t.tar"],
    f"{PUBLISH} t.csv": ["t.csv", "t.nodes.csv", "t.provenance.json"],
    f"{PUBLISH} t.parquet": ["t.parquet", "t.nodes.parquet", "t.provenance.json"],
    f"{PUBLISH} t.pt": ["t.pt", "t.nodes.csv", "t.provenance.json"],
    f"{PUBLISH} t.npz": ["t.npz", "t.provenance.json"],
    f"{PUBLISH} t.gexf": ["t.gexf", "t.provenance.json"],
    f"{PUBLISH} t.graphml": ["t.graphml", "t.provenance.json"],
    "publish --graph links.csv --statistics num_links --epsilon 1 --out t.csv": ["t.csv", "t.json"],
}
"""Every command that writes, with a line of each of its forms → the files that it will write."""

CASES = [(line, file) for line, files in COMMANDS.items() for file in files]


class Computed(Exception):
    """The command went beyond its checks."""


@pytest.fixture
def place(tmp_path, audit_home, monkeypatch):
    """A folder with links.csv; computing, loading, charging and copying are reported."""

    def stop(*_args, **_keywords):
        raise Computed

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AUDIT_DEBUG", "1")
    monkeypatch.setenv("AUDIT_SCHEDULER", "tcp://127.0.0.1:9")  # no cluster is started
    Path("links.csv").write_text("source,target\n1,2\n2,3\n")
    for where in (
        "core.cli.audit.build_spec",
        "core.cli.judge.build_judge_spec",
        "core.cli.search.build_spec",
        "core.cli.benchmark.load_graph",
        "core.cli.advise.load_input",
        "core.cli.publish.load_input",
        "core.audit.jobs.claims.run_claim_check",
        "core.audit.store.checkup.check_own_database",
    ):
        monkeypatch.setattr(where, stop)
    return tmp_path


def run(line, *more):
    """The exit code; None where all checks passed."""
    try:
        return command.main([*line.split(), *more])
    except Computed:
        return None


def put(file, text="somebody else's"):
    path = Path(file)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def find_record(line, file):
    """The record of a file: that of its release, else the first file of the command."""
    if "/releases/" in file:
        return Path(file).parent / f"{Path(file).name.partition('.')[0]}.provenance.json"
    named = [f for f in COMMANDS[line] if f.endswith("provenance.json") and "/releases/" not in f]
    jsons = [f for f in COMMANDS[line] if f in ("t.json", "out/audit.json", "out/results.json")]
    return Path([*named, *jsons, file][0])


def put_own(line, file):
    """The file and its record as an earlier run left them."""
    record, path = find_record(line, file), Path(file)
    record.parent.mkdir(parents=True, exist_ok=True)
    others = [] if path == record else [put(file, "own")]
    record.write_text(format_record({}, hash_files(record.parent, others), indent=1))
    return path


def test_every_option_for_a_file_to_write_is_here():
    parser = command.build_parser()
    commands = next(action.choices for action in parser._actions if action.choices)
    writing = set()
    for name, inner in commands.items():
        inner.complete()
        flags = {action.dest for action in inner._actions}
        if flags & set(OUTPUTS):
            writing.add(name)
        assert ("overwrite" in flags) == bool(flags & set(OUTPUTS)), name
    assert writing == {line.split()[0] for line in COMMANDS}


@pytest.mark.parametrize(("line", "file"), CASES)
def test_a_file_that_is_another_s(place, line, file, capsys):
    assert run(line) is None, "refused where nothing is there"
    path = put(file)
    assert run(line) == 2
    said = capsys.readouterr().err.splitlines()[-1]
    assert said.startswith(f"error: output file '{path.name}' exists")
    assert "--overwrite" in said
    assert path.read_text() == "somebody else's"
    assert run(line, "--overwrite") is None


@pytest.mark.parametrize(("line", "file"), CASES)
def test_our_own_file_unchanged_and_edited(place, line, file):
    if file == "t.tar":
        pytest.skip("a backup has no record")
    path = put_own(line, file)
    if line.startswith("publish"):  # a run is charged anew, so there is nothing to resume
        assert run(line) == 2
        assert path.exists()
        assert run(line, "--overwrite") is None
        return
    assert run(line) is None
    if "verdict" in file:  # removed, for it was ours
        assert not path.exists()
        path = put_own(line, file)
    path.write_bytes(path.read_bytes() + b" ")
    assert run(line) == 2
    assert path.exists()


@pytest.mark.parametrize("link", [os.symlink, os.link])
@pytest.mark.parametrize(("line", "file"), CASES)
def test_an_input_is_refused_whatever_leads_to_it(place, line, file, link):
    if line.startswith(("check-claim", "doctor")):
        source = put("home/audit.db")  # what a command without files of a user reads
    else:
        source = Path("links.csv")
    Path(file).parent.mkdir(parents=True, exist_ok=True)
    link(source.absolute(), file)
    text = source.read_text()
    for more in ((), ("--overwrite",)):
        assert run(line, *more) == 2
    assert source.read_text() == text


@pytest.mark.parametrize(
    "line",
    [
        "publish --graph links.csv --nodes links.nodes.csv --defense edge_rand --out links.csv",
        "publish --graph karate --nodes links.nodes.csv --defense edge_rand --out links.parquet",
        "publish --graph sqlite:///links.csv#t --defense edge_rand --out links.csv",
        "publish --graph links.csv --statistics num_links --epsilon 1 --out links.csv",
        "benchmark audit --graphs karate,out/results.csv --out out",
        "benchmark out/results.json --out out",
        "judge karate links.csv --ids map:out/audit.json --out out",
        "audit --spec out/audit.json --out out",
    ],
)
def test_inputs_by_their_own_path(place, line):
    for name in ("links.csv", "links.nodes.csv", "links.nodes.parquet"):
        put(name)
    for name in ("audit.json", "results.json", "results.csv"):
        put(f"out/{name}", "{}")
    if "links.parquet" in line:
        Path("links.nodes.csv").unlink()
        os.link("links.nodes.parquet", "links.nodes.csv")
    before = {path: path.read_bytes() for path in Path().glob("**/*.*") if path.is_file()}
    assert run(line, "--overwrite") == 2
    assert {path: path.read_bytes() for path in before} == before


def test_a_program_named_by_a_defense_is_an_input(place):
    put("out/audit.json")
    words = ["audit", "--graph", "links.csv", "--attack", "katz", "--out", "out", "--overwrite"]
    with pytest.raises(Computed):
        command.main([*words, "--defense", "command:python a.py {in} {out}"])
    assert command.main([*words, "--defense", "command:python out/audit.json {in} {out}"]) == 2


def test_verdicts_are_removed_after_every_check_only(place):
    line = f"audit --graph links.csv --attack katz --defense edge_rand {FULL}"
    record, verdict = Path("out/audit.json"), put("out/verdict.xml", "own")
    record.write_text(format_record({}, hash_files(record.parent, [verdict])))
    other = put("out/releases/edge_rand.csv")
    assert run(line) == 2
    assert verdict.read_text() == "own"
    other.unlink()
    assert run(line) is None
    assert not verdict.exists()


def test_a_folder_and_a_stored_graph_are_never_replaced(place, monkeypatch):
    Path("t.csv").mkdir()
    assert run(f"{PUBLISH} t.csv", "--overwrite") == 2
    put("home/graphs/a.csv")
    assert run(f"{PUBLISH} home/graphs/a.csv", "--overwrite") == 2
    raw = put("data/cora/cora.content")
    monkeypatch.setattr("core.data.catalogue.list_raw_files", lambda: [raw.absolute()])
    os.link(raw, "u.csv")
    assert run(f"{PUBLISH} u.csv", "--overwrite") == 2


def test_a_release_in_another_format_replaces_no_provenance(place, capsys):
    put_own(f"{PUBLISH} t.csv", "t.csv")
    record = Path("t.provenance.json").read_text()
    for name, shared in (("t.graphml", "t.provenance.json"), ("t.pt", "t.provenance.json")):
        assert run(f"{PUBLISH} {name}") == 2
        said = capsys.readouterr().err
        assert f"output file '{shared}' exists, and a publishing run replaces none" in said
        assert "name another --out, or add --overwrite" in said
    Path("t.provenance.json").unlink()
    put("t.nodes.csv")
    assert run(f"{PUBLISH} t.pt") == 2
    assert "output file 't.nodes.csv' exists" in capsys.readouterr().err
    put("t.provenance.json", record)
    assert run(f"{PUBLISH} other.pt") is None


def test_a_record_tells_edits_of_itself_and_of_files(tmp_path):
    (tmp_path / "a").write_text("x")
    record = tmp_path / "r.json"
    record.write_text(format_record({"b": OWN}, hash_files(tmp_path, [tmp_path / "a"]), indent=1))
    assert set(load_recorded(record)) == {record, tmp_path / "a"}
    whole = record.read_text()
    for text in ("", "[]", "{}", "{", whole + " ", whole.replace('"b"', '"c"')):
        record.write_text(text)
        assert load_recorded(record) == {}


def test_what_is_written_is_what_was_declared(tmp_path):
    choice = MethodChoice.parse("edge_rand:epsilon=6", "defense")
    for formats, names_columns in ((("csv",), False), (("csv", "graphml", "npz"), True)):
        ((record, files),) = list_audit_releases(tmp_path, [choice], names_columns).items()
        release = Release(load_dataset("karate").graph)
        paths = write_release(release, tmp_path, choice.id, {}, formats)
        assert [*files, record] == paths
        assert set(load_recorded(record)) == {*paths}
        check_outputs(argparse.Namespace(overwrite=False, out=tmp_path), {record: files})
        files[0].write_text("edited")
        with pytest.raises(InputError, match="not as this program wrote it"):
            check_outputs(argparse.Namespace(overwrite=False, out=tmp_path), {record: files})


def test_files_move_when_all_are_whole(tmp_path):
    (tmp_path / "a").write_text("old")

    def cancel():
        with stage_outputs(tmp_path) as folder:
            (folder / "a").write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        cancel()
    assert [(p.name, p.read_text()) for p in tmp_path.iterdir()] == [("a", "old")]
    with stage_outputs(tmp_path) as folder:
        (folder / "b").mkdir()
        (folder / "b" / "a").write_text("new")
    assert (tmp_path / "b" / "a").read_text() == "new"
    assert len(list(tmp_path.iterdir())) == 2
