"""The headline attacker: chosen without seeing the person's truth, so that noise exposes nobody."""

from __future__ import annotations

import gc
import weakref
import zlib

import numpy as np
import pandas as pd
import pytest

from core.attribute import Attribute
from core.audit.attack import parse_attack
from core.audit.view import NODE_COLUMNS, spell
from core.findings.attackers import (
    CROSS_FITTED,
    compute_bound,
    compute_exposed,
    compute_headline,
    compute_headlines,
    find_headlines,
    list_rows,
    tabulate_exposed,
)
from core.findings.node_card import compute_node_risks
from core.findings.people import Secret, compare_people, rank_people, select_secret
from core.findings.risk import compute_heatmap, compute_risk_shares, compute_worst_case
from core.measures.node_risk import compute_attribute_node_risk
from core.registry import list_methods
from core.results import ClassProbabilities
from core.threats import AttributeThreat

REAL = [
    m.info.key
    for m in list_methods("attribute_attack")
    if not m.info.is_baseline and m.info.key not in ("ensemble", "best_single")
]


def draw_noise(share: float, attacks: list[str], n: int = 400, seed: int = 0) -> pd.DataFrame:
    """The node table of attackers whose scores are noise, one repeat, nine tenths hidden."""
    rng = np.random.default_rng(seed)
    codes = (np.arange(n) >= share * n).astype(int)
    known = rng.random(n) < 0.1
    threat = AttributeThreat(Attribute("z", codes, ("a", "b")), known, ~known)
    tables = []
    for attack in attacks:
        found = compute_attribute_node_risk(ClassProbabilities(rng.dirichlet([1, 1], n)), threat)
        columns = {"risk": found.risk, "advantage": found.advantage, "low": 0.0, "high": 1.0}
        names = [f"p{i}" for i in found.nodes]
        table = {"node": names, "release": "original", "attack": attack, **columns, "seeds": 1}
        tables.append(pd.DataFrame(table))
    return pd.concat(tables, ignore_index=True)[list(NODE_COLUMNS)]


def make_rows(*rows: tuple[str, str, float, float]) -> pd.DataFrame:
    """node, attack, risk, base."""
    values = [(n, "original", a, r, r - b, r, r, 1) for n, a, r, b in rows]
    return pd.DataFrame(values, columns=list(NODE_COLUMNS))


@pytest.mark.parametrize("share", [0.5, 0.73, 0.82])
def test_fourteen_noise_attackers_expose_at_most_one_in_a_hundred(share):
    attacks = (REAL + [f"{key}:epochs=7" for key in ("gcn", "gat", "sage")])[:14]
    assert len(attacks) == 14
    shares, bounds = [], []
    for seed in range(5):
        nodes = draw_noise(share, attacks, seed=seed)
        shares.append(compute_exposed(nodes).share.iloc[0])
        bounds.append(compute_bound(nodes).exposed.iloc[0] / len(set(nodes.node)))
    assert np.mean(shares) <= 0.01
    assert np.mean(bounds) > np.mean(shares)  # the maximum per person does find somebody


def test_the_noise_level_of_the_bound_is_what_noise_reaches():
    nodes = [draw_noise(0.5, REAL, seed=seed) for seed in range(6)]
    found = [compute_bound(table).iloc[0] for table in nodes]
    reached = np.mean([row.exposed / row.n for row in found])
    assert np.mean([row.noise for row in found]) == pytest.approx(reached, abs=0.05)


def test_the_ensemble_leads_then_the_best_single_attack_whoever_does_better():
    rows = [("a", "gcn", 0.95, 0.5), ("a", "best_single", 0.6, 0.5), ("a", "ensemble", 0.4, 0.5)]
    assert compute_headline(make_rows(*rows)).attack.tolist() == ["ensemble"]
    found = compute_headline(make_rows(*rows[:2]))
    assert found.attack.tolist() == ["best_single"]
    assert "known values" in found.how[0]


def test_who_weighs_all_evidence_leads_beside_a_chooser_where_it_gains_more():
    own = "neighbourhood_classifier"
    rows = [("a", "gcn", 0.95, 0.5), ("a", own, 0.7, 0.5), ("a", "ensemble", 0.4, 0.5)]
    found = compute_headline(make_rows(*rows))
    assert found.attack.tolist() == [own]
    assert "Neighbourhood classifier, which selects on known values" in found.how[0]
    weaker = [rows[0], ("a", own, 0.3, 0.5), rows[2]]
    assert compute_headline(make_rows(*weaker)).attack.tolist() == ["ensemble"]
    alone = compute_headline(make_rows(*rows[:2]))
    assert alone.attack.tolist() == ["gcn"]  # chosen over other people, as all attacks are


