"""An audit of a release that was made elsewhere, on every page."""

from __future__ import annotations

import numpy as np
import pytest

from core.audit.asked.spec import AuditSpec
from core.data.catalogue import load_dataset
from core.data.node_pairs import list_id_pairs
from core.defenses.external import EXTERNAL, ONE_RELEASE
from core.findings.guarantees import UNKNOWN
from core.findings.policy import find_policy
from pages.ui import page
from pages.ui.text import escape
from tests.inline import run_inline
from tests.pages.conftest import PAGES, open_tab


@pytest.fixture(scope="module")
def judged_audit(audited) -> str:
    """A finished audit of karate's links less every fifth, under a policy."""
    service, graph = audited[0], load_dataset("karate").graph
    gone = graph.edges[::5]
    spec = AuditSpec.check_spec(
        {
            "graph_name": "karate",
            "graph_hash": graph.content_hash,
            "private": "label",
            "known_people": graph.node_ids[:12],
            "sensitive_links": list_id_pairs(graph, gone),
            "external_release": service.save_graph(graph.without_edges(gone)),
            "defenses": [{"key": EXTERNAL}],
            "num_repeats": 1,
            "test_links": 0.0,
            "attacks": [{"key": "common_neighbors"}, {"key": "label_propagation"}],
            "policy": find_policy("partner").model_dump(mode="json"),
        }
    )
    return run_inline(spec, graph, service.home, "judged").summary.id


@pytest.mark.parametrize("page", PAGES)
def test_every_page_shows_it(open_app, judged_audit, page):
    open_app(page, audit=judged_audit)


def test_what_is_not_known_is_told(open_app, judged_audit):
    app = open_tab(open_app("decision", audit=judged_audit), "decision-tabs", "Each release")
    assert escape(ONE_RELEASE, 300) in list_texts(app)
    assert "What could change the decision" not in [item.value for item in app.header]
    app = open_tab(open_app("defend", audit=judged_audit), "defend-tabs", "Guarantee")
    assert escape(UNKNOWN, 300) in list_texts(app)
    app = open_app("report", audit=judged_audit)
    assert "made with another tool" in list_texts(app)
    assert not [box for box in app.selectbox if box.label == "Release to publish"]


def list_texts(app) -> str:
    return "\n".join(item.value for item in (*app.markdown, *app.caption))


def test_another_audit_draws_who_is_known(open_app, judged_audit):
    app = open_app("attack", audit=judged_audit)
    (choice,) = app.session_state["threats"].values()
    assert choice.threats.known_people is None


def test_the_door_attacks_an_uploaded_release(open_app, example, monkeypatch):
    """Withheld links are those that the file lacks; nodes that the graph lacks are refused."""
    graph = load_dataset("social").graph
    gone, kept = graph.edges[::9], np.delete(graph.edges, np.s_[::9], axis=0)
    started = []
    monkeypatch.setattr(page, "start_audit", started.append)
    app = open_app("overview", graph=example)

    def upload(pairs):
        text = "\n".join(["source,target", *(f"{a},{b}" for a, b in pairs)])
        box = next(w for w in app.file_uploader if w.key == "external-file")
        box.set_value([("release.csv", text.encode(), "text/csv")]).run()

    upload([*list_id_pairs(graph, kept), ("nobody", graph.node_ids[0])])
    assert "must have nodes of the original only" in app.error[0].value
    upload(list_id_pairs(graph, kept))
    assert f"It lacks {len(gone):,} links of the open graph." in list_texts(app)
    app.button(key="judge").click().run()
    spec = page_spec(app, started)
    assert spec.external_release is not None
    assert set(map(frozenset, spec.threats.sensitive_links)) == set(
        map(frozenset, list_id_pairs(graph, gone))
    )
    assert spec.threats.private == "affiliation"
    for folder, _ in app.session_state["uploads"].values():
        folder.cleanup()


def page_spec(app, started) -> AuditSpec:
    """The one audit that a click began, as the page makes it of the session's threats."""
    (fields,) = started
    (choice,) = app.session_state["threats"].values()
    graph = load_dataset("social").graph
    return AuditSpec.check_spec(
        {"graph_name": "social", "graph_hash": graph.content_hash, **choice.spec_fields, **fields}
    )
