"""Both editions of a real audit of the generated network, read back from the PDF: what they tell,
and its pages: a short main part, an annex, none half empty, no small table in two."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from core.audit.asked.method_choice import MethodChoice
from core.audit.asked.spec import AuditSpec
from core.audit.store.decisions import Decision
from core.data.synthetic import generate_social
from core.findings.decisions import make_evidence
from core.findings.numbers import format_row
from core.findings.policy import find_policy
from core.findings.verdict import judge
from core.report import ReportOptions, blocks, document, write_editions
from core.report.data import ReportData
from tests.inline import run_inline

pytestmark = pytest.mark.skipif(shutil.which("pdftotext") is None, reason="needs poppler")

SEED = 424_242
FILE_HASH = "ab" * 32
MOST_PAGES = 8
SMALL_TABLE = 3
TOP, BOTTOM, HEIGHT = 24, 275, 297
"""Of the text on a page, in mm."""
KEPT = "set block(breakable: false)\n      make(b.rows)"
HEADING = "heading(level: 1, section.title)"


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
                "defenses": [
                    MethodChoice(key="random_deletion", config={"strength": 0.5}),
                    MethodChoice(key="edge_rand"),
                ],
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


def read_pages(path: Path) -> list[str]:
    return run("pdftotext", "-raw", path, "-").split("\f")[:-1]


def find_annex(pages: list[str]) -> int:
    """Number of pages before the annex."""
    return next(i for i, page in enumerate(pages) if re.search(r"^Annex$", page, re.MULTILINE))


def list_sparse(path: Path) -> list[int]:
    """Pages of the main part, but its last, whose lower half is empty; from 1."""
    last = find_annex(read_pages(path)) - 1
    run("pdftoppm", "-r", "20", "-gray", "-png", "-l", str(last), path, path.with_suffix(""))
    found = []
    for number, image in enumerate(sorted(path.parent.glob(f"{path.stem}-*.png")), 1):
        rows = np.asarray(Image.open(image).convert("L")) < 200
        start, end = (round(len(rows) * at / HEIGHT) for at in (TOP, BOTTOM))
        inked = np.flatnonzero(rows[start:end].any(axis=1))
        if inked.max(initial=0) < (end - start) / 2:
            found.append(number)
    return found


def squeeze(text: str) -> str:
    """Without what a break of a line adds."""
    return re.sub(r"[\s\u00ad\u200b\u2010-]", "", text)


def list_split(content: dict[str, Any], path: Path) -> list[str]:
    """Captions of the small tables of which a cell is not on the caption's page."""
    pages = [squeeze(page) for page in read_pages(path)]
    tables = [b for s in content["sections"] for b in s["blocks"] if b["kind"] == "table"]
    found = []
    for table in (t for t in tables if len(t["rows"]) <= SMALL_TABLE):
        cells = [squeeze(cell) for row in table["rows"] for cell in row]
        own = [page for page in pages if squeeze(table["caption"]) in page]
        assert own, table["caption"]
        if not any(all(cell in page for cell in cells) for page in own):
            found.append(table["caption"])
    return found


def write_tables(
    view: object, path: Path, patch: pytest.MonkeyPatch, plant: tuple[str, str] | None = None
) -> dict[str, Any]:
    """Write sections of small tables below text of any length; returns their content.

    plant  text of the template, and what takes its place
    """
    text = document.TEMPLATE.read_text(encoding="utf-8")
    if plant is not None:
        assert plant[0] in text
        text = text.replace(*plant)
    patch.setattr(document, "TEMPLATE", path.with_suffix(".typ"))
    document.TEMPLATE.write_text(text, encoding="utf-8")
    parts: list[blocks.Block] = []
    for number in range(30):
        rows = [[f"{number} row {row}", "words " * 20] for row in range(2 + number % 2)]
        parts.append(blocks.paragraph("Some text. " * (37 * number % 101)))
        parts.append(blocks.table(["Name", "Words"], rows, f"Caption {number} ends here."))
    patch.setitem(document.MAIN, "verdict", lambda _data: parts)
    for key in ("releases", "methods"):
        patch.setitem(document.MAIN, key, lambda _data: parts[:2])
    patch.setitem(document.ANNEX, "signoff", lambda _data: parts[:1])
    options = ReportOptions(sections=("verdict", "releases", "methods", "signoff"))
    document.write_report(view, path, options)
    return document.build_content(view, options)[0]


@pytest.fixture(scope="module")
def content(papers) -> dict[str, Any]:
    """Of the report, whose pictures are not drawn again."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ReportData, "add_image", lambda _data, name, _draw: f"{name}.svg")
        return document.build_content(papers[0], ReportOptions())[0]


def test_the_main_part_is_short_and_the_annex_has_what_is_looked_up(papers, content):
    files = papers[1]
    pages = read_pages(files["report.pdf"])
    annex = find_annex(pages)
    assert annex <= MOST_PAGES
    main, rest = (" ".join(part) for part in (pages[:annex], pages[annex:]))
    titles = {of: [s["title"] for s in content["sections"] if s["annex"] == of] for of in (0, 1)}
    assert titles[0] == [
        "Limits of the policy", "Attacks on the original", "Exposed nodes",
        "Releases against the original", "Usefulness against risk", "What leaves", "Methods",
    ]  # fmt: skip
    assert all(f"{number} {title}" in main for number, title in enumerate(titles[0], 1))
    assert all(f"A.{number} {title}" in rest for number, title in enumerate(titles[1], 1))
    looked_up = ("ISO/IEC 27559", "Cost, time and technology", "Glossary", "Provenance")
    for words in looked_up:
        assert words in rest
        assert words not in main
    assert list_sparse(files["report.pdf"]) == []
    assert list_split(content, files["report.pdf"]) == []


def test_every_figure_on_the_original_is_in_the_annex(papers, content):
    """With interval, n and baseline."""
    view = papers[0]
    annex = next(s["blocks"] for s in content["sections"] if s["annex"] and s["key"] == "attacks")
    tables = [block for block in annex if block["kind"] == "table"]
    told = {(row[0], cell) for table in tables for row in table["rows"] for cell in row[1:]}
    rows = view.results[(view.results.release == "original") & (view.results.status == "done")]
    metrics = ["auc", "accuracy", "tpr_at_fpr_0.01"]
    rows = rows[rows.metric.isin(metrics) & (rows.method != "release")]
    assert len(rows) > 5
    for row in rows.itertuples():
        title = row.attack.title + " (baseline)" * row.attack.is_baseline
        assert (title, format_row(row)) in told
    for table in tables:
        assert re.search(r"\d (?:to [\d,]+ )?(?:pair|node)s in each of 2 repeats", table["caption"])


@pytest.mark.usefixtures("no_pictures")
@pytest.mark.parametrize(
    ("plant", "is_split", "is_sparse"),
    [
        (None, False, False),
        ((KEPT, KEPT.replace("false", "true")), True, False),
        ((HEADING, f"pagebreak(weak: true)\n  {HEADING}"), False, True),
    ],
)
def test_no_small_table_is_split_and_no_page_left_half_empty(
    papers, tmp_path, monkeypatch, plant, is_split: bool, is_sparse: bool
):
    path = tmp_path / "report.pdf"
    content = write_tables(papers[0], path, monkeypatch, plant)
    assert bool(list_split(content, path)) is is_split
    assert bool(list_sparse(path)) is is_sparse
