"""Gains by group: a planted gap is named, one that chance makes is not."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from core.audit.results.node_risks import NODE_COLUMNS
from core.findings.groups import (
    _format_groups,
    answer_groups,
    compute_group_advantage,
    compute_largest_gap,
)
from tests.oracles.node_risks import build_risks


def make_nodes(gap: float, n: int = 200, seed: int = 0) -> tuple[pd.DataFrame, dict]:
    rng = np.random.default_rng(seed)
    names = [f"p{i}" for i in range(n)]
    women = np.arange(n) % 2 == 0
    rows = []
    for release, scale in (("original", 1.0), ("random_deletion", 0.0)):
        gain = rng.normal(0.05, 0.1, n) + gap * scale * women
        for name, value in zip(names, gain, strict=True):
            rows.append((name, release, "gcn", 0.5 + value, value, 0.0, 1.0, 3))
            rows.append((name, release, "class_prior", 0.99, 0.49, 0.0, 1.0, 3))
    groups = {
        "gender": pd.Series(np.where(women, "w", "m"), names),
        "region": pd.Series(rng.choice(list("abc"), n), names),
        "rare": pd.Series("x", names[:9]),
    }
    return pd.DataFrame(rows, columns=list(NODE_COLUMNS)), groups


def test_gains_equal_a_loop_and_small_groups_are_left_out():
    nodes, groups = make_nodes(0.2)
    table = compute_group_advantage(build_risks(nodes), groups)
    real = nodes[(nodes.attack == "gcn") & (nodes.release == "original")]
    women = [r.advantage for r in real.itertuples() if groups["gender"][r.node] == "w"]
    row = table[(table.release == "original") & (table.group == "w")].iloc[0]
    assert (row.value, row.n) == (pytest.approx(np.mean(women)), 100)
    assert row.high - row.value == pytest.approx(1.96 * np.std(women, ddof=1) / 10)
    assert "rare" not in set(table.column)


def test_the_largest_gap_is_named_with_what_a_defense_makes_of_it():
    nodes, groups = make_nodes(0.2)
    nodes = build_risks(nodes)
    gaps = compute_largest_gap(compute_group_advantage(nodes, groups)).set_index("release")
    assert gaps.loc["original", ["column", "most", "least"]].tolist() == ["gender", "w", "m"]
    assert gaps.loc["original"].low > 0
    text = answer_groups(nodes, groups)
    assert "by gender, the advantage is largest on w and smallest on m: a gap of 0.1" in text
    assert ". The largest gap is " in text
    assert "Random deletion" in text


def test_a_gap_by_chance_is_called_one():
    named = 0
    for seed in range(20):
        nodes, groups = make_nodes(0.0, seed=seed)
        text = answer_groups(build_risks(nodes), groups)
        named += "beyond chance" not in text
    assert named <= 3
    assert answer_groups(build_risks(nodes), {}) == ""


@pytest.mark.parametrize(
    ("classes", "names"),
    [
        ([str(float(np.float32(h))) for h in (195.58, 210.82)], ["195.58", "210.82"]),
        (["1.00000001", "1.00000002"], ["1.00000001", "1.00000002"]),
        (["1.0000000012345", "1.0000000022345"], ["1.00000000123", "1.00000000223"]),
        (["1.00000000000012345", "1.00000000000022345"], None),
        (["north", "180", "2000000", "180.5"], None),
        (["123456789.25", "nan", "inf", "1e-07", "0.00000012345678"], None),
    ],
)
def test_numbers_are_named_in_as_few_digits_as_tell_them_apart(classes, names):
    assert list(_format_groups(classes)) == (names or classes)
