"""Searches on the service: resumed, counted, told."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import jsonschema
import numpy as np
import pandas as pd
import pytest

import core.cli.main as command
from core.audit.asked.method_choice import MethodChoice
from core.audit.asked.release_info import parse_release
from core.audit.asked.scenarios import list_scenarios
from core.audit.asked.spec import AuditSpec
from core.audit.results.view import CELL_COLUMNS, AuditProgress
from core.audit.store.costs import Shape
from core.audit.store.estimate import TimeModel, make_task
from core.audit.store.states import State
from core.defenses.random_deletion import RandomDeletion
from core.errors import InputError
from core.findings.evidence import Evidence
from core.findings.kept import compute_kept
from core.findings.policy import Limit, Policy, find_policy, list_policies
from core.findings.required_knowledge import RequiredKnowledge
from core.findings.verdict import Check
from core.node_column import NodeColumn
from core.release import ORIGINAL
from core.search import ladders, run
from core.search.attackers import list_costly, list_quick, list_required
from core.search.ladders import Ladder, build_ladders
from core.search.measured import Measured, measure_releases
from core.search.outcome import (
    describe_headline,
    describe_outcome,
    find_recipients,
    list_facts,
    list_rows,
)
from core.search.run import SearchRequest, list_requests, read_search, run_search, share_error
from core.search.strategy import EXCEEDS, Candidate
from tests.oracles.audits import make_audit
from tests.oracles.graphs import two_communities

ROOT = Path(__file__).parents[2]
POLICY = Policy(
    key="house",
    version=1,
    title="House",
    effort="instant",
    repeats=2,
    limits=(Limit(name="auc", threat="link", metric="auc", limit=0.7, title="AUC", source="s"),),
)
DEFENSES = [{"key": "random_deletion"}, {"key": "random_rewiring"}]


class FakeAudits:
    """Audits whose figures follow from the strengths of their releases and the seed of the trial;
    each is finished when it is started, but for the `slow`-th, which never ends."""

    def __init__(self, graph, risk=lambda strength: 0.8 - 0.3 * strength, slow=None):
        self.graph, self.risk, self.slow = graph, risk, slow
        self.audits, self.cancelled, self.ledger = {}, [], ()

    def load_graph(self, _hash):
        return self.graph

    def start_audit(self, spec, _name, marks):
        audit_id = f"a{len(self.audits)}"
        self.audits[audit_id] = spec, marks["search"], self._make_view(audit_id, spec)
        return audit_id

    def resume_audit(self, audit_id):
        assert audit_id in self.audits

    def cancel_audit(self, audit_id):
        self.cancelled.append(audit_id)

    def list_audits(self):
        views = [
            replace(view.summary, id=one, search=mark, state=self._find_state(one))
            for one, (_, mark, view) in self.audits.items()
        ]
        return views[::-1]

    def _find_state(self, audit_id):
        is_slow = audit_id == f"a{self.slow}" and audit_id not in self.cancelled
        return State.RUNNING if is_slow else State.DONE

    def wait(self, audit_id, timeout=None):
        return True  # as of an audit of another process

    def get_progress(self, audit_id):
        return AuditProgress(self._find_state(audit_id), 1, 2, 0.5, (), 1.0, "")

    def get_view(self, audit_id):
        _, mark, view = self.audits[audit_id]
        return replace(view, summary=replace(view.summary, search=mark), ledger=self.ledger)

    def find_last_confirmation(self, _hash):
        return max((mark["confirmation"] for _, mark, _ in self.audits.values()), default=0)

    def _make_view(self, audit_id, spec):
        rng, scores = np.random.default_rng(spec.root_seed), {}
        defenses = [choice.id for choice in spec.defenses]
        for release in (ORIGINAL, *defenses):
            strength = 0.0
            if release not in (ORIGINAL, "pseudonyms"):
                strength = view_strength(spec, release)
            for _, _, scenario in list_scenarios(spec):
                scores[release, scenario.id, "auc"] = self.risk(strength) + 0.01 * rng.random()
            scores[release, "release", "link_f1"] = 1 - strength / 2
        attacks = [choice.key for choice in spec.attacks]
        view = make_audit(scores, attacks, defenses, half=0.001, seeds=spec.num_repeats)
        cells = [("attack", release, "katz", 0, "done", 1.0, "", 1.0, 2.0, "CPU", "")
                 for release in (ORIGINAL, *defenses)]  # fmt: skip
        summary = replace(view.summary, id=audit_id)
        return replace(
            view, spec=spec, summary=summary, cells=pd.DataFrame(cells, columns=list(CELL_COLUMNS))
        )


def view_strength(spec, release):
    choice = next(choice for choice in spec.defenses if choice.id == release)
    return choice.make_defense().config["strength"]


def bare_graph():
    return two_communities().update_columns(features=None)


@pytest.fixture(scope="module")
def graph():
    return bare_graph()


def make_request(graph, useful=None, policy=POLICY, **fields):
    spec = AuditSpec.check_spec(
        {
            "graph_hash": graph.content_hash,
            "hide_links": 0.1,
            "policy": policy.model_dump(mode="json"),
            "defenses": DEFENSES,
            **fields,
        }
    )
    return SearchRequest.check(spec, {"links": 0.2} if useful is None else useful, graph)


def describe(progress):
    """What does not depend on ids and on how often it was begun."""
    found = describe_outcome(progress)
    return {key: value for key, value in found.items() if key not in ("audits", "cpu_seconds")}


def test_a_search_confirms_on_splits_of_its_own(graph):
    audits = FakeAudits(graph)
    progress = run_search(audits, make_request(graph))
    assert progress.search.state == "confirmed"
    assert progress.is_over
    best = progress.search.list_confirmed()[0]
    assert 0.3 < best.made.defense.strength < 0.6, "the weakest setting within the limit"
    specs = {mark["stage"]: spec for spec, mark, _ in audits.audits.values()}
    assert len({spec.root_seed for spec in specs.values()}) == 3
    assert specs["screening"].num_repeats == 1
    assert specs["race"].num_repeats == POLICY.repeats
    asked = {stage: spec.original_repeats for stage, spec in specs.items()}
    assert asked == {"screening": None, "race": 0, "confirmation": POLICY.repeats}
    last = specs["confirmation"]
    assert last.stop_early
    assert last.confirmation_error == share_error(1)
    assert last.must_keep == {"links": 0.2}
    assert describe_outcome(progress)["error"] == share_error(1)
    assert "may leave under the policy House: confirmed on new splits" in describe_headline(
        progress
    )


def test_cells_that_trials_share_are_counted_once(graph):
    audits = FakeAudits(graph)
    progress = run_search(audits, make_request(graph))
    cells = {
        (spec.root_seed, release)
        for spec, _, view in audits.audits.values()
        for release in view.cells.release
    }
    assert progress.cpu_seconds == 2.0 * len(cells)


def test_a_stopped_search_goes_on_to_the_same_result(graph):
    request = make_request(graph)
    whole = run_search(FakeAudits(graph), request)
    audits = FakeAudits(graph, slow=2)
    stopped = run_search(audits, request, watch=lambda _progress: False)
    assert stopped.search.state == "undecided"
    assert stopped.stopped == "it was stopped"
    assert audits.cancelled == ["a2"]
    assert stopped.current == "a2"
    assert read_search(audits, request).current is not None
    resumed = run_search(audits, request)
    assert describe(resumed) == describe(whole)
    assert describe(read_search(audits, request)) == describe(whole)
    assert len(audits.audits) == len(whole.audits), "no trial was started twice"


def test_a_search_that_leaves_a_defense_out_for_time_can_go_on(graph, monkeypatch):
    monkeypatch.setattr(
        ladders.TimeModel, "predict", lambda _model, task: 40.0 if "rewiring" in str(task) else 0.0
    )
    request = make_request(graph)

    audits = FakeAudits(graph, lambda _strength: 0.9)
    short = run_search(audits, request, within=900.0)
    assert short.is_over
    assert short.search.state == "undecided"
    assert [each.title for each in short.search.list_left_out()] == ["Random rewiring"]
    headline = describe_headline(short)
    assert "Random rewiring would take longer than the time to spend. None of" in headline
    assert read_search(audits, request).search.list_left_out(), "a page says the same"
    first = len(audits.audits)
    long = run_search(audits, request)
    assert long.search.state == "none_passes"
    assert len(audits.audits) > first
    assert long.audits[:first] == short.audits, "nothing is audited twice"
    again = run_search(audits, request, within=900.0)
    assert not again.search.list_left_out(), "it had more time before"


def test_a_search_that_goes_on_confirms_others_on_splits_and_an_error_of_their_own(
    graph, monkeypatch
):
    """It chose among more ladders, and had the splits and the share of the first one."""
    monkeypatch.setattr(
        ladders.TimeModel, "predict", lambda _model, task: 40.0 if "deletion" in str(task) else 0.0
    )
    request, audits = make_request(graph), FakeAudits(graph)
    short = run_search(audits, request, within=900.0)
    assert short.search.state == "confirmed"
    (told,) = [text for text in list_facts(short) if text.startswith("Not tried, since it would")]
    assert "longer than the time to spend: Random deletion. With more time" in told
    long = run_search(audits, request)
    confirmed = [
        (spec.root_seed, spec.confirmation_error)
        for spec, mark, _ in audits.audits.values()
        if mark["stage"] == "confirmation"
    ]
    assert [error for _, error in confirmed] == [share_error(1), share_error(2)]
    assert len({seed for seed, _ in confirmed}) == 2
    assert long.confirmations == read_search(audits, request).confirmations == [2]
    assert not any(text.startswith("Not tried") for text in list_facts(long))


def test_nothing_is_started_once_the_time_is_over(graph):
    audits = FakeAudits(graph)
    progress = run_search(audits, make_request(graph), within=0.0)
    assert not audits.audits
    assert progress.stopped == "the time was over"
    assert describe_headline(progress) == "Not decided, since the time was over."


@pytest.mark.parametrize(
    ("stage", "place", "by"),
    [
        ("race", 0, "quick attackers"),
        ("race", 1, "quick attackers"),
        ("confirmation", 0, "the attackers that the policy requires"),
    ],
)
def test_what_is_within_the_limits_is_told_before_it_is_confirmed(graph, stage, place, by):
    """And nothing of what would have to be given up, since nothing is decided. Before the costliest
    attackers of the race have met a release, those that the policy requires have not."""
    policy = POLICY.model_copy(update={"effort": "seconds"})
    request = make_request(graph, {"links": 0.7}, policy)

    def make_audits(slow=None):
        return FakeAudits(graph, lambda strength: 0.75 - 0.3 * strength, slow)

    whole = make_audits()
    run_search(whole, request)
    stages = [mark["stage"] for _, mark, _ in whole.audits.values()]
    slow = stages.index(stage) + place
    assert stages[slow] == stage
    progress = run_search(make_audits(slow), request, watch=lambda _progress: False)
    assert not progress.is_over
    (told,) = list_facts(progress)
    assert told.startswith(f"Within the limits so far, by {by} and not confirmed: Random")
    shares = [int(share) for share in re.findall(r"keeps (\d+) % of the links \(F1\)", told)]
    last = {"race": "screening", "confirmation": "race"}[stage]
    found = [one for (where, _), one in progress.search.measured.items() if where == last]
    assert len(shares) == sum(one.is_within and one.keeps(request.useful) for one in found) > 0
    assert min(shares) >= 70
    assert shares == sorted(shares, reverse=True)
    assert not list_facts(run_search(make_audits(), request, within=0.0))


def test_a_trial_is_stopped_once_the_time_is_over(graph):
    audits = FakeAudits(graph, slow=0)
    progress = run_search(audits, make_request(graph), within=0.3)
    assert audits.cancelled == ["a0"]
    assert progress.stopped == "the time was over"
    assert run_search(audits, make_request(graph)).is_over


def test_a_repeated_search_draws_new_splits_and_takes_a_smaller_share(graph):
    audits, first = FakeAudits(graph), make_request(graph)
    run_search(audits, first)
    second = make_request(graph, {"links": 0.3})
    progress = run_search(audits, second)
    assert progress.number == 2
    assert first.id != second.id
    seeds = {
        mark["id"]: spec.root_seed
        for spec, mark, _ in audits.audits.values()
        if mark["stage"] == "confirmation"
    }
    assert len(set(seeds.values())) == 2
    assert any("confirmation is number 2 on this graph" in text for text in list_facts(progress))
    assert [one.id for one in list_requests(audits, graph.content_hash)] == [second.id, first.id]
    assert read_search(audits, first).number == 1


def test_without_a_release_it_says_what_stands_in_the_way(graph):
    progress = run_search(
        FakeAudits(graph, lambda strength: 0.95 - 0.1 * strength), make_request(graph)
    )
    assert progress.search.state == "none_passes"
    found = describe_outcome(progress)
    assert found["recommended"] is None
    assert found["binding"]["name"] == "auc"
    assert found["binding"]["state"] == "exceeded"
    assert found["binding"]["value"] > 0.8
    assert found["nearest"]["auc"].endswith("strength=0.9")
    assert "comes nearest. AUC" in describe_headline(progress)
    facts = " ".join(list_facts(progress))
    assert "In the way stand attackers who find withheld links." in facts
    assert "statistics with node-level" in facts
    assert {row["State"] for row in list_rows(progress)} == {
        "Exceeds a limit at every strength", "Exceeds a limit"
    }  # fmt: skip


def test_what_would_have_to_be_given_up_is_told(graph):
    progress = run_search(FakeAudits(graph), make_request(graph, {"links": 0.95}))
    assert progress.search.state == "none_passes"
    (text,) = [t for t in list_facts(progress) if t.startswith("The most useful release within")]
    assert "keeps 78 % of the links (F1); 95 % of the links (F1) was asked for" in text


def test_coarser_columns_are_proposed_where_the_columns_alone_exceed_a_limit(graph):
    city = NodeColumn.from_values("city", ["a"] * graph.num_nodes)
    graph = graph.with_attributes({"city": city})

    def propose(is_over, **fields):
        progress = run_search(FakeAudits(graph), make_request(graph, **fields))
        ladder = Ladder((MethodChoice.of(RandomDeletion(strength=1.0)),), has_links=False)
        dropped = EXCEEDS if is_over else ""
        progress.search.candidates.append(Candidate(ladder, dropped=dropped))
        return [text for text in list_facts(progress) if "shared by enough people" in text]

    assert len(propose(True)) == 1
    assert propose(False) == []
    assert len(propose(True, generalize=("city:rare=2",))) == 1
    assert propose(True, generalize=("city:shared=2",)) == []


def test_the_record_is_as_its_schema_says(graph):
    schema = json.loads((ROOT / "assets" / "schemas" / "search.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    for risk in (lambda s: 0.8 - 0.3 * s, lambda s: 0.95):
        found = describe_outcome(run_search(FakeAudits(graph, risk), make_request(graph)))
        jsonschema.validate(json.loads(json.dumps(found)), schema)
        assert set(found) == set(schema["required"])


@pytest.mark.parametrize(
    ("fields", "useful", "said"),
    [
        ({"policy": None}, {}, "search needs a policy"),
        ({}, {"size": 0.5}, "useful must be one of links, link_prediction"),
        ({}, {"links": 1.5}, "useful links must be a share between 0 and 1"),
        ({}, {"column": 0.5}, "useful column needs a utility column"),
        ({"test_links": 0.0}, {"link_prediction": 0.5}, "useful link_prediction needs links held"),
    ],
)
def test_requests_that_cannot_be_met_are_refused(graph, fields, useful, said):
    spec = {"graph_hash": graph.content_hash, "hide_links": 0.1} | {
        "policy": POLICY.model_dump(mode="json")
    }
    with pytest.raises(InputError, match=said):
        SearchRequest.check(AuditSpec.check_spec(spec | fields), useful, graph)


def test_people_are_looked_for_too(graph):
    assert make_request(graph).spec.threats.identity.seeds_known == 20
    asked = make_request(graph, identity={"seeds_known": 3})
    assert asked.spec.threats.identity.seeds_known == 3
    spec = make_request(graph).make_spec(run.Trial("screening", 0, ()), 1)
    assert {c.key for c in spec.attacks if c.kind == "identity_attack"} > {"degree", "random_match"}


def test_a_search_has_the_adaptive_attackers_that_the_policy_requires(graph):
    asks = POLICY.model_copy(update={"attackers": RequiredKnowledge(adaptive=True)})
    for policy, adaptive in ((POLICY, False), (asks, True)):
        request = make_request(graph, policy=policy)
        stages = {"screening": False, "race": adaptive, "confirmation": adaptive}
        for stage, runs in stages.items():
            spec = request.make_spec(run.Trial(stage, 0, ()), 1)
            assert spec.knowledge.adaptive == runs, stage


def list_ids(choices):
    return {choice.id for choice in choices}


def test_the_costliest_attackers_are_those_without_which_the_others_take_half_of_the_time():
    graph, policy = two_communities(), find_policy("partner")
    spec = make_request(graph, policy=policy, private="private").spec
    quick, required = list_ids(list_quick(spec)), list_ids(list_required(spec, policy))
    costly = list_ids(list_costly(spec, policy, graph))
    model, shape = TimeModel(()), Shape.of(graph)
    seconds = {name: model.predict(make_task("attack", name, shape)) for name in required}
    rest = required - costly
    assert costly
    assert costly < required
    assert not costly & quick
    assert min(seconds[name] for name in costly) >= max(seconds[name] for name in rest - quick)
    assert 2 * sum(seconds[name] for name in rest) <= sum(seconds.values())
    cheapest = min(seconds[name] for name in costly)
    assert 2 * (sum(seconds[name] for name in rest) + cheapest) > sum(seconds.values())
    assert list_costly(spec, find_policy("internal"), graph) == [], "all are the screening's"


def test_a_race_begins_without_the_costliest_attackers(graph):
    policy = POLICY.model_copy(update={"effort": "seconds"})
    request, audits = make_request(graph, policy=policy), FakeAudits(graph)
    run_search(audits, request)
    costly = list_ids(list_costly(request.spec, policy, graph))
    races = [spec for spec, mark, _ in audits.audits.values() if mark["stage"] == "race"]
    required = list_ids(list_required(request.spec, policy))
    assert [list_ids(spec.attacks) for spec in races] == [required - costly, required]
    assert races[0].defenses == races[1].defenses
    assert races[0].root_seed == races[1].root_seed, "so that no attacker runs twice"
    last = next(s for s, mark, _ in audits.audits.values() if mark["stage"] == "confirmation")
    assert list_ids(last.attacks) == required


SHIPPED = {policy.key: policy for policy in list_policies()}


def measure(policy, *, but=(), **figures):
    """A release with half of each limit of a policy, or these figures; limits have other names."""
    checks = [
        Check(
            limit=limit.model_copy(update={"name": f"own {k}"}),
            evidence=Evidence(figures.get(limit.name, limit.limit / 2), 0.0, 1.0),
        )
        for k, limit in enumerate(policy.limits)
        if limit.name not in but
    ]
    return Measured(parse_release("random_deletion"), tuple(checks), {"links": 0.9})


@pytest.mark.parametrize(
    ("found", "recipients"),
    [
        (measure(SHIPPED["public"]), {"public", "partner", "internal"}),
        (measure(SHIPPED["public"], links_auc=0.72), {"internal"}),
        (measure(SHIPPED["public"], links_auc=0.99), set()),
        (measure(SHIPPED["public"], but=["found"]), {"public", "partner", "internal"}),
        (measure(SHIPPED["public"], but=["links_1"]), set()),
        (measure(SHIPPED["public"], but=["links_01"]), {"public", "partner", "internal"}),
        (measure(POLICY, auc=0.99), set()),
        (measure(POLICY, auc=0.1), set()),
    ],
)
def test_another_recipients_limits_are_those_of_their_threat_and_metric(graph, found, recipients):
    """ "Within the limits of the policy public" was said of an AUC of 0.99, whose limit had another
    name there. Re-identification is not audited here."""
    spec = make_request(graph).spec.update(private="private", identity=None)
    request = SearchRequest(spec, {"links": 0.0})
    search = SimpleNamespace(measured={("race", "random_deletion"): found})
    told = find_recipients(SimpleNamespace(search=search, request=request))
    assert {key for key, release in told.items() if release is not None} == recipients
    assert list(told) == list(SHIPPED)


def test_what_some_attacks_reach_is_not_within_a_limit_on_all(graph):
    request = SearchRequest(make_request(graph).spec.update(identity=None), {"links": 0.0})
    whole = measure(SHIPPED["public"])
    some = [
        check.model_copy(update={"limit": check.limit.model_copy(update={"methods": ("katz",)})})
        for check in whole.checks
    ]
    search = SimpleNamespace(measured={("race", "x"): replace(whole, checks=tuple(some))})
    told = find_recipients(SimpleNamespace(search=search, request=request))
    assert set(told.values()) == {None}


def test_ladders_keep_to_the_policy_and_to_what_can_be_cleared():
    graph = two_communities()
    limits = (*POLICY.limits, Limit(name="e", threat="release", metric="epsilon_edge", limit=3,
                                    title="ε", source="s"))  # fmt: skip
    policy = POLICY.model_copy(update={"limits": limits})
    request = make_request(graph, policy=policy, defenses=[], private="private")
    ladders = build_ladders(request.spec, graph, policy)
    rungs = [[choice.make_defense() for choice in ladder.rungs] for ladder in ladders]
    epsilons = [[d.epsilon for d in each] for each in rungs if each[0].info.key == "edge_rand"]
    assert epsilons
    assert all(max(each) == each[0] == 3 for each in epsilons)
    assert not any(each[0].needs_links for each in rungs), "they need the links named"
    assert [each[0].info.key for each in rungs[:2]] == ["pseudonyms", "without_columns"]
    assert {ladder.has_columns for ladder in ladders} == {True, False}
    drawn = {each[0].info.key for each, ladder in zip(rungs, ladders, strict=True)
             if ladder.is_synthesis}  # fmt: skip
    assert drawn == {"priv_graph", "privdpr", "without_columns"}, "in both forms"
    twins = [{"key": "privdpr"}, {"key": "privdpr", "config": {"data_free": True}}]
    named = build_ladders(make_request(graph, defenses=twins).spec, graph, policy)
    assert not any(rung.config.get("data_free") for ladder in named for rung in ladder.rungs)
    pair = tuple(str(graph.node_ids[end]) for end in graph.edges[0])
    named = make_request(graph, defenses=[], hide_links=None, sensitive_links=[pair])
    keys = {ladder.rungs[0].key for ladder in build_ladders(named.spec, graph, POLICY)}
    assert "ppgsl" in keys


def test_shares_of_usefulness_are_of_the_originals():
    scores = {
        (ORIGINAL, "release", "link_prediction_auc"): 0.9,
        ("random_deletion", "release", "link_prediction_auc"): 0.7,
        ("random_deletion", "release", "link_f1"): 0.8,
        (ORIGINAL, "release", "node_classification_f1"): 0.8,
        ("random_deletion", "release", "node_classification_f1"): 0.6,
        ("random_deletion", "release", "mre_triangle_count"): 3.0,
        ("random_deletion", "release", "degree_ks"): 0.2,
    }
    view = make_audit(scores, ("katz",))
    kept = {
        n: compute_kept(view, "random_deletion", n)
        for n in ("links", "link_prediction", "column", "statistics")
    }
    assert kept == pytest.approx(
        {"links": 0.8, "link_prediction": 0.5, "column": 0.75, "statistics": 0.4}
    )
    assert compute_kept(view, ORIGINAL, "column") == 1.0
    assert compute_kept(view, ORIGINAL, "statistics") == 1.0
    found = measure_releases(view, POLICY, ["links"])
    assert found[ORIGINAL].score == 1.0
    assert found["random_deletion"].keeps({"links": 0.8})
    assert not found["random_deletion"].keeps({"links": 0.81})


def test_the_command_finds_a_release_and_goes_on_from_what_is_stored(
    tmp_path, audit_home, monkeypatch, capsys
):
    graph = two_communities()
    links, policy = tmp_path / "links.csv", tmp_path / "policy.json"
    lines = [f"{a},{b}" for a, b in graph.edges]
    links.write_text("\n".join(["source,target", *lines]))
    limit = POLICY.limits[0].model_copy(update={"limit": 1.0})
    house = POLICY.model_copy(update={"limits": (limit,)})
    policy.write_text(house.model_dump_json())
    monkeypatch.setattr(run, "MAX_REPEATS", 2)
    monkeypatch.setattr("core.search.ladders.STEPS", 2)
    words = f"search --graph {links} --policy {policy} --defense random_deletion"
    words += f" --useful links=0.2 --out {tmp_path}/out"
    assert command.main(words.split()) == 0
    found = json.loads((tmp_path / "out" / "search.json").read_text())
    assert found["recommended"] == "pseudonyms"
    assert found["state"] == "confirmed"
    assert "Pseudonyms" in capsys.readouterr().err
    again = command.main(words.split())
    same = json.loads((tmp_path / "out" / "search.json").read_text())
    assert (again, same) == (0, found), "nothing is computed twice"
    assert command.main(f"{words} --useful links".split()) == 2
    assert "MEASURE=SHARE" in capsys.readouterr().err
    for option in ("--repeats 2", "--stop-early", "--without-columns", "--no-data-independent"):
        assert command.main(f"{words} {option}".split()) == 2, "a search chooses it by itself"
        assert f"no such option; got {option.split()[0]}" in capsys.readouterr().err


def test_an_undecided_search_names_what_could_not_be_proven(graph, monkeypatch):
    class Wide(FakeAudits):
        def _make_view(self, audit_id, spec):
            view = super()._make_view(audit_id, spec)
            rows = view.results.assign(high=view.results.value + 0.2)
            return replace(view, results=rows)

    progress = run_search(Wide(graph), make_request(graph))
    assert progress.is_over
    assert progress.search.state == "undecided"
    text = describe_headline(progress)
    assert "as many as 30 splits would not prove it. AUC" in text
    assert "but its interval extends above it" in text
    assert len([t for t in progress.search.trials if t.stage == "confirmation"]) == 2

    monkeypatch.setattr(
        ladders.TimeModel, "predict", lambda _model, task: 40.0 if "rewiring" in str(task) else 0.0
    )
    text = describe_headline(run_search(Wide(graph), make_request(graph), within=900.0))
    assert text.startswith("Not decided: Random rewiring would take longer than the time to spend.")
    assert "as many as 30 splits would not prove it. AUC" in text


def test_splits_that_another_release_ended_are_not_said_to_be_too_few(graph):
    """Once any release may leave, the others have three more repeats, not all."""

    class StrongAlone(FakeAudits):
        def _make_view(self, audit_id, spec):
            view = super()._make_view(audit_id, spec)
            strengths = {choice.id: choice.make_defense().config for choice in spec.defenses}
            is_strong = [
                strengths.get(release, {}).get("strength", 0.0) > 0.7
                for release in view.results.release
            ]
            wide = view.results.value + np.where(is_strong, 0.0, 0.2)
            return replace(view, results=view.results.assign(high=wide))

    request = make_request(graph, {"links": 0.7})
    progress = run_search(StrongAlone(graph), request)
    assert progress.search.state == "undecided"
    text = describe_headline(progress)
    assert "came nearest, and it was not proven before a release that keeps too little" in text
    assert "would not prove" not in text
