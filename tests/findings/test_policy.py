"""Policies as data: the shipped ones are sound, a file is checked in one line."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest

from core.errors import InputError
from core.findings.policy import find_policy, list_policies, load_policy


def test_three_are_shipped_and_each_is_milder_than_the_one_before():
    policies = list_policies()
    assert [policy.key for policy in policies] == ["public", "partner", "internal"]
    for strict, mild in pairwise(policies):
        limits = {limit.name: limit.limit for limit in mild.limits}
        assert all(limit.limit < limits[limit.name] for limit in strict.limits)
        assert set(mild.allowed_costs) <= set(strict.allowed_costs)


def test_every_shipped_limit_names_its_source():
    for policy in list_policies():
        assert "not law" in policy.summary
        for limit in policy.limits:
            assert "set by" in limit.source
            assert len(limit.title) > 10


def test_public_asks_for_every_attack():
    assert find_policy("public").allowed_costs == ("instant", "seconds", "minutes")


def test_a_file_of_the_same_fields_is_read_back(tmp_path):
    path = tmp_path / "house.json"
    own = find_policy("partner").model_copy(update={"key": "house", "version": 7})
    path.write_text(own.model_dump_json())
    assert load_policy(str(path)) == own
    assert load_policy("partner") == find_policy("partner")


LIMIT = {
    "name": "a", "threat": "link", "metric": "auc", "limit": 0.6, "title": "AUC",
    "source": "set by the board",
}  # fmt: skip
POLICY = {"key": "house", "version": 1, "title": "House", "limits": [LIMIT]}


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("{", "must be a readable JSON file"),
        ("[]", "must be a JSON object"),
        ("[" * 100_000, "must be a readable JSON file"),
        ({}, "policy field 'key'"),
        ({**POLICY, "limits": []}, "policy field 'limits'"),
        ({**POLICY, "colour": 1}, "policy field 'colour'"),
        ({**POLICY, "version": 0}, "policy field 'version'"),
        ({**POLICY, "key": "two words\nand a line"}, "policy field 'key'"),
        ({**POLICY, "limits": [LIMIT, LIMIT]}, "limit 'a' occurs twice"),
        ({**POLICY, "limits": [{**LIMIT, "limit": "much"}]}, "policy field 'limits.0.limit'"),
        ({**POLICY, "limits": [{**LIMIT, "limit": -1}]}, "policy field 'limits.0.limit'"),
        ({**POLICY, "limits": [{**LIMIT, "limit": 1e999}]}, "policy field 'limits.0.limit'"),
        ({**POLICY, "limits": [{**LIMIT, "threat": "x"}]}, "policy field 'limits.0.threat'"),
        ({**POLICY, "limits": [{**LIMIT, "metric": "k_anonymity"}]}, "safer where it is lower"),
        ({**POLICY, "limits": [{k: v for k, v in LIMIT.items() if k != "source"}]}, "source"),
    ],
)
def test_a_malformed_file_is_one_line(tmp_path, content, words):
    path = tmp_path / "policy.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    with pytest.raises(InputError) as caught:
        load_policy(str(path))
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_unknown_name_lists_the_shipped_ones(tmp_path):
    with pytest.raises(InputError, match="public, partner, internal"):
        load_policy("nobody")
    with pytest.raises(InputError):
        load_policy(str(tmp_path))
