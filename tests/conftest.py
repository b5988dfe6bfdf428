"""What all tests share: where real data is, and which machines can run what."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from _pytest.nodeid import NodeId
from hypothesis import settings

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from core.audit.jobs.cluster import EmbeddedCluster
    from tests.postgres import Server
    from tests.reader_server import ReaderServer

# One thread a process: results do not depend on the machine's cores, and workers share them.
for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(name, "1")

# Tests start processes by the hundred. Where none may keep what it compiled, each cluster compiles
# the project's sources for 2.5 s of a processor, and each collection rewrites all tests anew.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# No deadline for an example of a property: how long one takes tells of the machine's load. Nightly
# runs draw new examples, others the same ones, so that a change alone decides whether they pass.
settings.register_profile(
    "tests", deadline=None, derandomize=os.environ.get("AUDIT_NIGHTLY") != "1"
)
settings.load_profile("tests")

ROOT = Path(__file__).parents[1]
BROWSER = shutil.which("chromium") or "/usr/bin/chromium"


QUICK = ("algorithms", "cli", "measures", "oracles", "privacy")
"""Folders whose tests are quick, beside those at the top."""


def find_data_root() -> Path | None:
    """The folder of real graphs: AUDIT_DATA, or the shared data beside the project."""
    for candidate in (os.environ.get("AUDIT_DATA"), ROOT.parent / "shared" / "data"):
        if candidate and Path(candidate).is_dir():
            return Path(candidate)
    return None


@pytest.fixture(scope="session")
def data_root() -> Path:
    root = find_data_root()
    if root is None:
        pytest.skip("no real graphs: set AUDIT_DATA to a folder with the raw files")
    return root


@pytest.fixture
def audit_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty AUDIT_HOME of the test's own."""
    home = tmp_path / "home"
    monkeypatch.setenv("AUDIT_HOME", str(home))
    monkeypatch.delenv("AUDIT_DATABASE", raising=False)
    return home


@pytest.fixture
def no_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Figures are named and described but not drawn, which takes most of a report's time."""
    from core.report.data import ReportData

    monkeypatch.setattr(ReportData, "add_image", lambda _data, name, _draw: f"{name}.svg")


class LentCluster:
    """An embedded cluster that whoever uses it cannot end."""

    def __init__(self, cluster: EmbeddedCluster) -> None:
        self._cluster, self._lock = cluster, threading.Lock()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._cluster, name)

    def wait_until_ready(self) -> None:
        with self._lock:
            if not self._cluster.address:
                self._cluster.wait_until_ready()

    def close(self) -> None:
        """The process of the tests ends it."""


class ClusterLender:
    """Starts the cluster when it is first asked for, whatever a test set for its own."""

    def __init__(self, home: Path) -> None:
        self._home, self._lock = home, threading.Lock()
        self._cluster: EmbeddedCluster | None = None
        self._lent: LentCluster | None = None

    def lend(self, _home: Path | None = None) -> LentCluster:
        """For any AUDIT_HOME: cells are told theirs."""
        from core.audit.jobs.cluster import EmbeddedCluster

        with self._lock:
            if self._lent is None or not self._lent.is_alive:
                with pytest.MonkeyPatch.context() as patch:
                    patch.delenv("AUDIT_WORKERS", raising=False)
                    self._cluster = EmbeddedCluster(self._home)
                self._lent = LentCluster(self._cluster)
            return self._lent

    def close(self) -> None:
        if self._cluster is not None:
            self._cluster.close()


@pytest.fixture(scope="session")
def cluster_lender(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ClusterLender]:
    lender = ClusterLender(tmp_path_factory.mktemp("cluster"))
    yield lender
    lender.close()


