"""What attackers reach who know more, with interval, n and one sentence each."""

from __future__ import annotations

from core.findings.knowing_more import answer_adaptive, answer_inside, tabulate_inside
from tests.oracles.audits import tabulate_results

RELEASE = "edge_rand:epsilon=2.0"


def make_results(rows):
    made = [
        (release, release.partition(":")[0], "{}", method, metric, value, value - half,
         value + half, 500, 3, "done", "")
        for release, method, metric, value, half in rows
    ]  # fmt: skip
    return tabulate_results(made)


INSIDE = make_results(
    [
        (RELEASE, "mechanism_posterior@included", "released_precision", 0.3, 0.02),
        (RELEASE, "mechanism_posterior@included", "recovered_at_precision_0.9", 0.1, 0.01),
        (RELEASE, "plausibility@included+composition:3", "released_precision", 0.2, 0.02),
        (RELEASE, "plausibility@included+composition:3", "recovered_at_precision_0.9", 0.7, 0.05),
    ]
)


def test_links_inside_are_told_by_the_best_attacker():
    (sentence,) = answer_inside(INSIDE)
    for part in ("EdgeRand (ε = 2)", "0.30 [0.28, 0.32] of the links is real"):
        assert part in sentence
    assert "combining 3 releases recovers 0.70 [0.65, 0.75]" in sentence
    table = tabulate_inside(INSIDE)
    assert list(table["Recall at 90 % precision"]) == ["0.10 [0.09, 0.11]", "0.70 [0.65, 0.75]"]
    assert list(table.Pairs) == [500, 500]
    assert answer_inside(INSIDE[:0]) == []
    assert tabulate_inside(INSIDE[:0]).empty


def test_knowing_the_defense_is_compared_and_noise_is_called_noise():
    def answer(unaware, adaptive, half):
        rows = [(RELEASE, "adamic_adar", "auc", unaware, half)]
        rows += [(RELEASE, "gae_cosine@adaptive", "auc", adaptive, half)]
        return answer_adaptive(make_results(rows), "link")

    (clear,) = answer(0.6, 0.9, 0.02)
    assert "reaches AUC" in clear.replace("Attack AUC", "AUC")
    assert "0.90 [0.88, 0.92]" in clear
    assert "0.60 [0.58, 0.62]" in clear
    assert clear.endswith("that is more.")
    (noise,) = answer(0.6, 0.61, 0.05)
    assert noise.endswith("within the noise.")
    (less,) = answer(0.9, 0.6, 0.01)
    assert less.endswith("that is less.")
    assert answer_adaptive(make_results([(RELEASE, "adamic_adar", "auc", 0.6, 0.1)]), "link") == []
