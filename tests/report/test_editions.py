"""Three papers of one audit; the external one tells nothing that singles anybody out."""

from __future__ import annotations

import base64
import io
import re
import shutil
import subprocess
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from core.audit.asked.release_info import parse_release
from core.findings.columns import list_telling_columns
from core.findings.facts import STATE_TITLES
from core.findings.leaving import SEEN
from core.findings.people import list_secrets, rank_people
from core.findings.policy import find_policy
from core.findings.verdict import judge
from core.findings.verdict_words import find_subject, list_deciding, title_deciding
from core.measures.metrics import METRICS
from core.node_column import NodeColumn
from core.report import FILES, ReportOptions, decision_page, graph, render_preview, write_editions
from core.report.data import ReportData
from core.report.decision_page import TO_FILL, _shorten_untried, build_verdict, find_review_date
from core.report.document import build_content
from tests.figures.conftest import RELEASES, make_view, result_row
from tests.figures.test_theme import luminance
from tests.oracles.audits import list_attack_keys, make_audit, make_noise, tabulate_results
from tests.oracles.node_risks import build_risks

needs_pdftotext = pytest.mark.skipif(shutil.which("pdftotext") is None, reason="needs pdftotext")


@pytest.fixture(scope="module")
def view():
    view = make_view()
    provenance = {**view.provenance, "root_seed": 424242}
    policy = find_policy("public").model_dump(mode="json")
    purpose = {"recipient": "a university", "legal_basis": "Art. 89 GDPR"}
    spec = view.spec.model_copy(update={"root_seed": 424242, "policy": policy, "purpose": purpose})
    return replace(view, provenance=provenance, spec=spec)


