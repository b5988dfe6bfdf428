"""What the names for scripts do beyond their examples."""

from __future__ import annotations

import json
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import torch
from torch_geometric.data import Data

from core import (
    Audit,
    Graph,
    find_method,
    from_networkx,
    from_pandas,
    from_pyg,
    library,
    list_methods,
    load_graph,
    publish,
    run_audit,
)
from core.audit.asked.spec import AuditSpec
from core.cli.arguments import split_private
from core.cli.audit_spec import build_spec
from core.cli.main import build_parser
from core.data.catalogue import load_dataset
from core.data.synthetic import generate_social
from core.errors import InputError
from core.findings.policy import find_policy
from tests.inline import run_inline


def test_networkx_gives_ids_weights_and_columns() -> None:
    given = nx.MultiDiGraph()
    given.add_node("ada", city="Rome", age=31)
    given.add_node(7, city="Oslo", age=50)
    given.add_node("eve", city="Rome")
    given.add_edge("ada", 7, weight=0.5)
    given.add_edge(7, "ada", weight=2)
    given.add_edge(7, "eve")
    given.add_edge("eve", "eve")
    before = nx.to_dict_of_dicts(given)
    graph = from_networkx(given, utility="city", name="friends")
    assert (graph.name, graph.node_ids) == ("friends", ("ada", "7", "eve"))
    assert graph.edges.tolist() == [[0, 1], [1, 2]]
    assert graph.weights.tolist() == [2.0, 1.0]
    assert graph.column("city").classes == ("Oslo", "Rome")
    assert graph.dense_features().ravel().tolist() == [31, 50, 40.5]
    assert nx.to_dict_of_dicts(given) == before


def test_an_unweighted_graph_without_attributes_has_neither() -> None:
    graph = from_networkx(nx.path_graph(3))
    assert graph.weights is None
    assert graph.features is None
    assert not graph.attributes


def test_nodes_with_one_text_are_refused() -> None:
    with pytest.raises(InputError, match="nodes must have distinct texts; got 1; relabel them"):
        from_networkx(nx.Graph([(1, "1")]))


def test_pandas_gives_weights_and_unknown_values_and_names_what_is_missing() -> None:
    links = pd.DataFrame({"a": [1, 2, 3], "b": [2, 3, 3], "hours": [0.5, 4, 1]})
    nodes = pd.DataFrame({"key": [3, 2, 1], "city": ["Rome", "?", "Oslo"]})
    columns = {"source": "a", "target": "b", "weight": "hours", "id": "key"}
    graph = from_pandas(links, nodes, **columns, private="city", unknown=["?"])
    assert graph.node_ids == ("3", "2", "1")
    assert graph.edges.tolist() == [[0, 1], [1, 2]]
    assert graph.weights.tolist() == [4.0, 0.5]
    assert graph.column("city").codes.tolist() == [1, -1, 0]
    assert from_pandas(links, source="a", target="b").node_ids == ("1", "2", "3")
    with pytest.raises(InputError, match="column of the links must be one of a, b, hours"):
        from_pandas(links)
    with pytest.raises(InputError, match="column of the nodes must be one of key, city"):
        from_pandas(links, nodes, source="a", target="b")
    with pytest.raises(InputError, match="must have a row for every linked node"):
        from_pandas(links, nodes[:2], source="a", target="b", id="key")


def test_a_graph_survives_the_way_to_pyg_and_back() -> None:
    graph = generate_social(200)
    again = from_pyg(graph.to_pyg(), private="affiliation")
    assert (again.edges == graph.edges).all()
    assert (again.dense_features() == graph.dense_features()).all()
    for name, column in graph.attributes.items():
        assert (again.column(name).codes == column.codes).all()


@pytest.fixture
def asked(monkeypatch) -> list[AuditSpec]:
    """Gets the spec of each audit that is asked for; none runs."""
    found: list[AuditSpec] = []
    view = SimpleNamespace(summary=SimpleNamespace(state="done"))
    for name in ("load_nodes", "load_profile", "load_rocs"):
        setattr(view, name, lambda: None)
    service = SimpleNamespace(save_graph=lambda graph: None, get_view=lambda audit_id: view)
    monkeypatch.setattr(library, "State", SimpleNamespace(DONE="done"))
    monkeypatch.setattr(library, "open_service", lambda **_: nullcontext(service))
    monkeypatch.setattr(library, "compute_audit", lambda _service, spec, *_: found.append(spec))
    return found


