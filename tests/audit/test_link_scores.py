"""What a defense learned of the links is stored with its release and drawn."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from core.figures.link_scores import link_scores
from tests.inline import run_inline

QUICK = json.loads((Path(__file__).parents[1] / "contract" / "quick.json").read_text())


@pytest.fixture(scope="module")
def view(make_spec, graph, tmp_path_factory):
    spec = make_spec(
        attacks=[{"key": "common_neighbors"}],
        defenses=[{"key": "random_deletion"}, {"key": "ppgsl", "config": QUICK["ppgsl"]}],
    )
    return run_inline(spec, graph, tmp_path_factory.mktemp("home"))


def test_learned_weights_are_those_of_the_defended_links(view):
    defense = view.spec.defenses[1].id
    scores = view.load_link_scores(defense, 0)
    visible = view.load_release("original", 0)
    assert scores.shape == (visible.num_edges,)
    assert ((scores >= 0) & (scores <= 1)).all()
    kept = np.isin(visible.edge_codes, view.load_release(defense, 0).edge_codes)
    assert scores[kept].min() > 0  # what has no chance is not published
    assert view.load_link_scores("random_deletion", 0) is None


def test_the_chart_counts_every_link_and_names_each_panel(view):
    visible = view.load_release("original", 0)
    scores = view.load_link_scores(view.spec.defenses[1].id, 0)
    chart = link_scores(visible, scores, np.random.default_rng(0))
    table = chart.table
    assert table[table.panel == "distribution"].n.sum() == visible.num_edges
    assert set(table.panel) == {"distribution", "degree", "sub-structure"}
    assert f"{visible.num_edges:,} links" in chart.note
    drawn = {x for trace in chart.figure.data[1:] for x in trace.x}
    assert {"wedge", "triangle"} <= drawn
    empty = visible.with_edges(visible.edges[:0])
    assert link_scores(empty, scores[:0], np.random.default_rng(0)).is_empty
