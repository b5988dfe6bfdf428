"""The PDF: its text, its accessibility, its promises on names, its bytes."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from matplotlib.font_manager import fontManager

from core.audit.asked.attack import attach_referents, parse_attack
from core.audit.asked.method_choice import MethodChoice
from core.audit.asked.release_info import parse_release
from core.audit.asked.spec import AuditSpec
from core.audit.results.view import AuditView
from core.audit.store.states import State
from core.errors import InputError
from core.graph import Graph
from core.privacy.guarantees import EDGE
from core.registry import list_methods
from core.release import Guarantee
from core.report import (
    SECTIONS,
    ReportOptions,
    blocks,
    charts,
    document,
    render_preview,
    write_report,
)
from core.report.charts import draw_ranking
from core.report.data import ReportData
from core.report.document import build_content
from core.report.threats import build_threats, list_settings
from tests.figures.conftest import RELEASES, make_view, result_row
from tests.figures.test_guarantees import make_check, make_run
from tests.oracles.audits import make_audit, tabulate_results
from tests.oracles.graphs import two_communities
from tests.oracles.node_risks import build_risks

needs_poppler = pytest.mark.skipif(shutil.which("pdftotext") is None, reason="needs pdftotext")


def format_nodes(graph: Graph, names: tuple[str, ...]) -> Graph:
    return Graph.from_pairs(
        graph.edges,
        graph.num_nodes,
        node_ids=names,
        features=graph.features,
        attributes=graph.attributes,
        name=graph.name,
    )


@pytest.fixture(scope="module")
def view() -> AuditView:
    """Ids that cannot be mistaken for any other word of the report."""
    graph = two_communities()
    return make_view(format_nodes(graph, tuple(f"person{i:02d}x" for i in range(40))))


@pytest.fixture(scope="module")
def pdf(view, tmp_path_factory) -> Path:
    options = ReportOptions(
        title="Audit of <b>friends</b>", organisation="Institute & Sons", reviewer="R. Viewer"
    )
    return write_report(view, tmp_path_factory.mktemp("report") / "report.pdf", options)


def read_text(pdf: Path, *how: str) -> str:
    done = subprocess.run(["pdftotext", *how, str(pdf), "-"], capture_output=True, check=True)
    return " ".join(done.stdout.decode().split())


def read_info(pdf: Path) -> str:
    return subprocess.run(["pdfinfo", str(pdf)], capture_output=True, check=True).stdout.decode()


@needs_poppler
def test_text_holds_findings_and_sign_off(pdf):
    text = read_text(pdf)
    for part in (
        "Audit of <b>friends</b>",
        "Institute & Sons",
        "R. Viewer",
        "Release decision",
        "Common neighbours",
        "0.84 [0.80, 0.88]",
        "0.23 [0.17, 0.29] above the best baseline attacker",
        "Random deletion",
        "empirical only",
        "needs at least 1,000 non-links, has 40",
        "the release has no links",
        "Data protection officer",
        "1 March 2026",
        "N-001",
    ):
        assert part in text, part


@needs_poppler
def test_pages_and_metadata(pdf):
    info = read_info(pdf)
    assert 4 <= int(re.search(r"Pages:\s+(\d+)", info).group(1)) <= 15  # four of the assessment
    assert re.search(r"Tagged:\s+yes", info)
    assert "Audit of <b>friends</b> – test (two_communities)" in info
    assert "Institute & Sons" in info
    assert b"pdfuaid" in pdf.read_bytes()


@pytest.mark.parametrize(
    ("name", "subtitle"),
    [
        ("Spring release", "Spring release (two_communities)"),
        ("two_communities, Internal, 1 May 2026", "two_communities, Internal, 1 May 2026"),
        ("two_communities", None),
        ("", None),
    ],
)
def test_the_cover_has_the_name_that_the_analyst_gave(view, name: str, subtitle: str | None):
    named = replace(view, summary=replace(view.summary, name=name))
    content, _ = build_content(named, ReportOptions(sections=()))
    assert content["subtitle"] == (subtitle or "two_communities")


def test_the_bound_of_a_secret_stands_below_what_is_said_of_it(view):
    content, _ = build_content(view, ReportOptions(sections=("risk",)))
    blocks = content["sections"][0]["blocks"]
    texts = ["".join(span["text"] for span in b.get("spans", ())) for b in blocks]
    notes = [i for i, text in enumerate(texts) if text.startswith("Upper bound")]
    assert notes
    for i in notes:
        secret = re.match(r"Upper bound on the original for ([a-z -]+):", texts[i])[1]
        assert texts[i].count("Upper bound") == 1
        assert texts[i - 1].lower().startswith(f"{secret} exposes ")


@needs_poppler
def test_pseudonyms_hide_every_id_and_the_switch_shows_them(view, pdf, tmp_path):
    assert not re.search(r"person\d\dx", read_text(pdf))
    named = write_report(
        view, tmp_path / "named.pdf", ReportOptions(sections=("risk",), pseudonyms=False)
    )
    text = read_text(named)
    assert len(set(re.findall(r"person\d\dx", text))) == 15
    assert "It is itself personal data" in text
    assert "Contains personal data" in text


def test_pseudonymous_content_holds_no_id_and_no_private_value_of_a_node(view):
    content, images = build_content(view, ReportOptions())
    assert not re.search(r"person\d\dx", str(content) + "".join(images.values()))
    exposed = [
        b
        for s in content["sections"]
        if s["key"] == "risk" and not s["annex"]
        for b in s["blocks"]
        if b["kind"] == "table"
    ][-1]
    assert exposed["rows"][0][0] == "N-001"
    assert not {"left", "right"} & {cell for row in exposed["rows"] for cell in row}


def test_same_audit_same_bytes(view, tmp_path):
    options = ReportOptions(sections=("attacks", "risk"))
    first = write_report(view, tmp_path / "a.pdf", options).read_bytes()
    assert first == write_report(view, tmp_path / "b.pdf", options).read_bytes()


def test_every_figure_has_alternative_text(view):
    content, images = build_content(view, ReportOptions())
    blocks = [b for s in content["sections"] for b in s["blocks"]]
    blocks += [figure for b in blocks for figure in b.get("figures", ())]
    figures = [b for b in blocks if b["kind"] == "figure"]
    assert {figure["name"] for figure in figures} == set(images)
    assert all(len(figure["alt"]) > 40 for figure in figures)


def test_sections_and_releases_are_chosen(view):
    options = ReportOptions(sections=("tradeoff", "signoff"), releases=(RELEASES[1],))
    content, _ = build_content(view, options)
    keys = [(s["key"], s["annex"]) for s in content["sections"]]
    assert keys == [("tradeoff", False), ("tradeoff", True), ("signoff", True)]
    assert "0.9" not in str(content["summary"][-1]["choices"])
    with pytest.raises(InputError, match="release must be one of the audit's"):
        build_content(view, ReportOptions(releases=("nonsense",)))
    with pytest.raises(InputError, match="report section must be a known one"):
        ReportOptions(sections=("nonsense",))  # type: ignore[arg-type]
    assert set(SECTIONS) >= set(options.sections)


def test_table_numbers_equal_the_results(view):
    content, _ = build_content(view, ReportOptions(sections=("releases",)))
    table = next(b for b in content["sections"][0]["blocks"] if b["kind"] == "table")
    column = next(
        i for i, name in enumerate(table["columns"]) if "Worst case, link inference" in name
    )
    rows = view.results[view.results.metric == "tpr_at_fpr_0.01"]
    assert "TPR at 1 % FPR" in table["columns"][column]
    for summary, told in zip(view.releases, table["rows"], strict=True):
        worst = rows[rows.release == summary.id].sort_values("value").iloc[-1]
        shown = [float(number) for number in re.findall(r"[\d.]+", told[column])]
        assert shown == pytest.approx([worst.value, worst.low, worst.high], abs=6e-4)


def test_guarantee_card_states_unit_budget_and_gaps(view):
    guarantee = Guarantee(
        unit="link",
        relation="lists that differ in one entry",
        epsilon=6.0,
        delta=1e-5,
        accountant="basic composition",
        trust="local",
        epsilon_transcript=12.0,
        not_covered=("node features",),
    )
    releases = (view.releases[0], replace(view.releases[1], guarantee=guarantee), view.releases[2])
    content, _ = build_content(
        replace(view, releases=releases), ReportOptions(sections=("guarantees",))
    )
    cards = [b for b in content["sections"][0]["blocks"] if b["kind"] == "card"]
    assert [card["badge"] for card in cards] == [
        "link-local DP, ε = 12, δ = 2 × 10⁻⁵",
        "empirical only",
    ]
    rows = {row["name"]: row["value"] for row in cards[0]["rows"]}
    assert rows["Protects"] == "one entry of one person's list of links"
    assert rows["Budget"].startswith(
        "ε = 12; δ = 2 × 10⁻⁵; the recipient holds the reports of both"
    )
    assert rows["Not covered"] == "node features"
    text = "".join(span["text"] for span in cards[0]["spans"])
    assert "by at most e^12 = 162,755, but for a chance of 2 × 10⁻⁵" in text
    assert "next to nothing" in text
    assert "Not checked: Random deletion (strength = 0.5)." in str(content)


def test_checks_of_claims_are_told_with_bound_trials_and_what_they_do_not_prove(view):
    guarantee = EDGE.make_guarantee(1.0)
    releases = tuple(replace(r, guarantee=guarantee) for r in view.releases)
    runs = (
        make_run(make_check(), RELEASES[1]),
        make_run(make_check(lower_bound=1.5), RELEASES[2]),
        replace(make_run(make_check(), RELEASES[1]), check=None, state="cancelled"),
    )
    content, _ = build_content(
        replace(view, releases=releases, claims=runs), ReportOptions(sections=("guarantees",))
    )
    parts = content["sections"][0]["blocks"]
    (table,) = [block for block in parts if block["kind"] == "table"]
    assert "95 % confidence" in table["caption"]
    assert [row[1:] for row in table["rows"]] == [
        ["1", "0.70", "500", "not refuted"],
        ["1", "1.50", "500", "refuted"],
    ]
    text = str(parts)
    assert "does not prove the claim" in text
    assert "Do not publish with this mechanism" in text
    assert "Not checked" not in text


def test_equal_reasons_share_a_row(view):
    lost = [
        result_row(release, method, metric, None, status="skipped", reason="two classes only")
        for release in RELEASES
        for method in ("common_neighbors", "degree_product")
        for metric in ("margin", "accuracy")
    ]
    results = view.results[view.results.status == "done"]
    table = pd.concat([results, tabulate_results(lost)], ignore_index=True)
    content, _ = build_content(replace(view, results=table), ReportOptions(sections=("limits",)))
    assert content["sections"][0]["blocks"][0]["rows"] == [
        [
            "Common neighbours, Degree product: Margin of the true class, Attack accuracy",
            "all releases",
            "skipped",
            "two classes only",
        ]
    ]


def test_a_row_of_what_is_missing_names_few_methods(view):
    """14 names of methods stood in each row."""
    keys = [method.info.key for method in list_methods("attribute_attack")][:14]
    lost = [
        result_row("original", key, "auc", None, status="skipped", reason="no features")
        for key in keys
    ]
    table = tabulate_results(lost)
    content, _ = build_content(replace(view, results=table), ReportOptions(sections=("limits",)))
    ((who, *_),) = content["sections"][0]["blocks"][0]["rows"]
    named = [parse_attack(key).title for key in keys]
    assert who == f"{', '.join(named[:3])} and 11 more: Attack AUC"


@pytest.mark.parametrize("pseudonyms", [True, False])
def test_hostile_names_compile_and_stay_text(pseudonyms, tmp_path):
    hostile = (
        "#panic()",
        "$x$ *b* _i_ `c` @ref <label>",
        "\\u{1F600}",
        "<script>alert(1)</script>",
        "漢字",
        "😀",
        "\u202egnp.exe",
        "x" * 300,
        "=SUM(A1)",
        "]]}\"'//",
    )
    graph = two_communities()
    names = (*hostile, *(f"v{i}" for i in range(30)))
    view = make_view(replace(format_nodes(graph, names), name="#set page(fill: red) 漢"))
    table = view.nodes.to_frame()
    is_other = ~table.node.isin(hostile)
    worst_first = table.assign(
        risk=table.risk.where(is_other, 0.999), advantage=table.advantage.where(is_other, 0.999)
    )
    view = replace(view, load_nodes=lambda: build_risks(worst_first))
    path = write_report(
        view,
        tmp_path / "r.pdf",
        ReportOptions(sections=("risk", "provenance"), pseudonyms=pseudonyms),
    )
    if shutil.which("pdftotext"):
        text = read_text(path)
        assert "#set page(fill: red)" in text
        letters = re.sub(r"\W", "", text)  # a long name breaks within its column
        assert ("scriptalert1script" in letters) != pseudonyms
        assert ("x" * 39 in letters) != pseudonyms
        assert ("#panic()" in text) != pseudonyms


def test_long_tables_break_over_pages(view, tmp_path):
    extra = tabulate_results(
        result_row(
            "original",
            "common_neighbors",
            f"mre_{i}",
            None,
            status="failed",
            reason=f"reason {i} " + "long words " * 12,
        )
        for i in range(80)
    )
    many = replace(view, results=pd.concat([view.results, extra], ignore_index=True))
    content, _ = build_content(many, ReportOptions(sections=("limits",)))
    assert "more are in audit.json" in str(content)
    write_report(many, tmp_path / "r.pdf", ReportOptions(sections=("limits",)))


@needs_poppler
def test_no_row_of_a_table_is_broken(view, tmp_path):
    """Rows of several lines each, so that some would lie across the end of a page."""
    rows = [
        result_row(
            "original",
            "common_neighbors",
            f"mre_{i}",
            None,
            status="failed",
            reason=" ".join([f"reason{i}begins", *["words"] * (24 + i % 7), f"reason{i}ends"]),
        )
        for i in range(30)
    ]
    extra = tabulate_results(rows)
    many = replace(view, results=pd.concat([view.results, extra], ignore_index=True))
    path = write_report(many, tmp_path / "r.pdf", ReportOptions(sections=("limits",)))
    made = subprocess.run(["pdftotext", str(path), "-"], capture_output=True, check=True)
    pages = made.stdout.decode().split("\f")
    begun = [re.findall(r"reason(\d+)begins", page) for page in pages]
    assert sum(map(bool, begun)) > 1
    for page, found in zip(pages, begun, strict=True):
        assert sorted(found) == sorted(re.findall(r"reason(\d+)ends", page))


@needs_poppler
@pytest.mark.parametrize("size", [3, 4, 12, 19, 40])
def test_no_row_of_a_table_is_alone_on_a_page(view, tmp_path, monkeypatch, size):
    """Nor do tables of three rows lie on two pages, unless they fill one. 24 tables, each further
    down its page than the one before; rows of one to five lines."""
    content, _ = build_content(view, ReportOptions(sections=("guarantees",)))
    found: list[blocks.Block] = []
    for table in range(24):
        rows = [
            (f"t{table}r{row}x", " ".join(["words"] * (4 + (7 * row + table) % 5 * 16)))
            for row in range(size)
        ]
        found += [blocks.paragraph(f"Line {line}.") for line in range(table % 6)]
        found.append(blocks.table(["Row", "Text"], rows, "A table."))
    section = {"title": "Tables", "key": "tables", "annex": False, "blocks": found}
    monkeypatch.setattr(document, "_build", lambda _data: {**content, "sections": [section]})
    path = write_report(view, tmp_path / "r.pdf")
    made = subprocess.run(["pdftotext", str(path), "-"], capture_output=True, check=True)
    pages = [re.findall(r"t(\d+)r\d+x", page) for page in made.stdout.decode().split("\f")]
    counts = [count for page in pages for count in Counter(page).values()]
    assert sum(counts) == 24 * size
    assert len(pages) > 3
    assert min(counts) >= min(size, 2 if size > 3 else 3)


@needs_poppler
def test_no_page_begins_with_a_row_that_has_no_name(view, tmp_path, monkeypatch):
    """The second row of a release stood on the next page, below nothing that named it."""
    content, _ = build_content(view, ReportOptions(sections=("guarantees",)))
    found: list[blocks.Block] = []
    for table in range(8):
        rows = [
            (
                f"t{table}g{row // 3}x" if row % 3 == 0 else "",
                f"t{table}g{row // 3}y" + " words" * 30,
            )
            for row in range(36)
        ]
        found += [blocks.paragraph(f"Line {line}.") for line in range(table)]
        found.append(blocks.table(["Release", "Text"], rows, "A table."))
    section = {"title": "Tables", "key": "tables", "annex": False, "blocks": found}
    monkeypatch.setattr(document, "_build", lambda _data: {**content, "sections": [section]})
    path = write_report(view, tmp_path / "r.pdf")
    made = subprocess.run(["pdftotext", str(path), "-"], capture_output=True, check=True)
    pages = made.stdout.decode().split("\f")
    assert len(pages) > 8
    for page in pages:
        named = re.findall(r"(t\d+g\d+)x", page)
        assert Counter(re.findall(r"(t\d+g\d+)y", page)) == dict.fromkeys(named, 3)


@needs_poppler
def test_a_long_list_begins_below_its_heading(view, tmp_path):
    """The glossary, longer than the rest of a page, left its heading on a page of its own."""
    path = write_report(view, tmp_path / "r.pdf", ReportOptions(sections=("threats", "glossary")))
    made = subprocess.run(["pdftotext", "-layout", str(path), "-"], capture_output=True, check=True)
    pages = made.stdout.decode().split("\f")[:-1]
    (first,) = [page for page in pages if re.search(r"A\.\d+ Glossary", page)]
    assert re.search(r"A\.\d+ Threat model", first)
    assert "Advantage" in first.partition("Glossary")[2]
    numbers = [re.findall(r"(\d+) ?/ ?(\d+)$", page, re.M) for page in pages]
    assert numbers == [[(str(k), str(len(pages)))] for k in range(1, len(pages) + 1)]


def test_an_audit_without_results_still_makes_a_report(view, tmp_path):
    empty = replace(
        view,
        results=view.results.iloc[:0],
        load_nodes=lambda: view.nodes.select([]),
        load_profile=lambda: view.profile.iloc[:0],
        load_rocs=dict,
        summary=replace(view.summary, state=State.RUNNING),
    )
    content, _ = build_content(empty, ReportOptions())
    assert "This audit is running" in content["state"]
    assert write_report(empty, tmp_path / "r.pdf").stat().st_size > 10_000


def test_preview_gives_an_image_a_page(view):
    pages = render_preview(view, ReportOptions(sections=("guarantees", "signoff")), ppi=40)
    assert len(pages) >= 1
    assert all(page.startswith(b"\x89PNG") for page in pages)


@pytest.mark.usefixtures("no_pictures")
def test_the_main_part_shows_the_strongest_attacks_and_counts_the_rest():
    keys = [m.info.key for m in list_methods("link_attack") if "link" in m.threats]
    real = [key for key in keys if not parse_attack(key).is_baseline]
    scores = {("original", key, "auc"): 0.5 + 0.01 * i for i, key in enumerate(real)}
    scores |= {("original", key, "auc"): 0.5 for key in set(keys) - set(real)}
    content, _ = build_content(make_audit(scores, keys, ()), ReportOptions(sections=("attacks",)))
    main, annex = (section["blocks"] for section in content["sections"])
    (figure,) = [block for block in main if block["kind"] == "figure"]
    strongest = [parse_attack(key).title for key in real[::-1][:8]]
    assert re.findall(r"(?:\. |; )(.+?) 0\.", figure["alt"])[:8] == strongest
    left = len(keys) - 8 - min(len(keys) - len(real), 2)
    assert f"{left} weaker ones are in the annex" in figure["caption"]
    assert len(next(b for b in annex if b["kind"] == "table")["rows"]) == len(keys)


def test_charts_repeat_their_bytes_and_name_no_layout_font(view):
    from core.findings.ranking import compute_ranking

    table = compute_ranking(view.results, "link", ("auc",))
    svg = draw_ranking(table)
    assert svg == draw_ranking(table)
    assert "STIX" not in svg
    assert "Common neighbours" in svg  # text stays text


def test_a_synthesis_stands_beside_its_twin_which_is_no_candidate(view):
    independent = "gap:data_free=True"
    names = {RELEASES[1]: "gap", RELEASES[2]: independent}
    guarantee = EDGE.make_guarantee(1.0)
    renamed = replace(
        view,
        results=attach_referents(view.results.replace({"release": names})),
        releases=tuple(
            replace(r, info=parse_release(names.get(r.id, r.id)), guarantee=guarantee)
            for r in view.releases
        ),
        spec=view.spec.model_copy(
            update={"defenses": tuple(map(MethodChoice.parse, names.values()))}
        ),
    )
    content, _ = build_content(renamed, ReportOptions(sections=("guarantees", "signoff")))
    parts = content["sections"][0]["blocks"]
    assert [block["title"] for block in parts if block["kind"] == "card"] == ["GAP (ε = 3.2)"]
    (table,) = [block for block in parts if block["kind"] == "table"]
    assert [
        "GAP (ε = 3.2)",
        "Node classification F1",
        "0.82 [0.80, 0.84]",
        "0.60 [0.58, 0.62]",
        "0.22",
        "the data",
    ] in table["rows"]
    assert "exceeds its data-independent baseline" in str(parts)
    assert "data_free" not in str(content["summary"][-1])


def test_a_confirmation_says_that_its_intervals_are_wider(view):
    spec = view.spec.model_copy(update={"confirmation_error": 0.025})
    for of, is_said in ((view, False), (replace(view, spec=spec), True)):
        assert (
            "all together miss in at most 2.5 %"
            in str(build_threats(ReportData(of, ReportOptions())))
        ) is is_said


def test_people_are_shown_by_risk_or_by_what_the_attacker_adds(view):
    added, _ = build_content(view, ReportOptions(sections=("risk",)))
    risk, figures = build_content(view, ReportOptions(sections=("risk",), scale="risk"))
    assert "Share of the nodes with an advantage of 0.2 or more" in str(added)
    assert "Share of the nodes with a risk of 0.8 or more" in str(risk)
    assert "over the base rate" not in figures["risk.svg"]


def test_a_check_that_failed_is_no_check(view):
    releases = tuple(replace(r, guarantee=EDGE.make_guarantee(1.0)) for r in view.releases)
    runs = (
        make_run(make_check(), RELEASES[1]),
        replace(make_run(make_check(), RELEASES[2]), check=None, state=State.FAILED),
    )
    content, _ = build_content(
        replace(view, releases=releases, claims=runs), ReportOptions(sections=("guarantees",))
    )
    assert f"Not checked: {parse_release(RELEASES[2]).title}." in str(content)


def test_changed_assumptions_are_told_in_the_labels_of_their_controls() -> None:
    plain = AuditSpec.check_fields({"graph_hash": "0" * 64, "released_links": True})
    assert list_settings(plain) == []
    assert list_settings(plain.update(evaluation="distance_2", publisher_knows="none")) == [
        "Compare withheld links with: pairs with a common neighbour",
        "Private values that a defense uses: nothing",
    ]


def test_charts_are_laid_out_in_their_font_whatever_list_of_fonts_is_cached(monkeypatch):
    foreign = [font for font in fontManager.ttflist if font.name != charts.LAYOUT_FONT]
    assert len(foreign) < len(fontManager.ttflist)
    monkeypatch.setattr(fontManager, "ttflist", foreign)
    charts.register_fonts()
    found = {font.name for font in fontManager.ttflist}
    assert charts.LAYOUT_FONT in found
