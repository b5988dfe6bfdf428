"""Attackers who know less than the policy requires clear nothing."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from core.audit.asked.answers import choose_seeds
from core.audit.asked.presets import PRESETS
from core.audit.results.provenance import describe_versions
from core.audit.store.states import State
from core.data.warnings import find_warnings, warn_of_several
from core.defenses.external import EXTERNAL, External
from core.defenses.random_deletion import RandomDeletion
from core.findings.evidence import OUTDATED
from core.findings.guide import can_clear
from core.findings.policy import check_policy, find_policy, list_policies
from core.findings.recipient import RECIPIENTS, explain_lax_policy
from core.findings.required_knowledge import RequiredKnowledge, list_less_known, measure_overlap
from core.findings.verdict import judge
from core.graph import Graph
from core.node_column import NodeColumn
from core.release import ORIGINAL
from core.words import format_percent
from tests.oracles.audits import UNREHEARSED, list_attack_keys, make_audit, make_noise
from tests.oracles.graphs import two_communities

ROOT = Path(__file__).parents[2]
RELEASE = "random_deletion"


KEYS = list_attack_keys()
VIEW = make_audit(make_noise((ORIGINAL, RELEASE), KEYS), KEYS)


def decide(policy=UNREHEARSED, release=RELEASE, **fields):
    """Decision and what it lacks of an audit in which everybody guesses."""
    found = judge(replace(VIEW, spec=VIEW.spec.update(**fields)), policy).find(release)
    return found.decision, " ".join(found.untried)


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        (
            {"known": 0.01},
            "know 1 % of the private values, drawn from each class; the policy requires 10 %",
        ),
        ({"known": 0.1, "wrong_values": 0.5}, "know 5 % of the private values"),
        ({"known_people": ("n1", "n2", "n3", "n4", "n5")}, "know none of the private values"),
        ({"known": 0.5, "known_spread": "community"}, "know none of the private values, drawn"),
        ({"known": 0.5, "known_spread": "degree"}, "know none of the private values, drawn"),
        ({"hide_links": 0.6, "test_links": 0.0}, "saw 40 % of the links"),
        ({"hide_links": 0.1, "test_links": 0.4}, "saw 50 % of the links"),
        ({"evaluation": "degree_matched"}, "with pairs with the same degrees"),
        ({"evaluation": "distance_2"}, "with pairs with common neighbours"),
    ],
)
def test_attackers_who_know_less_clear_nothing(fields, told):
    assert decide() == ("publish", "")
    decision, lacks = decide(**fields)
    assert decision == "review"
    assert told in lacks


@pytest.mark.parametrize("fields", [{"known": 0.5}, {"hide_links": 0.05}, {"test_links": 0.0}])
def test_attackers_who_know_more_do(fields):
    assert decide(**fields) == ("publish", "")


def list_lacks(graph=None, **fields):
    """What attackers know less on the original."""
    view = replace(VIEW, spec=VIEW.spec.update(**fields))
    if graph is not None:
        view = replace(view, load_graph=lambda: graph)
    return list_less_known(view, RequiredKnowledge(), defense=None)


@pytest.mark.parametrize(
    ("known", "told"),
    [
        (
            {"overlap": 0.5},
            "second graph has 50 % of the links, wrong ones deducted; the policy requires 90 %",
        ),
        ({"overlap": 0.9, "noise": 0.2}, "second graph has 70 % of the links"),
        ({"seeds_known": 3}, "had found 3 people; the policy requires 20"),
    ],
)
def test_those_who_look_for_people_know_enough_of_them(known, told):
    assert list_lacks(identity={}) == []
    (lacks,) = list_lacks(identity=known)
    assert told in lacks


def test_a_graph_of_the_analyst_has_the_overlap_that_it_has():
    """Counted link by link; its nodes are in another order, and one is nobody's."""
    graph, rng = two_communities(), np.random.default_rng(0)
    links = {tuple(sorted(pair)) for pair in graph.edges.tolist()}
    ids, order = graph.node_ids, rng.permutation(graph.num_nodes)
    for share, lacking in ((0.95, False), (0.5, True)):
        kept = [pair for pair in sorted(links) if rng.random() < share]
        place = {old: new for new, old in enumerate(order.tolist())}
        pairs = np.array([[place[a], place[b]] for a, b in kept] + [[0, graph.num_nodes]])
        names = (*(ids[old] for old in order), "nobody")
        second = Graph.from_pairs(pairs, node_ids=names)
        view = replace(VIEW, load_second_graph=lambda second=second: second)
        assert measure_overlap(view) == pytest.approx(len(kept) / len(links))
        spec = VIEW.spec.update(identity={"auxiliary_graph": "x"})
        found = list_less_known(replace(view, spec=spec), RequiredKnowledge(), defense=None)
        assert [text for text in found if "second graph has" in text] == found
        assert bool(found) == lacking


