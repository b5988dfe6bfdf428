"""Who knows what: the publisher, the assumed attacker, and attackers of their own."""

from __future__ import annotations

import json
from dataclasses import replace
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from core.audit.asked.publish_spec import PublishSpec
from core.audit.asked.scenarios import Scenario, list_scenarios
from core.audit.asked.spec import AuditSpec
from core.audit.computing.plan import plan_audit
from core.audit.computing.prepared import PreparedAudit, prepare_graph
from core.audit.computing.threat_sampling import (
    draw_repeat,
    find_known,
    limit_publisher_knowledge,
    select_attacker,
)
from core.audit.jobs import publish
from core.audit.results.export import describe_audit, describe_nodes, write_nodes
from core.cli.audit import describe_results
from core.cli.main import main
from core.data.synthetic import generate_social
from core.defenses.nettack import Nettack
from core.errors import InputError, UnsupportedError
from core.findings.evidence import GUESSED
from core.findings.policy import find_policy
from core.findings.verdict import judge
from core.graph import Graph
from core.node_column import NodeColumn
from core.partitioned.graph import PartitionedGraph
from core.registry import list_methods, parse_method
from core.seeding import Seed
from tests.inline import run_inline

GRAPH = generate_social(200)


def make_spec(**changes) -> AuditSpec:
    fields = {
        "graph_name": "social",
        "graph_hash": GRAPH.content_hash,
        "private": "seniority",
        "attacks": [{"key": "label_propagation"}, {"key": "class_prior"}],
        "num_repeats": 2,
        **changes,
    }
    return AuditSpec.check_spec(fields)


@pytest.mark.parametrize("scenario", ["gcn", "gcn@auxiliary:0.3", "gcn@joint:known"])
def test_a_share_of_what_attackers_know_is_wrong(scenario: str) -> None:
    """The secrets that they are judged by, and what the publisher uses, stay true."""
    asked = {"known": 0.9, "more_private": ("affiliation",), "wrong_values": 0.25}
    audit = PreparedAudit.build(make_spec(**asked), GRAPH)
    threats = draw_repeat(audit, 0)
    drawn = select_attacker(audit.spec, Scenario.parse(scenario), 0, threats)
    assert len(drawn.others) == ("joint" in scenario)
    for met in (drawn.attribute, *drawn.others):
        true = GRAPH.column(met.attribute.name)
        told = met.observed[met.known]
        assert np.mean(told != true.codes[met.known]) == pytest.approx(0.25, abs=0.1)
        assert set(told) <= set(true.codes)
        assert (met.attribute.codes[met.hidden] == true.codes[met.hidden]).all()
    assert (threats.attribute.attribute.codes == GRAPH.column("seniority").codes).all()
    plain = select_attacker(audit.spec, Scenario.parse("gat"), 0, threats).attribute
    both = plain.known & drawn.attribute.known  # what two are told of one node agrees
    assert (plain.observed[both] == drawn.attribute.observed[both]).all()


@pytest.mark.parametrize("column", ["", "@column:affiliation"])
def test_known_nodes_may_be_those_with_many_links(column: str) -> None:
    """As many as else, and of the main column those whom the publisher reckons with."""
    known_degrees = {"stratified": [], "degree": []}
    for spread, degrees in known_degrees.items():
        asked = {"known": 0.3, "more_private": ("affiliation",), "known_spread": spread}
        audit = PreparedAudit.build(make_spec(**asked), GRAPH)
        for repeat in range(4):
            threats = draw_repeat(audit, repeat)
            scenario = Scenario.parse(f"gcn{column}")
            met = select_attacker(audit.spec, scenario, repeat, threats).attribute
            assert met.known.sum() == pytest.approx(60, abs=3)
            assert (met.hidden == ~met.known).all()
            assert column or (met.known == threats.attribute.known).all()
            degrees.append(GRAPH.degrees[met.known].mean())
    everybody = GRAPH.degrees.mean()
    assert np.mean(known_degrees["stratified"]) == pytest.approx(everybody, rel=0.15)
    assert min(known_degrees["degree"]) > 1.15 * everybody


