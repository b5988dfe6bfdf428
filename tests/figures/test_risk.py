"""Heatmap, shares and groups against plain loops."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from core.audit.asked.attack import parse_attack
from core.audit.asked.presets import list_released_attacks
from core.audit.asked.release_info import ReleaseInfo
from core.audit.results.node_risks import NODE_COLUMNS, NodeRisks
from core.figures.risk_charts import risk_by_group, risk_distribution
from core.figures.risk_heatmap import risk_heatmap
from core.findings.numbers import format_number
from core.findings.risk import (
    align_attacks,
    compute_group_risk,
    compute_heatmap,
    compute_risk_shares,
    count_forms,
    list_segments,
    tabulate_exposed,
)
from core.measures.node_risk import ADVANTAGE_LIMIT
from tests.oracles.node_risks import build_risks

from .conftest import RELEASES
from .test_theme import luminance


def make_nodes(num_nodes: int, attacks: int = 4) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    size = num_nodes * attacks
    risk = rng.random(size)
    risk[rng.random(size) < 0.2] = np.nan
    return pd.DataFrame(
        {
            "node": np.repeat([f"v{i}" for i in range(num_nodes)], attacks),
            "release": "original",
            "attack": np.tile([f"attack{i}" for i in range(attacks)], num_nodes),
            "risk": risk,
            "advantage": risk - 0.5,
            "low": risk,
            "high": risk,
            "seeds": 3,
        }
    )[list(NODE_COLUMNS)]


def list_headlines(nodes: NodeRisks) -> pd.DataFrame:
    """release, node, risk and advantage of the headline attacker."""
    return pd.concat(
        pd.DataFrame(
            {
                "release": one.release,
                "node": np.asarray(nodes.names.take(one.nodes)),
                "risk": one.risk,
                "advantage": one.advantage,
            }
        )
        for one in map(nodes.find_headline, nodes.releases)
    )


def test_a_node_with_nothing_at_stake_is_absent():
    nodes = make_nodes(3)
    nodes.loc[nodes.node == "v1", "risk"] = np.nan
    risks = build_risks(nodes)
    assert "v1" not in set(compute_heatmap(risks, "original").node)
    assert "v1" not in set(list_headlines(risks).node)


def draw(nodes: pd.DataFrame | NodeRisks, *releases: str, **options):
    """The heatmap of releases with the people in the order of the first."""
    nodes = build_risks(nodes) if isinstance(nodes, pd.DataFrame) else nodes
    by = options.get("by", "advantage")
    first = compute_heatmap(nodes, releases[0], by=by)
    order = nodes.names.get_indexer(first.node)
    others = {r: compute_heatmap(nodes, r, by=by, order=order) for r in releases[1:]}
    tables = {nodes.made[r]: table for r, table in {releases[0]: first, **others}.items()}
    return risk_heatmap(tables, **options)


def read_names(figure, panel: int = 1) -> list[str]:
    """Names of the rows of a panel, without the squares beside them."""
    return [text.partition(" <span")[0] for text in figure.get_subplot(panel, 1).yaxis.ticktext]


def test_names_of_attacks_take_two_lines_and_are_never_alike():
    """They were cut at 26 letters, the form of an attack first."""
    nodes = make_nodes(4, 3).replace(
        {
            "attack1": "best_single:members=label_propagation+attri_infer",
            "attack2": "best_single:members=label_propagation+com_infer",
        }
    )
    table = compute_heatmap(build_risks(nodes), "original", is_folded=False)
    figure = risk_heatmap({ReleaseInfo("original"): table}).figure
    heads = read_names(figure)
    assert len(set(heads)) == 3
    lines = [head.split("<br>") for head in heads]
    assert max(map(len, lines)) == 2
    assert all(len(line) <= 26 for own in lines for line in own)
    assert any(" ".join(own) == "Best single attack" or "…" not in "".join(own) for own in lines)
    rows = len(heads)
    drawn = figure.layout.height - figure.layout.margin.t - figure.layout.margin.b
    assert drawn / rows >= 34
    assert figure.layout.yaxis.tickfont.size == 12
    assert any("attri_infer" in text for text in figure.data[1].text)  # whole when hovered


def test_heatmap_cells_and_click_targets_name_their_node(view):
    table = compute_heatmap(view.nodes, "original", by="risk")
    heat, targets = risk_heatmap({ReleaseInfo("original"): table}, by="risk").figure.data
    attacks = [attack.id for attack in table.columns[5:]]
    cells = np.asarray(heat.z, float)
    assert len(cells) == 3
    lookup = {
        (r.node, r.attack): r.risk
        for r in view.nodes.to_frame().itertuples()
        if r.release == "original"
    }
    assert len(targets.customdata) == len(lookup)
    for x, y, (node, attack, first, last) in zip(
        targets.x, targets.y, targets.customdata, strict=True
    ):
        assert first == last == 1 + table.node.tolist().index(node)
        assert attacks[y] == attack
        assert cells[y][x] == lookup[node, attack]
    assert table.headline.dropna().is_monotonic_decreasing
    assert table["rank"].tolist() == list(range(1, 41))


@pytest.mark.parametrize("scale", ["risk", "advantage"])
@pytest.mark.parametrize("largest", [0.19, 0.9])
def test_the_scale_is_fitted_to_what_is_shown(scale, largest):
    nodes = make_nodes(60)
    nodes["advantage"] = nodes.risk * largest
    nodes["risk"] = 0.5 + nodes.risk * largest
    axis = draw(nodes, "original", by=scale).figure.layout.coloraxis
    values = nodes[scale].dropna()
    assert axis.cmax == pytest.approx(values.max(), rel=0.05)
    assert axis.cmin == pytest.approx(0 if scale == "advantage" else values.min())
    assert axis.colorbar.ticktext[-1].startswith(format_number(axis.cmax))


def test_one_outlier_does_not_pale_the_others():
    nodes = make_nodes(200)
    nodes["advantage"] = nodes.risk * 0.1
    nodes.loc[nodes.advantage.idxmax(), "advantage"] = 0.95
    axis = draw(nodes, "original").figure.layout.coloraxis
    assert axis.cmax < 0.11
    assert axis.colorbar.ticktext[-1].endswith("+")


def test_releases_share_nodes_order_and_scale(view):
    chart = draw(view.nodes, *RELEASES[:2])
    heats = chart.figure.data[::2]
    assert [heat.coloraxis for heat in heats] == ["coloraxis"] * 2
    for heat, release in zip(heats, RELEASES, strict=False):
        rows = chart.table[chart.table.release == release].reset_index(drop=True)
        assert rows.node.tolist() == chart.table.node[: len(rows)].tolist()
        attacks, places = list(chart.table.columns[5:-1]), sorted(set(chart.figure.data[1].x))
        cells = np.asarray(heat.z, float)[:, places]
        assert np.array_equal(cells, rows[attacks].T, equal_nan=True)
    assert chart.title.count(" exposed on Original, ") == 1


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_darkest_is_most_exposed_on_a_pale_ground_in_either_theme(theme):
    layout = draw(make_nodes(20), "original", theme=theme).figure.layout
    ground = luminance(layout.plot_bgcolor)
    levels = [luminance(color) for _, color in layout.coloraxis.colorscale]
    assert levels == sorted(levels, reverse=True)
    assert (ground + 0.05) / (levels[-1] + 0.05) > 7


def test_a_range_of_ranks_has_a_column_a_person():
    nodes = make_nodes(900)
    whole, part = draw(nodes, "original"), draw(nodes, "original", ranks=(101, 140))
    assert "columns is the mean" in whole.note
    assert "mean of about" not in part.note
    table = compute_heatmap(build_risks(nodes), "original")
    inside = table[table["rank"].between(101, 140)]
    assert {tuple(c[2:]) for c in part.figure.data[1].customdata} == {
        (rank, rank) for rank in inside["rank"]
    }


def test_heatmap_bins_above_the_limit():
    nodes = make_nodes(500)
    table = compute_heatmap(build_risks(nodes), "original")
    heat, targets = risk_heatmap({ReleaseInfo("original"): table}, max_cells=200).figure.data
    values = np.asarray(heat.z, float)
    attacks = list(table.columns[5:])
    assert len(values) == 4
    assert 150 < len(targets.x) <= 200
    for x, y, (node, attack, first, last) in zip(
        targets.x, targets.y, targets.customdata, strict=True
    ):
        inside = table[(table["rank"] >= first) & (table["rank"] <= last)]
        assert inside.node.iloc[0] == node
        assert attacks[y] == parse_attack(attack)
        assert values[y, x] == pytest.approx(inside[attacks[y]].mean())
        proven = inside.sure > ADVANTAGE_LIMIT
        assert proven.all() or not proven.any()  # no column joins both groups
    covered = {(first, last) for _, _, first, last in targets.customdata}
    assert sum(last - first + 1 for first, last in covered) == len(table)


def make_forms() -> NodeRisks:
    """GCN plain, adaptive and knowing other values on two releases, and label propagation."""
    advantages = {
        "original": {"gcn": 0.3, "gcn@auxiliary:0.1": 0.5, "label_propagation": 0.2},
        "random_deletion:strength=0.5": {
            "gcn": 0.1,
            "gcn@adaptive": 0.4,
            "gcn@auxiliary:0.1": 0.2,
            "label_propagation": 0.3,
        },
    }
    rows = [
        (f"v{i}", release, attack, 0.4 + gain + i / 50, gain + i / 50, 0.4, 0.9, 3)
        for release, attacks in advantages.items()
        for attack, gain in attacks.items()
        for i in range(4)
    ]
    return build_risks(pd.DataFrame(rows, columns=list(NODE_COLUMNS)))


def test_forms_of_an_attack_are_one_row_in_the_strongest_until_unfolded():
    """Fifteen columns of two attacks stood slanted beside each other."""
    nodes = make_forms()
    tables = {nodes.made[r]: compute_heatmap(nodes, r) for r in nodes.releases}
    shown = [[c.id for c in table.columns[5:]] for table in tables.values()]
    assert shown == [
        ["gcn@auxiliary:0.1", "label_propagation"],
        ["gcn@adaptive", "label_propagation"],
    ]
    chart = risk_heatmap(tables)
    assert read_names(chart.figure) == read_names(chart.figure, 2) == ["GCN", "Label propagation"]
    first, second = (np.asarray(heat.z, float)[0] for heat in chart.figure.data[::2])
    assert np.nanmean(first) == pytest.approx(0.53)
    assert np.nanmean(second) == pytest.approx(0.43)
    assert any("adaptive" in text for text in chart.figure.data[3].text)
    assert "strongest on each release" in chart.note
    assert count_forms(nodes) == (4, 2)
    whole = {m: compute_heatmap(nodes, m.id, is_folded=False) for m in tables}
    unfolded = risk_heatmap(whole)
    assert len(read_names(unfolded.figure)) == 4
    assert "strongest on each release" not in unfolded.note


def test_an_attack_that_is_a_baseline_attacker_has_no_row(view):
    table = compute_heatmap(view.nodes, "original", without={"common_neighbors"})
    assert {attack.id for attack in table.columns[5:]} == {"degree_product", "class_prior"}


def test_who_is_exposed_beyond_noise_stands_apart():
    gains = {"a": (0.6, 0.5, 5), "b": (0.5, 0.3, 5), "c": (0.4, 0.1, 5), "d": (0.9, np.nan, 1)}
    rows = [
        (
            node,
            "original",
            "gcn",
            0.05 + gain,
            gain,
            0.05 + low,
            0.95 if splits > 1 else np.nan,
            splits,
        )
        for node, (gain, low, splits) in gains.items()
    ]
    nodes = build_risks(pd.DataFrame(rows, columns=list(NODE_COLUMNS)))
    table = compute_heatmap(nodes, "original")
    segments = list_segments(table)
    assert [one.size for one in segments] == [2, 1, 1]
    figure = draw(nodes, "original").figure
    words = [a.text for a in figure.layout.annotations]
    assert words == ["<b>Original</b>", segments[0].title, segments[2].title]  # no room for one
    assert segments[0].title == "2 surely exposed"
    places = np.sort(figure.data[1].x)
    assert np.diff(places).tolist() == [1, 2, 2]  # a gap between groups
    assert len(figure.layout.shapes) == 2


def test_rows_are_not_named_by_the_secret_of_the_whole_picture():
    """ "Posterior of the mechanism, on released …": the secret is named above, the name was cut."""
    attacks = [parse_attack(f"{each.info.key}@included") for each in list_released_attacks()]
    table = pd.DataFrame(columns=attacks)
    titles = [row.title for row in align_attacks({ReleaseInfo("original"): table})]
    assert titles == [attack.method.title for attack in attacks]


@pytest.mark.parametrize("attacks", [1, 2])
def test_few_attacks_leave_room_for_the_scale(attacks):
    """One attack of an audit that runs: 0.00, 0.47 and 0.95 were written on each other."""
    layout = draw(make_nodes(60, attacks), "original").figure.layout
    assert layout.height - layout.margin.t - layout.margin.b >= 120


@pytest.mark.parametrize("attacks", [2, 8, 20])
@pytest.mark.parametrize("num_nodes", [6, 60, 900])
def test_no_name_is_turned_and_the_plot_is_as_high_as_its_rows(attacks, num_nodes):
    figure = draw(make_nodes(num_nodes, attacks), "original").figure
    assert figure.layout.xaxis.tickangle == 0
    assert figure.layout.height < attacks * 44 + 150
    letters = sum(len(text) + 2 for text in figure.layout.xaxis.ticktext)
    assert letters <= 76


@pytest.mark.parametrize("scale", ["risk", "advantage"])
def test_risk_shares_equal_a_count(view, scale):
    table = compute_risk_shares(view.nodes, by=scale)
    found = list_headlines(view.nodes)
    for release in RELEASES:
        risks = found[found.release == release][scale]
        rows = table[table.release == release]
        for step in (0, 37, 50, 80, 100):
            row = rows.iloc[step]
            assert row.share == pytest.approx((risks >= row.threshold - 1e-12).mean())
    chart = risk_distribution(view.nodes, by=scale)
    assert [len(t.x) for t in chart.figure.data] == [101] * 3


def test_groups_are_those_of_the_original(view):
    table = compute_group_risk(view.nodes, view.profile, "class", scale="risk")
    worst = list_headlines(view.nodes)
    classes = view.profile[view.profile.release == "original"].set_index("node")["class"]
    for row in table.itertuples():
        risks = worst[(worst.release == row.release) & (worst.node.map(classes) == row.group)].risk
        assert row.n == len(risks)
        assert row.value == pytest.approx(risks.mean())
        assert row.high == pytest.approx(
            min(risks.mean() + 1.96 * risks.std() / len(risks) ** 0.5, 1)
        )
    assert (table[table.release == "original"].n.sum()) == 37  # three have a baseline attacker only


def test_degree_groups_cover_all_nodes_in_order(view):
    table = compute_group_risk(view.nodes, view.profile, "degree", ["original"])
    assert table.n.sum() == 37
    starts = [int(group.split("–")[0].strip("+")) for group in table.group]
    assert starts == sorted(starts)


def test_exposed_people_are_told_by_class_beside_its_base():
    rows = [("a", 0.9, 0.8), ("b", 0.5, 0.2), ("c", 0.3, 0.2)]
    values = [(n, "original", "gcn", r, r - base, r - 0.2, r, 2) for n, r, base in rows]
    nodes = build_risks(pd.DataFrame(values, columns=list(NODE_COLUMNS)))
    shown = tabulate_exposed(nodes, ["original"]).set_index("Base rate")
    assert shown["Exposed, likely"].to_dict() == {"80 %": 0, "20 %": 1}
    assert shown["Exposed, at least"].tolist() == [0, 0]
    assert shown.Share.to_dict() == {"80 %": "0 %", "20 %": "50 %"}
    assert set(shown.After) == {"private attribute"}
    assert tabulate_exposed(nodes, ["edge_rand"]).empty


@pytest.mark.parametrize("by", ["degree", "class", "community"])
def test_group_charts_draw_each_release(view, by):
    communities = np.arange(40) % 3 if by == "community" else None
    chart = risk_by_group(view.nodes, view.profile, by, communities=communities)
    assert len(chart.figure.data) == len(RELEASES)


def test_many_communities_are_summed_as_other(view):
    codes = np.arange(40) % 20
    table = compute_group_risk(
        view.nodes, view.profile, "community", ["original"], communities=codes
    )
    assert {*table.group[:-1]} <= {str(code + 1) for code in codes}  # as the map names them
    assert table.group.tolist()[-1] == "other"
    assert len(table) == 12
    assert table.n.sum() == 37


def test_communities_of_a_large_graph_wait_for_the_map(view):
    chart = risk_by_group(view.nodes, view.profile, "community")
    assert chart.is_empty
    assert "once the Map is drawn" in chart.note


@pytest.mark.parametrize(
    ("change", "title", "last"),
    [
        ({}, "3 of 6 exposed on Original", "3 not surely"),
        ({1: (0.6, 5)}, "At least 2 of 6 exposed on Original", "4 not surely"),
        ({1: (np.nan, 1)}, "At least 2 of 6 exposed on Original", "1 in one split"),
        ({i: (np.nan, 1) for i in range(6)}, "Likely 3 of 6 exposed on Original", "6 in one split"),
    ],
)
def test_the_title_counts_who_is_exposed_beyond_noise(change, title, last):
    """change: node → lower end of its risk, and its splits."""
    gains = (0.45, 0.4, 0.35, 0.1, 0.0, 0.0)
    rows = [
        (f"v{i}", "original", "katz", 0.5 + gain, gain, low, 1.0 if splits > 1 else np.nan, splits)
        for i, gain in enumerate(gains)
        for low, splits in [change.get(i, (0.45 + gain, 5))]
    ]
    chart = draw(pd.DataFrame(rows, columns=list(NODE_COLUMNS)), "original")
    assert chart.title == title
    assert chart.figure.layout.annotations[-1].text == last
