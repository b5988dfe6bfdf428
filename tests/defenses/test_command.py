"""A command of the user: what it gets, what it may write, and what stops it."""

from __future__ import annotations

import json
import os
import socket
import sys
import time

import numpy as np
import pytest

from core.audit.asked.method_choice import MethodChoice
from core.audit.asked.release_info import parse_release
from core.audit.asked.scenarios import split_id
from core.context import Context
from core.defenses import command
from core.defenses.command import FOLDER, Command
from core.errors import InputError, ResourceError, RunCancelled
from core.registry import find_method, list_methods, parse_method
from core.seeding import Seed
from core.threats import Threats
from tests.oracles.graphs import make_threats, two_communities
from tests.oracles.progress import RecordingProgress

GRAPH = two_communities(40)
IS_LINUX = sys.platform == "linux"


@pytest.fixture(autouse=True)
def _folder(monkeypatch, tmp_path):
    monkeypatch.setenv(FOLDER, str(tmp_path))
    monkeypatch.setenv("AUDIT_COMMAND_SECONDS", "20")
    monkeypatch.setenv("AUDIT_COMMAND_MB", "500")


def publish(line, threats=None, progress=None, graph=GRAPH):
    context = Context(Seed(3)) if progress is None else Context(Seed(3), progress=progress)
    return Command(line=line).publish(graph, threats or Threats(graph), context)


def write_script(folder, text, name="defense.py"):
    (folder / name).write_text(f"import os, sys\nread, out = sys.argv[1:3]\n{text}\n")
    return f"python {name} {{in}} {{out}}"


def test_links_go_in_and_come_out(tmp_path):
    release = publish("cp {in} {out}")
    np.testing.assert_array_equal(release.graph.edges, GRAPH.edges)
    assert release.graph.node_ids == GRAPH.node_ids
    assert not release.guarantee.is_known
    line = write_script(tmp_path, "open(out, 'w').write('1,0\\n2,3\\n3,2\\n')")
    np.testing.assert_array_equal(publish(line).graph.edges, [[0, 1], [2, 3]])


def test_node_table_holds_features_and_the_known_values_alone(tmp_path):
    threats = make_threats(two_communities(40))
    graph, threat = threats.visible, threats.attribute
    rows = "rows = list(csv.DictReader(open(sys.argv[3])))"
    text = f"import csv, json; {rows}; print(json.dumps(rows[-1]), file=sys.stderr)"
    text += "\nknown = [row['node'] for row in rows if row['private']]"
    text += "\nprint(json.dumps([*rows[-1], *rows[-1].values(), *known]), file=sys.stderr)"
    line = write_script(tmp_path, text + "\nsys.exit(1)") + " {nodes}"
    said = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(command, "_read_last_line", lambda path: said.append(path.read_text()) or "")
        with pytest.raises(InputError, match="status 1"):
            publish(line, threats, graph=graph)
    told = json.loads(said[0].splitlines()[-1])
    width = 2 + len(graph.feature_names) + 1
    assert told[:width] == ["node", "id", *graph.feature_names, "private"]
    assert told[width : width + 2] == ["39", graph.node_ids[39]]
    assert float(told[width + 2]) == pytest.approx(graph.dense_features()[39, 0])
    assert [int(node) for node in told[2 * width :]] == np.flatnonzero(threat.known).tolist()


def test_text_of_a_choice_is_its_line():
    line = "./tool --epsilon=1,2 {in} {out}"
    choice = MethodChoice.parse(f"command:{line}", "defense")
    assert choice.id == f"command:{line}"
    assert parse_method(choice.id).line == line
    assert split_id(choice.id)[0] == choice.id
    assert "./tool" in parse_release(choice.id).title
    assert find_method("command", "defense") not in list_methods()


def test_titles_tell_the_line_and_no_hash():
    made = Command(line="./hide {in} {out}", program="ab12")
    assert {made.title, made.short_title, made.phrase} == {"Command ./hide {in} {out}"}


def test_program_that_was_changed_is_another_one(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    line = write_script(tmp_path, "pass")
    first = Command(line=line).identify()
    assert Command(line=line).identify() == first
    write_script(tmp_path, "1")
    assert Command(line=line).identify().program != first.program


def test_without_the_command_line_no_command_runs(monkeypatch):
    assert Command(line="cp {in} {out}").supports(GRAPH, Threats(GRAPH)) is None
    monkeypatch.delenv(FOLDER)
    reason = Command(line="cp {in} {out}").supports(GRAPH, Threats(GRAPH))
    assert "from the command line only" in reason


@pytest.mark.parametrize("line", ["./tool", "./tool {in}", "./tool {out}", "'{in} {out}", ""])
def test_line_that_cannot_work_is_refused(line):
    with pytest.raises(InputError, match="parameter 'line'"):
        parse_method(f"command:{line}", "defense")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("pass", "must write its links to {out}; got no file"),
        ("os.symlink('/etc/passwd', out)", "must write its links to {out}; got no file"),
        ("os.mkdir(out)", "must write its links to {out}; got no file"),
        ("open(out, 'wb').write(os.urandom(9999))", "must write links; got"),
        ("open(out, 'w').write('')", "must write links; got"),
        ("open(out, 'w').write('0,1\\n0,40\\n')", "node numbers from 0 to 39; got 40"),
        ("open(out, 'w').write('0,1\\n0,-1\\n')", "node numbers from 0 to 39; got -1"),
        ("open(out, 'w').write('0,1\\nann,bob\\n')", "node numbers from 0 to 39; got ann"),
        ("raise ValueError('boom')", "status 0; got status 1: ValueError: boom"),
        ("os.kill(os.getpid(), 11)", "status 0; got status 139"),
        ("sys.stderr.write('x' * 100_000_000); sys.exit(4)", "status 0; got status 4: xxx"),
    ],
)
def test_crash_and_rubbish_are_told_in_one_line(tmp_path, text, message):
    with pytest.raises(InputError) as raised:
        publish(write_script(tmp_path, text))
    assert message in str(raised.value)
    assert str(raised.value).startswith("command 'python defense.py {in} {out}' must ")
    assert "\n" not in str(raised.value)
    assert raised.value.remedy