def test_known_nodes_may_be_everybody_of_some_communities() -> None:
    """On cliques apart, which are the communities, at most one is known in part."""
    size, number = 10, 20
    pairs = [
        (size * k + a, size * k + b) for k in range(number) for a in range(size) for b in range(a)
    ]
    secret = NodeColumn("secret", np.arange(size * number) % 3, ("a", "b", "c"))
    graph = Graph.from_pairs(np.array(pairs), attributes={"secret": secret})
    spec = make_spec(
        graph_hash=graph.content_hash, private="secret", known=0.33, known_spread="community"
    )
    known = draw_repeat(PreparedAudit.build(spec, graph), 0).attribute.known
    counts = known.reshape(number, size).sum(axis=1)
    assert known.sum() == 66
    assert sorted(counts)[-7:] == [6, *[size] * 6]
    divided = PartitionedGraph.__new__(PartitionedGraph)
    with pytest.raises(UnsupportedError, match="--known-spread community"):
        find_known(spec, divided, "secret", Seed(0))


def test_what_the_publisher_is_told():
    threats = draw_repeat(PreparedAudit.build(make_spec(), GRAPH), 0)
    assert limit_publisher_knowledge(threats, "public") is threats
    assert limit_publisher_knowledge(threats, "none").attribute is None
    told = limit_publisher_knowledge(threats, "column").attribute
    assert told.known.all()
    assert not told.hidden.any()
    assert threats.attribute.known.mean() == pytest.approx(0.1, abs=0.02)


def test_attackers_know_people_of_their_own_and_all_attacks_meet_the_same_ones():
    spec = make_spec(auxiliary_known=(0.1, 0.3), more_private=("affiliation",))
    threats = draw_repeat(PreparedAudit.build(spec, GRAPH), 0)
    few = select_attacker(spec, Scenario.parse("gcn@auxiliary:0.1"), 0, threats).attribute
    same = select_attacker(spec, Scenario.parse("gat@auxiliary:0.1"), 0, threats).attribute
    many = select_attacker(spec, Scenario.parse("gcn@auxiliary:0.3"), 0, threats).attribute
    np.testing.assert_array_equal(few.known, same.known)
    assert few.known.mean() == pytest.approx(0.1, abs=0.02)
    assert many.known.mean() == pytest.approx(0.3, abs=0.02)
    assert (few.known != threats.attribute.known).any()
    again = select_attacker(spec, Scenario.parse("gcn@auxiliary:0.1"), 1, threats).attribute
    assert (again.known != few.known).any()
    plain = select_attacker(spec, Scenario("gcn", "attribute"), 0, threats)
    assert plain is threats
    other = select_attacker(spec, Scenario("gcn", "attribute", "affiliation"), 0, threats).attribute
    assert other.attribute.name == "affiliation"
    assert (other.known & other.hidden).sum() == 0


def test_cases_are_listed_and_old_specs_plan_the_cells_they_always_did():
    spec = make_spec(auxiliary_known=(0.1,), more_private=("affiliation",))
    ids = [scenario.id for _, _, scenario in list_scenarios(spec)][:4]
    assert ids == [
        "label_propagation",
        "label_propagation@auxiliary:0.1",
        "label_propagation@column:affiliation",
        "label_propagation@column:affiliation+auxiliary:0.1",
    ]
    defended = {"defenses": [{"key": "nettack"}]}
    plain, told = make_spec(**defended), make_spec(**defended, publisher_knows="public")
    keys = {cell.key for cell in plan_audit(PreparedAudit.build(plain, GRAPH))}
    with_others = {
        c.key
        for c in plan_audit(
            PreparedAudit.build(make_spec(**defended, auxiliary_known=(0.3,)), GRAPH)
        )
    }
    assert keys < with_others
    published = [c.key for c in plan_audit(PreparedAudit.build(told, GRAPH)) if c.kind == "publish"]
    assert not keys & set(published)


def test_a_column_that_cannot_be_used_is_named():
    with pytest.raises(InputError, match="nothing"):
        plan_audit(PreparedAudit.build(make_spec(more_private=("nothing",)), GRAPH))
    with pytest.raises(InputError, match="nowhere"):
        plan_audit(PreparedAudit.build(make_spec(groups=("nowhere",)), GRAPH))


