"""Answers → an audit that can be run, with at most four defenses that can run, and a policy."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from core.audit.asked.answers import HIDDEN_SHARE, Answers, choose_seeds, find_obstacle, make_fields
from core.audit.asked.method_choice import MethodChoice
from core.audit.asked.presets import PRESETS, SETTING, Preset
from core.audit.asked.spec import AuditSpec
from core.data.second_graph import draw_identity_threat
from core.data.splits import draw_threats
from core.defenses.dice import Dice
from core.errors import InputError
from core.findings.guide import (
    SECRETS,
    USES,
    choose_defenses,
    describe_preset,
    describe_recipient,
    describe_spec,
    explain_preset,
    list_suggested,
    propose_changes,
)
from core.findings.policy import find_policy
from core.findings.recipient import RECIPIENTS
from core.findings.verdict import judge
from core.graph import Graph
from core.methods import Suggestion
from core.node_column import NodeColumn
from core.registry import find_method
from core.release import ORIGINAL
from core.seeding import Seed
from tests.oracles.audits import UNREHEARSED, list_attack_keys, make_audit, make_noise
from tests.oracles.graphs import two_communities

QUICK, _, THOROUGH = PRESETS

SUBSETS = [c for k in range(1, 4) for c in combinations(SECRETS, k)]
LEARNED = {"ppgsl", "gps_sampling", "netfense", "blink", "privdpr"}


def choose(graph: Graph | None = None, **answers) -> list[str]:
    said = Answers(**{"private": "private", "utility": "label", **answers})
    return [a.defense for a in choose_defenses(said, graph or two_communities())]


@pytest.mark.parametrize("recipient", RECIPIENTS)
@pytest.mark.parametrize("secrets", SUBSETS)
def test_every_answer_makes_a_spec_of_what_was_asked(recipient, secrets):
    answers = Answers(
        recipient, secrets, ("values", "method", "links"), ("statistics",), "private", "label"
    )
    proposed = choose_defenses(answers, two_communities())
    fields = make_fields(answers, QUICK, [advice.defense for advice in proposed])
    fields |= describe_recipient(answers)
    spec = AuditSpec.check_spec({"graph_hash": "x", **fields})
    assert spec.threats.has_links == ("links" in secrets)
    assert (spec.threats.private is not None) == ("attribute" in secrets)
    assert (spec.threats.identity is not None) == ("identity" in secrets)
    assert spec.policy["key"] == recipient
    assert spec.purpose["recipient"] == RECIPIENTS[recipient]
    kinds = {find_method(choice.key).kind for choice in spec.attacks}
    assert ("identity_attack" in kinds) == ("identity" in secrets)
    assert 1 <= len(proposed) <= 4
    for advice in proposed:
        assert set(advice.secrets) & set(secrets)


@pytest.mark.parametrize("recipient", RECIPIENTS)
@pytest.mark.parametrize("secrets", SUBSETS)
@pytest.mark.parametrize("uses", [("links",), ("column",), ("statistics",)])
def test_every_proposal_supports_threats_as_an_audit_draws_them(recipient, secrets, uses):
    """With a private column alone DICE was ticked, which cannot run without sensitive links."""
    graph = two_communities()
    threats = draw_threats(
        graph,
        private="private" if "attribute" in secrets else None,
        hide_links=0.1 if "links" in secrets else None,
        seed=Seed(1),
    )
    for text in choose(recipient=recipient, secrets=secrets, uses=uses):
        defense = MethodChoice.parse(text, "defense").make("defense")
        assert defense.supports(threats.visible, threats) is None, text


def test_what_its_supports_refuses_is_not_proposed(monkeypatch):
    """DICE was ticked for a private column alone, and everything for it was skipped."""
    dice = Suggestion(1, ("links", "attribute"), tuple(USES), "takes links away")
    monkeypatch.setattr("core.findings.guide.list_suggested", lambda: [(Dice, dice)])
    assert choose(secrets=("attribute",)) == []
    assert choose(secrets=("links", "attribute")) == ["dice"]


@pytest.mark.parametrize("recipient", RECIPIENTS)
def test_no_proposal_promises_more_than_the_policy_allows(recipient):
    """For anybody EdgeRand with ε = 3 was ticked, where that policy allows 1 at most."""
    caps = {limit.name: limit.limit for limit in find_policy(recipient).limits}
    caps_of = {method.info.key: s.limit for method, s in list_suggested() if s.limit}
    seen = set()
    for secrets in SUBSETS:
        for uses in USES:
            for text in choose(recipient=recipient, secrets=secrets, uses=(uses,)):
                choice = MethodChoice.parse(text, "defense")
                if choice.key in caps_of:
                    twice = choice.make("defense").is_reported_twice
                    received = choice.config["epsilon"] * (2 if twice else 1)
                    assert received <= caps[caps_of[choice.key]]
                    seen.add(choice.key)
    assert seen


def test_the_learned_defenses_are_proposed_where_their_threat_is_chosen():
    found = set()
    for recipient in RECIPIENTS:
        for secrets in SUBSETS:
            for use in USES:
                texts = choose(recipient=recipient, secrets=secrets, uses=(use,))
                found |= {text.partition(":")[0] for text in texts}
                assert texts[0].partition(":")[0] in LEARNED
    assert found >= LEARNED
    assert "gps_sampling" in choose(secrets=("attribute",))
    assert "ppgsl" in choose(secrets=("links",), recipient="internal", uses=("links",))


def test_what_takes_too_long_or_drowns_the_graph_is_not_proposed():
    rng = np.random.default_rng(0)
    large = Graph.from_pairs(rng.integers(0, 300_000, (2_000_000, 2)), 300_000)
    answers = {"secrets": ("links",), "private": None, "utility": None}
    keys = {text.partition(":")[0] for text in choose(large, **answers)}
    assert keys
    assert not keys & {"privdpr", "edge_rand"}


def test_every_secret_and_use_has_a_suggested_defense_and_none_is_inherited():
    found = list_suggested()
    assert all(len(suggestion.reason.split()) <= 25 for _, suggestion in found)
    assert [suggestion.place for _, suggestion in found] == list(range(1, len(found) + 1))
    assert {secret for _, s in found for secret in s.secrets} == set(SECRETS)
    assert {use for _, s in found for use in s.uses} == set(USES)
    for _, suggestion in found:
        assert set(suggestion.recipients) <= set(RECIPIENTS)


def test_only_the_kept_defenses_are_tried():
    fields = make_fields(Answers(), PRESETS[0], ["random_rewiring"])
    assert [choice.key for choice in fields["defenses"]] == ["random_rewiring"]
    assert make_fields(Answers(), PRESETS[0], [])["defenses"] == []
    both = make_fields(Answers(), PRESETS[0], ["priv_graph:epsilon=1"])["defenses"]
    assert [choice.config.get(SETTING) for choice in both] in ([False, True], [None])


def test_an_audit_without_the_guide_says_who_wants_what():
    view = make_audit(make_noise((ORIGINAL,), ["katz"]), ["katz"], ())
    partner = find_policy("partner")
    said = describe_spec(view.spec, partner)
    assert said == {
        "knowledge": "Some of the private values",
        "secrets": "Who is linked to whom, the column private",
    }  # nobody named a policy for it, so nobody said who receives it
    named = view.spec.model_copy(update={"policy": partner.model_dump(mode="json")})
    assert describe_spec(named, partner) == {**said, "recipient": partner.title}
    spec = view.spec.update(private=None, released_links=True, adaptive=True)
    said = describe_spec(spec, find_policy("partner"))
    assert said["secrets"] == "Who is linked to whom"
    assert said["knowledge"].startswith("How the graph was defended, that some published links")


def test_named_links_are_kept_and_what_needs_them_says_so():
    named = (("a", "b"),)
    answers = Answers("partner", ("links",), uses=("links",), named_links=named)
    fields = make_fields(answers, QUICK, [])
    assert (fields["sensitive_links"], fields["hide_links"]) == (named, None)
    drawn = make_fields(Answers(secrets=("links",)), QUICK, [])
    assert (drawn["sensitive_links"], drawn["hide_links"]) == (None, 0.1)
    for said, is_asked in ((answers, False), (replace(answers, named_links=()), True)):
        advice = {a.defense: a.reason for a in choose_defenses(said, two_communities())}
        assert advice["ppgsl"].endswith("name the sensitive links on the Data page") == is_asked
        others = [r for key, r in advice.items() if key not in ("ppgsl", "dice")]
        assert not any("Data page" in reason for reason in others)


def test_what_could_change_the_decision():
    attacks = list_attack_keys("instant")
    names = (ORIGINAL, "random_deletion")
    graph, public = two_communities(), UNREHEARSED
    view = make_audit(make_noise(names, attacks), attacks)
    verdict = judge(view, public)
    found = propose_changes(view, verdict, graph)
    assert [p.key for p in found if isinstance(p.of, Preset)] == ["thorough"]
    defenses = [p.key for p in found if isinstance(p.of, MethodChoice)]
    assert defenses
    assert not any(key.startswith("random_deletion") for key in defenses)
    everything = list_attack_keys()
    clear = make_audit(make_noise(names, everything), everything)
    assert propose_changes(clear, judge(clear, public), graph) == []


def test_a_preset_is_described_with_the_adaptive_attacks_that_run():
    """ "Thorough: every attack, adaptive ones too", as if the others had none, while every preset
    runs them where the answer "How the graph was defended" is ticked."""
    defenses = ["random_deletion"]
    for knowledge, adaptive in (((), [THOROUGH]), (("method",), list(PRESETS))):
        answers = Answers(knowledge=knowledge)
        for preset in PRESETS:
            assert make_fields(answers, preset, defenses)["adaptive"] == (preset in adaptive)
            told = describe_preset(preset, answers, defenses)
            assert ("adaptive ones too" in told) == (preset in adaptive)
            assert told.endswith(f", {preset.num_repeats} repeats")
            assert "adaptive" not in describe_preset(preset, answers, [])


def test_no_reason_speaks_of_a_secret_that_was_not_asked_for():
    """Rewiring was proposed "so that neighbours reveal less about private values" without any."""
    for _, suggestion in list_suggested():
        if set(suggestion.secrets) != {"attribute"}:
            assert "private value" not in suggestion.reason


def test_a_quick_look_cannot_clear_for_the_public():
    sought, clears = ("links", "identity"), "Can clear a release for this recipient."
    assert "not clear" in explain_preset(QUICK, Answers("public", sought))
    assert explain_preset(THOROUGH, Answers("public", sought)) == clears
    assert explain_preset(QUICK, Answers("internal", sought)) == clears
    assert "only if" in explain_preset(QUICK, Answers("internal", ("links",)))


@pytest.mark.parametrize(
    ("secrets", "values", "links", "word"),
    [
        (("attribute",), ["a"] * 30, 100, "private column"),
        (("attribute",), [f"v{k}" for k in range(30)], 100, "private column"),
        (("attribute", "links"), ["a", "b"] * 15, 4, "too few links"),
        (("attribute", "links"), ["a", "b"] * 15, 100, ""),
        (("identity",), ["a", "b"] * 15, 1, ""),
        (("identity",), ["a", "b"] * 15, 100, ""),
    ],
)
def test_the_guide_says_why_no_audit_can_start(secrets, values, links, word):
    """The obstacle is named exactly where drawing the first repeat's threats fails."""
    pairs = np.stack(np.triu_indices(30, 1), axis=1)[:links]
    column = NodeColumn.from_values("private", values)
    graph = Graph.from_pairs(pairs, 30, attributes={"private": column})
    said = Answers("partner", secrets, private="private", seeds_known=choose_seeds(graph))
    obstacle = find_obstacle(said, graph)
    assert word in obstacle
    assert bool(obstacle) == bool(word)
    share = HIDDEN_SHARE if "links" in secrets else None
    expected = pytest.raises(InputError) if word else nullcontext()
    with expected:
        draw_threats(graph, Seed(0), private="private", hide_links=share)
        if "identity" in secrets:
            spec = AuditSpec.check_spec({"graph_hash": "x", **make_fields(said, QUICK, [])})
            draw_identity_threat(graph, Seed(0), num_seeds=spec.threats.identity.seeds_known)


def test_seeds_are_at_most_half_of_the_people_with_links():
    assert choose_seeds(two_communities()) == 20
    star = Graph.from_pairs(np.array([[0, 1], [0, 2], [0, 3], [0, 4]]), 50)
    assert choose_seeds(star) == 2
    empty = Graph.from_pairs(np.empty((0, 2)), 5)
    assert choose_seeds(empty) == 0
    assert "no links" in find_obstacle(Answers(secrets=("identity",)), empty)
