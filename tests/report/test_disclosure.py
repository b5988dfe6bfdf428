"""What outsiders may read: audits that differ in small counts alone give one and the same paper."""

from __future__ import annotations

import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.audit.asked.attack import parse_attack
from core.audit.results.node_channels import NodeChannels
from core.audit.results.node_risks import NODE_COLUMNS
from core.audit.results.view import CONTROL_COLUMNS, REPEATS, RESULT_COLUMNS, AuditView, ClaimRun
from core.audit.store.states import State
from core.findings.policy import find_policy
from core.graph import Graph
from core.measures.metrics import METRICS
from core.node_column import NodeColumn
from core.release import Guarantee
from core.report import ReportOptions
from core.report.data import ReportData
from core.report.disclosure import (
    FEW,
    SMALL,
    find_bound,
    format_bound,
    format_count,
    round_count,
    round_results,
)
from core.report.document import build_content
from core.report.graph import _build_classes
from core.report.results import build_attack_tables
from tests.figures.conftest import RELEASES, make_results, make_view, result_row
from tests.oracles.audits import make_audit, tabulate_results

NUM_NODES, NUM_LINKS = 64, 190
EDITIONS = ("internal", "external", "summary")


def make_graph(few: int) -> Graph:
    """`few` people without a link, of a class, and of unknown label, and `few` links more than
    190; ids and links of its own."""
    linked = np.arange(NUM_NODES - few)
    ring = np.column_stack([linked, np.roll(linked, 1)])
    rng = np.random.default_rng(few)
    pairs = {tuple(sorted(map(int, pair))) for pair in ring}
    pairs |= {(0, int(other)) for other in linked[1 : 20 + few]}  # the largest degree
    while len(pairs) < NUM_LINKS + few:
        pairs.add(tuple(sorted(map(int, rng.choice(linked, 2, replace=False)))))
    private = np.repeat([0, 1, 2], [40, 24 - few, few])
    label = np.repeat([0, 1, -1], [20, 44 - few, few])
    return Graph.from_pairs(
        np.array(sorted(pairs)),
        NUM_NODES,
        node_ids=tuple(f"p{few}q{i}" for i in range(NUM_NODES)),
        attributes={
            "private": NodeColumn("private", private, ("big", "middle", "rare")),
            "label": NodeColumn("label", label, ("x", "y")),
        },
        name="planted",
    )


def make_planted(few: int) -> AuditView:
    """An audit in which every small number is `few`."""
    graph = make_graph(few)
    base = make_results()
    base["n"] = np.where(base.metric == "auc", 40 + few, base.n)
    base.loc[(base.metric == "auc") & (base.method == "common_neighbors"), "n"] = few
    rows = [
        result_row(release, method, metric, few / NUM_NODES, 0.01, NUM_NODES)
        for release in RELEASES
        for method, metric in (
            ("degree_triangles", "expected_found"),
            ("degree_triangles", "hits_at_1"),
            ("common_neighbors", "advantage_share"),
            ("gcn", "class_advantage_share"),
            ("gcn", "forecast_advantage_share"),
            ("gcn", "close_share"),
            ("degree_triangles", "named_at_0.9_confidence"),
            ("release", "share_unique"),
            ("release", "share_below_5"),
        )
    ]
    rows.append(
        result_row(
            RELEASES[1],
            "gcn",
            "auc",
            None,
            status="skipped",
            reason=f"**{few}** people, people: {few}, {few} exposed persons",
        )
    )
    results = pd.concat([base, tabulate_results(rows)], ignore_index=True)
    view = make_view(graph)
    spec = view.spec.model_copy(
        update={
            "policy": find_policy("public").model_dump(mode="json"),
            "root_seed": 1000 + few,
            "leave_out": tuple(f"p{few}out{i}" for i in range(few)),
            "sensitive_links": tuple((f"p{few}q{i}", f"p{few}q{i + 1}") for i in range(few)),
        }
    )
    return replace(view, spec=spec, results=results)


