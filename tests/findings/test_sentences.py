"""Sentences are true: of random audits, where nothing differs, and in cases that once misled."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import core.findings as findings
from core.algorithms.ghratio import choose_tolerance, compute_ghratios
from core.algorithms.ghratio_jackknife import compute_margins
from core.audit.asked.attack import attach_referents
from core.audit.asked.release_info import parse_release
from core.audit.results.node_risks import NODE_COLUMNS
from core.audit.results.view import REPEATS, RESULT_COLUMNS, AuditView
from core.audit.store.states import State
from core.findings import verdict_words
from core.findings.change import _describe_changes, answer_defense, summarize_release
from core.findings.columns import answer_columns
from core.findings.comparing import answer_changes, compute_comparison
from core.findings.curves import answer_curves, answer_strengths, list_curves
from core.findings.data_independent import answer_data_independent
from core.findings.differences import find_noise, is_clear
from core.findings.exposure import answer_bound, answer_risk, list_risks
from core.findings.facts import Count, Figure, format_frequencies, format_frequency
from core.findings.groups import answer_groups
from core.findings.homophily import (
    answer_mechanisms,
    describe_homophily,
    explain_missing_ratios,
    summarize_homophily,
)
from core.findings.knowing_more import (
    PRECISION,
    RECOVERED,
    answer_adaptive,
    answer_inside,
    answer_odds,
)
from core.findings.margins import answer_margins
from core.findings.page_summary import summarize_decision
from core.findings.pair_profile import answer_pair_profile
from core.findings.policy import find_policy
from core.findings.private_columns import answer_private_columns
from core.findings.strongest import (
    Strongest,
    answer_attack,
    answer_inverted,
    find_strongest,
    summarize_attacks,
)
from core.findings.tables import list_metrics
from core.findings.tradeoff import answer_tradeoff, compute_tradeoff
from core.findings.verdict import judge
from core.findings.verdict_words import (
    describe_decision,
    explain_others,
    explain_release,
    list_uncleared,
)
from core.release import ORIGINAL
from core.results import RELEASE
from tests.oracles.audits import (
    UNREHEARSED,
    list_attack_keys,
    make_audit,
    make_noise,
    tabulate_results,
)
from tests.oracles.graphs import two_communities
from tests.oracles.sentences import RELEASES as DRAWN
from tests.oracles.sentences import World, check_style, check_world, list_sentences

# -- random audits -------------------------------------------------------------------------

SEEDS = (1, 2, 4, 5, 10, 11, 12, 13, 15, 16, 17, 19, 24, 33, 34)
"""Audits in which every form of every sentence occurs that the first forty have."""


def test_random_audits_have_no_false_sentence_and_planted_ones_are_caught() -> None:
    assert sum(map(check_world, SEEDS)) > 600


@pytest.mark.slow
@pytest.mark.nightly
def test_two_thousand_random_audits_have_no_false_sentence() -> None:
    for seed in range(2_000):
        check_world(seed)


def test_an_empty_audit_has_its_sentences() -> None:
    world = World({}, 0.01, dict.fromkeys(DRAWN, 0), dict.fromkeys(DRAWN, 0))
    for summary, _ in list_sentences(world, 0)[:6]:
        check_style(summary)


# -- audits in which nothing differs ---------------------------------------------------------

DEFENSES = ("random_deletion", "edge_rand:epsilon=3.0", "without_columns")
WHERE = (ORIGINAL, *DEFENSES)
ON_LINKS = ("adamic_adar", "jaccard", "adamic_adar@adaptive", "degree_product")
INSIDE = ("adamic_adar@included", "degree_product@included")
VALUES = ("label_propagation", "com_infer", "label_propagation@adaptive", "class_prior")
PEOPLE = ("neighbor_degrees", "random_match")
PLAIN = (
    "adamic_adar",
    "jaccard",
    "degree_product",
    "label_propagation",
    "com_infer",
    "class_prior",
)
LOW = ("tpr_at_fpr_0.01", "tpr_at_fpr_0.001")
METRICS = {
    **dict.fromkeys(ON_LINKS, ("auc", *LOW, "precision_at_100")),
    **dict.fromkeys(INSIDE, ("auc", PRECISION, RECOVERED)),
    **dict.fromkeys(
        VALUES,
        ("auc", *LOW, "accuracy", "class_advantage_share", "margin_absolute", "share_below_zero"),
    ),
    **dict.fromkeys(PEOPLE, ("expected_found", "share_unique")),
    RELEASE: (
        "node_classification_auc", "link_prediction_auc", "links_kept",
        "pair_path_length_hidden", "pair_path_length_absent",
        *(f"ghratio_{k}{end}" for k in ("proximity", "role", "combined") for end in ("", "_gap")),
    ),
}  # fmt: skip
NULLS = ("degree_product", "class_prior", "random_match")
ROWS = [(r, m, metric) for r in WHERE for m, metrics in METRICS.items() for metric in metrics]

CLAIMS = (
    r"\bsafe(r|st)?\b",
    r"\b(does|ranks) (best|first)\b",
    r"\bgive them away\b",
    r"\bnarrows the gap",
    r"withheld links are (nearer|farther)",
    r"\bare the leak",
    r"\blowers\b",
    r"\bexceeds\b(?! (a|no|at least one|the) limit| \d)",
    r"(?<!not )(?<!is it )(?<!has )(?<!comes )\bclearly\b",
    r"\b(outperform|surpass|outrank|dominat|superior|inferior)",
    r"that is (more|less)",
    r"\bless useful\b",
    r"(?<!not clearly )\babove the best baseline attacker",
    r"\bfalls to\b",
    r"(more|less) than chance\b(?! (would|gives))",
    r"is largest on",
    r" is (higher|lower), ",
    r"clearly wrong",
    r"Community \d+ holds more",
)
"""Words that say of two numbers that they differ."""
NOISE = re.compile(r"within (the )?noise|[Ii]t is not clearly (lower|above)")

Result = tuple[float | None, float | None, float | None, dict[int, float], str]
Drawn = Callable[[str, str, str, int], Result]


def equal(release: str, method: str, metric: str, _: int) -> Result:
    """All the same in every repeat; a gap is none."""
    value = 0.0 if metric.endswith("_gap") else 0.5
    return value, value - 0.02, value + 0.02, dict.fromkeys(range(5), value), "done"


def one_repeat(release: str, method: str, metric: str, k: int) -> Result:
    """Numbers that differ a lot and have no interval."""
    value = 0.3 + 0.4 * ((7 * k) % 11) / 11
    return value, None, None, {0: value}, "done"


def overlapping(release: str, method: str, metric: str, k: int) -> Result:
    """Numbers whose intervals are far wider than their distance."""
    value = (0.0 if metric.endswith("_gap") else 0.6) + 0.05 * ((5 * k) % 7) / 7
    return value, value - 0.3, value + 0.3, {}, "done"


def noisy_repeats(release: str, method: str, metric: str, k: int) -> Result:
    """Repeats that go up here and down there: the paired difference reaches over 0."""
    value = (0.0 if metric.endswith("_gap") else 0.6) + 0.01 * ((5 * k) % 7) / 7
    repeats = {r: value + 0.2 * float(np.sin(2.4 * k + 1.9 * r)) for r in range(5)}
    return value, value - 0.3, value + 0.3, repeats, "done"


def one_failed(release: str, method: str, metric: str, k: int) -> Result:
    failed = method in ("adamic_adar", "label_propagation", "neighbor_degrees")
    return (None, None, None, {}, "failed") if failed else equal(release, method, metric, k)


def not_a_number(release: str, method: str, metric: str, k: int) -> Result:
    nan = float("nan")
    return (nan, nan, nan, {0: nan}, "done") if k % 3 else equal(release, method, metric, k)


def skipped(release: str, method: str, metric: str, k: int) -> Result:
    return None, None, None, {}, "skipped"


def different(release: str, method: str, metric: str, k: int) -> Result:
    """The control: what is there to be told is told."""
    place = WHERE.index(release)
    real = method not in NULLS and method != RELEASE
    value = 0.9 - 0.1 * place if real else 0.2 + 0.02 * list(METRICS).index(method)
    value += 0.05 * (method in ("adamic_adar", "label_propagation"))
    if method == RELEASE:
        value = 0.9 - 0.1 * place + 0.05 * ("proximity" in metric)
        value = 2.0 + (0.9 - 0.2 * place) * ("absent" in metric) if "pair" in metric else value
    return value, value - 0.004, value + 0.004, {}, "done"


def make_nodes(gain: float | None, num_people: int = 40) -> pd.DataFrame:
    graph = two_communities()
    rows = [
        (node, release, method, 0.5 + gain, gain, 0.5 + gain, 0.5 + gain, 3)
        if gain is not None
        else (node, release, method, np.nan, np.nan, np.nan, np.nan, 0)
        for release in WHERE
        for method in ("adamic_adar", "degree_product", "label_propagation", "class_prior")
        for node in graph.node_ids[:num_people]
    ]
    return pd.DataFrame(rows, columns=list(NODE_COLUMNS))


def make_world(world: Drawn, nodes: pd.DataFrame) -> AuditView:
    rows = []
    for k, (release, method, metric) in enumerate(ROWS):
        value, low, high, repeats, status = world(release, method, metric, k)
        reason = "" if status == "done" else "it broke"
        head = (release, release, {}, method, metric, value, low, high)
        rows.append((*head, 400, len(repeats) or 1, status, reason, repeats))
    view = make_audit({}, PLAIN, DEFENSES, nodes=nodes)
    results = tabulate_results(rows, [*RESULT_COLUMNS, REPEATS])
    return replace(view, results=results)


def tell_groups(view: AuditView) -> list[str]:
    graph = two_communities()
    side = [str(code) for code in graph.column("private").codes]
    return [answer_groups(view.nodes, {"side": pd.Series(side, index=list(graph.node_ids))})]


def tell_changes(view: AuditView) -> list[str]:
    verdict = judge(view, find_policy("public"))
    swapped = dict(zip(WHERE, WHERE[::-1], strict=True))
    inverted = attach_referents(view.results.assign(release=view.results.release.map(swapped)))
    earlier = judge(replace(view, results=inverted), find_policy("public"))
    return [answer_changes(compute_comparison(verdict, earlier), "the audit of 3 March 2026")]


def tell_verdict(view: AuditView) -> list[str]:
    told = []
    for key in ("public", "internal"):
        verdict = judge(view, find_policy(key))
        told.append(describe_decision(verdict))
        told += [text for release in verdict.releases for text in explain_release(release)]
        told += [reason for _, reason in explain_others(verdict, view.results)]
    return told


def tell_tradeoff(view: AuditView) -> list[str]:
    tables = [
        compute_tradeoff(view.results, "auc", "node_classification_auc", threat=threat)
        for threat in ("link", "attribute")
    ]
    return [
        answer_tradeoff(table, limit, "auc", "node_classification_auc")
        for table in tables
        for limit in (0.1, 0.55, 1.0)
    ]


def tell_curves(view: AuditView) -> list[str]:
    """Two strengths of one defense with the figures of the drawn releases."""
    table = compute_tradeoff(view.results, "auc", "node_classification_auc", threat="link")
    ids = ("random_deletion:strength=0.3", "random_deletion:strength=0.6")
    made = [parse_release(i) for i in ids][: len(table) - 1]
    curves = list_curves(table.iloc[1 : 1 + len(made)].assign(made=made)) if made else []
    use = "node_classification_auc"
    return [answer_curves(curves, limit, "auc", use) for limit in (0.1, 0.55, 1.0)]


def tell_strengths(view: AuditView) -> list[str]:
    """The drawn releases as two strengths of one defense, under the internal policy."""
    ids = ("random_deletion", "edge_rand:epsilon=3.0")
    names = dict(zip(ids, (f"random_deletion:strength={s}" for s in (0.3, 0.6)), strict=True))
    results = attach_referents(view.results.replace({"release": names}))
    verdict = judge(view, find_policy("internal"))
    use = "node_classification_auc"
    return [answer_strengths(results, verdict, "link", "auc", use)]


def tell_twins(view: AuditView) -> list[str]:
    columns = ["made", "metric", "value", "twin", "gain", "verdict"]
    words = [(view.get_release("random_deletion"), "auc", "0.5", "0.5", 0.0, "none")]
    return answer_data_independent(pd.DataFrame(words, columns=columns))


def each(tell: Callable[..., Any], kinds: Sequence[str]) -> Callable[[AuditView], list[str]]:
    return lambda view: [tell(view.results, kind) for kind in kinds]


THREATS = ("link", "attribute", "identity")
SENTENCES: dict[Callable[..., Any], Callable[[AuditView], list[str]]] = {
    answer_attack: each(answer_attack, THREATS),
    answer_defense: each(answer_defense, THREATS),
    answer_odds: lambda view: [answer_odds(view.results)],
    answer_risk: lambda view: [risk for risk, _ in list_risks(view.nodes)],
    answer_bound: lambda view: [answer_bound(view.nodes)],
    answer_inverted: lambda view: [answer_inverted(view.results, WHERE)],
    answer_mechanisms: lambda view: answer_mechanisms(view, view.results),
    answer_tradeoff: tell_tradeoff,
    answer_curves: tell_curves,
    answer_strengths: tell_strengths,
    answer_columns: each(answer_columns, ("link", "attribute")),
    answer_changes: tell_changes,
    answer_groups: tell_groups,
    answer_inside: lambda view: answer_inside(view.results),
    answer_adaptive: lambda view: [
        text for threat in ("link", "attribute") for text in answer_adaptive(view.results, threat)
    ],
    answer_margins: lambda view: [answer_margins(view.results, "label_propagation", WHERE)],
    answer_pair_profile: lambda view: [answer_pair_profile(view.results)],
    answer_private_columns: answer_private_columns,
    answer_data_independent: tell_twins,
    describe_decision: tell_verdict,
}
"""Every sentence that compares → what it says of an audit."""

NOTHING = (equal, one_repeat, overlapping, noisy_repeats, one_failed, not_a_number, skipped)


def list_answers() -> Iterator[Callable[..., Any]]:
    for module in pkgutil.iter_modules(findings.__path__, "core.findings."):
        for name, found in inspect.getmembers(importlib.import_module(module.name)):
            if name.startswith("answer_") and found.__module__ == module.name:
                yield found


def find_claims(text: str) -> list[str]:
    return [claim for claim in CLAIMS if re.search(claim, text)]


@pytest.mark.parametrize(
    "text",
    [
        "GPS clearly outperforms every other attack.",
        "Random deletion surpasses EdgeRand.",
        "EdgeRand is the safest.",
        "It is clearly above the rest.",
    ],
)
def test_a_claim_in_other_words_is_a_claim(text: str) -> None:
    assert find_claims(text)


def test_every_answer_is_among_the_sentences() -> None:
    named = {f.__name__ for f in SENTENCES} - {"describe_decision"}
    assert {f.__name__ for f in list_answers()} == named


@pytest.mark.parametrize("world", NOTHING, ids=lambda world: world.__name__)
def test_where_nothing_differs_no_difference_is_claimed(world: Drawn) -> None:
    view = make_world(world, make_nodes(None if world is not_a_number else 0.0))
    for tell in SENTENCES.values():
        for text in tell(view):
            assert find_claims(text) == [], text
            assert "nan" not in text.lower().split(), text


@pytest.mark.parametrize("count", [0, 1], ids=["nobody", "one person"])
def test_an_audit_of_nobody_or_of_one_person_has_its_sentences(count: int) -> None:
    view = make_world(skipped, make_nodes(0.4, count))
    for audit in (view, replace(view, results=view.results.iloc[:0])):
        for tell in SENTENCES.values():
            for text in tell(audit):
                assert find_claims(text) == [], text


def test_what_does_differ_is_told() -> None:
    view = make_world(different, make_nodes(0.4))
    said = " ".join(text for tell in SENTENCES.values() for text in tell(view))
    for claim in (
        r"falls to", r"\bare the leak|Withholding the columns alone lowers",
        r" is (higher|lower), ", r"narrows the gap", r"that is (more|less)",
    ):  # fmt: skip
        assert re.search(claim, said), claim
    assert not NOISE.search(said)


# -- cases that misled -----------------------------------------------------------------------

ATTACKS = list_attack_keys()
LINKS = ("adamic_adar", "degree_product")
DELETION = "random_deletion"
NAMES = (ORIGINAL, DELETION)


def make_scores(**values):
    """auc_null, tpr_best … → results of one real and one baseline attacker on the original."""
    scores = {}
    for name, value in values.items():
        metric, _, who = name.rpartition("_")
        metric = {"auc": "auc", "tpr": "tpr_at_fpr_0.01"}[metric]
        scores[ORIGINAL, LINKS[who == "null"], metric] = value
    return scores


def find(scores, metric=None, half=0.01) -> Strongest:
    found = find_strongest(make_audit(scores, LINKS, half=half).results, "link", ORIGINAL, metric)
    assert found is not None
    return found


def test_equal_auc_and_thrice_the_rate_at_few_false_alarms_beats_the_null():
    scores = make_scores(auc_best=0.75, auc_null=0.75, tpr_best=0.43, tpr_null=0.16)
    found, ranked = find(scores), find(scores, "auc")
    assert (found.metric, found.beats, found.gap) == (LOW[0], True, pytest.approx(0.27))
    assert (ranked.beats, ranked.gap) == (False, 0)
    first, rest = answer_attack(make_audit(scores, LINKS).results, "link").split(" Overall, ")
    assert "0.27 [0.26, 0.28] above the best baseline attacker, Degree product at 0.16" in first
    assert "did not beat" in rest


def test_a_better_auc_is_no_beating_where_its_noise_is_larger():
    scores = make_scores(auc_best=0.75, auc_null=0.74)
    assert [find(scores, half=half).beats for half in (0.01, 0.005)] == [False, True]


def test_beaten_by_nothing_is_said_of_every_metric():
    scores = make_scores(auc_best=0.6, auc_null=0.75, tpr_best=0.1, tpr_null=0.2)
    text = answer_attack(make_audit(scores, LINKS).results, "link")
    assert text.count("did not beat") == 2


def test_tradeoff_of_the_harmless_threat_does_not_recommend_what_the_other_refuses():
    """Attribute attacks learn nothing anywhere; link attacks find 43 % on original and weak."""
    weak, strong = "random_deletion:strength=0.1", "random_deletion:strength=0.9"
    names = (ORIGINAL, weak, strong)
    scores = make_noise(names, ATTACKS)
    for release, use in zip(names, (0.9, 0.85, 0.6), strict=True):
        scores[release, "release", "node_classification_auc"] = use
        scores[release, "adamic_adar", "tpr_at_fpr_0.01"] = 0.01 if release == strong else 0.43
    view = make_audit(scores, ATTACKS, (weak, strong))
    refused = list_uncleared(judge(view, find_policy("public")))
    table = compute_tradeoff(view.results, "auc", "node_classification_auc", threat="attribute")
    text = answer_tradeoff(table, 0.7, "auc", "node_classification_auc", refused)
    assert "Random deletion (strength = 0.9)" in text
    assert "Original, Withheld links found (TPR at 1 % FPR): 0.43" in text
    alone = answer_tradeoff(table, 0.7, "auc", "node_classification_auc")
    assert "Original" not in alone


def test_only_a_cleared_release_is_drawn_as_the_best(monkeypatch):
    """The example's Trade-off had a release under review in bold, beside one that may leave."""
    monkeypatch.setattr(verdict_words, "explain_release", lambda release: [f"{release.release}!"])
    decisions = {"a": "publish", "b": "review", "c": "do_not_publish"}
    releases = [SimpleNamespace(release=r, decision=d) for r, d in decisions.items()]
    assert list_uncleared(SimpleNamespace(releases=releases)) == {"b": "b!", "c": "c!"}


