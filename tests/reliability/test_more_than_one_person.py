"""The help page's commands for several people: each is run, in a copy of the project's folder."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

import core.cli.main as command
from core.audit.asked.spec import AuditSpec
from core.audit.store.accounts import Person
from core.audit.store.database import Store
from core.audit.store.team import Team
from tests.browser.conftest import find_free_port, wait_for_server
from tests.inline import run_inline
from tests.oracles.graphs import two_communities
from tests.test_readme import read_block

ROOT = Path(__file__).parents[2]
BLOCK = read_block("More than one person")
LINES = [line for line in BLOCK.splitlines() if not line.startswith("#")]
COMMAND = ".venv/bin/python -m core "


@pytest.fixture
def project(tmp_path, audit_home, monkeypatch):
    """A folder in which the app can be configured without configuring all of its tests."""
    folder = tmp_path / "project"
    (folder / ".streamlit").mkdir(parents=True)
    for name in ("app.py", "assets", "core", "pages", ".venv"):
        (folder / name).symlink_to(ROOT / name)
    config = (ROOT / ".streamlit" / "config.toml").read_text()
    (folder / ".streamlit" / "config.toml").write_text(config)
    audit_home.mkdir(mode=0o700)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("AUDIT_WORKERS", "1")
    monkeypatch.setenv("AUDIT_DEVICE", "cpu")
    monkeypatch.delenv("AUDIT_TOKEN", raising=False)
    return folder


def serve(line: str) -> None:
    """The app starts, and answers."""
    port = find_free_port()
    words = line.replace(".venv/bin/", f"{sys.executable} -m ").split()
    with subprocess.Popen([*words, "--server.port", str(port)], stderr=subprocess.DEVNULL) as app:
        try:
            address = f"http://127.0.0.1:{port}"
            wait_for_server(address, app)
            with urllib.request.urlopen(address, timeout=20) as answer:
                assert answer.status == 200
            with urllib.request.urlopen(f"{address}/api/health", timeout=20) as answer:
                assert json.load(answer) == {"status": "ok"}
        finally:
            app.terminate()


@pytest.mark.xdist_group("audit cluster")
def test_every_line_runs(project, audit_home, capsys, monkeypatch):
    store = Store(audit_home)
    graph = two_communities()
    fields = {"graph_hash": graph.content_hash, "attacks": [{"key": "common_neighbors"}]}
    spec = AuditSpec.check_spec({**fields, "hide_links": 0.1, "test_links": 0.0, "num_repeats": 1})
    audit_id = run_inline(spec, graph, audit_home, store=store).summary.id
    ada = Person("https://id.test ada", "Ada", "analyst", "ada@example.org")
    Team(store).welcome(ada)
    output = {}
    for line in LINES:
        line = line.replace("AUDIT ada", f"{audit_id} ada")
        capsys.readouterr()
        if line.startswith(COMMAND):
            words = line.removeprefix(COMMAND).split()
            assert command.main(words) == 0, capsys.readouterr().err
            output[words[0]] = capsys.readouterr().out
        elif line.startswith("export "):
            name, _, _ = line.removeprefix("export ").partition("=")
            monkeypatch.setenv(name, output["token"].strip())
        elif "streamlit run" in line:
            assert (project / ".streamlit" / "secrets.toml").exists()
            serve(line)
        elif "pip install" in line:
            pins = (ROOT / "tests" / "requirements.txt").read_text().split()
            assert set(line.split()[2:]) <= set(pins)
        else:
            subprocess.run(["sh", "-ec", line], check=True, env={**os.environ})
    assert output["people"].split() == ["analyst", "Ada", "ada@example.org", *ada.subject.split()]
    events = [entry["event"] for entry in json.loads(output["trail"])]
    assert events[:2] == ["make token", "share audit"]
    (mine,) = [audit for audit in store.list_audits() if audit.person == ada.subject]
    assert mine.state == "done"
    assert (project / "audit" / "audit.json").exists()
    store.close()
