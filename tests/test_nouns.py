"""What nodes are called: papers in a citation graph, people in an upload, or what was chosen."""

from __future__ import annotations

from dataclasses import replace

from core.audit.asked.spec import AuditSpec
from core.data.catalogue import _DATASETS
from core.findings.exposure import summarize_risk
from core.nouns import BY_GRAPH, NOUNS, propose_noun
from core.release import ORIGINAL
from core.report.data import ReportData
from core.report.decision_page import build_decision
from core.report.options import ReportOptions
from tests.oracles.audits import list_attack_keys, make_audit, make_noise

ATTACKS = list_attack_keys()


def test_each_named_graph_is_in_the_catalogue():
    known = {info.name for info in _DATASETS}
    assert {"cora", "citeseer", "pubmed", "lastfm_asia"} <= BY_GRAPH.keys() <= known
    assert propose_noun("staff list") == "people"


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
