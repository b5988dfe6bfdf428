"""Beside which releases the most exposed nodes stand in the report."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from core.audit.asked.release_info import parse_release
from core.report.people import _choose_columns

FREE = "dp_1k:data_free=true"
MEANS = {"original": 0.6, "random_deletion": 0.3, "edge_rand": 0.2, "dp_1k": 0.1, FREE: 0.0}


@pytest.mark.parametrize(
    ("subject", "shown"),
    [
        ("random_deletion", ["original", "random_deletion", "dp_1k"]),
        ("original", ["original", "edge_rand", "dp_1k"]),
        (None, ["original", "edge_rand", "dp_1k"]),
        ("not_measured", ["original", "edge_rand", "dp_1k"]),
    ],
)
def test_the_release_under_decision_is_beside_the_most_exposed_nodes(subject, shown):
    """A graph made without the data stood there, the recommended release did not."""
    assert parse_release(FREE).is_data_independent
    headlines = {
        release: SimpleNamespace(release=release, advantage=np.array([mean, mean]))
        for release, mean in MEANS.items()
    }
    data = SimpleNamespace(
        nodes=SimpleNamespace(releases=list(MEANS), find_headline=headlines.get),
        view=SimpleNamespace(get_release=parse_release),
        ids=list(MEANS),
        subject_id=subject,
    )
    assert _choose_columns(data) == shown
