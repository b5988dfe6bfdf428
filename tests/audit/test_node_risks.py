"""Risk of nodes: the attacker chosen without seeing the node's truth, counts and bound, against
plain loops over the rows."""

from __future__ import annotations

import zlib

import numpy as np
import pandas as pd
import pytest

from core.audit.asked.attack import parse_attack
from core.audit.results.node_risks import CROSS_FITTED, NODE_COLUMNS, Headline, NodeRisks
from core.measures.node_risk import compute_attribute_node_risk
from core.node_column import NodeColumn
from core.registry import list_methods
from core.results import ClassProbabilities
from core.threats import AttributeThreat
from tests.oracles.node_risks import build_risks

LINKS = ("adamic_adar", "common_neighbors")
CLASS, LINK, INCOME = ("attribute", ""), ("link", ""), ("attribute", "income")
REAL = [
    m.info.key
    for m in list_methods("attribute_attack")
    if not m.info.is_baseline and getattr(m, "selects", None) is None
]


def draw_noise(share: float, attacks: list[str], n: int = 400, seed: int = 0) -> NodeRisks:
    """Risks by attackers whose scores are noise, one repeat, nine tenths hidden."""
    rng = np.random.default_rng(seed)
    codes = (np.arange(n) >= share * n).astype(int)
    known = rng.random(n) < 0.1
    threat = AttributeThreat(NodeColumn("z", codes, ("a", "b")), known, ~known)
    tables = []
    for attack in attacks:
        found = compute_attribute_node_risk(ClassProbabilities(rng.dirichlet([1, 1], n)), threat)
        columns = {"risk": found.risk, "advantage": found.advantage, "low": 0.0, "high": 1.0}
        names = [f"p{i}" for i in found.nodes]
        table = {"node": names, "release": "original", "attack": attack, **columns, "seeds": 1}
        tables.append(pd.DataFrame(table))
    return build_risks(pd.concat(tables, ignore_index=True))


def make_risks(*rows: tuple[str, str, float, float]) -> NodeRisks:
    """node, attack, risk, base."""
    values = [(n, "original", a, r, r - b, r, r, 1) for n, a, r, b in rows]
    return build_risks(pd.DataFrame(values, columns=list(NODE_COLUMNS)))


def make_table(seed: int = 4) -> pd.DataFrame:
    """Two releases, two secrets, and nodes that are not at stake everywhere."""
    rng = np.random.default_rng(seed)
    attacks = ("gcn", "gat", *LINKS, "class_prior")
    rows = [
        (f"p{i}", release, attack, risk, risk - (0.4, 0.1)[i % 2], np.nan, np.nan, 1)
        for release in ("original", "edge_rand")
        for attack in attacks
        for i, risk in enumerate(np.where(rng.random(50) < 0.1, np.nan, rng.random(50)))
    ]
    return pd.DataFrame(rows, columns=list(NODE_COLUMNS)).dropna(subset="risk")


def list_attackers(found: Headline | None) -> list[str]:
    """Id of each node's attacker."""
    return [] if found is None else [found.attacks[number].id for number in found.which]


def choose_naively(table: pd.DataFrame) -> dict[tuple[str, tuple[str, str], str], tuple]:
    """(release, secret, node) → attack, risk and advantage, cross-fitted row by row."""
    rows = [
        (row.release, attack.secret, attack.id, row.node, row.risk, row.advantage)
        for row in table.itertuples()
        if not (attack := parse_attack(row.attack)).is_blind
    ]
    found = {}
    for release, secret in dict.fromkeys((row[0], row[1]) for row in rows):
        own = [row for row in rows if row[:2] == (release, secret)]
        for half in (0, 1):
            gains: dict[str, list[float]] = {}
            for _, _, attack, node, _, gain in own:
                if _half(node) != half:
                    gains.setdefault(attack, []).append(gain)
            best = max(gains, key=lambda attack: np.mean(gains[attack]))
            for _, _, attack, node, risk, gain in own:
                if attack == best and _half(node) == half:
                    found[release, secret, node] = attack, risk, gain
    return found


def _half(name: str) -> int:
    return zlib.crc32(name.encode()) & 1


def test_the_headline_is_cross_fitted_and_equals_a_loop():
    risks, found = build_risks(make_table()), {}
    for one in risks.headlines:
        assert one.how == CROSS_FITTED
        (secret,) = one.secrets
        names = risks.names.take(one.nodes)
        for node, attack, *values in zip(
            names, list_attackers(one), one.risk, one.advantage, strict=True
        ):
            found[one.release, secret, node] = attack, *values
    assert found == choose_naively(make_table())
    assert len({release for release, *_ in found}) == 2
    assert len({secret for _, secret, _ in found}) == 2


