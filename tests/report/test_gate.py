"""The verdict in the formats of pipelines: nothing but a limit shown to be met ever passes."""

from __future__ import annotations

import html
import json
import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import jsonschema
import pytest
from defusedxml import ElementTree
from hypothesis import example, given, settings
from hypothesis import strategies as st

import core.cli.main as command
from core.audit.results.view import ClaimRun
from core.audit.store.states import State
from core.defenses.external import EXTERNAL
from core.errors import InputError
from core.findings.policy import Limit
from core.findings.verdict import judge
from core.release import ORIGINAL
from core.report.gate import FORMATS, build_gate, remove_verdicts, write_gate
from core.report.text import clean_text
from tests.oracles.audits import UNREHEARSED, list_attack_keys, make_audit, make_noise

ATTACKS = list_attack_keys()


def require(**properties):
    return {"type": "object", "required": list(properties), "properties": properties}


KINDS = ["pass", "open", "informational", "notApplicable", "review", "fail"]
TEXT = require(text={"type": "string", "minLength": 1})
RULES = {"items": require(id={"type": "string"}, shortDescription=TEXT), "uniqueItems": True}
RESULT = require(
    message=TEXT,
    ruleIndex={"type": "integer", "minimum": 0},
    kind={"enum": KINDS},
    level={"enum": ["none", "note", "warning", "error"]},
    locations={"type": "array", "minItems": 1},  # GitHub wants one
)
RESULT |= {  # 3.27.10: only what fails has a level
    "if": {"properties": {"kind": {"const": "fail"}}},
    "else": {"properties": {"level": {"const": "none"}}},
}
ENDED = require(executionSuccessful={"type": "boolean"}, exitCode={"type": "integer"})
RUN = require(
    tool=require(driver=require(name={"type": "string"}, rules=RULES)),
    invocations={"type": "array", "items": ENDED},
    results={"type": "array", "items": RESULT},
)
SARIF = require(version={"const": "2.1.0"}, runs={"type": "array", "items": RUN})
"""What sections 3.13 to 3.52 of SARIF 2.1.0 say of the objects that are written."""

VERDICT = json.loads((Path(__file__).parents[2] / "assets/schemas/verdict.json").read_text())
CLEAR = UNREHEARSED.model_copy(update={"repeats": 1})


def make_view(policy=CLEAR, names=(ORIGINAL,), **scores):
    """An audit that passes, but for `scores`: attack → AUC on the first release."""
    values = make_noise(names, ATTACKS)
    values |= {(names[0], attack, "auc"): value for attack, value in scores.items()}
    view = make_audit(values, ATTACKS, names[1:])
    return replace(view, spec=view.spec.model_copy(update={"policy": policy.model_dump()}))


def read_junit(gate):
    """The tree, once its elements, attributes and counts are as Jenkins' schema has them."""
    root = ElementTree.fromstring(FORMATS["junit"][1](gate))
    assert root.tag == "testsuites"
    assert set(root.attrib) == {"tests", "failures", "errors"}
    for suite in root:
        assert suite.tag == "testsuite"
        assert set(suite.attrib) == {"name", "tests", "failures", "errors", "skipped"}
        for case in suite:
            assert (case.tag, set(case.attrib)) == ("testcase", {"classname", "name"})
            assert [item.tag for item in case] in ([], ["failure"], ["error"], ["skipped"])
            assert all(set(item.attrib) == {"message"} for item in case)
    for item in (root, *root):
        counts = {"tests": len(list(item.iter("testcase")))}
        for name, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            counts[name] = len(list(item.iter(tag)))
        assert {name: item.get(name) for name in counts if name in item.attrib} == {
            name: str(count) for name, count in counts.items() if name in item.attrib
        }
    return root


def read_page(text):
    """Title and rows of the page, once it holds nothing that could run or load."""
    assert text.startswith("<!DOCTYPE html>\n")
    root = ElementTree.fromstring(re.sub(r"<!DOCTYPE html>|<meta [^>]*>", "", text))
    names = {"html", "head", "title", "style", "body", "h1", "p", "table", "tr", "th", "td"}
    assert {item.tag for item in root.iter()} == names
    assert all(not item.attrib for item in root.iter() if item.tag != "html")
    assert "default-src 'none'" in text
    rows = [[cell.text or "" for cell in row] for row in root.iter("tr")]
    return root.findtext("body/h1"), rows[1:]