def test_rows_say_what_is_attacked_knowing_what(tmp_path):
    spec = make_spec(auxiliary_known=(0.3,), more_private=("affiliation",), groups=("label",))
    view = run_inline(spec, GRAPH, tmp_path)
    rows = pd.DataFrame(describe_audit(view)["results"])
    auc = rows[(rows.metric == "auc") & (rows.method == "label_propagation")]
    assert set(zip(auc.target, auc.knowledge, strict=True)) == {
        ("seniority", "standard"),
        ("seniority", "auxiliary:0.3"),
        ("affiliation", "standard"),
        ("affiliation", "auxiliary:0.3"),
    }
    assert set(rows.metric) >= {"advantage_share", "group_gap"}
    known = auc.set_index(["target", "knowledge"]).n
    assert known["seniority", "auxiliary:0.3"] < known["seniority", "standard"]
    # The affiliation leaks along the links; who knows more finds more.
    value = auc.set_index(["target", "knowledge"]).value
    assert value["affiliation", "standard"] > 0.7
    nodes = describe_nodes(view.nodes, view.spec)
    assert set(nodes.target) == {"seniority", "affiliation"}
    assert {"threat", "risk", "base", "advantage"} <= set(nodes.columns)
    np.testing.assert_allclose(nodes.base, nodes.risk - nodes.advantage)
    write_nodes(view, tmp_path / "nodes.parquet")  # an attack after the other, all the same rows
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "nodes.parquet"), nodes)


@given(
    knows=st.sampled_from([None, "none", "public", "column"]),
    share=st.sampled_from([0.1, 0.3]),
    spread=st.sampled_from(["stratified", "degree"]),
    people=st.none() | st.sets(st.sampled_from(GRAPH.node_ids), min_size=20, max_size=60),
)
@settings(
    max_examples=12,
    deadline=None,
    phases=[Phase.generate],  # each example is an audit
    suppress_health_check=[HealthCheck.too_slow],
)
def test_a_publishing_run_tells_a_defense_what_the_audit_told_it(knows, share, spread, people):
    """ "publish", and what left was made by all values instead of a tenth: AUC 0.90 for 0.50."""
    seen = []

    def see(self, graph, threats, context):
        seen.append(threats.attribute)
        return self.build_release(graph)

    fields: dict = {"known": share, "known_spread": spread, "num_repeats": 1}
    fields |= {"attacks": [{"key": "class_prior"}], "defenses": [{"key": "nettack"}]}
    fields |= (
        {} if people is None else {"known_people": sorted(people), "known_spread": "stratified"}
    )
    spec = make_spec(**fields, **({} if knows is None else {"publisher_knows": knows}))
    with pytest.MonkeyPatch.context() as patch, TemporaryDirectory() as home:
        patch.setattr(Nettack, "publish", see)
        patch.setattr(Nettack, "supports", lambda *given: None)
        view = run_inline(spec, GRAPH, home)
        publish.publish_release(GRAPH, PublishSpec.of_audit(spec, spec.defenses[0]))
        untried = judge(view, find_policy("internal")).find("nettack").untried
    audited, published = seen
    is_drawn = knows == "public" and people is None
    assert (GUESSED in untried) == is_drawn
    if knows == "none":
        assert audited is published is None
        return
    assert audited.attribute.codes.tolist() == published.attribute.codes.tolist()
    assert audited.known.sum() == published.known.sum()
    if not is_drawn:
        assert audited.known.tolist() == published.known.tolist()
    if knows in (None, "column"):
        assert audited.known.all()
    assert (audited.known ^ audited.hidden).all()
    assert (published.known ^ published.hidden).all()


READING = ("nettack", "netfense", "gps_sampling", "command:tool {in} {out} {nodes}")


@pytest.mark.parametrize("text", READING)
def test_defenses_that_read_private_values_say_so(text):
    assert parse_method(text, "defense").reads_values
    key = text.partition(":")[0]
    if key != "command":
        assert parse_method(f"without_columns:defense={key}", "defense").reads_values
    others = [m() for m in list_methods("defense") if m.info.key not in ("command", *READING)]
    assert not any(method.reads_values for method in others)
    assert not parse_method("command:tool {in} {out}", "defense").reads_values


def test_the_command_reads_who_knows_what(tmp_path, audit_home, capsys):
    words = "audit --graph social --private seniority --private affiliation --group label"
    words += " --joint known --auxiliary-known 0.1,0.3,degree:0.1 --publisher-knows column"
    words += f" --attack class_prior --repeats 1 --out {tmp_path}"
    assert main(words.split()) == 0
    content = json.loads((tmp_path / "audit.json").read_text())
    assert content["spec"]["threats"]["more_private"] == ["affiliation"]
    assert content["spec"]["publisher_knows"] == "column"
    rows = [r for r in content["results"] if r["method"] == "class_prior"]
    assert {r["knowledge"] for r in rows} == {
        "standard",
        "auxiliary:0.1",
        "auxiliary:0.3",
        "auxiliary:degree:0.1",
        "joint:known",
    }
    assert {r["target"] for r in rows} == {"seniority", "affiliation"}
    assert main([*words.split(), "--auxiliary-known", "lots"]) == 2
    assert "--auxiliary-known must be" in capsys.readouterr().err
    assert main([*words.split(), "--auxiliary-known", "1.5"]) == 2