def test_a_node_is_under_the_worst_of_its_secrets_as_in_a_loop():
    table = make_table()
    risks, naive = build_risks(table), choose_naively(table)
    for release in risks.releases:
        found = risks.find_headline(release)
        names = risks.names.take(found.nodes).tolist()
        assert len(set(names)) == len(names)
        best: dict[str, tuple] = {}
        for (where, _, node), figure in naive.items():
            if where == release and figure[2] > best.get(node, (0, 0, -np.inf))[2]:
                best[node] = figure
        told = zip(names, list_attackers(found), found.risk, found.advantage, strict=True)
        assert {node: tuple(figure) for node, *figure in told} == best
        for row in found.order[:5]:
            figure = found.find(found.nodes[row])
            assert (figure.attack.id, figure.risk, figure.advantage) == best[names[row]]
        gains = found.advantage[found.order]
        assert (np.diff(gains) <= 0).all()
    secrets = (CLASS, LINK)
    alone = [risks.select(["edge_rand"], secret).find_headline("edge_rand") for secret in secrets]
    whole = [risks.find_headline("edge_rand", secret) for secret in secrets]
    for one, other in zip(alone, whole, strict=True):
        assert np.array_equal(one.nodes, other.nodes)
        assert np.array_equal(one.risk, other.risk)


def test_what_is_sure_decides_the_secret_the_order_and_the_counts_as_in_a_loop():
    table, rng = make_table(), np.random.default_rng(0)
    half = rng.choice([0.02, 0.3, np.nan], len(table))
    table = table.assign(low=table.risk - half, high=table.risk + half, seeds=2)
    table.loc[np.isnan(half), "seeds"] = 1
    sure = {
        (row.release, row.attack, row.node): round(row.low - row.risk + row.advantage, 12)
        for row in table.itertuples()
    }
    risks, naive = build_risks(table), choose_naively(table)
    for row in risks.exposed.itertuples():
        own = {
            node: sure[row.release, figure[0], node]
            for (release, secret, node), figure in naive.items()
            if (release, *secret) == (row.release, row.threat, row.target)
        }
        assert row.sure == sum(low > 0.2 for low in own.values())
        assert row.few == sum(np.isnan(low) for low in own.values())
        assert row.repeats == 2
    assert 0 < risks.exposed.sure.sum() < risks.exposed.exposed.sum()
    for release in risks.releases:
        found = risks.find_headline(release)
        names = risks.names.take(found.nodes).tolist()
        for node, attack in zip(names, list_attackers(found), strict=True):
            rivals = [(figure[2], sure[release, figure[0], node], figure[0])
                      for (where, _, who), figure in naive.items()
                      if (where, who) == (release, node)]  # fmt: skip
            surely = [(low, key) for _, low, key in rivals if low > 0.2]
            assert attack == (max(surely)[1] if surely else max(rivals)[2])
        lows = [sure[release, a, n] for n, a in zip(names, list_attackers(found), strict=True)]
        ranks = sorted(
            range(len(names)),
            key=lambda i: (np.isnan(lows[i]), -np.nan_to_num(lows[i]), -found.advantage[i]),
        )
        assert found.order.tolist() == ranks


def test_exposed_are_counted_as_a_loop_counts():
    table = make_table()
    risks, naive = build_risks(table), choose_naively(table)
    for by_base, counted in ((False, risks.exposed), (True, risks.exposed_by_base)):
        groups: dict[tuple, list[tuple]] = {}
        for (release, secret, _), figure in naive.items():
            key = (release, *secret, *([round(figure[1] - figure[2], 6)] if by_base else []))
            groups.setdefault(key, []).append(figure)
        assert len(counted) == len(groups)
        for row in counted.itertuples():
            key = (row.release, row.threat, row.target, *([row.base] if by_base else []))
            gains = [gain for _, _, gain in groups[key]]
            assert (row.exposed, row.n) == (sum(gain > 0.2 for gain in gains), len(gains))
            assert row.share == row.exposed / row.n
            assert (row.mean, row.sd) == pytest.approx((np.mean(gains), np.std(gains, ddof=1)))
            titles = {parse_attack(attack).title for attack, *_ in groups[key]}
            assert set(row.attacks.split(" or ")) == titles


def test_the_bound_takes_the_best_attack_of_each_node():
    table = make_table()
    risks = build_risks(table)
    for row in risks.bound.itertuples():
        best: dict[str, float] = {}
        for one in table[table.release == row.release].itertuples():
            attack = parse_attack(one.attack)
            if attack.secret == (row.threat, row.target) and not attack.is_blind:
                best[one.node] = max(best.get(one.node, -1.0), one.advantage)
        assert (row.exposed, row.n) == (sum(gain > 0.2 for gain in best.values()), len(best))
        assert 0 < row.noise < 1
    assert len(risks.bound) == 4


