"""Every tab and fold of every page, for audits that lack what most audits have."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from core.audit.asked.spec import AuditSpec
from core.data.catalogue import load_dataset
from tests.inline import run_inline

LINKS = ("common_neighbors", "degree_product")
VALUES = ("label_propagation", "class_prior")
DELETION = {"key": "random_deletion", "config": {"strength": 0.5}}
AUDITS = {
    "links": ({"hide_links": 0.2}, LINKS, []),
    "values": ({"private": "label"}, VALUES, []),
    "links that know more": (
        {"hide_links": 0.2, "released_links": True, "adaptive": True, "composition": 2},
        LINKS,
        [],
    ),
    "released links, defended": ({"released_links": True}, ("common_neighbors",), [DELETION]),
    "values, defended": ({"private": "label", "adaptive": True}, VALUES, [DELETION]),
    "identities": ({"identity": {"seeds_known": 3}}, ("degree", "random_match"), []),
    "no baseline attacker": ({"hide_links": 0.2, "private": "label"}, ("common_neighbors",), []),
    "left out": ({"hide_links": 0.2, "control": 0.2}, LINKS, []),
}


@pytest.fixture(scope="module", params=AUDITS)
def audit(request: pytest.FixtureRequest, audited) -> Iterator[str]:
    fields, attacks, defenses = AUDITS[request.param]
    graph = load_dataset("karate").graph
    content = {"graph_name": "karate", "graph_hash": graph.content_hash, "num_repeats": 2}
    content |= {"attacks": [{"key": key} for key in attacks], "defenses": defenses, **fields}
    spec = AuditSpec.check_spec(content)
    audit_id = run_inline(spec, graph, audited[0].home, request.param).summary.id
    yield audit_id
    audited[0].delete_audit(audit_id)  # other tests read the list of audits


@pytest.mark.usefixtures("all_unfolded")
@pytest.mark.parametrize(
    "page", ["decision", "attack", "defend", "risk", "map", "homophily", "tradeoff", "report"]
)
def test_every_tab_opens(open_app, audit, page):
    app = open_app(page, audit=audit)
    assert not app.exception, app.exception
