"""Policies as data: the shipped ones are sound, a file is checked in one line."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest
from pydantic import ValidationError

from core.audit.asked.attack import parse_attack
from core.cli.audit_spec import choose_policy
from core.errors import InputError
from core.findings.limit_metrics import BY_THREAT
from core.findings.policy import Policy, check_policy, find_policy, list_policies, load_policy
from core.measures.metrics import ATTACK_METRICS
from core.results import RELEASE
from tests.audit.recorded_specs import FOLDER


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


def limit_metric(threat, metric):
    return {**POLICY, "limits": [{**LIMIT, "threat": threat, "metric": metric}]}


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
        (limit_metric("identity", "k_anonymity"), "safer where it is lower"),
        (limit_metric("link", "k_anonymity"), "must be of a metric of the threat “link”"),
        (limit_metric("attribute", "margin"), "use margin_absolute"),
        (limit_metric("link", "tpr_at_fpr_0.05"), "limit 'a' must be of a metric of the threat"),
        (limit_metric("release", "auc"), "must be of a metric of the threat “release”"),
        (limit_metric("release", "epsilon_none"), "must be of a metric of the threat “release”"),
        (limit_metric("release", "pair_path_length_hidden"), "safer where it is lower"),
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


def test_a_policy_of_a_spec_or_of_the_search_is_held_to_the_same():
    """Only that of a file was: "k 1.0 met" was said of "k at least 5", and all were unique."""
    fields = limit_metric("identity", "k_anonymity")
    for read in (check_policy, Policy.model_validate, lambda given: choose_policy(None, given)):
        with pytest.raises((InputError, ValidationError), match="safer where it is lower"):
            read(fields)
    assert choose_policy(None, limit_metric("identity", "expected_found")) is not None


def test_the_figures_of_recorded_audits_are_those_of_their_threats():
    """Each figure of attacks and of releases, read off audits that ran."""
    seen = set()
    for path in sorted(FOLDER.glob("recorded_*.json")):
        for rows in json.loads(path.read_text()).get("rows", {}).values():
            for name, (_, _, _, n, *_) in rows.items():
                if not n:  # a row for an attack that could not run, whatever its metrics
                    continue
                method, metric, *scenario = name.split(" ")
                attack = parse_attack("@".join((method, *scenario)))
                threat = "release" if method == RELEASE else attack.threat
                assert metric in BY_THREAT[threat], (threat, metric)
                seen.add((threat, metric))
    assert {threat for threat, _ in seen} == set(BY_THREAT)
    assert {metric for keys in BY_THREAT.values() for metric in keys} >= {
        info.key for info in ATTACK_METRICS
    }