@pytest.mark.parametrize(("uses", "words"), [((0.70, 0.70), "within noise"), ((0.8, 0.6), "most")])
def test_the_most_useful_is_named_beyond_noise_only_and_beside_the_original(uses, words):
    """ "The most useful is Random rewiring: 0.70" where another tied and the original had 1.00."""
    names = (ORIGINAL, "random_rewiring", DELETION)
    scores = make_noise(names, ATTACKS)
    for release, use in zip(names, (1.0, *uses), strict=True):
        scores[release, "release", "link_f1"] = use
    view = make_audit(scores, ATTACKS, names[1:])
    table = compute_tradeoff(view.results, "auc", "link_f1", threat="link")
    text = answer_tradeoff(table, 0.7, "auc", "link_f1")
    assert "the original: 1.00" in text
    assert words in text
    assert ("the most useful" in text) == (words == "most")


def test_added_links_count_as_well_as_lost_ones():
    assert (
        list_metrics(
            tabulate_results(
                (DELETION, DELETION, {}, "release", metric, 0.5, 0.5, 0.5, 9, 3, "done", "")
                for metric in ("links_kept", "link_f1")
            ),
            "release",
        )[0]
        == "link_f1"
    )


def test_tradeoff_without_a_defense_recommends_nothing():
    scores = make_noise((ORIGINAL,), ATTACKS)
    scores[ORIGINAL, "release", "node_classification_auc"] = 0.9
    table = compute_tradeoff(
        make_audit(scores, ATTACKS, ()).results, "auc", "node_classification_auc", threat="link"
    )
    text = answer_tradeoff(table, 0.7, "auc", "node_classification_auc")
    assert "none of them can be recommended" in text