def read_all(gate):
    """Whether SARIF, JUnit, JSON, Markdown and HTML say "passed"; they have the same cases."""
    sarif = json.loads(FORMATS["sarif"][1](gate))
    jsonschema.validate(sarif, SARIF)
    (run,) = sarif["runs"]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert all(rules[result["ruleIndex"]] == result["ruleId"] for result in run["results"])
    junit, found = read_junit(gate), json.loads(FORMATS["json"][1](gate))
    jsonschema.validate(found["verdict"], VERDICT)
    markdown = FORMATS["markdown"][1](gate).splitlines()
    outcomes = [case["outcome"] for case in found["cases"]]
    tags = {"failed": "failure", "passed": None}
    assert [tags.get(name, name) for name in outcomes] == [
        case[0].tag if len(case) else None for case in junit.iter("testcase")
    ]
    kinds = {"passed": "pass", "skipped": "open"}
    assert [kinds.get(name, "fail") for name in outcomes] == [r["kind"] for r in run["results"]]
    assert len(markdown) == 6 + len(outcomes)
    title, shown = read_page(FORMATS["html"][1](gate))
    assert [row[2].split()[1] for row in shown] == outcomes
    assert title == markdown[0].removeprefix("# ")
    return (
        all(r["level"] == "none" for r in run["results"]),
        not any(int(junit.attrib[name]) for name in ("failures", "errors")),
        found["passed"],
        markdown[0] == "# Gate passed",
    )


def test_a_case_per_release_and_limit_and_one_per_decision_and_run():
    view = make_view(names=(ORIGINAL, "random_deletion"), katz=0.9)
    gate, verdict = build_gate(view, 0), judge(view, CLEAR)
    wanted = {(r.release, f"limit/{c.limit.name}") for r in verdict.releases for c in r.checks}
    wanted |= {(r.release, "decision") for r in verdict.releases} | {("", "run")}
    assert sorted((case.release, case.rule) for case in gate.cases) == sorted(wanted)
    assert read_all(build_gate(make_view(), 0)) == (True,) * 4
    assert read_all(gate) == (False, False, True, True)  # one release may leave, the other not
    assert "0.90 [0.89, 0.91] by Katz, limit 0.65" in FORMATS["junit"][1](gate)


def change(column, old, **new):
    """Rows with `old` in a column get other values."""

    def damage(view):
        rows = view.results[column] == old
        values = {name: view.results[name].mask(rows, value) for name, value in new.items()}
        return replace(view, results=view.results.assign(**values))

    return damage


def drop(column, *lost):
    return lambda view: replace(view, results=view.results[~view.results[column].isin(lost)])


def count(**cells):
    return lambda view: replace(view, summary=replace(view.summary, **cells))


def claim(state, check=None):
    run = ClaimRun(
        "c", state, 1.0, "", "out of memory", 1.0, release=ORIGINAL, trials=9, check=check
    )
    return lambda view: replace(view, claims=(run,))


REFUTED = SimpleNamespace(is_refuted=True, verdict="The claim does not hold.")


@pytest.mark.parametrize(
    ("damage", "rule", "outcome", "message"),
    [
        (lambda _: make_view(katz=0.9), "limit/links_auc", "failed", "limit 0.65"),
        (lambda _: make_view(katz=0.645), "limit/links_auc", "error", "extends above it"),
        (drop("metric", "auc"), "limit/links_auc", "error", "not tested"),
        (drop("method", "katz"), "decision", "error", "no result yet"),
        (change("method", "katz", status="failed"), "decision", "error", "did not finish"),
        (claim(State.DONE, REFUTED), "decision", "failed", "does not hold"),
        (claim(State.FAILED), "run", "error", "original: claim not checked: out of memory"),
        (count(cells_failed=1), "run", "error", "1 of 10 parts failed"),
        (count(cells_done=9), "run", "error", "9 of 10 parts came to an end"),
        (count(cells_done=0, cells_total=0), "run", "error", "0 of 0"),
    ],
)
def test_what_is_not_shown_never_passes(damage, rule, outcome, message):
    gate = build_gate(damage(make_view()), 0)
    found = [c for c in gate.cases if c.rule == rule]
    assert [(c.outcome, message in c.message) for c in found] == [(outcome, True)]
    assert read_all(gate) == (False,) * 4
    sarif = json.loads(FORMATS["sarif"][1](gate))
    assert sarif["runs"][0]["invocations"][0]["executionSuccessful"] == (rule != "run")


@settings(max_examples=20)
@given(st.sets(st.sampled_from(ATTACKS), min_size=1))
def test_a_release_whose_results_are_cut_off_never_passes(lost):
    gate = build_gate(drop("method", *lost)(make_view()), 0)
    assert not gate.passed
    assert gate.cases[-2].rule == "decision"
    assert gate.cases[-2].outcome == "error"


