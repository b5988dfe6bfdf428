"""What the tests share: a cluster a process, fixtures a file, and what their processes compile."""

from __future__ import annotations

import subprocess
import sys

import pytest

from core.audit.jobs import cluster as cluster_module
from core.audit.jobs import engine
from core.cli import team
from tests.conftest import ClusterLender


class Embedded:
    """Stands for an embedded cluster."""

    def __init__(self, home):
        self.home, self.is_alive = home, True

    def close(self):
        self.is_alive = False


def test_a_cluster_is_lent_until_it_dies_or_its_lender_ends_it(monkeypatch, tmp_path):
    monkeypatch.setattr(cluster_module, "EmbeddedCluster", Embedded)
    lender = ClusterLender(tmp_path)
    first = lender.lend()
    first.close()
    assert first.is_alive
    assert lender.lend(tmp_path / "another home") is first
    first._cluster.close()  # as if it had died
    second = lender.lend()
    assert second is not first
    lender.close()
    assert not second.is_alive


def test_services_and_commands_of_tests_share_it(cluster_lender):
    assert engine.EmbeddedCluster == cluster_lender.lend
    assert team._start_cluster.__module__ == "tests.conftest"


@pytest.fixture(scope="module")
def shared():
    return 1


def test_tests_that_share_a_fixture_run_in_one_process(request, shared):
    assert request.node.get_closest_marker("xdist_group").args == ("tests/test_suite",)
    is_grouped = getattr(request.config.option, "loadgroup", False)
    assert request.node.nodeid.endswith("@tests/test_suite") == is_grouped


def test_others_run_where_there_is_time(request):
    assert request.node.get_closest_marker("xdist_group") is None


def test_processes_keep_what_they_compile():
    assert not sys.dont_write_bytecode
    code = "import sys; print(sys.dont_write_bytecode)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