@pytest.mark.parametrize(
    ("after", "words"), [(0.116, "not clearly narrow the gap"), (0.02, "narrows the gap")]
)
def test_a_gap_is_narrowed_only_beyond_noise(after, words):
    """EdgeRand "narrowed the gap most" on 0.116 against 0.119."""
    rows = []
    for release, gap in ((ORIGINAL, 0.119), (DELETION, after)):
        for kind, value in (("hidden", 2.0 - gap), ("absent", 2.0)):
            rows.append(
                (release, release, {}, "release", f"pair_path_length_{kind}", value,
                 value - 0.005, value + 0.005, 400, 5, "done", "")
            )  # fmt: skip
    text = answer_pair_profile(tabulate_results(rows))
    assert words in text
    assert ("narrows the gap" in text) == (after == 0.02)


def interval(value, half):
    return pd.Series({"value": value, "low": value - half, "high": value + half})


def test_noise_adds_in_squares():
    assert find_noise(interval(1.0, 3.0), interval(6.0, 4.0)) == pytest.approx(5)
    assert not is_clear(interval(1.0, 3.0), interval(5.9, 4.0))
    assert is_clear(interval(1.0, 3.0), interval(6.1, 4.0))
    assert not is_clear(interval(1.0, float("nan")), interval(6.1, 4.0))


