"""Answers → an audit that can be run, with at most three defenses and a policy."""

from __future__ import annotations

from itertools import combinations

import pytest

from core.audit.presets import PRESETS
from core.audit.spec import AuditSpec
from core.findings.guide import (
    DEFENSES,
    RECIPIENTS,
    SECRETS,
    USES,
    Answers,
    choose_defenses,
    explain_preset,
    find_preset,
    make_fields,
)
from core.registry import find_method

SUBSETS = [c for k in range(1, 4) for c in combinations(SECRETS, k)]


@pytest.mark.parametrize("recipient", RECIPIENTS)
@pytest.mark.parametrize("secrets", SUBSETS)
def test_every_answer_makes_a_spec_of_what_was_asked(recipient, secrets):
    answers = Answers(
        recipient, secrets, ("values", "method", "links"), ("statistics",), "income", "age"
    )
    fields = make_fields(answers, find_preset("quick"))
    spec = AuditSpec.check_spec({"graph_hash": "x", **fields})
    assert spec.has_link_threat == ("links" in secrets)
    assert (spec.private is not None) == ("attribute" in secrets)
    assert (spec.identity is not None) == ("identity" in secrets)
    assert spec.policy["key"] == recipient
    assert 1 <= len(choose_defenses(answers)) <= 3
    assert spec.purpose["recipient"] == RECIPIENTS[recipient]
    kinds = {find_method(choice.key).kind for choice in spec.attacks}
    assert ("identity_attack" in kinds) == ("identity" in secrets)
    for advice in choose_defenses(answers):
        assert set(advice.secrets) & set(secrets)


def test_every_proposed_defense_exists_and_every_secret_and_use_has_one():
    for advice in DEFENSES:
        find_method(advice.defense.partition(":")[0], "defense")
    assert {s for a in DEFENSES for s in a.secrets} == set(SECRETS)
    assert {u for a in DEFENSES for u in a.uses} == set(USES)


def test_only_the_kept_defenses_are_tried():
    fields = make_fields(Answers(), PRESETS[0], ["random_rewiring"])
    assert [choice.key for choice in fields["defenses"]] == ["random_rewiring"]
    assert make_fields(Answers(), PRESETS[0], [])["defenses"] == []


def test_a_quick_look_cannot_clear_for_the_public():
    assert "not clear" in explain_preset(find_preset("quick"), "public")
    assert explain_preset(find_preset("thorough"), "public").startswith("Can clear")
    assert explain_preset(find_preset("quick"), "internal").startswith("Can clear")
