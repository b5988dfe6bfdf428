"""Another graph to learn from, from the command line to rows; deletion; errors in one line."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import core.cli.main as command
from core.attacks.attribute.neighbourhood_classifier import NeighbourhoodClassifier
from core.audit.asked.attack import parse_attack
from core.audit.asked.knowledge import STANDARD, Shadow
from core.audit.asked.scenarios import Scenario, list_scenarios
from core.audit.asked.spec import AuditSpec
from core.audit.computing.plan import plan_audit
from core.audit.computing.prepared import (
    PreparedAudit,
    describe_shadow_columns,
    find_gaps,
    prepare_shadow_graph,
)
from core.audit.computing.threat_sampling import draw_repeat, select_attacker
from core.audit.results.export import describe_audit
from core.audit.service import AuditService
from core.audit.store.database import Store
from core.audit.store.statements import list_graphs
from core.cli.audit_spec import build_spec
from core.data.synthetic import generate_social
from core.data.writers import write_release
from core.errors import InputError
from core.node_column import NodeColumn
from core.release import Release
from tests.inline import run_inline

GRAPH = generate_social(250, 1)
OTHER = generate_social(220, 2)
ATTACKS = [{"key": "neighbourhood_classifier"}, {"key": "label_propagation"}]


def make_spec(**fields):
    base = {"graph_hash": GRAPH.content_hash, "private": "seniority", "num_repeats": 1}
    return AuditSpec.check_spec({**base, "attacks": ATTACKS, **fields})


def test_one_case_more_and_the_others_stay_as_they_were():
    plain = plan_audit(PreparedAudit.build(make_spec(), GRAPH))
    spec = make_spec(shadow_graph=OTHER.content_hash)
    more = plan_audit(PreparedAudit.build(spec, GRAPH, None, OTHER))
    new = {cell.key: cell.method for cell in more}
    assert {cell.key for cell in plain} < set(new)
    for cell in plain:
        del new[cell.key]
    assert len(new) == 1
    (name,) = new.values()
    scenario = Scenario.parse(name)
    assert (scenario.knowledge, scenario.threat) == (Shadow(), "attribute")
    assert scenario.id == name
    assert [c.id for _, _, c in list_scenarios(spec)].count(name) == 1
    again = plan_audit(PreparedAudit.build(make_spec(shadow_graph="0" * 64), GRAPH, None, OTHER))
    assert {c.key for c in again} & {c.key for c in more} == {c.key for c in plain}


def test_what_is_learned_there_is_renewed_apart(monkeypatch):
    spec = make_spec(shadow_graph=OTHER.content_hash)
    old = {
        cell.method: cell.key for cell in plan_audit(PreparedAudit.build(spec, GRAPH, None, OTHER))
    }
    monkeypatch.setattr(NeighbourhoodClassifier, "transfer_version", 99)
    new = {
        cell.method: cell.key for cell in plan_audit(PreparedAudit.build(spec, GRAPH, None, OTHER))
    }
    assert [m for m in old if old[m] != new[m]] == ["neighbourhood_classifier@transfer"]


def test_the_other_graph_is_needed_and_deleted_with_the_audit(tmp_path):
    fields = make_spec(shadow_graph="b").model_dump(mode="json")
    assert list_graphs("a", fields) == ["a", "b"]
    store = Store(tmp_path)
    store.save_graph(GRAPH)
    held = store.save_graph(OTHER)
    spec = make_spec(shadow_graph=held)
    for audit_id in ("one", "two"):
        store.add_audit(
            audit_id, "", spec, plan_audit(PreparedAudit.build(spec, GRAPH, None, OTHER)), {}
        )
    assert store.delete_audit("one") == []
    assert store.load_graph(held).num_nodes == 220
    assert set(store.delete_audit("two")) == {held, GRAPH.content_hash}
    store.close()


@pytest.mark.parametrize(
    ("attributes", "said"),
    [
        ({}, "must have the private column"),
        ({"seniority": NodeColumn("seniority", np.zeros(220), ("boss",))}, "at least two classes"),
    ],
)
def test_a_graph_that_cannot_teach_is_an_error(attributes, said):
    with pytest.raises(InputError, match=said):
        prepare_shadow_graph(OTHER.update_columns(attributes=attributes), GRAPH.column("seniority"))


def test_a_private_column_is_needed():
    with pytest.raises(InputError, match="needs a private column"):
        make_spec(private=None, hide_links=0.1, shadow_graph="0" * 64)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Both graphs as files that people share."""
    folder = tmp_path_factory.mktemp("graphs")
    for name, graph in (("own", GRAPH), ("other", OTHER)):
        write_release(Release(graph), folder, name, {}, ("graphml",), attributes=("seniority",))
    return folder


def build(options, home):
    """The spec that the command makes of its options, and the graph that it audits."""
    command.split_private(options)
    service = AuditService(home)
    try:
        spec = build_spec(options, service)
        return spec, service.load_graph(spec.graph_hash)
    finally:
        service.close()


