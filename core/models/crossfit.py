"""Cross-fitting on a graph: no node's features or predictions depend on its own known value.

Known values also enter the features of neighbouring nodes, so leaving a node out of the fit is
not enough: each fold of known values is masked before features are computed, and the whole
pipeline is run again for it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from core.graph import MISSING
from core.models.tuning import compute_log_loss, hold_out

Predict = Callable[[Any], np.ndarray]
"""From nodes (k,), or a slice of them, to probabilities (k, C)."""
Learn = Callable[[np.ndarray, np.ndarray], Predict]
"""From a table (n, d) and observed codes (n,), MISSING where unknown, to a prediction."""
Runs = Sequence[np.ndarray]
"""A table (n, d) a run."""


class CrossFit:
    """One run for each fold of known values left out, and a last run with all of them.

    parts  observed codes (n,) without a fold, and the nodes of the fold
    seen   (n,) observed codes of each run
    truth  (h,) classes of the held-out nodes, in the order of the folds
    """

    def __init__(self, observed: np.ndarray, folds: list[np.ndarray]) -> None:
        self.parts = list(hold_out(observed, folds))
        self.seen = [*(rest for rest, _ in self.parts), observed]
        self.truth = observed[self._concatenate([fold for _, fold in self.parts])]

    def mix(self, tables: Runs) -> list[np.ndarray]:
        """One table a run: rows of its known nodes from the run that held them out, all other
        rows from the run itself."""
        untold = tables[-1].copy()
        for (_, fold), table in zip(self.parts, tables, strict=False):
            untold[fold] = table[fold]
        return [
            np.where((codes != MISSING)[:, None], untold, table)
            for codes, table in zip(self.seen, tables, strict=True)
        ]

    def untell(self, said: np.ndarray) -> np.ndarray:
        """(n, C) out-of-fold predictions of (R, n, C): known nodes from the run that held them out,
        all others from the last run."""
        untold: np.ndarray = said[-1].copy()
        for run, (_, fold) in enumerate(self.parts):
            untold[fold] = said[run][fold]
        return untold

    def run(self, learn: Learn, tables: Runs) -> np.ndarray:
        """(R, n, C) predictions for all nodes in each run, from tables of `mix`."""
        runs = zip(tables, self.seen, strict=True)
        return np.array([learn(table, codes)(slice(None)) for table, codes in runs])

    def choose(self, learners: Sequence[Learn], tables: Runs) -> np.ndarray:
        """(R, n, C) of the learner with the lowest held-out log-loss; the first where nothing is
        held out."""
        if not self.parts:
            return self.run(learners[0], tables)
        said = [self.run(learn, tables) for learn in learners]
        nodes = np.arange(len(self.truth))
        losses = [compute_log_loss(self.hold_out(s), self.truth, nodes) for s in said]
        return said[int(np.argmin(losses))]

    def hold_out(self, said: np.ndarray) -> np.ndarray:
        """(h, C) of (R, n, C): each held-out node as predicted by the run that held it out."""
        rows = [said[run][fold] for run, (_, fold) in enumerate(self.parts)]
        return np.concatenate(rows) if rows else np.zeros((0, said.shape[2]))

    @staticmethod
    def _concatenate(parts: list[np.ndarray]) -> np.ndarray:
        return np.concatenate(parts) if parts else np.zeros(0, np.int64)