@pytest.mark.parametrize(
    ("arguments", "options"),
    [
        ({}, "--attack quick"),
        ({"private": "label"}, "--attack quick --private label"),
        (
            {"attacks": ["katz:decay=0.3", "gps"], "private": "label", "hide_links": 0.2},
            "--attack katz:decay=0.3 --attack gps --private label --hide-links 0.2",
        ),
        (
            {"attacks": "standard", "defenses": "dp_1k", "policy": "public", "num_repeats": 2},
            "--attack standard --defense dp_1k --policy public --repeats 2",
        ),
        ({"identity": {}, "attacks": "degree"}, "--attack degree --identity"),
    ],
)
def test_arguments_ask_for_what_options_ask_for(arguments, options, asked) -> None:
    graph = load_dataset("karate").graph
    library.run_audit(graph, progress=False, **arguments)
    line = ["audit", "--graph", "karate", "--out", "out", *options.split()]
    parsed = build_parser().parse_args(line)
    split_private(parsed)
    service = SimpleNamespace(save_graph=lambda graph: graph.content_hash)
    assert asked == [build_spec(parsed, service)]


@pytest.mark.parametrize(
    "fields",
    [
        {"private": ["affiliation", "seniority"]},
        {"private": "affiliation", "more_private": ["seniority"]},
        {"private": "affiliation", "more_private": "seniority"},
        {"private": ["affiliation", "affiliation"], "more_private": ("seniority", "affiliation")},
        {"private": "affiliation", "threats": {"more_private": ["seniority"]}},
        {"threats": {"private": "affiliation", "more_private": ["seniority"]}},
        {"private": "affiliation", "threats": {"private": "seniority"}},
    ],
)
def test_every_private_column_is_audited_wherever_it_is_named(fields, asked) -> None:
    graph = generate_social(200)
    library.run_audit(graph, progress=False, **fields)
    assert asked[-1].threats.columns == ("affiliation", "seniority")
    assert asked[-1].threats.hide_links is None
    with pytest.raises(InputError, match="private column must be a column of the graph; got nope"):
        run_audit(graph, private="affiliation", more_private=["nope"], progress=False)


def test_methods_are_objects_too_and_columns_several(asked) -> None:
    graph = generate_social(200)
    katz, edge_rand = find_method("katz")(decay=0.3), find_method("edge_rand")(epsilon=4)
    columns = ["affiliation", "seniority"]
    library.run_audit(graph, [katz], edge_rand, private=columns, hide_links=0.1, progress=False)
    (spec,) = asked
    assert [choice.id for choice in spec.attacks] == ["katz:decay=0.3"]
    assert [choice.id for choice in spec.defenses] == ["edge_rand:epsilon=4.0"]
    assert spec.threats.columns == ("affiliation", "seniority")
    own = find_policy("partner").model_copy(update={"repeats": 7})
    library.run_audit(graph, katz, policy=own, hide_links=0.1, progress=False)
    assert asked[-1].policy["repeats"] == 7
    with pytest.raises(InputError, match="attacks must name one"):
        library.run_audit(graph, (), hide_links=0.1)


WRONG = {
    "graph must be a Graph; got str; make one by": lambda g: run_audit("karate"),
    "graph must be a Graph; got DiGraph": lambda g: publish(nx.DiGraph(), "edge_rand", "x.csv"),
    "method must be a text or a method: link attack or": lambda g: run_audit(g, None),
    "a method: defense; got Katz": lambda g: run_audit(g, defenses=find_method("katz")()),
    "defense must not be of the kind link attack; got k": lambda g: find_method("katz", "defense"),
    "kind of method must be one of link_attack": lambda g: list_methods("defence"),
    "method must be named by its key": lambda g: find_method(None),
    "private column must be a column of the graph; got n": lambda g: run_audit(g, private="nope"),
    "private column must be a column of the graph; got 3": lambda g: run_audit(g, private=3),
    "policy must be a JSON object; got 3": lambda g: run_audit(g, policy=3),
    "policy field 'key' field required": lambda g: run_audit(g, policy={"title": "x"}),
    "spec: more_private needs a main private column: name it": lambda g: run_audit(
        g, more_private=["label"], hide_links=0.1
    ),
    "policy must be a file or one of": lambda g: run_audit(g, policy=Path("no.json")),
    "identity overlp is not known; got 1; did you": lambda g: run_audit(g, identity={"overlp": 1}),
    "identity must be a valid dictionary": lambda g: run_audit(g, identity=True),
    "option of load_graph is not known; got priv; did": lambda g: load_graph("x", priv="y"),
    "must be a file or of the catalogue; got karat; did you": lambda g: load_graph("karat"),
    "options must not be given for": lambda g: load_graph("karate", private="label"),
    "pairs must be node numbers from 0 to 2; got 5": lambda g: Graph.from_pairs([(0, 5)], 3),
    "pairs must be node numbers from 0 to 33; got -1": lambda g: g.with_edges([(0, -1)]),
    "pairs must have two columns; got shape": lambda g: Graph.from_pairs([(0, 1, 2), (1, 2, 3)]),
    "integers; got 0.5; give ids as node_ids": lambda g: Graph.from_pairs([(0.5, 1.7)]),
    "integers; got a": lambda g: Graph.from_pairs([("a", "b")]),
    "weights must be one per pair": lambda g: Graph.from_pairs([(0, 1)], weights=[1, 2]),
    "must be a graph of NetworkX; got str": lambda g: from_networkx("karate"),
    "weights must be numbers; got much": lambda g: from_pandas(LINKS, weight="heavy"),
    "must have both ends in every row; got row 1": lambda g: from_pandas(LINKS, target="gaps"),
}
"""What is told → what was asked for wrongly, of a graph."""

