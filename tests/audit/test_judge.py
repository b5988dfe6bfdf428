"""`judge`: a release that was made elsewhere meets the same attackers, and is never cleared."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import core.cli.main as command
from core.audit.asked.scenarios import Scenario
from core.audit.asked.spec import AuditSpec
from core.audit.computing.plan import plan_audit
from core.audit.computing.prepared import PreparedAudit
from core.audit.computing.threat_sampling import draw_repeat, select_attacker
from core.audit.results.export import describe_audit, write_audit
from core.audit.service import AuditService
from core.audit.store.database import Store
from core.cli.audit import NOTHING_MAY_LEAVE, judge_audit
from core.cli.judge import build_judge_spec
from core.data.catalogue import load_dataset
from core.data.external_release import count_found_by_order
from core.data.node_pairs import list_id_pairs
from core.data.synthetic import generate_social
from core.defenses.external import EXTERNAL, NOT_TESTED, ONE_RELEASE, list_not_tested
from core.errors import InputError
from core.findings.channels import describe_channels
from core.findings.guarantees import UNKNOWN, explain_guarantee, list_guarantee_rows
from core.findings.policy import find_policy
from core.findings.verdict import UNCHANGED, judge
from core.findings.verdict_words import describe_decision, explain_release, find_subject
from core.graph import Graph
from core.report import ReportOptions
from core.report.data import ReportData
from core.report.decision_page import build_decision, build_verdict, list_choices
from core.report.document import build_content
from core.report.gate import build_gate
from tests.inline import run_inline
from tests.oracles.audits import list_attack_keys, make_audit, make_noise

KARATE = load_dataset("karate").graph
INSTANT = ("common_neighbors", "degree_product", "label_propagation", "com_infer")
TRAINED = ("gae_cosine",)


def write_pairs(path, graph, pairs):
    lines = [f"{first},{second}\n" for first, second in list_id_pairs(graph, pairs)]
    path.write_text("".join(lines))
    return str(path)


def parse(*arguments):
    """The options of a `judge` command, as `main` leaves them."""
    options = command.build_parser().parse_args(["judge", *map(str, arguments), "--out", "unused"])
    command.split_private(options)
    return options


def build(home, *arguments):
    service = AuditService(home)
    try:
        return build_judge_spec(parse(*arguments), service)
    finally:
        service.close()


def list_numbers(results, release):
    """(method, threat, metric) → all numbers of a release in audit.json."""
    columns = ("value", "low", "high", "n", "status")
    return {
        (row["method"], row["threat"], row["metric"]): tuple(row[name] for name in columns)
        for row in results
        if row["release"] == release
    }


def write_secrets(folder, spec, graph):
    """The options that name the secrets of an audit's first repeat."""
    threats = draw_repeat(PreparedAudit.build(spec, graph), 0)
    known = [graph.node_ids[node] for node in np.flatnonzero(threats.attribute.known)]
    (folder / "known.txt").write_text("\n".join(known))
    withheld = write_pairs(folder / "withheld.csv", graph, threats.link.hidden)
    held_back = write_pairs(folder / "held_back.csv", graph, threats.test_links)
    return ["--withheld", withheld, "--held-back", held_back, "--known", folder / "known.txt"]


def audit_original(folder, graph, private, attacks, **fields):
    """audit.json of an audit of the product with one repeat, and the options for its secrets."""
    spec = AuditSpec.check_spec(
        {
            "graph_hash": graph.content_hash,
            "private": private,
            "hide_links": 0.1,
            "released_links": True,
            "num_repeats": 1,
            "attacks": [{"key": key} for key in attacks],
            "defenses": [{"key": "edge_rand", "config": {"epsilon": 3.0}}],
            **fields,
        }
    )
    view = run_inline(spec, graph, folder / "made")
    write_audit(view, folder / "audit")
    made = json.loads((folder / "audit" / "audit.json").read_text())
    return made["results"], write_secrets(folder, spec, graph)


RELEASE = "edge_rand:epsilon=3.0"
FILE = "audit/releases/edge_rand_epsilon=3.0.csv"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """(folder, results, options for the secrets) of an audit of the karate club."""
    folder = tmp_path_factory.mktemp("made")
    return folder, *audit_original(folder, KARATE, "label", (*INSTANT, *TRAINED))