def plant_control(few: int) -> AuditView:
    """Control nodes: `few`, of whom all but one are found, and `few` more than forty."""
    rows = [
        (release, method, "auc", value, low, low + 0.4, n, 5, -value / 10, -0.3, 0.2)
        for release in RELEASES
        for method, value, low, n in (
            ("class_prior", 0.5, 0.3, 40 + few),
            ("label_propagation", 0.5, 0.3, 40 + few),
            ("common_neighbors", (few - 1) / few, few / 100, few),
        )
    ]
    more = [
        result_row(release, "label_propagation", "auc", 0.7, 0.04, 40 + few) for release in RELEASES
    ]
    view = make_view()
    results = pd.concat([view.results, tabulate_results(more)], ignore_index=True)
    return replace(view, results=results, control=tabulate_results(rows, CONTROL_COLUMNS))


def plant_quantities(few: int) -> AuditView:
    """A private number that an attack estimates closely for `few` of 400 people; the share of the
    best baseline attacker is missing for a reason that tells `few`."""
    scores = {
        ("original", attack, metric): value
        for attack, more in (("label_propagation", 0.1), ("class_prior", 0.0))
        for metric, value in (
            ("auc", 0.6 + more),
            ("error_reduction", 0.2 + more),
            ("close_share", few / 400),
            ("absolute_error", 1234.0),
        )
    }
    view = make_audit(scores, ("label_propagation", "class_prior"))
    results = view.results
    is_missing = (results.method == "class_prior") & (results.metric == "close_share")
    results = results.assign(
        status=np.where(is_missing, "skipped", results.status),
        reason=np.where(is_missing, f"only {few} known", ""),
    )
    graph = view.load_graph()
    column = NodeColumn.from_values("private", np.arange(graph.num_nodes) * 137.0 + 20_000)
    numeric = graph.with_attributes({"private": column})
    return replace(view, results=results, load_graph=lambda: numeric)


def plant_checks(few: int) -> AuditView:
    """A limit's share of nine people of 19 and `few`, which is ten or more of the rounded 30."""
    policy = find_policy("public").model_dump(mode="json")
    releases, half = ("original", "random_deletion"), 0.01
    names = ("label_propagation", "class_prior")
    scores = {(r, name, "class_advantage_share"): 0.0 for r in releases for name in names}
    view = make_audit(scores | {(r, name, "auc"): 0.8 for r in releases for name in names}, names)
    n, share = 19 + few, 9 / (19 + few)
    is_share = view.results.metric == "class_advantage_share"
    results = view.results.assign(n=np.where(is_share, n, 400))
    results.loc[is_share, ["value", "low", "high"]] = share, share - half, share + half
    spec = view.spec.model_copy(update={"policy": policy})
    return replace(view, spec=spec, results=results)


def plant_reasons(few: int) -> AuditView:
    """Attacks that failed or measured nothing, for reasons that tell `few` and whom."""
    attacks = ("label_propagation", "seal", "katz")
    view = make_audit({("original", "label_propagation", "auc"): 0.8}, attacks)
    rows = [
        result_row(release, method, "auc", None, n=400, status=status, reason=reason)
        for release in ("original", "random_deletion")
        for method, status, reason in (
            ("seal", "failed", f"must have 131 pairs: got {few} (u{few}, u2{few})"),
            ("katz", "not_tested", f"{few} links of u{few}, too few"),
        )
    ]
    results = pd.concat([view.results, tabulate_results(rows)], ignore_index=True)
    policy = find_policy("public").model_dump(mode="json")
    return replace(view, spec=view.spec.model_copy(update={"policy": policy}), results=results)


def plant_repeats(few: int) -> AuditView:
    """An attack that finds 60 people in every repeat, a baseline attacker that finds `few`: their
    difference, repeat by repeat, tells these."""
    methods = {"neighbor_degrees@identity": 60, "random_match@identity": few}
    rows = []
    for release in ("original", "random_deletion"):
        for method, people in methods.items():
            share = people / 400
            values = {repeat: share + repeat * 1e-5 for repeat in range(5)}
            ends = (share + 2e-5, share, share + 4e-5)
            head = (release, release, {}, method, "expected_found", *ends, 400, 5, "done", "")
            rows.append((*head, values))
    keys = [method.partition("@")[0] for method in methods]
    view = make_audit({}, keys)
    spec = view.spec.update(identity={"overlap": 0.8, "seeds_known": 5})
    results = tabulate_results(rows, [*RESULT_COLUMNS, REPEATS])
    return replace(view, spec=spec, results=results)


