"""An audit of identities on every page, and started from one."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from core.audit.asked.attack import parse_attack
from core.audit.asked.spec import AuditSpec
from core.data.catalogue import load_dataset
from core.findings.policy import find_policy
from core.findings.verdict import judge
from pages.ui import publishing, second_graph_form
from tests.inline import run_inline


@pytest.fixture(scope="module")
def identity_audit(audited) -> str:
    """A finished audit of identities: exact knowledge, a matcher, a baseline attacker."""
    graph = load_dataset("karate").graph
    spec = AuditSpec.check_spec(
        {
            "graph_name": "karate",
            "graph_hash": graph.content_hash,
            "identity": {"seeds_known": 3},
            "num_repeats": 2,
            "attacks": [
                {"key": key}
                for key in ("degree", "degree_triangles", "seeded_percolation", "random_match")
            ],
            "defenses": [{"key": "k_degree_anonymity"}],
        }
    )
    return run_inline(spec, graph, audited[0].home, "people").summary.id


@pytest.mark.parametrize("page", ["attack", "defend", "risk", "tradeoff", "report", "audits"])
def test_every_page_shows_it(open_app, identity_audit, page):
    open_app(page, audit=identity_audit)


def test_a_unique_person_is_followed_to_where_it_is_not(open_app, identity_audit, audited):
    view = audited[0].get_view(identity_audit)
    part = view.nodes.parts["original", parse_attack("degree_triangles@identity")]
    node = view.nodes.names[part.nodes[part.risk == 1][0]]
    app = open_app("risk", audit=identity_audit, node=node)
    text = "\n".join(item.value for item in app.markdown)
    assert "The only one with these" in text
    assert "Not unique by this on: k-degree anonymity" in text
    app.button(key="hidden-in-k_degree_anonymity").click().run()
    assert not app.exception
    assert app.selectbox(key="ego-release").value == "k_degree_anonymity"
    assert any("Fingerprint in this release:" in caption.value for caption in app.caption)


def test_ids_that_the_audit_counts_as_left_out_are_replaced(
    identity_audit, audit_id, audited, monkeypatch
):
    public = find_policy("public")
    monkeypatch.setattr(publishing, "judge_view", lambda view: judge(view, public))
    for audit, is_fixed in ((identity_audit, True), (audit_id, False)):
        view = audited[0].get_view(audit)
        (release,) = [choice.id for choice in view.spec.defenses]
        assert publishing._leaves_ids_out(view, release) == is_fixed


def test_people_are_looked_for_from_the_attack_page(open_app, audit_id, monkeypatch):
    from pages.ui import page

    started = []
    monkeypatch.setattr(page, "start_audit", started.append)
    app = open_app("attack", audit=audit_id)
    app.session_state["attacks-open-False"] = True
    app.run()
    app.button(key="preset-none").click().run()
    app.checkbox(key="attack.ego").check().run()
    app.button(key="run").click().run()
    assert [choice.key for choice in started[0]["attacks"]] == ["ego"]
    assert started[0]["identity"] == {}


def test_a_second_graph_is_uploaded_on_the_data_page(open_app, example, monkeypatch):
    app = open_app("data", graph=example)

    def find(widgets, start):
        return next(w for w in widgets if w.key and w.key.startswith(start))

    def held():
        return app.session_state["threats"][app.session_state["graph"]].identity

    find(app.number_input, "seeds-known-").set_value(2).run()
    strangers = b"source,target\nanna,ben\nben,cleo\ncleo,dora\n"
    find(app.file_uploader, "second-graph-").set_value(("s.csv", strangers, "text/csv")).run()
    assert "must have people in common" in app.error[0].value
    assert (held().auxiliary_graph, held().seeds_known) == (None, 2)
    graph = load_dataset("social").graph
    ends = [f"{graph.node_ids[i]},{graph.node_ids[j]}" for i, j in graph.edges[:400]]
    links = "\n".join(["source,target", *ends]).encode()
    find(app.file_uploader, "second-graph-").set_value(("k.csv", links, "text/csv")).run()
    assert not app.error
    given = held().auxiliary_graph
    assert given is not None
    never = SimpleNamespace(load_in_sandbox=lambda *_: pytest.fail("read again"))
    monkeypatch.setattr(second_graph_form, "sandbox", never)
    app.run()
    assert held().auxiliary_graph == given
    for folder, _ in app.session_state["uploads"].values():
        folder.cleanup()  # as a session does that ends