def measure_taught(view):
    """AUC rows of attackers trained on a shadow graph."""
    rows = pd.DataFrame(describe_audit(view)["results"])
    return rows[(rows.knowledge == "transfer") & (rows.metric == "auc")]


def test_the_command_line_audits_it(files, audit_home):
    options = command.build_parser().parse_args(
        [
            *["audit", "--graph", str(files / "own.graphml"), "--private", "seniority"],
            *["--shadow-graph", str(files / "other.graphml"), "--repeats", "1"],
            *["--attack", "neighbourhood_classifier:trees=50,folds=2,rounds=1", "--out", "out"],
        ]
    )
    spec, graph = build(options, audit_home)
    assert spec.knowledge.shadow_graph is not None
    taught = measure_taught(run_inline(spec, graph, audit_home))
    assert set(taught.method) == {"neighbourhood_classifier:trees=50,folds=2,rounds=1"}
    assert set(taught.threat) == {"attribute"}
    assert taught.value.iloc[0] > 0.75


def test_the_command_line_tells_which_columns_are_taught(tmp_path, capsys, audit_home):
    for name, graph in (("own", GRAPH), ("other", OTHER)):
        columns = ("seniority", "affiliation") if name == "own" else ("affiliation",)
        write_release(Release(graph), tmp_path, name, {}, ("graphml",), attributes=columns)
    attack = "neighbourhood_classifier:trees=50,folds=2,rounds=1"
    options = command.build_parser().parse_args(
        [
            *["audit", "--graph", str(tmp_path / "own.graphml"), "--attack", attack],
            *["--private", "seniority", "--private", "affiliation", "--repeats", "1"],
            *["--shadow-graph", str(tmp_path / "other.graphml"), "--out", "out"],
        ]
    )
    spec, graph = build(options, audit_home)
    told = "shadow graph: has affiliation, not seniority (no such column there)"
    assert told in capsys.readouterr().err
    taught = measure_taught(run_inline(spec, graph, audit_home))
    assert set(taught.target) == {"affiliation"}
    assert taught.value.iloc[0] > 0.6


def test_a_node_table_may_hold_another_private_column_alone(tmp_path, capsys, audit_home):
    (tmp_path / "links.csv").write_text("source,target\nanna,ben\nben,cleo\ncleo,dora\n")
    people = "id,affiliation\nanna,blue\nben,green\ncleo,blue\ndora,green\n"
    (tmp_path / "people.csv").write_text(people)
    options = command.build_parser().parse_args(
        [
            *["audit", "--graph", "social", "--attack", "class_prior", "--out", "out"],
            *["--private", "seniority", "--private", "affiliation", "--shadow-graph"],
            *[str(tmp_path / "links.csv"), str(tmp_path / "people.csv")],
        ]
    )
    command.split_private(options)
    service = AuditService(audit_home)
    try:
        assert build_spec(options, service).knowledge.shadow_columns == ("affiliation",)
    finally:
        service.close()


def test_the_command_line_says_what_is_wrong_in_one_line(files, tmp_path, capsys, audit_home):
    strangers = tmp_path / "s.csv"
    strangers.write_text("source,target\nanna,ben\nben,cleo\n")
    arguments = ["audit", "--graph", files / "own.graphml", "--private", "seniority"]
    arguments += ["--repeats", "1", "--out", tmp_path / "o", "--shadow-graph"]
    for given in ([strangers], [tmp_path / "missing.csv"], [strangers, strangers, strangers]):
        assert command.main([str(a) for a in [*arguments, *given]]) == 2
        assert len(capsys.readouterr().err.strip().splitlines()[-1:]) == 1


MORE = {"more_private": ("affiliation", "label"), "shadow_graph": OTHER.content_hash}


def list_taught(cells):
    return {cell.method.partition("@")[2]: cell.key for cell in cells if "transfer" in cell.method}


def without(*columns):
    kept = {name: a for name, a in OTHER.attributes.items() if name not in columns}
    return OTHER.update_columns(attributes=kept)


def test_every_private_column_that_the_other_graph_has_is_taught():
    spec = PreparedAudit.build(make_spec(**MORE), GRAPH, None, OTHER).spec
    assert spec.knowledge.shadow_columns == ("seniority", "affiliation", "label")
    taught = list_taught(plan_audit(PreparedAudit.build(spec, GRAPH, None, OTHER)))
    assert list(taught) == ["transfer", "column:affiliation+transfer", "column:label+transfer"]
    alone = list_taught(
        plan_audit(
            PreparedAudit.build(make_spec(**{**MORE, "more_private": ()}), GRAPH, None, OTHER)
        )
    )
    assert set(alone.values()) == {taught["transfer"]}
    scenario = Scenario.parse("neighbourhood_classifier@column:label+transfer")
    assert (scenario.target, scenario.knowledge) == ("label", Shadow())
    assert scenario.id == "neighbourhood_classifier@column:label+transfer"