def test_null_attackers_expose_nobody():
    nodes = make_rows(("a", "class_prior", 0.99, 0.5), ("b", "class_prior", 0.99, 0.5))
    assert compute_headline(nodes).empty
    assert compute_exposed(nodes).empty
    assert compute_bound(nodes).empty


def test_the_choice_is_cross_fitted_and_equals_a_loop():
    rng = np.random.default_rng(0)
    names = [f"p{i}" for i in range(30)]
    rows = [(n, a, rng.random(), 0.5) for n in names for a in ("gcn", "gat", "mlp")]
    nodes = make_rows(*rows)
    found = compute_headlines(nodes).set_index("node")
    assert (found.how == CROSS_FITTED).all()
    for name in names:
        gains = {}
        for attack in ("gcn", "gat", "mlp"):
            others = [r - b for n, a, r, b in rows if a == attack and _half(n) != _half(name)]
            gains[attack] = sum(others) / len(others)
        assert found.attack[name] == max(gains, key=gains.__getitem__)
        risk = next(r for n, a, r, _ in rows if (n, a) == (name, found.attack[name]))
        assert found.risk[name] == risk


def _half(name: str) -> int:
    return zlib.crc32(name.encode()) & 1


def test_names_and_their_numbers_tell_the_same():
    rng = np.random.default_rng(1)
    names, attacks = [f"p{i}" for i in range(40)], ("gcn", "gat", "adamic_adar", "class_prior")
    nodes = make_rows(*((n, a, rng.random(), 0.5) for n in names for a in attacks))
    second = nodes.assign(release="edge_rand", advantage=nodes.advantage[::-1].to_numpy())
    nodes = pd.concat([nodes, second], ignore_index=True)
    named = ["node", "release", "attack"]
    numbered = nodes.astype(dict.fromkeys(named, "category"))
    # The same names in another order, which pandas calls an equal type: another graph's people.
    backwards = numbered.assign(node=numbered.node.cat.reorder_categories(sorted(names)[::-1]))
    secret = Secret("attribute")
    for compute in (
        compute_headlines,
        compute_headline,
        compute_exposed,
        compute_bound,
        lambda rows: spell(rank_people(rows, secret, "edge_rand")),
        lambda rows: compare_people(rows, secret, "edge_rand", names[5:]).reset_index(),
        lambda rows: spell(compute_heatmap(rows, "edge_rand")),
        lambda rows: spell(compute_heatmap(rows, "edge_rand", secret=("attribute", ""))),
        compute_worst_case,
        compute_risk_shares,
        lambda rows: compute_node_risks(rows, "p7"),
    ):
        expected = compute(nodes)
        for rows in (numbered, backwards):
            told = compute(rows)
            assert not any(isinstance(told[c].dtype, pd.CategoricalDtype) for c in told)
            pd.testing.assert_frame_equal(told, expected, check_dtype=False)


def test_secrets_have_attackers_of_their_own_and_a_person_the_one_who_gains_most():
    nodes = make_rows(
        ("a", "adamic_adar", 0.7, 0.5),
        ("a", "ensemble", 0.9, 0.8),
        ("a", "ensemble@column:income", 0.5, 0.1),
        ("b", "ensemble", 0.9, 0.8),
    )
    table = compute_headlines(nodes)
    assert set(zip(table.threat, table.target, strict=True)) == {
        ("link", ""),
        ("attribute", ""),
        ("attribute", "income"),
    }
    found = compute_headline(nodes).set_index("node")
    assert found.target["a"] == "income"
    assert found.base["a"] == pytest.approx(0.1)
    exposed = compute_exposed(nodes).set_index("target").exposed
    assert exposed["income"] == 1


def test_exposed_people_are_counted_by_class_beside_its_base():
    nodes = make_rows(("a", "gcn", 0.9, 0.8), ("b", "gcn", 0.5, 0.2), ("c", "gcn", 0.3, 0.2))
    table = compute_exposed(nodes, by_base=True).set_index("base")
    assert table.exposed.to_dict() == {0.8: 0, 0.2: 1}
    assert table.n.to_dict() == {0.8: 1, 0.2: 2}
    shown = tabulate_exposed(nodes, ["original"]).set_index("Base rate")
    assert shown.Share.to_dict() == {"80 %": "0 %", "20 %": "50 %"}
    assert set(shown.After) == {"private attribute"}