def test_wrong_links_of_a_given_second_graph_weaken_it():
    """Of the people of both graphs: who knows more people than the graph has errs on none of it."""
    graph, rng = two_communities(), np.random.default_rng(0)
    links = {tuple(pair) for pair in np.sort(graph.edges, axis=1).tolist()}
    others = [pair for pair in combinations(range(graph.num_nodes), 2) if pair not in links]
    for wrong in (0, 7, len(others)):
        drawn = [others[i] for i in rng.choice(len(others), wrong, replace=False)]
        strangers = [(0, graph.num_nodes), (graph.num_nodes, graph.num_nodes + 1)]
        names = (*graph.node_ids, "nobody", "none")
        second = Graph.from_pairs(np.array([*links, *drawn, *strangers]), node_ids=names)
        view = replace(VIEW, load_second_graph=lambda second=second: second)
        assert measure_overlap(view) == pytest.approx(1 - wrong / len(links))


@pytest.mark.parametrize(
    ("fields", "left"),
    [
        ({"hide_links": 0.2, "test_links": 0.2}, 0.6),
        ({"hide_links": 0.1, "test_links": 0.1, "control": 0.25}, 0.8 * 0.75),
        ({"hide_links": None, "test_links": 0.4, "control": 0.4}, 0.6),  # nothing is withheld
        ({"hide_links": 0.1, "test_links": 0.1, "held_back_links": "half"}, 0.4),
        ({"hide_links": None, "sensitive_links": "half", "test_links": 0.2}, 0.6),
    ],
)
def test_links_that_attackers_did_not_see(fields, left):
    """Held back by name, of control nodes, or beside named ones, which are never published."""
    graph = VIEW.load_graph()
    half = [tuple(graph.node_ids[i] for i in pair) for pair in graph.edges[::2].tolist()]
    named = {key: half if value == "half" else value for key, value in fields.items()}
    (lacks,) = list_lacks(**named)
    share = int(re.search(r"saw (\d+) % of the links", lacks)[1])
    assert share == pytest.approx(100 * left, abs=1.5)
    assert ("of the people at stake" in lacks) == ("control" in fields)


def test_a_small_graph_has_fewer_people_who_are_found_already():
    """As many as the guide proposes for it."""
    graph = two_communities(20)
    seeds = choose_seeds(graph)
    assert 0 < seeds < 20
    assert list_lacks(graph, identity={"seeds_known": seeds}) == []
    (lacks,) = list_lacks(graph, identity={"seeds_known": seeds - 1})
    assert lacks.endswith(f"requires {seeds}")


def test_others_with_knowledge_of_their_own_count():
    for fields in ({"known": 0.01}, {"known_spread": "community"}, {"known_people": ("n1",)}):
        assert list_lacks(**fields, auxiliary_known=(0.2,)) == []
        assert list_lacks(**fields, auxiliary_known=("community:0.2",)) != []
    (lacks,) = list_lacks(known=0.01, auxiliary_known=(0.2,), wrong_values=0.6)
    assert "know 8 % of" in lacks


def test_without_withheld_links_none_are_held_back():
    assert list_lacks(hide_links=None, test_links=0.45) == []


def test_the_public_is_taken_to_know_the_defense():
    public = find_policy("public")
    assert decide(public) == ("review", "No adaptive attacker ran; the policy requires them")
    assert decide(public, ORIGINAL) == ("publish", "")
    assert "No adaptive" not in decide(public, adaptive=True)[1]
    assert not find_policy("partner").attackers.adaptive


def test_nobody_gains_by_knowing_a_release_without_the_data():
    independent = "gap:data_free=True"
    view = make_audit(make_noise((ORIGINAL, independent), KEYS), KEYS, (independent,))
    assert judge(view, find_policy("public")).find(independent).decision == "publish"


def test_nobody_can_rehearse_what_made_a_release_elsewhere():
    elsewhere = {"external_release": "0" * 64, "num_repeats": 1}
    spec = VIEW.spec.update(defenses=({"key": EXTERNAL},), hide_links=None, **elsewhere)
    required = RequiredKnowledge(adaptive=True)
    assert list_less_known(replace(VIEW, spec=spec), required, External()) == []
    assert list_less_known(VIEW, required, RandomDeletion()) != []