def test_the_decision_says_what_decides():
    scores = make_noise(NAMES, ATTACKS)
    verdict = judge(make_audit(scores, ATTACKS), UNREHEARSED)
    assert describe_decision(verdict).startswith("Publish Random deletion: it meets")
    assert explain_others(verdict, make_audit(scores, ATTACKS).results)[0][0] == ORIGINAL
    for release in NAMES:
        scores[release, "katz", "auc"] = 0.9
    refused = judge(make_audit(scores, ATTACKS), UNREHEARSED)
    assert describe_decision(refused).startswith("Do not publish")
    assert "Katz" in list_uncleared(refused)[DELETION]
    untried = describe_decision(judge(make_audit({}, ATTACKS), UNREHEARSED))
    assert untried == "Review: no attack has finished on the releases that may still be published."
    few = {key: value for key, value in make_noise(NAMES, ATTACKS).items() if "katz" not in key}
    told = describe_decision(judge(make_audit(few, ATTACKS), UNREHEARSED))
    assert told == "Review: no limit rules out a release, but none is cleared yet."


def test_a_twin_that_passes_is_not_told_as_the_original():
    independent = "gap:data_free=True"
    scores = make_noise((ORIGINAL, independent), ATTACKS)
    scores[ORIGINAL, "katz", "auc"] = 0.9
    verdict = judge(make_audit(scores, ATTACKS, (independent,)), find_policy("public"))
    assert describe_decision(verdict) == (
        "Review: every release made from the data is refused; only baselines remain."
    )
    assert verdict.find(independent).decision == "publish"
    assert not verdict.may_leave  # the gate let a pipeline pass beside that sentence


