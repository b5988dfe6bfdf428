"""The assessment of a real audit: each clause has evidence or a named gap, each figure is right."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import numpy as np
import pytest

import core.report.dpia as dpia
from core.audit.asked.attack import parse_attack
from core.audit.asked.knowledge import STANDARD
from core.audit.asked.method_choice import MethodChoice
from core.audit.asked.release_info import parse_release
from core.audit.asked.scenarios import THREAT_TITLES
from core.audit.asked.spec import AuditSpec
from core.audit.jobs.cells import load_threats
from core.errors import InputError
from core.findings.policy import find_policy
from core.findings.tried import list_tried
from core.release import ORIGINAL, Guarantee
from core.report import ReportOptions, format_dpia
from core.report.actors import count_knowledge
from core.report.data import ReportData
from core.report.document import build_content
from core.report.evidence import EVIDENCE, describe_evidence
from core.report.guidance import load_guidance
from tests.inline import run_inline
from tests.oracles.graphs import two_communities

ISO = (
    *("6.1", "6.2.1", "6.2.2", "6.2.3", "6.3.1", "6.3.2", "6.3.3"),
    *("7.1", "7.2.1", "7.2.2", "7.2.3", "7.2.4", "7.2.5", "7.3.1", "7.3.2", "7.3.3", "7.3.4"),
    *("8.1", "8.2.1", "8.2.2", "8.2.3", "8.3.1", "8.3.2", "8.3.3", "8.3.4"),
    *("9.1", "9.2.1", "9.2.2", "9.2.3", "9.2.4", "9.2.5", "9.3.1", "9.3.2", "9.4"),
)
"""Clauses without parts of their own in the public contents list of ISO/IEC 27559:2022."""

BY_HAND = {"6.2.2", "6.3.2", "8.3.2", "9.2.2", "9.2.4", "9.3.2", "9.4"}
"""Those of which an audit without answers, decisions and publishing runs holds nothing."""

ATTACKS = (
    *("adamic_adar", "degree_product", "label_propagation", "class_prior"),
    *("degree_triangles", "seeded_percolation", "random_match"),
)


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def view(home):
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("AUDIT_DATABASE", raising=False)
        patch.setenv("AUDIT_DEVICE", "cpu")
        graph = two_communities()
        spec = AuditSpec.check_spec(
            {
                "graph_name": "so|cial <b>",
                "graph_hash": graph.content_hash,
                "private": "private",
                "known": 0.3,
                "hide_links": 0.2,
                "num_repeats": 2,
                "adaptive": True,
                "identity": {"overlap": 0.8, "seeds_known": 5},
                "policy": find_policy("partner").model_dump(mode="json"),
                "attacks": [MethodChoice(key=key) for key in ATTACKS],
                "defenses": [
                    MethodChoice(key="random_deletion", config={"strength": 0.1}),
                    MethodChoice(key="edge_rand", config={"epsilon": 6.0}),
                ],
            }
        )
        return run_inline(spec, graph, home, "social")


@pytest.fixture(scope="module")
def found(view, tmp_path_factory):
    folder = tmp_path_factory.mktemp("out")
    paths = dpia.write_dpia(ReportData(view, ReportOptions()), folder)
    assert [path.name for path in paths] == ["dpia.md", "dpia.json"]
    return json.loads(paths[1].read_text())


def clauses_of(found, key):
    return next(g for g in found["guidance"] if g["key"] == key)["clauses"]


def test_each_clause_of_the_contents_list_has_evidence_or_a_named_gap(found):
    clauses = clauses_of(found, "iso_iec_27559_2022")
    assert tuple(clause["number"] for clause in clauses) == ISO
    everything = [clause for guidance in found["guidance"] for clause in guidance["clauses"]]
    assert len(everything) == len(ISO) + 7 + 4 + 5
    assert all(clause["evidence"] or clause["gaps"] for clause in everything)
    assert all(text.strip() for c in everything for text in (*c["evidence"], *c["gaps"]))
    assert {c["number"] for c in clauses if not c["evidence"]} == BY_HAND
    assert sum(bool(clause["evidence"]) for clause in clauses) == len(ISO) - len(BY_HAND)
    by_number = {clause["number"]: clause for clause in clauses}
    assert "population attack not measured" in " ".join(by_number["7.3.3"]["gaps"])


def read_figures(text, release, threat):
    """value, low, high (None without an interval), n of a release and threat in a text."""
    title = re.escape(parse_release(release).title)
    pattern = rf"{title}, {threat} (\S+?)(?: \[(\S+), (\S+)\])?, .*?n = (\d+)"
    value, low, high, n = re.search(pattern, text).groups()
    return [None if x is None else float(x.replace("−", "-")) for x in (value, low, high, n)]


def test_maximum_and_average_are_those_of_the_people(view, found):
    clauses = {c["number"]: c for c in clauses_of(found, "iso_iec_27559_2022")}
    maximum, average = clauses["7.3.2"]["evidence"]
    for own in view.nodes.headlines:
        release, ((threat, _),) = own.release, own.secrets
        if release not in found["releases"]:
            continue
        value, *_, n = read_figures(maximum, release, THREAT_TITLES[threat])
        assert (value, n) == (pytest.approx(own.risk.max(), abs=0.006), len(own))
        gain, low, high, n = read_figures(average, release, THREAT_TITLES[threat])
        half = 1.96 * own.advantage.std(ddof=1) / np.sqrt(len(own))
        assert gain == pytest.approx(own.advantage.mean(), abs=0.006)
        assert (high - low) / 2 == pytest.approx(half, abs=0.006)
        assert n == len(own)
    assert found["decision"] in clauses["8.1"]["evidence"]


def test_costs_are_what_was_measured_and_only_of_attacks_that_beat_the_baseline(view, found):
    assert found["costs"]
    assert (view.cells[view.cells.kind == "attack"].cpu_seconds > 0).any()
    for cost in found["costs"]:
        cells = view.cells[
            (view.cells.method == cost["attack"]) & (view.cells.release == cost["release"])
        ]
        assert cost["cpu_seconds"] == pytest.approx(cells.cpu_seconds.mean(), abs=1e-3)
        assert cost["seconds"] == pytest.approx(cells.seconds.mean(), abs=1e-3)
        assert cost["beats"]
        assert cost["low"] > cost["baseline"]
        assert cost["attack"] not in ("degree_product", "class_prior", "random_match@identity")
    assert {cost["release"] for cost in found["costs"]} <= set(found["releases"])


def test_a_time_that_was_not_measured_is_not_told_as_none(view):
    old = replace(view, cells=view.cells.assign(cpu_seconds=0.0))  # of a store of before
    found = dpia.build_assessment(ReportData(old, ReportOptions()))
    assert {cost["cpu_seconds"] for cost in found["costs"]} == {None}
    clauses = str(clauses_of(found, "ico_anonymisation_2025"))
    assert "processor time not measured" in clauses
    assert "CPU seconds" not in clauses
    assert [dpia._format_seconds(time) for time in (None, 0.004, 0.3)] == ["–", "under 0.1", "0.30"]


def test_lines_of_knowledge_are_those_that_the_attacker_was_given(view, home):
    data = ReportData(view, ReportOptions())
    threats = load_threats(home, view.spec, 0)
    given = {
        "link": 0,
        "attribute": int(threats.attribute.known.sum()),
        "degree_triangles": view.summary.num_nodes,
        "seeded_percolation": threats.identity.known.num_edges + len(threats.identity.seeds),
    }
    seen = set()
    for attack in list_tried(data.results):
        key = attack.method_id if attack.threat == "identity" else attack.threat
        lines, words = count_knowledge(data, attack, ORIGINAL, data.graph)
        assert lines == pytest.approx(given[key], abs=2), attack.id
        assert ("adaptive" in words) == (attack.knowledge != STANDARD)
        seen.add(key)
    assert seen == set(given)


def test_who_knows_more_needs_more_lines(view):
    data = ReportData(view, ReportOptions())
    labelled = view.summary.num_nodes
    release = view.load_release("edge_rand", 0)
    for text, lines in (
        ("label_propagation@auxiliary:0.5", labelled // 2),
        ("label_propagation@transfer", None),
        ("mechanism_posterior@composition:3", 2 * release.num_edges),
    ):
        found, words = count_knowledge(data, parse_attack(text), "edge_rand", data.graph)
        assert (found, bool(words)) == (lines, True), text


def test_each_actor_has_the_attacks_that_stand_for_it_or_a_gap(found):
    actors = {actor["name"]: actor for actor in found["actors"]}
    assert list(actors) == [
        "Holder",
        "Recipient",
        "Third party",
        "Insider",
        "Unauthorised: motivated intruder",
        "Unauthorised: hacker",
    ]
    assert all(actor["gaps"] for actor in actors.values())
    assert not actors["Holder"]["measured"]
    assert {m["threat"] for m in actors["Recipient"]["measured"]} == {"link", "attribute"}
    assert all("@" not in m["attack"] for m in actors["Recipient"]["measured"])
    for m in actors["Insider"]["measured"]:  # who has nothing to rehearse on the original
        assert ("@adaptive" in m["attack"]) == (m["release"] != "original")
    assert {m["release"] for m in actors["Insider"]["measured"]} == set(found["releases"])
    intruder = actors["Unauthorised: motivated intruder"]["measured"]
    assert {m["threat"] for m in intruder} == {"link", "attribute", "identity"}
    for actor in actors.values():
        for m in actor["measured"]:
            assert m["low"] <= m["value"] <= m["high"]
            assert m["n"] > 0
            assert m["baseline"] is not None


def test_an_actor_for_whom_nothing_ran_is_a_named_gap(view):
    results = view.results[~view.results.method.str.contains("@adaptive")]
    found = dpia.build_assessment(ReportData(replace(view, results=results), ReportOptions()))
    insider = next(actor for actor in found["actors"] if actor["name"] == "Insider")
    assert insider["measured"] == []
    assert insider["gaps"][0] == "no attack of this audit stands for this actor"


def test_a_guarantee_asks_for_its_justification(found):
    (guarantee,) = found["privacy_guarantees"]
    assert (guarantee["release"], guarantee["epsilon"]) == ("edge_rand", 6.0)
    assert guarantee["trust_model"].startswith("central")
    assert guarantee["unit"] == "one link"
    assert guarantee["justification"] == "to be filled in"
    first = clauses_of(found, "nist_sp_800_226_2025")[0]
    assert "ε = 6" in first["evidence"][0]
    assert "why this ε" in first["gaps"][0]


def test_what_both_ends_report_is_stated_as_the_recipient_holds_it(view):
    """ε was that of both reports of a link, δ that of one."""
    both = Guarantee("link", epsilon=3.0, delta=1e-5, epsilon_transcript=6.0)
    releases = [
        replace(one, guarantee=both) if one.info.is_defended else one for one in view.releases
    ]
    told = json.loads(
        format_dpia(replace(view, releases=tuple(releases)), ReportOptions())["dpia.json"]
    )
    stated = {(p["epsilon"], p["delta"]) for p in told["privacy_guarantees"]}
    assert stated == {(6.0, 2e-5)}


def test_residual_risk_has_triggers_and_a_date(found):
    rest = found["residual_risk"]
    assert rest["accepted_by"] == "to be filled in"
    assert re.fullmatch(r"\d+ \w+ 20\d\d", rest["review_by"])
    assert len(rest["triggers"]) == len(set(rest["triggers"])) >= 5
    assert any("new attack" in trigger for trigger in rest["triggers"])


def test_the_section_the_page_and_the_file_say_the_same(view, found):
    options = ReportOptions(sections=("dpia",))
    content, _ = build_content(view, options)
    blocks = content["sections"][0]["blocks"]
    tables = [block for block in blocks if block["kind"] == "table"]
    for guidance, table in zip(found["guidance"], tables, strict=False):
        assert len(table["rows"]) == len(guidance["clauses"])
        told = ""
        for clause, row in zip(guidance["clauses"], table["rows"], strict=True):
            told += row[1]
            assert all(" ".join(text.split()) in told for text in clause["evidence"])
    assert not any(cell.endswith("…") for table in tables for row in table["rows"] for cell in row)
    for edition in ("external", "summary"):
        content, _ = build_content(view, ReportOptions(edition=edition))
        assert "dpia" not in [section["key"] for section in content["sections"]]


def test_the_files_are_the_same_whatever_edition_is_chosen(view):
    found = format_dpia(view, ReportOptions())
    assert format_dpia(view, ReportOptions(edition="external")) == found


def test_names_of_users_are_no_markup(view):
    text = format_dpia(view, ReportOptions())["dpia.md"]
    assert "so&#124;cial &#60;b&#62;" in text
    assert "<" not in text
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert {line.count(" | ") for line in rows if " | " in line} <= {1, 2, 4, 5}


def write_guidance(folder, clause, more=""):
    (folder / "edpb_2027.toml").write_text(
        'key = "edpb_2027"\norder = 0\ntitle = "EDPB 1/2027"\nabout = "A"\nsource = "S"\n'
        f"[[clauses]]\n{clause}\n{more}"
    )


def test_a_new_guidance_is_a_new_file(view, tmp_path, monkeypatch):
    write_guidance(tmp_path, 'title = "Singling out"\nevidence = ["uniqueness"]')
    monkeypatch.setattr(dpia, "load_guidance", lambda: load_guidance(tmp_path))
    found = dpia.build_assessment(ReportData(view, ReportOptions()))
    (clause,) = clauses_of(found, "edpb_2027")
    assert clause["evidence"][0].startswith("Unique people: Original 0.")
    assert "EDPB 1/2027" in dpia.format_markdown(ReportData(view, ReportOptions()), found)


@pytest.mark.parametrize(
    ("clause", "more", "message"),
    [
        ('title = "Empty"', "", "needs evidence or a gap"),
        ('title = ""\ngap = "g"', "", "at least 1 character"),
        ('title = "A"\ngap = "g"\nhelp = "h"', "", "Extra inputs"),
        ('title = "A"\ngap = "g"', '[[actors]]\nname = "A"\nthreats = ["war"]', "war"),
        ('title = "A', "", "edpb_2027.toml"),
    ],
)
def test_a_guidance_that_breaks_a_rule_is_refused(tmp_path, clause, more, message):
    write_guidance(tmp_path, clause, more)
    with pytest.raises(InputError, match=message):
        load_guidance(tmp_path)


def test_unknown_evidence_is_refused(view):
    with pytest.raises(InputError, match="evidence of a guidance must be a known one; got luck"):
        describe_evidence(ReportData(view, ReportOptions()), "luck")


def test_shipped_guidance_asks_for_known_evidence_and_all_evidence_is_asked_for():
    asked = {name for g in load_guidance() for c in g.clauses for name in c.evidence}
    assert asked == set(EVIDENCE)


def test_long_evidence_stands_once_in_a_guidance():
    told = "Highest risk of one person: 0.96, base rate 0.73, n = 398; the mean 0.12 above it."
    clauses = [
        {"number": "7.3.2", "title": "Risk", "evidence": [told, "Short."], "gaps": []},
        {"number": "8.2.2", "title": "Again", "evidence": ["Short.", told], "gaps": ["who"]},
    ]
    assert dpia.list_clause_rows(clauses, " ") == [
        ["7.3.2 Risk", f"{told} Short.", "–"],
        ["8.2.2 Again", "Short. As under 7.3.2.", "who"],
    ]