def plant_odds(few: int) -> AuditView:
    """`few` links that the analyst named as sensitive, nearly all of which an attack finds."""
    attacks = ("common_neighbors", "degree_product")
    scores = {("original", attack, "tpr_at_fpr_0.01"): 0.99 for attack in attacks}
    view = make_audit(scores | {("original", attack, "auc"): 0.99 for attack in attacks}, attacks)
    named = tuple((str(i), str(i + 1)) for i in range(few))
    return replace(view, spec=view.spec.update(sensitive_links=named))


def plant_density(few: int) -> AuditView:
    """A release with a guarantee, whose card names the density of a graph of 60 and `few` links:
    8 % of all pairs where they are 66, 9 % where they are 67."""
    defense = "edge_rand:epsilon=3"
    guarantee = Guarantee(epsilon=3.0, delta=0.0, unit="edge", accountant="none")
    scores = {(release, "common_neighbors", "auc"): 0.7 for release in ("original", defense)}
    view = make_audit(scores, ("common_neighbors",), (defense,), guarantees={defense: guarantee})
    graph = view.load_graph()
    graph = graph.with_edges(graph.edges[: 60 + few])
    return replace(view, load_graph=lambda: graph)


def plant_cases(few: int) -> AuditView:
    """Attacks on the links and values of `few` people, of whom they find all but one."""
    attacks = ("common_neighbors", "label_propagation", "class_prior")
    metrics = ("auc", "accuracy", "tpr_at_fpr_0.01")
    names = [(r, a, m) for r in ("original", "random_deletion") for a in attacks for m in metrics]
    view = make_audit(dict.fromkeys(names, (few - 1) / few), attacks)
    policy = find_policy("public").model_dump(mode="json")
    return replace(view, spec=view.spec.update(policy=policy), results=view.results.assign(n=few))


def plant_risks(few: int) -> AuditView:
    """`few` exposed people of 40, whom the limits count by the risk of each node."""
    rows = [
        (f"p{few}n{i}", release, "label_propagation", 0.5 + gain, gain, 0.4 + gain, 0.6 + gain, 5)
        for release in ("original", "random_deletion")
        for i in range(40)
        for gain in [0.4 if i < few else 0.0]
    ]
    nodes = pd.DataFrame(rows, columns=list(NODE_COLUMNS))
    names = [(r, "label_propagation", "auc") for r in ("original", "random_deletion")]
    view = make_audit(dict.fromkeys(names, 0.7), ("label_propagation",), nodes=nodes)
    policy = find_policy("public").model_dump(mode="json")
    graph = view.load_graph()
    graph = replace(graph, node_ids=tuple(f"p{few}n{i}" for i in range(40)))
    return replace(view, spec=view.spec.update(policy=policy), load_graph=lambda: graph)


def plant_homophily(few: int) -> AuditView:
    """`few` nodes whose neighbours all have their own value."""
    view = make_view()
    is_few = np.arange(len(view.profile)) % view.load_graph().num_nodes < few
    profile = view.profile.assign(
        ghratio_proximity=np.where(is_few, 1.0, 0.5), degree=np.where(is_few, few, 12)
    )
    profile.loc[is_few, "class"] = f"rare {few}"
    return replace(view, load_profile=lambda: profile)


def plant_channels(few: int) -> AuditView:
    """A column that is left out, and whose name tells `few`."""
    view = make_view()
    channels = NodeChannels(
        True,
        lambda: {f"the {few} of ward {few}": "category", "age": "number"},
        lambda _release: {"age": "number"},
    )
    policy = find_policy("public").model_dump(mode="json")
    spec = view.spec.update(policy=policy, leave_out=tuple(f"p{few}n{i}" for i in range(few)))
    return replace(view, spec=spec, node_channels=channels)


def plant_claims(few: int) -> AuditView:
    """Checks of a guarantee that failed for a reason which tells `few`."""
    view = plant_density(0)
    release = view.releases[-1].id
    reason = f"must have a neighbour: {few} links of u{few} left"
    run = ClaimRun("c", State.FAILED, 1.0, reason, reason, 1.0, release=release, trials=500)
    graph = view.load_graph()
    known = np.repeat([0, 1, 2], [20, graph.num_nodes - 20 - few, few])
    column = NodeColumn("private", known, ("big", "middle", f"rare {few}"))
    classes = graph.with_attributes({"private": column})
    return replace(view, claims=(run,), load_graph=lambda: classes)