def test_a_column_that_the_other_graph_lacks_is_left_out():
    other = without("affiliation")
    spec = PreparedAudit.build(make_spec(**MORE), GRAPH, None, other).spec
    assert spec.knowledge.shadow_columns == ("seniority", "label")
    taught = list_taught(plan_audit(PreparedAudit.build(spec, GRAPH, None, other)))
    assert list(taught) == ["transfer", "column:label+transfer"]
    lacks_first = without("seniority")
    spec = PreparedAudit.build(make_spec(**MORE), GRAPH, None, lacks_first).spec
    taught = list_taught(plan_audit(PreparedAudit.build(spec, GRAPH, None, lacks_first)))
    assert list(taught) == ["column:affiliation+transfer", "column:label+transfer"]
    nothing = without(*OTHER.attributes)
    with pytest.raises(InputError, match="must have the private column; got seniority"):
        PreparedAudit.build(make_spec(**MORE), GRAPH, None, nothing)


def test_a_spec_that_names_no_columns_uses_the_first():
    old = make_spec(**MORE)
    assert old.knowledge.shadow_columns is None
    assert list(list_taught(plan_audit(PreparedAudit(old, GRAPH, None, OTHER)))) == ["transfer"]
    single = make_spec(shadow_graph=OTHER.content_hash)
    assert PreparedAudit.build(single, GRAPH, None, OTHER).spec == single
    first_alone = without("affiliation", "label")
    assert PreparedAudit.build(old, GRAPH, None, first_alone).spec == old
    chosen = make_spec(**MORE, shadow_columns=("label",))
    assert PreparedAudit.build(chosen, GRAPH, None, OTHER).spec == chosen
    assert list(list_taught(plan_audit(PreparedAudit.build(chosen, GRAPH, None, OTHER)))) == [
        "column:label+transfer"
    ]
    with pytest.raises(InputError, match="must have the private column; got label"):
        plan_audit(PreparedAudit.build(chosen, GRAPH, None, without("label")))
    with pytest.raises(InputError, match=r"must be a private one; got nothing; leave"):
        make_spec(**MORE, shadow_columns=("nothing",))


def test_a_started_audit_keeps_what_is_taught(audit_home, monkeypatch):
    service = AuditService(audit_home)
    monkeypatch.setattr(service, "_run", lambda *_: None)
    try:
        for graph in (GRAPH, OTHER):
            service.save_graph(graph)
        audit_id = service.start_audit(make_spec(**MORE))
        row = service._store.find_audit(audit_id)
        planned = {cell.method for cell in service._store.list_cells(audit_id)}
    finally:
        service.close()
    assert row.spec["knowledge"]["shadow_columns"] == ["seniority", "affiliation", "label"]
    assert "neighbourhood_classifier@column:label+transfer" in planned


def test_who_is_taught_knows_the_same_people_here():
    spec = PreparedAudit.build(make_spec(**MORE), GRAPH, None, OTHER).spec
    threats = draw_repeat(PreparedAudit.build(spec, GRAPH, None, OTHER), 0)
    assert {"seniority", "affiliation", "label"} <= threats.shadow_graph.attributes.keys()
    plain, taught = (
        select_attacker(spec, Scenario("gcn", "attribute", "affiliation", knows), 0, threats)
        for knows in (STANDARD, Shadow())
    )
    assert taught.attribute.attribute.name == "affiliation"
    np.testing.assert_array_equal(plain.attribute.known, taught.attribute.known)
    first = select_attacker(spec, Scenario("gcn", "attribute", "", Shadow()), 0, threats)
    assert first is threats


def test_gaps_are_told_with_their_reason():
    unlike = NodeColumn("label", np.zeros(220), ("x",))
    other = without("affiliation")
    other = other.with_attributes({"label": unlike})
    gaps = find_gaps(("seniority", "affiliation", "label"), GRAPH, other)
    assert describe_shadow_columns(gaps) == (
        "has seniority, not affiliation (no such column there), "
        "label (fewer than two of its classes there)"
    )
    assert describe_shadow_columns(find_gaps(("seniority", "label"), GRAPH, OTHER)) == (
        "has seniority and label"
    )


def test_numbers_are_taught_in_the_classes_of_the_audited_graph():
    own, older = np.arange(250.0), np.arange(220.0) + 60
    ages = NodeColumn.from_values("age", own)
    graph = GRAPH.with_attributes({"age": ages})
    attributes = {**OTHER.attributes, "age": NodeColumn.from_values("age", older)}
    other = OTHER.update_columns(attributes=attributes)
    found = prepare_shadow_graph(other, graph.column("age")).column("age")
    assert found.classes == ages.classes
    np.testing.assert_array_equal(found.codes[:190], ages.codes[60:])
    assert attributes["age"].classes == other.column("age").classes


def test_words_tell_who_was_taught():
    assert "trained on another graph" in parse_attack("neighbourhood_classifier@transfer").title