def test_rows_of_a_node_and_the_table_are_those_of_the_parts():
    table = make_table()
    risks = build_risks(table)
    whole = risks.to_frame()
    assert tuple(whole) == NODE_COLUMNS
    plain = whole.astype(dict.fromkeys(("node", "release", "attack"), "str"))
    expected = table.assign(place=table.node.map(list(risks.names).index))
    order = expected.groupby(["release", "attack"], sort=False).ngroup()
    expected = expected.iloc[np.lexsort((expected.place, order))].drop(columns="place")
    pd.testing.assert_frame_equal(plain, expected.reset_index(drop=True), check_dtype=False)
    rows = risks.list_rows("p7")
    mine = table[table.node == "p7"]
    assert rows.risk.tolist() == mine.risk.tolist()
    assert [attack.id for attack in rows.attack] == mine.attack.tolist()
    assert risks.list_rows("nobody").empty
    assert risks.list_figures("nobody") == []
    figures = risks.list_figures("p7", CLASS)
    naive = choose_naively(table)
    assert [(one.attack.id, one.risk) for one in figures] == [
        naive[key][:2] for r in risks.releases if (key := (r, CLASS, "p7")) in naive
    ]
    assert figures[0].base == pytest.approx(0.1)


def test_a_selection_has_its_releases_and_its_secret_alone():
    table = make_table()
    found = build_risks(table).select(["edge_rand"], LINK)
    chosen = table[(table.release == "edge_rand") & (table.attack.isin(LINKS))]
    assert [(release, attack.id) for release, attack in found.parts] == list(
        dict.fromkeys(zip(chosen.release, chosen.attack, strict=True))
    )
    assert found.releases == ["edge_rand"]
    assert {one.release for one in found.headlines} == {"edge_rand"}


def test_what_is_computed_is_kept():
    risks = build_risks(make_table())
    assert risks.exposed is risks.exposed
    assert risks.select(secret=CLASS).find_headline("original") is risks.find_headline(
        "original", CLASS
    )
    assert risks.find_headline("original") is risks.find_headline("original")


def test_no_node_at_stake_is_no_headline():
    nobody = build_risks(make_table().iloc[:0])
    assert nobody.is_empty
    assert nobody.to_frame().empty
    assert nobody.exposed.empty
    assert nobody.bound.empty
    assert nobody.releases == []
    assert nobody.find_headline("original") is None


def test_attacks_on_different_halves_choose_nobody():
    """Each half is under the attack that is best on the other one, which knows none of it."""
    first, second = ([f"p{i}" for i in range(9) if _half(f"p{i}") == half] for half in (0, 1))
    rows = [(n, "gcn", 0.9, 0.5) for n in first] + [(n, "gat", 0.9, 0.5) for n in second]
    risks = make_risks(*rows)
    assert risks.find_headline("original") is None
    assert risks.exposed.empty
    assert risks.bound.exposed.tolist() == [9]


@pytest.mark.parametrize("share", [0.5, 0.73, 0.82])
def test_fourteen_noise_attackers_expose_at_most_one_in_a_hundred(share):
    attacks = (REAL + [f"{key}:epochs=7" for key in ("gcn", "gat", "sage")])[:14]
    assert len(attacks) == 14
    shares, bounds = [], []
    for seed in range(5):
        risks = draw_noise(share, attacks, seed=seed)
        shares.append(risks.exposed.share.iloc[0])
        bounds.append(risks.bound.exposed.iloc[0] / risks.bound.n.iloc[0])
    assert np.mean(shares) <= 0.01
    assert np.mean(bounds) > np.mean(shares)  # the maximum per person does find somebody


def test_the_noise_level_of_the_bound_is_what_noise_reaches():
    found = [draw_noise(0.5, REAL, seed=seed).bound.iloc[0] for seed in range(6)]
    reached = np.mean([row.exposed / row.n for row in found])
    assert np.mean([row.noise for row in found]) == pytest.approx(reached, abs=0.05)


def find_attackers(*rows: tuple[str, str, float, float]) -> list[str]:
    return list_attackers(make_risks(*rows).find_headline("original"))


def test_the_ensemble_leads_then_the_best_single_attack_whoever_does_better():
    rows = [("a", "gcn", 0.95, 0.5), ("a", "best_single", 0.6, 0.5), ("a", "ensemble", 0.4, 0.5)]
    assert find_attackers(*rows) == ["ensemble"]
    assert find_attackers(*rows[:2]) == ["best_single"]
    assert "known values" in make_risks(*rows[:2]).find_headline("original").how