LINKS = pd.DataFrame(
    {"source": ["a", "b"], "target": ["b", "c"], "heavy": [1, "much"], "gaps": ["b", None]}
)


@pytest.mark.parametrize("told", WRONG)
def test_what_is_wrong_is_named(told, asked) -> None:
    with pytest.raises(InputError) as error:
        WRONG[told](load_dataset("karate").graph)
    assert told in str(error.value)
    assert not asked


def test_files_of_unknown_choices_are_refused(tmp_path) -> None:
    path = tmp_path / "links.csv"
    path.write_text("a,b\nb,c\n")
    for name, value in (("merge", "avg"), ("missing_nodes", "ignore")):
        with pytest.raises(InputError, match=f"^{name} must be one of .*; got {value}$"):
            load_graph(path, **{name: value})


def test_one_text_is_one_name() -> None:
    links = pd.DataFrame({"source": ["a", "b"], "target": ["b", "c"]})
    nodes = pd.DataFrame({"id": ["a", "b", "c"], "value": ["-1", "1", "v"]})
    graph = from_pandas(links, nodes, private="value", unknown="-1")
    assert graph.column("value").codes.tolist() == [-1, 0, 1]


def test_a_class_is_its_method_with_defaults_and_a_policy_may_be_an_object(asked, tmp_path) -> None:
    graph = load_dataset("karate").graph
    policy = find_policy("partner").model_copy(update={"repeats": 7}).model_dump(mode="json")
    path = tmp_path / "policy.json"
    path.write_text(json.dumps(policy))
    for given in (policy, path, str(path)):
        run_audit(graph, find_method("katz"), policy=given, progress=False)
        assert [choice.id for choice in asked[-1].attacks] == ["katz"]
        assert asked[-1].policy["repeats"] == 7


@pytest.fixture(scope="module")
def audit(tmp_path_factory) -> Audit:
    graph = load_dataset("karate").graph
    fields = {
        "graph_name": "<b>",
        "graph_hash": graph.content_hash,
        "private": "label",
        "known": 0.3,
        "hide_links": 0.1,
        "num_repeats": 1,
        "attacks": [{"key": "common_neighbors"}, {"key": "label_propagation"}],
        "defenses": [{"key": "random_deletion"}],
    }
    return Audit(run_inline(AuditSpec.check_spec(fields), graph, tmp_path_factory.mktemp("home")))


def test_tables_agree_with_the_view(audit) -> None:
    risk, nodes = audit.node_risk, audit.view.nodes
    for row in audit.exposure.itertuples():
        own = risk[(risk.release == row.release) & (risk.threat == row.threat)]
        assert len(own) == row.n
        assert (own.advantage > 0.2).sum() == row.exposed
    one = risk[(risk.threat == "link") & (risk.release == "original")].iloc[0]
    assert nodes.list_figures(one.node, ("link", ""))[0].risk == one.risk
    assert audit.decision is None
    assert audit.verdict is None
    assert not np.shares_memory(audit.results.n.to_numpy(), audit.view.results.n.to_numpy())


