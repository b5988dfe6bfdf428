"""Two rows differ where their repeats do, not where their intervals fail to overlap."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from core.audit.asked.spec import AuditSpec
from core.audit.results.export import describe_audit
from core.data.synthetic import generate_social
from core.findings.change import answer_defense
from core.findings.differences import compare_rows, estimate_difference, is_clear
from core.release import ORIGINAL
from tests.inline import run_inline


def make_row(values, width=0.1, is_inverted=False):
    value = float(np.mean(values))
    repeats = dict(enumerate(map(float, values)))
    ends = {"value": value, "low": value - width, "high": value + width}
    return SimpleNamespace(**ends, repeats=repeats, is_inverted=is_inverted)


SPLITS = np.array([0.6, 0.7, 0.8, 0.65, 0.75])


def test_what_makes_a_split_hard_cancels():
    before, after = make_row(SPLITS), make_row(SPLITS - [0.05, 0.06, 0.04, 0.05, 0.05])
    assert is_clear(before, after)
    found = compare_rows(before, after)
    assert found.value == pytest.approx(-0.05)
    assert found.high < 0
    # Other splits of the same means: no longer clear.
    assert not is_clear(before, make_row(SPLITS[::-1] - 0.05))


def test_few_repeats_fall_back_on_both_intervals():
    assert compare_rows(make_row([0.8, 0.9]), make_row([0.6, 0.7])) is None
    assert is_clear(make_row([0.8, 0.9], 0.05), make_row([0.6, 0.7], 0.05))
    assert not is_clear(make_row([0.8, 0.9], 0.2), make_row([0.6, 0.7], 0.2))


def test_a_difference_has_an_interval_of_its_own():
    gains = np.array([0.05, 0.06, 0.04, 0.05, 0.05])
    before, after = make_row(SPLITS), make_row(SPLITS + gains)
    assert estimate_difference(before, after) == compare_rows(before, after)
    # Of two repeats: as of independent rows, the half-widths added in squares.
    found = estimate_difference(make_row([0.6, 0.7], 0.03), make_row([0.8, 0.9], 0.04))
    assert [found.value, found.low, found.high] == pytest.approx([0.2, 0.15, 0.25])
    unknown = make_row([0.6], np.nan)
    assert estimate_difference(unknown, make_row([0.8], 0.04)).low is None


def test_a_turned_row_counts_turned_round():
    inverted = make_row(1 - SPLITS, is_inverted=True)
    assert compare_rows(make_row(SPLITS), inverted).value == pytest.approx(0)


def test_an_audit_hands_its_repeats_to_the_words_and_not_to_its_file(tmp_path):
    graph = generate_social(200)
    fields = {
        "graph_hash": graph.content_hash,
        "private": "affiliation",
        "attacks": [{"key": "label_propagation"}, {"key": "class_prior"}],
        "defenses": [{"key": "random_deletion", "config": {"strength": 0.9}}],
        "num_repeats": 3,
    }
    view = run_inline(AuditSpec.check_spec(fields), graph, tmp_path)
    rows = view.results[(view.results.metric == "auc") & (view.results.release == ORIGINAL)]
    row = rows[rows.method == "label_propagation"].iloc[0]
    assert set(row.repeats) == {0, 1, 2}
    assert np.mean(list(row.repeats.values())) == pytest.approx(row.value)
    assert "on the same splits" in answer_defense(view.results, "attribute")
    assert "repeats" not in pd.DataFrame(describe_audit(view)["results"]).columns