@pytest.fixture(scope="module")
def papers(view, tmp_path_factory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("papers")
    return {path.name: path for path in write_editions(view, folder)}


def read(path: Path) -> str:
    made = subprocess.run(["pdftotext", "-layout", str(path), "-"], capture_output=True, check=True)
    return made.stdout.decode()


def test_three_papers_and_the_assessment_are_written(papers):
    assert set(FILES.values()) == {"report.pdf", "report-external.pdf", "summary.pdf"}
    assert set(papers) == {*FILES.values(), "dpia.md", "dpia.json"}
    for name in FILES.values():
        content = papers[name].read_bytes()
        assert content.startswith(b"%PDF")
        assert b"/StructTreeRoot" in content  # tagged
        assert b"pdfuaid" in content


@needs_pdftotext
def test_the_internal_edition_has_what_the_external_one_must_not(papers, view):
    inside, outside = read(papers["report.pdf"]), read(papers["report-external.pdf"])
    graph = view.load_graph()
    for text in (graph.content_hash[:16], "424242", "N-001", "Columns of the input"):
        assert text in inside
        assert text not in outside
    words = set(re.findall(r"\S+", outside))
    long_ids = [node for node in graph.node_ids if len(node) > 2]
    assert not words & set(long_ids)
    assert "seed" not in outside.lower()
    counts = r"(?<![\d.,])\b[0-9] (?:people|person|nodes?|links?|pairs?|classes|components?)\b"
    assert not re.search(counts, outside)


@needs_pdftotext
def test_both_begin_with_the_verdict_and_answer_what_was_asked(papers):
    for name in ("report.pdf", "report-external.pdf"):
        text = read(papers[name])
        first = text.index("Release decision")
        assert first < text.index("Limits of the policy") < text.index("Threat model")
        for words in (
            "Do not publish", "a university", "Art. 89 GDPR", "Singling out", "Linkability",
            "Motivated intruder", "Residual risk", "1 March 2027", "SHA-256 of the published file",
        ):  # fmt: skip
            assert words in text, words
        for words in ("ISO/IEC 27559", "NIST SP 800-226", "Five Safes"):  # filed inside
            assert (words in text) == (name == "report.pdf"), words


def test_the_summary_is_one_page(view):
    assert len(render_preview(view, ReportOptions(edition="summary"), ppi=30)) == 1
    attacks = list_attack_keys()
    names = ["random_deletion", *(f"random_deletion:strength={k / 20}" for k in range(1, 16))]
    many = make_audit(make_noise(("original", *names), attacks), attacks, names)
    public = find_policy("public")
    options = ReportOptions(edition="summary", policy=public)
    assert len(render_preview(many, options, ppi=30)) == 1
    leaks = make_noise(("original", names[0]), attacks)
    leaks |= {(release, "katz", "auc"): 0.9 for release in ("original", names[0])}
    (auc,) = [limit for limit in public.limits if limit.name == "links_auc"]
    limits = [auc.model_copy(update={"name": f"limit {k}"}) for k in range(len(public.limits))]
    strict = public.model_copy(update={"limits": tuple(limits)})
    refused = make_audit(leaks, attacks, names[:1])
    options = ReportOptions(edition="summary", policy=strict)
    assert len(build_content(refused, options)[0]["summary"][1]["rows"]) == len(limits)
    assert len(render_preview(refused, options, ppi=30)) == 1


def test_the_limits_are_shown_of_the_release_that_the_verdict_names():
    """Where every release is refused, the one that breaks fewest limits."""
    attacks, names = list_attack_keys(), ["random_deletion", "edge_rand:epsilon=3"]
    leaks = make_noise(("original", *names), attacks)
    for release in ("original", names[0]):
        leaks |= {(release, "katz", m): 0.9 for m in ("auc", "tpr_at_fpr_0.01")}
    leaks |= {(names[1], "katz", "auc"): 0.9}
    view = make_audit(leaks, attacks, names)
    content, _ = build_content(view, ReportOptions(edition="summary", policy=find_policy("public")))
    said, limits = content["summary"][:2]
    assert "EdgeRand" in str(said["spans"])
    assert limits["caption"].startswith("Deciding limits for EdgeRand")


@pytest.mark.usefixtures("no_pictures")
def test_no_definition_loses_its_numbers_outside(view):
    content, _ = build_content(view, ReportOptions(edition="external"))
    assert "accusing wrongly in 1 % of the cases" in str(content)
    assert "fewer than 10 of 100" not in str(content)


def test_the_signoff_offers_no_release_that_the_policy_refuses(view):
    content, _ = build_content(view, ReportOptions(sections=("signoff",)))
    choices = content["summary"][-1]["choices"]
    assert choices[0] == "Do not publish"
    assert not any("Original" in choice for choice in choices)
    assert any("after review" in choice for choice in choices)
    assert "strike out the others" in content["summary"][-1]["lead"]
    attacks = list_attack_keys()
    leaks = make_noise(("original", "random_deletion"), attacks)
    leaks |= {(release, "katz", "auc"): 0.9 for release in ("original", "random_deletion")}
    options = ReportOptions(sections=("signoff",), policy=find_policy("public"))
    refused = build_content(make_audit(leaks, attacks), options)[0]["summary"][-1]
    assert refused["choices"] == ["Do not publish"]
    assert refused["lead"].endswith("Tick to confirm.")
    attacks = list_attack_keys()
    clean = make_audit(make_noise(("original", "random_deletion"), attacks), attacks)
    options = ReportOptions(sections=("signoff",), policy=find_policy("public"))
    choices = build_content(clean, options)[0]["summary"][-1]["choices"]
    assert choices[0].startswith("Publish: Random deletion")
    assert choices[1:] == ["Publish: Original", "Do not publish"]


def test_without_a_policy_the_report_says_so(view):
    spec = view.spec.model_copy(update={"policy": None})
    content, _ = build_content(replace(view, spec=spec), ReportOptions(sections=("verdict",)))
    assert "No policy was chosen" in str(content["summary"][0])


def test_the_review_is_a_year_later():
    assert find_review_date(datetime(2026, 3, 1)) == "1 March 2027"
    assert find_review_date(datetime(2028, 2, 29)) == "28 February 2029"


def test_limits_of_the_chosen_releases_stand_side_by_side(view, monkeypatch):
    options = ReportOptions(sections=("verdict",), releases=(RELEASES[1],))
    data = ReportData(view, options)
    tables = [b for b in build_verdict(data) if b["kind"] == "table"]
    assert tables[0]["columns"][1] == "Original"
    assert len(tables[0]["columns"]) == 3
    assert tables[0]["rows"][0] == ["Decision", "Do not publish", "Do not publish"]
    original = data.verdict.find("original")
    limits = {check.limit.title: STATE_TITLES[check.state] for check in original.checks}
    rows = {row[0]: row[1] for row in tables[0]["rows"][1:]}
    assert {title: rows[title] for title in limits} == limits
    assert set(rows.values()) - set(limits.values()) <= {""}
    monkeypatch.setattr(decision_page, "MAX_RELEASES", 1)
    one, other = [b for b in build_verdict(data) if b["kind"] == "table"][:2]
    assert one["columns"] + other["columns"][1:] == tables[0]["columns"]


def test_no_release_has_a_table_of_limits_alone(view, monkeypatch):
    """Eleven releases were five, five and one."""
    data = ReportData(view, ReportOptions(sections=("verdict",)))
    shown = data.verdict.releases[:1] * 11
    monkeypatch.setattr(decision_page, "_list_shown", lambda *_: shown)
    tables = [b for b in decision_page._build_decisions(data, data.verdict) if b["kind"] == "table"]
    assert [len(table["columns"]) - 1 for table in tables] == [4, 4, 3]


def test_the_graphs_picture_is_internal_only_and_has_words(view):
    inside, images = build_content(view, ReportOptions(sections=("graph",)))
    pair = next(b for b in inside["sections"][0]["blocks"] if b["kind"] == "beside")
    figure = next(b for b in pair["figures"] if b["name"] == "people.svg")
    assert "people at stake are exposed" in figure["alt"]
    assert images["people.svg"].startswith("<?xml")
    options = ReportOptions(sections=("graph",), edition="external")
    outside, images = build_content(view, options)
    assert "people.svg" not in images
    assert "Map of the graph" not in str(outside)


def test_the_sizes_of_two_modes_are_rounded_outside(view):
    """As every count of people: 29 of one mode are "about 30" there."""
    original = view.load_graph()
    first = np.arange(original.num_nodes) < 29
    modes = NodeColumn("mode", (~first).astype(np.int64), ("person", "group"))
    across = original.edges[first[original.edges[:, 0]] != first[original.edges[:, 1]]]
    two = replace(view, load_graph=lambda: replace(original, edges=across, modes=modes))
    left = f"{original.num_nodes - 29:,}"

    def find_row(edition):
        options = ReportOptions(sections=("graph",), edition=edition)
        facts = next(b for b in graph.build_graph(ReportData(two, options)) if b["kind"] == "facts")
        return str(next(row for row in facts["rows"] if "Two modes" in str(row)))

    assert f"“person” (29) and “group” ({left})" in find_row("internal")
    outside = find_row("external")
    assert "“person” (about 30)" in outside
    assert f"({left})" not in outside


def test_the_graphs_picture_is_dark_where_the_risk_is_sure_and_marks_the_gathering(
    view, monkeypatch
):
    drawn = []
    monkeypatch.setattr(graph, "draw_people", lambda *given: drawn.append(given) or "<?xml")
    monkeypatch.setattr(graph, "number_gathering", lambda _people: 2)
    content, _ = build_content(view, ReportOptions(sections=("graph",)))
    pair = next(b for b in content["sections"][0]["blocks"] if b["kind"] == "beside")
    figure = next(b for b in pair["figures"] if b["name"] == "people.svg")
    assert figure["caption"].endswith(
        "Darker: higher advantage, at least; grey: nothing at stake or tested in one split."
    )
    ((positions, _, values, least, label),) = drawn
    found = view.nodes.find_headline("original")
    numbers = view.load_graph().find_nodes(view.nodes.names.take(found.nodes))
    assert values[numbers] == pytest.approx(found.low - found.base)
    assert least == ", at least"
    own = positions[view.load_layout().communities == 1]
    assert label[0] == "community 2"
    assert label[1] == pytest.approx(np.median(own, axis=0))


def test_a_community_is_named_on_the_graphs_picture():
    places = np.random.default_rng(0).uniform(-1, 1, (6, 2))
    text = graph.draw_people(
        places, np.array([[0, 1]]), np.linspace(0, 1, 6), "", ("community 2", places[0])
    )
    assert "community 2" in text


def test_the_glossary_has_the_words_of_this_audit(view):
    def list_terms(of) -> list[str]:
        content = build_content(of, ReportOptions(sections=("glossary",)))[0]
        return [row["name"] for row in content["sections"][0]["blocks"][0]["rows"]]

    terms = list_terms(view)
    assert terms == sorted(terms, key=str.casefold)
    assert {"Baseline attacker", "Advantage", "Link inference", "Homophily"} <= set(terms)
    assert "Epsilon" not in terms
    no_links = view.spec.update(hide_links=None)
    assert "Link inference" not in list_terms(replace(view, spec=no_links))


def test_page_1_is_the_decision_page_of_every_edition(view):
    """Decision, recipient, purpose, people affected, deciding limits, usefulness, conditions,
    residual risk; signed but for outsiders."""
    subject = find_subject(judge(view, find_policy("public")))
    deciding = [check.limit.title for check in list_deciding(subject)]
    assert 0 < len(deciding) < len(subject.checks)
    for edition in ("internal", "external", "summary"):
        page = build_content(view, ReportOptions(edition=edition, sections=()))[0]["summary"]
        banner, limits, terms = page[:3]
        names = [row["name"] for row in banner["rows"]]
        assert {"Recipient", "Purpose", "People affected"} <= set(names)
        assert "a university" in str(banner["rows"])
        assert [row[0] for row in limits["rows"]] == deciding
        assert limits["caption"].startswith(title_deciding(subject))
        names = [row["name"] for row in terms["rows"]]
        exposed = ["Exposed: link inference"] * (edition == "internal")
        told = [*exposed, "Link inference", "Tried", "Guarantee"]
        told += ["Links kept", "Usefulness kept", "Conditions"]
        assert names[: len(told)] == told
        assert {"Residual risk", "Review by"} <= set(names)
        tells = ["warning"] * (edition == "internal")  # the utility column tells the private one
        signed = ["signoff"] * (edition != "external")
        assert [b["kind"] for b in page[3:]] == [*tells, "terms", *signed]


def test_page_1_says_what_the_spec_fixes_and_leaves_the_rest_to_fill(view):
    """Recipient and secrets stood as "to be filled in" in every audit without the guide."""
    policy = find_policy("partner")
    for named, recipient in ((None, TO_FILL), (policy.model_dump(mode="json"), policy.title)):
        spec = view.spec.model_copy(update={"purpose": {}, "policy": named})
        options = ReportOptions(policy=policy, sections=())
        page = build_content(replace(view, spec=spec), options)[0]["summary"]
        rows = {row["name"]: str(row) for row in page[0]["rows"]}
        assert recipient in rows["Recipient"]
        assert TO_FILL in rows["Purpose"]
        assert f"the column {spec.threats.private}" in rows["What must not be learned"]


@pytest.mark.usefixtures("no_pictures")
def test_no_paragraph_is_said_twice_and_nothing_absent_is_mentioned(view):
    graph = view.load_graph().update_columns(features=None)
    content, _ = build_content(replace(view, load_graph=lambda: graph), ReportOptions())
    blocks = [*content["summary"], *(b for s in content["sections"] for b in s["blocks"])]
    texts = ["".join(s["text"] for s in b["spans"]) for b in blocks if b.get("spans")]
    texts += ["".join(s["text"] for s in item) for b in blocks for item in b.get("items", ())]
    assert len(texts) == len(set(texts))
    assert SEEN not in str(content)
    assert "way through node features" not in str(content)
    assert SEEN in str(build_content(view, ReportOptions())[0])


def test_a_column_that_tells_the_secret_is_warned_of_with_its_remedy(view):
    graph = view.load_graph()
    column = graph.column("private").codes[:, None].astype(np.float32)
    features = column if graph.features is None else np.hstack([graph.features, column])
    graph = graph.update_columns(features=features, feature_names=(*graph.feature_names, "copy"))
    names = np.random.default_rng(0).permutation(graph.num_nodes)
    graph = replace(graph, node_ids=tuple(map(str, names)))
    telling = replace(view, load_graph=lambda: graph)
    told = list_telling_columns(telling)
    for name in ("copy", "label"):  # a feature that attackers see, and the utility column
        (sentence,) = (one for one in told if one.startswith(f"Column “{name}” alone reveals"))
        assert "reveals “private”" in sentence
        assert f"leave '{name}' out of the release" in sentence
    assert len(told) == 2
    codes = graph.column("private").codes
    ids = tuple(f"{'ab'[code]}{node}" for node, code in enumerate(codes.tolist()))
    named = replace(view, load_graph=lambda: replace(graph, node_ids=ids))
    assert any("The node ids alone reveal “private”" in s for s in list_telling_columns(named))
    for edition, count in (("internal", 2), ("external", 0)):
        page = build_content(telling, ReportOptions(edition=edition, sections=()))[0]["summary"]
        assert [b["kind"] for b in page].count("warning") == count
    disclosure = view.spec.disclosure.model_copy(update={"publish_columns": ()})
    withheld = view.spec.model_copy(update={"disclosure": disclosure})
    assert list_telling_columns(replace(telling, spec=withheld)) == []


def test_the_measure_that_the_policy_limits_leads_and_its_limit_is_drawn(view):
    content, images = build_content(view, ReportOptions(sections=("attacks", "tradeoff")))
    ranking, tradeoff, tables = (section["blocks"] for section in content["sections"][:3])
    title = METRICS["tpr_at_fpr_0.01"].title
    assert next(b for b in tables if b["kind"] == "table")["columns"][1] == title
    assert next(b for b in ranking if b["kind"] == "figure")["caption"].startswith(title)
    figures = [f for b in tradeoff for f in b.get("figures", (b,))]
    captions = [figure["caption"] for figure in figures]
    assert any("the policy's limit, 0.050" in caption for caption in captions)
    without = replace(view, spec=view.spec.model_copy(update={"policy": None}))
    assert build_content(without, ReportOptions(sections=("tradeoff",)))[1] != images


def test_what_is_missing_before_a_release_is_never_cut_within_a_sentence():
    short, long = "A has no result yet", f"B did not finish {'again, ' * 60}"
    listed = "Link inference lacks 60 attacks"
    assert _shorten_untried([short, short]) == f"{short}; {short}"
    assert _shorten_untried([short, long]) == f"{short}; 1 more in section 1"
    assert _shorten_untried([long]) == "1 missing test, see section 1"
    names = f"{listed}: {'method, ' * 60}"
    assert _shorten_untried([short, names]) == f"{short}; {listed}; names in section 1"
    assert _shorten_untried([short, names], False) == f"{short}; {listed}"


def test_what_ran_is_counted_once(view):
    """One link attack ran beside a baseline; the attacks that were only planned are not counted."""
    content, _ = build_content(view, ReportOptions(sections=("standards",)))
    table = next(b for b in content["sections"][0]["blocks"] if b["kind"] == "table")
    tried = {row[0]: row[2] for row in table["rows"]}
    assert tried["Inference: links"] == "one attack"
    assert tried["Singling out"] == tried["Linkability"] == "not tried"


def test_neither_plans_nor_a_second_attacker_are_counted_as_attacks(view):
    """ "5 attacks on 4 releases" where 3 and 2 ran; one method under two assumptions was two."""
    more = [
        result_row("original", "katz", "auc", None, status="skipped", reason="needs more links"),
        result_row("original", "common_neighbors@adaptive", "auc", 0.95),
    ]
    table = tabulate_results(more)
    results = pd.concat([view.results, table], ignore_index=True)
    curve = view.rocs["original", "common_neighbors"]
    rocs = {**view.rocs, ("original", "common_neighbors@adaptive"): curve}
    content, _ = build_content(
        replace(view, results=results, load_rocs=lambda: rocs),
        ReportOptions(sections=("attacks", "standards")),
    )
    _, attacks, standards = (section["blocks"] for section in content["sections"])
    table = next(b for b in standards if b["kind"] == "table")
    assert {row[0]: row[2] for row in table["rows"]}["Inference: links"] == "one attack"
    (roc,) = [b for b in attacks if b.get("name") == "roc_link.svg"]
    assert roc["alt"].startswith("ROC curves of 2 attacks")  # it and its baseline


def test_the_map_is_seen_on_paper(view):
    """Links and people were as pale as the page."""
    _, images = build_content(view, ReportOptions(sections=("graph",)))
    fills = set(re.findall(r'<use [^>]*style="fill: (#[0-9a-f]{6})', images["people.svg"]))
    points = [1.05 / (luminance(color) + 0.05) for color in fills]
    assert min(points) > 1.5
    assert max(points) > 7
    found = re.findall(r'base64,([^"]+)', images["people.svg"])
    links = max((Image.open(io.BytesIO(base64.b64decode(f))) for f in found), key=lambda i: i.width)
    page = Image.new("RGBA", links.size, "white")
    darkest = Image.alpha_composite(page, links.convert("RGBA")).convert("L").getextrema()[0]
    assert darkest < 128


def test_the_most_exposed_are_told_with_the_attacker_that_the_screen_names(view):
    """Screen and PDF showed different attackers for the same person."""
    options = ReportOptions(sections=("risk",), pseudonyms=False)
    blocks = build_content(view, options)[0]["sections"][0]["blocks"]
    rows = [b for b in blocks if b["kind"] == "table"][-1]["rows"]
    shown = pd.concat([rank_people(view.nodes, secret) for secret in list_secrets(view.nodes)])
    screen = shown.sort_values("low", kind="stable").drop_duplicates("node", keep="last")
    titles = [attack.title for attack in screen.attack]
    attacker = dict(zip(screen.node, titles, strict=True))
    assert rows
    assert {row[0]: row[2] for row in rows} == {row[0]: attacker.get(row[0]) for row in rows}


def test_the_list_of_most_exposed_does_not_begin_with_noise(view):
    """Nodes tested in one split, of the largest advantage, headed it."""
    frame = view.nodes.to_frame().astype({"node": "str"})
    once = frame.node.isin(frame.node.unique()[:20])
    frame.loc[once, ["risk", "advantage", "low", "high", "seeds"]] = 1.0, 0.5, np.nan, np.nan, 1
    nodes = build_risks(frame)
    options = ReportOptions(sections=("risk",), pseudonyms=False)
    content = build_content(replace(view, load_nodes=lambda: nodes), options)[0]
    table = [b for b in content["sections"][0]["blocks"] if b["kind"] == "table"][-1]
    assert len(table["rows"]) == 15
    assert not {row[0] for row in table["rows"]} & set(frame.node[once])
    assert table["caption"].endswith("; the 20 tested in one split come last.")


def test_a_node_on_another_release_is_under_the_attacker_chosen_on_everybody(view):
    """The report told −0.27 of a node on a release, the Risk page −0.46."""
    frame = view.nodes.to_frame()
    listed = view.nodes.find_headline("original")
    top = view.nodes.names.take(listed.nodes[listed.order[:15]])
    is_top, is_other = frame.node.isin(top), frame.release != "original"
    is_best = frame.attack == np.where(is_top, "degree_product", "common_neighbors")
    frame["advantage"] += 0.3 * (is_best & is_other)
    nodes, alone = build_risks(frame), build_risks(frame[is_top])
    for release in RELEASES[1:]:
        assert {a.id for a in nodes.find_headline(release).attacks} == {"common_neighbors"}
        assert {a.id for a in alone.find_headline(release).attacks} == {"degree_product"}
    options = ReportOptions(sections=("risk",), pseudonyms=False)
    content = build_content(replace(view, load_nodes=lambda: nodes), options)[0]
    table = [b for b in content["sections"][0]["blocks"] if b["kind"] == "table"][-1]
    titles = {f"On {parse_release(release).title}": release for release in RELEASES[1:]}
    assert set(table["columns"][4:]) == set(titles)
    for column, title in enumerate(table["columns"][4:], start=4):
        found = nodes.find_headline(titles[title])
        gains = found.place("advantage", len(nodes.names))
        for row in table["rows"]:
            told = float(row[column].replace("−", "-")) if row[column] != "–" else np.nan
            assert told == pytest.approx(gains[nodes.find(row[0])], abs=0.006, nan_ok=True)


def test_the_banner_and_its_sentence_are_of_one_decision():
    """One release refused, one to be reviewed: the page speaks of the latter throughout."""
    view = make_view()
    options = ReportOptions(edition="summary", policy=find_policy("public"))
    banner, limits = build_content(view, options)[0]["summary"][:2]
    assert banner["title"] == "Review"
    assert "".join(span["text"] for span in banner["spans"]).startswith("Review Random deletion")
    assert limits["caption"].startswith("Deciding limits for Random deletion (strength = 0.9)")


def test_an_original_within_every_limit_is_no_decision_to_publish():
    attacks = list_attack_keys()
    scores = make_noise(["original", "random_deletion"], attacks)
    scores["random_deletion", "adamic_adar", "tpr_at_fpr_0.01"] = 0.9
    options = ReportOptions(edition="summary", policy=find_policy("public"))
    banner = build_content(make_audit(scores, attacks), options)[0]["summary"][0]
    assert banner["title"] == "Review"
    assert "".join(span["text"] for span in banner["spans"]).startswith("The original")