def test_who_weighs_all_evidence_leads_beside_a_chooser_where_it_gains_more():
    own = "neighbourhood_classifier"
    rows = [("a", "gcn", 0.95, 0.5), ("a", own, 0.7, 0.5), ("a", "ensemble", 0.4, 0.5)]
    assert find_attackers(*rows) == [own]
    how = make_risks(*rows).find_headline("original").how
    assert how == "Neighbourhood classifier, which selects on known values"
    assert find_attackers(rows[0], ("a", own, 0.3, 0.5), rows[2]) == ["ensemble"]
    assert find_attackers(*rows[:2]) == ["gcn"]  # chosen over other people, as all attacks are


def test_of_attackers_who_know_different_things_the_worse_is_taken():
    rows = ("a", "ensemble", 0.5, 0.5), ("a", "ensemble@auxiliary:0.1", 0.7, 0.5)
    assert find_attackers(*rows) == ["ensemble@auxiliary:0.1"]


def test_null_attackers_expose_nobody():
    risks = make_risks(("a", "class_prior", 0.99, 0.5), ("b", "class_prior", 0.99, 0.5))
    assert risks.find_headline("original") is None
    assert risks.exposed.empty
    assert risks.bound.empty


def test_secrets_have_attackers_of_their_own_and_a_person_the_one_who_gains_most():
    risks = make_risks(
        ("a", "adamic_adar", 0.7, 0.5),
        ("a", "ensemble", 0.9, 0.8),
        ("a", "ensemble@column:income", 0.5, 0.1),
        ("b", "ensemble", 0.9, 0.8),
    )
    assert {one.secrets for one in risks.headlines} == {(LINK,), (CLASS,), (INCOME,)}
    figure = risks.find_headline("original").find(risks.find("a"))
    assert figure.attack.target == "income"
    assert figure.base == pytest.approx(0.1)
    assert risks.exposed.set_index("target").exposed["income"] == 1


def test_an_attack_that_reads_published_columns_exposes_people():
    """ "0 of 2,736 people are exposed, at most 0" while feature regression knew every value."""
    rare = [f"p{i}" for i in range(25)]
    rows = [(n, "feature_regression", 0.98, 0.09) for n in rare]
    rows += [(f"q{i}", "feature_regression", 0.99, 0.91) for i in range(245)]
    guesses = [
        (n, attack, base, base) for n, _, _, base in rows for attack in ("class_prior", "gcn")
    ]
    risks = make_risks(*rows, *guesses)
    assert risks.exposed.exposed.tolist() == [25]
    assert risks.bound.exposed.tolist() == [25]
    assert set(list_attackers(risks.find_headline("original"))) == {"feature_regression"}
    chosen = make_risks(*rows, *((n, "ensemble", b, b) for n, _, _, b in rows))
    assert chosen.exposed.exposed.tolist() == [25]
    assert make_risks(*((n, "class_prior", 0.9, b) for n, _, _, b in rows)).exposed.empty


def test_an_attack_of_another_version_is_a_secret_of_its_own():
    risks = make_risks(("a", "lost_plugin", 0.9, 0.5), ("a", "gcn", 0.6, 0.5))
    assert risks.find_headline("original", ("", "")).find(0).attack.title == "lost_plugin"


@pytest.mark.parametrize(
    ("ahead", "behind", "is_chosen"), [(12, 1, False), (12, 11, True), (2, 1, False)]
)
def test_an_unfinished_attack_far_behind_takes_nobodys_interval(ahead, behind, is_chosen):
    """72 people were surely exposed after twelve repeats, and none once a stronger attack had one:
    such an attack is no rival before it is at most one repeat behind, with an interval."""
    attacks = [
        ("adamic_adar", 0.6, 0.55, ahead),
        ("common_neighbors", 0.7, np.nan if behind == 1 else 0.65, behind),
    ]
    rows = [
        (f"p{i}", "original", attack, risk, risk - 0.1, low, 1.0, seeds)
        for i in range(40)
        for attack, risk, low, seeds in attacks
    ]
    done = build_risks(pd.DataFrame(rows, columns=list(NODE_COLUMNS)))
    weak, strong = done.list_attacks("original", LINK)
    assert done.list_rivals("original", LINK) == [weak, strong]
    assert done.find_headline("original").attacks == (strong, strong)
    pair = ("original", strong)
    running = NodeRisks.build(list(done.names), done.parts, done.made.values(), [pair])
    expected = [weak, strong] if is_chosen else [weak]
    assert running.list_rivals("original", LINK) == expected
    assert running.select(["original"]).find_headline("original").attacks == (expected[-1],) * 2
    assert running.exposed.sure.sum() == 40