@pytest.fixture(autouse=True)
def _lend_cluster(
    request: pytest.FixtureRequest, cluster_lender: ClusterLender, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Services and commands of this process share a cluster: a start costs more than a small audit.

    Not where a test is about the cluster of its own (marker `own_cluster`).
    """
    if request.node.get_closest_marker("own_cluster"):
        return
    from core.audit.jobs import engine
    from core.cli import team

    monkeypatch.setattr(engine, "EmbeddedCluster", cluster_lender.lend)
    monkeypatch.setattr(
        team, "_start_cluster", lambda: cluster_lender.lend() if engine.is_embedded() else None
    )


@pytest.fixture(scope="session")
def reader_server() -> Iterator[ReaderServer]:
    from tests.reader_server import ReaderServer

    server = ReaderServer()
    yield server
    server.close()


@pytest.fixture(autouse=True)
def _forget_findings() -> None:
    """What a test found under its patches is not given to the next one."""
    from core import once

    once._found.clear()


@pytest.fixture(autouse=True)
def _lend_readers(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files are read by processes that need not import first; in `tests/data`, and where a test
    sets their limits, as users read."""
    if request.path.parent.name in ("data", "reliability", "browser", "deploy"):
        return
    from core.data import sandbox

    class Lent:
        def __getattr__(self, name: str) -> Any:
            is_limited = any(variable.startswith("AUDIT_READ_") for variable in os.environ)
            server = subprocess if is_limited else request.getfixturevalue("reader_server")
            return getattr(server, name)

    monkeypatch.setattr(sandbox, "subprocess", Lent())


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One Chromium for all tests of a process: two Playwrights in one process collide."""
    from playwright.sync_api import sync_playwright

    arguments = ["--no-sandbox", "--disable-dev-shm-usage", "--enable-unsafe-swiftshader"]
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=BROWSER, args=arguments)
        yield chromium
        chromium.close()


def _mark_quick(items: list[pytest.Item]) -> None:
    """Mark what `pytest -m quick` runs: quick folders without what is slow in them."""
    for item in items:
        folder = item.path.relative_to(ROOT / "tests").parent.parts[:1]
        is_long = any(map(item.get_closest_marker, ("slow", "browser", "nightly")))
        if not is_long and (not folder or folder[0] in QUICK):
            item.add_marker(pytest.mark.quick)


def _keep_fixtures_together(items: list[pytest.Item]) -> None:
    """Tests that share a fixture of their file run in one process: another would make it anew."""
    for item in items:
        assert isinstance(item, pytest.Function)
        fixtures = item._fixtureinfo.name2fixturedefs.values()
        is_shared = any(defined[-1].scope == "module" for defined in fixtures)
        if is_shared and not item.get_closest_marker("xdist_group"):
            item.add_marker(pytest.mark.xdist_group(f"{item.path.parent.name}/{item.path.stem}"))


def _name_groups(items: list[pytest.Item]) -> None:
    """End the ids of a worker's tests in their group, by which `--dist loadgroup` goes.

    pytest-xdist 3.8 writes the ids where pytest 9.2 does not read them: no group was kept.
    """
    for item in items:
        marker = item.get_closest_marker("xdist_group")
        if marker is not None:
            item._id = NodeId.parse(f"{item.nodeid}@{marker.args[0]}")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    _mark_quick(items)
    _keep_fixtures_together(items)
    if getattr(config.option, "loadgroup", False):
        _name_groups(items)
    has_gpu: bool | None = None
    for item in items:
        if item.get_closest_marker("gpu"):
            if has_gpu is None:
                import torch

                has_gpu = torch.cuda.is_available()
            if not has_gpu:
                item.add_marker(pytest.mark.skip(reason="no CUDA device on this machine"))
        if item.get_closest_marker("browser") and not Path(BROWSER).exists():
            item.add_marker(pytest.mark.skip(reason="no Chromium on this machine"))
        if item.get_closest_marker("nightly") and os.environ.get("AUDIT_NIGHTLY") != "1":
            item.add_marker(pytest.mark.skip(reason="nightly: set AUDIT_NIGHTLY=1"))


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Server]:
    """A running PostgreSQL without databases of ours; see tests/postgres.py."""
    from tests.postgres import find_reason, run_server

    reason = find_reason()
    if reason:
        pytest.skip(f"no PostgreSQL: {reason}")
    with run_server() as server:
        yield server


@pytest.fixture(scope="session")
def postgres(postgres_server: Server) -> str:
    """Its URL, less the name of a database."""
    return postgres_server.url


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """AUDIT_DATABASE is an empty database: the default one of a home, or a PostgreSQL."""
    if request.param == "sqlite":
        monkeypatch.delenv("AUDIT_DATABASE", raising=False)
    else:
        from tests.postgres import create_database

        url = create_database(request.getfixturevalue("postgres"))
        monkeypatch.setenv("AUDIT_DATABASE", url)
    return request.param
