"""Attackers who know less than the policy requires clear nothing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from core.audit.asked.answers import choose_seeds
from core.audit.asked.presets import PRESETS
from core.defenses.external import EXTERNAL, External
from core.defenses.random_deletion import RandomDeletion
from core.findings.guide import can_clear
from core.findings.policy import check_policy, find_policy, list_policies
from core.findings.recipient import RECIPIENTS, explain_lax_policy
from core.findings.required_knowledge import RequiredKnowledge, list_less_known, measure_overlap
from core.findings.verdict import judge
from core.graph import Graph
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
        ({"overlap": 0.5}, "second graph has 50 % of the links; the policy requires 90 %"),
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