def judge_inline(made, *arguments):
    """audit.json of judging the release that the audit wrote."""
    folder, _, secrets = made
    spec = build(
        folder / "judged", "karate", folder / FILE, "--private", "label", "--released-links",
        *secrets, *(f"--attack={key}" for key in (*INSTANT, *TRAINED)), *arguments,
    )  # fmt: skip
    return describe_audit(run_inline(spec, KARATE, folder / "judged"))


def test_it_repeats_to_the_last_digit_what_the_audit_found_of_its_release(made):
    _, results, _ = made
    found = judge_inline(made)
    assert found["releases"] == [
        {"id": "original", "origin": "original"},
        {"id": EXTERNAL, "origin": "external", "not_tested": [*NOT_TESTED, ONE_RELEASE]},
    ]
    for first, second in ((RELEASE, EXTERNAL), ("original", "original")):
        expected, judged = list_numbers(results, first), list_numbers(found["results"], second)
        assert {key: judged[key] for key in expected} == expected
        assert {"gae_cosine", "com_infer", "release"} <= {method for method, _, _ in expected}


@pytest.mark.slow
@pytest.mark.nightly
def test_on_cora_by_the_command(data_root, tmp_path, audit_home, monkeypatch, capsys):
    monkeypatch.setenv("AUDIT_DATA", str(data_root))
    monkeypatch.setenv("AUDIT_WORKERS", "1")
    cora = load_dataset("cora").graph
    keys = ("common_neighbors", "feature_cosine", "label_propagation")
    results, secrets = audit_original(tmp_path, cora, "label", keys, released_links=False)
    arguments = ["judge", "cora", tmp_path / FILE, "--private", "label", "--columns", "original"]
    arguments += [*secrets, *(f"--attack={key}" for key in keys)]
    arguments += ["--policy", "partner", "--out", tmp_path / "judged"]
    assert command.main([*map(str, arguments)]) == NOTHING_MAY_LEAVE
    assert "Release made elsewhere: do not publish" in capsys.readouterr().err
    written = json.loads((tmp_path / "judged" / "audit.json").read_text())
    expected = list_numbers(results, RELEASE)
    found = list_numbers(written["results"], EXTERNAL)
    assert {key: found[key] for key in expected} == expected
    assert written["verdict"]["releases"][EXTERNAL]["decision"] == "do_not_publish"


# -- what is secret -------------------------------------------------------------------------


def test_links_in_the_original_alone_are_withheld(tmp_path):
    gone, added = KARATE.edges[::5], np.array([[0, 33], [14, 16]])
    released = np.concatenate([KARATE.without_edges(gone).edges, added])
    spec = build(tmp_path, "karate", write_pairs(tmp_path / "r.csv", KARATE, released))
    assert spec.threats.sensitive_links == tuple(list_id_pairs(KARATE, gone))
    assert not spec.threats.released_links
    threats = draw_repeat(PreparedAudit.load(spec, Store(tmp_path).load_graph), 0)
    assert len(threats.link.hidden) == len(gone)
    assert not len(threats.test_links)
    assert threats.external[0].edges.tolist() == KARATE.with_edges(released).edges.tolist()


def test_a_link_of_weight_0_is_withheld(tmp_path):
    rows = [
        f"{i},{j},{float(k > 0)}" for k, (i, j) in enumerate(list_id_pairs(KARATE, KARATE.edges))
    ]
    (tmp_path / "r.csv").write_text("\n".join(["source,target,weight", *rows]))
    spec = build(tmp_path, "karate", tmp_path / "r.csv")
    assert spec.threats.sensitive_links == tuple(list_id_pairs(KARATE, KARATE.edges[:1]))


