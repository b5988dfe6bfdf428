"""`audit --policy`: what audit.json says, and when the exit code is 3."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from types import SimpleNamespace

import pytest

import core.cli.main as command
from core.audit.results.export import write_audit
from core.audit.results.view import ClaimRun
from core.audit.store.states import State
from core.cli.audit import NOTHING_MAY_LEAVE, _check_claims, judge_audit
from core.cli.audit_spec import choose_policy
from core.errors import InputError
from core.findings.policy import find_policy
from core.findings.verdict import judge
from core.findings.verdict_words import count_others, explain_release
from core.privacy.guarantees import EDGE
from tests.oracles.audits import UNREHEARSED, list_attack_keys, make_audit, make_noise

ROOT = Path(__file__).parents[2]
ATTACKS = list_attack_keys()
NAMES = ("original", "random_deletion")


def under(policy, view):
    named = UNREHEARSED if policy == "public" else find_policy(policy)
    spec = view.spec.model_copy(update={"policy": named.model_dump(mode="json")})
    object.__setattr__(view, "spec", spec)
    return view


def test_noise_may_leave_and_a_leak_may_not():
    said: list[str] = []
    scores = make_noise(NAMES, ATTACKS)
    content, code = judge_audit(under("public", make_audit(scores, ATTACKS)), said.append)
    assert code == 0
    assert content["verdict"]["recommended"] == "random_deletion"
    assert said[0] == "Original: publish"
    for release in NAMES:
        scores[release, "katz", "auc"] = 0.9
    content, code = judge_audit(under("public", make_audit(scores, ATTACKS)), said.append)
    assert code == NOTHING_MAY_LEAVE == 3
    assert content["verdict"]["recommended"] is None
    assert said[-2].startswith("Random deletion (strength = 0.3): do not publish; ")
    assert "0.90 [0.89, 0.91] by Katz, limit 0.65" in said[-2]
    assert said[-1].startswith("Do not publish: each of the 2 releases")  # as on the page


@pytest.mark.parametrize(("auc", "state"), [(0.9, "exceeded"), (0.645, "not proven")])
def test_a_further_limit_is_told_by_its_state(auc, state):
    """ "and 4 more" was of exceeded limits and of such that were not proven alike."""
    scores = make_noise(NAMES, ATTACKS)
    scores["random_deletion", "katz", "auc"] = auc
    scores["random_deletion", "katz", "tpr_at_fpr_0.01"] = 0.5
    said: list[str] = []
    judge_audit(under("public", make_audit(scores, ATTACKS)), said.append)
    assert said[1].endswith(f"limit 0.050; 1 more limit is {state}")


def test_further_reasons_that_are_no_limits_are_counted():
    verdict = judge(make_audit(make_noise(NAMES, ATTACKS), ATTACKS), find_policy("public"))
    release = verdict.releases[1].model_copy(
        update={"refuted": ("one", "other"), "obstacle": "a third", "checks": ()}
    )
    told = explain_release(release)
    rest = len(told) - 1
    assert rest >= 2
    assert count_others(release, told[:1]) == f"{rest} more reasons"
    assert count_others(release, told) == ""


def test_without_a_policy_there_is_no_verdict():
    assert judge_audit(make_audit({}, ATTACKS), print) == ({}, 0)


def test_audit_json_holds_the_verdict_as_its_schema_says(tmp_path):
    view = under("partner", make_audit(make_noise(NAMES, ATTACKS), ATTACKS, ()))
    verdict, _ = judge_audit(view, lambda _text: None)
    write_audit(view, tmp_path, verdict)
    found = json.loads((tmp_path / "audit.json").read_text())["verdict"]
    schema = json.loads((ROOT / "assets" / "schemas" / "verdict.json").read_text())
    assert set(found) == set(schema["properties"]) == set(schema["required"])
    release = schema["properties"]["releases"]["additionalProperties"]
    for item in found["releases"].values():
        assert set(item) == set(release["properties"])
        assert item["decision"] in release["properties"]["decision"]["enum"]
        for limit in item["limits"]:
            assert set(limit) == set(schema["$defs"]["limit"]["properties"])


def test_the_option_goes_before_the_spec_and_both_are_checked():
    public = find_policy("public").model_dump(mode="json")
    assert choose_policy(None, None) is None
    assert choose_policy("partner", public)["key"] == "partner"
    assert choose_policy(None, public) == public
    with pytest.raises(InputError, match="policy field"):
        choose_policy(None, {"key": "x"})


def test_a_wrong_policy_is_one_line(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("AUDIT_HOME", str(tmp_path))
    arguments = ["audit", "--graph", "karate", "--attack", "common_neighbors", "--out", "o"]
    code = command.main([*arguments, "--policy", "nobody"])
    assert code == 2
    assert capsys.readouterr().err.startswith("error: policy must be a file or one of public")


def test_the_option_is_there():
    options = command.build_parser().parse_args(["audit", "--out", "o", "--policy", "public"])
    assert isinstance(options, argparse.Namespace)
    assert options.policy == "public"


@pytest.mark.parametrize(
    ("state", "check", "count"),
    [
        (State.DONE, SimpleNamespace(is_refuted=True, verdict=""), 1),
        (State.FAILED, None, 1),
        (State.SKIPPED, None, 0),
    ],
)
def test_a_claim_whose_check_failed_counts_as_one_that_was_refuted(state, check, count):
    view = make_audit(
        {}, ATTACKS, ("edge_rand",), guarantees={"edge_rand": EDGE.make_guarantee(1.0)}
    )
    run = ClaimRun("c", state, 1.0, "", "lost", 1.0, release="edge_rand", trials=9, check=check)
    claims = SimpleNamespace(start=lambda *_: "c", wait=lambda *_: True, list=lambda _: [run])
    assert _check_claims(SimpleNamespace(claims=claims), view, 9) == count