def test_program_that_is_not_there_is_told():
    with pytest.raises(InputError, match="No such file"):
        publish("./nothing {in} {out}")


def test_one_that_hangs_is_stopped_with_all_that_it_started(tmp_path, monkeypatch):
    monkeypatch.setenv("AUDIT_COMMAND_SECONDS", "2")
    started = time.monotonic()
    mark = f"sleep 98{os.getpid()}"
    text = f"import subprocess; subprocess.Popen({mark.split()!r}, start_new_session=True)"
    line = write_script(tmp_path, f"{text}\nimport time; time.sleep(99)")
    with pytest.raises(ResourceError, match="must end within 2 s; got still running"):
        publish(line)
    assert time.monotonic() - started < 15
    if IS_LINUX:
        assert mark.split()[1] not in list_running()


def test_nothing_runs_on_behind_one_that_ended(tmp_path):
    if not IS_LINUX:
        pytest.skip("needs Linux namespaces")
    mark = f"97{os.getpid()}"
    text = f"import subprocess; subprocess.Popen(['sleep', '{mark}'], start_new_session=True)"
    publish(write_script(tmp_path, f"{text}\nimport shutil; shutil.copy(read, out)"))
    assert mark not in list_running()


def list_running():
    """Last words of the command lines of all processes."""
    time.sleep(0.2)
    found = []
    for process in os.listdir("/proc"):
        if process.isdigit():
            try:
                with open(f"/proc/{process}/cmdline") as file:
                    found += file.read().split("\0")
            except OSError:
                continue
    return found


def test_one_that_eats_memory_is_stopped(tmp_path):
    with pytest.raises(ResourceError, match="must run within 500 MB; got MemoryError"):
        publish(write_script(tmp_path, "x = bytearray(900 << 20)"))


def test_cancelling_ends_it(tmp_path):
    started = time.monotonic()
    asked = iter([False, False])
    progress = RecordingProgress(is_cancelled=lambda: next(asked, True))
    with pytest.raises(RunCancelled):
        publish(write_script(tmp_path, "import time; time.sleep(99)"), progress=progress)
    assert time.monotonic() - started < 10


def test_setting_that_is_no_number_is_told(monkeypatch):
    monkeypatch.setenv("AUDIT_COMMAND_MB", "much")
    with pytest.raises(InputError, match="AUDIT_COMMAND_MB must be a whole number above 0"):
        publish("cp {in} {out}")


def test_files_and_network_are_closed_where_the_platform_can(tmp_path):
    """The note says what is not; what it does not name must be closed."""
    note = publish("cp {in} {out}").guarantee.note
    secret = tmp_path / "secret.txt"
    secret.write_text("told to nobody")
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        for what, text in (
            ("files", f"open({str(secret)!r})"),
            ("files", f"open({str(tmp_path / 'new.txt')!r}, 'w')"),
            ("network", f"import socket; socket.create_connection(('127.0.0.1', {port}), 2)"),
            ("network", "import socket; socket.socket(2, 2).sendto(b'told', ('127.0.0.1', 9))"),
        ):
            line = write_script(tmp_path, f"{text}\nopen(out, 'w').write('0,1\\n')")
            if f"closed {what}" in note:
                pytest.skip(f"{what} cannot be closed here")
            with pytest.raises(InputError, match="must end with status 0"):
                publish(line)
    assert not (tmp_path / "new.txt").exists()


@pytest.mark.parametrize(("is_publishing", "bits"), [(False, range(32)), (True, range(200, 257))])
def test_the_seed_of_a_publishing_run_cannot_be_tried_out(tmp_path, is_publishing, bits):
    text = f"assert int(os.environ['AUDIT_SEED']).bit_length() in {bits!r}\n"
    line = write_script(tmp_path, text + "open(out, 'w').write('0,1\\n')")
    context = Context(Seed.from_entropy(), is_publishing=is_publishing)
    release = Command(line=line).publish(GRAPH, Threats(GRAPH), context)
    np.testing.assert_array_equal(release.graph.edges, [[0, 1]])


def test_files_that_the_line_names_can_be_read_and_no_environment_is_inherited(
    tmp_path, monkeypatch
):
    monkeypatch.setenv("SECRET_TOKEN", "told to nobody")
    (tmp_path / "rates.txt").write_text("0,1\n2,3\n")
    text = "assert 'SECRET_TOKEN' not in os.environ\n"
    text += "assert int(os.environ['AUDIT_SEED']) >= 0\n"
    text += "open(out, 'w').write(open(sys.argv[3]).read())"
    line = write_script(tmp_path, text) + " rates.txt"
    np.testing.assert_array_equal(publish(line).graph.edges, [[0, 1], [2, 3]])