def test_links_that_the_release_holds_are_not_withheld(tmp_path, capsys):
    """Attacks on withheld links guessed at links that anyone could read in the release."""
    withheld = write_pairs(tmp_path / "withheld.csv", KARATE, KARATE.edges[:10])
    for gone in (0, 9):  # all of them are there, or one is
        released = write_pairs(tmp_path / "r.csv", KARATE, KARATE.edges[gone:])
        with pytest.raises(InputError, match=f"not have the withheld links; got {10 - gone} of 10"):
            build(tmp_path, "karate", released, "--withheld", withheld)
    pairs = np.column_stack(np.triu_indices(KARATE.num_nodes, 1))
    noise = pairs[np.random.default_rng(0).random(len(pairs)) < 0.2]  # any pair, at random
    released = write_pairs(tmp_path / "r.csv", KARATE, noise)
    spec = build(tmp_path, "karate", released, "--withheld", withheld)
    assert len(spec.threats.sensitive_links) == 10
    there = len(
        {tuple(pair) for pair in noise.tolist()} & set(map(tuple, KARATE.edges[:10].tolist()))
    )
    assert 0 < there < 5
    said = capsys.readouterr().err
    assert f"note: {there} withheld link" in said


def test_nodes_that_are_not_in_the_release_dilute_no_share(tmp_path, capsys):
    """A secret told of all 20 nodes of a release exposed a third of the 60 of the original."""
    half = KARATE.node_ids[:17]
    (tmp_path / "nodes.csv").write_text("".join(f"{node},x\n" for node in ("id", *half)))
    (tmp_path / "known.txt").write_text("\n".join(KARATE.node_ids[10:20]))
    inside = KARATE.edges[(KARATE.edges < 17).all(axis=1)]
    outside = KARATE.edges[(KARATE.edges >= 17).any(axis=1)]
    released = write_pairs(tmp_path / "r.csv", KARATE, inside[5:])
    withheld = write_pairs(tmp_path / "w.csv", KARATE, np.concatenate([inside[:5], outside]))
    named = ["--withheld", withheld, "--known", tmp_path / "known.txt", "--private", "label"]
    table = ["--release-nodes", tmp_path / "nodes.csv"]
    for secrets in ([], named):
        spec = build(tmp_path, "karate", released, *table, *secrets)
        audit = PreparedAudit.load(spec, Store(tmp_path).load_graph)
        assert audit.graph.node_ids == audit.external[0].node_ids == half
        assert list(spec.threats.sensitive_links) == list_id_pairs(KARATE, inside[:5])
        assert "note: 17 nodes of the original that the release" in capsys.readouterr().err
        assert "left out of both graphs" in spec.external_match
    assert spec.threats.known_people == half[10:]
    whole = build(tmp_path, "karate", released)  # a list of links may leave out who has none
    assert len(whole.threats.sensitive_links) == 5 + len(outside)


def test_it_is_said_where_attackers_read_no_column(tmp_path, capsys):
    rows = "".join(f"{node},{'xy'[k % 2]}\n" for k, node in enumerate(KARATE.node_ids))
    (tmp_path / "nodes.csv").write_text(f"id,city\n{rows}")
    links = write_pairs(tmp_path / "links.csv", KARATE, KARATE.edges)
    table = ["--nodes", str(tmp_path / "nodes.csv")]
    for more, is_said in (
        ((), True),
        (("--columns", "original"), False),
        (("--private", "city"), False),
    ):
        build(tmp_path, links, links, *table, *more)
        assert ("attackers read no column" in capsys.readouterr().err) == is_said


def test_without_a_withheld_link_released_links_are_attacked(tmp_path):
    file = write_pairs(tmp_path / "r.csv", KARATE, np.concatenate([KARATE.edges, [[14, 16]]]))
    spec = build(tmp_path, "karate", file)
    assert spec.threats.sensitive_links is None
    assert spec.threats.released_links
    assert not build(tmp_path, "karate", file, "--private", "label").threats.released_links


