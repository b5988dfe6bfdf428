"""Another user of the same machine: the home, what a command writes, and the cluster's ports."""

from __future__ import annotations

import json
import os
import pwd
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

PYTHON = Path("/usr/bin/python3")
ROOT = Path(__file__).parents[2]

INTRUDER = """
import json, os, socket, ssl, sys
opened, folder, ports = [], sys.argv[1], map(int, sys.argv[2:])
for parent, _, names in os.walk(folder):
    for name in names:
        path = os.path.join(parent, name)
        try:
            with open(path, "rb") as file:
                file.read(1)
            opened.append(os.path.relpath(path, folder))
        except PermissionError:
            pass
answers = []
for port in ports:
    for use_tls in (False, True):
        try:
            with socket.create_connection(("127.0.0.1", port), 10) as plain:
                context = ssl._create_unverified_context()
                stream = context.wrap_socket(plain) if use_tls else plain
                stream.sendall(bytes(8) + b"x" * 64)
                answers.append(stream.recv(1) not in (b"", b"\x15"))  # an alert of TLS
        except OSError as error:
            answers.append(False)
print(json.dumps([opened, answers]))
"""

pytestmark = pytest.mark.skipif(
    os.geteuid() != 0 or not PYTHON.exists(), reason="needs root, to be somebody else"
)


def intrude(folder: Path, *ports: int) -> tuple[list[str], list[bool]]:
    """What nobody can open below a folder, and which ports answer, plain and by TLS."""
    nobody = pwd.getpwnam("nobody")
    done = subprocess.run(
        [PYTHON, "-c", INTRUDER, folder, *map(str, ports)],
        user=nobody.pw_uid,
        group=nobody.pw_gid,
        extra_groups=[],
        cwd="/",
        capture_output=True,
        check=True,
        text=True,
        timeout=120,
    )
    opened, answers = json.loads(done.stdout)
    return opened, answers


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that everybody may enter: a test's own is closed already."""
    folder = Path(tempfile.mkdtemp(prefix="audit-open-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


def test_the_intruder_finds_what_is_open(folder):
    (folder / "open").write_text("x")
    (folder / "open").chmod(0o644)
    assert intrude(folder)[0] == ["open"]


@pytest.mark.xdist_group("audit cluster")
def test_neither_files_nor_ports(folder, monkeypatch):
    """The home was there before and open, and the caller's umask is that of most systems."""
    from core.audit.jobs.cluster import EmbeddedCluster

    home, out = folder / "home", folder / "out"
    home.mkdir(mode=0o755)
    monkeypatch.setenv("AUDIT_WORKERS", "1")
    monkeypatch.setenv("AUDIT_DEVICE", "cpu")
    command = [sys.executable, "-m", "core", "publish", "--graph", "karate"]
    before = os.umask(0o022)
    try:
        subprocess.run(
            [*command, "--defense", "edge_rand:epsilon=2", "--out", out / "release.csv"],
            env={**os.environ, "AUDIT_HOME": str(home)},
            cwd=ROOT,
            check=True,
            capture_output=True,
        )
        assert (home / "audit.db").exists()
        assert (out / "release.csv").exists()
        cluster = EmbeddedCluster(home)
        cluster.wait_until_ready()
        try:
            port = int(cluster.address.rpartition(":")[2])
            assert intrude(folder, port) == ([], [False, False])
            assert cluster.is_alive
        finally:
            cluster.close()
    finally:
        os.umask(before)
