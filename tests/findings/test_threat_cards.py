"""The three questions side by side, each between the best baseline attacker and all secrets."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest

from core.audit.results.view import CONTROL_COLUMNS
from core.findings.strongest import summarize_attacks
from core.findings.threat_cards import format_question
from core.nouns import NOUNS
from core.release import ORIGINAL
from pages.ui.cards import draw_bar
from tests.oracles.audits import make_audit

LOW_FPR = "tpr_at_fpr_0.01"
SCORES = {
    (ORIGINAL, "adamic_adar", LOW_FPR): 0.4,
    (ORIGINAL, "degree_product", LOW_FPR): 0.2,
    (ORIGINAL, "gcn", "auc"): 0.8,
    (ORIGINAL, "class_prior", "auc"): 0.5,
}
ATTACKS = ("adamic_adar", "degree_product", "gcn", "class_prior")


def test_only_what_was_attacked_is_asked_with_its_baseline_in_one_bar():
    cards = summarize_attacks(make_audit(SCORES, ATTACKS)).cards
    asked = [card.question for card in cards]
    assert asked == ["Are two people linked?", "Which value does a person have?"]
    bars = [card.bar for card in cards]
    above = (0.4 - 0.01) / 0.99, (0.2 - 0.01) / 0.99  # over what guessing reaches
    assert (bars[0].value, bars[0].baseline) == pytest.approx(above)
    assert (bars[0].low, bars[0].high) == pytest.approx((0.38 / 0.99, 0.40 / 0.99))
    assert (bars[1].value, bars[1].baseline) == pytest.approx((0.6, 0.0))
    assert [bar.control for bar in bars] == [None, None]


def test_control_nodes_stand_beside_the_attack_that_was_tried_on_them():
    view = make_audit(SCORES, ATTACKS)
    rows = [
        (ORIGINAL, attack, LOW_FPR, value, 0.0, 0.1, 40, 5, 0.3, 0.2, 0.4)
        for attack, value in (("degree_product", 0.9), ("adamic_adar", 0.08))
    ]
    view = replace(view, control=pd.DataFrame(rows, columns=list(CONTROL_COLUMNS)))
    first, second = summarize_attacks(view).cards
    assert first.bar.control == pytest.approx((0.08 - 0.01) / 0.99)
    assert first.compared_with.endswith("; control 8 of 100")
    assert second.bar.control is None
    assert "control" not in second.compared_with


def test_a_bar_places_each_mark_and_says_it():
    card = summarize_attacks(make_audit(SCORES, ATTACKS)).cards[1]
    html = draw_bar(card.bar, card.value, card.compared_with)
    assert 'style="width:60.0%"' in html
    assert '<i style="left:0.0%"></i>' in html
    assert "<b " not in html
    assert f'aria-label="{card.value}, {card.compared_with}"' in html
    hostile = draw_bar(card.bar, card.value, '"><script>')
    assert "<script>" not in hostile


@pytest.mark.parametrize(
    ("threat", "question"),
    [
        ("included", "Are two papers linked?"),
        ("attribute", "Which value does a paper have?"),
        ("identity", "Who is who?"),
    ],
)
def test_questions_name_the_nodes(threat, question):
    assert format_question(threat, NOUNS["papers"]) == question


@pytest.mark.parametrize(
    ("interval", "beside"),
    [(0.01, "by the baseline, others 10 of 100"), (0.5, "by the baseline, others within noise")],
)
def test_the_number_beside_a_limit_is_the_one_that_is_held_against_it(interval, beside):
    """ "10 of 1,000, limit exceeded" beside "baseline 125 of 1,000", which the decision told."""
    scores = {**SCORES, (ORIGINAL, "adamic_adar", LOW_FPR): 0.1}
    view = make_audit(scores, ATTACKS)
    is_low = view.results.metric == LOW_FPR
    ends = {
        "low": view.results.low.mask(is_low, view.results.value - interval),
        "high": view.results.high.mask(is_low, view.results.value + interval),
    }
    view = replace(view, results=view.results.assign(**ends))
    card = summarize_attacks(view).cards[0]
    assert (card.value, card.compared_with) == ("20 of 100", beside)
    assert card.bar.value == pytest.approx(card.bar.baseline)
    assert "0.20" in card.detail