def test_of_equal_usefulness_within_noise_the_other_is_not_called_less_useful():
    names = (ORIGINAL, DELETION, "edge_rand:epsilon=1.0")
    scores = make_noise(names, ATTACKS)
    for release, use in zip(names, (0.9, 0.80, 0.79), strict=True):
        scores[release, "release", "node_classification_auc"] = use
    view = make_audit(scores, ATTACKS, names[1:])
    both = judge(view, find_policy("internal"))
    assert "as useful within noise" in dict(explain_others(both, view.results))[names[2]]
    clear = make_audit(scores, ATTACKS, names[1:], half=0.001)
    told = dict(explain_others(judge(clear, find_policy("internal")), clear.results))
    assert told[names[2]].startswith("less useful")


def test_a_reason_has_the_interval_of_the_attack_it_names():
    scores = make_noise(NAMES, ATTACKS)
    scores[DELETION, "katz", "auc"] = 0.7
    view = make_audit(scores, ATTACKS)
    row = (view.results.method == "seal") & (view.results.metric == "auc")
    view.results.loc[row, ["value", "low", "high"]] = [0.5, 0.2, 0.8]
    verdict = judge(view, find_policy("public"))
    assert "0.70 [0.69, 0.71] by Katz" in list_uncleared(verdict)[DELETION]
    original = " ".join(explain_release(verdict.find(ORIGINAL)))
    assert "the interval of another attack extends above it" in original