def test_people_whose_values_are_known_replace_the_draw_for_every_column(tmp_path):
    graph = generate_social(200, 1)
    people = graph.node_ids[:40]
    fields = {"private": "seniority", "more_private": ["affiliation"], "known_people": people}
    spec = AuditSpec.check_spec({"graph_hash": "0" * 64, "attacks": [], **fields})
    audit = PreparedAudit.build(spec, graph)
    threats = draw_repeat(audit, 0)
    for column in ("", "affiliation"):
        scenario = Scenario("label_propagation", "attribute", column)
        met = select_attacker(spec, scenario, 0, threats).attribute
        assert set(np.flatnonzero(met.known)) <= set(range(40))
        assert (met.known | met.hidden).tolist() == met.attribute.known.tolist()
        assert (met.known == (met.attribute.known & (np.arange(200) < 40))).all()
    keys = {cell.key for cell in plan_audit(audit)}
    assert keys.isdisjoint(
        c.key
        for c in plan_audit(PreparedAudit.build(spec.update(known_people=None), graph))
        if c.kind == "attack"
    )
    for wrong, said in (((), "some, but not all"), (graph.node_ids, "some, but not all")):
        with pytest.raises(InputError, match=said):
            draw_repeat(PreparedAudit.build(spec.update(known_people=wrong), graph), 0)
    with pytest.raises(InputError, match="person whose value is known must be in the graph"):
        draw_repeat(PreparedAudit.build(spec.update(known_people=("nobody",)), graph), 0)


# -- several releases together --------------------------------------------------------------


def test_releases_held_together_tell_more_than_one(tmp_path):
    rng = np.random.default_rng(0)
    graph = KARATE
    files = []
    for number in range(3):
        noise = np.array([(i, j) for i in range(34) for j in range(i) if rng.random() < 0.2])
        kept = graph.edges[rng.random(graph.num_edges) < 0.7]
        released = graph.with_edges(np.concatenate([kept, noise]))
        files.append(write_pairs(tmp_path / f"{number}.csv", graph, released.edges))
    held = [f"--held-release={file}" for file in files[1:]]
    spec = build(tmp_path, "karate", files[0], *held, "--attack=common_neighbors",
                 "--attack=mechanism_posterior")  # fmt: skip
    assert spec.knowledge.composition == 3
    view = run_inline(spec, graph, tmp_path)
    found = {
        row["knowledge"]: row["value"]
        for row in describe_audit(view)["results"]
        if row["release"] == EXTERNAL and row["metric"] == "recovered_at_precision_0.9"
    }
    assert found["composition:3"] > found["standard"] + 0.5


def test_held_releases_need_known_ids(tmp_path):
    file = write_pairs(tmp_path / "r.csv", KARATE, KARATE.edges[2:])
    with pytest.raises(InputError, match="--held-release must have known ids; got --ids unknown"):
        build(tmp_path, "karate", file, "--ids", "unknown", f"--held-release={file}")
    spec = build(tmp_path, "karate", file, f"--held-release={file}")
    with pytest.raises(InputError, match="composition must be the number of releases"):
        AuditSpec.check_spec(spec.update(composition=3))


# -- how the release is read ----------------------------------------------------------------


def test_pseudonyms_are_read_by_their_map(tmp_path):
    rows = [(node, f"p{(7 * i) % 34}") for i, node in enumerate(KARATE.node_ids)]
    pseudonyms = dict(rows)
    links = [(pseudonyms[i], pseudonyms[j]) for i, j in list_id_pairs(KARATE, KARATE.edges[3:])]
    (tmp_path / "map.csv").write_text("".join(f"{node},{name}\n" for node, name in rows))
    (tmp_path / "r.csv").write_text("".join(f"{i},{j}\n" for i, j in links))
    found = build(tmp_path, "karate", tmp_path / "r.csv", "--ids", f"map:{tmp_path / 'map.csv'}")
    same = write_pairs(tmp_path / "same.csv", KARATE, KARATE.edges[3:])
    plain = build(tmp_path, "karate", same)
    assert found.external_release == plain.external_release
    assert found.threats.identity is not None
    assert plain.threats.identity is None
    with pytest.raises(InputError, match="nodes of the original only; got 34 others"):
        build(tmp_path, "karate", tmp_path / "r.csv")
    with pytest.raises(InputError, match="--ids must be same, map:FILE or unknown; got map"):
        build(tmp_path, "karate", tmp_path / "r.csv", "--ids", "map")


