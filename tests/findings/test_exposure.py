"""Counts of exposed nodes say how many attackers stand behind them, and which."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from core.audit.asked.spec import MAX_REPEATS
from core.audit.results.node_risks import NODE_COLUMNS
from core.audit.store.states import State
from core.findings.exposure import (
    answer_risk,
    count_exposed,
    describe_exposed,
    list_exposures,
    propose_repeats,
    summarize_risk,
)
from core.findings.people import Secret, find_worst_secret
from tests.oracles.audits import make_audit
from tests.oracles.node_risks import build_risks

BLIND, BASELINE = "random_match", "degree_product"


def count_risks(*attacks: str, release: str = "original"):
    rows = [
        (f"n{i}", release, attack, 0.9, 0.4, None, None, 1) for attack in attacks for i in range(4)
    ]
    return build_risks(pd.DataFrame(rows, columns=list(NODE_COLUMNS)))


@pytest.mark.parametrize(
    ("attacks", "tried", "names"),
    [
        (["common_neighbors"], "1 quick attack", "Common neighbours"),
        (
            ["common_neighbors", "jaccard", "adamic_adar"],
            "3 quick attacks",
            "Common neighbours, Jaccard, Adamic–Adar",
        ),
        # A form of an attack is no attack of its own, and a baseline none.
        (["jaccard", "jaccard@adaptive", BASELINE], "1 quick attack", "Jaccard"),
        (["jaccard", "gae_cosine"], "2 attacks", "Jaccard, GAE + cosine"),
        ([BASELINE], "1 baseline attacker", "Degree product"),
        # "7 quick attacks" stood before four names.
        (
            ["degree@identity", "degree:error=0.1@identity"],
            "2 quick attacks",
            "Number of links, Number of links (error = 0.1)",
        ),
    ],
)
def test_a_count_names_the_attackers_behind_it(attacks, tried, names):
    nodes = count_risks(*attacks)
    (one,) = list_exposures(nodes)
    assert (one.tried, one.names) == (tried, names)
    assert f"Tried: {tried}: {names}." in answer_risk(nodes)
    assert describe_exposed(nodes).endswith(f"4 of 4 by {tried}.")


def test_attackers_of_another_secret_or_release_do_not_stand_behind_it():
    both = count_risks("common_neighbors", "label_propagation", "gcn", "gcn@column:x")
    tried = {one.secret.threat + one.secret.target: one.tried for one in list_exposures(both)}
    assert tried == {"link": "1 quick attack", "attribute": "2 attacks", "attributex": "1 attack"}


def make_tested(*groups: tuple[int, float, float, int]) -> pd.DataFrame:
    """How many nodes, their advantage, half of its interval, their splits."""
    rows = [
        ("original", "common_neighbors", 0.5 + gain, gain, 0.5 + gain - half, 0.5 + gain + half, s)
        for count, gain, half, s in groups
        for _ in range(count)
    ]
    named = [(f"n{i}", *row) for i, row in enumerate(rows)]
    return pd.DataFrame(named, columns=list(NODE_COLUMNS))


NAN = float("nan")
MIXED = ((3, 0.4, 0.1, 5), (2, 0.4, 0.3, 4), (1, 0.45, NAN, 1), (4, 0.0, 0.1, 5))


def summarize(*groups: tuple[int, float, float, int]):
    return summarize_risk(make_audit({}, ("common_neighbors",), nodes=make_tested(*groups)))


def test_a_headline_counts_who_is_exposed_beyond_noise():
    """ "47 of 100 are exposed" where a third of these had their interval above the limit."""
    summary = summarize(*MIXED)
    assert summary.sentence == (
        "On the original, at least 3 of 10 people are exposed to link inference, likely 6, by 1 "
        "quick attack."
    )
    card, few = summary.cards
    assert (card.value, card.compared_with) == ("at least 3 of 10", "likely 6")
    assert few.title == "People tested in one split"
    assert (few.value, few.compared_with) == ("1 of 10", "remedy: about 5 more repeats")
    assert "1 of 10 people was tested in one of 5 splits" in summary.exact[1]
    table = make_tested(*MIXED)
    text = answer_risk(build_risks(table))
    assert "exposes at least 3, likely 6 of 10 people on the original. Exposed: adv" in text
    assert "; at least: with the lower end of its 95 % interval above it. Tried" in text
    assert text.endswith("gives no interval: about 5 more repeats would test each of them once "
                         "more.")  # fmt: skip
    assert "at least 3, likely 6 of 10 by" in describe_exposed(build_risks(table))
    found = count_exposed(table.advantage, table.low - 0.5)
    assert (found.sure, found.likely, found.at_stake, found.few) == (3, 6, 10, 1)


def test_where_noise_leaves_nobody_open_one_count_is_said():
    summary = summarize((3, 0.4, 0.1, 5), (7, 0.0, 0.1, 5))
    assert "3 of 10 people are exposed to link inference, by 1" in summary.sentence
    assert "least" not in str(summary)
    assert "split" not in str(summary.cards)


def test_one_split_exposes_nobody_surely():
    summary = summarize((4, 0.4, NAN, 1), (6, 0.0, NAN, 1))
    assert summary.sentence == (
        "On the original, no person is surely exposed to link inference, but 4 of 10 likely are, "
        "by 1 quick attack."
    )
    assert summary.cards[1].compared_with == "remedy: at least 1 more repeat"
    card = summary.cards[0]
    assert (card.value, card.compared_with) == ("likely 4 of 10", "none surely")


def test_a_running_audit_says_so_far():
    """ "At least 0 of 375 exposed" while most parts were open."""
    nodes = make_tested((4, 0.4, NAN, 1), (6, 0.0, NAN, 1))
    view = make_audit({}, ("common_neighbors",), nodes=nodes)
    running = replace(view, summary=replace(view.summary, state=State.RUNNING))
    summary = summarize_risk(running)
    assert summary.sentence.startswith("So far, on the original, no person is surely exposed")
    assert summary.cards[0].compared_with == "none surely so far"
    assert "at least 0" not in str(summary).lower()
    assert "so far" not in str(summarize_risk(view)).lower()


def test_the_remedy_is_the_wait_for_another_split():
    """By drawing it: a node tested in one of R splits is at stake in one of R."""
    (one,) = list_exposures(build_risks(make_tested(*MIXED)))
    wait = np.random.default_rng(0).geometric(1 / 5, 20_000).mean()
    assert one.remedy == f"about {round(wait)} more repeats"


def test_the_remedy_can_be_run_and_says_whom_it_settles():
    """By drawing it: whom five splits more would test again, were each at stake in one of five."""
    groups = ((3, 0.4, 0.1, 5), (200, 0.1, NAN, 1))
    view = make_audit({}, ("common_neighbors",), nodes=make_tested(*groups))
    proposed = propose_repeats(view)
    before = view.spec
    assert proposed is not None
    assert proposed.added == 5
    assert proposed.spec == before.update(num_repeats=view.num_repeats + 5, stop_early=False)
    again = (np.random.default_rng(0).random((20_000, 5)) < 1 / 5).any(axis=1).mean()
    (one,) = list_exposures(view.nodes)
    assert one.num_settled == pytest.approx(200 * again, abs=2)
    assert proposed.reason.startswith(f"5 more repeats test some {one.num_settled} of the 200 peop")


def test_no_repeats_are_offered_where_nobody_needs_them_or_none_can_be_added():
    groups = ((3, 0.4, 0.1, 5), (2, 0.1, NAN, 1))
    view = make_audit({}, ("common_neighbors",), nodes=make_tested(*groups))
    settled = make_audit({}, ("common_neighbors",), nodes=make_tested((3, 0.4, 0.1, 5)))
    assert propose_repeats(settled) is None
    for fields in ({"confirmation_error": 0.05}, {"num_repeats": MAX_REPEATS}):
        full = replace(view, spec=view.spec.model_copy(update=fields))
        assert propose_repeats(full) is None
    assert propose_repeats(view, "edge_rand") is None


def test_the_worst_secret_is_the_one_that_surely_exposes_most():
    link = make_tested((5, 0.4, 0.3, 5), (5, 0.0, 0.1, 5))
    value = make_tested((2, 0.4, 0.1, 5), (8, 0.0, 0.1, 5)).assign(attack="gcn")
    table = pd.concat([link, value])
    view = make_audit({}, ("common_neighbors", "gcn"), nodes=table)
    assert "at least" not in summarize_risk(view).sentence
    assert "2 of 10 people are exposed to attribute inference" in summarize_risk(view).sentence
    assert find_worst_secret(view.nodes) == Secret("attribute")
