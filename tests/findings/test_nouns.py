"""What nodes are called: papers in a citation graph, people in an upload."""

from __future__ import annotations

from dataclasses import replace

from core.data.catalogue import _DATASETS
from core.findings.nouns import _NOUNS, PEOPLE, find_noun
from core.findings.page_summary import summarize_risk
from core.release import ORIGINAL
from core.report.data import ReportData
from core.report.decision_page import build_decision
from core.report.options import ReportOptions
from tests.oracles.audits import list_attack_keys, make_audit, make_noise

ATTACKS = list_attack_keys()


def test_each_named_graph_is_in_the_catalogue():
    known = {info.name for info in _DATASETS}
    assert {"cora", "citeseer", "pubmed", "lastfm_asia"} <= _NOUNS.keys()
    assert set(_NOUNS) <= known
    assert find_noun("staff list") == PEOPLE


def test_papers_are_not_called_people():
    """Cora's 2,708 papers were “people affected”."""
    view = make_audit(make_noise((ORIGINAL,), ATTACKS), ATTACKS, ())
    papers = replace(view, spec=view.spec.update(graph_name="cora"))
    page = str(build_decision(ReportData(papers, ReportOptions())))
    assert "Papers affected" in page
    assert " papers, " in page
    assert "people" not in page.lower()
    assert "people" not in str(summarize_risk(papers)).lower()
