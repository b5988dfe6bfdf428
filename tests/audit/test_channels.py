"""What leaves and is not attacked keeps a release from being cleared, wherever it is said."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

import core.cli.main as command
from core.cli.audit import NOTHING_MAY_LEAVE
from core.defenses.external import EXTERNAL
from core.findings.channels import Channel, list_channels
from core.findings.policy import find_policy
from core.findings.verdict import judge
from core.release import ORIGINAL
from core.report import ReportOptions
from core.report.data import ReportData
from core.report.decision_page import build_decision
from tests.oracles.audits import list_attack_keys, make_audit, make_noise
from tests.oracles.graphs import two_communities

SAID = "ink weights leave and no attack finds people by them, so "
ATTACKS = list_attack_keys()
RELEASE = "random_deletion"


def audit(folder, capsys, *more):
    """Exit code, output, decisions and gate of an audit that meets every limit."""
    limit = {"name": "x", "threat": "identity", "metric": "advantage_share", "limit": 1.0}
    fields = {"key": "lenient", "version": 1, "title": "Lenient", "effort": "instant", "repeats": 1}
    limits = [{**limit, "title": "People exposed", "source": "this test"}]
    (folder / "policy.json").write_text(json.dumps({**fields, "limits": limits}))
    path, out = str(folder / "links.csv"), folder / "out"
    parts = ["audit", "--graph", path, "--identity", "--auxiliary-graph", path, "--repeats", "1"]
    parts += ["--seeds-known", "0", "--attack", "quick", "--policy", str(folder / "policy.json")]
    code = command.main([*parts, *more, "--format", "json", "--out", str(out)])
    releases = json.loads((out / "audit.json").read_text())["verdict"]["releases"]
    said = "".join(capsys.readouterr())
    gate = json.loads((out / "verdict.json").read_text())
    return code, said, {name: found["decision"] for name, found in releases.items()}, gate


@pytest.mark.parametrize(
    ("first", "defense"),
    [(1083000000, ()), (1000, ("--defense", "random_deletion:strength=0.8"))],
    ids=["times of calls", "amounts on a social graph, deletion"],
)
def test_a_release_with_weights_is_cleared_only_without_them(
    tmp_path, audit_home, capsys, first, defense
):
    graph = two_communities(40, seed=5)
    weights = first + np.random.default_rng(1).choice(10**6, graph.num_edges, replace=False)
    rows = [f"u{i},u{j},{w}" for (i, j), w in zip(graph.edges, weights, strict=True)]
    (tmp_path / "links.csv").write_text("\n".join(["source,target,weight", *rows]) + "\n")
    code, said, decisions, gate = audit(tmp_path, capsys, *defense)
    assert code == NOTHING_MAY_LEAVE
    assert set(decisions.values()) == {"review"}
    assert said.count(f"{SAID}load the graph without them") == len(decisions)
    assert not gate["passed"]
    cases = [case for case in gate["cases"] if case["rule"] == "decision"]
    assert all(case["outcome"] == "error" and SAID in case["message"] for case in cases)
    code, said, decisions, gate = audit(tmp_path, capsys, *defense, "--ignore-weights")
    assert code == 0, said
    assert set(decisions.values()) == {"publish"}
    assert gate["passed"]


def test_whoever_makes_the_weights_and_whoever_drops_them():
    view = make_audit(make_noise((ORIGINAL, RELEASE), ATTACKS), ATTACKS)
    policy = find_policy("public")
    cases = {
        (): ("publish", "publish", ""),
        (ORIGINAL,): ("review", "publish", ""),
        (RELEASE,): ("publish", "review", "choose a defense or setting"),
        (ORIGINAL, RELEASE): ("review", "review", "load the graph without them"),
    }
    for weighted, (first, second, remedy) in cases.items():
        found = replace(view, has_weights=lambda release, names=weighted: release in names)
        verdict = judge(found, policy)
        assert [release.decision for release in verdict.releases] == [first, second]
        assert remedy in "".join(verdict.find(RELEASE).unattacked)
        assert (verdict.recommended == RELEASE) == (second == "publish")
        page = json.dumps(build_decision(ReportData(found, ReportOptions(policy=policy))))
        # Page 1 is about the release nearest to clearance.
        assert (f"{SAID}load" in page) == ("publish" not in (first, second))
    judged = list_channels(replace(view, has_weights=lambda _release: True), EXTERNAL)
    assert judged[0].open_point.endswith("so write the release without them")


@pytest.mark.parametrize("treatment", ["attacked", "coarsened", "left out"])
def test_other_channels_are_no_open_point(treatment):
    assert Channel(name="times", treatment=treatment, remedy="round them").open_point == ""
