"""What nodes are called: papers in a citation graph, people in an upload, or what was chosen."""

from __future__ import annotations

from dataclasses import replace
from unittest.mock import Mock

import numpy as np
import pytest

from core.audit.asked.spec import AuditSpec
from core.data.catalogue import _DATASETS
from core.errors import InputError
from core.findings.exposure import summarize_risk
from core.library import run_audit
from core.node_column import NodeColumn
from core.nouns import BY_GRAPH, NOUNS, propose_noun
from core.release import ORIGINAL
from core.report.data import ReportData
from core.report.decision_page import build_decision
from core.report.options import ReportOptions
from tests.oracles.audits import list_attack_keys, make_audit, make_noise
from tests.oracles.graphs import two_communities

ATTACKS = list_attack_keys()


def test_each_named_graph_is_in_the_catalogue():
    known = {info.name for info in _DATASETS}
    assert {"cora", "citeseer", "pubmed", "lastfm_asia"} <= BY_GRAPH.keys() <= known
    assert propose_noun("staff list") == "people"


def test_groups_are_no_people(monkeypatch):
    """ "369 of 380 people are exposed", of whom 80 were groups."""
    assert propose_noun("members", True) == "nodes"
    assert propose_noun("cora", True) == "papers"
    graph = two_communities()
    people = np.arange(graph.num_nodes) < 30
    crossing = graph.edges[people[graph.edges[:, 0]] != people[graph.edges[:, 1]]]
    modes = NodeColumn("mode", np.where(people, 0, 1), ("person", "group"))
    check = Mock(side_effect=InputError("audit", "need not run"))
    monkeypatch.setattr(AuditSpec, "check_spec", check)
    for each in (graph, replace(graph, edges=crossing, modes=modes)):
        with pytest.raises(InputError, match="need not run"):
            run_audit(each, "common_neighbors", hide_links=0.2)
    assert [call.args[0]["noun"] for call in check.call_args_list] == ["people", "nodes"]


def test_a_graph_of_papers_may_have_any_name():
    fields = {"graph_hash": "0" * 64, "hide_links": 0.1}
    assert AuditSpec.check_fields({**fields, "graph_name": "Cora"}).nodes.many == "papers"
    assert AuditSpec.check_fields({**fields, "graph_name": "data.csv"}).nodes.many == "people"
    chosen = AuditSpec.check_fields({**fields, "graph_name": "data.csv", "noun": "papers"})
    assert chosen.nodes.count(1) == "1 paper"
    assert chosen.model_dump(mode="json")["noun"] == "papers"  # so it is in audit.json
    assert {noun.many for noun in NOUNS.values()} == set(NOUNS)


def test_papers_are_not_called_people():
    """Cora's 2,708 papers were “people affected”."""
    view = make_audit(make_noise((ORIGINAL,), ATTACKS), ATTACKS, ())
    papers = replace(view, spec=view.spec.update(noun="papers"))
    page = str(build_decision(ReportData(papers, ReportOptions())))
    assert "Papers affected" in page
    assert " papers, " in page
    assert "people" not in page.lower()
    assert "people" not in str(summarize_risk(papers)).lower()