@pytest.mark.parametrize(
    ("state", "words"), [(State.RUNNING, "Still running"), (State.CANCELLED, "was not measured")]
)
def test_homophily_that_is_not_measured_yet_is_no_missing_column(state, words):
    view = make_audit({}, ATTACKS, state=state)
    assert words in explain_missing_ratios(view)
    assert "no private column" not in explain_missing_ratios(view)
    spec = view.spec.update(private=None)
    assert "no private column" in explain_missing_ratios(replace(view, spec=spec))


def test_who_knows_another_column_is_no_yardstick_for_who_does_not():
    attacks = ("label_propagation", "class_prior")
    attacks += tuple(f"{attack}@joint:known" for attack in attacks)
    values = dict(zip(attacks, (0.8, 0.5, 0.96, 0.95), strict=True))
    scores = {(ORIGINAL, attack, "auc"): value for attack, value in values.items()}
    text = answer_attack(make_audit(scores, attacks).results, "attribute")
    assert "0.30 [0.29, 0.31] above the best baseline attacker, Class prior at 0.50" in text


def test_more_and_less_than_chance_are_told_with_their_intervals():
    scores = {
        (ORIGINAL, "release", f"ghratio_{key}{end}"): value
        for key, gap in (("proximity", 0.12), ("role", -0.08))
        for end, value in (("", 0.5), ("_gap", gap))
    }
    view = make_audit(scores, LINKS, half=0.02)
    neighbours, peers = answer_mechanisms(view, view.results)
    assert neighbours.endswith("share its value: 0.12 [0.10, 0.14] more than chance.")
    assert peers.endswith("share its value: 0.080 [0.060, 0.100] less than chance.")


PAIRED = ("adamic_adar", "degree_product", "gcn", "class_prior")


def make_pages(link=0.36, baseline=0.16, after=0.05):
    scores = make_noise(NAMES, PAIRED)
    scores[ORIGINAL, "adamic_adar", "tpr_at_fpr_0.01"] = link
    scores[ORIGINAL, "degree_product", "tpr_at_fpr_0.01"] = baseline
    scores[DELETION, "adamic_adar", "tpr_at_fpr_0.01"] = after
    for release, use in zip(NAMES, (0.9, 0.7), strict=True):
        scores[release, "release", "node_classification_auc"] = use
        for key in ("proximity", "role"):
            scores[release, "release", f"ghratio_{key}"] = 0.6
            scores[release, "release", f"ghratio_{key}_gap"] = 0.25
    return scores


def test_a_card_and_what_it_is_compared_with_have_one_denominator():
    """ "37 of 1,000; limit 3 of 100" had to be converted in the head."""
    view = make_audit(make_pages(link=0.037, baseline=0.02, after=0.043), PAIRED)
    shown = [
        *summarize_decision(judge(view, find_policy("public"))).cards,
        *summarize_attacks(view, policy=find_policy("public")).cards,
        *summarize_release(view, DELETION).cards,
    ]
    pairs = [re.findall(r"of ([\d,]*\d)", f"{card.value} {card.compared_with}") for card in shown]
    assert ["1,000", "1,000"] in pairs
    assert all(len(set(pair)) <= 1 for pair in pairs), shown


def test_a_far_smaller_share_does_not_make_the_larger_one_long():
    """ "3,094 of 10,000, baseline 14 of 10,000" had four digits where two say as much."""
    assert format_frequencies(0.3094, 0.0014) == ("31 of 100", "fewer than 1 of 100")
    assert format_frequencies(0.0057, 0.1) == ("fewer than 1 of 100", "10 of 100")
    assert format_frequencies(0.0, 0.36) == ("0 of 100", "36 of 100")
    assert format_frequencies(0.005, 0.01) == ("5 of 1,000", "10 of 1,000")


def test_homophily_within_noise_is_called_so():
    scores = make_pages()
    scores[ORIGINAL, "release", "ghratio_role_gap"] = 0.005
    near, role = summarize_homophily(make_audit(scores, PAIRED)).cards
    assert role.compared_with.endswith(", within noise")
    assert near.compared_with.endswith(", beyond noise")
    scores[ORIGINAL, "release", "ghratio_role_gap"] = -0.25
    _, role = summarize_homophily(make_audit(scores, PAIRED)).cards
    assert role.compared_with.endswith(", beyond noise")


