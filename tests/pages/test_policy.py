"""Which release a page shows first."""

from dataclasses import replace

from core.findings.policy import find_policy
from core.findings.verdict import judge
from core.release import ORIGINAL
from pages.ui import policy
from tests.oracles.audits import make_audit

DEFENSES = ("random_deletion", "random_rewiring")


def test_where_none_passes_the_release_nearest_to_passing_comes_first(monkeypatch):
    reached = {ORIGINAL: 0.9, DEFENSES[0]: 0.8, DEFENSES[1]: 0.4}
    scores = {(where, "jaccard", "tpr_at_fpr_0.01"): value for where, value in reached.items()}
    view = make_audit(scores, ("jaccard",), DEFENSES)
    verdict = judge(view, find_policy("public"))
    monkeypatch.setattr(policy, "judge_view", lambda _view: verdict)
    assert verdict.recommended is None
    assert policy.find_shown_release(view) == DEFENSES[1]
    monkeypatch.setattr(policy, "chosen_release", lambda _view: DEFENSES[0])
    assert policy.find_shown_release(view) == DEFENSES[0]


def test_an_audit_whose_policy_cannot_be_held_opens_by_the_strictest():
    """An earlier version took "k at least 5" as the largest k."""
    limit = {"name": "k", "threat": "identity", "metric": "k_anonymity", "limit": 5.0}
    limit |= {"title": "k at least 5", "source": "us"}
    own = {"key": "house", "version": 1, "title": "House", "limits": [limit]}
    plain = make_audit({}, ("jaccard",))
    view = replace(plain, spec=plain.spec.update(policy=own))
    assert policy.current_policy(view) == find_policy("public")
    assert not policy.has_policy(view)
    limit["metric"] = "expected_found"
    assert policy.current_policy(view).key == "house"
    assert policy.has_policy(view)