def test_a_policy_may_ask_for_less_and_is_said_to_be_laxer():
    public = find_policy("public")
    recipient = {"recipient": RECIPIENTS["public"]}
    assert explain_lax_policy(recipient, public) == ""
    for name, less in (("values", 0.01), ("links", 0.1), ("overlap", 0.5), ("seeds", 0)):
        fields = public.model_dump(mode="json")
        fields["attackers"][name] = less
        told = explain_lax_policy(recipient, check_policy(fields))
        assert told.endswith("attackers may know less."), name
    fields = public.model_dump(mode="json") | {"attackers": {}}
    assert "attackers may know less" in explain_lax_policy(recipient, check_policy(fields))
    assert decide(check_policy(fields), known=0.1) == ("publish", "")


def test_a_preset_can_clear_with_the_attackers_that_the_policy_requires():
    asked = find_policy("internal").model_dump(mode="json") | {"attackers": {"adaptive": True}}
    clears = [preset.key for preset in PRESETS if can_clear(preset, check_policy(asked))]
    assert clears == ["thorough"]


def test_the_help_names_what_the_shipped_policies_require():
    told = (ROOT / "assets" / "help" / "policies.md").read_text()
    for required in (policy.attackers for policy in list_policies()):
        for said in (
            f"know {format_percent(required.values)} of the private values",
            f"at most {format_percent(1 - required.links)} of the links",
            f"second graph has {format_percent(required.overlap)} of the links",
            f"{required.seeds} people in it are found",
        ):
            assert said in told


def test_an_attack_that_failed_in_some_repeats_clears_nothing():
    """It may fail where it would have found somebody; other releases' failures do not count."""
    assert decide() == ("publish", "")
    for release, decision in ((RELEASE, "review"), (ORIGINAL, "publish")):
        rows = [("attack", release, KEYS[0], seed, "failed") for seed in (6, 7)]
        rows += [
            ("attack", RELEASE, KEYS[0], 5, "cancelled"),
            ("publish", RELEASE, "", 4, "failed"),
        ]
        cells = pd.DataFrame(rows, columns=["kind", "release", "method", "seed", "state"])
        found = judge(replace(VIEW, cells=cells), UNREHEARSED).find(RELEASE)
        assert found.decision == decision
        told = f"{VIEW.get_attack(KEYS[0]).title} did not finish in 2 repeats; resume the audit"
        assert list(found.untried) == [told] * (decision == "review")


def test_results_of_earlier_versions_clear_nothing():
    """A version is raised where an attack has become stronger; of other methods it says nothing."""
    today = describe_versions(VIEW.spec)
    one = KEYS[0].partition(":")[0]
    old = {"method_versions": {**today["method_versions"], one: 0}}
    for record, decision in (
        (today, "publish"),
        ({"created": "2025"}, "publish"),
        ({"method_versions": {"a method of another audit": 0}}, "publish"),
        (old, "review"),
        ({"results_version": today["results_version"] - 1}, "review"),
    ):
        found = judge(replace(VIEW, provenance=record), UNREHEARSED).find(RELEASE)
        assert found.decision == decision
        assert list(found.untried) == [OUTDATED] * (decision == "review")


@pytest.mark.parametrize(
    ("values", "several"),
    [
        (("asthma;hiv", "hiv", "asthma", "none"), True),
        (("a|b", "b|c", "a | c"), True),
        (("red", "green", "blue"), False),
        (("a;b", "c;d", "e;f"), False),  # no part comes again: names of classes
        (("a;b", "a;c", "a;d"), False),  # one does: a prefix
        (("x;1", "x;2", "y;1", "rest", "other", "y"), True),
    ],
)
def test_cells_of_several_values_clear_nothing(values, several):
    """Each combination is a class, over which people who share one value are spread."""
    graph = VIEW.load_graph()
    cells = [values[i % len(values)] for i in range(graph.num_nodes)]
    column = NodeColumn.from_values("private", cells)
    graph = graph.with_attributes({"private": column})
    assert bool(list(warn_of_several(column))) == several
    warned = " ".join(find_warnings(graph, None, "private", None))
    assert ("hold several values" in warned) == several
    found = judge(replace(VIEW, load_graph=lambda: graph), UNREHEARSED).find(RELEASE)
    assert found.decision == ("review" if several else "publish")
    assert any("a column of its own" in text for text in found.untried) == several


@pytest.mark.parametrize(
    ("state", "told"),
    [("running", "still runs"), ("cancelled", "fewer repeats"), ("interrupted", "resume it")],
)
def test_an_audit_that_did_not_end_clears_nothing(state, told):
    """Whoever may stop at the repeat that pleases chooses the result."""
    view = replace(VIEW, summary=replace(VIEW.summary, state=State(state)))
    found = judge(view, UNREHEARSED).find(RELEASE)
    assert found.decision == "review"
    (lacks,) = found.untried
    assert told in lacks
