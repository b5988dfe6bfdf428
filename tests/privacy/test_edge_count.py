"""The number of links under node-level privacy: its sensitivity by brute force."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.context import Context
from core.defenses.privdpr import count_capped_links, estimate_num_links
from core.graph import Graph
from core.privacy.budget import Account
from core.privacy.guarantees import NODE
from core.seeding import Seed
from tests.oracles.graphs import star, two_communities


@settings(deadline=None, max_examples=150)
@given(st.data())
def test_any_other_links_of_one_node_change_the_count_by_at_most_the_cap(data):
    n, cap = 9, data.draw(st.integers(1, 5))
    i, j = np.triu_indices(n, 1)
    bits = st.lists(st.booleans(), min_size=len(i), max_size=len(i))
    first, other = (np.array(data.draw(bits)) for _ in range(2))
    node = data.draw(st.integers(0, n - 1))
    second = np.where((i == node) | (j == node), other, first)
    counts = [
        count_capped_links(Graph.from_pairs(np.stack([i, j], 1)[keep], n), cap)
        for keep in (first, second)
    ]
    assert abs(counts[0] - counts[1]) <= cap


def test_cap_cuts_hubs_only():
    assert count_capped_links(two_communities(), 40) == two_communities().num_edges
    assert count_capped_links(star(), 3) == 3


def test_noise_has_the_scale_of_cap_over_epsilon():
    graph = two_communities()
    draws = [
        estimate_num_links(graph, Account(NODE, 4.0, Context(Seed(r))), 0.5, 10)
        for r in range(3000)
    ]
    count = count_capped_links(graph, 10)
    # Clipping at 0 and at all pairs is far off: two-sided geometric noise of scale 5.
    assert np.mean(draws) == pytest.approx(count, abs=0.6)
    assert np.mean(np.abs(np.array(draws) - count)) == pytest.approx(5.0, rel=0.1)