def test_people_are_found_behind_pseudonyms_that_nobody_can_resolve(tmp_path, capsys):
    names = {node: f"p{(7 * i) % 34}" for i, node in enumerate(KARATE.node_ids)}
    links = [(names[i], names[j]) for i, j in list_id_pairs(KARATE, KARATE.edges[2:])]
    (tmp_path / "r.csv").write_text("".join(f"{i},{j}\n" for i, j in links))
    found = build(tmp_path, "karate", tmp_path / "r.csv", "--ids", "unknown", "--private", "club")
    assert found.threats.identity is None
    assert found.threats.sensitive_links is None
    assert found.external_match.startswith("Who is behind a pseudonym was guessed by ")
    assert "of random links" in capsys.readouterr().err
    assert list_not_tested(found.external_match) == (*NOT_TESTED, found.external_match)
    with pytest.raises(InputError, match="--identity must know who is who; got --ids unknown"):
        build(tmp_path, "karate", tmp_path / "r.csv", "--ids", "unknown", "--identity")


# -- the spec -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"external_release": None}, "must be given together with its file"),
        ({"defenses": ()}, "must be given together with its file"),
        ({"num_repeats": 3}, "repeats must be 1 for a release made elsewhere; got 3"),
        ({"adaptive": True}, "need a defense that can be run again"),
        ({"composition": 2}, "composition must be the number of releases made elsewhere"),
    ],
)
def test_what_a_fixed_release_cannot_do_is_an_error(fields, said):
    whole = {
        "graph_hash": "0" * 64,
        "hide_links": 0.1,
        "external_release": "1" * 64,
        "defenses": [{"key": EXTERNAL}],
        "num_repeats": 1,
    }
    AuditSpec.check_spec(whole)
    with pytest.raises(InputError, match=said):
        AuditSpec.check_spec({**whole, **fields})


def test_another_release_renews_what_depends_on_it(tmp_path):
    file = write_pairs(tmp_path / "r.csv", KARATE, KARATE.edges[2:])
    spec = build(tmp_path, "karate", file)
    load = Store(tmp_path).load_graph
    keys = {cell.key: cell.release for cell in plan_audit(PreparedAudit.load(spec, load))}
    audit = PreparedAudit.load(spec.update(external_release=KARATE.content_hash), load)
    found = {cell.key for cell in plan_audit(audit)}
    assert {release for key, release in keys.items() if key in found} == {"original"}


def test_the_release_is_kept_while_an_audit_judges_it(tmp_path):
    spec = build(tmp_path, "karate", write_pairs(tmp_path / "r.csv", KARATE, KARATE.edges[2:]))
    store = Store(tmp_path)
    cells = plan_audit(PreparedAudit.load(spec, store.load_graph))
    for audit_id in ("one", "two"):
        store.add_audit(audit_id, "", spec, cells, {})
    assert store.delete_audit("one") == []
    assert set(store.delete_audit("two")) == {spec.graph_hash, spec.external_release}
    store.close()


# -- the decision ---------------------------------------------------------------------------


def make_view(scores):
    """An audit that tried everything a policy asks for, on a release made elsewhere."""
    view = make_audit(scores, list_attack_keys(), (EXTERNAL,))
    policy = find_policy("partner").model_dump(mode="json")
    update = {"policy": policy, "external_release": "1" * 64}
    object.__setattr__(view, "spec", view.spec.model_copy(update=update))
    return view


def test_it_is_never_cleared_and_the_reasons_are_named():
    view = make_view(make_noise(("original", EXTERNAL), list_attack_keys()))
    verdict = judge(view, find_policy("partner"))
    release = verdict.find(EXTERNAL)
    assert all(check.state == "met" for check in release.checks if check.evidence.value is not None)
    assert {*NOT_TESTED, ONE_RELEASE} <= set(explain_release(release))
    assert (release.decision, verdict.decision, verdict.may_leave) == ("review", "review", False)
    assert verdict.find("original").decision == "review"
    assert not [text for text in release.untried if "split" in text and text != ONE_RELEASE]


def test_the_decision_is_on_the_release_and_not_on_the_original():
    scores = make_noise(("original", EXTERNAL), list_attack_keys())
    scores[EXTERNAL, "katz", "auc"] = 0.99
    scores[EXTERNAL, "katz", "tpr_at_fpr_0.01"] = 0.9
    said: list[str] = []
    view = make_view(scores)
    content, code = judge_audit(view, said.append)
    verdict = judge(view, find_policy("partner"))
    assert code == NOTHING_MAY_LEAVE
    assert content["verdict"]["releases"][EXTERNAL]["decision"] == "do_not_publish"
    assert len(said) == 2
    assert said[0].startswith("Release made elsewhere: do not publish")
    assert find_subject(verdict).release == EXTERNAL
    sentence = "Do not publish: the release made elsewhere exceeds at least one limit."
    assert (verdict.decision, describe_decision(verdict)) == ("do_not_publish", sentence)
    data = ReportData(view, ReportOptions(policy=find_policy("partner")))
    assert list_choices(data) == ["Do not publish"]