def test_optional_limits_without_a_value_and_releases_not_made_are_skipped():
    view = make_view(names=(ORIGINAL, "random_deletion"))
    view = change("release", "random_deletion", status="skipped", reason="no")(view)
    gate = build_gate(view, 0)
    skipped = {(c.release, c.rule) for c in gate.cases if c.outcome == "skipped"}
    checks = judge(view, CLEAR).find(ORIGINAL).checks
    optional = {c.limit.name for c in checks if c.limit.optional and c.state == "not_tested"}
    assert optional
    assert skipped == {(ORIGINAL, f"limit/{name}") for name in optional} | {
        ("random_deletion", "decision")
    }
    assert read_all(gate) == (True,) * 4


def test_a_judged_release_is_judged_alone_and_must_be_there():
    view = make_view(names=(ORIGINAL, EXTERNAL))
    gate = build_gate(view, 3)
    assert {case.release for case in gate.cases} == {EXTERNAL, ""}
    assert read_all(gate) == (False,) * 4
    gate = build_gate(change("release", EXTERNAL, status="skipped", reason="no")(view), 0)
    assert [c.outcome for c in gate.cases if c.release == EXTERNAL] == ["error"]
    assert read_all(gate) == (False,) * 4


def test_the_exit_code_is_part_of_the_result():
    for code in (1, 3):
        assert read_all(build_gate(make_view(), code))[2:] == (False, False)


HOSTILE = st.text(
    st.sampled_from("<>&|\\`*_[]()!~#:@$'\" \n\x00\u202ea.w/"), min_size=1, max_size=80
)


@settings(max_examples=40)
@given(HOSTILE, HOSTILE)
@example("</testcase><failure/>]]>", "a|b\\|c")
@example("[x](javascript:1) <img src=x>", "www.evil.example https://evil.example me@evil.example")
def test_names_of_users_are_inert(name, title):
    limit = Limit(name=name, threat="link", metric="auc", limit=0.1, title=title, source="x")
    gate = build_gate(make_view(CLEAR.model_copy(update={"limits": (limit,)})), 3)
    read_all(gate)
    shown = clean_text(title) or clean_text(f"limit/{name}")
    assert read_page(FORMATS["html"][1](gate))[1][0][1] == shown
    assert next(read_junit(gate).iter("testcase")).get("name") == shown
    row = FORMATS["markdown"][1](gate).splitlines()[6]
    cells = row.split("|")
    assert len(cells) == 6
    plain = re.sub(r"\\(.)", "", row)
    assert not re.search(r"[\\`*_\[\]<>~!@$]|:(?=\S)|www\.|&(?!#\d+;)", plain)
    assert html.unescape(re.sub(r"\\(.)", r"\1", cells[2][1:-1])) == shown


@pytest.mark.parametrize("name", ["sarif", "junit", "json"])
def test_a_truncated_file_cannot_be_read(name):
    text = FORMATS[name][1](build_gate(make_view(), 0)).rstrip()
    read = ElementTree.fromstring if name == "junit" else json.loads
    read(text)
    for end in range(0, len(text), 97):
        with pytest.raises((ElementTree.ParseError, ValueError)):
            read(text[:end])


def test_files_are_whole_and_those_of_an_earlier_run_do_not_stay(tmp_path, capsys, audit_home):
    out = tmp_path / "out"
    out.mkdir()

    def list_files():
        return {path.name for path in out.iterdir()}

    write_gate(make_view(), out, list(FORMATS), 0)
    assert list_files() == {name for name, _ in FORMATS.values()}
    arguments = ["audit", "--graph", "karate", "--attack", "katz", "--out", str(out), "--overwrite"]
    assert command.main([*arguments, "--format", "sarif,junit", "--format", "json"]) == 2
    error = "error: --format needs a policy; got sarif,junit,json; add --policy public, partner"
    assert capsys.readouterr().err.splitlines()[-1].startswith(error)
    assert not list_files()
    assert command.main([*arguments, "--format", "pdf", "--policy", "public"]) == 2
    assert "must be one of sarif, junit, json, markdown, html; got pdf" in capsys.readouterr().err
    with pytest.raises(InputError, match="policy"):
        write_gate(make_audit({}, ATTACKS), out, ["json"], 0)
    assert not list_files()


def test_no_format_of_an_earlier_run_outlives_this_one(tmp_path):
    """A verdict.xml that passed stayed beside a verdict.json that did not."""
    for file, _ in FORMATS.values():
        (tmp_path / file).write_text("passed")
    (tmp_path / "audit.json").write_text("{}")
    remove_verdicts(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["audit.json"]