def test_the_publishers_targets_are_everybody_where_it_knows_everybody():
    from core.models.flips.perturbation import draw_targets

    threats = draw_repeat(PreparedAudit.build(make_spec(), GRAPH), 0)
    told = limit_publisher_knowledge(threats, "column").attribute
    assert len(draw_targets(told, 0, Seed(0).rng("t"))) == 200
    assert (
        len(draw_targets(threats.attribute, 0, Seed(0).rng("t"))) == threats.attribute.hidden.sum()
    )


def test_who_infers_or_knows_the_other_column_too_is_a_case_of_its_own():
    spec = make_spec(more_private=("affiliation",), joint=("inferred", "known"))
    scenarios = [scenario for _, _, scenario in list_scenarios(spec)]
    assert Scenario.parse("label_propagation@column:affiliation+joint:known") in scenarios
    assert len(scenarios) == 2 * (2 + 2 * 2)
    plain = {
        cell.key
        for cell in plan_audit(PreparedAudit.build(make_spec(more_private=("affiliation",)), GRAPH))
    }
    assert plain < {cell.key for cell in plan_audit(PreparedAudit.build(spec, GRAPH))}
    threats = draw_repeat(PreparedAudit.build(spec, GRAPH), 0)
    joint = select_attacker(spec, Scenario.parse("gcn@joint:inferred"), 0, threats)
    (other,) = joint.others
    assert other.attribute.name == "affiliation"
    np.testing.assert_array_equal(other.known, joint.attribute.known)
    known = select_attacker(spec, Scenario.parse("gcn@joint:known"), 0, threats)
    assert known.others[0].known.all()
    with pytest.raises(InputError, match="two private columns"):
        make_spec(joint=("known",))


def test_numbers_and_several_columns_are_told_in_words(tmp_path):
    rng = np.random.default_rng(0)
    site = GRAPH.column("affiliation")
    age = NodeColumn.from_values("age", 30.0 + 20 * site.codes + rng.normal(0, 4, 200))
    graph = GRAPH.update_columns(attributes={"age": age, "site": replace(site, name="site")})
    fields = {"private": "age", "more_private": ("site",), "joint": ("inferred", "known")}
    spec = make_spec(**fields, graph_hash=graph.content_hash, num_repeats=3, known=0.3)
    view = run_inline(spec, graph, tmp_path)
    said = " ".join(describe_results(view))
    assert "age is a number" in said
    assert "Knowing the others, an attacker on age reaches AUC" in said
    assert "Inferring the other private columns as well, an attacker on site" in said
    rows = pd.DataFrame(describe_audit(view)["results"])
    rows = rows[(rows.target == "age") & (rows.metric == "error_reduction")]
    value = rows.set_index(["method", "knowledge"]).value
    assert abs(value["class_prior", "standard"]) < 0.1
    assert value["label_propagation", "standard"] > 0.1
    # The site says most of the age, whoever knows it.
    assert value["class_prior", "joint:known"] > 0.5
    assert ((rows.low <= rows.value) & (rows.value <= rows.high)).all()


def test_attackers_who_know_people_of_some_places():
    spec = make_spec(auxiliary_known=("degree:.1", "community:0.25"))
    scenarios = [scenario for _, _, scenario in list_scenarios(spec)]
    degree, community = Scenario.parse("gcn@auxiliary:degree:0.1"), "gcn@auxiliary:community:0.25"
    assert replace(degree, method="class_prior") in scenarios
    graph = prepare_graph(spec, GRAPH)
    threats = draw_repeat(PreparedAudit.build(spec, graph), 0)
    seen = [select_attacker(spec, degree, repeat, threats).attribute for repeat in range(10)]
    assert {int(t.known.sum()) for t in seen} == {20}
    means = [GRAPH.degrees[t.known].mean() for t in seen]
    # Drawn by degree, the mean tends to Σd²/Σd.
    expected = (GRAPH.degrees**2).sum() / GRAPH.degrees.sum()
    assert np.mean(means) == pytest.approx(expected, rel=0.2)
    found = select_attacker(spec, Scenario.parse(community), 3, threats).attribute
    assert found.known.sum() == 50
    inside = found.known[GRAPH.edges]
    both = inside.all(axis=1).mean()
    assert both > 2 * inside.mean() ** 2  # its people know each other
    assert not (found.known & found.hidden).any()
    with pytest.raises(InputError, match="auxiliary_known"):
        make_spec(auxiliary_known=("degree:1.5",))