PLANTS = {
    "control": plant_control,
    "private columns": plant_quantities,
    "limits": plant_checks,
    "reasons": plant_reasons,
    "repeats": plant_repeats,
    "few cases": plant_cases,
    "risks of nodes": plant_risks,
    "homophily": plant_homophily,
    "channels": plant_channels,
    "claims and rare classes": plant_claims,
    "guarantees": plant_density,
    "odds of an accusation": plant_odds,
}
"""Source of a report → an audit in which only this source has small numbers, all of them `few`."""


@pytest.mark.usefixtures("no_pictures")
@pytest.mark.parametrize("source", PLANTS)
def test_no_source_of_a_report_tells_a_small_count_outside(source):
    views = [PLANTS[source](few) for few in (6, 8)]
    for edition in ("external", "summary"):
        first, *others = [build_content(v, ReportOptions(edition=edition)) for v in views]
        for other in others:
            assert other == first
    inside = [str(build_content(v, ReportOptions())[0]) for v in views]
    assert len(set(inside)) == len(views)  # else the above would hold of anything


@pytest.mark.usefixtures("no_pictures")
def test_a_limit_on_fewer_than_ten_cases_says_so_in_the_place_of_its_figure():
    found = {}
    for edition in ("internal", "external"):
        content, _ = build_content(plant_cases(7), ReportOptions(edition=edition))
        table = next(block for block in content["summary"] if block["kind"] == "table")
        found[edition] = {row[1] for row in table["rows"] if "(AUC)" in row[0]}
    assert found == {"internal": {"0.86"}, "external": {"on fewer than 10"}}


@pytest.mark.usefixtures("no_pictures")
def test_the_external_edition_says_how_small_counts_are_told():
    """Else a bound would be read as a figure."""
    papers = [str(build_content(make_view(), ReportOptions(edition=e))[0]) for e in EDITIONS]
    assert ["is given at its bound" in paper for paper in papers] == [False, True, False]


@pytest.mark.usefixtures("no_pictures")
def test_page_1_does_not_promise_names_that_are_left_out_outside():
    papers = [str(build_content(plant_reasons(7), ReportOptions(edition=e))[0]) for e in EDITIONS]
    assert ["names in section 1" in paper for paper in papers] == [True, False, False]
    assert ["SEAL did not finish" in paper for paper in papers] == [True, True, True]


@pytest.mark.usefixtures("no_pictures")
def test_a_row_on_fewer_than_ten_control_nodes_is_left_out_outside():
    found = {}
    for edition in ("internal", "external"):
        data = ReportData(plant_control(7), ReportOptions(edition=edition).fit_edition())
        tables = [b for b in build_attack_tables(data) if "Control nodes" in b.get("columns", ())]
        found[edition] = [(row[0], row[-1]) for row in tables[0]["rows"]]
    links, values = ("Link inference", "40 and 7"), "Attribute inference"
    assert found["internal"] == [links] * 3 + [(values, "47 and 47")] * 3
    assert found["external"] == [(values, "50 and 50")] * 3


@pytest.fixture(scope="module")
def planted() -> dict[int, AuditView]:
    return {few: make_planted(few) for few in (6, 7, 8)}


@pytest.mark.parametrize("edition", ["external", "summary"])
def test_small_counts_do_not_reach_any_sentence_table_figure_or_alternative_text(planted, edition):
    papers = [build_content(v, ReportOptions(edition=edition)) for v in planted.values()]
    content, images = papers[0]
    for other, drawn in papers[1:]:
        assert list(other) == list(content)
        assert other["summary"] == content["summary"]
        for mine, theirs in zip(content["sections"], other["sections"], strict=True):
            assert theirs == mine, mine["key"]
        assert drawn == images
        assert other == content
    assert (("about 60" in str(content)) and FEW in str(content)) or edition == "summary"


@pytest.mark.usefixtures("no_pictures")
def test_the_internal_edition_tells_them(planted):
    """Else the test above would pass on any paper."""
    text = str(build_content(planted[7], ReportOptions())[0])
    assert "'7'" in text
    assert "**7** people" in text or "7 exposed persons" in text
    assert "p7q" not in text  # people are named by rank