def test_nodes_that_share_links_are_noisier_than_independent_ones():
    """With values drawn blindly, neighbours of hubs were beyond the interval of independent nodes
    in up to 56 of 100 graphs."""
    scores = make_pages()
    for key in ("proximity", "role"):
        scores[ORIGINAL, "release", f"ghratio_{key}_gap"] = 0.012
    view = make_audit(scores, PAIRED)  # intervals of 0.01 either way
    for card in summarize_homophily(view).cards:
        assert card.compared_with.endswith(", beyond noise")
    graph = view.load_graph()
    codes = graph.column("private").codes
    ratios = compute_ghratios(graph, codes, 2, choose_tolerance(graph))
    rows = pd.DataFrame({"node": graph.node_ids, "release": ORIGINAL})
    for key in ("proximity", "role", "combined"):
        rows[f"ghratio_{key}"] = getattr(ratios, key)
    measured = replace(view, load_profile=lambda: rows)
    found = {row["metric"]: row for row in describe_homophily(measured)}
    margins = compute_margins(graph, codes, 2, choose_tolerance(graph))
    assert min(margins.values()) > 0.01
    for metric, row in found.items():
        ends = row["value"] - margins[metric], row["value"] + margins[metric]
        assert (row["low"], row["high"]) == pytest.approx(ends)
    for card in summarize_homophily(measured).cards:
        assert card.compared_with.endswith(", within noise")
    neighbours, peers = answer_mechanisms(measured, measured.results)
    assert neighbours.endswith("no more than chance gives.")
    assert peers.endswith("no more than chance gives.")


def test_cards_of_homophily_have_one_denominator():
    """ "75 of 100" stood beside "381 of 1,000"; what is noise needs no digits to differ."""
    scores = make_pages()
    for key, ratio, gap in (("proximity", 0.75, 0.37), ("role", 0.381, 0.001)):
        scores[ORIGINAL, "release", f"ghratio_{key}"] = ratio
        scores[ORIGINAL, "release", f"ghratio_{key}_gap"] = gap
    cards = summarize_homophily(make_audit(scores, PAIRED)).cards
    assert [card.value for card in cards] == ["75 of 100", "38 of 100"]
    assert cards[1].compared_with == "chance 38 of 100, within noise"
    scores[ORIGINAL, "release", "ghratio_role_gap"] = 0.006  # beyond noise: its digits show it
    scores[ORIGINAL, "release", "ghratio_role"] = 0.384
    cards = summarize_homophily(make_audit(scores, PAIRED, half=0.005)).cards
    assert [card.value for card in cards] == ["750 of 1,000", "384 of 1,000"]


def test_neighbours_without_a_value_are_not_said_to_share_none():
    """Of links between two modes; the sentence spoke of neighbours and role peers."""
    scores = make_pages()
    for key in ("ghratio_proximity", "ghratio_proximity_gap"):
        del scores[ORIGINAL, "release", key]
    scores[ORIGINAL, "release", "ghratio_role_gap"] = 0.005
    summary = summarize_homophily(make_audit(scores, PAIRED))
    assert [card.title for card in summary.cards] == ["Same-value role peers, mean"]
    assert summary.sentence == (
        "The role peers of a person share its value no more than chance gives."
    )


def test_homophily_says_that_it_is_a_mean_over_people():
    """ "62 of 100 neighbours share a person's value", while of the links fewer joined equal values
    than by chance: each person counts once, however many links they have."""
    summary = summarize_homophily(make_audit(make_pages(), PAIRED))
    assert summary.sentence.startswith("Averaged over people, 60 of 100 role peers share")
    assert all(card.title.endswith(", mean") for card in summary.cards)
    view = make_audit(make_pages(), PAIRED)
    assert all("averaged over nodes" in text for text in answer_mechanisms(view, view.results))


def test_where_figures_do_not_join_the_worst_change_is_told():
    """AUC alone was measured of links; that a release shows more values must not go unsaid."""
    scores = {k: v for k, v in make_pages().items() if k[2] != "tpr_at_fpr_0.01" or k[1] == "gcn"}
    for attack, values in (("adamic_adar", (0.9, 0.6)), ("gcn", (0.1, 0.4))):
        metric = "tpr_at_fpr_0.01" if attack == "gcn" else "auc"
        for release, value in zip(NAMES, values, strict=True):
            scores[release, attack, metric] = value
    told = summarize_release(make_audit(scores, PAIRED), DELETION).sentence
    assert "40 of 100 private values, against 10 of 100" in told


def test_releases_are_compared_over_the_attackers_that_both_faced():
    """An attacker that the original never met makes the release look neither worse nor better."""
    scores = make_pages(link=0.36, after=0.05)
    scores[DELETION, "jaccard", "tpr_at_fpr_0.01"] = 0.6
    summary = summarize_release(make_audit(scores, PAIRED), DELETION)
    assert "does not clearly change" in summary.sentence
    assert summary.cards[0].value == "60 of 100"
    assert any("On one of the two only" in line for line in summary.exact)


def test_an_adaptive_attacker_is_compared_with_its_standard_form_on_the_original():
    """There is no defense to adapt to: the original has no row of it."""
    scores = make_pages(link=0.36, after=0.05)
    scores[DELETION, "adamic_adar@adaptive", "tpr_at_fpr_0.01"] = 0.6
    summary = summarize_release(make_audit(scores, PAIRED), DELETION)
    assert "finds more withheld links" in summary.sentence
    assert not any("On one of the two only" in line for line in summary.exact)


def make_ranked(after: float, tpr: float = 0.36, before: float = 0.897):
    """Withheld links found alike on both, unless `tpr` says otherwise, and ranked otherwise."""
    scores = make_pages(link=0.36, after=tpr)
    for release, value in zip(NAMES, (before, after), strict=True):
        scores[release, "adamic_adar", "auc"] = value
    return make_audit(scores, PAIRED, half=0.0004)


