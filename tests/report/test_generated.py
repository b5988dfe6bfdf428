"""Both editions of a real audit of the generated network, read back from the PDF."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from core.audit.asked.method_choice import MethodChoice
from core.audit.asked.spec import AuditSpec
from core.audit.store.decisions import Decision
from core.data.synthetic import generate_social
from core.findings.decisions import make_evidence
from core.findings.policy import find_policy
from core.findings.verdict import judge
from core.report.document import write_editions
from tests.inline import run_inline

pytestmark = pytest.mark.skipif(shutil.which("pdftotext") is None, reason="needs poppler")

SEED = 424_242
FILE_HASH = "ab" * 32


@pytest.fixture(scope="module")
def papers(tmp_path_factory) -> tuple[object, dict[str, Path]]:
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("AUDIT_DATABASE", raising=False)
        patch.setenv("AUDIT_DEVICE", "cpu")
        graph = generate_social(200, seed=3)
        policy = find_policy("public")
        spec = AuditSpec.check_spec(
            {
                "graph_name": "social",
                "graph_hash": graph.content_hash,
                "private": "affiliation",
                "utility": "label",
                "known": 0.3,
                "hide_links": 0.1,
                "num_repeats": 2,
                "root_seed": SEED,
                "policy": policy.model_dump(mode="json"),
                "attacks": [
                    MethodChoice(key=key)
                    for key in ("common_neighbors", "label_propagation", "class_prior")
                ],
                "defenses": [MethodChoice(key="random_deletion", config={"strength": 0.5})],
            }
        )
        view = run_inline(spec, graph, tmp_path_factory.mktemp("home"), "social")
        release = spec.defenses[0].id
        made = {"graph_hash": graph.content_hash, "audit_id": view.summary.id, "release": release}
        evidence = make_evidence(judge(view, policy), release)
        decisions = (
            Decision(kind="chosen", person="Ada Lovelace", evidence=evidence, **made),
            Decision(kind="published", person="Ada Lovelace", file_hash=FILE_HASH, **made),
        )
        view = replace(view, decisions=decisions)
        folder = tmp_path_factory.mktemp("papers")
        return view, {path.name: path for path in write_editions(view, folder)}


def run(*command: str | Path) -> str:
    return subprocess.run(command, capture_output=True, check=True).stdout.decode()


def test_the_external_edition_tells_nothing_that_leads_back(papers):
    view, files = papers
    graph = view.load_graph()
    outside = run("pdftotext", "-layout", files["report-external.pdf"], "-")
    inside = run("pdftotext", "-layout", files["report.pdf"], "-")
    flat = re.sub(r"\s", "", outside)
    assert graph.content_hash[:12] in re.sub(r"\s", "", inside)
    assert graph.content_hash[:12] not in flat
    assert str(SEED) in inside
    assert str(SEED) not in flat
    assert "seed" not in outside.lower()
    words = set(re.findall(r"\w+", outside))
    assert not words & set(graph.node_ids)
    assert not re.search(r"\bN-\d{3}\b", outside)
    counted = r"people|persons?|nodes?|links?|pairs?|classes|components?|neighbours?"
    assert not re.search(rf"(?<![\d.,])\b[0-9] (?:{counted})\b", outside)
    assert "Ada Lovelace" in inside
    assert "Lovelace" not in outside


@pytest.mark.parametrize("name", ["report.pdf", "report-external.pdf"])
def test_both_editions_are_tagged_and_have_what_is_filed(papers, name):
    path = papers[1][name]
    about = run("pdfinfo", path)
    assert re.search(r"Tagged:\s+yes", about)
    tree = run("pdfinfo", "-struct", path)
    for tag in ("Document", "H1", "Table", "TH", "Figure", "Caption"):
        assert re.search(rf"^\s*{tag}\b", tree, re.MULTILINE), tag
    assert b"pdfuaid" in path.read_bytes()
    text = run("pdftotext", "-layout", path, "-")
    for words in (
        "Limits of the policy", "Glossary", "Decisions so far", "Review by",
        "SHA-256 of the published file", "Base rate",
    ):  # fmt: skip
        assert words in text, words
    assert FILE_HASH in re.sub(r"\s", "", text)


def test_figures_have_words_for_those_who_do_not_see_them(papers):
    content = papers[1]["report.pdf"].read_bytes()
    tree = run("pdfinfo", "-struct", papers[1]["report.pdf"])
    figures = len(re.findall(r"^\s*Figure\b", tree, re.MULTILINE))
    assert figures >= 3
    assert content.count(b"/Alt") >= figures
