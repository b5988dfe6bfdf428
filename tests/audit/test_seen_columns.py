"""Attackers on private values and links read what leaves with a release, as it leaves, and no
private column."""

from __future__ import annotations

import csv

import numpy as np
import pytest

import core.audit.jobs.cells as cells
from core.audit.asked.spec import AuditSpec
from core.audit.results.export import make_file_name, write_releases
from core.findings.channels import describe_channels
from core.findings.policy import find_policy
from core.findings.verdict import judge
from core.graph import Graph
from core.node_column import NodeColumn
from core.release import ORIGINAL
from tests.inline import run_inline

N = 240
ATTACKS = ("class_prior", "adamic_adar", "mechanism_posterior")
SICK = np.random.default_rng(3).integers(0, 2, N)


@pytest.fixture(scope="module")
def graph() -> Graph:
    """Random links, and a club that tells who is sick but for a few."""
    rng = np.random.default_rng(0)
    tells = np.where(rng.random(N) < 0.97, SICK, 1 - SICK)
    # Each club has 3 to 12 people of 60 like it, so that merging small ones changes some.
    clubs = np.char.add(np.where(tells == 1, "x", "y"), rng.choice(list("aaaaaaaaab"), N))
    texts = {"sick": np.where(SICK == 1, "yes", "no"), "club": clubs}
    texts |= {"town": rng.choice(["Bonn", "Kiel"], N), "job": rng.choice(["cook", "smith"], N)}
    return Graph.from_pairs(
        rng.integers(0, N, (700, 2)),
        N,
        attributes={name: NodeColumn.from_values(name, column) for name, column in texts.items()},
        features=rng.integers(20, 60, (N, 1)).astype(np.float32),
        feature_names=("age",),
    )


CASES = [
    ({}, set()),
    ({"utility": "club"}, {"club"}),
    ({"utility": "club", "publish_columns": ["age"]}, set()),
    ({"utility": "club", "publish_columns": ["town", "age"]}, {"town"}),
    ({"generalize": ["club:rare=30"]}, {"club"}),
    ({"utility": "town", "generalize": ["club:rare=30"]}, {"town", "club"}),
    ({"utility": "club", "generalize": ["age:bin=10"]}, {"club"}),
    ({"utility": "club", "more_private": ["town", "job"]}, {"club"}),
]
"""Fields of a spec with the private column sick, and the texts that leave."""


def run(graph, fields, folder, **more):
    own = {"graph_hash": graph.content_hash, "num_repeats": 1, "measures": ["structure"]}
    own |= {"private": "sick", "known": 0.3, "hide_links": 0.1, "root_seed": 1, **more}
    return run_inline(AuditSpec.check_spec({**own, **fields}), graph, folder)


def read_nodes(folder, release) -> dict[str, list[str]]:
    """Column → texts, of the node table of a release."""
    with (folder / f"{make_file_name(release)}.nodes.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    rows.sort(key=lambda row: int(row["id"]))
    return {name: [row[name] for row in rows] for name in rows[0]} if rows else {}


@pytest.mark.parametrize(("fields", "texts"), CASES)
def test_attackers_read_the_texts_of_the_files(graph, fields, texts, tmp_path, monkeypatch):
    seen: dict[tuple[str, str], Graph] = {}

    def record(attack, scenario, release, threats, context):
        seen[release.defense or ORIGINAL, scenario.threat] = release.graph
        return whole(attack, scenario, release, threats, context)

    whole = cells.attack_release
    monkeypatch.setattr(cells, "attack_release", record)
    keys = ("random_deletion", "without_columns")
    asked = {"attacks": [{"key": key} for key in ATTACKS], "released_links": True}
    view = run(graph, fields, tmp_path / "h", **asked, defenses=[{"key": key} for key in keys])
    write_releases(view, tmp_path / "releases")
    assert len(seen) == 9
    for (release, _), shown in seen.items():
        leaving = {
            channel["name"]
            for channel in describe_channels(view)
            if channel["release"] == release
            and channel["leaves"]
            and channel["name"] in graph.columns
        }
        expected = set() if release == "without_columns" else texts
        assert leaving - {"age"} == expected
        read = {name.partition("=")[0] for name in shown.feature_names}
        assert read - {"age"} == expected
        if release != "random_deletion":
            continue
        written = read_nodes(tmp_path / "releases", release)
        for name in expected:
            for value in {*written[name]}:
                marks = shown.columns.read_numbers(f"{name}={value}")
                assert marks.tolist() == [float(text == value) for text in written[name]]


@pytest.mark.parametrize("fields", [{"utility": "club"}, {"generalize": ["club:rare=30"]}])
def test_a_column_that_leaves_unnamed_and_tells_the_private_one_is_not_published(
    graph, fields, tmp_path
):
    """Who reads the file needs no attack: the first letter of the club is the value."""
    asked = {"attacks": [{"key": "feature_regression"}], "hide_links": None, "identity": {}}
    view = run(graph, {**asked, **fields}, tmp_path, defenses=[{"key": "random_deletion"}])
    club = view.load_release("random_deletion", 0).column("club")
    told = np.array([title[0] == "x" for title in club.classes])[club.codes]
    assert (told == (SICK == 1)).mean() > 0.9
    rows = view.results[(view.results.metric == "auc") & (view.results.status == "done")]
    assert (rows.set_index("release").value.loc[[ORIGINAL, "random_deletion"]] > 0.9).all()
    for release in judge(view, find_policy("internal")).releases:
        assert release.decision == "do_not_publish"
