"""Sequences of publishing runs against a list kept by hand; `ledger_sequences` runs more."""

from __future__ import annotations

import pytest

from core.privacy.ledger import Budget
from tests.reliability.ledger_sequences import Run, fits, run_sequences, sum_by_hand


@pytest.fixture
def server(database, request):
    return None if database == "sqlite" else request.getfixturevalue("postgres")


def test_no_budget_is_exceeded_and_no_run_missed(server):
    counts = run_sequences(range(8) if server is None else range(2), server)
    assert (counts.exceeded, counts.missed, counts.vain) == (0, 0, 0)
    assert min(counts.pieces, counts.entered, counts.refused) > 5


def test_the_list_sums_by_hand():
    kept = [Run("reported twice", 1.0, 0.1), Run("node", 2.0, 0.0), Run("none", 0.0, 0.0)]
    assert sum_by_hand(kept) == {"edge": (4.0, 0.2), "node": (2.0, 0.0)}
    node = Run("node", 1.0, 0.0)
    assert not fits(kept, node, Budget(9.0), 4)  # nothing holds after a run without a guarantee
    assert fits(kept[1:2], node, Budget(3.0), 4)
    assert not fits(kept[1:2], node, Budget(2.9), 4)
    assert not fits(kept[1:2], Run("edge", 1.0, 0.3), Budget(9.0), 4)  # δ above 1/4
    assert fits([], Run("edge", 1.0, 0.25), Budget(9.0), 4)