def test_nothing_is_claimed_of_its_guarantee(tmp_path):
    spec = build(tmp_path, "karate", write_pairs(tmp_path / "r.csv", KARATE, KARATE.edges[2:]),
                 "--attack", "common_neighbors")  # fmt: skip
    view = run_inline(spec, KARATE, tmp_path)
    report = json.dumps(build_content(view, ReportOptions())[0], ensure_ascii=False)
    assert UNKNOWN in report
    assert all(text in report for text in (*NOT_TESTED, ONE_RELEASE))
    assert "links of the original are sensitive" in report
    assert "and a release that was made elsewhere, and compares every attack" in report
    guarantee = view.releases[1].guarantee
    assert (guarantee.is_private, guarantee.label) == (False, "not known")
    assert list_guarantee_rows(guarantee) == [("Guarantee", "not known"), ("Protects", "not known")]
    assert explain_guarantee(guarantee, 300) == UNKNOWN
    assert all(text in guarantee.note for text in NOT_TESTED)


# -- tables that others generalised ---------------------------------------------------------

CASES = Path(__file__).parents[3] / "shared" / "cases"
TABLES = {"arx": (57, 0.7083, 1), "exact": (116, 0.9833, 1), "suppressed": (0, 1 / 120, 120)}
"""Table of nodes → people who match one row only, share found, and k, by a loop over its rows."""


@pytest.mark.parametrize("table", TABLES)
def test_people_are_found_by_the_rows_that_may_be_theirs(tmp_path, table):
    if not CASES.exists():
        pytest.skip("needs the folder of cases")
    spec = build(
        tmp_path, CASES / "k01_links.csv", CASES / "k01_release.csv",
        "--nodes", CASES / "k01_nodes.csv",
        "--release-nodes", CASES / f"k01_release_nodes_{table}.csv",
        "--ids", f"map:{CASES / 'k01_map.csv'}", "--attack", "column_values",
    )  # fmt: skip
    view = run_inline(spec, Store(tmp_path).load_graph(spec.graph_hash), tmp_path)
    rows = {(r["method"], r["release"], r["metric"]): r for r in describe_audit(view)["results"]}
    unique, found, k = TABLES[table]
    for release, expected in ((EXTERNAL, (unique, found, k)), ("original", TABLES["exact"])):
        shares = [
            rows["column_values", release, metric]["value"]
            for metric in ("share_unique", "expected_found", "k_anonymity")
        ]
        assert shares == pytest.approx([expected[0] / 120, *expected[1:]], abs=1e-4)
    for depth in ("degree", "neighbor_degrees", "neighbor_values"):  # 19 of 360 links are gone
        together = [r for r in view.results.itertuples() if f"with_links={depth}" in r.method]
        assert {r.status for r in together} == {"done"}
    degree = view.estimate(EXTERNAL, "column_values:with_links=degree@identity", "share_unique")
    assert degree.value > (unique - 1) / 120


# -- a release that is the original ---------------------------------------------------------


def test_a_release_that_is_the_original_is_called_so(tmp_path):
    file = write_pairs(tmp_path / "r.csv", KARATE, KARATE.edges)
    more = ("--identity", "--attack", "degree", "--policy", "internal", "--columns")
    spec = build(tmp_path, "karate", file, *more, "original")
    check_called_so(run_inline(spec, KARATE, tmp_path), EXTERNAL)
    spec = build(tmp_path, "karate", file, *more, "release")  # without the columns
    view = run_inline(spec, KARATE, tmp_path)
    assert not judge(view, find_policy("internal")).find(EXTERNAL).is_unchanged


