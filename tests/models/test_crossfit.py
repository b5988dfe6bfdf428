"""Nobody's row is made with their own value; what is chosen is what does best on others."""

from __future__ import annotations

import numpy as np

from core.models.tuning import CrossFit
from core.node_column import MISSING

OBSERVED = np.array([0, 1, MISSING, 0, 1, MISSING, 1])
FOLDS = [np.array([0, 1]), np.array([3, 4]), np.array([6])]


def show(codes):
    """A table that gives everything away: a node's own value, and how many are known."""
    return np.column_stack([codes, np.full(len(codes), (codes != MISSING).sum())]).astype(float)


def test_rows_of_known_nodes_are_those_of_the_run_without_them():
    fits = CrossFit(OBSERVED, FOLDS)
    for codes, table in zip(
        fits.run_codes, fits.mix([show(c) for c in fits.run_codes]), strict=True
    ):
        known = codes != MISSING
        assert (table[:, 0] == MISSING).all()  # no row was made with its own value
        without = {node: 5 - len(fold) for fold in FOLDS for node in fold}
        assert [table[i, 1] for i in np.flatnonzero(known)] == [
            without[i] for i in np.flatnonzero(known)
        ]
        assert (table[~known, 1] == known.sum()).all()


def test_the_learner_that_is_right_on_nodes_held_out_is_chosen():
    fits = CrossFit(OBSERVED, FOLDS)
    truth = np.where(OBSERVED == 1, 0.8, 0.2)

    def remember(table, codes):
        """Right where it was told, wrong elsewhere."""
        sure = np.where(codes != MISSING, truth, 1 - truth)
        return lambda nodes: np.column_stack([1 - sure, sure])[nodes]

    def know(table, codes):
        return lambda nodes: np.column_stack([1 - truth, truth])[nodes]

    tables = fits.mix([show(codes) for codes in fits.run_codes])
    said = fits.choose([remember, know], tables)
    assert said.shape == (4, 7, 2)
    assert np.allclose(fits.hold_out(said)[np.arange(5), fits.truth], 0.8)
    assert np.allclose(fits.hold_out(fits.run(remember, tables))[np.arange(5), fits.truth], 0.2)


def test_with_one_known_node_nothing_is_held_out():
    fits = CrossFit(np.array([1, MISSING]), [np.array([0])])
    said = fits.choose([lambda table, codes: lambda nodes: table[nodes]], [np.eye(2)])
    assert said.shape == (1, 2, 2)
    assert fits.hold_out(said).shape == (0, 2)
