"""Another graph to learn from, from the command line to rows; deletion; errors in one line."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import core.cli.main as command
from core.audit.cases import Case, list_cases
from core.audit.drawing import prepare_elsewhere
from core.audit.export import describe_audit
from core.audit.plan import plan_audit
from core.audit.run import run_inline
from core.audit.service import AuditService
from core.audit.spec import AuditSpec
from core.audit.store.database import Store
from core.audit.store.statements import list_graphs
from core.cli.arguments import build_spec
from core.data.synthetic import generate_social
from core.data.writers import write_release
from core.errors import InputError
from core.findings.labels import method_title
from core.graph import Attribute
from core.release import Release

GRAPH = generate_social(250, 1)
OTHER = generate_social(220, 2)
ATTACKS = [{"key": "neighbourhood_classifier"}, {"key": "label_propagation"}]


def make_spec(**fields):
    base = {"graph_hash": GRAPH.content_hash, "private": "seniority", "num_repeats": 1}
    return AuditSpec.check_spec({**base, "attacks": ATTACKS, **fields})


def test_one_case_more_and_the_others_stay_as_they_were():
    plain = plan_audit(make_spec(), GRAPH)
    spec = make_spec(attacker_graph=OTHER.content_hash)
    more = plan_audit(spec, GRAPH, None, OTHER)
    new = {cell.key: cell.method for cell in more}
    assert {cell.key for cell in plain} < set(new)
    for cell in plain:
        del new[cell.key]
    assert len(new) == 1
    (name,) = new.values()
    case = Case.parse(name)
    assert (case.knowledge, case.threat) == ("transfer", "attribute")
    assert case.id == name
    assert [c.id for _, _, c in list_cases(spec)].count(name) == 1
    again = plan_audit(make_spec(attacker_graph="0" * 64), GRAPH, None, OTHER)
    assert {c.key for c in again} & {c.key for c in more} == {c.key for c in plain}


def test_the_other_graph_is_needed_and_deleted_with_the_audit(tmp_path):
    assert list_graphs("a", {"attacker_graph": "b"}) == ["a", "b"]
    store = Store(tmp_path)
    store.save_graph(GRAPH)
    held = store.save_graph(OTHER)
    spec = make_spec(attacker_graph=held)
    for audit_id in ("one", "two"):
        store.add_audit(audit_id, "", spec, plan_audit(spec, GRAPH, None, OTHER), {})
    assert store.delete_audit("one") == []
    assert store.load_graph(held).num_nodes == 220
    assert set(store.delete_audit("two")) == {held, GRAPH.content_hash}
    store.close()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"attributes": {}}, "must have the private column"),
        (
            {"attributes": {"seniority": Attribute("seniority", np.zeros(220), ("boss",))}},
            "at least two classes",
        ),
    ],
)
def test_a_graph_that_cannot_teach_is_an_error(change, said):
    with pytest.raises(InputError, match=said):
        prepare_elsewhere(replace(OTHER, **change), GRAPH.attribute("seniority"))


def test_a_private_column_is_needed():
    with pytest.raises(InputError, match="needs a private column"):
        make_spec(private=None, hide_links=0.1, attacker_graph="0" * 64)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Both graphs as files that people share."""
    folder = tmp_path_factory.mktemp("graphs")
    for name, graph in (("own", GRAPH), ("other", OTHER)):
        write_release(Release(graph), folder, name, {}, ("graphml",), attributes=("seniority",))
    return folder


def test_the_command_line_audits_it(files, audit_home):
    options = command.build_parser().parse_args(
        [
            *["audit", "--graph", str(files / "own.graphml"), "--private", "seniority"],
            *["--attacker-graph", str(files / "other.graphml"), "--repeats", "1"],
            *["--attack", "neighbourhood_classifier:trees=50,folds=2,rounds=1", "--out", "out"],
        ]
    )
    command.split_private(options)
    service = AuditService(audit_home)
    try:
        spec = build_spec(options, service)
        graph = service.load_graph(spec.graph_hash)
    finally:
        service.close()
    assert spec.attacker_graph is not None
    view = run_inline(spec, graph, audit_home)
    rows = pd.DataFrame(describe_audit(view)["results"])
    taught = rows[(rows.knowledge == "transfer") & (rows.metric == "auc")]
    assert set(taught.method) == {"neighbourhood_classifier:trees=50,folds=2,rounds=1"}
    assert set(taught.threat) == {"attribute"}
    assert taught.value.iloc[0] > 0.75


def test_the_command_line_says_what_is_wrong_in_one_line(files, tmp_path, capsys, audit_home):
    strangers = tmp_path / "s.csv"
    strangers.write_text("a,b\nanna,ben\nben,cleo\n")
    arguments = ["audit", "--graph", files / "own.graphml", "--private", "seniority"]
    arguments += ["--repeats", "1", "--out", tmp_path / "o", "--attacker-graph"]
    for given in ([strangers], [tmp_path / "missing.csv"], [strangers, strangers, strangers]):
        assert command.main([str(a) for a in [*arguments, *given]]) == 2
        assert len(capsys.readouterr().err.strip().splitlines()[-1:]) == 1


def test_words_tell_who_was_taught():
    assert "taught by another graph" in method_title("neighbourhood_classifier@transfer")