def test_of_attackers_who_know_different_things_the_worse_is_taken():
    nodes = make_rows(("a", "ensemble", 0.5, 0.5), ("a", "ensemble@auxiliary:0.1", 0.7, 0.5))
    assert compute_headline(nodes).attack.tolist() == ["ensemble@auxiliary:0.1"]


def test_an_attack_that_reads_published_columns_exposes_people():
    """ "0 of 2,736 people are exposed, at most 0" while feature regression knew every value."""
    rare = [f"p{i}" for i in range(25)]
    rows = [(n, "feature_regression", 0.98, 0.09) for n in rare]
    rows += [(f"q{i}", "feature_regression", 0.99, 0.91) for i in range(245)]
    guesses = [
        (n, attack, base, base) for n, _, _, base in rows for attack in ("class_prior", "gcn")
    ]
    nodes = make_rows(*rows, *guesses)
    assert compute_exposed(nodes).exposed.tolist() == [25]
    assert compute_bound(nodes).exposed.tolist() == [25]
    assert set(compute_headline(nodes).attack) == {"feature_regression"}
    chosen = make_rows(*rows, *((n, "ensemble", b, b) for n, _, _, b in rows))
    assert compute_exposed(chosen).exposed.tolist() == [25]
    assert compute_exposed(make_rows(*((n, "class_prior", 0.9, b) for n, _, _, b in rows))).empty


def make_table(seed: int = 4) -> pd.DataFrame:
    """Two releases, two secrets, unknown risks, as categories."""
    rng = np.random.default_rng(seed)
    attacks = ("gcn", "gat", "adamic_adar", "common_neighbors", "class_prior")
    rows = [
        (f"p{i}", release, attack, risk, risk - 0.4, np.nan, np.nan, 1)
        for release in ("original", "edge_rand")
        for attack in attacks
        for i, risk in enumerate(np.where(rng.random(50) < 0.1, np.nan, rng.random(50)))
    ]
    table = pd.DataFrame(rows, columns=list(NODE_COLUMNS))
    return table.astype(dict.fromkeys(("node", "release", "attack"), "category"))


@pytest.mark.parametrize("is_mixed", [False, True])
def test_rows_by_release_and_attack_equal_a_loop(is_mixed):
    table = make_table()
    table = table.sample(frac=0.7, random_state=0) if is_mixed else table
    expected: dict[tuple[str, str], list[int]] = {}
    for number, row in enumerate(table.itertuples()):
        if row.risk == row.risk:
            expected.setdefault((row.release, row.attack), []).append(number)
    found = {pair: np.arange(len(table))[rows].tolist() for pair, rows in list_rows(table).items()}
    assert found == expected
    assert list(found) == list(expected)


def test_exposed_are_counted_as_the_headlines_say():
    table, keys = make_table(), ["release", "threat", "target"]
    headlines = compute_headlines(table).round({"base": 6})
    for by in (keys, [*keys, "base"]):
        exposed = compute_exposed(table, by_base="base" in by).set_index(by)
        assert len(exposed) == headlines.groupby(by).ngroups
        for key, own in headlines.groupby(by):
            row = exposed.loc[key]
            assert (row.exposed, row.n) == ((own.advantage > 0.2).sum(), len(own))
            assert row["mean"] == pytest.approx(own.advantage.mean())
            assert row.sd == pytest.approx(own.advantage.std())
            assert set(row.attacks.split(" or ")) == {parse_attack(i).title for i in own.attack}


def test_one_secret_has_the_headlines_that_it_has_alone():
    table = make_table()
    for secret in (Secret("attribute"), Secret("link")):
        own, key = select_secret(table, secret), (secret.threat, secret.target)
        pd.testing.assert_frame_equal(
            spell(find_headlines(table, "edge_rand", key)),
            compute_headlines(own[own.release == "edge_rand"]),
        )
        pd.testing.assert_frame_equal(
            spell(compute_heatmap(table, "edge_rand", secret=key)),
            spell(compute_heatmap(own, "edge_rand")),
        )


def test_a_table_is_counted_once_and_another_one_anew():
    table = make_table()
    first = compute_exposed(table)
    assert compute_exposed(table) is first
    assert compute_exposed(table, by_base=True) is not first
    changed = table.assign(advantage=table.advantage + 1)
    assert compute_exposed(changed).exposed.sum() > first.exposed.sum()
    alive = weakref.ref(table)
    del table
    gc.collect()
    assert alive() is None, "what was counted keeps no table"
