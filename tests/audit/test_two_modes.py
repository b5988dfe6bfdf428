"""Attacks that cannot tell one pair from another do not clear a release."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from core.audit.asked.presets import Asked, choose_attacks
from core.audit.asked.scenarios import Scenario
from core.audit.asked.spec import AuditSpec
from core.audit.assemble import SAME_SCORE, _gave_one_score
from core.audit.computing.attacking import attack_release
from core.audit.results.view import AuditView
from core.audit.store.states import State
from core.context import Context
from core.data.splits import draw_threats
from core.findings.evidence import list_untried
from core.findings.policy import load_policy
from core.findings.verdict import judge
from core.graph import Graph
from core.registry import make_method
from core.release import ORIGINAL, Release
from core.results import ONE_SCORE
from core.seeding import Seed
from tests.attacks.link.test_l3_index import LOCAL, make_modes
from tests.inline import run_inline
from tests.oracles.graphs import two_communities

DELETION, EMPTY = "random_deletion:strength=0.5", "random_deletion:strength=1.0"
BLIND = (*LOCAL, "l3_index")
INTERNAL = load_policy("internal")


def run(graph: Graph, home, *defenses: str) -> AuditView:
    """The quick attacks on withheld links."""
    spec = AuditSpec.check_spec(
        {
            "graph_name": "g",
            "graph_hash": graph.content_hash,
            "num_repeats": 2,
            "hide_links": 0.2,
            "attacks": choose_attacks(Asked(links=True), ["quick"]),
            "defenses": [
                {"key": key, "config": {"strength": float(value.partition("=")[2])}}
                for key, _, value in (text.partition(":") for text in defenses)
            ],
        }
    )
    return run_inline(spec, graph, home)


def find_states(view: AuditView, release: str, metric: str = "auc") -> dict[str, str]:
    rows = view.results[(view.results.release == release) & (view.results.metric == metric)]
    return dict(zip(rows.method, rows.status, strict=True))


def judge_laxly(view: AuditView):
    """The verdict of "internal" with limits that any figure meets."""
    lax = [limit.model_copy(update={"limit": 1e9}) for limit in INTERNAL.limits]
    return judge(view, INTERNAL.model_copy(update={"limits": tuple(lax)}))


@pytest.fixture(scope="module")
def modes(tmp_path_factory) -> AuditView:
    return run(make_modes()[0], tmp_path_factory.mktemp("home"), DELETION)


@pytest.fixture(scope="module")
def couples(tmp_path_factory) -> AuditView:
    """Eighty pairs of nodes, each linked to one another alone."""
    graph = Graph.from_pairs(np.arange(160).reshape(-1, 2), 160)
    return run(graph, tmp_path_factory.mktemp("home"), DELETION, EMPTY)


def test_links_across_two_modes_are_judged_by_paths(modes):
    verdict = judge(modes, INTERNAL)
    for release in (ORIGINAL, DELETION):
        states = find_states(modes, release)
        assert {states[key] for key in LOCAL} == {"skipped"}
        assert states["l3_index"] == "done"
        (check,) = [c for c in verdict.find(release).checks if c.limit.name == "links_auc"]
        assert check.evidence.value == modes.estimate(release, "l3_index", "auc").value
    assert verdict.find(ORIGINAL).decision == "do_not_publish"


def test_attacks_that_two_modes_leave_out_do_not_keep_a_release_at_review(modes):
    assert not any("neighbours" in text for text in list_untried(modes, DELETION, INTERNAL))
    found = judge_laxly(modes).find(DELETION)
    assert not any("attack" in text and "lacks" in text for text in found.untried)


def test_an_audit_without_paths_of_three_links_lacks_a_required_attack(modes):
    attacks = tuple(c for c in modes.spec.attacks if c.key != "l3_index")
    before = modes.spec.model_copy(update={"attacks": attacks})
    view = replace(modes, spec=before, results=modes.results[modes.results.method != "l3_index"])
    assert any("L3 index" in text for text in list_untried(view, DELETION, INTERNAL))


def test_one_score_for_all_pairs_is_no_figure(couples):
    """Without any path of two or three links these attacks are blind, the degrees are not."""
    for release in (ORIGINAL, DELETION, EMPTY):
        states = find_states(couples, release)
        assert {states[key] for key in BLIND} == {"not_tested"}, release
        assert states["degree_product"] == "done"  # a baseline attacker stays as it is
        rows = couples.results[
            (couples.results.release == release) & couples.results.method.isin(BLIND)
        ]
        assert rows.value.isna().all()
        assert set(rows.reason) == {SAME_SCORE}
    open_points = judge_laxly(couples).find(DELETION).untried
    assert f"L3 index measured nothing: {SAME_SCORE}" in open_points
    assert judge_laxly(couples).find(DELETION).decision == "review"


@pytest.mark.parametrize(("key", "is_told"), [("degree_product", False), ("jaccard", True)])
def test_one_score_is_recorded_of_attacks_and_not_of_baseline_attackers(key, is_told):
    """In a ring without every other link all degrees are one."""
    ring = np.stack([np.arange(40), np.roll(np.arange(40), -1)], 1)
    graph = Graph.from_pairs(ring, 40)
    threats = draw_threats(graph, Seed(0), sensitive_links=ring[::2], test_links=0.0)
    scenario = Scenario(key, "link")
    release, context = Release(threats.visible), Context(Seed(0))
    _, facts, arrays = attack_release(make_method(key), scenario, release, threats, context)
    assert len(np.unique(arrays["scores"])) == 1
    assert (ONE_SCORE in facts) == is_told


@pytest.mark.parametrize("scores", ["11", "10", "00"])
def test_an_attack_that_told_pairs_apart_in_one_repeat_was_measured(scores):
    cells = [
        SimpleNamespace(state=State.DONE, result={"facts": {ONE_SCORE: True} if one == "1" else {}})
        for one in scores
    ]
    unfinished = SimpleNamespace(state=State.FAILED, result=None)
    assert _gave_one_score([*cells, unfinished]) == (scores == "11")
    assert not _gave_one_score([unfinished])


def test_a_release_on_which_attacks_are_lost_was_measured(tmp_path):
    """They tell pairs apart on the original, so that one score is what the deletion left them."""
    view = run(two_communities(80), tmp_path, EMPTY)
    states = find_states(view, EMPTY)
    assert {states[key] for key in (*BLIND, "preferential_attachment")} == {"done"}
    assert view.estimate(EMPTY, "l3_index", "auc").value == 0.5
    assert not any("measured nothing" in text for text in list_untried(view, EMPTY, INTERNAL))