def test_figures_answer_questions_and_name_the_others(audit) -> None:
    titles = {q: audit.figure(q).layout.title.text for q in ("attacks", "exposure", "usefulness")}
    assert len({*titles.values()}) == 3
    assert audit.figure("attacks", "attribute").layout.title.text != titles["attacks"]
    with pytest.raises(InputError, match="must be one of attacks, exposure, usefulness"):
        audit.figure("who")
    with pytest.raises(InputError, match="must have results: link, attribute; got identity"):
        audit.figure("attacks", "identity")
    shown = {t: audit.figure("exposure", t).to_json() for t in (None, "link", "attribute")}
    assert shown["link"] != shown["attribute"]
    with pytest.raises(InputError, match="must have results: link, attribute; got identity"):
        audit.figure("exposure", "identity")


def test_what_cannot_be_written_is_named(audit, tmp_path) -> None:
    assert audit.report(tmp_path / "new" / "report.pdf").read_bytes()[:5] == b"%PDF-"
    (tmp_path / "file").touch()
    for write, path in ((audit.report, tmp_path), (audit.write, tmp_path / "file")):
        with pytest.raises(InputError, match="output must be one that can be written; got /"):
            write(path)
    with pytest.raises(InputError, match="output folder must be one that can be written"):
        audit.report(tmp_path / "file" / "report.pdf")


def test_a_notebook_shows_names_escaped(audit) -> None:
    policy = find_policy("public").model_dump(mode="json")
    spec = audit.view.spec.model_copy(update={"policy": policy})
    for shown in (audit, Audit(replace(audit.view, spec=spec))):
        text = shown._repr_html_()
        assert "&lt;b&gt;" in text
        assert "<b>" not in text
    assert "publish" in text


LINKED = pd.DataFrame({"source": list("abb"), "target": list("bca")})
TRIANGLE = nx.Graph([(0, 1), (1, 2)])


def test_names_of_columns_may_be_numbers() -> None:
    nodes = pd.DataFrame({"id": list("abc"), 0: list("xyx"), 2024: [1.5, 2.5, 4.0]})
    graph = from_pandas(LINKED, nodes, private=0)
    assert (list(graph.attributes), graph.feature_names) == (["0"], ("2024",))
    pairs = pd.DataFrame([["a", "b"], ["b", "c"]])
    assert from_pandas(pairs, source=0, target=1).num_edges == 2
    network = TRIANGLE.copy()
    nx.set_node_attributes(network, {0: 1.5, 1: 2.5, 2: 4.0}, 2024)
    assert from_networkx(network).feature_names == ("2024",)
    nx.set_node_attributes(network, 3, "2024")
    with pytest.raises(InputError, match="must have distinct column names; got 2024"):
        from_networkx(network)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: from_pandas(None), "links must be a DataFrame of pandas; got NoneType"),
        (lambda: from_pandas(LINKED, [1]), "nodes must be a DataFrame of pandas; got list"),
        (lambda: from_pandas(LINKED[["source", "source"]]), "must have distinct column names"),
        (
            lambda: from_pandas(
                LINKED, pd.DataFrame([["a", 1]], columns=pd.MultiIndex.from_tuples(["ab", "cd"]))
            ),
            "columns of the nodes must have one level of names",
        ),
        (lambda: from_networkx(TRIANGLE, private=["club"]), "private column must be one name"),
        (lambda: from_networkx(nx.Graph([("", "a"), ("a", "b")])), "must have a text of their own"),
        (
            lambda: from_networkx(nx.Graph([(np.nan, "a")])),
            "must have a text of their own; got nan",
        ),
        (lambda: from_pyg(None), "must be a Data object of PyG"),
        (lambda: from_pyg(Data()), "must be a Data object of PyG with edge_index; got Data"),
        (
            lambda: from_pyg(Data(edge_index=torch.tensor([[0, 1], [1, 9]]), num_nodes=3)),
            "num_nodes must be above every node number of edge_index, 9; got 3",
        ),
        (lambda: load_graph(None), "graph must be a path or of the catalogue; got NoneType"),
        (lambda: load_graph(__file__, layout="comma"), "layout must be an object"),
        (
            lambda: find_method("katz")(decay=3),
            "^katz: parameter 'decay' must be less than 1; got 3",
        ),
        (lambda: find_method("katz")(dcay=0.3), "^katz: parameter 'dcay' is not known.*'decay'"),
    ],
)
def test_a_mistake_is_an_input_error_with_the_rule(make, message) -> None:
    with pytest.raises(InputError, match=message):
        make()
