"""Small specs on a tiny graph, and a service whose cluster several tests share."""

from __future__ import annotations

import pytest

from core.audit.asked.spec import AuditSpec
from core.audit.service import AuditService
from tests.oracles.graphs import two_communities


@pytest.fixture(scope="session")
def graph():
    return two_communities()


@pytest.fixture(scope="session")
def make_spec(graph):
    """A spec of both threats with instant methods and nothing to train; keywords replace fields."""

    def make(**fields) -> AuditSpec:
        base = {
            "graph_hash": graph.content_hash,
            "private": "private",
            "known": 0.3,
            "hide_links": 0.1,
            "test_links": 0.0,
            "num_repeats": 1,
            "attacks": [{"key": "common_neighbors"}],
            "defenses": [{"key": "random_deletion"}],
        }
        return AuditSpec.check_spec({**base, **fields})

    return make


@pytest.fixture(scope="module")
def service(tmp_path_factory, graph):
    service = AuditService(tmp_path_factory.mktemp("home"))
    service.save_graph(graph)
    yield service
    service.close()