@pytest.mark.parametrize("tpr", [0.36, 0.2])
def test_words_follow_what_is_worst_by_any_measure(tpr):
    """ "Does not clearly change how many" beside an AUC that clearly rose from .897 to .916."""
    summary = summarize_release(make_ranked(0.916, tpr), DELETION)
    assert summary.sentence == (
        "With Random deletion, an attacker reaches 0.92 AUC on withheld links, against 0.90 on the "
        "original."
    )
    assert any("AUC: 0.92 [0.92, 0.92] by Adamic–Adar" in line for line in summary.exact)
    assert "rises to 0.92" in answer_defense(make_ranked(0.916, tpr).results, "link")
    close = summarize_release(make_ranked(0.899, tpr), DELETION).sentence
    assert "reaches 0.899 AUC on withheld links, against 0.897" in close


@pytest.mark.parametrize("after", [0.897, 0.8972, 0.8])
def test_a_ranking_that_does_not_rise_leaves_the_words_to_the_links_found(after):
    told = summarize_release(make_ranked(after), DELETION).sentence
    assert "does not clearly change how many withheld links or private values" in told
    fewer = summarize_release(make_ranked(after, 0.2), DELETION).sentence
    assert "finds fewer withheld links" in fewer
    assert "rises" not in answer_defense(make_ranked(after).results, "link")


def test_three_figures_are_a_list():
    """ "Fewer real links and private values and nodes"."""
    names = ("real links", "private values", "nodes")
    measures = [SimpleNamespace(what=name, is_ranking=False) for name in names]
    found = {
        outcome: [SimpleNamespace(outcome=outcome, measure=measure) for measure in measures]
        for outcome in ("lower", "tie")
    }
    told = _describe_changes("X", found["lower"])
    assert told == "With X, an attacker finds fewer real links, private values and nodes."
    told = _describe_changes("X", found["tie"])
    assert told.endswith("how many real links, private values or nodes an attacker finds.")


def test_another_count_that_rises_is_told_too():
    """More values are guessed right, though no more at a low FPR, by which the page tells them."""
    scores = make_pages(after=0.36)
    for release, accuracy in zip(NAMES, (0.5, 0.7), strict=True):
        scores[release, "gcn", "tpr_at_fpr_0.01"] = 0.6
        scores[release, "gcn", "accuracy"] = accuracy
        scores[release, "class_prior", "accuracy"] = 0.5
    told = summarize_release(make_audit(scores, PAIRED), DELETION).sentence
    assert "an attacker finds more private values" in told


def test_small_counts_can_be_hidden():
    assert Count(3, 5).format(10) == "fewer than 10 of 5"
    assert Count(0, 5).format(10) == "0 of 5"


def test_the_worst_threat_leads_and_its_worst_figure():
    """A threat far above its limit goes before one that comes first in the list."""
    scores = make_pages(link=0.06, baseline=0.01, after=0.01)
    for metric, value, guess in (("tpr_at_fpr_0.01", 0.2, 0.1), ("accuracy", 0.9, 0.3)):
        scores[ORIGINAL, "gcn", metric] = value
        scores[ORIGINAL, "class_prior", metric] = guess
    view = make_audit(scores, PAIRED)
    told = "An attacker guesses 90 of 100 private values right; a baseline attacker reaches 30"
    for policy in (find_policy("public"), None):
        assert summarize_attacks(view, policy=policy).sentence.startswith(told)


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0.36, "36 of 100"),
        (0.043, "43 of 1,000"),
        (0.0017, "17 of 10,000"),
        (0.0, "0 of 100"),
        (1.0, "100 of 100"),
        (0.996, "996 of 1,000"),
        (1e-7, "fewer than 1 of 100,000"),
        (0.9999999, "99,999 of 100,000"),
    ],
)
def test_frequencies_have_two_significant_digits(share, text):
    assert format_frequency(share) == text


@pytest.mark.parametrize(
    ("metric", "text"),
    [
        ("hits_at_1", "25 of 100"),
        ("links_kept", "25 of 100"),
        ("node_classification_f1", "25 of 100"),  # micro F1: the share of right labels
        *((metric, "0.25") for metric in ("auc", "balanced_accuracy", "mrr", "margin_absolute")),
        *((metric, "0.25") for metric in ("link_f1", "degree_ks", "community_nmi")),
        *((metric, "0.25") for metric in ("eigenvector_mae", "average_clustering")),
    ],
)
def test_only_what_counts_cases_is_told_as_a_frequency(metric, text):
    assert Figure(metric, None, None, 0.25).format() == text


@given(st.floats(0, 1), st.floats(0, 1))
def test_frequencies_keep_their_order(first, second):
    texts = format_frequencies(first, second)
    values = []
    for text in texts:
        found = re.findall(r"[\d,]+", text)
        values.append(int(found[0].replace(",", "")) / int(found[1].replace(",", "")))
    if first <= second:
        assert values[0] <= values[1] + 1e-9


def test_an_auc_is_no_count_of_secrets():
    ranked = {(r, attack, "auc"): 0.6 for r in NAMES for attack in LINKS}
    told = summarize_release(make_audit(ranked, LINKS), DELETION).sentence
    assert "the AUC on withheld links that" in told
