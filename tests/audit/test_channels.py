"""What leaves and is not attacked keeps a release from being cleared, wherever it is said."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import core.cli.main as command
from core.audit.asked.spec import AuditSpec
from core.audit.results.link_channels import LinkChannels
from core.audit.store.states import State
from core.cli.audit import NOTHING_MAY_LEAVE
from core.defenses.external import EXTERNAL
from core.findings.channels import Channel, describe_open, list_channels, tabulate_channels
from core.findings.policy import find_policy
from core.findings.verdict import judge
from core.graph import Graph
from core.node_column import NodeColumn
from core.registry import list_methods
from core.release import ORIGINAL
from core.report import ReportOptions
from core.report.data import ReportData
from core.report.decision_page import build_decision
from tests.inline import run_inline
from tests.oracles.audits import UNREHEARSED, list_attack_keys, make_audit, make_noise
from tests.oracles.events import make_calls
from tests.oracles.graphs import two_communities

SAID = "ink weights leave and no attack finds people by them, so "
ATTACKS = list_attack_keys()
RELEASE = "random_deletion"
READER = "neighbourhood_classifier"


def audit(folder, capsys, *more):
    """Exit code, output, decisions and gate of an audit that meets every limit."""
    limit = {"name": "x", "threat": "identity", "metric": "advantage_share", "limit": 1.0}
    fields = {"key": "lenient", "version": 1, "title": "Lenient", "effort": "instant", "repeats": 1}
    fields["attackers"] = {"seeds": 0}
    limits = [{**limit, "title": "People exposed", "source": "this test"}]
    (folder / "policy.json").write_text(json.dumps({**fields, "limits": limits}))
    path, out = str(folder / "links.csv"), folder / "out"
    parts = ["audit", "--graph", path, "--identity", "--auxiliary-graph", path, "--repeats", "1"]
    parts += ["--seeds-known", "3", "--policy", str(folder / "policy.json")]
    code = command.main([*parts, *more, "--format", "json", "--out", str(out)])
    releases = json.loads((out / "audit.json").read_text())["verdict"]["releases"]
    said = "".join(capsys.readouterr())
    gate = json.loads((out / "verdict.json").read_text())
    return code, said, {name: found["decision"] for name, found in releases.items()}, gate


def test_a_release_with_weights_is_cleared_if_they_are_attacked_or_left_out(
    tmp_path, audit_home, capsys
):
    graph, defense = two_communities(40, seed=5), ("--defense", "random_deletion:strength=0.8")
    weights = 1000 + np.random.default_rng(1).choice(10**6, graph.num_edges, replace=False)
    rows = [f"u{i},u{j},{w}" for (i, j), w in zip(graph.edges, weights, strict=True)]
    (tmp_path / "links.csv").write_text("\n".join(["source,target,weight", *rows]) + "\n")
    others = [m.info.key for m in list_methods("identity_attack") if m.info.cost == "instant"]
    blind = [part for key in others if key != "value_join" for part in ("--attack", key)]
    code, said, decisions, gate = audit(tmp_path, capsys, *defense, *blind)
    assert code == NOTHING_MAY_LEAVE
    assert set(decisions.values()) == {"review"}
    assert said.count(f"{SAID}audit re-identification with Value join") == len(decisions)
    assert not gate["passed"]
    cases = [case for case in gate["cases"] if case["rule"] == "decision"]
    assert all(case["outcome"] == "error" and SAID in case["message"] for case in cases)
    for cleared in (("--weight", "none", *blind), ("--attack", "quick")):
        code, said, decisions, gate = audit(tmp_path, capsys, *defense, *cleared)
        assert code == 0, said
        assert set(decisions.values()) == {"publish"}
        assert gate["passed"]


CASES = Path(__file__).parents[3] / "shared" / "cases"
FOUND = {
    "k02_times": ((), {"original": 200}),
    "k01_links_weighted": (
        ("--defense", "random_deletion:strength=0.8"),
        {"original": 120, "random_deletion:strength=0.8": 63 - 4},
    ),
}
"""Case → options, and at least so many people found on each release: what a plain join finds."""


@pytest.mark.parametrize("case", FOUND)
def test_people_found_by_values_are_found_here(tmp_path, audit_home, capsys, case):
    path = CASES / f"{case}.csv"
    if not path.exists():
        pytest.skip("needs the folder of cases")
    options, least = FOUND[case]
    parts = ["audit", "--graph", str(path), "--identity", "--auxiliary-graph", str(path)]
    parts += ["--seeds-known", "0", "--attack", "quick", "--repeats", "3", *options]
    parts += ["--policy", "internal", "--out", str(tmp_path)]
    assert command.main(parts) == NOTHING_MAY_LEAVE
    result = json.loads((tmp_path / "audit.json").read_text())
    for release, most in least.items():
        assert result["verdict"]["releases"][release]["decision"] == "do_not_publish"
        rows = [r for r in result["results"] if r["release"] == release]
        rows = {(r["method"], r["metric"]): r for r in rows}
        found = rows["value_join", "expected_found"]
        assert found["value"] * len_people(path) >= most


def len_people(path):
    """Number of people in a table of links."""
    return len({end for line in path.read_text().splitlines()[1:] for end in line.split(",")[:2]})


def find_weights(weighted, release):
    return {"link.weight": "number"} if release in weighted else {}


def test_whoever_makes_the_weights_and_whoever_drops_them():
    view = make_audit(make_noise((ORIGINAL, RELEASE), ATTACKS), ATTACKS)
    policy = UNREHEARSED
    cases = {
        (): ("publish", "publish", ""),
        (ORIGINAL,): ("review", "publish", ""),
        (RELEASE,): ("publish", "review", "choose a defense or setting"),
        (ORIGINAL, RELEASE): ("review", "review", "or load the graph without them"),
    }
    for weighted, (first, second, remedy) in cases.items():
        leaving = partial(find_weights, weighted)
        found = replace(view, link_channels=LinkChannels(find_leaving=leaving))
        verdict = judge(found, policy)
        assert [release.decision for release in verdict.releases] == [first, second]
        assert remedy in "".join(verdict.find(RELEASE).unattacked)
        assert (verdict.recommended == RELEASE) == (second == "publish")
        page = json.dumps(build_decision(ReportData(found, ReportOptions(policy=policy))))
        # Page 1 is about the release nearest to clearance.
        assert (f"{SAID}audit" in page) == ("publish" not in (first, second))
    everywhere = LinkChannels(find_leaving=partial(find_weights, (EXTERNAL,)))
    judged = list_channels(replace(view, link_channels=everywhere), EXTERNAL)
    assert describe_open(judged)[0].endswith("so write the release without them")


@pytest.mark.parametrize("treatment", ["attacked", "coarsened", "left out"])
def test_other_channels_are_no_open_point(treatment):
    assert not describe_open([Channel(name="times", treatment=treatment, remedy="round them")])


def test_a_coarser_column_of_links_that_nobody_attacks_is_an_open_point():
    times = Channel(name="times", treatment="coarsened", remedy="round them", column="link.at")
    assert describe_open([times])[0].startswith("times leave and no attack")


def test_columns_of_links_are_channels_that_value_join_attacks(tmp_path, audit_home, capsys):
    graph, rng = two_communities(40, seed=5), np.random.default_rng(1)
    times = 1_084_000_000 + rng.choice(10**6, graph.num_edges, replace=False)
    rows = [f"u{i},u{j},{t},{t % 2}" for (i, j), t in zip(graph.edges, times, strict=True)]
    (tmp_path / "links.csv").write_text("\n".join(["source,target,at,side", *rows]) + "\n")
    others = [m.info.key for m in list_methods("identity_attack") if m.info.cost == "instant"]
    blind = [part for key in others if key != "value_join" for part in ("--attack", key)]
    defense = ("--defense", "random_deletion:strength=0.8")

    def list_states():
        found = json.loads((tmp_path / "out" / "audit.json").read_text())["channels"]
        return {
            (c["release"] == ORIGINAL, c["name"]): (c["state"], tuple(c["attacks"]))
            for c in found
            if c["name"].startswith("link.")
        }

    _, _, decisions, _ = audit(tmp_path, capsys, *defense, *blind)
    assert set(decisions.values()) == {"publish"}
    assert set(list_states().values()) == {("left_out", ())}
    named = ("--publish-columns", "link.at")
    code, said, decisions, _ = audit(tmp_path, capsys, *defense, *blind, *named)
    assert code == NOTHING_MAY_LEAVE
    assert set(decisions.values()) == {"review"}
    assert "alues of link.at leave and no attack finds people by them, so audit" in said
    states = list_states()
    for is_original in (True, False):
        assert states[is_original, "link.at"] == ("not_attacked", ())
        assert states[is_original, "link.side"] == ("left_out", ())
        assert states[is_original, "link.weight"] == ("left_out", ())
    joined = (*named, "--generalize", "link.at:day", "--attack", "value_join")
    audit(tmp_path, capsys, *defense, *joined)
    for is_original in (True, False):
        assert list_states()[is_original, "link.at"] == ("attacked", ("Value join",))


def test_a_column_that_the_second_graph_lacks_is_not_attacked():
    view = make_audit(make_noise((ORIGINAL, RELEASE), ATTACKS), ATTACKS)
    both = {"link.at": "time", "link.how": "category"}
    channels = LinkChannels(
        find_source=lambda: both,
        find_leaving=lambda release: both if release == RELEASE else {},
        find_known=lambda: {"link.at"},
    )
    # What is inferred of people and links from these columns would keep them open too.
    view = replace(view, spec=view.spec.update(private=None, hide_links=None))
    seen = replace(view, link_channels=channels)
    found = {c.column: c.treatment for c in list_channels(seen, RELEASE)}
    is_joined = "attacked" if found["link.at"] == "attacked" else "not attacked"
    assert found == {"link.weight": "left out", "link.at": is_joined, "link.how": "not attacked"}
    rules = {"publish_columns": tuple(both), "generalize": ("link.how:rare=5",)}
    seen = replace(seen, spec=seen.spec.update(**rules))
    found = {c.column: c.treatment for c in list_channels(seen, RELEASE)}
    assert found["link.how"] == "coarsened"
    states = {
        row.Channel: row.State
        for row in tabulate_channels(list_channels(seen, RELEASE)).itertuples()
    }
    assert (
        states["Values of link.how"]
        == "coarsened (values of fewer than 5 people merged), not attacked"
    )


def test_the_number_of_rows_of_a_link_is_a_channel():
    kinds = {"link.weight": "number", "link.at": "time", "link.how": "category"}
    view = audit_joined(ATTACKS)
    view = replace(view, spec=view.spec.update(private=None, hide_links=None))

    def find_rows(known=None, release=RELEASE, repeats=True, view=view):
        channels = LinkChannels(
            find_leaving=lambda _release: kinds,
            find_known=lambda: known,
            find_repeats=lambda _release: repeats,
        )
        listed = list_channels(replace(view, link_channels=channels), release)
        return [channel for channel in listed if channel.kind == "rows"]

    assert not find_rows(repeats=False)
    (found,) = find_rows()
    assert (found.treatment, found.attacks) == ("attacked", ("Value join",))
    assert found.describe(RELEASE)["name"] == "rows"
    (found,) = find_rows(known={"link.at", "link.how"})  # weights are of links, not of rows
    assert found.treatment == "attacked"
    (found,) = find_rows(known={"link.weight", "link.at"})
    assert (found.treatment, found.attacks) == ("not attacked", ())
    (said,) = describe_open([found])
    assert said.startswith("numbers of rows of links leave and no attack finds people by them, so")
    assert said.endswith("or leave link.how out")
    private = replace(view, spec=view.spec.update(hide_links=0.1))
    (found,) = find_rows(view=private)
    assert found.is_open
    assert found.reason == "no attack infers withheld links from them"


def test_rows_of_a_release_made_elsewhere_are_open():
    scores = {**make_noise((ORIGINAL, EXTERNAL), ATTACKS)}
    scores |= {(r, "value_join@identity", "expected_found"): 0.0 for r in (ORIGINAL, EXTERNAL)}
    view = make_audit(scores, ATTACKS)
    view = replace(
        view, spec=view.spec.update(private=None, hide_links=None, identity={"seeds_known": 3})
    )
    channels = LinkChannels(
        find_leaving=lambda _release: {"link.at": "time"}, find_repeats=lambda _release: True
    )
    found = list_channels(replace(view, link_channels=channels), EXTERNAL)
    found = {channel.kind: channel for channel in found}
    assert found["time"].treatment == "attacked"
    (said,) = describe_open([found["rows"]])
    assert said.endswith("may have been changed, so write each link of the release once")


@pytest.mark.parametrize(("column", "repeats"), [("link.at", True), ("link.promo", False)])
def test_rows_are_counted_as_they_leave(tmp_path, column, repeats):
    graph = make_calls()
    fields = {"graph_hash": graph.content_hash, "num_repeats": 1, "measures": ["structure"]}
    fields |= {"publish_columns": [column], "identity": {"seeds_known": 0}}
    fields |= {"attacks": [{"key": "value_join"}], "defenses": [{"key": "pseudonyms"}]}
    view = run_inline(AuditSpec.check_spec(fields), graph, tmp_path)
    for release in (ORIGINAL, "pseudonyms"):
        assert view.link_channels.find_repeats(release) == repeats
        kinds = [channel.kind for channel in list_channels(view, release)]
        assert ("rows" in kinds) == repeats


def test_values_are_attacked_only_where_somebody_is_found_already():
    """Counted per person, equal numbers of allies and rivals tell nothing; by 3 of 100 people found
    already, those who are whose ally tell people apart."""
    leaving = {"link.how": "category", "link.weight": "number"}
    channels = LinkChannels(find_source=lambda: leaving, find_leaving=lambda _release: leaving)
    view = replace(audit_joined(ATTACKS), link_channels=channels)
    asked = {"private": None, "hide_links": None}
    for seeds, state in ((0, "not attacked"), (3, "attacked")):
        spec = view.spec.update(**asked, identity={"seeds_known": seeds})
        own = replace(view, spec=spec)
        found = {c.column: c for c in list_channels(own, RELEASE) if c.column in leaving}
        assert {c.treatment for c in found.values()} == {state}
        assert all(bool(c.attacks) == (seeds > 0) for c in found.values())
        said = "; ".join(describe_open(found.values()))
        assert ("compares them at people found already" in said) == (seeds == 0)
        assert ("--seeds-known" in said) == (seeds == 0)
    unsought = replace(view, results=view.results.iloc[:0])
    unsought = replace(unsought, spec=view.spec.update(**asked, identity={"seeds_known": 0}))
    said = "; ".join(describe_open(list_channels(unsought, RELEASE)))
    assert "--seeds-known" not in said


def audit_joined(measured, planned=None, **more):
    """An audit whose releases people were sought in by values of links."""
    scores = make_noise((ORIGINAL, RELEASE), measured)
    joined = {(r, "value_join@identity", "expected_found"): 0.0 for r in (ORIGINAL, RELEASE)}
    view = make_audit({**scores, **joined}, planned or measured, **more)
    return replace(view, spec=view.spec.update(identity={"seeds_known": 3}))


@pytest.mark.parametrize(
    ("asked", "secrets"),
    [
        ({}, "private values or withheld links"),
        ({"private": None}, "withheld links"),
        ({"hide_links": None}, "private values"),
        ({"private": None, "hide_links": None}, ""),
    ],
)
def test_columns_of_links_are_open_while_attacks_on_values_and_links_lack_them(asked, secrets):
    view = audit_joined(ATTACKS)
    channels = LinkChannels(
        find_source=lambda: {"link.how": "category"},
        find_leaving=lambda release: {"link.how": "category"} if release == RELEASE else {},
    )
    view = replace(view, link_channels=channels, spec=view.spec.update(**asked))
    found = {c.column: c for c in list_channels(view, RELEASE)}["link.how"]
    said = judge(view, UNREHEARSED).find(RELEASE).unattacked
    if not secrets:
        assert (found.treatment, said) == ("attacked", ())
        return
    assert (found.treatment, found.attacks) == ("not attacked", ())
    assert said[0].startswith(f"values of link.how leave and no attack infers {secrets} from them")
    everywhere = LinkChannels(find_leaving=lambda _release: {"link.how": "category"})
    said = judge(replace(view, link_channels=everywhere), UNREHEARSED).find(RELEASE).unattacked
    assert said[0].endswith("so leave them out of the published columns (link.none for all)")


def test_weights_need_an_attack_on_values_that_reads_them():
    weighted = LinkChannels(find_leaving=lambda _release: {"link.weight": "number"})
    others = [key for key in ATTACKS if key != READER]
    for keys, asked, is_open in (
        (ATTACKS, {}, False),
        (others, {}, True),
        (others, {"private": None}, False),
    ):
        view = replace(audit_joined(keys), link_channels=weighted)
        view = replace(view, spec=view.spec.update(**asked))
        said = judge(view, UNREHEARSED).find(RELEASE).unattacked
        assert bool(said) == is_open, asked
    view = audit_joined(others, ATTACKS, state=State.RUNNING)
    (said,) = describe_open(list_channels(replace(view, link_channels=weighted), RELEASE))
    assert said.endswith("from them, so wait until the audit has ended")


def test_attacks_that_count_for_weights_read_them_whatever_they_mean(tmp_path):
    """In groups of eight, weights tell who agrees; the sum of signed known values of the others is
    the oracle."""
    rng, n = np.random.default_rng(0), 240
    party, known = rng.integers(0, 2, n), rng.random(n) < 0.3
    pairs = np.array([(s + i, s + j) for s in range(0, n, 8) for i in range(8) for j in range(i)])
    agrees = party[pairs[:, 0]] == party[pairs[:, 1]]
    votes = np.zeros(n)
    for (a, b), sign in zip(pairs, np.where(agrees, 1, -1), strict=True):
        votes[a] += known[b] * sign * (2 * party[b] - 1)
        votes[b] += known[a] * sign * (2 * party[a] - 1)
    is_told = ~known & (votes != 0)
    assert ((votes > 0) == party)[is_told].mean() > 0.99
    graph = Graph.from_pairs(
        pairs,
        n,
        weights=np.where(agrees, 1.0, 2.0),
        attributes={"party": NodeColumn.from_values("party", np.array(["A", "B"])[party])},
    )
    reading = [m.info.key for m in list_methods("attribute_attack") if m.reads_weights]
    assert reading == [READER]
    fields = {"graph_hash": graph.content_hash, "private": "party", "known": 0.3}
    fields |= {"num_repeats": 1, "measures": ["structure"], "attacks": [{"key": READER}]}
    view = run_inline(AuditSpec.check_spec(fields), graph, tmp_path)
    rows = view.results[(view.results.metric == "auc") & (view.results.status == "done")]
    assert rows.set_index("method").value[READER] > 0.9


def test_ids_leave_unless_people_are_sought(tmp_path):
    graph = two_communities(30, seed=5)
    fields = {"graph_hash": graph.content_hash, "num_repeats": 1, "measures": ["structure"]}
    fields |= {"publish_columns": list(graph.feature_names)}
    renamed = {"defenses": [{"key": "pseudonyms"}], "policy": find_policy("internal").model_dump()}
    links = {"released_links": True, "attacks": [{"key": "plausibility"}]}
    people = {"identity": {"seeds_known": 0}, "attacks": [{"key": "degree"}]}
    guess = {**people, "attacks": [{"key": "degree_match"}]}  # a baseline attacker
    for asked, ids in ((links, "not attacked"), (people, "left out"), (guess, "left out")):
        view = run_inline(AuditSpec.check_spec({**fields, **renamed, **asked}), graph, tmp_path)
        for release, expected in ((ORIGINAL, ids), ("pseudonyms", "left out")):
            found = {channel.kind: channel for channel in list_channels(view, release)}
            assert found["ids"].treatment == expected
            is_found = "attacked" if asked is people else "not attacked"
            assert found["structure"].treatment == is_found
            assert found["order"].treatment == found["files"].treatment == "left out"
        said = judge(view, find_policy("internal")).find(ORIGINAL).unattacked
        names = "links, values of 0, values of 1, values of 2 and 6 more"
        told = f"{names} leave and no attack finds people by them, so audit re-identification"
        assert (told in said) == (asked is links)
        running = replace(view, summary=replace(view.summary, state=State.RUNNING))
        said = judge(running, find_policy("internal")).find(ORIGINAL).unattacked
        waits = any("so wait until the audit has ended" in text for text in said)
        assert waits == (asked is not links), "an attack that is still to come is not added"


def test_a_sentence_names_few_channels():
    columns = [Channel(name=f"c{n}", treatment="not attacked", remedy="add A") for n in range(7)]
    other = Channel(name="d", treatment="not attacked", remedy="add B", reason="nobody can")
    assert describe_open([*columns[:2], other, columns[2]]) == (
        "c0, c1 and c2 leave and no attack finds people by them, so add A",
        "d leave and nobody can, so add B",
    )
    assert describe_open(columns)[0].startswith("c0, c1, c2, c3 and 3 more leave and")
    assert not describe_open([Channel(name="n", treatment="not attacked", remedy="", kind="names")])
