"""How much two repeats have in common, as the intervals of an audit take it."""

from __future__ import annotations

from unittest.mock import patch

import pytest

from core.audit import assemble
from tests.inline import run_inline


@pytest.mark.parametrize(
    ("fields", "links", "people"),
    [
        ({"hide_links": 0.1}, 0.1, 1 - 0.3),
        # Hidden are all others, in every repeat; `known` is not read.
        ({"hide_links": 0.1, "known_people": (*"012345", "30", "31", "32", "33")}, 0.1, 1.0),
    ],
)
def test_drawn_links_overlap_by_their_share_and_hidden_nodes_by_theirs(
    tmp_path, graph, make_spec, fields, links, people
):
    spec = make_spec(
        attacks=[{"key": "common_neighbors"}, {"key": "class_prior"}], known=0.3, **fields
    )
    seen = {}

    def watch(cells, main, overlap, *rest):
        if cells:
            seen.setdefault(cells[0].method, overlap)
        return combine(cells, main, overlap, *rest)

    combine = assemble._combine_cells
    with patch.object(assemble, "_combine_cells", watch):
        run_inline(spec, graph, tmp_path)
    assert seen["common_neighbors"] == pytest.approx(links)
    assert seen["class_prior"] == pytest.approx(people)