def test_neither_id_nor_hash_nor_the_largest_degree_leaves(planted):
    view = planted[7]
    content, images = build_content(view, ReportOptions(edition="external"))
    text = str(content) + "".join(images.values())
    assert "middle" in text
    assert "'rare'" not in text  # a class of seven people, whose value its name tells
    graph = view.load_graph()
    assert graph.content_hash[:12] not in text
    assert not any(node in text for node in graph.node_ids)
    about_graph = str([s for s in content["sections"] if s["key"] == "graph"])
    assert graph.degrees.max() > 20
    assert not re.search(rf"\b{graph.degrees.max()}\b", about_graph)
    assert not any(name.startswith("degrees") for name in images)


def test_every_share_of_people_has_a_bound():
    """Of 25 in the worst class, 12 % were told to outsiders: three people."""
    own = [key for key in METRICS if key.endswith(("advantage_share", "close_share"))]
    shares = [*own, "named_at_0.9_confidence", "hits_at_1", "share_unique", "share_below_5"]
    assert len(own) == 4
    for key in shares:
        assert format_bound(key, 0.12, 25) == "fewer than 10 of 30"


def test_a_bound_is_decided_by_the_true_number_and_tells_the_rounded_one():
    """Nine of 25 were told to outsiders, because they are more than nine of 30."""
    for n in range(SMALL, 200):
        for people in range(n + 1):
            share, kind = people / n, None
            if people < SMALL:
                kind = "below"
            elif n - people < SMALL:
                kind = "above"
            found = find_bound("share_unique", share, n)
            assert (found and found[0]) == kind, (people, n)
            text = f"fewer than 10 of {10 * ((n + 5) // 10)}" if kind else ""
            text = f"all but {text}" if kind == "above" else text
            assert format_bound("share_unique", share, n) == text
            if found is not None:
                assert share <= found[1] if kind == "below" else share >= found[1]
                edges = [m for m in range(SMALL, 210) if (m + 5) // 10 == (n + 5) // 10]
                bounds = {find_bound("share_unique", 0.0, m)[1] for m in edges}
                assert len(bounds) == 1


FINDERS = ("neighbor_degrees", "degree", "column_values", "random_match", "degree_match")
SAID = (
    "not clearly above",
    "did not beat",
    "above",
    "within noise",
    "below it",
    "not clearly apart",
    "not clearly lower",
    "falls to",
    "does not fall",
    "rises to",
)
"""Words for the outcome of a comparison."""


def make_matches(people: dict[tuple[str, str], int], seeds: int, spread: float) -> AuditView:
    """How many of 300 people each attacker finds on each release."""
    rng, rows = np.random.default_rng(seeds), []
    for (release, method), found in people.items():
        values = np.clip(found / 300 + spread * rng.normal(size=seeds), 0, 1)
        half = 2 * spread if seeds > 1 else np.nan
        ends = (values.mean(), values.mean() - half, values.mean() + half)
        head = (release, release, {}, f"{method}@identity", "expected_found", *ends, 300, seeds)
        rows.append((*head, "done", "", dict(enumerate(values))))
    rows += [
        (release, release, {}, "release", "node_classification_f1", f1, f1, f1, 300, 1, *end)
        for release, f1 in (("original", 0.9), ("random_deletion", 0.6))
        for end in [("done", "", {})]
    ]
    view = make_audit({}, FINDERS)
    spec = view.spec.update(identity={"overlap": 0.8, "seeds_known": 5})
    results = tabulate_results(rows, [*RESULT_COLUMNS, REPEATS])
    return replace(view, spec=spec, results=results)


def list_said(view: AuditView, edition: str) -> list[str]:
    """Attacks and outcomes in the order in which page 1 and the sections name them."""
    sections = ("attacks", "tradeoff")
    content, _ = build_content(view, ReportOptions(edition=edition, sections=sections))
    facts = [row for b in content["summary"] if b["kind"] == "facts" for row in b["rows"]]
    texts = [str(row["value"]) for row in facts if row["name"] == "Re-identification"]
    found = [b for section in content["sections"] for b in section["blocks"]]
    texts += ["".join(s["text"] for s in b["spans"]) for b in found if b["kind"] == "paragraph"]
    titles = [parse_attack(f"{key}@identity").title for key in FINDERS]
    pattern = "|".join(map(re.escape, sorted([*titles, *SAID], key=len, reverse=True)))
    return re.findall(pattern, " ".join(texts))


numbers = st.one_of(st.integers(0, 14), st.integers(286, 300), st.integers(0, 300))


@pytest.mark.usefixtures("no_pictures")
@settings(max_examples=10, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.lists(numbers, min_size=10, max_size=10), st.integers(1, 5), st.sampled_from([0.0005, 0.01])
)
def test_no_comparison_comes_out_otherwise_outside(people, seeds, spread):
    """A bound was compared as if it had been measured."""
    names = [(r, method) for r in ("original", "random_deletion") for method in FINDERS]
    view = make_matches(dict(zip(names, people, strict=True)), seeds, spread)
    inside = list_said(view, "internal")
    assert len(inside) >= 4
    assert list_said(view, "external") == inside


@pytest.mark.usefixtures("no_pictures")
def test_an_attack_that_finds_everybody_is_clearly_above_one_that_finds_few_outside():
    """ "0.97 is not clearly above 0.041" stood there, and "0.034 by Number of links"."""
    people = {("original", method): 4 for method in FINDERS} | {
        ("original", "neighbor_degrees"): 300,
        ("original", "degree_match"): 12,
        ("random_deletion", "column_values"): 4,
        ("random_deletion", "neighbor_degrees"): 1,
        ("random_deletion", "random_match"): 3,
    }
    content, _ = build_content(make_matches(people, 3, 1e-4), ReportOptions(edition="external"))
    text = " ".join(
        "".join(span["text"] for span in block["spans"])
        for section in content["sections"]
        for block in section["blocks"]
        if block["kind"] == "paragraph"
    )
    few = "fewer than 10 of 300"
    assert f"Neighbours' links finds all but {few} nodes. That is clearly above the best" in text
    assert f"it falls to {few} by Column values." in text
    assert "change of" not in text


@given(st.integers(0, 10**6))
def test_counts_are_rounded_to_tens(number):
    shown = round_count(number)
    assert shown % SMALL == 0
    assert format_count(number) == (FEW if number < SMALL else f"about {shown:,}")
    assert number < SMALL or abs(shown - number) <= SMALL / 2


@pytest.mark.parametrize("is_external", [True, False])
@pytest.mark.parametrize("sizes", [(16, 15), (35, 6), (16, 16, 16), (40, 9, 9)])
def test_shares_of_classes_do_not_add_up_to_more_than_all(sizes, is_external):
    column = NodeColumn.from_values("z", np.repeat(list("abc")[: len(sizes)], sizes))
    data = SimpleNamespace(is_external=is_external, count=format_count)
    table = _build_classes(data, column, "private")
    shares = [int(row[2].split()[0]) for row in table["rows"] if row[2]]
    assert shares
    assert sum(shares) <= 101  # each is rounded


@given(st.integers(1, 5000), st.floats(0, 1))
def test_a_share_of_few_people_is_a_bound_that_holds(n, value):
    text = format_bound("expected_found", value, n)
    is_few, is_nearly_all = (round(share * n, 6) < SMALL for share in (value, 1 - value))
    assert text.startswith("fewer than") == is_few
    assert text.startswith("all but fewer than") == (is_nearly_all and not is_few)
    assert format_bound("auc", value, n) == ""


def test_all_but_few_people_are_not_told_by_subtraction():
    rows = pd.DataFrame(
        [{"metric": "advantage_share", "value": v, "low": v, "high": v, "n": 60} for v in (0.9, 1)]
    )
    rounded = round_results(rows)
    assert rounded.value.nunique() == 1
    assert rounded[["low", "high"]].isna().all(axis=None)


def test_rounding_changes_no_other_value():
    rows = make_results()
    rounded = round_results(rows)
    pd.testing.assert_series_equal(rounded.value, rows.value)
    assert set(rounded.n) <= {40}


def test_ten_people_are_told_of_and_nine_are_not():
    assert (round_count(9), round_count(10), round_count(15)) == (0, 10, 20)
    assert (format_count(9), format_count(10)) == (FEW, "about 10")
    for people, bound in ((9, "below"), (10, None), (70, None), (71, "above")):
        found = find_bound("expected_found", people / 80, 80)
        assert (found and found[0]) == bound
    assert find_bound("auc", 0.01, 100) is None
