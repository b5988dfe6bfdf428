"""Attackers who know the defense, look inside a release, or hold several: cases of an audit."""

from __future__ import annotations

import pytest

from core.audit.asked.attack import parse_attack
from core.audit.asked.knowledge import STANDARD
from core.audit.asked.method_choice import MethodChoice
from core.audit.asked.scenarios import Scenario, list_scenarios
from core.audit.asked.spec import AuditSpec
from core.audit.computing.plan import plan_audit
from core.audit.computing.prepared import PreparedAudit
from core.audit.results.export import describe_audit
from core.cli.audit_spec import read_attacks
from core.errors import InputError
from tests.inline import run_inline
from tests.oracles.graphs import two_communities

MORE = {"adaptive": True, "released_links": True, "composition": 3}
INSIDE = ["mechanism_posterior", "plausibility:embedding=false,folds=2"]


def make_spec(graph, attacks=("adamic_adar", "degree_product"), **fields):
    return AuditSpec(
        graph_hash=graph.content_hash,
        hide_links=0.1,
        attacks=tuple(MethodChoice.parse(text) for text in attacks),
        defenses=(MethodChoice.parse("edge_rand:epsilon=2", "defense"),),
        num_repeats=1,
        **fields,
    )


def test_plain_cases_keep_their_cells_whatever_else_is_asked():
    graph = two_communities()
    plain = plan_audit(PreparedAudit.build(make_spec(graph), graph))
    more = plan_audit(
        PreparedAudit.build(
            make_spec(graph, ("adamic_adar", "degree_product", *INSIDE), **MORE), graph
        )
    )
    keys = {cell.key for cell in more}
    assert {cell.key for cell in plain} < keys
    assert len(keys) == len(more)


def test_each_attack_also_knows_the_defense_but_for_baseline_attackers_on_every_release():
    graph = two_communities()
    spec = make_spec(graph, ("adamic_adar", "degree_product", *INSIDE), **MORE)
    ids = [scenario.id for _, _, scenario in list_scenarios(spec)]
    assert ids == [
        "adamic_adar",
        "adamic_adar@adaptive",
        "degree_product",
        "mechanism_posterior@included",
        "mechanism_posterior@included+adaptive",
        "mechanism_posterior@included+composition:3",
        "plausibility:folds=2,embedding=False@included",
        "plausibility:folds=2,embedding=False@included+adaptive",
    ]
    cells = [cell for cell in plan_audit(PreparedAudit.build(spec, graph)) if cell.kind == "attack"]
    faced = {release: [] for release in ("original", "edge_rand:epsilon=2.0")}
    for cell in cells:
        faced[cell.release].append(cell.method)
    assert sorted(faced["original"]) == sorted(faced["edge_rand:epsilon=2.0"])
    shared = {c.method: c.same_as for c in cells if c.same_as}
    assert {c.release for c in cells if c.same_as} == {"original"}
    plain = {c.key: c.method for c in cells if c.release == "original"}
    for method, key in shared.items():
        assert plain[key] == method.replace("@adaptive", "").replace("+adaptive", "").replace(
            "+composition:3", ""
        )


def test_rows_say_what_was_attacked_by_whom(tmp_path):
    graph = two_communities(60)
    view = run_inline(make_spec(graph, ("adamic_adar", INSIDE[0]), **MORE), graph, tmp_path)
    rows = describe_audit(view)["results"]
    assert not [row for row in rows if row["status"] == "failed"]
    found = {(r["threat"], r["knowledge"], r["metric"]) for r in rows if r["value"] is not None}
    # On the original there is nothing to rehearse or to combine: no row repeats another's.
    repeating = [row for row in rows if row["knowledge"] in ("adaptive", "composition:3")]
    assert {row["release"] for row in repeating} == {"edge_rand:epsilon=2.0"}
    on_original = {
        attack.knowledge for release, attack in view.nodes.parts if release == "original"
    }
    assert on_original == {STANDARD}
    for knowledge in ("standard", "adaptive"):
        assert ("link", knowledge, "auc") in found
        assert ("included", knowledge, "released_auc") in found
    for metric in ("released_precision", "recovered_at_precision_0.9", "released_auc"):
        assert ("included", "composition:3", metric) in found
    aucs = {
        r["knowledge"]: r["value"]
        for r in rows
        if (r["method"], r["metric"]) == ("mechanism_posterior", "released_auc")
        and r["release"] != "original"
    }
    assert aucs["composition:3"] > aucs["standard"] > 0.6
    nodes = view.nodes.to_frame()
    inside = nodes[nodes.attack == "mechanism_posterior@included"]
    assert set(inside.release) == {"original", "edge_rand:epsilon=2.0"}
    original = inside[inside.release == "original"]
    assert original.risk.mean() > 0.9  # an undefended release is what it says


def test_one_release_of_every_defense_tells_more_than_each_alone(tmp_path):
    graph = two_communities(60)
    texts = ("edge_rand:epsilon=2", "edge_rand:epsilon=1")
    spec = make_spec(graph, ("mechanism_posterior",), hold_every_defense=True).model_copy(
        update={"defenses": tuple(MethodChoice.parse(text, "defense") for text in texts)}
    )
    (scenario,) = [s for _, _, s in list_scenarios(spec) if s.knowledge.kind == "composition"]
    assert Scenario.parse(scenario.id) == scenario
    assert scenario.knowledge.defenses == ("edge_rand:epsilon=2.0", "edge_rand:epsilon=1.0")
    view = run_inline(spec, graph, tmp_path)
    for release in scenario.knowledge.defenses:
        aucs = [
            view.estimate(release, method, "released_auc").value
            for method in ("mechanism_posterior@included", scenario.id)
        ]
        assert aucs[1] > aucs[0]
    assert "combining EdgeRand (ε = 2) and EdgeRand (ε = 1)" in parse_attack(scenario.id).title


def test_links_inside_need_no_links_that_are_withheld(tmp_path):
    graph = two_communities()
    spec = AuditSpec(
        graph_hash=graph.content_hash,
        private="private",
        released_links=True,
        attacks=(MethodChoice.parse("mechanism_posterior"),),
        num_repeats=1,
    )
    view = run_inline(spec, graph, tmp_path)
    assert view.estimate("original", "mechanism_posterior@included", "released_auc").value == 1.0


def test_an_attack_on_links_inside_is_no_case_where_they_are_not_attacked():
    graph = two_communities()
    spec = make_spec(graph, ("adamic_adar", "mechanism_posterior"))
    assert [scenario.id for _, _, scenario in list_scenarios(spec)] == ["adamic_adar"]
    fields = {"hide_links": 0.1}
    with pytest.raises(InputError, match="--released-links"):
        read_attacks(["mechanism_posterior"], fields)
    keys = [choice["key"] for choice in read_attacks(["mechanism_posterior"], {"composition": 3})]
    assert "mechanism_posterior" in keys
    read_attacks(["all"], fields)