def test_so_is_one_that_a_defense_left_as_it_was(tmp_path):
    fields = {
        "graph_hash": KARATE.content_hash,
        "identity": {"seeds_known": 2},
        "num_repeats": 2,
        "attacks": [{"key": "degree"}],
        "defenses": [
            {"key": "random_rewiring", "config": {"strength": 0.0}},
            {"key": "random_rewiring"},
            {"key": "pseudonyms"},
        ],
        "policy": find_policy("internal").model_dump(mode="json"),
    }
    view = run_inline(AuditSpec.check_spec(fields), KARATE, tmp_path)
    verdict = judge(view, find_policy("internal"))
    same = [release.release for release in verdict.releases if release.is_unchanged]
    assert same == [verdict.releases[1].release]
    check_called_so(view, same[0])


def check_called_so(view, release):
    """Command, audit.json, gate, page 1 of the PDF and section 1 say it."""
    verdict = judge(view, find_policy("internal"))
    assert verdict.find(release).decision != "publish"
    assert UNCHANGED in explain_release(verdict.find(release))
    said: list[str] = []
    judge_audit(view, said.append)
    assert sum(UNCHANGED in text for text in said) == 1
    described = describe_audit(view)["releases"]
    assert [each["id"] for each in described if each.get("unchanged")] == [release]
    data = ReportData(view, ReportOptions(policy=find_policy("internal")))
    report = json.dumps([build_verdict(data), build_decision(data)], ensure_ascii=False)
    assert UNCHANGED in report
    cases = [case for case in build_gate(view, 0).cases if case.rule == "decision"]
    assert [UNCHANGED in case.message for case in cases].count(True) == 1


# -- what leaves with it --------------------------------------------------------------------


def test_a_column_that_cannot_be_compared_is_named(tmp_path):
    """Zip codes were replaced by numbers of regions: the join on all columns found nobody."""
    if not CASES.exists():
        pytest.skip("needs the folder of cases")
    text = (CASES / "k01_release_nodes_exact.csv").read_text().replace(";102", ";region 2")
    (tmp_path / "nodes.csv").write_text(text.replace(";101", ";region 1"))
    spec = build(
        tmp_path, CASES / "k01_links.csv", CASES / "k01_release.csv",
        "--nodes", CASES / "k01_nodes.csv", "--release-nodes", tmp_path / "nodes.csv",
        "--ids", f"map:{CASES / 'k01_map.csv'}", "--attack", "column_values",
        "--policy", "internal",
    )  # fmt: skip
    view = run_inline(spec, Store(tmp_path).load_graph(spec.graph_hash), tmp_path)
    listed = [c for c in describe_channels(view) if c["release"] == EXTERNAL]
    states = {channel["name"]: channel["state"] for channel in listed}
    columns = {"age": "attacked", "zip": "not_attacked", "sex": "attacked", "diagnosis": "attacked"}
    assert states == {
        **columns,
        "structure": "not_attacked",
        "link.weight": "left_out",
        "ids": "left_out",
        "order": "attacked",
        "names": "not_attacked",
    }
    release = judge(view, find_policy("internal")).find(EXTERNAL)
    assert release.decision != "publish"
    told = "values of zip leave and their cells cannot be compared with the original's values"
    assert sum(told in text for text in release.unattacked) == 1
    share = view.estimate(EXTERNAL, "column_values@identity", "expected_found").value
    assert share > 0.5  # by the other columns


def test_people_who_are_told_by_the_order_of_rows_are_counted():
    names = [f"p{number}" for number in range(40)]
    original = Graph.from_pairs([[0, 1]], 40, node_ids=tuple(f"u{n:02}" for n in range(40)))
    shuffled = np.random.default_rng(0).permutation(40)
    as_it_was = np.arange(40)
    assert count_found_by_order(original, names, as_it_was) == 40
    assert count_found_by_order(original, [names[n] for n in shuffled], shuffled) == 40  # by ids
    anew = [f"x{n:02}" for n in np.random.default_rng(1).permutation(40)]
    assert count_found_by_order(original, anew, shuffled) == 0
    assert count_found_by_order(original, anew, np.roll(as_it_was, 1)) == 0
    assert (
        count_found_by_order(original, anew[:20], as_it_was[::2]) == 20
    )  # of those that are there
