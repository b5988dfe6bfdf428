"""No sentence claims what no interval shows: every `answer_` on audits in which nothing differs."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import core.findings as findings
from core.audit.asked.attack import attach_referents
from core.audit.results.node_risks import NODE_COLUMNS
from core.audit.results.view import REPEATS, RESULT_COLUMNS, AuditView
from core.findings.change import answer_defense
from core.findings.columns import answer_columns
from core.findings.comparing import answer_changes, compute_comparison
from core.findings.data_independent import answer_data_independent
from core.findings.exposure import answer_bound, answer_risk, list_risks
from core.findings.groups import answer_groups
from core.findings.homophily import answer_mechanisms
from core.findings.knowing_more import (
    PRECISION,
    RECOVERED,
    answer_adaptive,
    answer_inside,
    answer_odds,
)
from core.findings.margins import answer_margins
from core.findings.pair_profile import answer_pair_profile
from core.findings.policy import find_policy
from core.findings.private_columns import answer_private_columns
from core.findings.strongest import answer_attack, answer_inverted
from core.findings.tradeoff import answer_tradeoff, compute_tradeoff
from core.findings.verdict import judge
from core.findings.verdict_words import describe_decision, explain_others, explain_release
from core.release import ORIGINAL
from core.results import RELEASE
from tests.oracles.audits import make_audit, tabulate_results
from tests.oracles.graphs import two_communities

DEFENSES = ("random_deletion", "edge_rand:epsilon=3.0", "without_columns")
RELEASES = (ORIGINAL, *DEFENSES)
LINKS = ("adamic_adar", "jaccard", "adamic_adar@adaptive", "degree_product")
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
    **dict.fromkeys(LINKS, ("auc", *LOW, "precision_at_100")),
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
ROWS = [(r, m, metric) for r in RELEASES for m, metrics in METRICS.items() for metric in metrics]

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
World = Callable[[str, str, str, int], Result]


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
    place = RELEASES.index(release)
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
        for release in RELEASES
        for method in ("adamic_adar", "degree_product", "label_propagation", "class_prior")
        for node in graph.node_ids[:num_people]
    ]
    return pd.DataFrame(rows, columns=list(NODE_COLUMNS))


def make_world(world: World, nodes: pd.DataFrame) -> AuditView:
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
    side = [str(code) for code in graph.attribute("private").codes]
    return [answer_groups(view.nodes, {"side": pd.Series(side, index=list(graph.node_ids))})]


def tell_changes(view: AuditView) -> list[str]:
    verdict = judge(view, find_policy("public"))
    swapped = dict(zip(RELEASES, RELEASES[::-1], strict=True))
    inverted = attach_referents(view.results.assign(release=view.results.release.map(swapped)))
    earlier = judge(replace(view, results=inverted), find_policy("public"))
    return [answer_changes(compute_comparison(verdict, earlier), "the audit of 3 March 2026")]


def tell_verdict(view: AuditView) -> list[str]:
    told = []
    for key in ("public", "partner", "internal"):
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
    answer_inverted: lambda view: [answer_inverted(view.results, RELEASES)],
    answer_mechanisms: lambda view: answer_mechanisms(view.results),
    answer_tradeoff: tell_tradeoff,
    answer_columns: each(answer_columns, ("link", "attribute")),
    answer_changes: tell_changes,
    answer_groups: tell_groups,
    answer_inside: lambda view: answer_inside(view.results),
    answer_adaptive: lambda view: [
        text for threat in ("link", "attribute") for text in answer_adaptive(view.results, threat)
    ],
    answer_margins: lambda view: [answer_margins(view.results, "label_propagation", RELEASES)],
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


@pytest.mark.parametrize("tell", SENTENCES, ids=lambda tell: tell.__name__)
@pytest.mark.parametrize("world", NOTHING, ids=lambda world: world.__name__)
def test_where_nothing_differs_no_difference_is_claimed(
    world: World, tell: Callable[..., Any]
) -> None:
    nodes = make_nodes(None if world is not_a_number else 0.0)
    for text in SENTENCES[tell](make_world(world, nodes)):
        assert find_claims(text) == [], text
        assert "nan" not in text.lower().split(), text


@pytest.mark.parametrize("tell", SENTENCES, ids=lambda tell: tell.__name__)
@pytest.mark.parametrize("count", [0, 1], ids=["nobody", "one person"])
def test_an_audit_of_nobody_or_of_one_person_has_its_sentences(
    count: int, tell: Callable[..., Any]
) -> None:
    view = make_world(skipped, make_nodes(0.4, count))
    empty = replace(view, results=view.results.iloc[:0])
    for text in [*SENTENCES[tell](view), *SENTENCES[tell](empty)]:
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
